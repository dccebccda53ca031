"""Entries moved by an offset, transposes, and matrices stacked below each other."""

from __future__ import annotations

import operator
from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.ops import arrays
from sparsezc.ops.checks import scalar

__all__ = ["reposition", "stack", "transpose"]


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


def stack(*blocks: Any) -> Expression:
    """Stack matrices below each other.

    Parameters
    ----------
    *blocks : Matrix or TransposedMatrix
        One or more, of one type and with equal numbers of columns.

    Returns
    -------
    Expression
        Makes a Matrix of the rows of the first, then those of the second, and so on.

    Raises
    ------
    InvalidValue
        No matrix is given.
    DimensionMismatch
        They have different numbers of columns.
    DomainMismatch
        They are of different types.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3])
    >>> ops.stack(A, A[1:, :].new()).new().to_dense(0).tolist()
    [[0, 2], [3, 0], [3, 0]]
    """
    if not blocks:
        raise InvalidValue("stack: there are no matrices; at least one is needed")
    checked = tuple(stored(A, f"stack: matrix {k}", 2) for k, A in enumerate(blocks))
    first = checked[0]
    for k, A in enumerate(checked):
        if A.ncols != first.ncols:
            raise DimensionMismatch(f"stack: matrix {k}, {says(A)}, has {A.ncols} columns and matrix 0 {first.ncols}")
        if A.dtype is not first.dtype:
            raise DomainMismatch(f"stack: matrix {k} is of type {A.dtype} and matrix 0 of {first.dtype}")
    return Expression("stack", checked, None, first.dtype, (sum(A.nrows for A in checked), first.ncols))


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
