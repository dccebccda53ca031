"""Conversion of NetworkX's graphs to the backend's, and back."""

from __future__ import annotations

from typing import Any

from sparsezc.networkx_backend.graphs.copies import changeable
from sparsezc.networkx_backend.graphs.edges import wanted_placement, weighted
from sparsezc.networkx_backend.graphs.graph import DiGraph, Graph


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """Convert a NetworkX graph to the backend's; NetworkX calls this, and caches the result with the graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The matrix of a multigraph has one entry for each pair of nodes with an edge.
    edge_attrs : dict, optional
        The edge attributes that are needed, with the values for edges that lack them: finite numbers.
    preserve_edge_attrs : bool
        All attributes are needed: functions read them from `graph` itself, as any attribute requested later.
    node_attrs, preserve_node_attrs, preserve_graph_attrs, name, graph_name
        As NetworkX passes them; the backend's functions read attributes of nodes from `graph` only.

    Raises
    ------
    NotImplementedError
        An undirected view of a directed multigraph, or an attribute that is not a finite number, has no finite
        sum, or has two values for one undirected edge: NetworkX may then try another backend.
    """
    if isinstance(graph, Graph):
        return graph
    kind = DiGraph if graph.is_directed() else Graph
    nodes = list(graph)
    if set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes))):  # 0.0 and False equal 0 but are other nodes
        nodes = range(len(nodes))  # type: ignore[assignment]
    made = kind._made(None, nodes, graph)
    if made.multi and type(getattr(graph, "_adj", None)) is not dict:
        raise NotImplementedError("sparsezc accepts no views of multigraphs; pass a copy of the view")
    made.ends()  # read now, as `graph` may change
    if wanted_placement() is not None:
        made.A  # noqa: B018 - built now, in the placement of the current configuration
    for weight, default in (edge_attrs or {}).items():
        made._add_values(weight, weighted(graph, made, weight, default))
    return made


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Convert a graph of the backend to a NetworkX graph; return other objects unchanged."""
    return changeable(obj) if isinstance(obj, Graph) else obj
