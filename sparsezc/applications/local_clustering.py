"""Local clustering: the cluster around a vertex, found by looking at few others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import ConvergenceFailure
from sparsezc.semirings import binary, monoid, select, semiring, unary
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
        Vertices in 0..n-1, each once. Each has a problem of its own; they are solved together.
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
        `alpha`, `rho`, `tol` or `max_iter` lies outside its range, or `seeds` is empty or repeats a vertex.
    IndexOutOfBound
        A seed is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the undirected simple graph, D its degrees, s the seed and Q = D^-1/2 (D - (1 - alpha)/2 (D + S)) D^-1/2::

        minimise  q'Q q / 2 - alpha s'D^-1/2 q + rho alpha |D^1/2 q|_1

    Proximal gradient steps of length 1 from 0 only grow, and never beyond the vertices of the solution (theorem 2), so
    no row but theirs is read. With y = D^-1/2 q, and a row of each matrix for a seed::

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
    S = simple(A)
    d = out_degree(S).dup(datatypes.FP64)
    Y = _solved(S, d, at, (alpha, rho), tol, graphs.count(max_iter, "max_iter", 1))
    # p = Y D
    p: Matrix = Y.ewise_mult(d, binary.times).new()
    return p, *_sweeps(S, d, Y)


def _solved(
    S: Matrix, d: Vector, seeds: NDArray[np.int64], weights: tuple[float, float], tol: float, max_iter: int
) -> Matrix:
    """Return y of each seed in a row."""
    alpha, rho = weights
    inverse = d.apply(unary.minv).new()
    s = Matrix.from_coo(np.arange(seeds.size), seeds, alpha, datatypes.FP64, nrows=seeds.size, ncols=S.nrows)
    # alpha s D^-1
    s << s.ewise_mult(inverse, binary.times)
    Y: Matrix = Matrix(datatypes.FP64, *s.shape)
    most, grown = tol * rho * alpha, 0.0
    for _ in range(max_iter):
        # T = (1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha
        T = Y.mxm(S, semiring.plus_first[datatypes.FP64]).new()
        T << T.ewise_mult(inverse, binary.times)
        T(binary.plus) << Y
        T << T.apply(binary.times, right=(1 - alpha) / 2)
        T(binary.plus) << s
        T << T.apply(binary.minus, right=rho * alpha)
        # Y = max(T, 0), which is no less than Y
        T << T.select(select.valuegt, 0)
        change = T.dup()
        change(Y.S, binary.minus) << Y
        Y, grown = T, change.reduce_scalar(monoid.max).new().get(0.0)
        if grown <= most:
            return Y
    raise ConvergenceFailure(
        f"after max_iter = {max_iter} iterations the gradient is still {grown / (rho * alpha):.3g} of rho * alpha "
        f"beyond its bound; at most tol = {tol:g} is needed"
    )


def _sweeps(S: Matrix, d: Vector, Y: Matrix) -> tuple[Matrix, Vector]:
    """Return the best prefix of the vertices of each row by falling y, and its conductance."""
    indptr, columns, values = Y.to_csr()
    total = S.nvals
    clusters, found = [], {}
    for row, (first, last) in enumerate(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)):
        vertices = columns[first:last].astype(np.int64)
        order = np.argsort(-values[first:last], kind="stable")
        conductance = _conductances(S, d, vertices, order, total)
        if conductance.size and np.isfinite(least := conductance.min()):
            found[row] = float(least)
            clusters.append((row, vertices[order[: int(conductance.argmin()) + 1]]))
    i = np.repeat([row for row, _ in clusters], [part.size for _, part in clusters]).astype(np.int64)
    j = np.concatenate([part for _, part in clusters]) if clusters else i
    cluster = Matrix.from_coo(i, j, True, datatypes.BOOL, nrows=Y.nrows, ncols=Y.ncols)
    return cluster, Vector.from_coo(list(found), list(found.values()), datatypes.FP64, size=Y.nrows)


def _conductances(
    S: Matrix, d: Vector, vertices: NDArray[np.int64], order: NDArray[np.int64], total: int
) -> NDArray[np.float64]:
    """Return the conductance of every prefix of `vertices` in an order; infinite where nothing is left outside."""
    if vertices.size == 0:
        return np.empty(0)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    i, j, _ = S[vertices, vertices].new().to_coo(values=False)
    # an edge is inside from its later end on, in both directions
    inside = np.cumsum(
        np.bincount(np.maximum(rank[i.astype(np.int64)], rank[j.astype(np.int64)]), minlength=order.size)
    )
    volume = np.cumsum(d[vertices].new().to_dense()[order])
    smaller = np.minimum(volume, total - volume)
    cut = volume - inside
    found: NDArray[np.float64] = np.divide(cut, smaller, out=np.full(order.size, np.inf), where=smaller > 0)
    return found
