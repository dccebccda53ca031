"""Products of full matrices of floats over plus_times, which NumPy's BLAS makes on the CPU engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host
from sparsezc.semirings.semiring import plus_times

__all__ = ["is_dense", "matmul"]

_MANY = 1 << 14  # products: copies and calls cost more than SuiteSparse saves on fewer


def is_dense(x: Expression) -> bool:
    """Return whether an expression is such a product."""
    if x.operation != "mxm" or x.op.op is not plus_times:  # type: ignore[union-attr]
        return False
    A, B = x.operands
    if not (x.dtype.is_float or x.dtype.is_complex) or A.nrows * A.ncols * B.ncols < _MANY:
        return False
    # SuiteSparse has one value of an iso operand, which NumPy would need as often as there are positions
    return all(M._store.nvals == math.prod(M._shape) and not M._store.ss.is_iso for M in (A, B))


def matmul(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the product."""
    A, B = x.operands
    count = A.nrows * A.ncols + B.nrows * B.ncols + math.prod(x.shape)
    shapes = f"{A.nrows:,} x {A.ncols:,} and {B.nrows:,} x {B.ncols:,}"
    require_host(count * x.dtype.np_type.itemsize, f"mxm: a product of full matrices of {shapes}")
    left, right = (_array(M, x.dtype.np_type) for M in (A, B))
    with np.errstate(all="ignore"):  # inf * 0 is NaN, whatever NumPy is set to say of it
        values = np.ascontiguousarray(left @ right)
    made = native.gb.Matrix.ss.import_fullr(
        values=values, nrows=x.shape[0], ncols=x.shape[1], take_ownership=True,
        dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


def _array(M: Any, dtype: Any) -> Any:
    """Return a full matrix, or the transpose of one, as an array."""
    array = M._store.to_dense().astype(dtype, copy=False)
    return array.T if M._transposed else array
