"""Eccentricities, and what they bound: diameter and radius."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import is_symmetric, transposed
from sparsezc.algorithms._sweeps import sweeps
from sparsezc.algorithms.bfs import bfs
from sparsezc.errors import InvalidValue
from sparsezc.matrix import Matrix
from sparsezc.semirings import binary, monoid, select, types
from sparsezc.vector import Vector


def eccentricity(A: Matrix) -> Vector:
    """Distance from each vertex to the one farthest from it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a (strongly) connected graph: an entry (i, j), whatever its value, is an edge from i to j.
        Distances are hops.

    Returns
    -------
    Vector of INT64, size n
        An entry for every vertex.

    Raises
    ------
    InvalidValue
        Some vertex does not reach some other.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    The greatest depth at which a search from anywhere, against the edges, meets the vertex. One pass over the matrix a
    level serves 64 searches. Source: M. Then et al., The more the merrier: efficient multi-source graph traversal,
    PVLDB 8, 2014, doi:10.14778/2735496.2735507.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)], nrows=3, ncols=3)
    >>> gb.algorithms.eccentricity(A).to_dense().tolist()
    [2, 2, 2]
    """
    n = _check.adjacency(A)
    B = transposed(A)
    _refuse_disconnected(A, B)
    farthest = Vector.from_scalar(0, n, types.INT64)
    for depth, bits in sweeps(B, np.arange(n)):
        farthest(bits.S, binary.max) << depth
    return farthest


def diameter(A: Matrix) -> int:
    """The greatest distance between two vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a (strongly) connected graph of at least one vertex, as :func:`eccentricity` takes it.

    Returns
    -------
    int

    Raises
    ------
    InvalidValue
        Some vertex does not reach some other, or there is none.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Where every edge goes both ways, a search from v with eccentricity e bounds all others, and vertices whose bounds
    say that they change nothing are left out; few searches are needed on graphs with a core and a periphery::

        max(d(v, w), e - d(v, w)) <= eccentricity(w) <= e + d(v, w)

    Source: F. Takes, W. Kosters, Determining the diameter of small world networks, CIKM 2011,
    doi:10.1145/2063576.2063748.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> gb.algorithms.diameter(A), gb.algorithms.radius(A)
    (2, 1)
    """
    if not _bounds_hold(A):
        return int(eccentricity(A).reduce(monoid.max).value)
    return _bounded(A)[0]


def radius(A: Matrix) -> int:
    """The smallest eccentricity: how far the farthest vertex is from the best centre.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a (strongly) connected graph of at least one vertex, as :func:`eccentricity` takes it.

    Returns
    -------
    int

    Raises
    ------
    InvalidValue
        Some vertex does not reach some other, or there is none.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    The bounds are those of :func:`diameter`. Source: F. Takes, W. Kosters, Computing the eccentricity distribution of
    large graphs, Algorithms 6, 2013, doi:10.3390/a6010100.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.radius(gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 0)]))
    3
    """
    if not _bounds_hold(A):
        return int(eccentricity(A).reduce(monoid.min).value)
    return _bounded(A, of_diameter=False)[1]


def _bounds_hold(A: Matrix) -> bool:
    """Whether every edge goes both ways; there must be a vertex."""
    if _check.adjacency(A) == 0:
        raise InvalidValue("A is 0 x 0; a graph without vertices has neither diameter nor radius")
    return is_symmetric(A)


def _refuse_disconnected(A: Matrix, B: Matrix) -> None:
    """Refuse a graph where vertex 0 does not reach all, along the edges of A or of A'."""
    for edges, said in ((A, "vertex 0 does not reach"), (B, "vertex 0 is not reached from")):
        if A.nrows and (missing := A.nrows - bfs(edges, 0).nvals):
            raise InvalidValue(f"A: {said} {missing} of {A.nrows} vertices; distances would be infinite")
        if B is A:
            return


def _bounded(A: Matrix, of_diameter: bool = True) -> tuple[int, int]:
    """The greatest lower and the smallest upper bound, once they settle the diameter, or the radius."""
    n = A.nrows
    _refuse_disconnected(A, A)
    lower, upper = Vector.from_scalar(0, n, types.INT64), Vector.from_scalar(n, n, types.INT64)
    candidates = Vector.from_scalar(True, n, types.BOOL)
    score, highest = out_degree(A), True
    while candidates.nvals:
        # v has the most edges at first, then by turns the highest upper bound and the lowest lower bound
        extreme = score.reduce(monoid.max if highest else monoid.min).get(0)
        found = score.select(select.valueeq, extreme).new().to_coo()[0]
        distance = bfs(A, found[0] if found.size else 0).dup(types.INT64)
        e = distance.reduce(monoid.max).value
        # max(d, e - d) <= eccentricity <= e + d
        lower(binary.max) << distance
        lower(binary.max) << distance.apply(binary.minus, left=e)
        upper(binary.min) << distance.apply(binary.plus, right=e)
        low, high = lower.reduce(monoid.max).value, upper.reduce(monoid.min).value
        # whose eccentricity may still be more than the most, or less than the least, that is known of
        undecided = (upper.select(select.valuegt, low) if of_diameter else lower.select(select.valuelt, high)).new()
        candidates(undecided.S, replace=True) << candidates
        highest = not highest
        score = (upper if highest else lower).dup(mask=candidates.S)
    return int(low), int(high)
