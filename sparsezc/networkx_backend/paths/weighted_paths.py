"""Shortest paths over weights, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._distances import usable
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.algorithms._pattern import transposed
from sparsezc.algorithms.sssp import from_nearest
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import (
    all_pairs_shortest_path_length,
    search,
    single_source_shortest_path_length,
    single_target_shortest_path_length,
)
from sparsezc.networkx_backend.paths.dijkstra_order import Settled, settled


def positive(G: Graph, weight: str | None) -> Matrix:
    """Return the lengths; decline negative lengths, for which NetworkX's answers depend on the order of its steps."""
    A = G.least(weight)
    if lengths_of(A).least < 0:
        raise NotImplementedError(f"sparsezc: edge attribute {weight!r} has a negative value; Bellman-Ford is needed")
    return A


def not_all_zero(G: Graph, weight: str | None) -> Matrix:
    """Return the weights; decline if all are 0: NetworkX divides by their sum, and Python's and NumPy's 0 differ."""
    A = G.values(weight)
    if A.nvals and weight is not None and not lengths_of(A).most > 0:
        raise NotImplementedError(f"sparsezc: edge attribute {weight!r} has no value above 0")
    return A


def distances(
    G: Graph,
    vertex: int,
    weight: str | None,
    *,
    against: bool = False,
    target: int | None = None,
    cutoff: float | None = None,
) -> Vector:
    """Return hops or lengths from a vertex (`against`: to it); lengths only up to a target's, or up to a cutoff."""
    A = G.A if weight is None else positive(G, weight)
    if against:
        A = transposed(A)
    with else_declined():
        if weight is None:
            return algorithms.bfs(A, vertex)
        return algorithms.sssp(A, vertex, target=target, cutoff=bound(cutoff))


def bound(cutoff: Any) -> float | None:
    """Return the distance up to which a search must run for a `cutoff`, which may be any comparable object."""
    return max(cutoff, 0) if isinstance(cutoff, int | float) and cutoff == cutoff else None


#: NetworkX's message in its Bellman-Ford functions.
SOURCE = "Source {} not in G"


def number(G: Graph, node: Any, message: str = "Node {} not found in graph") -> int:
    """Return the number of a node; raise NodeNotFound, with NetworkX's message, if it is unknown."""
    if node not in G:
        raise nx.NodeNotFound(message.format(node))
    return G.index[node]


def two_ends(G: Graph, source: Any, target: Any) -> tuple[int, int]:
    """Return the numbers of both ends of a path; raise NodeNotFound for an unknown node."""
    for name, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{name} {node} is not in G")
    return G.index[source], G.index[target]


def nearest(
    G: Graph,
    source: int,
    weight: str | None,
    cutoff: float | None = None,
    against: bool = False,
    target: int | None = None,
) -> Settled:
    """Run Dijkstra's algorithm from a vertex (`against`: along reversed edges) until it reaches a target."""
    if weight is None:  # its queue then has the order of a breadth-first search
        whole = None if cutoff is None or cutoff == inf else floor(cutoff)
        tree = search(G, [source], whole, against, target)
        return Settled(tree.vertices, tree.depths.tolist(), tree.parent)
    found = distances(G, source, weight, against=against, target=target, cutoff=cutoff)
    return settled(G, weight, found, [source], cutoff, against)


@claims(multigraph=True)
def single_source_dijkstra_path_length(
    G: Graph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Return ``{node: distance from the source}``, nearest first: see :func:`sparsezc.algorithms.sssp`."""
    return nearest(G, number(G, source), weight, cutoff).named(G)


@claims(multigraph=True)
def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each node with ``{node: distance from it}``."""
    positive(G, weight)
    return ((node, nearest(G, i, weight, cutoff).named(G)) for i, node in enumerate(G))


@claims(multigraph=True)
def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Return distances from the nearest source: see :func:`sparsezc.algorithms.multi_source_shortest_paths`."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = [number(G, node) for node in sources]
    A = positive(G, weight)
    with else_declined():
        distance = from_nearest(usable(A), np.unique(starts), cutoff=bound(cutoff))
    return settled(G, weight, distance, starts, cutoff).named(G)


@claims(multigraph=True)
def dijkstra_path_length(G: Graph, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """Return the distance from a node to another."""
    start = number(G, source)
    if source == target:
        return 0
    end = G.index.get(target)
    length = nearest(G, start, weight, target=end).length(end)
    if length is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return length


def found_at(found: dict[Any, Any], source: Any, target: Any) -> Any:
    """Return a search's result at `target`; raise NetworkXNoPath if the search did not reach it."""
    if target not in found:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found[target]


def with_parents(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Return distances from a vertex, and the parent of each vertex; lengths may be negative."""
    try:
        return algorithms.bellman_ford(A, source)
    except InvalidValue as error:
        with else_declined():
            if algorithms.find_negative_cycle(A, source).size:
                raise nx.NetworkXUnbounded("Negative cycle detected.") from error
        raise NotImplementedError(f"sparsezc: {error}") from error


def relaxed(
    G: Graph, source: int, weight: str | None, against: bool = False
) -> tuple[dict[Any, Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return distances by node, nearest first; the vertices, parents first; and parents. Lengths may be negative."""
    A, F = G.least(weight), G.fractions(weight)
    distance, parents = with_parents(transposed(A) if against else A, source)
    i, lengths = distance.to_coo()
    parent = np.full(len(G), -1, np.int64)
    at, before = parents.to_coo()
    parent[at.astype(np.int64)] = before
    vertices = i.astype(np.int64)
    depth = _depths(parent)[vertices]
    tree = vertices[np.argsort(depth, kind="stable")]
    values = dict(zip(vertices.tolist(), lengths.tolist(), strict=True))
    if F is not None:
        at, to, fraction = (transposed(F) if against else F).to_coo()
        fractions = set(zip(at[fraction].tolist(), to[fraction].tolist(), strict=True))
        some: set[int] = set()
        for v in tree.tolist():
            if parent[v] in some or (parent[v], v) in fractions:
                some.add(v)
            else:
                values[v] = int(values[v])
    if values[source] == 0:
        values[source] = 0
    order = vertices[np.lexsort((depth, lengths))]
    return {node: values[v] for node, v in zip(G.names(order), order.tolist(), strict=True)}, tree, parent


def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the edges from the root to each vertex of a tree by pointer jumping: each round doubles the jumps."""
    n = parent.size
    jump = np.where(parent < 0, np.arange(n), parent)
    depth: NDArray[np.int64] = (jump != np.arange(n)).astype(np.int64)
    while (jump[jump] != jump).any():
        depth, jump = depth + depth[jump], jump[jump]
    return depth


@claims(multigraph=True)
def single_source_bellman_ford_path_length(G: Graph, source: Any, weight: str | None = "weight") -> dict[Any, Any]:
    """Return ``{node: distance from the source}``, nearest first: see :func:`sparsezc.algorithms.bellman_ford`."""
    return relaxed(G, number(G, source, SOURCE), weight)[0]


@claims(multigraph=True)
def all_pairs_bellman_ford_path_length(G: Graph, weight: str | None = "weight") -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each node with ``{node: distance from it}``."""
    return ((node, relaxed(G, i, weight)[0]) for i, node in enumerate(G))


@claims(multigraph=True)
def bellman_ford_path_length(G: Graph, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """Return the distance from a node to another."""
    start = number(G, source, SOURCE)
    if source == target:
        return 0
    return found_at(relaxed(G, start, weight)[0], source, target)


@claims(multigraph=True)
def shortest_path_length(
    G: Graph, source: Any = None, target: Any = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    """Return distances in hops or lengths: between two nodes, from one, to one, or an iterator over all pairs."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    negative = method == "bellman-ford"
    if source is not None and target is not None:
        if weight is not None:
            return (bellman_ford_path_length if negative else dijkstra_path_length)(G, source, target, weight)
        start, end = two_ends(G, source, target)
        tree = search(G, [start], target=end)
        depth = tree.depths[tree.vertices == end]
        if depth.size == 0:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return int(depth[0])
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        return (all_pairs_bellman_ford_path_length if negative else all_pairs_dijkstra_path_length)(G, weight=weight)
    if weight is None:
        one_end = single_source_shortest_path_length if target is None else single_target_shortest_path_length
        return one_end(G, source if target is None else target)
    end = number(G, source if target is None else target)
    if negative:
        return relaxed(G, end, weight, against=target is not None)[0]
    return nearest(G, end, weight, against=target is not None).named(G)


@claims(multigraph=True)
def has_path(G: Graph, source: Any, target: Any) -> bool:
    """Return whether there is a path from a node to another."""
    if source is None or target is None:  # NetworkX then finds paths from or to one node, of which one always exists
        if source is not None or target is not None:
            number(G, target if source is None else source)
        return True
    start, end = two_ends(G, source, target)
    return bool((search(G, [start], target=end).vertices == end).any())


@claims(multigraph=True)
def negative_edge_cycle(G: Graph, weight: str | None = "weight", heuristic: bool = True) -> bool:
    """Return whether there is a cycle of negative length: see :func:`sparsezc.algorithms.find_negative_cycle`."""
    with else_declined():
        return algorithms.find_negative_cycle(G.least(weight)).size > 0


@claims(multigraph=True)
def find_negative_cycle(G: Graph, source: Any, weight: str | None = "weight") -> list[Any]:
    """Return the nodes of a negative cycle that `source` reaches, with the first node again at the end."""
    start = number(G, source, SOURCE)
    with else_declined():
        cycle = algorithms.find_negative_cycle(G.least(weight), start)
    if cycle.size == 0:
        raise nx.NetworkXError("No negative cycles detected.")
    nodes = G.names(cycle.to_coo()[1])
    return [*nodes, nodes[0]]
