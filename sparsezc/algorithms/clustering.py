"""Clustering coefficients: the share of the pairs of a vertex's neighbours that an edge joins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.triangles import by_loop, corners, ordered_pairs
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes


def local_clustering_coefficient(A: Matrix) -> Vector:
    """Compute the density of edges among each vertex's neighbours, by Graphalytics' rules.

    The result is the share of possible edges that exist. The neighbours of a vertex are the other ends of its edges in
    both directions. Each direction counts: a pair of opposite edges among neighbours counts twice. Loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex; 0 for vertices with fewer than two neighbours.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the undirected simple graph, and d its degrees::

        C<S> = S A           over (plus, pair): the edges from neighbours of i to its neighbour j
        C 1 / d (d - 1)

    If A is symmetric, C 1 is twice the number of triangles at each vertex (:func:`triangles`), and the result is that
    of NetworkX's ``clustering``.

    Source: A. Iosup et al., LDBC Graphalytics, VLDB 2016, doi:10.14778/3007263.3007270, after D. Watts, S. Strogatz,
    Collective dynamics of small-world networks, 1998, doi:10.1038/30918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4)
    >>> [round(x, 4) for x in gb.algorithms.local_clustering_coefficient(A).to_dense().tolist()]
    [0.5, 0.5, 0.1667, 0.0]
    """
    _check.adjacency(A)
    S = simple(A)
    if facts.is_symmetric(A):
        if (found := by_loop(S)) is not None:
            closed, pairs = found
            return engine_loops.vector(np.divide(2 * closed, pairs, out=np.zeros(pairs.size), where=pairs > 0))
        # the edge opposite to a corner of a triangle counts in both directions
        edges = corners(S)
        edges << edges.apply(binary.times, right=2)
        return _share(edges, ordered_pairs(out_degree(S)))
    C = S.mxm(A, semiring.plus_pair[datatypes.INT64]).new(mask=S.S)
    edges = C.reduce_rowwise(monoid.plus).new()
    # C counts a loop at j as an edge from a neighbour of i to its neighbour j
    loops = A.select(select.diag).new()
    if loops.nvals:
        at = loops.reduce_rowwise(monoid.any).new()
        edges(binary.minus) << S.mxv(at, semiring.plus_pair[datatypes.INT64])
    return _share(edges, ordered_pairs(out_degree(S)))


def clustering(A: Matrix, *, weighted: bool = False) -> Vector:
    """Compute the share of the possible triangles at each vertex that exist, by NetworkX's rules for directed graphs.

    Each edge of a triangle may have either direction, so three vertices can form eight triangles. Loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    weighted : bool
        A triangle counts as the geometric mean of its edges' values, which must be >= 0, divided by the largest value
        in `A`; else as 1.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex; 0 if no triangle is possible.

    Raises
    ------
    InvalidValue
        `weighted`, and a value is negative, infinite or NaN, or the sum of all values is infinite, or the graph has a
        triangle and no value above 0.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With E the edges, M = E + E' the number of edges between two vertices, d = M 1, r = (E .* E') 1, and W the cube
    roots of the scaled weights if `weighted`, else E::

        N = W + W'
        C<N> = N N           over (plus, times)
        (N .* C) 1 / 2 (d (d - 1) - 2 r)

    Source: G. Fagiolo, Clustering in complex directed networks, 2007, doi:10.1103/PhysRevE.76.026107; weights: J.
    Onnela et al., Intensity and coherence of motifs in weighted complex networks, 2005,
    doi:10.1103/PhysRevE.71.065103.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], [1, 8, 1, 8], nrows=4, ncols=4)
    >>> [round(x, 4) for x in gb.algorithms.clustering(A).to_dense().tolist()]
    [0.5, 0.5, 0.1667, 0.0]
    >>> [round(x, 4) for x in gb.algorithms.clustering(A, weighted=True).to_dense().tolist()]
    [0.125, 0.125, 0.0417, 0.0]
    """
    _check.adjacency(A)
    if facts.is_symmetric(A) and not weighted:
        # of an undirected graph: eight times the triangles, over eight times the unordered pairs of neighbours
        return local_clustering_coefficient(A)
    plain = A.select(select.offdiag).new()
    E = plain.apply(binary.pair[datatypes.INT64], right=1).new()
    M = E.ewise_add(E.T, monoid.plus).new()
    N = M
    if weighted:
        W = _cube_roots(plain, A)
        N = W.ewise_add(W.T, monoid.plus).new()
    # C<N> = N N;  (N .* C) 1
    C = N.mxm(N, semiring.plus_times).new(mask=N.S)
    if weighted and C.nvals and A.reduce_scalar(monoid.max).new().value == 0:
        raise InvalidValue("A has triangles and no value above 0; the weights are taken relative to the largest")
    C << C.ewise_mult(N, binary.times)
    triangles = C.reduce_rowwise(monoid.plus).new()
    # 2 (d (d - 1) - 2 r)
    possible = ordered_pairs(M.reduce_rowwise(monoid.plus).new())
    pairs = E.ewise_mult(E.T, binary.plus).new()
    possible(binary.minus) << pairs.reduce_rowwise(monoid.plus)
    possible << possible.apply(binary.times, right=2)
    return _share(triangles, possible)


def _cube_roots(plain: Matrix, A: Matrix) -> Matrix:
    """Return the cube roots of the weights divided by the largest weight, which may be that of a loop."""
    _check.weights(A)
    most = A.reduce_scalar(monoid.max).new().get(1)
    W: Matrix = plain.apply(binary.truediv[datatypes.FP64], right=most or 1).new()
    W << W.apply(unary.cbrt)
    return W


def square_clustering(A: Matrix) -> Vector:
    """Compute the share of the possible squares at each vertex that exist.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex; 0 if no square is possible.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the undirected simple graph and d its degrees::

        C = S S              over (plus, pair): the number of common neighbours of i and j; d(i) on the diagonal
        q = (sum_j C (C - 1) - d (d - 1)) / 2
        q / ((d - 1) .* C 1 - d (d - 1) - (C .* S) 1 - q)

    C has an entry for each pair of vertices with a common neighbour, which can be many more than the edges.

    Source: P. Lind, M. Gonzalez, H. Herrmann, Cycles and clustering in bipartite networks, 2005,
    doi:10.1103/PhysRevE.72.056127, as NetworkX implements it.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)], nrows=5, ncols=5)
    >>> [round(x, 4) for x in gb.algorithms.square_clustering(A).to_dense().tolist()]
    [0.3333, 0.5, 1.0, 0.5, 0.0]
    """
    _check.adjacency(A)
    return _share(*squares(simple(A)))


def squares(S: Matrix, vertices: NDArray[np.int64] | None = None) -> tuple[Vector, Vector]:
    """Return the numbers of squares and of possible squares at each vertex, or at `vertices`, of a simple graph."""
    R = S if vertices is None else S[vertices, :].new()
    degree = out_degree(R)
    pairs = ordered_pairs(degree)
    # C = S S
    C = R.mxm(S, semiring.plus_pair[datatypes.INT64]).new()
    # q = (sum_j C (C - 1) - d (d - 1)) / 2
    found = C.ewise_mult(C.apply(binary.minus, right=1).new(), binary.times).new().reduce_rowwise(monoid.plus).new()
    found(binary.minus) << pairs
    found << found.apply(binary.cdiv, right=2)
    # (d - 1) .* C 1 - d (d - 1) - (C .* S) 1 - q
    possible = C.reduce_rowwise(monoid.plus).new()
    possible << possible.ewise_mult(degree.apply(binary.minus, right=1).new(), binary.times)
    for fewer in (pairs, C.ewise_mult(R, binary.first).new().reduce_rowwise(monoid.plus), found):
        possible(binary.minus) << fewer
    return found, possible


def _share(part: Vector, whole: Vector) -> Vector:
    """Return part / whole, 0 if either has no entry or the whole is not above 0."""
    share = Vector.from_scalar(0.0, part.size, datatypes.FP64)
    whole = whole.select(select.valuegt, 0).new()
    share(binary.plus) << part.ewise_mult(whole, binary.truediv)
    return share
