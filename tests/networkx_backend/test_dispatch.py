"""Dispatch: the calls that NetworkX sends to the enabled backend, and the reasons against the others."""

from __future__ import annotations

import json
import logging
import random
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

from sparsezc.networkx_backend import Graph, dispatch, interface, log_calls
from sparsezc.networkx_backend.info import FUNCTIONS
from sparsezc.networkx_backend.interface import should_run
from sparsezc.networkx_backend.times import TIMES
from tests.networkx_backend.allowed_differences import ORDER
from tests.networkx_backend.judging import outcome
from tests.networkx_backend.page import NETWORKX, PUBLISHED

SWITCHED_ON = {"backend_priority": ["sparsezc"], "fallback_to_nx": True, "warnings_to_ignore": {"cache"}}


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load SuiteSparse, as a first call does."""
    nx.core_number(nx.path_graph(2), backend="sparsezc")
    monkeypatch.setattr(dispatch, "_waited", [0.0])


@pytest.fixture(scope="module")
def wide() -> Any:
    return nx.gnm_random_graph(2000, 30_000, seed=1)


def reason(name: str, *args: Any, **kwargs: Any) -> str:
    found = should_run(name, args, kwargs)
    assert isinstance(found, str), name
    return found


def test_local_calls_and_small_graphs_stay_with_networkx(wide: Any) -> None:
    for name, options in (
        ("shortest_path", {"source": 0, "target": 1}),
        ("has_path", {"source": 0, "target": 1}),
        ("triangles", {"nodes": 0}),
        ("clustering", {"nodes": [0, 1]}),
        ("jaccard_coefficient", {"ebunch": [(0, 1)]}),
        ("closeness_centrality", {"u": 0}),
        ("eccentricity", {"v": iter([0, 1])}),
    ):
        with nx.config(**SWITCHED_ON):
            outcome(lambda name=name, options=options: getattr(nx, name)(wide, **options))  # type: ignore[misc]
        assert not wide.__networkx_cache__.get("backends"), name
        assert reason(name, wide, **options)
    for name in ("pagerank", "closeness_centrality"):
        assert should_run(name, (wide,), {}) is True
        assert reason(name, nx.path_graph(30)) == "less than 0.002 s in NetworkX, and a call here may take as long"


def test_a_decision_makes_no_view_of_each_node(wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deciding creates no view of a node's neighbours, as 20,000 views take as long as a search."""
    monkeypatch.setattr(nx.classes.coreviews.AtlasView, "__init__", lambda *_: pytest.fail("a view was made"))
    for name in ("pagerank", "closeness_centrality", "triangles", "clustering"):
        assert should_run(name, (wide,), {}) is True


def test_a_decision_never_raises(wide: Any) -> None:
    """A decision gives a reason for wrong arguments, and after a failed conversion, which NetworkX caches as a text."""
    unknown = "its time for these arguments is not known ("
    assert reason("betweenness_centrality", wide, 2.5).startswith(unknown)
    assert reason("eccentricity", wide, np.array(3)).startswith(unknown)
    G = wide.copy()
    nx.set_edge_attributes(G, {edge: {"w": "text", "x": 2.0} for edge in G.edges})
    before = reason("core_number", G)
    with nx.config(**SWITCHED_ON):
        outcome(lambda: nx.betweenness_centrality(G, k=60, weight="w"))
        assert list(G.__networkx_cache__["backends"]["sparsezc"].values()) == ["FAILED_TO_CONVERT"]
        assert reason("core_number", G) == before
        assert nx.pagerank(G, weight="x")[0] > 0
        assert reason("pagerank", G, weight=[]).startswith(unknown)


def test_a_decision_takes_a_small_share_of_the_call() -> None:
    """A decision reads few rows of neighbours: a tenth of the nodes, and never more than its limit."""
    G, rows = nx.gnm_random_graph(3000, 15_000, seed=1), []

    class Rows(dict[Any, Any]):
        def __getitem__(self, node: Any) -> Any:
            rows.append(node)
            return super().__getitem__(node)

    G._adj = Rows(G._adj)
    assert should_run("betweenness_centrality", (G,), {"k": 100}) is True
    assert 0 < len(rows) < 300
    rows.clear()
    assert dispatch._reach(G, 1.0, 1100.0) == 1.0
    assert 50 < len(rows) < 200
    assert dispatch._reach(nx.disjoint_union_all([G, G, G]), 0.5, 1e9) == pytest.approx(1 / 3, rel=0.01)


def test_searches_count_by_their_number(wide: Any) -> None:
    """Estimates count a call's searches: by sources, by requested nodes, and by the nodes that they reach."""
    assert should_run("betweenness_centrality", (wide,), {"k": 50, "seed": 7}) is True
    assert reason("betweenness_centrality", wide, 1).startswith("about 0.0")
    assert should_run("betweenness_centrality", (wide,), {"k": 50, "weight": "weight"}) is True
    assert should_run("closeness_centrality", (wide, 0), {}) is not True
    assert should_run("eccentricity", (wide, list(range(400))), {}) is True
    assert should_run("harmonic_centrality", (wide,), {"sources": range(3)}) is not True
    assert "edge attribute 'weight'" in reason("eccentricity", wide, weight="weight")
    assert reason("diameter", wide, usebounds=True) == "with usebounds NetworkX has less to do"
    apart = nx.disjoint_union_all([nx.complete_graph(20)] * 200)
    assert should_run("closeness_centrality", (nx.connected_watts_strogatz_graph(4000, 18, 0.1, seed=1),), {}) is True
    assert reason("closeness_centrality", apart).startswith("about ")


def test_what_is_converted_already_costs_no_conversion(wide: Any) -> None:
    G = wide.copy()
    assert reason("core_number", G).endswith("with the conversion")
    nx.core_number(G, backend="sparsezc")
    assert should_run("core_number", (G,), {}) is True
    assert reason("minimum_cut_value", nx.cycle_graph(400), 0, 7).endswith(" here with the conversion")
    assert should_run("shortest_path", (Graph(interface.convert_from_nx(G).A), 0, 1), {}) is True


def test_the_first_call_waits_until_the_start_of_the_library_pays(wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "suitesparse_graphblas")
    assert should_run("betweenness_centrality", (wide,), {}) is True
    asked = 0
    while (found := should_run("clustering", (wide,), {})) is not True:
        assert found == "about 0.21 s in NetworkX, about 0.43 s here with the conversion and the library's start"
        asked += 1
    assert asked == 2


def test_other_answers_come_only_if_they_are_wanted(wide: Any) -> None:
    """Louvain with a seed is sent only with same_answers=False, as its partition differs; without a seed always."""
    found = reason("louvain_communities", wide, seed=random.Random(7))
    assert found.startswith("its partition differs from NetworkX's for the same seed (about 0.89 s in NetworkX, ")
    assert should_run("louvain_communities", (wide,), {"seed": random._inst}) is True  # type: ignore[attr-defined]
    assert should_run("louvain_communities", (wide,), {}) is True
    with nx.config.backends.sparsezc(same_answers=False):
        assert should_run("louvain_communities", (wide,), {"seed": random.Random(7)}) is True
        assert "about" in reason("louvain_communities", nx.path_graph(90), seed=random.Random(7))


def test_a_line_for_each_call(wide: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each call of the user's is logged in one line; calls by NetworkX's own functions are not."""
    G = wide.copy()
    try:
        log_calls()
        log_calls()
        with nx.config(**SWITCHED_ON):
            nx.clustering(G)
            nx.number_connected_components(G)
            nx.core_number(nx.DiGraph([(0, 1)]))
            list(nx.find_cliques(nx.path_graph(3)))
    finally:
        log_calls(on=False)
    nx.number_of_isolates(nx.path_graph(3), backend="sparsezc")
    assert capsys.readouterr().err.splitlines() == [
        "clustering was sent",
        f"number_connected_components was not sent: {dispatch._LONG}",
        "core_number was not sent: sparsezc has this function for undirected graphs only",
        "find_cliques was not sent: sparsezc has no find_cliques",
    ]


def test_a_line_for_a_refusal_after_the_call_was_sent(capsys: pytest.CaptureFixture[str]) -> None:
    """A function's refusal is logged after "was sent"; a failed conversion is logged as "was not sent"."""
    G = nx.Graph([(0, 1), (1, 1)])
    try:
        log_calls()
        for other in ({"backend": "sparsezc"}, {}):
            texts = nx.Graph([(0, 1, {"weight": "text"})])
            with nx.config(**SWITCHED_ON), pytest.MonkeyPatch.context() as patch:
                patch.setattr(interface.BACKEND, "should_run", lambda *_: True)
                outcome(lambda other=other: nx.voterank(G, **other))  # type: ignore[misc]
                outcome(lambda texts=texts, other=other: nx.pagerank(texts, **other))  # type: ignore[misc]
                nx.number_of_isolates(G, **other)
    finally:
        log_calls(on=False)
    lines = [
        "voterank was sent",
        "voterank was refused: the graph has loops, over which a node votes twice",
        "pagerank was not sent: edge attribute 'weight' has a value of type str; sparsezc needs numbers",
        "number_of_isolates was sent",
    ]
    assert capsys.readouterr().err.splitlines() == lines * 2


def test_other_logs_of_a_program_are_as_before() -> None:
    """log_calls() shows no other records than the program's levels allow; turning it off restores all loggers."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    above, logger = logging.getLogger("networkx"), logging.getLogger("networkx.utils.backends")
    before = above.level, logger.level, list(logger.filters)
    above.addHandler(handler)
    try:
        log_calls()
        nx.number_of_isolates(nx.path_graph(3), backend="sparsezc")
        assert not records
        logger.warning("shown")
        above.setLevel(logging.DEBUG)
        nx.number_of_isolates(nx.path_graph(3), backend="sparsezc")
        assert records[0].getMessage() == "shown"
        assert len(records) > 1
    finally:
        above.removeHandler(handler)
        above.setLevel(before[0])
        log_calls(on=False)
    assert (above.level, logger.level, logger.filters) == before


def test_answers_of_another_order_are_not_sent() -> None:
    assert not [name for name in ORDER if name in TIMES and not TIMES[name].differs]
    assert all(TIMES[name].differs for name in ("louvain_communities", "hits", "maximum_flow"))


def test_each_function_that_is_faster_has_its_times() -> None:
    """For functions without an estimate, NetworkX's published time is at most 1.5 times that of conversion and call."""
    assert set(TIMES) <= set(FUNCTIONS)
    for case in json.loads(PUBLISHED.read_text())["cases"]:
        claim = interface.CLAIMS.get(case["name"])
        if case["name"] in TIMES or not claim or claim.made or "that are matrices" in FUNCTIONS[case["name"]]:
            continue
        size = 11 * case["setting"]["nodes"]
        derived = case["derived"]
        alone, here = 1e6 * derived["series"][NETWORKX]["median"], 1e6 * derived["median"]
        converting = (dispatch._CONVERSION + dispatch._ATTRIBUTE * bool(claim.attributes)) * size
        assert alone <= 1.5 * (here + converting + dispatch._CALL), case["name"]
