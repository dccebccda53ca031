"""A user's NetworkX function: ``nx.flow_hierarchy`` on sparsezc."""

from __future__ import annotations

from typing import Any

import networkx as nx

import sparsezc as gb
from sparsezc.networkx_backend import Graph, register


def flow_hierarchy(G: Graph, weight: str | None = None) -> Any:
    """Return the share of the edges that are on no cycle: their ends are in different strong components."""
    if not G.directed or G.A.nvals == 0:
        raise nx.NetworkXError("a directed graph with edges is needed")
    component = gb.algorithms.strongly_connected_components(G.A).to_dense()
    i, j, weights = G.values(weight).to_coo()
    return float(weights[component[i] != component[j]].sum() / weights.sum())


def claim() -> None:
    """Register the function, so that NetworkX finds it."""
    register(nx.flow_hierarchy, flow_hierarchy)
