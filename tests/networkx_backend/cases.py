"""Graphs and calls for the backend's tests, and the equality of two answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np


def random_graph(seed: int, directed: bool = False) -> Any:
    """Return a sparse graph with labels of many types in random order, attributes, and some isolated nodes."""
    chance = random.Random(seed)
    n = chance.choice([6, 17, 30])
    labels: list[Any] = [f"v{i}" if i % 3 == 0 else (i, "x") if i % 3 == 1 else -i for i in range(n)]
    chance.shuffle(labels)
    G = nx.DiGraph(name="g") if directed else nx.Graph(name="g")
    G.add_nodes_from(labels, colour="red")
    for _ in range(3 * n):
        u, v = chance.sample(labels[:-1], 2)
        G.add_edge(u, v, label="e")
        if chance.random() < 0.8:
            G[u][v]["weight"] = chance.randint(1, 9)
    return G


def connected(seed: int, directed: bool = False) -> Any:
    G = random_graph(seed, directed)
    nx.add_cycle(G, list(G))
    return G


def acyclic(seed: int) -> Any:
    G = random_graph(seed, True)
    place = {node: i for i, node in enumerate(G)}
    G.remove_edges_from([(u, v) for u, v in G.edges if place[u] > place[v]])
    return G


def sets(answer: Any) -> Any:
    return sorted(sorted(map(str, part)) for part in answer)


def plain(answer: Any) -> Any:
    """Return a result in a form that ``==`` compares: iterators and arrays as lists, graphs as their content."""
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, nx.Graph):
        edges = {(u, v): d for u, v, d in answer.edges(data=True)}
        both = edges if answer.is_directed() else edges | {(v, u): d for (u, v), d in edges.items()}
        return [type(answer).__name__, dict(answer.nodes(data=True)), both, answer.graph]
    if isinstance(answer, (dict, list, tuple, set, int, float)) or answer is None:
        return answer
    return list(answer)


def close(a: Any, b: Any) -> bool:
    """Return True if two answers are equal, numbers to 1e-6, of the same types except int and float."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    return type(a) is type(b) and bool(a == b)


def first(G: Any) -> Any:
    return next(iter(G))


def last(G: Any) -> Any:
    return list(G)[-2]


Case = tuple[str, Callable[[Any], tuple[Any, ...]], dict[str, Any]]


def case(name: str, arguments: Callable[[Any], tuple[Any, ...]] = lambda G: (), **options: Any) -> Case:
    return name, arguments, options


def half(G: Any) -> tuple[Any]:
    return ([*list(G)[::2], "no node"],)


ANY = [
    case("pagerank"),
    case("pagerank", weight=None, alpha=0.5, max_iter=300, tol=1e-9),
    case("pagerank", lambda G: (0.85, {first(G): 2, last(G): 1}, 100, 1e-6, dict.fromkeys(G, 3))),
    case("pagerank", lambda G: (0.85, None, 200, 1e-9, None, "weight", {first(G): 1, last(G): 3})),
    case("pagerank", lambda G: (0.85, {first(G): 2}, 200, 1e-9, None, None, {last(G): 1})),
    case("katz_centrality", alpha=0.02),
    case("katz_centrality", lambda G: (0.01, {v: i for i, v in enumerate(G)}), weight="weight", normalized=False),
    case("betweenness_centrality"),
    case("betweenness_centrality", normalized=False),
    case("betweenness_centrality", endpoints=True, k=4, seed=5),
    case("betweenness_centrality", normalized=False, k=4, seed=5),
    case("betweenness_centrality", normalized=False, endpoints=True, k=3, seed=6),
    case("betweenness_centrality", weight="weight"),
    case("betweenness_centrality", weight="weight", endpoints=True, normalized=False, k=4, seed=7),
    case("edge_betweenness_centrality"),
    case("edge_betweenness_centrality", normalized=False),
    case("edge_betweenness_centrality", weight="weight"),
    case("edge_betweenness_centrality", k=4, seed=8, weight="weight"),
    case("edge_betweenness_centrality", k=4, seed=8, normalized=False),
    case("closeness_centrality", distance="weight"),
    case("closeness_centrality", lambda G: (last(G), "weight"), wf_improved=False),
    case("closeness_centrality"),
    case("closeness_centrality", wf_improved=False),
    case("closeness_centrality", lambda G: (last(G),)),
    case("harmonic_centrality"),
    case("harmonic_centrality", distance="weight"),
    case("harmonic_centrality", lambda G: ([first(G), last(G)], "weight", list(G)[::3])),
    case("harmonic_centrality", lambda G: (last(G),), sources=None),
    case("clustering"),
    case("clustering", half),
    case("clustering", lambda G: (first(G),)),
    case("clustering", weight="weight"),
    case("clustering", lambda G: (last(G), "weight")),
    case("average_clustering", half, weight="weight"),
    case("average_clustering"),
    case("average_clustering", half, count_zeros=True),
    case("single_source_shortest_path_length", lambda G: (first(G),)),
    case("single_source_shortest_path_length", lambda G: (first(G), 1.5)),
    case("single_target_shortest_path_length", lambda G: (first(G), 2)),
    case("all_pairs_shortest_path_length"),
    case("all_pairs_shortest_path_length", cutoff=1),
    case("single_source_dijkstra_path_length", lambda G: (first(G),)),
    case("single_source_dijkstra_path_length", lambda G: (first(G), 6), weight="absent"),
    case("single_source_dijkstra_path_length", lambda G: (first(G), 6.5)),
    case("all_pairs_dijkstra_path_length"),
    case("multi_source_dijkstra_path_length", lambda G: ({first(G), last(G)},)),
    case("multi_source_dijkstra_path_length", lambda G: ([last(G)], 5)),
    case("shortest_path_length"),
    case("shortest_path_length", weight="weight"),
    case("shortest_path_length", weight="weight", method="bellman-ford"),
    case("shortest_path_length", lambda G: (first(G),)),
    case("shortest_path_length", lambda G: (first(G), None, "weight")),
    case("shortest_path_length", lambda G: (first(G), None, "weight", "bellman-ford")),
    case("shortest_path_length", lambda G: (None, first(G))),
    case("shortest_path_length", lambda G: (None, first(G), "weight")),
    case("shortest_path_length", lambda G: (None, first(G), "weight", "bellman-ford")),
    case("has_path", lambda G: (first(G), last(G))),
    case("negative_edge_cycle"),
    case("floyd_warshall_numpy"),
    case("floyd_warshall_numpy", lambda G: (list(G)[::-1],)),
    case("single_source_bellman_ford_path_length", lambda G: (first(G),)),
    case("all_pairs_bellman_ford_path_length"),
    case("floyd_warshall"),
    case("descendants", lambda G: (first(G),)),
    case("ancestors", lambda G: (first(G),)),
    case("descendants_at_distance", lambda G: (first(G), 2)),
    case("is_directed_acyclic_graph"),
    case("ego_graph", lambda G: (first(G),)),
    case("ego_graph", lambda G: (first(G), 2, False, True)),
    case("ego_graph", lambda G: (first(G), 6), distance="weight"),
    case("ego_graph", lambda G: (first(G), 4.5, False), distance="weight"),
    case("modularity", lambda G: ([set(list(G)[:5]), set(list(G)[5:])],), resolution=0.7),
]
UNDIRECTED = [
    case("triangles"),
    case("triangles", half),
    case("triangles", lambda G: (first(G),)),
    case("transitivity"),
    case("square_clustering"),
    case("square_clustering", half),
    case("core_number"),
    case("k_core"),
    case("k_core", k=2),
    case("k_shell"),
    case("k_crust"),
    case("k_core", lambda G: (2, dict.fromkeys(G, 2))),
    case("k_truss", k=3),
    case("greedy_color"),
    case("ego_graph", lambda G: (first(G), 4, True, True), distance="weight"),
    case("connected_components"),
    case("number_connected_components"),
    case("is_connected"),
    case("label_propagation_communities"),
    case("node_connected_component", lambda G: (first(G),)),
    case("jaccard_coefficient", lambda G: ([(first(G), last(G)), (last(G), first(G)), (first(G), first(G))],)),
]
DIRECTED = [
    case("weakly_connected_components"),
    case("number_weakly_connected_components"),
    case("is_weakly_connected"),
    case("number_strongly_connected_components"),
    case("is_strongly_connected"),
    case("overall_reciprocity"),
    case("reciprocity"),
    case("reciprocity", half),
    case("reciprocity", lambda G: (first(G),)),
    case("transitive_closure"),
    case("transitive_closure", reflexive=True),
    case("transitive_closure", reflexive=None),
]
CONNECTED = [
    case("eigenvector_centrality"),
    case("eigenvector_centrality", lambda G: (200, 1e-8, dict.fromkeys(G, 2)), weight="weight"),
    case("hits", max_iter=2000),
    case("eccentricity"),
    case("eccentricity", lambda G: (first(G),)),
    case("eccentricity", half),
    case("diameter"),
    case("radius"),
    case("center"),
    case("periphery"),
    case("eccentricity", weight="weight"),
    case("eccentricity", lambda G: (first(G),), weight="weight"),
    case("diameter", weight="weight"),
    case("radius", weight="weight"),
    case("center", weight="weight"),
    case("periphery", weight="weight"),
    case("average_shortest_path_length"),
    case("average_shortest_path_length", weight="weight"),
    case("average_shortest_path_length", weight="weight", method="floyd-warshall"),
    case("average_shortest_path_length", weight="weight", method="unweighted"),
    case("shortest_path_length", lambda G: (first(G), last(G))),
    case("shortest_path_length", lambda G: (first(G), last(G), "weight")),
    case("shortest_path_length", lambda G: (first(G), last(G), "weight", "bellman-ford")),
    case("dijkstra_path_length", lambda G: (first(G), last(G))),
    case("bellman_ford_path_length", lambda G: (first(G), last(G))),
]
