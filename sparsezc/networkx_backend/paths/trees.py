"""Trees of searches and the paths in them, with NetworkX's names, arguments and errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import known, search
from sparsezc.networkx_backend.paths.weighted_paths import (
    SOURCE,
    found_at,
    nearest,
    number,
    positive,
    relaxed,
    two_ends,
)


def _edges(G: Graph, source: Any, reverse: bool, depth_limit: int | None) -> Iterator[tuple[Any, Any]]:
    """Return the tree's edges from parents to children, nearest children first."""
    vertices, _, parent = search(G, [known(G, source)], depth_limit, reverse)
    return zip(G.names(parent[vertices[1:]]), G.names(vertices[1:]), strict=True)


@claims("sort_neighbors", multigraph=True)
def bfs_edges(
    G: Graph, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges of a tree of shortest paths."""
    yield from _edges(G, source, reverse, depth_limit)


@claims("neighbors", multigraph=True)
def generic_bfs_edges(
    G: Graph, source: Any, neighbors: Any = None, depth_limit: int | None = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges of a tree of shortest paths."""
    yield from _edges(G, source, False, depth_limit)


@claims("sort_neighbors", multigraph=True)
def bfs_tree(
    G: Graph, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Any:
    """Return a tree of shortest paths as a directed graph."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_edges(G, source, reverse, depth_limit))
    return tree


@claims("sort_neighbors", multigraph=True)
def bfs_predecessors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return pairs of a node and its parent in a tree of shortest paths."""
    if networkx_versions.SINCE_3_7:
        said = "bfs_predecessors is deprecated and will be removed in NetworkX 3.9: reverse the pairs of bfs_edges"
        warnings.warn(said, DeprecationWarning, stacklevel=2)
    for parent, child in _edges(G, source, False, depth_limit):
        yield child, parent


@claims("sort_neighbors", multigraph=True)
def bfs_successors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Return pairs of a node and its children in a tree of shortest paths; leaves only if there is no other node."""
    parents = groupby(_edges(G, source, False, depth_limit), itemgetter(0))
    found = [(parent, [child for _, child in edges]) for parent, edges in parents]
    yield from found or [(source, [])]


def paths_of(G: Graph, vertices: NDArray[Any], parent: NDArray[np.int64]) -> dict[Any, list[Any]]:
    """Return ``{node: path to it}`` for vertices that come after their parents; sources have no parent."""
    nodes, known = G.names(vertices), dict[int, list[Any]]()
    for node, vertex, before in zip(nodes, vertices.tolist(), parent[vertices].tolist(), strict=True):
        known[vertex] = [node] if before in (-1, vertex) else [*known[before], node]
    return dict(zip(nodes, known.values(), strict=True))


@claims(multigraph=True)
def single_source_shortest_path(G: Graph, source: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    """Return a path of fewest hops to each node."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return paths_by_hops(G, source, cutoff)


def paths_by_hops(G: Graph, source: Any, cutoff: float | None, searches: int = 1) -> dict[Any, list[Any]]:
    """Return a path of fewest hops from a node to each node, in one of `searches` searches."""
    tree = search(G, [G.index[source]], cutoff, searches=searches)
    return paths_of(G, tree.vertices, tree.parent)


def _path(G: Graph, source: int, end: int, parent: NDArray[np.int64]) -> list[Any] | None:
    """Return the path to one vertex; None if it was not found."""
    path = [end]
    while path[-1] >= 0 and path[-1] != source:
        path.append(int(parent[path[-1]]))
    return None if path[-1] < 0 else G.names(np.array(path[::-1]))


def _by_lengths(
    G: Graph, source: Any, weight: str | None, cutoff: float | None = None, *, against: bool = False
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:
    """Return distances and paths by node, in the order of Dijkstra's algorithm; `against`: along reversed edges."""
    found = nearest(G, number(G, source), weight, cutoff, against)
    return found.named(G), paths_of(G, found.vertices, found.parent)


def _by_relaxing(
    G: Graph, source: Any, weight: str | None, *, against: bool = False
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:
    """Return distances and paths by node, nearest first; lengths may be negative."""
    distances, tree, parent = relaxed(G, number(G, source, SOURCE), weight, against)
    paths = paths_of(G, tree, parent)
    return distances, {node: paths[node] for node in distances}


@claims(multigraph=True)
def single_source_bellman_ford(
    G: Graph, source: Any, target: Any = None, weight: str | None = "weight"
) -> tuple[Any, Any]:
    """Return distances and paths from a node, or to one target: see :func:`sparsezc.algorithms.bellman_ford`."""
    if number(G, source, SOURCE) == G.index.get(target):  # NetworkX then looks for no negative cycle
        return 0, [source]
    distances, paths = _by_relaxing(G, source, weight)
    if target is None:
        return distances, paths
    return found_at(distances, source, target), found_at(paths, source, target)


@claims(multigraph=True)
def single_source_bellman_ford_path(G: Graph, source: Any, weight: str | None = "weight") -> dict[Any, list[Any]]:
    """Return ``{node: shortest path to it}``: see :func:`sparsezc.algorithms.bellman_ford`."""
    return _by_relaxing(G, source, weight)[1]


@claims(multigraph=True)
def bellman_ford_path(G: Graph, source: Any, target: Any, weight: str | None = "weight") -> list[Any]:
    """Return a shortest path between two nodes: see :func:`sparsezc.algorithms.bellman_ford`."""
    return single_source_bellman_ford(G, source, target, weight)[1]  # type: ignore[no-any-return]


@claims(multigraph=True)
def single_source_dijkstra(
    G: Graph, source: Any, target: Any = None, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[Any, Any]:
    """Return distances and paths from a node, or to one target: see :func:`sparsezc.algorithms.sssp`."""
    start = number(G, source)
    positive(G, weight)
    if target is None:
        return _by_lengths(G, source, weight, cutoff)
    end = G.index.get(target)
    found = nearest(G, start, weight, cutoff, target=end)
    length = found.length(end)
    if length is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return length, _path(G, start, G.index[target], found.parent)


@claims(multigraph=True)
def single_source_dijkstra_path(
    G: Graph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, list[Any]]:
    """Return ``{node: shortest path to it}``: see :func:`sparsezc.algorithms.sssp`."""
    paths: dict[Any, list[Any]] = single_source_dijkstra(G, source, cutoff=cutoff, weight=weight)[1]
    return paths


@claims(multigraph=True)
def dijkstra_path(G: Graph, source: Any, target: Any, weight: str | None = "weight") -> list[Any]:
    """Return a shortest path between two nodes: see :func:`sparsezc.algorithms.sssp`."""
    path: list[Any] = single_source_dijkstra(G, source, target, weight=weight)[1]
    return path


def _from(G: Graph, node: Any, weight: str | None, method: str, against: bool) -> dict[Any, list[Any]]:
    """Return paths from a node; `against`: along reversed edges."""
    if weight is not None and method == "bellman-ford":
        return _by_relaxing(G, node, weight, against=against)[1]
    return _by_lengths(G, node, weight, against=against)[1]


@claims(multigraph=True)
def shortest_path(
    G: Graph, source: Any = None, target: Any = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    """Return paths by hops or lengths: between two nodes, from one, to one, or an iterator over all pairs."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        return ((node, _from(G, node, weight, method, False)) for node in G)
    if weight is not None and method == "bellman-ford" and source is not None and target is not None:
        return bellman_ford_path(G, source, target, weight)
    if source is not None and target is not None:
        start, end = two_ends(G, source, target)
        path = _path(G, start, end, nearest(G, start, weight, target=end).parent)
        if path is None:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return path
    one = target if source is None else source
    if weight is None and one not in G:
        raise nx.NodeNotFound(f"{'Target' if source is None else 'Source'} {one} not in G")
    number(G, one)
    if source is None:
        return {node: path[::-1] for node, path in _from(G, target, weight, method, True).items()}
    return _from(G, source, weight, method, False)
