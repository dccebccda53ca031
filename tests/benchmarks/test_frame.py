"""The frame of the benchmarks: statistics, sources, trials, result files, tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import facts
from benchmarks.harness.frame import Case, Report, Rules, Trial, load, measure, number, pick_sources, table
from benchmarks.harness.summary import summary
from benchmarks.verify.answers import Undecided, Wrong


def test_summary_is_least_median_most() -> None:
    assert summary([5.0, 1.0, 3.0]) == (1.0, 3.0, 5.0)
    assert summary([4.0, 1.0, 2.0, 3.0]) == (1.0, 2.5, 4.0)
    assert summary([7.0]) == (7.0, 7.0, 7.0)


def test_a_case_derives_rates_from_its_trials() -> None:
    case = Case("x", trials=[Trial(0, 0.2, 2000), Trial(1, 0.1, 2000), Trial(2, 0.4, 2000)], parts=2, rate=40000.0)
    assert case.seconds == pytest.approx((0.05, 0.1, 0.2))
    assert case.nbytes == 1000
    assert case.bytes_per_second == pytest.approx(10000)
    assert case.share == pytest.approx(0.25)
    assert case.figure("ms") == pytest.approx(100)
    assert case.figure("GB/s") == pytest.approx(1e-5)


def test_a_case_is_named_by_what_it_is_about() -> None:
    assert Case("bfs", {"graph": "kron:24", "placement": "device"}).label == "kron:24 device bfs"
    assert Case("random 32 B", {"pages": "pinned", "working_set": 1 << 30}).label == "random 32 B (pinned, 1024 MiB)"


def test_sources_are_fixed_distinct_and_never_isolated() -> None:
    degree = np.random.default_rng(1).integers(0, 3, 500)
    sources = pick_sources(degree, 64)
    assert sources == pick_sources(degree, 64) != pick_sources(degree, 64, seed=2)
    assert len(set(sources)) == 64
    assert (degree[sources] > 0).all()


def test_fewer_candidates_than_sources_repeat_and_none_is_an_error() -> None:
    assert pick_sources(np.array([0, 0, 3]), 4) == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="no edges"):
        pick_sources(np.zeros(5, int), 1)


def test_measure_times_each_input_and_judges_the_first_call() -> None:
    calls: list[int] = []
    judged: list[tuple[int, int]] = []

    def call(given: int) -> int:
        calls.append(given)
        return 10 * given

    case = measure(
        Case("x"), call, (1, 2), trials=3, nbytes=lambda _, answer: answer,
        verify=lambda given, answer: judged.append((given, answer)),
    )  # fmt: skip
    assert calls == [1, 1, 1, 1, 2, 2, 2]
    assert judged == [(1, 10)]
    assert [(trial.input, trial.nbytes) for trial in case.trials] == [(1, 10)] * 3 + [(2, 20)] * 3
    assert case.verified == "yes"
    assert case.first_seconds > 0
    assert all(trial.seconds > 0 for trial in case.trials)


@pytest.mark.parametrize(("error", "word"), [(Wrong("here"), "WRONG: here"), (Undecided("so"), "undecided: so")])
def test_measure_says_what_the_judge_says(error: Exception, word: str) -> None:
    def verify(given: int, _answer: None) -> None:
        if given == 2:
            raise error

    arguments = {"trials": 1, "nbytes": lambda *_: 0, "verify": verify}
    assert measure(Case("x"), lambda _: None, (1, 2), **arguments).verified == "yes"
    assert measure(Case("x"), lambda _: None, (1, 2), **arguments, rules=Rules(verify_all=True)).verified == word


def test_a_report_survives_a_failing_part_and_its_file_reads_back(tmp_path: Path) -> None:
    report = Report("test", "ms", tmp_path / "deep" / "r.json")
    report.rates["host"] = 5.0
    report.add(Case("good", {"graph": "g"}, [Trial(3, 0.5, 100)], verified="yes", rate=5.0))
    assert report.ok
    with report.part("bad"):
        raise RuntimeError("broke")
    assert not report.ok
    content = json.loads(report.path.read_text())
    assert content["failures"][0]["error"] == "RuntimeError: broke"
    assert content["cases"][0]["derived"]["median"] == 0.5
    assert {"command", "commit", "python", "versions", "gpu", "cores"} <= set(content["machine"])
    assert "numpy" in content["machine"]["versions"]
    assert load(report.path).as_dict() == report.as_dict()
    assert [path.name for path in report.path.parent.iterdir()] == ["r.json"]


def test_a_wrong_answer_makes_the_report_not_ok(tmp_path: Path) -> None:
    report = Report("test", "ms", tmp_path / "r.json")
    report.add(Case("x", trials=[Trial(None, 1.0, 1)], verified="undecided: too deep"))
    assert report.ok
    report.add(Case("x", trials=[Trial(None, 1.0, 1)], verified="WRONG: at 3"))
    assert not report.ok


def test_a_verifier_that_breaks_does_not_lose_the_times(tmp_path: Path) -> None:
    def broken(_given: None, _answer: None) -> None:
        raise TypeError("no such index")

    report = Report("test", "ms", tmp_path / "r.json")
    report.add(measure(Case("x"), lambda _: None, trials=2, nbytes=lambda *_: 1, verify=broken))
    assert report.cases[0].verified == "BROKEN VERIFIER: TypeError: no such index"
    assert len(report.cases[0].trials) == 2
    assert not report.ok


def test_ctrl_c_ends_the_run(tmp_path: Path) -> None:
    report = Report("test", "ms", tmp_path / "r.json")
    with pytest.raises(KeyboardInterrupt), report.part("any"):
        raise KeyboardInterrupt


def test_numbers_and_tables_read_well() -> None:
    assert [number(x) for x in (None, 0.0123, 0.5, 55.34, 123.4, 98765.4)] == [
        "-",
        "0.0123",
        "0.500",
        "55.3",
        "123",
        "98765",
    ]
    assert table(("name", "ms"), [("a", "10"), ("long name", "7")]).splitlines() == [
        "name       ms", "---------  --", "a          10", "long name   7",
    ]  # fmt: skip


def test_peers_and_goals() -> None:
    assert facts.peer("kron:24:16?seed=1", "bfs", "device") == ("EMOGI in HBM", 39, 39)
    assert facts.peer("kron:23", "bfs", "device") is None
    assert facts.goal("kron:24", "bfs", "device") == (13.0, None)
    assert facts.goal("urand:24", "spmv plus_times", "zerocopy") == (None, 0.85)
    assert facts.goal("urand:24", "cc", "zerocopy") == (104, None)
    assert facts.goal("urand:24", "bfs", "device") is None
    assert facts.goal("kron:20", "spmv plus_times", "zerocopy") is None
