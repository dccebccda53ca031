"""Local clustering: the cluster around a vertex, found by looking at few others."""

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
    """Find a cluster around each of some vertices: l1-regularised PageRank, then the best cut of its sweep.

    An edge joins its ends once, whichever way it points and also if it points both ways; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    seeds : int, or iterable of int
        Vertices in 0..n-1, each once. Each has a problem of its own; small ones are solved together.
    alpha : float
        The share of the walk that begins anew at the seed, above 0 and at most 1: small ones see farther.
    rho : float
        The weight of the l1 norm, above 0: small ones find larger clusters, of a volume of at most 1 / rho.
    tol : float
        Above 0. The optimality conditions are met but for this share of ``rho * alpha``.
    max_iter : int
        Most iterations, at least 1. Their number grows with 1 / alpha.

    Returns
    -------
    p : Matrix of FP64, shape (k, n)
        The PageRank of the i-th seed in row i, entries > 0 only.
    cluster : Matrix of BOOL, shape (k, n)
        True at the vertices of its cluster.
    conductance : Vector of FP64, size k
        Of each cluster. A seed with 1 / rho neighbours or more, or none, has no cluster and no entries anywhere.

    Raises
    ------
    ConvergenceFailure
        `max_iter` iterations did not do.
    InvalidValue
        `alpha`, `rho`, `tol` or `max_iter` is outside its range, or `seeds` is empty or repeats a vertex.
    IndexOutOfBound
        A seed is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The rows of the solutions are larger than the memory that may be used; the message has their size so far.

    Notes
    -----
    With S the undirected simple graph, D its degrees, s the seed and Q = D^-1/2 (D - (1 - alpha)/2 (D + S)) D^-1/2::

        minimise  q'Q q / 2 - alpha s'D^-1/2 q + rho alpha |D^1/2 q|_1

    Proximal gradient steps of length 1 from 0 only grow, and never beyond the vertices of the solution (theorem 2), so
    no row but theirs is read, once, at the step that reaches it; these rows hold no more than 1 / rho entries a seed,
    and the steps themselves run on the host, or, where these entries are many, on a GPU: in one launch for a seed, or
    for many. With y = D^-1/2 q, and a row of each matrix for a seed::

        Y = max((1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha, 0)
        p = Y D

    The gradient is within ``tol * rho * alpha`` of its bound when no entry of Y grows by more than that. The sweep
    takes vertices by falling y; a prefix C of volume v in a graph of volume V has conductance cut(C) / min(v, V - v).

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
    """Return which pairs are in the best prefix of their seed's vertices by falling y; its conductance, by seed.

    `total`: the volume of the graph.
    """
    seed, degree, seeds = found.seed, found.degree, found.seeds
    order = np.lexsort((found.vertex, -found.y, seed))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    # an edge between pairs of a seed is in a prefix from its later end on, in both directions
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
    # up to the first prefix of that conductance
    reached = conductance == least[seed[order]]
    count = np.cumsum(reached) - reached
    chosen = np.zeros(order.size, bool)
    chosen[order] = (count == count[before]) & np.isfinite(least[seed[order]])
    return chosen, least
