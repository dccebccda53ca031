"""The column of each row's entries at which a vector is largest, on the CPU engine: one product over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic, operand
from sparsezc.expr.expression import Expression

__all__ = ["best_column"]


def best_column(x: Expression) -> Any:
    """Make python-graphblas's Vector of the columns; of equal entries of the vector the first counts."""
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
