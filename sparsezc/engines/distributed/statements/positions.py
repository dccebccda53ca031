"""Statements whose operators use positions, where shifting the result or the thunk does not suffice.

Operators that users wrote, and sums of positions, run on this rank's part at its place in the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.engines.distributed.parts import matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import assignment, new, put, shifted
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.engines.distributed.statements import entries, padded_rows, rowwise
from sparsezc.engines.distributed.statements.elementwise import part_of
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.expression import Expression
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["elementwise", "product"]


def elementwise(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run an elementwise statement of a positional operator."""
    if e.op is None or not e.op.is_positional:
        return False
    made = _of_users(engine, e, out) if e.op.op.kind in ("indexunary", "select") else _built_in(engine, e, out)
    if made is False:
        return False
    put(out._store, made, write)
    out._store.changed()
    return None


def _of_users(engine: DistributedEngine, e: Any, out: Any) -> Any:
    """Run apply or select with a function of positions that a user wrote."""
    x, thunk = e.operands
    store, partition = x._store, out._store.partition
    if x.ndim == 1:
        place = padded_rows.widened_vector(engine, store)
        made = new(Expression(e.operation, (place, thunk), e.op, e.dtype, e.shape), engine.local)
        return entries.part_of_vector(engine, made, partition)
    if partition.along is COLUMNS or store.partition.along is not ROWS or x._transposed:
        return False
    made = new(
        Expression(e.operation, (padded_rows.widened(engine, store), thunk), e.op, e.dtype, e.shape), engine.local
    )
    return rowwise.own_rows(engine, made, out._store)


def _built_in(engine: DistributedEngine, e: Any, out: Any) -> Any:
    """Run an operator that returns a position: the local position plus this rank's first one."""
    partition = out._store.partition
    counted = ("j" if partition.along is COLUMNS else "i") in e.op.elementwise
    operands = tuple(
        part_of(engine, x, len(e.shape), first=k == 0, partition=partition) for k, x in enumerate(e.operands)
    )
    if e.op.op.user_function is not None:
        return False
    if out._store.is_empty_range:
        return out._store.local
    shape = partition.local_shape(e.shape)
    made = new(Expression(e.operation, operands, e.op, e.dtype, shape, None, e.empty), engine.local)
    if not counted:
        return made
    if e.operation != "ewise_add":
        return shifted(made, partition.lo)
    # where only one operand has an entry, the result is its value and no position
    both = new(Expression("ewise_mult", operands, e.op, e.dtype, shape), engine.local)
    update(made, assignment(shifted(both, partition.lo), made), Write(None, binary.second[made.dtype], False))
    return made


def product(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run mxv, vxm or mxm where positions cannot be shifted after the sum, or of user-defined types.

    This rank's rows of the left factor are at their places in the whole; the right factor is whole on every rank.
    """
    result = out._store
    if e.operation == "vxm":
        v, A = e.operands
        left, right = A, v
    else:
        left, right = e.operands
    store = left._store
    if store.partition.is_whole or result.partition.along is not ROWS:
        return False
    flipped = left._transposed != (e.operation == "vxm")  # its rows are summed over
    if flipped and not engine.known_symmetric(left):
        store = matrix_exchange.turned(engine, store)
    if store.partition.along is not ROWS:
        return False
    M = padded_rows.widened(engine, store)
    other = rowwise.whole(engine, right)
    operands = (other, M.T) if e.operation == "vxm" else (M, other)
    made = new(Expression(e.operation, operands, e.op, e.dtype, e.shape), engine.local)
    part = (
        entries.part_of_vector(engine, made, result.partition)
        if out.ndim == 1
        else rowwise.own_rows(engine, made, result)
    )
    put(result, part, write)
    result.changed()
    return None
