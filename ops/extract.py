"""Extraction of a part: an element, a row or column, a subvector, a submatrix."""

from __future__ import annotations

from typing import Any

from sparsezc.expr.expression import Expression, IndexList

__all__ = ["extract"]


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
