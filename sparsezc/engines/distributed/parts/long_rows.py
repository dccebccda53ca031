"""Rows longer than a rank's share of the entries: every rank has a part of each, and partial results are folded.

Only products with vectors compute so. Before any other statement the entries move to the ranks that own the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import assignment, new
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper

__all__ = ["LongRows", "add_partial_results", "add_results", "join", "long_rows", "split"]


@dataclass
class LongRows:
    """This rank's parts of the long rows.

    Attributes
    ----------
    rows : ndarray of int64
        The row numbers, ascending: fewer than there are ranks.
    local : Matrix, shape (rows.size, ncols)
        This rank's consecutive entries of each.
    counts : ndarray of int64, shape (ranks,)
        The entries of each rank's part.
    """

    rows: NDArray[np.int64]
    local: Any
    counts: NDArray[np.int64]


def long_rows(indptr: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """Return the rows that are longer than a rank's share."""
    if ranks == 1:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.diff(indptr) > max(int(indptr[-1]) // ranks, 1))


def split(engine: Keeper, csr: Csr, rows: NDArray[np.int64]) -> tuple[Csr, LongRows]:
    """Return a matrix that all ranks have without the entries of its long rows, and this rank's parts of these."""
    ids, values = on_host(csr.indices.read()), on_host(csr.values.read())
    values = np.repeat(values[:1], csr.nvals) if csr.iso else values
    first, last = csr.indptr[rows], csr.indptr[rows + 1]
    cuts = first[:, None] + (last - first)[:, None] * np.arange(engine.size + 1) // engine.size
    mine = [np.arange(cuts[k, engine.rank], cuts[k, engine.rank + 1]) for k in range(rows.size)]
    at = np.concatenate(mine)
    indptr = np.concatenate([[0], np.cumsum([part.size for part in mine])]).astype(np.int64)
    part = Csr(rows.size, csr.ncols, indptr, wrap(ids[at]), wrap(values[at]), csr.dtype)
    kept = np.ones(csr.nvals, np.bool_)
    for lo, hi in zip(first.tolist(), last.tolist(), strict=True):
        kept[lo:hi] = False
    degrees = np.diff(csr.indptr)
    degrees[rows] = 0
    rest = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    others = Csr(csr.nrows, csr.ncols, rest, wrap(ids[kept]), wrap(values[kept]), csr.dtype, symmetric=csr.symmetric)
    return others, LongRows(rows, engine.local.matrix_of(part), np.diff(cuts, axis=1).sum(axis=0))


def join(engine: Keeper, store: Store) -> None:
    """Move the entries of long rows to the ranks that own the rows."""
    long = store.long
    if long is None:
        return
    indptr, ids, values = matrix_exchange.host_csr(long.local)
    rows = np.repeat(long.rows, np.diff(indptr))
    csr = matrix_exchange.exchanged(engine, rows, ids, values, store.partition, store.shape, store.dtype)
    if not store.is_empty_range:
        part = engine.local.matrix_of(csr)
        update(store.local, assignment(part, store.local), Write(None, binary.second[store.dtype], False))
    store.join()
    store.forms.rows_moved(engine)


def add_results(
    engine: DistributedEngine, e: Any, long: LongRows, flipped: bool, whole: Any, made: Any, result: Store
) -> None:
    """Add the results of long rows in a pull to ``made``, those of this rank's other rows."""
    h = long.rows.size
    M = long.local.T if flipped else long.local
    operands = (whole, M) if e.operation == "vxm" else (M, whole)
    mine = new(Expression(e.operation, operands, e.op, e.dtype, (h,)), engine.local)
    target = engine.partitions.of((h,))
    total = vector_exchange.fold_vector_at_owners(engine, mine, target, e.op.monoid.binaryop, long.counts)
    here = np.flatnonzero((long.rows >= result.partition.lo) & (long.rows < result.partition.hi))
    if here.size:
        ids, values = engine.local.engine.vector_to_coo(total._need()[1])
        chosen = np.isin(ids, here)
        to = (long.rows[ids[chosen].astype(np.int64)] - result.partition.lo).astype(np.uint64)
        size = result.partition.hi - result.partition.lo
        part = engine.local.vector(
            e.dtype, size, engine.local.engine.vector_from_coo(to, values[chosen], e.dtype, size)
        )
        update(made, assignment(part, made), Write(None, e.op.monoid.binaryop, False))


def add_partial_results(engine: DistributedEngine, e: Any, long: LongRows, flipped: bool, x: Store, mine: Any) -> Any:
    """Push the vector's entries at long rows: add their products to this rank's partial results, ``mine``."""
    partition, h = x.partition, long.rows.size
    here = np.flatnonzero((long.rows >= partition.lo) & (long.rows < partition.hi))
    at = IndexList("list", (long.rows[here] - partition.lo).astype(np.uint64), int(here.size))
    picked = None
    if here.size:
        part = new(Expression("extract", (x.local, at), None, x.dtype, (here.size,)), engine.local)
        ids, values = engine.local.engine.vector_to_coo(part._need()[1])
        to = here[ids.astype(np.int64)].astype(np.uint64)
        store = engine.local.engine.vector_from_coo(to, values, x.dtype, h)
        picked = engine.local.vector(x.dtype, h, store)
    target = engine.partitions.of((h,))
    most = np.full(engine.size, h, np.int64)
    whole = vector_exchange.fold_vector_at_owners(engine, picked, target, binary.second[x.dtype], most)
    M = long.local.T if flipped else long.local
    operands = (whole, M) if e.operation == "vxm" else (M, whole)
    more = new(Expression(e.operation, operands, e.op, e.dtype, e.shape), engine.local)
    if mine is None:
        return more
    update(mine, assignment(more, mine), Write(None, e.op.monoid.binaryop, False))
    return mine
