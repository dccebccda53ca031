"""Each claimed function, asked by ``backend="sparsezc"``, gives NetworkX's answer on random graphs with odd labels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from sparsezc.networkx_backend import choices
from sparsezc.networkx_backend.interface import CLAIMS
from tests.networkx_backend.cases import (
    ANY,
    CONNECTED,
    DIRECTED,
    UNDIRECTED,
    Case,
    acyclic,
    case,
    close,
    connected,
    first,
    last,
    plain,
    random_graph,
    sets,
)  # fmt: skip

BACKEND = {"backend": "sparsezc"}


@pytest.fixture(autouse=True)
def silent_cache() -> Iterator[None]:
    """NetworkX warns when a conversion is used again; here that is meant."""
    before = set(nx.config.warnings_to_ignore)
    nx.config.warnings_to_ignore |= {"cache"}
    yield
    nx.config.warnings_to_ignore = before


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
    holds(G, case("transitive_closure_dag"))


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
    holds(G, case("negative_edge_cycle"))
    nx.add_cycle(G, [first(G), last(G)], weight=-5)
    holds(G, case("negative_edge_cycle"))
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
@pytest.mark.parametrize("directed", [False, True])
def test_a_lower_bound_of_the_diameter(seed: int, directed: bool) -> None:
    """Both take a farthest node, perhaps another one: never more than the diameter, nor less than half of it."""
    G = connected(seed, directed)
    found, exact = nx.approximation.diameter(G, seed=seed, **BACKEND), nx.diameter(G)
    assert type(found) is int
    assert (exact if not directed else 0) <= 2 * found <= 2 * exact
    with pytest.raises(nx.NetworkXError, match="onnected"):
        nx.approximation.diameter(random_graph(seed, directed), **BACKEND)


@pytest.mark.parametrize("seed", SEEDS)
def test_sets(seed: int) -> None:
    G = random_graph(seed)
    members = nx.maximal_independent_set(G, [first(G)], seed=seed, **BACKEND)
    assert members == nx.maximal_independent_set(G, [first(G)], seed=seed, **BACKEND)
    assert members[0] == first(G)
    assert G.subgraph(members).size() == 0
    assert nx.is_dominating_set(G, members)
    color = nx.greedy_color(G, "random_sequential", **BACKEND)
    assert all(color[u] != color[v] for u, v in G.edges)
    assert nx.is_maximal_matching(G, nx.maximal_matching(G, **BACKEND))
    parts = nx.community.louvain_communities(G, seed=seed, **BACKEND)
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seed))
    assert nx.community.is_partition(G, parts)
    assert nx.community.modularity(G, parts) > best - 0.08


def test_every_claim_is_held() -> None:
    """Each function stands in a list above, or has a test of its own."""
    listed = {one[0] for one in ANY + UNDIRECTED + DIRECTED + CONNECTED}
    alone = {
        "approximate_diameter", "bfs_layers", "find_negative_cycle", "louvain_communities", "maximal_independent_set",
        "maximal_matching",
        "minimum_spanning_edges", "minimum_spanning_tree", "stoer_wagner", "strongly_connected_components",
        "topological_generations", "topological_sort", "transitive_closure_dag", "transitive_reduction",
    }  # fmt: skip
    assert set(CLAIMS) == listed | alone
