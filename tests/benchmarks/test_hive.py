"""benchmarks.hive: its frame of rows and results, and every row on a small input."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import publish
from benchmarks.harness.frame import Report
from benchmarks.hive.__main__ import main, rows
from benchmarks.hive.limit import OutOfTime, limit
from benchmarks.hive.report import at_scale, said
from benchmarks.hive.row import HOST, Goal, Peer, Row, Unavailable
from benchmarks.hive.run import run
from benchmarks.hive.scaling import table as scaling
from benchmarks.verify.answers import Wrong
from tests.benchmarks.runs import cases, emulated
from tests.emulator.device import EmulatedDevice


def test_goals_count_work_or_time_or_a_peer_s() -> None:
    assert Goal(2.0).is_met(1.5)
    assert not Goal(2.0).is_met(2.5)
    assert Goal(2e6, "steps").reached(2.0, 6e6) == 3e6
    assert Goal(2e6, "steps").is_met(3e6)
    assert not Goal(2e6, "steps").is_met(1e6)
    assert Goal(1.5, "of peer").reached(3.0, 1.0, 2.0) == 1.5
    assert Goal(1.5, "of peer").reached(3.0, 1.0) is None
    assert Goal(1.5, "of peer").is_met(1.4)
    assert said(1500.0, "steps") == "1.50 k steps/s"


def test_scales_of_generated_graphs() -> None:
    assert at_scale("kron:24?weights=1-255", 10) == "kron:10?weights=1-255"
    assert at_scale("graph.mtx", 10) == "graph.mtx"


def test_every_row_is_right_on_a_small_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row's answer is right; other programs do not run: they judge where installed, and are slow to import."""
    path, counted = tmp_path / "hive.json", []
    monkeypatch.setattr(scaling, "main", lambda options: counted.append(options.out) or 0)
    command = ["--engine", "cpu", "--scale", "6", "--everywhere", "--trials", "0", "--copy-mib", "1", "--no-peers"]
    assert main([*command, "--out", str(path)]) == 0
    assert counted == [tmp_path / "hive-scaling.json"]
    found: list[dict[str, Any]] = publish.content(path)["cases"]
    assert [case["name"] for case in found] == list(rows())
    for case in found:
        ended = case["notes"]["ended"]
        if ended is None:
            assert case["verified"] == "yes", case["name"]
            assert case["notes"]["figure"] is None or case["notes"]["figure"] > 0
        else:  # the reference graphs are not in every checkout
            assert (case["name"], "reference graphs are not in" in ended) == ("louvain of the reference graphs", True)


def _row(name: str, call: Any, **more: Any) -> Row:
    def judge(_: Any, answer: Any) -> None:
        if answer != 1:
            raise Wrong(f"{answer} is not 1")

    return Row(name, "", more.pop("make", lambda given: given.size(3, 2, 1)), call, judge, **more)


def _cases(tmp_path: Path, *chosen: Row, **given: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "used_engine": "cpu", "placements": [HOST], "copy_mib": 1, "everywhere": True, "scale": 6, "part": None,
        "data": None, "limit": None, "budget": None, "trials": 2, "peers": True, "count": True,
    }  # fmt: skip
    report = Report("hive", "ms", tmp_path / "hive.json")
    run(chosen, argparse.Namespace(**asked | given), report)
    return {case["name"]: case for case in publish.content(tmp_path / "hive.json")["cases"]}


def test_a_row_that_takes_too_long_keeps_what_it_has_and_the_next_runs(tmp_path: Path) -> None:
    calls: list[float] = []

    def slow(_: Any) -> int:
        calls.append(time.monotonic())
        while len(calls) > 1:
            pass
        return 1

    found = _cases(tmp_path, _row("slow", slow), _row("next", lambda made: made), limit=0.3)
    assert "limit of 0 s, while the trials" in found["slow"]["notes"]["ended"]
    assert found["slow"]["first_seconds"] > 0
    assert found["slow"]["notes"]["figure"] == found["slow"]["first_seconds"]
    assert (found["next"]["verified"], len(found["next"]["trials"])) == ("yes", 2)
    with pytest.raises(OutOfTime), limit(0.01):
        time.sleep(5)
    found = _cases(tmp_path, _row("next", lambda made: made), budget=0.0)
    assert "budget has passed" in found["next"]["notes"]["ended"]


def test_failures_wrong_answers_and_missing_inputs_are_told_apart(tmp_path: Path) -> None:
    def absent(_: Any) -> None:
        raise Unavailable("no such file")

    def failing(_: Any) -> None:
        raise ValueError("broken")

    peers = Peer("peer", failing), Peer("two", lambda _: time.sleep(0.01))
    found = _cases(
        tmp_path, _row("absent", None, make=absent), _row("failing", failing), _row("wrong", lambda made: made + 1),
        _row("right", lambda made: made, peers=peers, goals={HOST: Goal(1.0)}),
    )  # fmt: skip
    assert found["absent"]["notes"]["ended"] == "before its first call: no such file"
    assert "by an error, while the first call" in found["failing"]["notes"]["ended"]
    assert found["wrong"]["verified"] == "WRONG: 2 is not 1"
    assert found["right"]["notes"]["peer, failed"] == "ValueError: broken"
    assert (found["right"]["peer"], found["right"]["verified"]) == ("two", "yes")


def test_what_a_call_does_besides_its_parts_is_subtracted(tmp_path: Path) -> None:
    row = _row("parts", lambda _: time.sleep(0.08) or 1, parts=4, base=lambda _: time.sleep(0.04))
    (case,) = _cases(tmp_path, row).values()
    assert case["notes"]["figure"] == pytest.approx(0.01, abs=0.005)


@emulated
@pytest.mark.parametrize("device", ["lockstep"], indirect=True)
def test_bytes_are_counted_beside_the_predicted_ones(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "hive.json"
    command = ["greedy search, a step", "--engine", "gpu", "--placement", "zerocopy", "--scale", "8", "--copy-mib", "1"]
    assert main([*command, "--trials", "1", "--out", str(path)]) == 0
    (case,) = cases(path)
    assert case["verified"] == "yes"
    assert 0.5 < case["notes"]["counted"]["link_bytes"] / case["notes"]["predicted"] < 1.2
    assert {"NumPy, scores alone", "step_seconds"} <= set(case["notes"])
    command[0] = "sampling (15, 10, 5)"
    assert main([*command, "--trials", "1", "--out", str(path)]) == 0
    (case,) = cases(path)
    assert case["notes"]["least share"] == 0.75
    assert case["notes"]["link's requests a second"] > 0


def test_a_call_of_this_package_that_a_goal_refers_to_is_run_in_turns(tmp_path: Path) -> None:
    peers = Peer("one", lambda _: time.sleep(0.02), ours=True), Peer("another", lambda _: 1, "no_such_module")
    row = _row("row", lambda _: time.sleep(0.01) or 1, goals={HOST: Goal(1.0, "of peer")}, peers=peers)
    case = _cases(tmp_path, row, trials=3)["row"]
    found, ratios = case["notes"], case["series"]["ratios"]
    assert len(ratios) == len(case["series"]["processor"]) == 3
    assert found["figure"] == sorted(ratios)[1] < 0.9
    assert found["another, left out"] == "no_such_module is not installed"


def test_unknown_rows_and_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense", "--engine", "cpu"])
    assert "begins the name of no row" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["walks", "--part", "0"])
    assert "--part is 0; at least 1 is needed" in capsys.readouterr().err
