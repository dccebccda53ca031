"""Extraction of an element, a row or column, a subvector or a submatrix, and of the values of all entries."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import Expression, IndexList, says, stored

__all__ = ["extract", "values_of", "with_values"]


def extract(u: Any, keys: tuple[IndexList, ...]) -> Expression:
    """Extract a part: ``u[I]`` or ``A[I, J]``.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    keys : tuple of IndexList
        One for each dimension, from :func:`sparsezc.ops.indices.parse`, where they were checked.

    Returns
    -------
    Expression
        The expression makes a Scalar from single positions only, a Vector if one dimension is left, else a Matrix.
    """
    if u._transposed:  # a part of the transpose is the same part of the matrix, if that needs no transpose itself
        flipped = keys[::-1]
        if any(key.kind == "one" for key in keys):
            return extract(u.T, flipped)
    shape = tuple(key.size for key in keys if key.kind != "one")
    return Expression("extract", (u, *keys), None, u.dtype, shape)


def values_of(A: Any) -> Expression:
    """Return the values of a matrix as a vector, in the order of rows and columns: entry k is that of entry k of A.

    Parameters
    ----------
    A : Matrix

    Returns
    -------
    Expression
        Makes a Vector of size ``A.nvals`` of A's type, with every entry.
    """
    A = stored(A, "values_of: A", 2)
    return Expression("values_of", (A,), None, A.dtype, (A.nvals,))


def with_values(A: Any, v: Any) -> Expression:
    """Return a matrix with A's entries and a vector's values, in the order of rows and columns.

    Parameters
    ----------
    A : Matrix
        Its values are not read.
    v : Vector, size ``A.nvals``, with every entry

    Returns
    -------
    Expression
        Makes a Matrix of A's shape and of v's type.

    Raises
    ------
    DimensionMismatch
        v has not as many entries as A.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [3, 5, 8])
    >>> v = ops.values_of(A).new()
    >>> ops.with_values(A, v.apply("ainv").new()).new().to_dense(0)
    array([[ 0, -3],
           [-5, -8]])
    """
    A, v = stored(A, "with_values: A", 2), stored(v, "with_values: v", 1)
    if not v.size == v.nvals == A.nvals:
        raise DimensionMismatch(f"with_values: {says(v)} has {v.nvals} entries; {says(A)} needs {A.nvals}")
    return Expression("with_values", (A, v), None, v.dtype, A.shape)
