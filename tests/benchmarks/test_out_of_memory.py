"""`benchmarks.out_of_memory` and `benchmarks.triangles` run from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import triangles
from benchmarks.harness.frame import Case, Rules, Trial, measure
from benchmarks.out_of_memory import __main__ as out_of_memory
from benchmarks.out_of_memory import summary
from sparsezc.engines.gpu.placements.baselines import cached
from sparsezc.memory import budget
from tests.benchmarks.runs import cases, emulated

SMALL = ("--rounds", "2", "--warm", "0.01", "--trials", "1", "--sources", "1", "--iterations", "2", "--copy-mib", "1")


@emulated
def test_placements_at_a_budget(device: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 64)  # so that two buffers fit half of so small a graph
    path, own = tmp_path / "small.json", (cached.WAYS, cached.ACTIVE)
    assert (
        out_of_memory.main(["kron:7", "--budgets", "50", "--kernels", "bfs,pagerank", "--out", str(path), *SMALL]) == 0
    )
    found = {(case["name"], case["setting"]["placement"]): case for case in cases(path)}
    assert {placement for _, placement in found} == set(out_of_memory.PLACEMENTS)
    for (_, placement), case in found.items():
        assert case["verified"] == "yes"
        assert len(case["trials"]) == 2  # one trial in each round
        assert case["notes"].get("copied", 0) > 0 or placement not in ("stream", "gather")
    assert own == (cached.WAYS, cached.ACTIVE)  # measuring ascetic changes them for a while
    copied = found["pagerank", "gather"]["notes"]["copied"]
    assert copied == pytest.approx(4 / 5)  # of ids and weights only ids are copied, each once
    said = capsys.readouterr().out
    assert "x hybrid" in said
    assert "PageRank at half of the edges, kron:7: bytes that cached moves over gather's" in said
    again = tmp_path / "again.json"
    assert out_of_memory.main(["--again", str(path), "--out", str(again)]) == 0
    tables = said[said.index("graph  ") : said.index("written:")]
    assert capsys.readouterr().out.startswith(tables)
    assert cases(again) == cases(path)


@emulated
def test_a_budget_that_a_placement_cannot_keep_is_left_out(device: Any, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "small.json"
    options = ["--budgets", "5", "--kernels", "bfs", "--placements", "hybrid,stream", "--out", str(path)]
    assert out_of_memory.main(["kron:6", *options, *SMALL]) == 0
    assert [case["setting"]["placement"] for case in cases(path)] == ["hybrid"]
    assert "are the least that works" in capsys.readouterr().out


def made(placement: str, ms: float, *, name: str = "bfs", budget: float = 25.0, moved: float = 1.0) -> Case:
    case = Case(name, {"graph": "g", "placement": placement, "budget": budget}, [Trial(None, ms / 1e3, 1)])
    case.notes["moved"] = moved
    return case


def test_goals_are_told_from_the_cases() -> None:
    times = {"hybrid": 2.0, "zerocopy": 4.0, "ascetic": 3.0, "gather": 9.0, "uvm": 1.0}
    found = [made(placement, ms) for placement, ms in times.items()]
    found += [made(placement, 8.0, name="cc") for placement in ("hybrid", "zerocopy", "ascetic", "gather")]
    found += [made("cached", 1.0, name="pagerank", budget=50.0, moved=0.3)]
    found += [made("gather", 1.0, name="pagerank", budget=50.0, moved=0.6)]
    best, gather, ascetic, moved = summary.goals(found)
    assert (best.found, best.met) == (1.0, True)  # uvm obeys no budget, so the goals leave it out
    assert gather.found == pytest.approx(4.5**0.5)
    assert (round(ascetic.found, 3), ascetic.met) == (round(1.5**0.5, 3), False)
    assert (moved.found, moved.met) == (0.5, False)


def test_slow_cases_get_fewer_trials() -> None:
    def call(given: int) -> int:
        calls.append(given)
        return given

    calls: list[int] = []
    case = measure(Case("slow"), call, [1, 2], trials=5, nbytes=lambda *_: 1, rules=Rules(seconds=0.0))
    assert calls == [1, 1, 2]  # the first run is no trial
    assert len(case.trials) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budgets", "0"], "above 0"),
        (["--placements", "cloud"], "'cloud'"),
        (["--kernels", "sort"], "'sort'"),
        (["--again", "before.json"], "one of both"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], said: str, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        out_of_memory.parse(["kron:5", *arguments])
    assert said in capsys.readouterr().err


def test_triangles_agree_with_the_peer(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "triangles.json"
    assert triangles.main(["kron:9", "--engine", "cpu", "--trials", "1", "--out", str(path)]) == 0
    ours = next(case for case in cases(path) if case["name"] == "triangle_count")
    assert ours["verified"] == "yes"
    assert ours["reference"] > 0
    assert "x faster" in capsys.readouterr().out
