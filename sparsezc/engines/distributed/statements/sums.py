"""Statements whose result at any position may sum entries of all ranks: partial results are folded by the owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.distributed.parts import block_exchange, matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put
from sparsezc.engines.distributed.parts.partition import ROWS
from sparsezc.engines.distributed.statements import entries, padded_rows, rowwise
from sparsezc.expr.dispatch import PLAIN, Write, update
from sparsezc.expr.expression import Expression, IndexList, Operand
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["count_corners", "sum_by_labels", "two_way_mxm", "two_way_sampled_mxm"]


def _divided(engine: DistributedEngine, A: Any) -> bool:
    return engine.size > 1 and not A._store.partition.is_whole


def _add(engine: DistributedEngine, e: Any, out: Any, write: Any, mine: Any, op: Any) -> None:
    """Fold matrices of the whole's shape, one of each rank, at the owners of the result."""
    result = out._store
    put(result, block_exchange.fold_matrix_at_owners(engine, mine, result, op, e.dtype, reads=True), write)
    result.changed()


def sum_by_labels(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Add entries by the labels of their rows and columns."""
    A, label = e.operands
    if not _divided(engine, A):
        return False
    operands = padded_rows.widened(engine, A._store), rowwise.whole(engine, label)
    mine = new(Expression(e.operation, operands, e.op, e.dtype, e.shape), engine.local)
    _add(engine, e, out, write, mine, binary.plus[e.dtype])
    return None


def two_way_sampled_mxm(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run two_way_sampled_mxm with this rank's entries; the panels of both sides are whole on every rank."""
    A, X, inner = e.operands
    if not _divided(engine, A) or e.dtype.is_udt:
        return False
    operands = padded_rows.operand(engine, A), rowwise.whole(engine, X), inner
    mine = new(Expression(e.operation, operands, e.op, e.dtype, e.shape), engine.local)
    _add(engine, e, out, write, mine, e.op.monoid.binaryop)
    return None


def two_way_mxm(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run two_way_mxm with this rank's entries and their values; the panel is whole on every rank."""
    A, values, X = e.operands
    store = A._store
    if not _divided(engine, A) or A._transposed or store.partition.along is not ROWS or e.dtype.is_udt:
        return False
    firsts = np.concatenate([[0], np.cumsum(engine.counts(store))]).astype(np.int64)
    operands = padded_rows.widened(engine, store), _table(engine, values, firsts), rowwise.whole(engine, X)
    mine = new(Expression(e.operation, operands, e.op, e.dtype, e.shape), engine.local)
    _add(engine, e, out, write, mine, e.op.monoid.binaryop)
    return None


def _table(engine: DistributedEngine, values: Any, wanted: Any) -> Any:
    """Return the rows of a full table, `values`, that belong to this rank's entries."""
    store, r = values._store, engine.rank
    width, first, last = values.ncols, int(wanted[r]), int(wanted[r + 1])
    if store.partition.along is not ROWS or values._transposed:
        every = rowwise.whole(engine, values).new().to_dense()[first:last]
    else:
        mine = store.local.to_dense().reshape(-1) if not store.is_empty_range else np.empty(0, store.dtype.np_type)
        every = entries.recut(engine, mine, store.partition.bounds * width, wanted * width).reshape(-1, width)
    indptr = np.arange(last - first + 1, dtype=np.int64) * width
    ids = np.tile(np.arange(width, dtype=np.uint64), last - first)
    flat = np.ascontiguousarray(every.reshape(-1))
    return engine.local.matrix_of(Csr(last - first, width, indptr, wrap(ids), wrap(flat), store.dtype))


def count_corners(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Count with this rank's rows of A and M, while the rows of B travel round a ring, as no rank has all of B."""
    A, B, M = e.operands
    if not _divided(engine, A):
        return False
    parts = []
    for x in (A, B, M):
        store = x._store
        if x._transposed and not engine.known_symmetric(x):
            store = matrix_exchange.turned(engine, store)
        if store.partition.along is not ROWS:
            return False
        parts.append(store)
    a, m = padded_rows.widened(engine, parts[0]), padded_rows.widened(engine, parts[2])
    total = engine.local.vector(e.dtype, e.shape[0])
    update(total, _zeros(e), PLAIN)
    for block in block_exchange.ring(engine, parts[1]):
        if block is not None:
            step = Expression("count_corners", (a, block, m), None, e.dtype, e.shape)
            update(total, step, Write(None, binary.plus[e.dtype], False))
    most = np.full(engine.size, e.shape[0], np.int64)
    result = out._store
    put(
        result,
        vector_exchange.fold_vector_at_owners(engine, total, result.partition, binary.plus[e.dtype], most),
        write,
    )
    result.changed()
    return None


def _zeros(e: Any) -> Expression:
    zero = Operand._kinds[0].from_value(0, e.dtype)
    return Expression("assign", (zero, IndexList("all", None, e.shape[0])), None, e.dtype, e.shape)
