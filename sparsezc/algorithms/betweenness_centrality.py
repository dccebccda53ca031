"""Betweenness centrality."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._sweeps import sample
from sparsezc.matrix import Matrix
from sparsezc.semirings import binary, semiring, types
from sparsezc.vector import Vector


def betweenness_centrality(
    A: Matrix,
    k: Any = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: int | None = None,
    *,
    sources: Iterable[Any] | None = None,
) -> Vector:
    """Share of the shortest paths between others that pass through each vertex.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. Distances are hops.
    k : int, optional
        Estimate from the paths that start at this many vertices, chosen by chance; by default at all of them.
    normalized : bool
        Divide by the number of pairs; else count paths. Pairs are ordered: for a graph whose edges go both ways the
        counts are twice those that NetworkX has for undirected graphs.
    endpoints : bool
        A path passes through its ends too.
    seed : int, optional
        Chooses the `k` vertices; by default by chance.
    sources : iterable of int, optional
        The very vertices to start at, instead of `k`. Without `normalized` nothing is scaled: the sum over these
        sources, as the GAP benchmark asks.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex.

    Raises
    ------
    InvalidValue
        `k` is less than 1.
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q_d the numbers of shortest paths from s to the vertices at depth d, forwards and then backwards::

        q_(d+1)<!met> = q_d'A                        over (plus, first)
        b<q_d> += q_d .* A ((1 + b<q_(d+1)>) ./ q_(d+1))      over (plus, second)

    Source: U. Brandes, A faster algorithm for betweenness centrality, 2001, doi:10.1080/0022250X.2001.9990249;
    estimates: U. Brandes, C. Pich, Centrality estimation in large networks, 2007, doi:10.1142/S0218127407018403.
    Scaling is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.betweenness_centrality(A, normalized=False).to_dense().tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    n = _check.adjacency(A)
    starts = sample(n, k, seed)
    if sources is not None:
        starts = np.array([_check.vertex(v, n, "sources") for v in sources], np.int64)
    centrality = Vector.from_scalar(0.0, n, types.FP64)
    for s in starts.tolist():
        levels = _forwards(A, s)
        centrality(binary.plus) << _backwards(A, levels)
        if endpoints:
            met = sum(q.nvals for q in levels[1:])
            for q in levels[1:]:
                centrality(q.S, binary.plus) << 1.0
            centrality(levels[0].S, binary.plus) << float(met)
    if sources is None or normalized:
        _rescale(centrality, starts, normalized, endpoints)
    return centrality


def _forwards(A: Matrix, source: int) -> list[Vector]:
    """For each depth the number of shortest paths to the vertices there."""
    n = A.nrows
    q, met = Vector(types.FP64, n), Vector(types.BOOL, n)
    q[source] = 1.0
    levels = []
    while q.nvals:
        met(q.S) << True
        levels.append(q)
        # q<!met> = q'A
        q = q.vxm(A, semiring.plus_first[types.FP64]).new(mask=~met.S)
    return levels


def _backwards(A: Matrix, levels: list[Vector]) -> Vector:
    """What the paths from one source add: for each vertex but the source, the pairs that need it."""
    n = A.nrows
    b, t = Vector.from_scalar(0.0, n, types.FP64), Vector(types.FP64, n)
    for q, behind in zip(levels[-2:0:-1], levels[:1:-1], strict=True):
        # t = (1 + b<q_(d+1)>) ./ q_(d+1)
        t(behind.S, replace=True) << b.apply(binary.plus, right=1.0)
        t << t.ewise_mult(behind, binary.truediv)
        # b<q_d> += q_d .* A t
        t(q.S, replace=True) << A.mxv(t, semiring.plus_second[types.FP64])
        b(binary.plus) << t.ewise_mult(q, binary.times)
    return b


def _rescale(centrality: Vector, starts: np.ndarray[Any, Any], normalized: bool, endpoints: bool) -> None:
    """NetworkX's scale: a vertex that paths start at lies on fewer of them, unless ends count."""
    n, k = centrality.size, starts.size
    ends = n if endpoints else n - 1
    if ends < 2:
        return
    least = 1.0 / (ends - 1) if normalized else float(ends)
    inside = Vector.from_coo(starts, True, types.BOOL, size=n)
    whole = k == n or endpoints
    for mask, others in (
        (~inside.S, ends if k == n else k),
        (inside.S, ends if k == n else k if whole else max(k - 1, 1)),
    ):
        centrality(mask) << centrality.apply(binary.times, right=least / others)
