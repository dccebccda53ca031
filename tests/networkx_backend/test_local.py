"""Calls that name their nodes look at what lies around these, and at no more of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import networkx as nx
import pytest

from sparsezc import algorithms
from sparsezc.networkx_backend import lengths
from tests.networkx_backend.cases import random_graph
from tests.networkx_backend.judging import difference, weighs

BACKEND = {"backend": "sparsezc"}


@pytest.fixture(autouse=True)
def silent_cache() -> Iterator[None]:
    """NetworkX warns when a conversion is used again; here that is meant."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield


PAIRS: dict[str, Callable[..., Any]] = {
    "dijkstra_path": nx.dijkstra_path,
    "dijkstra_path_length": nx.dijkstra_path_length,
    "single_source_dijkstra": nx.single_source_dijkstra,
    "shortest_path": lambda G, s, t, **how: nx.shortest_path(G, s, t, **{"weight": "weight"} | how),
    "shortest_path_length": lambda G, s, t, **how: nx.shortest_path_length(G, s, t, **{"weight": "weight"} | how),
}


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_search_ends_at_its_target(name: str, weight: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path the target is the farthest that a search may find."""
    found = []
    for place, search in ((algorithms, "sssp"), (algorithms, "bfs")):
        made = getattr(place, search)
        monkeypatch.setattr(place, search, lambda *a, made=made, **o: (x := made(*a, **o), found.append(x.nvals))[0])
    searched = lengths.search
    monkeypatch.setattr(lengths, "search", lambda *a, **o: (x := searched(*a, **o), found.append(x.vertices.size))[0])
    G = nx.path_graph(300, create_using=nx.DiGraph)
    nx.set_edge_attributes(G, 2, "weight")
    assert difference(PAIRS[name](G, 0, 20, weight=weight, **BACKEND), PAIRS[name](G, 0, 20, weight=weight), 0) is None
    assert found == [21]


@pytest.mark.parametrize("weight", [None, "weight", "absent"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_pairs(seed: int, directed: bool, weight: str | None) -> None:
    """Of every node that is reached, and some that are not: the same lengths, paths that are as long, or NoPath."""
    G = random_graph(seed, directed)
    source, *others = list(G)[:: 2 if len(G) < 20 else 5]
    reached = nx.single_source_dijkstra_path_length(G, source, weight=weight)
    for target in (source, *others, "no node"):
        if target not in reached:
            for name in PAIRS:
                with pytest.raises((nx.NetworkXNoPath, nx.NodeNotFound)) as theirs:
                    PAIRS[name](G, source, target, weight=weight)
                with pytest.raises(theirs.type):
                    PAIRS[name](G, source, target, weight=weight, **BACKEND)
            continue
        for name in ("dijkstra_path_length", "shortest_path_length"):
            assert PAIRS[name](G, source, target, weight=weight, **BACKEND) == reached[target]
        wanted = nx.single_source_dijkstra(G, source, target, weight=weight)
        assert nx.single_source_dijkstra(G, source, target, weight=weight, **BACKEND) == wanted
        for cutoff in (reached[target], reached[target] + 0.5):
            assert nx.single_source_dijkstra(G, source, target, cutoff, weight, **BACKEND) == wanted
        assert nx.dijkstra_path(G, source, target, weight, **BACKEND) == wanted[1]
        path = nx.shortest_path(G, source, target, weight, **BACKEND)
        assert (path[0], path[-1], weighs(G, path, weight)) == (source, target, reached[target])


def test_hops_by_dijkstra_s_name_come_in_its_order() -> None:
    """A search by hops finds them as it does, for any cutoff."""
    G = random_graph(2)
    for source in islice(G, 3):
        for cutoff in (None, 0, 1.5, 2, -1, float("inf")):
            ours, theirs = (
                nx.single_source_dijkstra(G, source, cutoff=cutoff, weight=None, **how) for how in (BACKEND, {})
            )
            assert difference(ours, theirs, 0) is None
