"""Similarity of vertices by their common neighbours."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._check import Pairs
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pairs import common
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, select, semiring, unary
from sparsezc.semirings.types import datatypes


def jaccard_coefficient(A: Matrix, pairs: Pairs | None = None) -> Matrix:
    """Compute for pairs of vertices the number of common neighbours divided by that of neighbours of either.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, makes j a neighbour of i.
    pairs : Matrix, shape (n, n), any dtype, or iterable of pairs of int, optional
        The pairs (i, j) to compute: the entries of a Matrix, or a list; the cost grows with their number. By default
        all pairs with i != j.

    Returns
    -------
    Matrix of FP64, shape (n, n)
        The coefficients; pairs without a common neighbour have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` has another shape.
    DomainMismatch
        `pairs` is neither a Matrix nor pairs of integers.
    IndexOutOfBound
        `pairs` lists a number that is not a vertex.

    Notes
    -----
    With d the numbers of neighbours::

        C<pairs> = A A'      over (plus, pair): the number of common neighbours
        C / (d_i + d_j - C)

    Without `pairs` the result has an entry for each pair of vertices with a common neighbour; there can be many more of
    these than edges.

    Source: P. Jaccard, 1901; D. Liben-Nowell, J. Kleinberg, The link-prediction problem for social networks, 2007,
    doi:10.1002/asi.20591.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (1, 2), (1, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.jaccard_coefficient(A).get(0, 1)
    0.5
    >>> gb.algorithms.jaccard_coefficient(A, pairs=[(0, 1), (0, 3)]).to_dicts()
    {0: {1: 0.5}}
    """
    asked = _asked(A, pairs)
    if (found := common(A, asked)) is not None:
        return found.matrix(found.number / (found.degrees.sum(0) - found.number), A.nrows)
    C = _products(A, asked, False)
    D = out_degree(A).diag()
    # d_i + d_j - C
    union = D.mxm(C, semiring.any_first).new()
    union << union.ewise_mult(C.mxm(D, semiring.any_second).new(), binary.plus)
    union << union.ewise_mult(C, binary.minus)
    share: Matrix = C.ewise_mult(union, binary.truediv).new(datatypes.FP64)
    return share


def cosine_similarity(A: Matrix, pairs: Pairs | None = None, *, weighted: bool = False) -> Matrix:
    """Compute for pairs of vertices the cosine of the angle between their rows.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: row i has the neighbours of i.
    pairs : Matrix, shape (n, n), any dtype, or iterable of pairs of int, optional
        The pairs (i, j) to compute: the entries of a Matrix, or a list. By default all pairs with i != j.
    weighted : bool
        Rows are vectors of the values of `A`; else of ones.

    Returns
    -------
    Matrix of FP64, shape (n, n)
        The cosines; pairs without a common neighbour, and rows of zeros, have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` has another shape.
    DomainMismatch
        `pairs` is neither a Matrix nor pairs of integers.
    IndexOutOfBound
        `pairs` lists a number that is not a vertex.

    Notes
    -----
    ::

        C<pairs> = A A'      over (plus, times), or (plus, pair)
        C / |A_i| |A_j|

    Source: G. Salton, M. McGill, Introduction to Modern Information Retrieval, 1983.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (1, 2), (1, 3)], nrows=4, ncols=4)
    >>> round(gb.algorithms.cosine_similarity(A).get(0, 1), 4)
    0.7071
    """
    asked = _asked(A, pairs)
    if not weighted and (found := common(A, asked)) is not None:
        lengths = np.sqrt(found.degrees)
        return found.matrix(found.number / (lengths[0] * lengths[1]), A.nrows)
    C = _products(A, asked, weighted)
    # D = 1 / |A_i|
    if weighted:
        squares = A.ewise_mult(A, binary.times[datatypes.FP64]).new()
        length: Vector = squares.reduce_rowwise("plus").new(datatypes.FP64)
    else:
        length = out_degree(A).dup(datatypes.FP64)
    length << length.select(select.valuegt, 0)
    length << length.apply(unary.sqrt)
    D = length.apply(unary.minv).new().diag()
    # D C D
    C << D.mxm(C, semiring.plus_times)
    C << C.mxm(D, semiring.plus_times)
    return C


def _asked(A: Matrix, pairs: Pairs | None) -> Matrix | None:
    """Check the arguments; return the given pairs as a matrix, or None."""
    _check.adjacency(A)
    return None if pairs is None else _check.pairs(pairs, A)


def _products(A: Matrix, asked: Matrix | None, weighted: bool) -> Matrix:
    """Return the inner products of pairs of rows, FP64: of all pairs off the diagonal, or of the given pairs."""
    op = semiring.plus_times[datatypes.FP64] if weighted else semiring.plus_pair[datatypes.FP64]
    if asked is None:
        C: Matrix = A.mxm(A.T, op).new()
        C << C.select(select.offdiag)
        return C
    product: Matrix = A.mxm(A.T, op).new(mask=asked.S)
    return product
