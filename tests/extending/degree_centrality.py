"""A user's NetworkX function: ``nx.degree_centrality`` on sparsezc."""

from __future__ import annotations

from typing import Any

import networkx as nx

import sparsezc as gb
from sparsezc.networkx_backend.claims import register
from sparsezc.networkx_backend.graph import Graph


def degree_centrality(G: Graph) -> dict[Any, float]:
    """Degree over the largest that there can be; a loop counts twice, and both directions count."""
    n = len(G)
    if n <= 1:
        return dict.fromkeys(G, 1)
    degree = gb.Vector.from_scalar(0, n, "INT64")
    degree(gb.binary.plus) << G.A.reduce_rowwise(gb.agg.count)
    degree(gb.binary.plus) << (G.A.reduce_columnwise(gb.agg.count) if G.directed else G.A.diag().apply("one"))
    return {node: d * (1.0 / (n - 1)) for node, d in zip(G, degree.to_dense().tolist(), strict=True)}


def claim() -> None:
    """Have NetworkX find it."""
    register(nx.degree_centrality, degree_centrality)
