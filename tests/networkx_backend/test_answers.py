"""Each claimed function, asked by ``backend="sparsezc"``, gives NetworkX's answer on random graphs with odd labels."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from sparsezc.networkx_backend import choices
from sparsezc.networkx_backend.interface import CLAIMS

BACKEND = {"backend": "sparsezc"}


@pytest.fixture(autouse=True)
def silent_cache() -> Iterator[None]:
    """NetworkX warns when a conversion is used again; here that is meant."""
    before = set(nx.config.warnings_to_ignore)
    nx.config.warnings_to_ignore |= {"cache"}
    yield
    nx.config.warnings_to_ignore = before


def random_graph(seed: int, directed: bool = False, weighted: bool = True, least: int = 1) -> Any:
    """A sparse graph of labels of many types, in no order, with attributes and some nodes alone."""
    chance = random.Random(seed)
    n = chance.choice([6, 17, 30])
    labels: list[Any] = [f"v{i}" if i % 3 == 0 else (i, "x") if i % 3 == 1 else -i for i in range(n)]
    chance.shuffle(labels)
    G = nx.DiGraph(name="g") if directed else nx.Graph(name="g")
    G.add_nodes_from(labels, colour="red")
    for _ in range(3 * n):
        u, v = chance.sample(labels[:-1], 2)
        G.add_edge(u, v, label="e")
        if weighted and chance.random() < 0.8:
            G[u][v]["weight"] = chance.randint(least, 9)
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
    """What may be compared: iterators as lists, graphs as what they hold."""
    if isinstance(answer, nx.Graph):
        edges = {(u, v): d for u, v, d in answer.edges(data=True)}
        both = edges if answer.is_directed() else edges | {(v, u): d for (u, v), d in edges.items()}
        return [type(answer).__name__, dict(answer.nodes(data=True)), both, answer.graph]
    if isinstance(answer, (dict, list, tuple, set, int, float)) or answer is None:
        return answer
    return list(answer)


def close(a: Any, b: Any) -> bool:
    """Equal, with numbers that may differ in their last places, and the same in type but for int and float."""
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
    case("katz_centrality", alpha=0.02),
    case("katz_centrality", lambda G: (0.01, {v: i for i, v in enumerate(G)}), weight="weight", normalized=False),
    case("betweenness_centrality"),
    case("betweenness_centrality", normalized=False),
    case("betweenness_centrality", endpoints=True, k=4, seed=5),
    case("betweenness_centrality", normalized=False, k=4, seed=5),
    case("betweenness_centrality", normalized=False, endpoints=True, k=3, seed=6),
    case("closeness_centrality"),
    case("closeness_centrality", wf_improved=False),
    case("closeness_centrality", lambda G: (last(G),)),
    case("harmonic_centrality"),
    case("clustering"),
    case("clustering", half),
    case("clustering", lambda G: (first(G),)),
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
    case("single_source_bellman_ford_path_length", lambda G: (first(G),)),
    case("all_pairs_bellman_ford_path_length"),
    case("floyd_warshall"),
    case("descendants", lambda G: (first(G),)),
    case("ancestors", lambda G: (first(G),)),
    case("descendants_at_distance", lambda G: (first(G), 2)),
    case("is_directed_acyclic_graph"),
    case("ego_graph", lambda G: (first(G),)),
    case("ego_graph", lambda G: (first(G), 2, False, True)),
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
    case("connected_components"),
    case("number_connected_components"),
    case("is_connected"),
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
    case("dijkstra_path_length", lambda G: (first(G), last(G))),
    case("bellman_ford_path_length", lambda G: (first(G), last(G))),
]
ALGORITHMS = {"modularity": nx.community.modularity, "louvain_communities": nx.community.louvain_communities}
SEEDS = range(4)


def named(value: Any) -> str | None:
    return value[0] if isinstance(value, tuple) else None


def holds(G: Any, one: Case) -> None:
    name, arguments, options = one
    function = ALGORITHMS.get(name) or getattr(nx, name)
    expected = plain(function(G, *arguments(G), **options))
    answer = plain(function(G, *arguments(G), **options, **BACKEND))
    assert close(answer, expected), (answer, expected)


@pytest.mark.parametrize("one", ANY + UNDIRECTED, ids=named)
@pytest.mark.parametrize("seed", SEEDS)
def test_undirected(seed: int, one: Case) -> None:
    holds(random_graph(seed), one)


@pytest.mark.parametrize("one", ANY + DIRECTED, ids=named)
@pytest.mark.parametrize("seed", SEEDS)
def test_directed(seed: int, one: Case) -> None:
    holds(random_graph(seed, directed=True), one)


@pytest.mark.parametrize("one", CONNECTED, ids=named)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_connected(seed: int, directed: bool, one: Case) -> None:
    holds(connected(seed, directed), one)


@pytest.mark.parametrize("seed", SEEDS)
def test_strong_components_come_sinks_first(seed: int) -> None:
    G = random_graph(seed, directed=True)
    G.remove_edges_from(random.Random(seed).sample(list(G.edges), G.number_of_edges() // 2))
    found = list(nx.strongly_connected_components(G, **BACKEND))
    assert sets(found) == sets(nx.strongly_connected_components(G))
    place = {node: k for k, part in enumerate(found) for node in part}
    assert all(place[u] >= place[v] for u, v in G.edges)


@pytest.mark.parametrize("seed", SEEDS)
def test_acyclic(seed: int) -> None:
    G = acyclic(seed)
    assert nx.is_directed_acyclic_graph(G, **BACKEND) is True
    generations = list(nx.topological_generations(G, **BACKEND))
    assert sets(generations) == sets(nx.topological_generations(G))
    place = {node: k for k, node in enumerate(nx.topological_sort(G, **BACKEND))}
    assert place.keys() == set(G)
    assert all(place[u] < place[v] for u, v in G.edges)
    holds(G, case("transitive_reduction"))


@pytest.mark.parametrize("seed", SEEDS)
def test_layers(seed: int) -> None:
    G = random_graph(seed)
    asked = [first(G), last(G)]
    layers = list(nx.bfs_layers(G, asked, **BACKEND))
    assert list(map(set, layers)) == list(map(set, nx.bfs_layers(G, asked)))


@pytest.mark.parametrize("seed", SEEDS)
def test_all_jaccard_coefficients(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    G = random_graph(seed)
    monkeypatch.setattr(choices, "PAIRS", 50)
    answer = {frozenset((u, v)): share for u, v, share in nx.jaccard_coefficient(G, **BACKEND)}
    assert close(answer, {frozenset((u, v)): share for u, v, share in nx.jaccard_coefficient(G)})


@pytest.mark.parametrize("seed", SEEDS)
def test_negative_lengths(seed: int) -> None:
    G = acyclic(seed)
    for k, (u, v) in enumerate(G.edges):
        G[u][v]["weight"] = k % 7 - 3
    holds(G, case("single_source_bellman_ford_path_length", lambda G: (first(G),)))
    holds(G, case("floyd_warshall"))
    nx.add_cycle(G, [first(G), last(G)], weight=-5)
    cycle = nx.find_negative_cycle(G, first(G), **BACKEND)
    assert cycle[0] == cycle[-1]
    assert sum(G[u][v]["weight"] for u, v in pairwise(cycle)) < 0
    with pytest.raises(nx.NetworkXUnbounded):
        nx.single_source_bellman_ford_path_length(G, first(G), **BACKEND)


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_and_cuts(seed: int) -> None:
    G = random_graph(seed)
    tree = nx.minimum_spanning_tree(G, **BACKEND)
    assert tree.size("weight") == nx.minimum_spanning_tree(G).size("weight")
    assert nx.number_connected_components(tree) == nx.number_connected_components(G)
    assert plain(tree)[1] == plain(G)[1]
    edges = list(nx.minimum_spanning_edges(G, **BACKEND))
    assert all(data is G[u][v] for u, v, data in edges)
    assert {frozenset(edge) for edge in nx.minimum_spanning_edges(G, data=False, **BACKEND)} == {
        frozenset((u, v)) for u, v in tree.edges
    }
    H = connected(seed)
    value, (one, other) = nx.stoer_wagner(H, **BACKEND)
    between = [(u, v) for u, v in H.edges if (u in one) != (v in one)]
    assert value == nx.stoer_wagner(H)[0] == sum(H[u][v].get("weight", 1) for u, v in between)
    assert sorted(map(str, one + other)) == sorted(map(str, H))


@pytest.mark.parametrize("seed", SEEDS)
def test_sets(seed: int) -> None:
    G = random_graph(seed)
    members = nx.maximal_independent_set(G, [first(G)], seed=seed, **BACKEND)
    assert members == nx.maximal_independent_set(G, [first(G)], seed=seed, **BACKEND)
    assert members[0] == first(G)
    assert G.subgraph(members).size() == 0
    assert nx.is_dominating_set(G, members)
    assert nx.is_maximal_matching(G, nx.maximal_matching(G, **BACKEND))
    parts = nx.community.louvain_communities(G, seed=seed, **BACKEND)
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seed))
    assert nx.community.is_partition(G, parts)
    assert nx.community.modularity(G, parts) > best - 0.08


def test_every_claim_is_held() -> None:
    """Each function stands in a list above, or has a test of its own."""
    listed = {one[0] for one in ANY + UNDIRECTED + DIRECTED + CONNECTED}
    alone = {
        "bfs_layers", "find_negative_cycle", "louvain_communities", "maximal_independent_set", "maximal_matching",
        "minimum_spanning_edges", "minimum_spanning_tree", "stoer_wagner", "strongly_connected_components",
        "topological_generations", "topological_sort", "transitive_reduction",
    }  # fmt: skip
    assert set(CLAIMS) == listed | alone
