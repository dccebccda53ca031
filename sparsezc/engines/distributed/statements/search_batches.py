"""Batches cut by searches, on a matrix that every rank has whole, where the model predicts that this is faster.

A batch is a matrix of a row for each search. It is cut by columns, as vectors are, until a product begins searches: if
the batches so far would have saved the time in which every rank receives the whole matrix, and the matrix fits, the
batch is cut by searches from then on. Statements between matrices of its shape run on each rank's searches, without an
exchange; before any other statement the matrices are cut by columns again. Algorithms need not know of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.engines.distributed.model.searches import Batch, gathering, saved
from sparsezc.engines.distributed.parts import search_exchange
from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.engines.distributed.parts.search_exchange import Batches, Memory

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["begins", "gain", "partition_of", "whole"]

_FEW = 4096  # most entries of a matrix that is moved to the ranks of its searches
_ELEMENTWISE = ("ewise_add", "ewise_mult", "ewise_union", "apply", "apply_left", "apply_right", "apply_index", "select")


def partition_of(engine: DistributedEngine, e: Any, out: Any, stored: list[Any]) -> Partition | None:
    """Return the partition by searches if a statement can run in it; None: it cannot, or no operand is cut so."""
    if not any(x._store.partition.by_search for x in stored):
        return None
    of = e.operands[0] if e.operation in ("reduce", "reduce_rowwise") else out
    if of.ndim != 2 or not _runs(e, of._store.shape):
        return None
    batch = [x for x in stored if x.ndim == 2 and not (e.operation == "mxm" and x is e.operands[1])]
    if any(x._store.shape != of._store.shape or x.dtype.is_udt for x in batch):
        return None
    if any(not x._store.partition.by_search and engine.nvals(x._store) > _FEW for x in batch):
        return None
    return engine.partitions.by_search(of._store.nrows)


def _runs(e: Any, shape: tuple[int, ...]) -> bool:
    """Return whether a statement needs only each rank's own searches, and a matrix that all ranks have."""
    if e.operation == "mxm":
        A, B = e.operands
        return bool(A.shape == shape and not A._transposed and _serves(e) and whole(B) is not None)
    if e.operation in ("assign", "subassign"):
        value, *keys = e.operands
        same = not value.ndim or (value.ndim == 2 and value.shape == shape and not value._transposed)
        return bool(same and all(key.kind == "all" for key in keys))
    if e.operation == "reduce_rowwise":  # sums over the searches, of which each rank has a part
        return bool(e.operands[0]._transposed)
    if e.operation not in _ELEMENTWISE:
        return bool(e.operation == "reduce")
    return all(not x._stored or (x.shape == shape and not x._transposed) for x in e.operands)


def _serves(e: Any) -> bool:
    """Return whether a product reads no values of the matrix that is searched."""
    return not (e.op.of_users or "y" in e.op.reads or e.dtype.is_udt)


def whole(B: Any) -> Any:
    """Return the pattern of a matrix as a product reads it, if every rank has all of it, else None."""
    found = B._store.forms[Batches].whole
    return found if found is None or not B._transposed else found.T


def begins(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool:
    """Cut the matrices of a product that begins searches by searches, if that pays; return whether it does."""
    A, B = e.operands
    searches = A._store.nrows
    if A._transposed or searches == 1 or A.shape != out.shape or A._store.partition.along != COLUMNS:
        return False
    if not _serves(e) or B.dtype.is_udt:
        return False
    if engine.on_device and not engine.known_symmetric(B):  # its pulls need the transpose
        return False
    if engine.nvals(A._store) != searches:
        return False
    batch = [out, A] if write.mask is None else [out, A, write.mask.parent]
    if any(x.shape != out.shape or x.dtype.is_udt or engine.nvals(x._store) > _FEW for x in batch):
        return False
    if not _pays(engine, B, searches):
        return False
    for x in batch:
        if not x._store.partition.by_search:
            search_exchange.by_search(engine, x._store)
    return True


def gain(engine: DistributedEngine, store: Store, searches: int) -> float:
    """Return the seconds that a batch saves by searches; 0: ranks cannot have all of the matrix."""
    memory = store.forms[Batches].get_or_find_memory(engine, store)
    return 0.0 if memory is None else saved(_batch(engine, store, searches, memory))


def _batch(engine: DistributedEngine, store: Store, searches: int, memory: Memory) -> Batch:
    nbytes = engine.nvals(store) * memory.id_bytes
    return Batch(searches, engine.size, store.nrows, nbytes, engine.on_device, memory.resident)


def _pays(engine: DistributedEngine, B: Any, searches: int) -> bool:
    """Return whether to cut a batch by searches; give every rank the whole matrix once that pays."""
    store: Store = B._store
    more, batches = gain(engine, store, searches), store.forms[Batches]
    memory = batches.get_or_find_memory(engine, store)
    if batches.whole is not None or memory is None or more <= 0:
        return more > 0
    batches.count(more)
    if batches.saved < gathering(_batch(engine, store, searches, memory)):
        return False
    return batches.gather(engine, store, symmetric=engine.known_symmetric(B))
