"""Paths of all pairs, all shortest paths, and paths of two nodes, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._distances import usable
from sparsezc.algorithms.sssp import from_nearest
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths import trees
from sparsezc.networkx_backend.paths.breadth_first import Tree, search
from sparsezc.networkx_backend.paths.dijkstra_order import settled
from sparsezc.networkx_backend.paths.weighted_paths import bound, nearest, number, positive, two_ends

_Paths = dict[Any, list[Any]]
_Before = dict[Any, list[Any]]


@claims(multigraph=True)
def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, _Paths]]:
    """Yield each node with ``{node: path of fewest hops from it}``."""
    for node in G:
        yield node, trees.paths_by_hops(G, node, cutoff, len(G))


@claims(multigraph=True)
def all_pairs_dijkstra_path(
    G: Graph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, _Paths]]:
    """Yield each node with ``{node: shortest path from it}``."""
    for node in G:
        yield node, trees.single_source_dijkstra_path(G, node, cutoff, weight)


@claims(multigraph=True)
def all_pairs_dijkstra(
    G: Graph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, tuple[dict[Any, Any], _Paths]]]:
    """Yield each node with the distances and the shortest paths from it, by node."""
    for node in G:
        yield node, trees.single_source_dijkstra(G, node, cutoff=cutoff, weight=weight)


@claims(multigraph=True)
def all_pairs_bellman_ford_path(G: Graph, weight: str | None = "weight") -> Iterator[tuple[Any, _Paths]]:
    """Yield each node with the shortest paths from it by node; lengths may be negative."""
    for node in G:
        yield node, trees.single_source_bellman_ford_path(G, node, weight)


@claims(multigraph=True)
def johnson(G: Graph, weight: str | None = "weight") -> dict[Any, _Paths]:
    """Return ``{node: {node: shortest path}}``; lengths may be negative."""
    return {node: trees.single_source_bellman_ford_path(G, node, weight) for node in G}


@claims(multigraph=True)
def single_target_shortest_path(G: Graph, target: Any, cutoff: float | None = None) -> _Paths:
    """Return a path of fewest hops from each node to the target."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    tree = search(G, [G.index[target]], cutoff, against=True)
    return {node: path[::-1] for node, path in trees.paths_of(G, tree.vertices, tree.parent).items()}


@claims(multigraph=True)
def multi_source_dijkstra(
    G: Graph, sources: Any, target: Any = None, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[Any, Any]:
    """Return distances and paths from the nearest source to each node, or to a target only."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [number(G, node) for node in sources]
    if target in sources:
        return 0, [target]
    A = positive(G, weight)
    with else_declined():
        distance = from_nearest(usable(A), np.unique(starts), cutoff=bound(cutoff))
    found = settled(G, weight, distance, starts, cutoff)
    lengths, paths = found.named(G), trees.paths_of(G, found.vertices, found.parent)
    if target is None:
        return lengths, paths
    if target not in lengths:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return lengths[target], paths[target]


@claims(multigraph=True)
def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> _Paths:
    """Return ``{node: path from the nearest source}``."""
    return multi_source_dijkstra(G, sources, cutoff=cutoff, weight=weight)[1]  # type: ignore[no-any-return]


@claims(multigraph=True)
def bidirectional_shortest_path(G: Graph, source: Any, target: Any) -> list[Any]:
    """Return a path of fewest hops between two nodes."""
    two_ends(G, source, target)
    return trees.shortest_path(G, source, target)  # type: ignore[no-any-return]


@claims(multigraph=True)
def bidirectional_dijkstra(G: Graph, source: Any, target: Any, weight: str | None = "weight") -> tuple[Any, list[Any]]:
    """Return the distance and a shortest path between two nodes."""
    two_ends(G, source, target)
    if source == target:
        return 0, [source]
    try:
        return trees.single_source_dijkstra(G, source, target, weight=weight)
    except nx.NetworkXNoPath as error:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.") from error


def _before(G: Graph, order: NDArray[np.int64], i: NDArray[np.int64], j: NDArray[np.int64]) -> _Before:
    """Return ``{node: its predecessors on shortest paths}``, from the edges (i, j) of these paths."""
    place = np.empty(len(G), np.int64)
    place[order] = np.arange(order.size)
    by = np.lexsort((place[i], place[j]))
    tails, ends = G.names(i[by]), np.cumsum(np.bincount(place[j], minlength=order.size)).tolist()
    starts = [0, *ends[:-1]]
    return {node: tails[a:b] for node, a, b in zip(G.names(order), starts, ends, strict=True)}


def _by_hops(G: Graph, tree: Tree) -> _Before:
    depth = np.full(len(G), -2, np.int64)
    depth[tree.vertices] = tree.depths
    indptr, j = G.rows()
    i = np.repeat(np.arange(len(G)), np.diff(indptr))
    kept = (depth[i] >= 0) & (depth[j] == depth[i] + 1)
    return _before(G, tree.vertices, i[kept], j[kept])


@claims(multigraph=True)
def predecessor(G: Graph, source: Any, target: Any = None, cutoff: float | None = None, return_seen: Any = None) -> Any:
    """Return ``{node: its predecessors on paths of fewest hops}``, with the hops if `return_seen`."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    tree = search(G, [G.index[source]], max(cutoff, 1) if cutoff else None)  # NetworkX's rule
    before = _by_hops(G, tree)
    if target is not None:
        found = before.get(target, [])
        if not return_seen:
            return found
        at = np.flatnonzero(tree.vertices == G.index.get(target))
        return found, int(tree.depths[at[0]]) if at.size else -1
    return (before, dict(zip(before, tree.depths.tolist(), strict=True))) if return_seen else before


@claims(multigraph=True)
def dijkstra_predecessor_and_distance(
    G: Graph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[_Before, dict[Any, Any]]:
    """Return ``{node: its predecessors on shortest paths}``, and the distances."""
    start = number(G, source, "Node {} is not found in the graph")
    A = positive(G, weight)
    found = nearest(G, start, weight, cutoff)
    i, j, w = A.to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    kind = np.int64 if w.dtype.kind in "iub" else np.float64
    d, reached = np.zeros(len(G), kind), np.zeros(len(G), bool)
    d[found.vertices], reached[found.vertices] = found.lengths, True
    kept = reached[i] & reached[j] & (d[i] + w.astype(kind) == d[j])
    if cutoff is not None:  # the source is found beyond a cutoff below 0, without its loop
        kept &= ~(d[j] > cutoff)
    return _before(G, found.vertices, i[kept], j[kept]), found.named(G)


_END = object()  # None may be a node


def _walks(before: _Before, source: Any, target: Any) -> Iterator[list[Any]]:
    """Yield the paths from source to target, without repeated nodes, in the order of each node's predecessors."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, choices = [target], [iter(before[target])]
    used, first = {target}, {source}  # a set, as == of NumPy numbers and tuples is elementwise
    if target in first:
        yield [target]
    while choices:
        step = next((node for node in choices[-1] if node not in used), _END)
        if step is _END:
            choices.pop()
            used.discard(path.pop())
            continue
        path.append(step)
        used.add(step)
        choices.append(iter(before[step]))
        if step in first:
            yield path[::-1]


def _no_bellman_ford(given: dict[str, Any]) -> str | None:
    if given["weight"] is not None and given["method"] == "bellman-ford":
        return "sparsezc finds all shortest paths over weights >= 0 only"
    return None


def _all_before(G: Graph, source: Any, weight: str | None, method: str, target: Any = None) -> _Before:
    if weight is not None and method not in ("dijkstra", "unweighted"):
        raise ValueError(f"method not supported: {method}")
    if weight is not None and method == "dijkstra":
        return dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return _by_hops(G, search(G, [G.index[source]], target=G.index.get(target) if target in G else None))


@claims(reason=_no_bellman_ford, multigraph=True)
def all_shortest_paths(
    G: Graph, source: Any, target: Any, weight: str | None = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    """Return all shortest paths between two nodes."""
    return _walks(_all_before(G, source, weight, method, target), source, target)


@claims(reason=_no_bellman_ford, multigraph=True)
def single_source_all_shortest_paths(
    G: Graph, source: Any, weight: str | None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Yield each node with all shortest paths to it."""
    before = _all_before(G, source, weight, method)
    if _one_way(before):
        yield from _longer(before)
        return
    for node in before:  # a path must not repeat a cycle of length 0
        yield node, list(_walks(before, source, node))


def _one_way(before: _Before) -> bool:
    """Return whether each node's predecessors come before it; steps of length 0, or lost by rounding, may lead back."""
    seen: set[Any] = set()
    for node, tails in before.items():
        if not seen.issuperset(tails):
            return False
        seen.add(node)
    return True


def _longer(before: _Before) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Yield each node with its predecessors' paths, known from before, extended by the node; lists are copies."""
    known: dict[Any, list[list[Any]]] = {}
    for node, tails in before.items():
        paths = [[*path, node] for tail in tails for path in known[tail]] if known else [[node]]
        known[node] = paths
        yield node, [path[:] for path in paths]


@claims(reason=_no_bellman_ford, multigraph=True)
def all_pairs_all_shortest_paths(
    G: Graph, weight: str | None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    """Yield each node with ``{node: all shortest paths to it}``."""
    for node in G:
        yield node, dict(single_source_all_shortest_paths(G, node, weight, method))


@claims(multigraph=True)
def is_simple_path(G: Graph, nodes: list[Any]) -> bool:
    """Return whether `nodes` are a path that has no node twice."""
    if len(nodes) == 0:
        return False
    if len(nodes) == 1:
        return nodes[0] in G
    if any(node not in G for node in nodes) or len(set(nodes)) < len(nodes):
        return False
    return all(G.has_edge(u, v) for u, v in pairwise(nodes))
