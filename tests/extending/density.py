"""A NetworkX function of a program's own: ``nx.density`` on sparsezc."""

from __future__ import annotations

import networkx as nx

from sparsezc.networkx_backend.claims import register
from sparsezc.networkx_backend.graph import Graph


def density(G: Graph) -> float:
    """Share of the possible edges that are there."""
    n, m = len(G), G.number_of_edges()
    if m == 0 or n <= 1:
        return 0
    return m / (n * (n - 1)) * (1 if G.directed else 2)


def claim() -> None:
    """Have NetworkX find it."""
    register(nx.density, density)
