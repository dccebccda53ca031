"""Read a part: an element, a row or column, a subvector, a submatrix."""

from __future__ import annotations

from typing import Any

from sparsezc.expr.expression import Expression, IndexList

__all__ = ["extract"]


def extract(u: Any, keys: tuple[IndexList, ...]) -> Expression:
    """Read a part: ``u[I]`` or ``A[I, J]``.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    keys : tuple of IndexList
        One for each dimension, from :func:`sparsezc.ops.indices.parse`, where they were checked.

    Returns
    -------
    Expression
        Makes a Scalar from single positions only, a Vector where one dimension is left, a Matrix otherwise.
    """
    if u._transposed:  # a part of the transpose: the same part of the matrix, where that needs no transposing itself
        flipped = keys[::-1]
        if any(key.kind == "one" for key in keys):
            return extract(u.T, flipped)
    shape = tuple(key.size for key in keys if key.kind != "one")
    return Expression("extract", (u, *keys), None, u.dtype, shape)
