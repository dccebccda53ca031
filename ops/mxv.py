"""Matrix times vector and vector times matrix over a semiring."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DimensionMismatch
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.expr.resolve import resolve

__all__ = ["mxv", "vxm"]


def mxv(A: Any, v: Any, op: Any) -> Expression:
    """Compute ``w = A @ v``: ``w(i)`` is the sum over k of ``A(i, k) * v(k)`` in the semiring `op`.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, nrows x ncols
    v : Vector, size ncols
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Vector of size nrows.

    Raises
    ------
    DimensionMismatch
        v's size is not A's number of columns.
    """
    A = stored(A, "mxv: the matrix", 2)
    v = stored(v, "mxv: other", 1)
    typed = resolve("semiring", op, "mxv: op", A.dtype, v.dtype)
    nrows, ncols = A._shape
    if v._shape[0] != ncols:
        raise DimensionMismatch(
            f"mxv: {says(A)} has {ncols} columns; other is {says(v)}, and a size of {ncols} is needed"
        )
    return Expression("mxv", (A, v), typed, typed.return_type, (nrows,))


def vxm(v: Any, A: Any, op: Any) -> Expression:
    """Compute ``w = v @ A``: ``w(j)`` is the sum over k of ``v(k) * A(k, j)`` in the semiring `op`.

    Parameters
    ----------
    v : Vector, size nrows
    A : Matrix or TransposedMatrix, nrows x ncols
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Vector of size ncols.

    Raises
    ------
    DimensionMismatch
        v's size is not A's number of rows.
    """
    v = stored(v, "vxm: the vector", 1)
    A = stored(A, "vxm: other", 2)
    typed = resolve("semiring", op, "vxm: op", v.dtype, A.dtype)
    nrows, ncols = A._shape
    if v._shape[0] != nrows:
        raise DimensionMismatch(f"vxm: {says(v)} meets other, {says(A)}, which has {nrows} rows; they must be equal")
    return Expression("vxm", (v, A), typed, typed.return_type, (ncols,))
