"""Flows, cuts and bipartite projections through the backend: NetworkX's answers, types and errors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from networkx.algorithms import bipartite

from tests.networkx_backend.cases import close, plain, random_graph

BACKEND = {"backend": "sparsezc"}
SEEDS = range(6)
each_seed = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False):
        yield


def network(seed: int, directed: bool, fractions: bool) -> Any:
    G = random_graph(seed, directed)
    chance = random.Random(seed)
    for _, _, data in G.edges(data=True):
        data["capacity"] = chance.random() if fractions else chance.randint(0, 9)
    return G


@each_seed
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("fractions", [False, True])
def test_flows_and_cuts(seed: int, directed: bool, fractions: bool) -> None:
    G = network(seed, directed, fractions)
    s, t = random.Random(seed).sample(list(G), 2)
    expected, sides = nx.minimum_cut(G, s, t)
    value, found = nx.minimum_cut(G, s, t, **BACKEND)
    assert value == pytest.approx(expected)
    assert nx.maximum_flow_value(G, s, t, **BACKEND) == value == nx.minimum_cut_value(G, s, t, **BACKEND)
    if not fractions:
        assert type(value) is type(expected)
        assert found == sides
    cut = [(u, v) for u, v in G.edges if (u in found[0], v in found[0]) in ((True, False), (directed, not directed))]
    cut += [] if directed else [(u, v) for u, v in G.edges if u not in found[0] and v in found[0]]
    assert sum(G[u][v]["capacity"] for u, v in set(cut)) == pytest.approx(expected)


def test_errors_of_flows_are_networkxs() -> None:
    G = nx.DiGraph()
    G.add_edge(0, 1, capacity=3)
    for function in (nx.maximum_flow_value, nx.minimum_cut, nx.minimum_cut_value):
        for arguments, options in (((0, 0), {}), ((0, 7), {}), ((7, 0), {}), ((0, 1), {"cutoff": 1})):
            with pytest.raises(nx.NetworkXError) as theirs:
                function(G, *arguments, **options, backend="networkx")
            with pytest.raises(nx.NetworkXError) as ours:
                function(G, *arguments, **options, **BACKEND)
            if not options:
                assert str(ours.value) == str(theirs.value)
    G.add_edge(1, 2)  # no capacity means infinite
    for wrong in (G, nx.DiGraph([(0, 1, {"capacity": -1})])):
        with pytest.raises(NotImplementedError):
            nx.maximum_flow_value(wrong, 0, 1, **BACKEND)


CALLS = [
    (bipartite.projected_graph, {}),
    (bipartite.weighted_projected_graph, {}),
    (bipartite.weighted_projected_graph, {"ratio": True}),
    (bipartite.collaboration_weighted_projected_graph, {}),
    (bipartite.overlap_weighted_projected_graph, {}),
    (bipartite.overlap_weighted_projected_graph, {"jaccard": False}),
]


def two_sides(seed: int) -> tuple[Any, list[Any]]:
    """Return a bipartite graph of readers (names) and books (numbers), shuffled, with attributes; and its readers."""
    chance = random.Random(seed)
    readers, books = [f"r{k}" for k in range(7)], list(range(5))
    G = nx.Graph(name="library")
    G.add_nodes_from(chance.sample([*readers, *books], 12), shelf=1)
    G.add_edges_from((r, b) for r in readers for b in books if chance.random() < 0.4)
    return G, chance.sample(readers, 7)


@each_seed
@pytest.mark.parametrize(("function", "options"), CALLS)
def test_projections(seed: int, function: Any, options: dict[str, Any]) -> None:
    G, readers = two_sides(seed)
    for side in (readers, [node for node in G if node not in readers]):
        ours, theirs = function(G, side, **options, **BACKEND), function(G, side, **options)
        assert close(plain(ours), plain(theirs))
        assert list(ours) == list(theirs)


def test_what_is_no_side_is_left_to_networkx() -> None:
    G, readers = two_sides(1)
    for nodes in (readers[:3], [*readers, readers[0]], [*readers, "absent"]):
        with pytest.raises(NotImplementedError):
            bipartite.projected_graph(G, nodes, **BACKEND)
    with pytest.raises(nx.NetworkXAlgorithmError, match="is >= the graph size"):
        bipartite.weighted_projected_graph(G, list(G), **BACKEND)
    with pytest.raises(NotImplementedError):  # an absent node, for which NetworkX has another error
        bipartite.weighted_projected_graph(G, [*G, "absent"], **BACKEND)
    for wrong in (nx.DiGraph([(0, 1)]), nx.path_graph(3)):
        with pytest.raises(NotImplementedError):
            bipartite.projected_graph(wrong, [0, 1], multigraph=not wrong.is_directed(), **BACKEND)
