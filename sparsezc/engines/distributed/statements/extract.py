"""Extraction of parts of objects.

Every rank knows the positions of an index list, and so how many of them each rank has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import block_exchange, matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.engines.distributed.statements import reductions
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["extract"]


def _positions(key: IndexList) -> NDArray[np.int64]:
    return key.positions().astype(np.int64)


def _listed(at: NDArray[np.int64]) -> IndexList:
    return IndexList("list", at.astype(np.uint64), int(at.size))


def _here(at: NDArray[np.int64], partition: Partition) -> NDArray[np.int64]:
    """Return the places of an index list whose positions are in this rank's range."""
    return np.flatnonzero((at >= partition.lo) & (at < partition.hi))


def _picked(engine: DistributedEngine, vector: Any, at: NDArray[np.int64]) -> Any:
    """Return a local vector's entries at some positions."""
    if not at.size or not vector.size:
        return engine.local.vector(vector.dtype, at.size)
    return new(Expression("extract", (vector, _listed(at)), None, vector.dtype, (at.size,)), engine.local)


def extract(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Extract an element, a part of a vector, row or column, or a submatrix."""
    u, *keys = e.operands
    store = matrix_exchange.turned(engine, u._store) if u.ndim == 2 and u._transposed and engine.size > 1 else u._store
    if out.ndim == 0:
        value = _element(store, keys)
        if not store.partition.is_whole and engine.size > 1:
            value = reductions.one_value(engine, value, e.dtype)
            value = value.item() if hasattr(value, "item") and not e.dtype.is_udt else value
        out._receive(e, value, write.accum)
        return None
    result = out._store
    if engine.size == 1 or (store.partition.is_whole and result.partition.is_whole):
        part = store.local.T if u.ndim == 2 and u._transposed and engine.size == 1 else store.local
        write_local(result, Expression("extract", (part, *keys), None, e.dtype, e.shape), write)
    elif e.dtype.is_udt:
        return False
    elif u.ndim == 1:
        put(result, _subvector(engine, store, keys[0], result.partition), write)
    elif out.ndim == 1:
        put(result, _line(engine, store, keys, result.partition), write)
    else:
        put(result, _submatrix(engine, store, keys, e.shape), write)
    result.changed()
    return None


def _element(store: Store, keys: list[IndexList]) -> Any:
    partition = store.partition
    cut = 1 if partition.along == COLUMNS else 0
    at = [key.key for key in keys]
    if not partition.lo <= at[cut] < partition.hi:
        return None
    if not partition.is_whole:
        at[cut] -= partition.lo
    return store.local.get(*at)


def _subvector(engine: DistributedEngine, store: Store, key: IndexList, target: Partition) -> Any:
    """Return this rank's range of ``u[I]``."""
    at, partition = _positions(key), store.partition
    if partition.is_whole:  # a list may repeat positions of a small vector
        return _picked(engine, store.local, at[target.lo : target.hi])
    which = _here(at, partition)
    most = np.diff(np.searchsorted(np.sort(at), partition.bounds))
    part = _picked(engine, store.local, at[which] - partition.lo)
    mine = None
    if which.size:
        ids, values = engine.local.arrays(part, "ids")
        to = engine.as_local(which.astype(np.uint64))[ids.astype(np.int64)]
        mine = engine.local.from_arrays("ids", (to, values), store.dtype, at.size)
    return vector_exchange.fold_vector_at_owners(engine, mine, target, binary.second[store.dtype], most)


def _line(engine: DistributedEngine, store: Store, keys: list[IndexList], target: Partition) -> Any:
    """Return this rank's range of an extracted part of one row or column."""
    partition = store.partition
    cut = 1 if partition.along == COLUMNS else 0
    one = 0 if keys[0].kind == "one" else 1
    many = keys[1 - one]
    line: Any = None
    if one == cut and not partition.is_whole:  # one rank has all of it
        most = np.zeros(engine.size, np.int64)
        most[np.searchsorted(partition.bounds, keys[one].key, side="right") - 1] = many.size
        if partition.lo <= keys[one].key < partition.hi:
            at = [keys[0], keys[1]]
            at[one] = IndexList("one", keys[one].key - partition.lo, 1)
            line = new(Expression("extract", (store.local, *at), None, store.dtype, (many.size,)), engine.local)
        return vector_exchange.fold_vector_at_owners(engine, line, target, binary.second[store.dtype], most)
    if partition.is_whole:
        line = new(Expression("extract", (store.local, *keys), None, store.dtype, (many.size,)), engine.local)
        return _picked(engine, line, np.arange(target.lo, target.hi))
    from sparsezc.engines.distributed.parts.stores import Store

    length = store.shape[1 - one]
    here = partition.hi - partition.lo
    at = [keys[one], IndexList("all", None, here)] if one == 0 else [IndexList("all", None, here), keys[one]]
    line = engine.local.vector(store.dtype, here)
    if here:
        line = new(Expression("extract", (store.local, *at), None, store.dtype, (here,)), engine.local)
    if many.kind == "all":
        return line
    return _subvector(engine, Store(line, engine.partitions.of((length,)), (length,)), many, target)


def _submatrix(engine: DistributedEngine, store: Store, keys: list[IndexList], shape: tuple[int, int]) -> Any:
    """Return this rank's part of ``A[I, J]``."""
    partition, target = store.partition, engine.partitions.of(shape)
    if partition.along == COLUMNS:
        turned = matrix_exchange.turned(engine, store)
        return matrix_exchange.turned(engine, _store_of(engine, turned, keys[::-1], shape[::-1])).local
    if keys[0].kind == "all" and target.along == partition.along and not partition.is_whole:
        here = partition.hi - partition.lo
        part = engine.local.matrix(store.dtype, (here, shape[1]))
        if here:
            at = (IndexList("all", None, here), keys[1])
            part = new(Expression("extract", (store.local, *at), None, store.dtype, (here, shape[1])), engine.local)
        return part
    return _store_of(engine, store, keys, shape).local


def _store_of(engine: DistributedEngine, store: Store, keys: list[IndexList], shape: tuple[int, int]) -> Store:
    """Return ``A[I, J]`` of a matrix cut by rows: each rank sends its rows to their new owners."""
    partition, at = store.partition, _positions(keys[0])
    which = _here(at, partition)
    if partition.is_whole:  # every rank has all rows: rank 0 alone sends them
        which = which if engine.rank == 0 else which[:0]
    part = engine.local.matrix(store.dtype, (which.size, shape[1]))
    if which.size and shape[1]:
        rows = _listed(at[which] - partition.lo)
        part = new(Expression("extract", (store.local, rows, keys[1]), None, store.dtype, part.shape), engine.local)
    return block_exchange.rows_at_owners(engine, part, which, shape)
