"""Answers that are found in one way on small graphs and in another on large ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest

from sparsezc.engines import cpu
from sparsezc.engines.cpu import loops as cpu_loops
from sparsezc.networkx_backend.structure import links
from tests.networkx_backend.test_exactness import same, shuffled


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False):
        yield


@pytest.mark.parametrize("few", [0, 10_000])
def test_links_by_products_and_by_sorting(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways give NetworkX's numbers."""
    monkeypatch.setattr(links, "FEW", few)
    G = nx.gnm_random_graph(20, 45, seed=3)
    G.add_node("alone")
    nx.set_node_attributes(G, {v: k % 3 for k, v in enumerate(G)}, "community")
    pairs = [(0, 1), (1, 0), (0, "alone"), (4, 7), (0, 1), ("alone", "alone")]
    for name in (
        "jaccard_coefficient", "resource_allocation_index", "adamic_adar_index", "preferential_attachment",
        "cn_soundarajan_hopcroft", "ra_index_soundarajan_hopcroft", "within_inter_cluster",
    ):  # fmt: skip
        same(name, G)
        same(name, G, pairs)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_searches_in_compiled_loops_keep_the_order_of_the_edges(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba compiles the loops")
    ran: list[str] = []
    run = cpu.engine().run_arrays
    monkeypatch.setattr(cpu_loops, "pays", lambda _: True)
    monkeypatch.setattr(
        cpu.engine(), "run_arrays", lambda f, *a: (ran.append(f.__name__), run(f, *a))[1], raising=False
    )
    G = shuffled(kind)
    for name in ("all_pairs_shortest_path", "all_pairs_shortest_path_length", "all_pairs_all_shortest_paths"):
        for cutoff in ({},) if "all_shortest" in name else ({}, {"cutoff": 0}, {"cutoff": 1}, {"cutoff": 2}):
            same(name, G, **cutoff)
    for target in G:
        same("has_path", G, "a", target)
    for cutoff in (1.5, -1, 0.5, float("inf"), float("nan")):
        same("single_source_shortest_path", G, "a", cutoff=cutoff)
    same("bfs_layers", G, ["a", "c"])
    same("single_target_shortest_path", G, "e")
    same("descendants_at_distance", G, "a", 2)
    for name in ("ancestors", "descendants"):
        same(name, G, "d")
    assert set(ran) == {"tree"}
