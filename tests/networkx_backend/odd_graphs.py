"""Odd graphs and arguments from a random generator, for the campaign of NetworkX calls."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any

import networkx as nx
import numpy as np


class _Alike:
    """A label whose hash collides with those of many others."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike) and self.k == other.k

    def __hash__(self) -> int:
        return self.k % 3

    def __repr__(self) -> str:
        return f"alike {self.k}"


#: Functions from a node's number to its label; each graph uses one.
_LABELS: list[Callable[[int], Any]] = [
    lambda i: i,
    lambda i: float(i),
    lambda i: np.int64(i),
    lambda i: [False, True, 2.0, "3", (4,), frozenset({5}), np.int64(6), "", ("a", None), -1][i % 10] if i < 10 else i,
    lambda i: f"v{i}" if i % 3 == 0 else (i, "x") if i % 3 == 1 else -i,
    lambda i: 2**70 + i,
    lambda i: bool(i) if i < 2 else i,
    lambda i: 100 - i,
    lambda i: [signal.SIGINT, b"x", Fraction(1, 3), Decimal("1.5"), 1j, "é", (), frozenset()][i] if i < 8 else (i,),
    lambda i: _Alike(i),
    lambda i: (i // 4, i % 4),
    lambda i: np.str_(f"n{i}"),
]
_WEIGHTS: dict[str, Callable[[np.random.Generator], Any]] = {
    "none": lambda rng: None,
    "whole": lambda rng: int(rng.integers(1, 9)),
    "zeros": lambda rng: int(rng.integers(0, 3)),
    "negative": lambda rng: int(rng.integers(-2, 9)),
    "fractions": lambda rng: float(rng.integers(1, 16)) / 4,
    "any fractions": lambda rng: float(rng.random()),
    "some": lambda rng: int(rng.integers(1, 9)) if rng.random() < 0.7 else None,
    "mixed": lambda rng: float(rng.integers(0, 5)) / 2 if rng.random() < 0.5 else int(rng.integers(0, 3)),
    "some fractions": lambda rng: float(rng.integers(1, 9)) / 8 if rng.random() < 0.7 else None,
    "booleans": lambda rng: bool(rng.random() < 0.7),
    "NumPy's": lambda rng: np.float64(rng.integers(1, 9)),
    "NumPy's whole": lambda rng: np.int64(rng.integers(1, 9)),
    "NumPy's zeros": lambda rng: np.float64(rng.integers(0, 3)),
    "NumPy's whole zeros": lambda rng: np.int64(rng.integers(0, 3)),
    "all zeros": lambda rng: 0.0,
    "negative zeros": lambda rng: -0.0 if rng.random() < 0.4 else 1.0,
    "very negative": lambda rng: -(2 ** int(rng.integers(1, 50))) if rng.random() < 0.3 else 5,
    "hidden": lambda rng: Fraction(int(rng.integers(1, 9)), 3) if rng.random() < 0.5 else 2,
    "huge": lambda rng: 2 ** int(rng.integers(50, 64)),
    "huge fractions": lambda rng: 10.0 ** int(rng.integers(290, 309)),
    "NaN": lambda rng: float("nan") if rng.random() < 0.2 else 1.5,
    "infinite": lambda rng: float("inf") if rng.random() < 0.2 else 2,
    "words": lambda rng: "heavy" if rng.random() < 0.2 else 3,
}
_COMMON = ("none", "whole", "zeros", "fractions", "some", "mixed")


def _edges(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Return edges as pairs of node numbers, by one of nine random rules."""
    rule = int(rng.integers(9))
    if rule == 0:
        return []
    if rule == 1:
        return [(i, i + 1) for i in range(n - 1)]
    if rule == 2:
        return [(0, i) for i in range(1, n)]
    if rule == 3:  # a tree
        return [(int(rng.integers(i)), i) for i in range(1, n)]
    if rule == 4:
        return [(i, (i + 1) % n) for i in range(n)] if n > 2 else []
    if rule == 5:
        return [(i, j) for i in range(n) for j in range(n) if i != j]
    m = n * int(rng.integers(1, 4)) if n > 1 else 0
    pairs = [(int(rng.integers(n)), int(rng.integers(n))) for _ in range(m)]
    if rule == 6:  # acyclic if directed
        return [(min(p), max(p)) for p in pairs if p[0] != p[1]]
    if rule == 7:  # sources in the first half only: isolated nodes, dead ends
        return [(i // 2, j) for i, j in pairs]
    return [p for p in pairs if p[0] != p[1] or rng.random() < 0.3]


def graph(rng: np.random.Generator) -> Any:
    """Return a graph of NetworkX of any class, size, labels and weights; perhaps a view, or frozen."""
    kinds = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
    G: Any = kinds[int(rng.choice(4, p=[0.47, 0.47, 0.03, 0.03]))](name="g")
    n = int(rng.choice([0, 1, 2, 3, 5, 8, 12, 20], p=[0.04, 0.06, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1]))
    label = _LABELS[int(rng.integers(len(_LABELS)))] if rng.random() < 0.6 else _LABELS[0]
    nodes = [label(i) for i in range(n)]
    listed = nodes if rng.random() < 0.5 else [nodes[i] for i in rng.permutation(n)]
    G.add_nodes_from((v, {"colour": "red", "size": k % 3, "community": k % 3}) for k, v in enumerate(listed))
    kind = str(rng.choice(list(_WEIGHTS))) if rng.random() < 0.5 else str(rng.choice(_COMMON))
    edges = _edges(rng, n)
    for k in rng.permutation(len(edges)) if rng.random() < 0.7 else range(len(edges)):
        u, v = nodes[edges[k][0]], nodes[edges[k][1]]
        weight = _WEIGHTS[kind](rng)
        G.add_edge(u, v, **({"label": "e"} if weight is None else {"weight": weight, "cost": 2}))
    for i in range(n):
        if rng.random() < 0.04:
            G.add_edge(nodes[i], nodes[i], weight=1)
    return _as_view(rng, G)


def _as_view(rng: np.random.Generator, G: Any) -> Any:
    draw = rng.random()
    if draw > 0.96:
        return nx.restricted_view(G, list(G)[:1], [])
    if draw > 0.92:
        return G.edge_subgraph([e for e in G.edges if rng.random() < 0.7])
    if draw > 0.89:
        return G.copy(as_view=True)
    if draw > 0.86:
        kind = type(G)
        return type(f"Own{kind.__name__}", (kind,), {})(G)
    if draw < 0.05:
        return nx.freeze(G)
    if draw < 0.1:
        return G.subgraph([node for node in G if rng.random() < 0.8])
    if draw < 0.14 and G.is_directed():
        return G.reverse(copy=False)
    if draw < 0.17:
        return G.to_undirected(as_view=True) if G.is_directed() else G.to_directed(as_view=True)
    return G


#: Parameters for which the backend accepts only the default, or that do not affect the answer.
_LEFT_OUT = {
    "backend", "backend_kwargs", "heap", "sort_neighbors", "sp", "flow_func", "kwargs", "heuristic", "neighbors",
    "paths", "attr", "scc", "dtype", "order", "multigraph_weight", "data", "keys", "default", "Q",
    "column_order", "default_weight", "community", "copy", "pos", "node_mass", "node_size", "store_pos_as", "dim",
    "jitter_tolerance", "scaling_ratio", "gravity", "label_attribute",
}  # fmt: skip


def function_of(name: str) -> Any:
    """Return the NetworkX function that a claim names, as users call it."""
    original = nx.utils.backends._registered_algorithms[name].orig_func
    return getattr(sys.modules[original.__module__], original.__name__)


class Arguments:
    """Generator of arguments of NetworkX's functions for one graph, by parameter name."""

    def __init__(self, rng: np.random.Generator, G: Any) -> None:
        self.rng, self.G, self.nodes = rng, G, list(G)

    def draw(self, name: str, function: Any) -> dict[str, Any]:
        """Return random arguments by name: always those without a default, others with a probability of 0.4."""
        given = {}
        for p in list(signature(function).parameters.values())[1:]:
            if p.name in _LEFT_OUT:
                continue
            if p.default is Parameter.empty or p.name == "normalized" or self.rng.random() < 0.4:
                given[p.name] = self._one(name, p.name)
        if "seed" in signature(function).parameters:
            given["seed"] = int(self.rng.integers(100))
        return given

    def _pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def _node(self) -> Any:
        if not self.nodes or self.rng.random() < 0.06:
            return self._pick("no node", 999, -1.5)
        return self.nodes[int(self.rng.integers(len(self.nodes)))]

    def _some(self) -> list[Any]:
        return [self._node() for _ in range(int(self.rng.integers(0, 5)))]

    def _numbers(self, low: float = 0.0) -> Any:
        every = {node: self._pick(1, 2, 0.5, low) for node in self.nodes}
        if self.rng.random() < 0.3:
            return {node: x for node, x in every.items() if self.rng.random() < 0.5}
        return every

    def _one(self, function: str, name: str) -> Any:
        pick = self._pick
        if function == "rich_club_coefficient":
            return False  # ratios to random graphs: test_chosen_answers.py
        if function == "hits" and name == "method":
            return pick("power_iteration", "svd")
        if name in ("H", "G2"):
            return self._other()
        if name == "edge":
            return pick(None, (self._node(), self._node()), *list(self.G.edges)[:1])
        if function == "greedy_modularity_communities" and name in ("cutoff", "best_n"):
            return pick(1, 2, len(self.nodes) // 2, len(self.nodes), 0)
        if function in ("average_neighbor_degree", "average_degree_connectivity") and name in ("source", "target"):
            return pick("in", "out", "in+out")
        if function == "google_matrix" and name == "nodelist":
            return None
        if name in ("row_order", "partition", "nbunch1", "nbunch2", "S", "T") or (
            name == "nbunch" and function == "is_dominating_set"
        ):
            return self._parts() if name == "partition" else list(dict.fromkeys(self._some()))
        if "bipartite" in function and name == "nodes":
            return pick(self.nodes[::2], list(dict.fromkeys(self._some())))
        if name == "nodes" and "projected" in function:
            color = nx.bipartite.color(self.G) if nx.is_bipartite(self.G) else {}
            return pick([node for node in self.nodes if color.get(node)], self.nodes[::2], self._some())
        if name == "multigraph":
            return pick(False, False, True)
        if name in ("source", "target", "n", "u", "v", "_s", "_t", "node1", "node2"):
            if function in (
                "shortest_path",
                "shortest_path_length",
                "has_path",
                "closeness_centrality",
                "eccentricity",
            ):
                return None if self.rng.random() < 0.1 else self._node()
            return self._node()
        if name == "distance" and function == "descendants_at_distance":
            return pick(0, 1, 2, 3, -1, 1.0)
        if name == "k":
            return pick(1, 2, 3, len(self.nodes), 0, -1, 4) if "core" in function or "truss" in function else pick(1, 2)
        if name == "nodes" and function == "maximal_independent_set":
            return pick(None, self._some()[:2], [self._node()])
        if name == "sources":
            return pick(self._some(), self._some(), [self._node()], self._node() if function == "bfs_layers" else [])
        choices: dict[str, Any] = {
            "capacity": lambda: pick("weight", "weight", "cost", "absent"),
            "weight": lambda: pick("weight", "weight", "weight", None, "cost", "absent"),
            "distance": lambda: pick("weight", None, "cost", "absent"),
            "cutoff": lambda: pick(None, 0, 1, 2, 3, 1.5, -1, -0.5, 10**9, float("inf")),
            "depth_limit": lambda: pick(None, 0, 1, 2, -1),
            "radius": lambda: pick(0, 1, 2, 1.5, -1),
            "nodes": lambda: pick(None, self._node(), self._some(), self.nodes[::2]),
            "nbunch": lambda: pick(None, self._node(), self._some(), self.nodes),
            "nodelist": lambda: pick(None, self.nodes[::-1], self.nodes[1:]),
            "ebunch": lambda: pick(None, list(zip(self._some(), self._some(), strict=False))),
            "alpha": lambda: pick(0.85, 0.5, 0.1, 0.02),
            "beta": lambda: pick(1.0, 2, self._numbers()),
            "tol": lambda: pick(1e-6, 1e-8),
            "max_iter": lambda: pick(100, 1000, 1, 0),
            "personalization": lambda: pick(None, self._numbers()),
            "dangling": lambda: pick(None, self._numbers(1)),
            "nstart": lambda: pick(None, self._numbers(1)),
            "method": lambda: pick("dijkstra", "bellman-ford", "dijkstra", "unweighted", "floyd-warshall"),
            "algorithm": lambda: pick("kruskal", "kruskal", "kruskal", "by hand"),
            "strategy": lambda: pick("largest_first", "random_sequential", "DSATUR"),
            "communities": lambda: self._parts(),
            "resolution": lambda: pick(1, 0.7, 2),
            "threshold": lambda: pick(1e-7, 0.1),
            "max_level": lambda: pick(None, 1, 3, 0),
            "reflexive": lambda: pick(True, False, None),
            "core_number": lambda: pick(None, dict.fromkeys(self.nodes, 2)),
            "e": lambda: pick(None, {node: i % 3 for i, node in enumerate(self.nodes)}),
            "topo_order": lambda: None,
            "attribute": lambda: pick("colour", "size"),
            "x": lambda: pick("in", "out"),
            "y": lambda: pick("in", "out"),
            "mode": lambda: pick("dot", "min", "max", "mean"),
            "delta": lambda: pick(0.001, 0),
            "root": lambda: pick(None, self._node()),
            "number_of_nodes": lambda: pick(None, 2, 99),
            "top_nodes": lambda: pick(None, self.nodes[::2]),
            "format": lambda: pick("csr", "coo", "round"),
            "nonedge": lambda: pick(0.0, -1.0),
            "r": lambda: pick(None, 2),
            "rename": lambda: pick((), ("a", "b")),
            "ordering": lambda: pick("default", "sorted", "increasing degree"),
            "first_label": lambda: pick(0, 3),
            "mapping": lambda: {node: k for k, node in enumerate(self.nodes)},
        }
        return choices[name]() if name in choices else bool(self.rng.random() < 0.5)

    def _other(self) -> Any:
        """Return a copy of the graph, perhaps with an edge fewer or more."""
        H = self.G.__class__(self.G)
        edges = list(H.edges)
        if edges and self.rng.random() < 0.4:
            H.remove_edge(*edges[int(self.rng.integers(len(edges)))])
        if self.nodes and self.rng.random() < 0.4:
            H.add_edge(self._node(), self._node())
        return H

    def _parts(self) -> list[set[Any]]:
        parts: list[set[Any]] = [set(), set(), set()]
        for node in self.nodes:
            parts[int(self.rng.integers(3))].add(node)
        return parts if self.rng.random() < 0.9 else parts[:2]
