"""A matrix with rows and columns exchanged."""

from __future__ import annotations

from typing import Any

from sparsezc.expr.expression import Expression, stored

__all__ = ["transpose"]


def transpose(A: Any) -> Expression:
    """Transpose: ``C << A.T``. Operations take ``A.T`` itself without forming it.

    Parameters
    ----------
    A : Matrix, nrows x ncols

    Returns
    -------
    Expression
        Makes a Matrix, ncols x nrows.
    """
    A = stored(A, "transpose: the operand", 2)
    nrows, ncols = A.shape
    return Expression("transpose", (A,), None, A.dtype, (ncols, nrows))
