"""The judges of benchmarks.cpu_peers refuse wrong answers; with the peers installed, a table of one row is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from benchmarks.cpu_peers import __main__ as cpu_peers
from benchmarks.cpu_peers import judges
from benchmarks.cpu_peers.graphs import Graph
from benchmarks.harness.frame import load
from benchmarks.verify.answers import Wrong

alg = gb.algorithms


@pytest.fixture(scope="module")
def g() -> Graph:
    with gb.config.set(engine="cpu", progress=False):
        return Graph("kron:6", Path())


def changed(values: Any, at: int, to: Any) -> Any:
    other = np.array(values)
    other[at] = to
    return other


def test_judges_take_right_answers_and_refuse_wrong_ones(g: Graph) -> None:
    S, hub = g.ours("S"), g.source
    parts = alg.connected_components(S).to_dense()
    member = alg.maximal_independent_set(S, seed=1).to_dense(fill_value=False)
    partner = alg.maximal_matching(S, seed=1).to_dense(fill_value=-1)
    order = alg.topological_sort(g.ours("D")).to_dense()
    tree = alg.bfs_parents(g.ours("A"), hub).to_dense(fill_value=-1)
    katz = alg.katz_centrality(S, 0.01, tol=1e-9).to_dense()
    beside = int(S[hub, :].new().to_coo()[0][0])
    cases: list[tuple[Any, Any, Any, Any]] = [
        (judges.equal, parts, parts, changed(parts, hub, parts[hub] + 1)),
        (judges.close(), katz, katz, changed(katz, hub, 0.0)),
        (judges.estimated, 5, (5, 6), 4),
        (judges.direction, 2 * katz, katz, changed(katz, hub, 0.0)),
        (judges.parts, parts, parts + 7, changed(parts, hub, g.n - 1)),
        (judges.tree, tree, tree, changed(tree, beside, -1)),
        (judges.coloring, np.arange(g.n), np.arange(g.n), changed(np.arange(g.n), beside, hub)),
        (judges.independent, member, member, np.zeros(g.n, bool)),
        (judges.matching, partner, None, np.full(g.n, -1)),
        (judges.sorted_vertices, order, None, order[::-1]),
        (judges.propagated, parts, None, np.arange(g.n)),
        (judges.modular(0.005), parts, parts, np.arange(g.n)),
    ]
    for judge, right, theirs, wrong in cases:
        judge(g, right, theirs)
        with pytest.raises(Wrong):
            judge(g, wrong, theirs)
    judges.katz(g, katz, 0.01)
    with pytest.raises(Wrong, match="varies"):
        judges.katz(g, changed(katz, hub, 0.0), 0.01)


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("networkit", reason="the extra [judges] has the peers")
    pytest.importorskip("igraph", reason="the extra [judges] has the peers")
    from benchmarks.cpu_peers import measure

    monkeypatch.setattr(measure, "start_loops", bool)  # it warms compiled loops, which tests turn off
    out = tmp_path / "run.json"
    assert cpu_peers.main(["kron:8", "--rows", "core numbers", "--trials", "1", "--out", str(out)]) in (0, 1)
    (case,) = load(out).cases
    assert case.verified == "yes"
    assert set(case.notes["peers"]) == {"networkit", "igraph"}
    assert "core numbers" in capsys.readouterr().out
