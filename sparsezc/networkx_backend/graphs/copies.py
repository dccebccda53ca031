"""Copies of a graph of the backend: a NetworkX graph with the same edges, and the subgraph of given vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix

if TYPE_CHECKING:
    from sparsezc.networkx_backend.graphs.graph import Graph


def original(G: Any) -> Any:
    """Return the NetworkX graph that a graph of the backend was made from, or make one with all attributes."""
    if G.source is not None:
        return G.source
    made = nx.DiGraph() if G.directed else nx.Graph()
    made.graph.update(G.info)
    made.add_nodes_from(G._node.items() if G.node_values else G.labels)
    for weight, A in [(None, G.A), *G._values.items()]:
        i, j, values = A.to_coo()
        ends = zip(G.names(i), G.names(j), values.tolist(), strict=True)
        made.add_edges_from((u, v, {} if weight is None else {weight: value}) for u, v, value in ends)
    return made


def changeable(G: Any) -> Any:
    """Return a NetworkX graph equal to a graph of the backend, which the caller may change."""
    return original(G) if G.source is None else G.source.copy()


def among(G: Any, vertices: NDArray[np.int64]) -> Graph:
    """Return the subgraph of given vertices: these vertices and the edges between them."""

    def part(A: Matrix) -> Matrix:
        made: Matrix = A[vertices, vertices].new()
        return made._known_symmetric(not G.directed)

    made: Graph = type(G)._made(part(G.A), G.names(vertices))
    node_values = {name: values[vertices] for name, values in G.node_values.items()}
    return made._with_attributes({name: part(A) for name, A in G._values.items()}, node_values, G.info)
