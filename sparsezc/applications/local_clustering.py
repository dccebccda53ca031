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
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_STEPS = 10  # between two that look beyond the pairs inside: rows are read in few requests, most steps touch few pairs


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
    no row but theirs is read, once, at the step that reaches it; the steps themselves are SciPy's on the host, as these
    rows hold no more than 1 / rho entries a seed. With y = D^-1/2 q, and a row of each matrix for a seed::

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
    near = _Near(simple(A), at, alpha, rho)
    y = _solved(near, tol, most)
    row, vertex = near.seed[near.inside], near.vertex[near.inside]
    # p = Y D
    p: Matrix = Matrix.from_coo(row, vertex, y * near.degree[near.inside], datatypes.FP64, nrows=at.size, ncols=n)
    best, conductance = _sweeps(near, y)
    cluster = Matrix.from_coo(row[best], vertex[best], True, datatypes.BOOL, nrows=at.size, ncols=n)
    found = np.flatnonzero(np.isfinite(conductance))
    return p, cluster, Vector.from_coo(found, conductance[found], datatypes.FP64, size=at.size)


class _Near:
    """The pairs of a seed and a vertex near it, numbered as they are met; rows are read of the pairs inside only.

    Attributes
    ----------
    seeds : int
        How many there are.
    seed, vertex, degree : arrays
        Of each pair: the position of the seed, the vertex, and its degree.
    source : array
        alpha s D^-1 - rho alpha at each pair.
    inside : array
        The pairs whose rows have been read, in the order of reading.
    """

    def __init__(self, S: Matrix, seeds: Ints, alpha: float, rho: float):
        self.S, self.n, self.seeds, self.alpha, self.rho = S, S.nrows, seeds.size, alpha, rho
        self._degree = out_degree(S)
        self._sorted = self._number = np.empty(0, np.int64)
        self.seed = self.vertex = self.degree = self.inside = np.empty(0, np.int64)
        self.source = np.empty(0)
        # by column a pair inside, by row the pairs of its neighbours: (1 - alpha)/2 D^-1 S
        self._starts, self._rows, self._values = np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0)
        numbers = self._numbers(np.arange(seeds.size) * self.n + seeds)
        with np.errstate(divide="ignore"):
            self.source[numbers] += np.where(self.degree[numbers] > 0, alpha / self.degree[numbers], 0)

    def _numbers(self, keys: Ints) -> Ints:
        """Return the number of each pair, given as seed * n + vertex; new pairs get the next ones."""
        keys, which = _unique(keys)
        at = np.searchsorted(self._sorted, keys)
        is_new = np.r_[self._sorted, -1][at] != keys
        new = keys[is_new]
        numbers: Ints = np.r_[self._number, -1][at]
        numbers[is_new] = self.vertex.size + np.arange(new.size)
        self._sorted = np.insert(self._sorted, at[is_new], new)
        self._number = np.insert(self._number, at[is_new], numbers[is_new])
        seed, vertex = new // self.n, new % self.n
        self.seed, self.vertex = np.r_[self.seed, seed], np.r_[self.vertex, vertex]
        degrees = self._degree[vertex].new()
        self.degree = np.r_[self.degree, degrees.to_dense(0)]
        self.source = np.r_[self.source, np.full(new.size, -self.rho * self.alpha)]
        return numbers[which]

    def read(self, pairs: Ints) -> None:
        """Read the rows of some pairs, those of a vertex once for all of its seeds."""
        vertices, which = np.unique(self.vertex[pairs], return_inverse=True)
        starts, columns, _ = self.S[vertices, :].new().to_csr()
        starts = starts.astype(np.int64)
        counts = np.diff(starts)[which]
        ends = np.cumsum(counts)
        where = np.repeat(starts[which] - (ends - counts), counts) + np.arange(counts.sum())
        rows = self._numbers(np.repeat(self.seed[pairs] * self.n, counts) + columns[where].astype(np.int64))
        self._starts = np.r_[self._starts, self._starts[-1] + ends]
        self._rows = np.r_[self._rows, rows]
        self._values = np.r_[self._values, (1 - self.alpha) / 2 / self.degree[rows]]
        self.inside = np.r_[self.inside, pairs]

    def flows(self) -> Any:
        """Return (1 - alpha)/2 D^-1 S, a row for each pair and a column for each inside, as a SciPy matrix."""
        from scipy.sparse import csc_array  # which takes a tenth of a second to import

        return csc_array((self._values, self._rows, self._starts), shape=(self.vertex.size, self.inside.size))

    def inner(self) -> Any:
        """Return the rows of :meth:`flows` that are inside, in the order of reading."""
        from scipy.sparse import csc_array

        place = np.full(self.vertex.size, -1)
        place[self.inside] = np.arange(self.inside.size)
        rows = place[self._rows]
        is_inside = rows >= 0
        starts = np.r_[0, np.cumsum(is_inside)][self._starts]
        return csc_array((self._values[is_inside], rows[is_inside], starts), shape=(self.inside.size,) * 2)


def _unique(keys: Ints) -> tuple[Ints, Ints]:
    """Return what ``np.unique(keys, return_inverse=True)`` does, by an unstable sort, which is faster."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.r_[True, ordered[1:] != ordered[:-1]][: keys.size]
    which = np.empty(keys.size, np.int64)
    which[order] = np.cumsum(is_first) - 1
    return ordered[is_first], which


def _solved(near: _Near, tol: float, max_iter: int) -> Floats:
    """Return y at the pairs inside."""
    stay, most = (1 - near.alpha) / 2, tol * near.rho * near.alpha
    y: Floats = np.empty(0)
    grown = beyond = 0.0
    inner, source = near.inner(), np.empty(0)
    for iteration in steps(range(max_iter), "rounds", at_most=True):
        # T = (1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha, Y = max(T, 0), which is no less than Y
        if grown > most and iteration % _STEPS:
            t = inner @ y + source + stay * y
            grown, y = (t - y).max(), t
            continue
        t = near.flows() @ y + near.source
        t[near.inside] += stay * y
        grown, y = (t[near.inside] - y).max(initial=0.0), t[near.inside]
        t[near.inside] = 0
        new = np.flatnonzero(t > most)
        beyond = t.max(initial=0.0)
        if new.size:
            y = np.r_[y, t[new]]
            near.read(new)
            inner, source = near.inner(), near.source[near.inside]
            grown = max(grown, beyond)
        elif grown <= most:
            return y
    grown = max(grown, beyond)
    raise ConvergenceFailure(
        f"after max_iter = {max_iter} iterations the gradient is still {grown / (near.rho * near.alpha):.3g} of "
        f"rho * alpha beyond its bound; at most tol = {tol:g} is needed"
    )


def _sweeps(near: _Near, y: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return which pairs inside are in the best prefix of their seed's vertices by falling y; its conductance."""
    seed, degree, total = near.seed[near.inside], near.degree[near.inside], near.S.nvals
    order = np.lexsort((near.vertex[near.inside], -y, seed))
    rank = np.full(near.vertex.size, -1)
    rank[near.inside[order]] = np.arange(order.size)
    # an edge between pairs inside is in a prefix from its later end on, in both directions
    flows = near.flows()
    ends = rank[flows.indices], np.repeat(rank[near.inside], np.diff(flows.indptr))
    later = np.bincount(np.maximum(*ends)[ends[0] >= 0], minlength=order.size)
    first = np.searchsorted(seed[order], np.arange(near.seeds))
    some = np.flatnonzero(np.diff(np.r_[first, order.size]))
    before = np.repeat(first[some], np.diff(np.r_[first[some], order.size]))
    inside, volume = (np.cumsum(x) - np.r_[0, np.cumsum(x)][before] for x in (later, degree[order]))
    smaller = np.minimum(volume, total - volume)
    conductance = np.divide(volume - inside, smaller, out=np.full(order.size, np.inf), where=smaller > 0)
    least = np.full(near.seeds, np.inf)
    if some.size:
        least[some] = np.minimum.reduceat(conductance, first[some])
    # up to the first prefix of that conductance
    reached = conductance == least[seed[order]]
    count = np.cumsum(reached) - reached
    chosen = np.zeros(order.size, bool)
    chosen[order] = (count == count[before]) & np.isfinite(least[seed[order]])
    return chosen, least
