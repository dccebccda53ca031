"""Betweenness centrality of vertices and of edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._brandes import Paths, backwards, by_hops, by_lengths
from sparsezc.algorithms._distances import usable
from sparsezc.algorithms._multi_source_bfs import loop_pieces, sample
from sparsezc.algorithms.loops.multi_source import brandes
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.device.processors import processors
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.budget import has_host
from sparsezc.semirings import binary, semiring, unary
from sparsezc.semirings.types import datatypes

_SUMS = {"FP64": datatypes.FP64, "FP32": datatypes.FP32}


def betweenness_centrality(
    A: Matrix,
    k: Any = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: int | None = None,
    *,
    weighted: bool = False,
    sources: Iterable[Any] | None = None,
    dtype: str = "FP64",
) -> Vector:
    """Compute for each vertex the share of the shortest paths between other vertices that pass through it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    k : int, optional
        Estimate from the paths that start at `k` vertices, drawn at random; by default at all vertices.
    normalized : bool
        Divide by the number of pairs; else count paths. Pairs are ordered: for a graph whose edges go both ways the
        counts are twice those that NetworkX has for undirected graphs.
    endpoints : bool
        Count a path for its two end vertices, too.
    seed : int, optional
        Chooses the `k` vertices; random by default.
    weighted : bool
        Values are edge lengths > 0, and an edge of infinite length cannot be used; else distances are hops.
    sources : iterable of int, optional
        The vertices at which paths start, instead of `k`. Without `normalized` the result is the unscaled sum over
        these sources, as the GAP benchmark requires.
    dtype : {"FP64", "FP32"}
        The type in which statements count paths and add up the shares of a search in hops. FP32 halves the bytes of
        vectors. As all terms are positive, shares are right to about six digits, though path counts beyond 2^24 are
        rounded. Compiled loops on a CPU always use FP64.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex.

    Raises
    ------
    InvalidValue
        `dtype` is neither, or is FP32 and `weighted` is true or a vertex has more than 3.4e38 shortest paths; `k` is
        less than 1 or given together with `sources`; `seed` is not from 0 to 2**64 - 1; or, if `weighted`, a length is
        not above 0 or too small to change a sum with others.
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Row i of Q_d holds the numbers of shortest paths from the i-th source to the vertices at depth d. A forward sweep
    over depths and a backward one::

        Q_(d+1)<!met> = Q_d A                        over (plus, first)
        X<Q_d> = ((1 + B) ./ Q_(d+1)) A'             over (plus, first)
        B = Q_d .* X

    As many searches run together as fit in memory. Over lengths each search has a copy of the graph, reduced to the
    edges of its shortest paths; the depth of a vertex is then the largest number of edges of a shortest path to it.

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
    starts = sample(n, k, seed, sources)
    if str(dtype) not in _SUMS or (weighted and str(dtype) == "FP32"):
        raise InvalidValue(f"dtype {dtype!r}: FP64 is needed" + (" over lengths" if weighted else ", or FP32"))
    if weighted:
        A = usable(A, positive=True)
    centrality = None if weighted else _by_loop(A, starts, ends=endpoints)
    if centrality is None:
        centrality = _by_statements(A, starts, endpoints, None if weighted else _SUMS[str(dtype)])
    if sources is None or normalized:
        _rescale(centrality, starts, normalized, endpoints)
    return centrality


def _by_loop(A: Matrix, starts: NDArray[np.int64], *, ends: bool = False, entries: bool = False) -> Vector | None:
    """Add up the shares of one search after another; None if the engine runs no loop."""
    if entries and not has_host(8 * processors(16) * A.nvals):  # each thread has an array of the shares of all entries
        return None
    found: Any = 0.0
    for over, times in loop_pieces(A, range(starts.size), starts.size):
        if (each := engine_loops.run_loop(brandes, A, starts, ends, entries, times=times, over=over)) is None:
            return None
        found = sum(each, found)
    return engine_loops.vector(found) if starts.size else None


def _by_statements(A: Matrix, starts: NDArray[np.int64], endpoints: bool, hops: datatypes.DataType | None) -> Vector:
    """Add up the shares, all searches of a group together; `hops`: the type of sums in hops, None over lengths."""
    centrality = Vector.from_scalar(0.0, A.nrows, datatypes.FP64)
    for group, paths in by_hops(A, starts, hops) if hops else by_lengths(A, starts, True):
        for _, _, b in backwards(paths):
            centrality(binary.plus) << paths.by_vertex(b)
        if endpoints:
            centrality(binary.plus) << _ends(group, paths)
    return centrality


def edge_betweenness_centrality(
    A: Matrix,
    k: Any = None,
    normalized: bool = True,
    seed: int | None = None,
    *,
    weighted: bool = False,
    sources: Iterable[Any] | None = None,
) -> Matrix:
    """Compute for each edge the share of the shortest paths that contain it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    k, seed, weighted, sources
        As in :func:`betweenness_centrality`.
    normalized : bool
        Divide by the number of pairs, n (n - 1); else count paths. Pairs and edges are ordered: the sum of the entries
        (i, j) and (j, i) equals NetworkX's result for an undirected edge if `normalized`, and twice that if not.

    Returns
    -------
    Matrix of FP64, shape (n, n)
        An entry for every edge, 0 for loops.

    Raises
    ------
    InvalidValue
        `k` is less than 1 or given together with `sources`; `seed` is not from 0 to 2**64 - 1; or, if `weighted`, a
        length is not above 0 or too small to change a sum with others.
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With T the edges of shortest paths from a source, P the number of these paths to each vertex, and W the share of
    each of these paths, (1 + B) ./ Q in :func:`betweenness_centrality`::

        diag(P) T diag(W)                            over (plus, times)

    Source: U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social
    Networks 30, 2008, doi:10.1016/j.socnet.2007.11.001. Scaling is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (0, 2)], [1, 1, 3], nrows=3, ncols=3)
    >>> gb.algorithms.edge_betweenness_centrality(A, normalized=False).to_dicts()
    {0: {1: 1.0, 2: 1.0}, 1: {2: 1.0}}
    >>> gb.algorithms.edge_betweenness_centrality(A, normalized=False, weighted=True).to_dicts()
    {0: {1: 2.0, 2: 0.0}, 1: {2: 2.0}}
    """
    n = _check.adjacency(A)
    starts = sample(n, k, seed, sources)
    shares = None if weighted else _by_loop(A, starts, entries=True)
    if shares is None:
        centrality = _by_statements_over_edges(A, starts, weighted)
    else:
        centrality = ops.with_values(A, shares).new()
    if n > 1 and starts.size and (sources is None or normalized):
        scale = 1.0 / (starts.size * (n - 1)) if normalized else n / starts.size
        if scale != 1.0:
            centrality << centrality.apply(binary.times, right=scale)
    return centrality


def _by_statements_over_edges(A: Matrix, starts: NDArray[np.int64], weighted: bool) -> Matrix:
    """Add up the shares of edges, all searches of a group together."""
    # the result has an entry for each edge, also for those of infinite length, which no path uses
    centrality: Matrix = A.apply(binary.second[datatypes.FP64], right=0.0).new()
    for _, paths in by_lengths(usable(A, positive=True) if weighted else A, starts, weighted):
        # P starts with the sources, which `backwards` does not yield
        count, worth = paths.levels[0].dup(), Vector(datatypes.FP64, paths.levels[0].size)
        for q, w, _ in backwards(paths):
            count(q.S) << q
            worth(w.S) << w
        # diag(P) T diag(W)
        used = count.diag().mxm(paths.edges, semiring.any_first[datatypes.FP64]).new()
        used << used.mxm(worth.diag(), semiring.plus_times[datatypes.FP64])
        centrality(binary.plus) << paths.by_edge(used)
    return centrality


def _ends(sources: NDArray[np.int64], paths: Paths) -> Vector:
    """Count for each vertex the pairs (source, target), with a path between them, that it is in."""
    ends = Vector(datatypes.FP64, paths.edges.nrows if paths.of_vertex is None else paths.of_vertex.ncols)
    targets = Vector(datatypes.FP64, sources.size)
    for depth in range(1, len(paths.levels)):
        met = paths.levels[depth].apply(unary.one).new()
        ends(binary.plus) << paths.by_vertex(met)
        targets(binary.plus) << paths.by_search(met)
    found, many = targets.to_coo()
    ends(binary.plus) << Vector.from_coo(sources[found], many, datatypes.FP64, size=ends.size, dup_op=binary.plus)
    return ends


def _rescale(centrality: Vector, starts: np.ndarray[Any, Any], normalized: bool, endpoints: bool) -> None:
    """Scale as NetworkX does: unless ends count, a source has one search fewer, as its own does not count."""
    n, k = centrality.size, starts.size
    ends = n if endpoints else n - 1
    if ends < 2 or k == 0:
        return
    least = 1.0 / (ends - 1) if normalized else float(ends)
    inside = Vector.from_coo(np.unique(starts), True, datatypes.BOOL, size=n)
    whole = k == n or endpoints
    for mask, others in (
        (~inside.S, ends if k == n else k),
        (inside.S, ends if k == n else k if whole else max(k - 1, 1)),
    ):
        centrality(mask) << centrality.apply(binary.times, right=least / others)
