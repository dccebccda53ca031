"""Scores of pairs of vertices by their common neighbours."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms._check import Pairs
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pairs import INVERSE, LOGARITHMIC, common
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch
from sparsezc.semirings import select, semiring, unary
from sparsezc.semirings.types import datatypes


def common_neighbors(A: Matrix, pairs: Pairs | None = None, weight: Vector | None = None) -> Matrix:
    """Count the common neighbours of pairs of vertices, or sum their weights.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, makes j a neighbour of i.
    pairs : Matrix, shape (n, n), any dtype, or iterable of pairs of int, optional
        The pairs (i, j) to compute: the entries of a Matrix, or a list; the cost grows with their number. By default
        all pairs with i != j.
    weight : Vector, size n, optional
        The weight of each vertex as a common neighbour; vertices without an entry do not count.

    Returns
    -------
    Matrix of INT64, or of FP64 with `weight`, shape (n, n)
        The counts or sums; pairs without a common neighbour have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` or `weight` has another shape.
    DomainMismatch
        `pairs` is neither a Matrix nor pairs of integers, or `weight` is not a Vector.
    IndexOutOfBound
        `pairs` lists a number that is not a vertex.

    Notes
    -----
    With D the weights on the diagonal::

        C<pairs> = (A D) A'      over (plus, first), or A A' over (plus, pair)

    Source: D. Liben-Nowell, J. Kleinberg, The link-prediction problem for social networks, 2007,
    doi:10.1002/asi.20591.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (1, 2), (1, 3), (0, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.common_neighbors(A).get(0, 1)
    2
    >>> gb.algorithms.common_neighbors(A, pairs=[(0, 1), (2, 3)]).to_dicts()
    {0: {1: 2}}
    """
    n = _check.adjacency(A)
    asked = None if pairs is None else _check.pairs(pairs, A)
    if weight is not None and not isinstance(weight, Vector):
        raise DomainMismatch(f"weight is a {type(weight).__name__}; a Vector is needed")
    if weight is not None and weight.size != n:
        raise DimensionMismatch(f"weight has size {weight.size}; the graph has {n} vertices")
    if (found := common(A, asked, weight)) is not None:
        return found.matrix(found.number if weight is None else found.weight, n)
    W, op = A, semiring.plus_pair[datatypes.INT64]
    if weight is not None:
        W = A.mxm(weight.dup(datatypes.FP64).diag(), semiring.any_second[datatypes.FP64]).new()
        op = semiring.plus_first[datatypes.FP64]
    product = W.mxm(A.T, op)
    C: Matrix = product.new() if asked is None else product.new(mask=asked.S)
    if asked is None:
        C << C.select(select.offdiag)
    return C


def resource_allocation_index(A: Matrix, pairs: Pairs | None = None) -> Matrix:
    """Sum the reciprocal degrees of the common neighbours of pairs of vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of an undirected graph, each edge in both directions; values are ignored.
    pairs : Matrix, shape (n, n), any dtype, or iterable of pairs of int, optional
        The pairs to compute, as :func:`common_neighbors` takes them.

    Returns
    -------
    Matrix of FP64, shape (n, n)
        Pairs without a common neighbour have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` has another shape.

    Notes
    -----
    With d the degrees, the common neighbours w of u and v give::

        sum of 1 / d(w)

    Source: T. Zhou, L. Lü, Y.-C. Zhang, Predicting missing links via local information, 2009,
    doi:10.1140/epjb/e2009-00335-8.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("star:4")  # vertex 0 is the centre
    >>> round(gb.algorithms.resource_allocation_index(A).get(1, 2), 4)
    0.3333
    """
    n = _check.adjacency(A)
    asked = None if pairs is None else _check.pairs(pairs, A)
    if (found := common(A, asked, by_degree=INVERSE)) is not None:
        return found.matrix(found.weight, n)
    return common_neighbors(A, asked, out_degree(A).apply(unary.minv[datatypes.FP64]).new())


def adamic_adar_index(A: Matrix, pairs: Pairs | None = None) -> Matrix:
    """Sum the reciprocal logarithms of the degrees of the common neighbours of pairs of vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of an undirected graph, each edge in both directions; values are ignored.
    pairs : Matrix, shape (n, n), any dtype, or iterable of pairs of int, optional
        The pairs to compute, as :func:`common_neighbors` takes them. The result for a pair (i, i) is infinite if i has
        a neighbour of degree 1.

    Returns
    -------
    Matrix of FP64, shape (n, n)
        Pairs without a common neighbour have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` has another shape.

    Notes
    -----
    With d the degrees, the common neighbours w of u and v give::

        sum of 1 / log d(w)

    Source: L. Adamic, E. Adar, Friends and neighbors on the web, 2003, doi:10.1016/S0378-8733(03)00009-1.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("star:4")  # vertex 0 is the centre
    >>> round(gb.algorithms.adamic_adar_index(A).get(1, 2), 4)
    0.9102
    """
    n = _check.adjacency(A)
    asked = None if pairs is None else _check.pairs(pairs, A)
    if (found := common(A, asked, by_degree=LOGARITHMIC)) is not None:
        return found.matrix(found.weight, n)
    weight = out_degree(A).apply(unary.log[datatypes.FP64]).new()
    return common_neighbors(A, asked, weight.apply(unary.minv[datatypes.FP64]).new())
