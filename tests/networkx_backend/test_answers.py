"""Each claimed function with ``backend="sparsezc"`` gives NetworkX's answer on random graphs with odd labels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from sparsezc.config import config
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.structure import link_prediction
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
def silent_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ignore NetworkX's warning of cached conversions, and turn autocompute off for every other seed."""
    seed = getattr(request.node, "callspec", None) and request.node.callspec.params.get("seed", 0)
    with nx.config(warnings_to_ignore={"cache"}), config.set(autocompute=not seed or seed % 2 == 0):
        yield


_COMMUNITY = ("modularity", "louvain_communities", "label_propagation_communities")
ALGORITHMS = {name: getattr(nx.community, name) for name in _COMMUNITY}
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
    monkeypatch.setattr(link_prediction, "PAIRS", 50)
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


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_trees_of_searches(seed: int, directed: bool) -> None:
    """Trees have NetworkX's nodes at its distances; any of several shortest paths is right."""
    G = random_graph(seed, directed)
    source = first(G)
    for options in ({}, {"depth_limit": 1}, {"depth_limit": 0}, {"reverse": True}):
        back = options == {"reverse": True}
        hops = nx.single_source_shortest_path_length(
            G.reverse() if back and directed else G, source, options.get("depth_limit")
        )
        tree = nx.bfs_tree(G, source, **options, **BACKEND)
        assert dict(nx.single_source_shortest_path_length(tree, source)) == dict(hops)
        assert all(G.has_edge(v, u) if back else G.has_edge(u, v) for u, v in tree.edges)
        edges = list(nx.bfs_edges(G, source, **options, **BACKEND))
        assert [hops[v] for _, v in edges] == sorted(hops[v] for v in tree if v != source)
        if not back:
            before = dict(nx.bfs_predecessors(G, source, **options, **BACKEND))
            assert before == {v: u for u, v in edges}
            after = dict(nx.bfs_successors(G, source, **options, **BACKEND))
            assert sorted(map(str, [(u, v) for u in after for v in after[u]])) == sorted(map(str, edges))
    paths = nx.single_source_shortest_path(G, source, **BACKEND)
    assert {node: len(path) - 1 for node, path in paths.items()} == dict(
        nx.single_source_shortest_path_length(G, source)
    )
    assert all(nx.is_path(G, path) and path[0] == source and path[-1] == node for node, path in paths.items())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_shortest_paths(seed: int, directed: bool) -> None:
    G = random_graph(seed, directed)
    source = first(G)
    for dijkstra in (False, True):
        kind = "dijkstra" if dijkstra else "bellman_ford"
        wanted = getattr(nx, f"single_source_{kind}_path_length")(G, source)
        distances, paths = getattr(nx, f"single_source_{kind}")(G, source, **BACKEND)
        assert distances == wanted
        assert list(distances.values()) == sorted(distances.values())
        others = getattr(nx, f"single_source_{kind}_path")(G, source, **BACKEND)
        for node, path in paths.items():
            one = getattr(nx, f"{kind}_path")(G, source, node, **BACKEND)
            assert getattr(nx, f"single_source_{kind}")(G, source, node, **BACKEND)[0] == distances[node]
            for each in (path, one, others[node]):
                assert (each[0], each[-1]) == (source, node)
                assert sum(G[u][v].get("weight", 1) for u, v in pairwise(each)) == distances[node]
    near, near_paths = nx.single_source_dijkstra(G, source, cutoff=6, **BACKEND)
    assert near == {node: length for node, length in wanted.items() if length <= 6}
    assert near.keys() == near_paths.keys()
    alone = list(G)[-1]
    if alone not in wanted:
        with pytest.raises(nx.NetworkXNoPath):
            nx.bellman_ford_path(G, source, alone, **BACKEND)
        with pytest.raises(nx.NetworkXNoPath):
            nx.dijkstra_path(G, source, alone, **BACKEND)


@pytest.mark.parametrize("method", ["dijkstra", "bellman-ford"])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("directed", [False, True])
def test_shortest_paths_of_every_kind(directed: bool, weight: str | None, method: str) -> None:
    G = random_graph(1, directed)
    one, other = first(G), list(G)[1]
    how = {"weight": weight, "method": method}

    def length(path: list[Any]) -> int:
        return sum(1 if weight is None else G[u][v].get(weight, 1) for u, v in pairwise(path))

    wanted = {u: dict(row) for u, row in nx.shortest_path_length(G, weight=weight)}
    for node, path in nx.shortest_path(G, one, **how, **BACKEND).items():
        assert (path[0], path[-1], length(path)) == (one, node, wanted[one][node])
    to_one = nx.shortest_path(G, target=one, **how, **BACKEND)
    assert to_one.keys() == {u for u, row in wanted.items() if one in row}
    for node, path in to_one.items():
        assert (path[0], path[-1], length(path)) == (node, one, wanted[node][one])
    every = dict(nx.shortest_path(G, **how, **BACKEND))
    assert {u: {v: length(path) for v, path in row.items()} for u, row in every.items()} == wanted
    if other in wanted[one]:
        assert length(nx.shortest_path(G, one, other, **how, **BACKEND)) == wanted[one][other]
    with pytest.raises(nx.NetworkXNoPath):
        nx.shortest_path(nx.Graph([(0, 1), (2, 3)]), 0, 3, **how, **BACKEND)
    for source, target in ((99, None), (None, 99), (one, 99), (99, one)):
        with pytest.raises((nx.NodeNotFound, nx.NetworkXNoPath)) as theirs:
            nx.shortest_path(G, source, target, **how)
        with pytest.raises(theirs.type):
            nx.shortest_path(G, source, target, **how, **BACKEND)


@pytest.mark.parametrize("seed", SEEDS)
def test_paths_over_negative_lengths(seed: int) -> None:
    G = acyclic(seed)
    for k, (u, v) in enumerate(G.edges):
        G[u][v]["weight"] = k % 7 - 3
    distances, paths = nx.single_source_bellman_ford(G, first(G), **BACKEND)
    assert distances == nx.single_source_bellman_ford_path_length(G, first(G))
    for node, path in paths.items():
        assert sum(G[u][v]["weight"] for u, v in pairwise(path)) == distances[node]
    nx.add_cycle(G, [first(G), last(G)], weight=-5)
    with pytest.raises(nx.NetworkXUnbounded):
        nx.single_source_bellman_ford_path(G, first(G), **BACKEND)


@pytest.mark.parametrize("seed", SEEDS)
def test_strong_components_by_kosaraju_s_name(seed: int) -> None:
    G = random_graph(seed, directed=True)
    found = nx.kosaraju_strongly_connected_components(G, **BACKEND)
    assert sets(found) == sets(nx.kosaraju_strongly_connected_components(G))


@pytest.mark.parametrize("seed", SEEDS)
def test_heaviest_trees(seed: int) -> None:
    G = random_graph(seed)
    tree, wanted = nx.maximum_spanning_tree(G, **BACKEND), nx.maximum_spanning_tree(G)
    assert tree.size("weight") == wanted.size("weight")
    assert (tree.number_of_edges(), plain(tree)[1]) == (wanted.number_of_edges(), plain(G)[1])
    weights = [data.get("weight", 1) for _, _, data in nx.maximum_spanning_edges(G, **BACKEND)]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == wanted.number_of_edges()


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
    """The bound is at most the diameter and, of undirected graphs, at least half; several farthest nodes are right."""
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
    assert first(G) in members if networkx_versions.SINCE_3_7 else members[0] == first(G)
    assert G.subgraph(members).size() == 0
    assert nx.is_dominating_set(G, members)
    color = nx.greedy_color(G, "random_sequential", **BACKEND)
    assert all(color[u] != color[v] for u, v in G.edges)
    assert nx.maximal_matching(G, **BACKEND) == nx.maximal_matching(G)
    parts = nx.community.louvain_communities(G, seed=seed, **BACKEND)
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seed))
    assert nx.community.is_partition(G, parts)
    assert nx.community.modularity(G, parts) > best - 0.08


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_modularity_of_graphs_with_loops(kind: Any, weight: str | None) -> None:
    G = kind([(0, 1), (1, 2), (2, 2, {"weight": 5}), (3, 4, {"weight": 0.5}), (4, 4)])
    holds(G, case("modularity", lambda G: ([{0, 1, 2}, {3, 4}],), weight=weight))
    holds(G, case("modularity", lambda G: ([{0, 1}, {2, 3, 4}],), weight=weight))


def test_a_path_to_where_it_begins_looks_for_no_negative_cycle() -> None:
    G = nx.DiGraph([(0, 1, {"weight": -2}), (1, 0, {"weight": 1})])
    holds(G, case("single_source_bellman_ford", lambda G: (0, 0)))
    holds(G, case("bellman_ford_path", lambda G: (0, 0)))
    with pytest.raises(nx.NetworkXUnbounded):
        nx.bellman_ford_path(G, 0, 1, **BACKEND)


def test_a_cutoff_below_zero_leaves_the_start() -> None:
    G = random_graph(1)
    for name in ("single_source_dijkstra_path_length", "single_source_dijkstra", "single_source_dijkstra_path"):
        holds(G, case(name, lambda G: (first(G),), cutoff=-1))
    holds(G, case("multi_source_dijkstra_path_length", lambda G: ([first(G), last(G)],), cutoff=-1))
    holds(G, case("all_pairs_dijkstra_path_length", cutoff=-1))
