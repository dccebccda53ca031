"""Odd graphs for the campaign of algorithms, as a Matrix and as NetworkX's, of any size and type of weights."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import sparsezc as gb
from tests.networkx_backend.odd_graphs import _edges

_ODD = {
    "negative": lambda rng, m: rng.integers(-3, 9, m),
    "infinite": lambda rng, m: np.where(rng.random(m) < 0.2, np.inf, 2.0),
    "NaN": lambda rng, m: np.where(rng.random(m) < 0.2, np.nan, 1.5),
    "huge": lambda rng, m: 10.0 ** rng.integers(300, 309, m),
    "huge whole": lambda rng, m: 2 ** rng.integers(52, 63, m),
}
_PLAIN = {
    "ones": lambda rng, m: np.ones(m, bool),
    "whole": lambda rng, m: rng.integers(0, 9, m),
    "bytes": lambda rng, m: rng.integers(0, 256, m).astype(np.uint8),
    "fractions": lambda rng, m: rng.integers(0, 64, m) / 8,
    "single": lambda rng, m: (rng.integers(1, 9, m) / 4).astype(np.float32),
}


class Graph:
    """One trial's graph, and its arguments."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n = self.pick(0, 1, 2, 3, 5, 8, 12, 20)
        edges = np.array(sorted(set(_edges(rng, self.n))), np.int64).reshape(-1, 2)
        if rng.random() < 0.5:
            edges = np.unique(np.r_[edges, edges[:, ::-1]], axis=0)
        if rng.random() < 0.3 and self.n:
            edges = np.unique(np.r_[edges, [[int(rng.integers(self.n))] * 2]], axis=0)
        self.edges, self.plain = edges, rng.random() < 0.75
        kinds: dict[str, Any] = _PLAIN if self.plain else _ODD
        self.weights = kinds[self.pick(*kinds)](rng, len(edges))
        self.A = gb.Matrix.from_coo(*edges.T, self.weights, nrows=self.n, ncols=self.n)
        self.seed = int(rng.integers(2**63))

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def vertex(self) -> int:
        return int(self.rng.integers(self.n))

    def directed(self) -> Any:
        """Return the graph as NetworkX's, its weights as Python's numbers."""
        G = nx.DiGraph()
        G.add_nodes_from(range(self.n))
        G.add_weighted_edges_from(
            (int(i), int(j), w.item()) for (i, j), w in zip(self.edges, self.weights, strict=True)
        )
        return G

    def simple(self) -> Any:
        """Return the graph without directions, weights and loops."""
        G = nx.Graph()
        G.add_nodes_from(range(self.n))
        G.add_edges_from((int(i), int(j)) for i, j in self.edges if i != j)
        return G

    def __repr__(self) -> str:
        return f"{self.n} vertices, edges {self.edges.tolist()}, weights {self.weights.tolist()} {self.weights.dtype}"
