"""Breadth-first searches and distances in hops, by NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._pattern import transposed
from sparsezc.matrix import Matrix
from sparsezc.networkx_backend.claims import claims
from sparsezc.networkx_backend.graph import Graph
from sparsezc.semirings import semiring, types
from sparsezc.vector import Vector


def within(A: Matrix, source: int, cutoff: float | None, undirected: bool = False) -> Vector:
    """Hops to what lies within `cutoff` of a vertex; a fraction is rounded up, as NetworkX's loop does."""
    if cutoff is None or cutoff == inf:
        cutoff = A.nrows
    return algorithms.k_hop(A, source, max(ceil(cutoff), 0), undirected=undirected)


def nearest_first(G: Graph, distance: Vector) -> dict[Any, Any]:
    """Distances by nodes, as searches meet them."""
    i, values = distance.to_coo()
    order = np.argsort(values, kind="stable")
    return dict(zip(G.names(i[order]), values[order].tolist(), strict=True))


def known(G: Graph, node: Any) -> int:
    """The number of a node; a NetworkXError where there is none."""
    if node not in G:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return G.index[node]


@claims()
def single_source_shortest_path_length(G: Graph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops from a node by nodes, the nearest first; :func:`sparsezc.algorithms.k_hop`."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return nearest_first(G, within(G.A, G.index[source], cutoff))


@claims()
def single_target_shortest_path_length(G: Graph, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops to a node by nodes, the nearest first; :func:`sparsezc.algorithms.k_hop`."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return nearest_first(G, within(transposed(G.A), G.index[target], cutoff))


@claims()
def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    """For each node the hops from it by nodes."""
    for i, node in enumerate(G):
        yield node, nearest_first(G, within(G.A, i, cutoff))


def _layers(A: Matrix, sources: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    """The vertices first met at each depth of a search from several.

    With q those vertices, and m all that were met::

        m<q> = q
        q<!m> = q'A          over (any, pair)
    """
    met = Vector(types.BOOL, A.nrows)
    q = Vector.from_coo(sources, True, types.BOOL, size=A.nrows)
    while q.nvals:
        yield q.to_coo()[0]
        met(q.S) << True
        q = q.vxm(A, semiring.any_pair[types.BOOL]).new(mask=~met.S)


@claims()
def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Any]]:
    """Lists of the nodes at depth 0, 1, ..., each in the graph's order."""
    starts = [known(G, node) for node in ([sources] if sources in G else dict.fromkeys(sources))]
    for layer in _layers(G.A, np.array(starts, np.int64)):
        yield G.names(layer)


@claims()
def descendants_at_distance(G: Graph, source: Any, distance: Any) -> set[Any]:
    """The nodes at a number of hops from one."""
    for depth, layer in enumerate(_layers(G.A, np.array([known(G, source)]))):
        if depth == distance:
            return set(G.names(layer))
    return set()


@claims()
def descendants(G: Graph, source: Any) -> set[Any]:
    """The other nodes that one reaches."""
    return set(G.names(algorithms.bfs(G.A, known(G, source)).to_coo()[0])) - {source}


@claims()
def ancestors(G: Graph, source: Any) -> set[Any]:
    """The other nodes that reach one."""
    return set(G.names(algorithms.bfs(transposed(G.A), known(G, source)).to_coo()[0])) - {source}
