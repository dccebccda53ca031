"""Reductions: each rank folds its part, and all ranks fold the parts in rank order, so that they agree to the bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.distributed.parts import vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.expr.dispatch import PLAIN, update
from sparsezc.expr.expression import Expression, Operand

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["inner", "one_value", "reduce", "reduce_rowwise", "values_of_ranks"]


def values_of_ranks(engine: DistributedEngine, value: Any, dtype: DataType) -> list[Any]:
    """Return a value of each rank, None where there is none, in one collective."""
    if engine.size == 1:
        return [value]
    if dtype.is_udt:
        return engine.transport.objects(value)
    nbytes = dtype.np_type.itemsize
    buffer = np.zeros(-(-nbytes // 8), np.int64)
    if value is not None:
        buffer.view(np.uint8)[:nbytes] = np.array([value], dtype.np_type).view(np.uint8)
    found = engine.balancer.numbers(value is not None, *buffer.tolist())
    return [row[1:].copy().view(np.uint8)[:nbytes].view(dtype.np_type)[0] if row[0] else None for row in found]


def one_value(engine: DistributedEngine, value: Any, dtype: DataType) -> Any:
    """Return the value that one rank has, None if no rank has one."""
    return next((found for found in values_of_ranks(engine, value, dtype) if found is not None), None)


def _folded(engine: DistributedEngine, value: Any, op: Any, dtype: DataType) -> Any:
    """Fold the values of all ranks, in their order; `op` is a monoid."""
    folded = None
    for part in values_of_ranks(engine, value, dtype):
        if part is not None:
            folded = part if folded is None else op.binaryop.numpy(folded, part)
    if folded is None or dtype.is_udt or engine.size == 1:
        return folded
    return dtype.np_type.type(folded).item()


def _local_scalar(expression: Expression) -> Any:
    made = Operand._kinds[0]._blank(expression.dtype, (), None)
    update(made, expression, PLAIN)
    return made.value


def reduce(engine: DistributedEngine, e: Any, out: Any, write: Any) -> None:
    """Fold all entries."""
    store = e.operands[0]._store
    value = None
    if not store.is_empty_range:
        value = _local_scalar(Expression("reduce", (store.local,), e.op, e.dtype, ()))
    if not store.partition.is_whole:
        value = _folded(engine, value, e.op, e.dtype)
    out._receive(e, value, write.accum)


def inner(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Compute the inner product of two vectors."""
    if e.op.is_positional:
        return False
    u, v = (x._store for x in e.operands)
    value = None
    if not u.is_empty_range:
        value = _local_scalar(Expression("inner", (u.local, v.local), e.op, e.dtype, ()))
    if not u.partition.is_whole:
        value = _folded(engine, value, e.op.monoid, e.dtype)
    out._receive(e, value, write.accum)
    return None


def reduce_rowwise(engine: DistributedEngine, e: Any, out: Any, write: Any) -> None:
    """Fold each row of a matrix, or each column if it is transposed."""
    A = e.operands[0]
    store, result = A._store, out._store
    across = A._transposed != (store.partition.along == COLUMNS)  # each rank has a part of every sum
    if across and engine.known_symmetric(A):
        across, flipped = False, not A._transposed
    else:
        flipped = A._transposed
    M = store.local.T if flipped else store.local
    if not across or store.partition.is_whole or engine.size == 1:
        shape = (M.shape[0],)
        write_local(result, Expression("reduce_rowwise", (M,), e.op, e.dtype, shape), write)
        result.changed()
        return
    mine = None
    if not store.is_empty_range:
        mine = new(Expression("reduce_rowwise", (M,), e.op, e.dtype, e.shape), engine.local)
    merged = vector_exchange.fold_vector_at_owners(engine, mine, result.partition, e.op.binaryop, engine.counts(store))
    put(result, merged, write)
    result.changed()
