"""The order of a vector's values, and the best column of each row by it, on the CPU engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic, operand
from sparsezc.expr.expression import Expression

__all__ = ["argsort", "best_column"]

_DIGITS = 2**16  # values that NumPy sorts by digits


def argsort(x: Expression) -> Any:
    """Make python-graphblas's Vector of the positions of the least values in their order."""
    gb, size = native.gb, x.shape[0]
    at, values = x.operands[0]._store.to_coo()
    first = at[_first(values, size)].astype(np.int64)
    return acyclic(gb.Vector.from_coo(np.arange(first.size), first, gb.dtypes.INT64, size=size))


def _first(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the places of the least values in their order, equal ones by place, NaN last."""
    among = np.arange(values.size)
    if 0 < count < values.size:
        bound = np.partition(values, count - 1)[count - 1]
        among = np.flatnonzero(values <= bound) if bound == bound else among
        values = values[among]
    keys = values
    if values.min(initial=0) >= 0 and values.max(initial=0) < _DIGITS:
        digits = values.astype(np.uint16)
        if (digits == values).all():
            keys = digits  # in a sixth of the time
    found: NDArray[np.int64] = among[np.argsort(keys, kind="stable")[:count]]
    return found


def best_column(x: Expression) -> Any:
    """Make python-graphblas's Vector of the columns where a vector is largest in each row; of equal ones the first."""
    A, v = x.operands
    gb = native.gb
    at, values = v._store.to_coo()
    order = at.size - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    rank = np.empty(at.size, np.int64)
    rank[order] = np.arange(at.size)
    ranks = acyclic(gb.Vector.from_coo(at, rank, gb.dtypes.INT64, size=v.size))
    if 0 in A._shape or not at.size:
        return acyclic(gb.Vector(gb.dtypes.INT64, x.shape[0]))
    rows, least = acyclic(operand(A).mxv(ranks, gb.semiring.min_second[gb.dtypes.INT64]).new()).to_coo()
    columns = at[order[least]].astype(np.int64)
    return acyclic(gb.Vector.from_coo(rows, columns, gb.dtypes.INT64, size=x.shape[0]))
