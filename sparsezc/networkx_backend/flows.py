"""Maximum flows and minimum cuts, by NetworkX's names, arguments and errors."""

from __future__ import annotations

from typing import Any

import networkx as nx

from sparsezc import algorithms
from sparsezc.networkx_backend.claims import claims, else_declined
from sparsezc.networkx_backend.graph import Graph


def _ends(G: Graph, s: Any, t: Any, options: dict[str, Any]) -> tuple[int, int]:
    """Check the arguments; return the numbers of source and sink."""
    if options:
        raise nx.NetworkXError("You have to explicitly set a flow_func if you need to pass parameters via kwargs.")
    for node in (s, t):
        if node not in G:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")
    return G.index[s], G.index[t]


@claims("flow_func")
def maximum_flow_value(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """Return what a maximum flow brings from one node to another; :func:`sparsezc.algorithms.minimum_cut`."""
    return minimum_cut_value(flowG, _s, _t, capacity, flow_func, **kwargs)


@claims("flow_func")
def minimum_cut_value(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """Return the capacity of a minimum cut; :func:`sparsezc.algorithms.minimum_cut`."""
    return minimum_cut(flowG, _s, _t, capacity, flow_func, **kwargs)[0]


@claims("flow_func")
def minimum_cut(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Return the capacity of a minimum cut and its two sides; :func:`sparsezc.algorithms.minimum_cut`."""
    s, t = _ends(flowG, _s, _t, kwargs)
    if flowG.lacks(capacity):
        raise NotImplementedError(f"sparsezc: an edge has no {capacity!r}, which NetworkX takes for infinite")
    with else_declined():
        value, side = algorithms.minimum_cut(flowG.values(capacity), s, t)
    near = set(flowG.names(side.to_coo()[0]))
    return value or 0, (near, set(flowG) - near)
