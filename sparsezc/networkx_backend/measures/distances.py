"""Distances of all pairs, eccentricities and other distance measures, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._pattern import transposed
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.dijkstra_order import settled
from sparsezc.networkx_backend.paths.weighted_paths import distances
from sparsezc.semirings import monoid, select
from sparsezc.semirings.types import datatypes


def _one_by_one(G: Graph, nodes: Any, weight: str | None) -> dict[Any, Any]:
    """Return the greatest distance from each of these nodes; raise NetworkX's error if a distance is infinite."""
    found = {}
    for node in nodes:
        distance = distances(G, G.index[node], weight)
        mixed = G.fractions(weight) is not None
        if distance.nvals < len(G):
            kind = "digraph is not strongly connected" if G.directed else "graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because the {kind}")
        # if integers and floats mix, a path of integer lengths has an integer length
        every = settled(G, weight, distance, [G.index[node]]).lengths if mixed else None
        found[node] = (distance.reduce(monoid.max).new().value or 0) if every is None else max(every)
    return found


def _eccentricities(G: Graph, weight: str | None, usebounds: bool = False) -> dict[Any, Any]:
    if len(G) == 0:
        _no_null_graph(G, usebounds)
        return {}
    if usebounds and not G.directed and not _in_one_piece(G):
        raise nx.NetworkXError("Cannot compute metric because graph is not connected.")
    # Node by node, as NetworkX, which raises an error at the first infinite distance.
    if G.fractions(weight) is not None or not _in_one_piece(G):
        return _one_by_one(G, G, weight)
    A, weighted = G.lengths(weight)
    with else_declined():
        return G.named(algorithms.eccentricity(A, weighted=weighted), whole_zeros=True)


def _no_null_graph(G: Graph, usebounds: bool = False) -> None:
    """Raise NetworkX's error for a graph without nodes; NetworkX 3.6 and the search by bounds raise none."""
    if len(G) == 0 and networkx_versions.SINCE_3_7 and (G.directed or not usebounds):
        raise nx.NetworkXPointlessConcept("Cannot compute eccentricity of a null graph.")


def _in_one_piece(G: Graph) -> bool:
    """Return whether the first node reaches all nodes and all nodes reach it."""
    return algorithms.bfs(G.A, 0).nvals == len(G) == algorithms.bfs(transposed(G.A), 0).nvals


@claims("sp", multigraph=True)
def eccentricity(G: Graph, v: Any = None, sp: None = None, weight: str | None = None) -> Any:
    """Return the eccentricity of each node, or of one: see :func:`sparsezc.algorithms.eccentricity`."""
    if v is None:
        return _eccentricities(G, weight)
    _no_null_graph(G)
    found = _one_by_one(G, G.bunch(v), weight)
    return found[v] if v in G else found


def _extreme(
    G: Graph, e: dict[Any, Any] | None, usebounds: bool, weight: str | None, by_bounds: Any, choose: Any
) -> Any:
    whole = e is None and len(G) and not G.directed and G.fractions(weight) is None
    if whole and algorithms.bfs(G.A, 0).nvals == len(G):
        A, weighted = G.lengths(weight)
        with else_declined():
            return by_bounds(A, weighted=weighted) or 0  # the source's own distance is the integer 0
    return choose((_eccentricities(G, weight, usebounds) if e is None else e).values())


@claims(multigraph=True)
def diameter(G: Graph, e: dict[Any, Any] | None = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """Return the greatest eccentricity, always found by bounds: see :func:`sparsezc.algorithms.diameter`."""
    return _extreme(G, e, usebounds, weight, algorithms.diameter, max)


@claims(multigraph=True)
def radius(G: Graph, e: dict[Any, Any] | None = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """Return the smallest eccentricity, always found by bounds: see :func:`sparsezc.algorithms.radius`."""
    return _extreme(G, e, usebounds, weight, algorithms.radius, min)


@claims(multigraph=True)
def center(G: Graph, e: dict[Any, Any] | None = None, usebounds: bool = False, weight: str | None = None) -> list[Any]:
    """Return the nodes of smallest eccentricity."""
    if len(G) == 0 and e is None and weight is None and not (G.directed or usebounds):
        raise nx.NetworkXPointlessConcept("G has no nodes.")  # NetworkX first tests for a tree
    e = _eccentricities(G, weight, usebounds) if e is None else e
    least = min(e.values())
    return [node for node in e if e[node] == least]


@claims(multigraph=True)
def periphery(
    G: Graph, e: dict[Any, Any] | None = None, usebounds: bool = False, weight: str | None = None
) -> list[Any]:
    """Return the nodes of greatest eccentricity."""
    e = _eccentricities(G, weight, usebounds) if e is None else e
    most = max(e.values())
    return [node for node in e if e[node] == most]


@claims(multigraph=True)
def approximate_diameter(G: Graph, seed: Any = None) -> int:
    """Return a lower bound of the diameter by two sweeps: NetworkX's ``approximation.diameter``."""
    if len(G) == 0:
        raise nx.NetworkXError("Expected non-empty NetworkX graph!")
    if len(G) == 1:
        return 0
    source = G.index[seed.choice(list(G))]
    B = transposed(G.A)
    longest = 0
    for edges, back in ((G.A, B), (B, G.A))[: 2 if G.directed else 1]:
        distance = algorithms.bfs(edges, source)
        if distance.nvals < len(G):
            raise nx.NetworkXError(f"{'DiGraph not strongly' if G.directed else 'Graph not'} connected.")
        farthest = distance.select(select.valueeq, distance.reduce(monoid.max).new().value).new().to_coo()[0][0]
        longest = max(longest, int(algorithms.bfs(back, farthest).reduce(monoid.max).new().value))
    return longest


_SINGLE_SOURCE = ("unweighted", "dijkstra", "bellman-ford")
_ALL_PAIRS = ("floyd-warshall", "floyd-warshall-numpy")


@claims(multigraph=True)
def average_shortest_path_length(G: Graph, weight: str | None = None, method: str | None = None) -> float:
    """Return the mean distance: see :func:`sparsezc.algorithms.average_shortest_path_length`."""
    if method not in (None, *_SINGLE_SOURCE, *_ALL_PAIRS):
        raise ValueError(f"method not supported: {method}")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if len(G) == 1:
        return 0
    if not _in_one_piece(G):
        raise nx.NetworkXError("Graph is not strongly connected." if G.directed else "Graph is not connected.")
    A, weighted = G.lengths(None if method == "unweighted" else weight)
    with else_declined():
        return algorithms.average_shortest_path_length(A, weighted=weighted)


@claims(multigraph=True)
def floyd_warshall(G: Graph, weight: str | None = "weight") -> dict[Any, dict[Any, Any]]:
    """Return ``{node: {node: distance}}``, with infinity: see :func:`sparsezc.algorithms.all_pairs_shortest_paths`."""
    with else_declined():
        D = algorithms.all_pairs_shortest_paths(G.least(weight))
    distances = _rows_by_neighbours(G) if networkx_versions.SINCE_3_7 else _rows_by_edges(G)
    for at, row in distances.items():
        for node in G:
            row.setdefault(node, inf)
        row[at] = 0
    i, j, values = D.select(select.offdiag).new().to_coo()
    if not networkx_versions.SINCE_3_7 and G.lacks(weight):  # NetworkX 3.6 takes 1.0 for a missing length
        values = values.astype(np.float64)
    for u, v, value in zip(G.names(i), G.names(j), values.tolist(), strict=True):
        distances[u][v] = value
    for node in [] if networkx_versions.SINCE_3_7 else _fractional_loops(G, weight):
        distances[node][node] = 0.0
    return distances


def _rows_by_edges(G: Graph) -> dict[Any, Any]:
    """Return rows of distances that begin with the node itself, then its neighbours, as in NetworkX 3.6."""
    distances: dict[Any, Any] = {node: defaultdict(lambda: inf, {node: 0}) for node in G}
    heads, tails, _ = G.edge_list()
    for u, v in zip(G.names(heads), G.names(tails), strict=True):
        distances[u].setdefault(v, inf)
        if not G.directed:
            distances[v].setdefault(u, inf)
    return distances


def _rows_by_neighbours(G: Graph) -> dict[Any, Any]:
    """Return rows of distances that begin with the node's neighbours, then the node, as since NetworkX 3.7."""
    starts, neighbours = G.row_lists()
    distances: dict[Any, Any] = {}
    for k, node in enumerate(G):
        near = [G.labels[j] for j in neighbours[starts[k] : starts[k + 1]]]
        distances[node] = defaultdict(lambda: inf, dict.fromkeys([*near, node], inf))
    return distances


def _fractional_loops(G: Graph, weight: str | None) -> list[Any]:
    """Return the nodes with a loop of length 0.0, which NetworkX uses instead of its own 0."""
    A, fractions = G.least(weight), G.fractions(weight)
    if not A.dtype.is_float:
        return []
    loops = A.select(select.diag).new().select(select.valueeq, 0).new()
    if fractions is not None:
        loops = loops.dup(mask=fractions.V)
    return G.names(loops.to_coo()[0])


@claims(multigraph=True)
def floyd_warshall_predecessor_and_distance(G: Graph, weight: str | None = "weight") -> tuple[Any, Any]:
    """Return the predecessors ``{u: {v: node before v on a shortest path from u}}``, and the distances.

    With D the distances over the first vertices and P the predecessors, for each vertex w in turn::

        P(i, j) = P(w, j),  D(i, j) = D(i, w) + D(w, j)      where this is less than D(i, j)
    """
    distances = floyd_warshall(G, weight)
    n = len(G)
    i, j, values = G.least(weight).to_coo()
    wide = np.int64 if values.dtype.kind in "iub" else np.float64  # sums in narrower types wrap around
    D, reached, P = np.zeros((n, n), wide), np.eye(n, dtype=bool), np.full((n, n), -1)
    P[i, j] = i
    apart = i != j
    D[i[apart], j[apart]], reached[i[apart], j[apart]] = values[apart], True
    for w in range(n):
        rows, columns = np.flatnonzero(reached[:, w]), np.flatnonzero(reached[w])
        part = np.ix_(rows, columns)
        sums = D[rows, w][:, None] + D[w, columns]
        less = (sums < D[part]) | ~reached[part]
        D[part] = np.where(less, sums, D[part])
        P[part] = np.where(less, P[w, columns], P[part])
        reached[part] = True
    before: dict[Any, dict[Any, Any]] = {}
    at, to = np.nonzero(P >= 0)
    for u, v, node in zip(G.names(at), G.names(to), G.names(P[at, to]), strict=True):
        before.setdefault(u, {})[v] = node
    return before, distances


@claims(multigraph=True)
def floyd_warshall_numpy(G: Graph, nodelist: Any = None, weight: str | None = "weight") -> NDArray[np.float64]:
    """Return all distances as an array, infinity for none: see :func:`sparsezc.algorithms.all_pairs_shortest_paths`."""
    if nodelist is not None and not (len(nodelist) == len(G) == len(set(nodelist))):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    with else_declined():
        D = algorithms.all_pairs_shortest_paths(G.least(weight))
    distances = D.to_dense(np.inf, dtype=datatypes.FP64)
    if nodelist is None:
        return distances
    order = G.numbers(nodelist)
    return distances[order][:, order]
