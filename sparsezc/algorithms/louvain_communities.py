"""Communities by the Louvain method."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms.greedy_color import greedy_color
from sparsezc.algorithms.modularity import contract, flows, membership, quality
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, indexunary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def louvain_communities(
    A: Matrix,
    resolution: float = 1.0,
    threshold: float = 1e-7,
    max_level: Any = None,
    seed: int | None = None,
    *,
    weighted: bool = False,
) -> Vector:
    """Find communities of high modularity: vertices move while that increases it, then communities become vertices.

    An edge joins its ends in whichever direction; a pair of opposite edges counts twice.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) joins i and j.
    resolution : float
        As in :func:`modularity`: above 1 it favours small communities, below 1 large ones.
    threshold : float
        A level ends when a round of moves gains no more than this, and the method ends when a level does.
    max_level : int, optional
        Most levels, at least 1.
    seed : int, optional
        Chooses the order of moves. Random by default.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    Vector of INT64, size n
        The smallest vertex of each vertex's community, an entry for every vertex.

    Raises
    ------
    InvalidValue
        `max_level` is less than 1, or a weight is negative, NaN or infinite, or their sum is.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Vertices of one colour are no neighbours and move at the same time. With W the weights, of sum m, P the rows of one
    colour, k the sums of rows, s those of communities without the vertex itself, and C(i, c(i)) = 1::

        G = P W C - resolution / m  k s'      at c(i) and where P W C has an entry
        c(i) = argmax_j G(i, j)               if that is more than G(i, c(i))
        W = C' W C                            once a round gains too little

    A round that lowers the modularity, as simultaneous moves may, is undone and ends its level.
    In a graph that has each edge in both directions a loop counts once, as in :func:`modularity`.

    Source: V. Blondel, J. Guillaume, R. Lambiotte, E. Lefebvre, Fast unfolding of communities in large networks, 2008,
    doi:10.1088/1742-5468/2008/10/P10008; colours: H. Lu, M. Halappanavar, A. Kalyanaraman, Parallel heuristics for
    scalable community detection, 2015, doi:10.1016/j.parco.2015.03.003.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], nrows=6, ncols=6)
    >>> gb.algorithms.louvain_communities(A, seed=1).to_dense().tolist()
    [0, 0, 0, 3, 3, 3]
    """
    n = _check.adjacency(A)
    levels = None if max_level is None else _check.count(max_level, "max_level", 1)
    if weighted:
        _check.weights(A)
    W = flows(A, weighted)
    if not A._symmetric:
        W << W.ewise_add(W.T, monoid.plus)
    community = np.arange(n)
    level = 0
    while W.reduce_scalar(monoid.plus).new().get(0.0) > 0 and level != levels:
        before = quality(W, resolution)
        moved = _level(W, resolution, threshold, seed)
        W = contract(W, membership(moved))
        community = moved[community]
        level += 1
        if quality(W, resolution) - before <= threshold:
            break
    # the smallest vertex of each community
    smallest = np.full(n, n)
    np.minimum.at(smallest, community, np.arange(n))
    return Vector.from_dense(smallest[community])


def _level(
    W: Matrix, resolution: float, threshold: float, seed: int | None
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Move vertices between communities until no round gains more than `threshold`; return each vertex's community."""
    n, m = W.nrows, W.reduce_scalar(monoid.plus).new().get()
    k = Vector.from_scalar(0.0, n, datatypes.FP64)
    k(binary.plus) << W.reduce_rowwise(monoid.plus)
    N = W.select(select.offdiag).new()._known_symmetric()
    colours = _classes(N, seed)
    best = np.arange(n)
    community, reached = Vector.from_dense(best), quality(W, resolution)
    while True:
        for colour in colours:
            _move(colour.diag().mxm(N, semiring.any_second).new(), colour, k, community, resolution / m)
        found = community.to_coo()[1]
        now = quality(contract(W, membership(found)), resolution)
        if now <= reached + threshold:
            return found if now > reached else best
        best, reached = found, now


def _classes(N: Matrix, seed: int | None) -> list[Vector]:
    """Return the vertices with a neighbour, by colour."""
    color = greedy_color(N, seed).dup(mask=N.reduce_rowwise(monoid.any).new().S)
    top = color.reduce(monoid.max).new().get(-1)
    return [color.select(select.valueeq, c).new() for c in range(top + 1)]


def _move(P: Matrix, colour: Vector, k: Vector, community: Vector, scale: float) -> None:
    """Move each vertex of one colour to its best community; P has their rows."""
    C = membership(community.to_coo()[1])
    own = colour.diag().mxm(C, semiring.any_second).new()
    # G = P W C, with an entry for staying
    G = P.mxm(C, semiring.plus_first[datatypes.FP64]).new()
    G(binary.plus) << own.apply(binary.times, right=0.0)
    # s: the sums of communities, less the vertex's own share of its own
    sums = k.vxm(C, semiring.plus_first[datatypes.FP64]).new()
    s = G.mxm(sums.diag(), semiring.any_second).new()
    s(binary.minus) << k.diag().mxm(own, semiring.any_first)
    # G = G - scale k s'
    s << k.diag().mxm(s, semiring.plus_times)
    G(binary.minus) << s.apply(binary.times, right=scale)
    most = G.reduce_rowwise(monoid.max).new()
    stay = G.ewise_mult(own, binary.first).new().reduce_rowwise(monoid.plus).new()
    # argmax: the smallest j where G(i, j) is the most
    at = most.diag().mxm(G, semiring.any_eq).new()
    at << at.select(select.valueeq, True)
    target = at.apply(indexunary.colindex).new(datatypes.INT64).reduce_rowwise(monoid.min).new()
    # a difference of rounding is no gain
    gains = most.ewise_mult(stay, binary.minus).new().select(select.valuegt, 1e-12).new()
    community(gains.S) << target
