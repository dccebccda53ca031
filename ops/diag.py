"""The matrix with a vector on a diagonal, and a matrix's diagonal as a vector."""

from __future__ import annotations

import operator
from typing import Any

from sparsezc.expr.expression import Expression, says, stored
from sparsezc.ops.checks import scalar

__all__ = ["diag"]


def diag(u: Any, k: Any = 0) -> Expression:
    """Make the square matrix with u on diagonal k, or extract diagonal k of the matrix u.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    k : int
        0 is the main diagonal; positive ones are above it.

    Returns
    -------
    Expression
        Makes a Matrix of ``size + abs(k)`` rows and columns from a Vector, a Vector from a Matrix; a diagonal outside
        of the matrix is of size 0.

    Raises
    ------
    TypeError
        k is no integer.
    """
    u = stored(u, "diag: the operand", 1, 2)
    try:
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"diag: k must be an integer; got {says(k)}") from None
    if u.ndim == 1:
        n = u.size + abs(k)
        return Expression("diag", (u, scalar(k, "diag: k")), None, u.dtype, (n, n))
    if u._transposed:
        u, k = u.T, -k
    nrows, ncols = u.shape
    size = max(0, min(nrows + k, ncols) if k < 0 else min(nrows, ncols - k))
    return Expression("diag", (u, scalar(k, "diag: k")), None, u.dtype, (size,))
