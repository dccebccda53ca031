"""Rows computed from rows by a function, in one pass over all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.errors import DimensionMismatch, DomainMismatch
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.semirings.types.datatypes import FP64
from sparsezc.semirings.udf.rows import RowFunction

__all__ = ["map_rows", "row_function"]

MOST = 4  # matrices


def row_function(function: Callable[..., Any]) -> RowFunction:
    """Translate a function of numbers that returns a tuple of numbers, for :func:`map_rows`.

    Parameters
    ----------
    function : callable
        Written in Python, of what user-defined operators may have. A constant from around it keeps its value of now.

    Raises
    ------
    UdfParseError
        It has a construct that cannot be translated.
    TypeError
        It is no Python function.
    """
    return RowFunction(function)


def map_rows(function: RowFunction, *matrices: Any) -> Expression:
    """Compute ``C(i, :) = function(*A(i, :), *B(i, :), ...)``; what is absent is 0.

    It is for matrices of few columns that have many entries: all are read once, where a chain of elementwise statements
    reads and writes one or two with each. A mask that lets nothing of a row through spares the row.

    Parameters
    ----------
    function : RowFunction
        The result of :func:`row_function`; it has a parameter for each column of the matrices.
    *matrices : Matrix, n x k each
        One to four, of any real type; numbers are computed in FP64.

    Returns
    -------
    Expression
        Makes a Matrix of FP64, n x the numbers that the function returns, with every entry.

    Raises
    ------
    DimensionMismatch
        Matrices have different numbers of rows, or not as many columns together as the function has parameters.
    DomainMismatch
        A matrix is of a complex or user-defined type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> turned = ops.row_function(lambda x, y, by: (x - by * y, y + by * x))
    >>> X, by = gb.Matrix.from_dense([[1, 2], [3, 4]]), gb.Matrix.from_dense([[1], [10]])
    >>> ops.map_rows(turned, X, by).new().to_dense()
    array([[ -1.,   3.],
           [-37.,  34.]])
    """
    if not isinstance(function, RowFunction):
        raise DomainMismatch(f"map_rows: function is a {type(function).__name__}; a result of row_function is needed")
    given = [stored(A, f"map_rows: matrix {k}", 2) for k, A in enumerate(matrices)]
    if not 1 <= len(given) <= MOST:
        raise DimensionMismatch(f"map_rows: there are {len(given)} matrices; 1 to {MOST} are possible")
    for A in given:
        if A.dtype.is_complex or A.dtype.is_udt:
            raise DomainMismatch(f"map_rows: {says(A)} is of {A.dtype}; a real type is needed")
        if A.nrows != given[0].nrows:
            raise DimensionMismatch(
                f"map_rows: {says(given[0])} has {given[0].nrows} rows and {says(A)} {A.nrows}; as many are needed"
            )
    if (columns := sum(A.ncols for A in given)) != function.inputs:
        raise DimensionMismatch(
            f"map_rows: the matrices have {columns} columns; {function!r} has {function.inputs} parameters"
        )
    return Expression("map_rows", (*given, function), None, FP64, (given[0].nrows, function.outputs))
