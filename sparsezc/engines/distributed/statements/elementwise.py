"""Elementwise statements: each rank runs them on its part, without an exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import assignment, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.expr.expression import Expression, Operand
from sparsezc.semirings.types.datatypes import INT64

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition

__all__ = ["ROW_SHIFTS", "part_of", "run", "transpose"]

# How many times this rank's first row (or column) is added to an operator's thunk, as local positions begin at 0.
ROW_SHIFTS = {
    "rowindex": 1, "diagindex": 1, "tril": 1, "triu": 1, "diag": 1, "offdiag": 1, "rowle": -1, "rowgt": -1,
    "colindex": 0, "colle": 0, "colgt": 0, "index": 1, "indexle": -1, "indexgt": -1,
}  # fmt: skip
_COLUMN_SHIFTS = {
    "rowindex": 0, "diagindex": -1, "tril": -1, "triu": -1, "diag": -1, "offdiag": -1, "rowle": 0, "rowgt": 0,
    "colindex": 1, "colle": -1, "colgt": -1,
}  # fmt: skip


def run(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run an elementwise operation on this rank's part."""
    result, partition = out._store, out._store.partition
    operands = list(e.operands)
    if e.op is not None and e.op.is_positional and not partition.is_whole and engine.size > 1:
        shift = _shift(e, partition)
        if shift is None:
            return False
        operands[1] = Operand._kinds[0].from_value(int(operands[1].value) + shift, INT64)
    operands = [part_of(engine, x, len(e.shape), first=k == 0, partition=partition) for k, x in enumerate(operands)]
    here = Expression(e.operation, tuple(operands), e.op, e.dtype, partition.local_shape(e.shape), None, e.empty)
    full = _stays_full(e, write, result)
    write_local(result, here, write)
    result.changed(partition.sizes if full else None)
    return None


def _stays_full(e: Any, write: Any, result: Any) -> bool:
    """Return whether the result is known to have every entry, by its operands."""
    if len(e.shape) != 1 or result.partition.is_whole or e.operation.startswith("select"):
        return False
    known = [x._store.is_full for x in e.operands if x._stored]
    full = all(known) if e.operation == "ewise_mult" else any(known)
    if write.mask is None:
        return full or (write.accum is not None and result.is_full)
    return not write.replace and result.is_full and (write.accum is not None or full)


def _shift(e: Any, partition: Partition) -> int | None:
    """Return the number to add to the thunk of a positional operator; None: it has no thunk to shift."""
    table = _COLUMN_SHIFTS if partition.along == COLUMNS else ROW_SHIFTS
    if e.operation not in ("apply_index", "select") or e.op.name not in table:
        return None
    return table[e.op.name] * partition.lo


def part_of(engine: DistributedEngine, x: Any, ndim: int, *, first: bool, partition: Partition) -> Any:
    """Return the part of an operand that this rank's part of the result depends on."""
    if not x._stored:
        return x
    store = x._store
    if x.ndim == 2:
        if not x._transposed or engine.known_symmetric(x):
            return store.local
        return matrix_exchange.turned(engine, store).local if engine.size > 1 else store.local.T
    if ndim == 1 or engine.size == 1 or partition.is_whole:
        return vector_exchange.whole_vector(engine, store) if partition.is_whole else store.local
    # A vector combined with a matrix stands for each of its columns as the left operand, for each row as the right.
    along = ROWS if first else COLUMNS
    return store.local if partition.along == along else vector_exchange.whole_vector(engine, store)


def transpose(engine: DistributedEngine, e: Any, out: Any, write: Any) -> None:
    """Write the transpose of a matrix."""
    A, result = e.operands[0], out._store
    if engine.size == 1:
        here = Expression("transpose", (A._store.local,), None, e.dtype, e.shape)
        write_local(result, here, write)
    else:
        turned = matrix_exchange.turned(engine, A._store)
        write_local(result, assignment(turned.local, result.local), write)
    result.changed()
