"""Local clustering: the cluster around a vertex, found by reading the edges of few vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._pattern import simple
from sparsezc.applications import _check
from sparsezc.applications._local_pagerank import Found, Problem, solutions
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings.types import datatypes


def local_clustering(
    A: Matrix, seeds: Any, alpha: float = 0.15, rho: float = 1e-4, *, tol: float = 1e-4, max_iter: Any = 10_000
) -> tuple[Matrix, Matrix, Vector]:
    """Find a cluster around each of some vertices, by l1-regularised PageRank and the best cut of its sweep.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    seeds : int, or iterable of int
        Vertices in 0..n-1, each once. Each seed is a problem of its own; small problems are solved together.
    alpha : float
        The teleport probability of the walk, above 0 and at most 1: with a small one the walk gets farther from the
        seed.
    rho : float
        The weight of the l1 norm, above 0. A small one gives larger clusters; their volume is at most 1 / rho.
    tol : float
        Above 0. The optimality conditions are violated by at most ``tol * rho * alpha``.
    max_iter : int
        Most iterations, at least 1. The number that is needed grows with 1 / alpha.

    Returns
    -------
    p : Matrix of FP64, shape (k, n)
        Row i is the PageRank around the i-th seed, entries > 0 only.
    cluster : Matrix of BOOL, shape (k, n)
        Row i has True for the vertices of the i-th seed's cluster.
    conductance : Vector of FP64, size k
        The conductance of each cluster. A seed with no neighbours, or with 1 / rho or more, has no cluster, and no
        entries in any result.

    Raises
    ------
    ConvergenceFailure
        `max_iter` iterations did not suffice.
    InvalidValue
        `alpha`, `rho`, `tol` or `max_iter` is outside its range, or `seeds` is empty or repeats a vertex.
    IndexOutOfBound
        A seed is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The rows of the solutions need more memory than may be used; the message has their size so far.

    Notes
    -----
    With S the undirected simple graph, D its degrees, s the seed and Q = D^-1/2 (D - (1 - alpha)/2 (D + S)) D^-1/2::

        minimise  q'Q q / 2 - alpha s'D^-1/2 q + rho alpha |D^1/2 q|_1

    In proximal gradient steps of length 1 from 0 no entry of q falls, and only those of the solution's vertices become
    positive (theorem 2). So only the rows of these vertices are read, each once, at the step that reaches its vertex;
    they have at most 1 / rho entries for each seed. The steps run on the host or, if these entries are many, on a GPU,
    in one launch for one or many seeds. With y = D^-1/2 q, and a row of each matrix for a seed::

        Y = max((1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha, 0)
        p = Y D

    The gradient is within ``tol * rho * alpha`` of its bound once no entry of Y grows by more than that. The sweep
    takes vertices by descending y; a prefix C of volume v in a graph of volume V has the conductance cut(C) / min(v, V
    - v).

    Source: K. Fountoulakis, F. Roosta-Khorasani, J. Shun, X. Cheng, M. Mahoney, Variational perspective on local graph
    clustering, Mathematical Programming 174, 2019, sections 3 and 5, doi:10.1007/s10107-017-1214-8; the sweep:
    R. Andersen, F. Chung, K. Lang, Local graph partitioning using PageRank vectors, FOCS 2006, section 2,
    doi:10.1109/FOCS.2006.44.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], nrows=6, ncols=6)
    >>> p, cluster, conductance = gb.applications.local_clustering(A, [0, 5], rho=0.01)
    >>> cluster.to_dicts()
    {0: {0: True, 1: True, 2: True}, 1: {3: True, 4: True, 5: True}}
    >>> conductance.to_dense().round(4).tolist()
    [0.1429, 0.1429]
    """
    n = graphs.adjacency(A)
    at = _check.seeds(seeds if isinstance(seeds, Iterable) else [seeds], n)
    alpha = _check.above(alpha, "alpha", 0, 1)
    rho = _check.above(rho, "rho", 0)
    tol = _check.above(tol, "tol", 0)
    most = graphs.count(max_iter, "max_iter", 1)
    problem, S = Problem(n, at, alpha, rho, tol, most), simple(A)
    total = S.nvals
    parts, done = [], 0
    for found in solutions(S, problem):
        best, least = _sweeps(found, total)
        # p = Y D
        parts.append((done + found.seed, found.vertex, found.y * found.degree, best, least))
        done += found.seeds
    row, vertex, value, best, conductance = map(np.concatenate, zip(*parts, strict=True))
    p: Matrix = Matrix.from_coo(row, vertex, value, datatypes.FP64, nrows=at.size, ncols=n)
    cluster = Matrix.from_coo(row[best], vertex[best], True, datatypes.BOOL, nrows=at.size, ncols=n)
    some = np.flatnonzero(np.isfinite(conductance))
    return p, cluster, Vector.from_coo(some, conductance[some], datatypes.FP64, size=at.size)


def _sweeps(found: Found, total: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which pairs are in the best prefix of their seed's vertices, by descending y, and each seed's conductance.

    `total`: the volume of the graph.
    """
    seed, degree, seeds = found.seed, found.degree, found.seeds
    order = np.lexsort((found.vertex, -found.y, seed))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    # an edge between pairs of a seed is inside every prefix that contains its later end, in both directions
    later = found.ends(rank)
    first = np.searchsorted(seed[order], np.arange(seeds))
    some = np.flatnonzero(np.diff(np.r_[first, order.size]))
    before = np.repeat(first[some], np.diff(np.r_[first[some], order.size]))
    inside, volume = (np.cumsum(x) - np.r_[0, np.cumsum(x)][before] for x in (later, degree[order]))
    smaller = np.minimum(volume, total - volume)
    conductance = np.divide(volume - inside, smaller, out=np.full(order.size, np.inf), where=smaller > 0)
    least = np.full(seeds, np.inf)
    if some.size:
        least[some] = np.minimum.reduceat(conductance, first[some])
    # the vertices up to the end of the first prefix of least conductance
    reached = conductance == least[seed[order]]
    count = np.cumsum(reached) - reached
    chosen = np.zeros(order.size, bool)
    chosen[order] = (count == count[before]) & np.isfinite(least[seed[order]])
    return chosen, least
