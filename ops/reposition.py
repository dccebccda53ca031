"""Moving of entries: by an offset, or rows and columns exchanged."""

from __future__ import annotations

import operator
from typing import Any

from sparsezc.expr.expression import Expression, says, stored
from sparsezc.ops import arrays
from sparsezc.ops.checks import scalar

__all__ = ["reposition", "transpose"]


def reposition(u: Any, offsets: tuple[Any, ...], shape: tuple[Any, ...]) -> Expression:
    """Move every entry by an offset in each dimension; entries that leave the shape are dropped.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    offsets : tuple of int
        One for each dimension; positive ones move to higher positions.
    shape : tuple of int or None
        The result's shape; None is u's own.

    Returns
    -------
    Expression
        The expression makes an object of u's kind, of this shape.

    Raises
    ------
    TypeError
        An offset or a size is no integer.
    InvalidValue
        A size is negative or above 2**60.
    """
    u = stored(u, "reposition: the operand", 1, 2)
    moves = []
    for offset in offsets:
        try:
            moves.append(scalar(operator.index(offset), "reposition: offset"))
        except TypeError:
            raise TypeError(f"reposition: an offset must be an integer; got {says(offset)}") from None
    sizes = tuple(
        old if new is None else arrays.size(new, "reposition: size") for new, old in zip(shape, u.shape, strict=True)
    )
    return Expression("reposition", (u, *moves), None, u.dtype, sizes)


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
