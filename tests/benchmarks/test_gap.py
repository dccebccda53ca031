"""`benchmarks.gap` runs from end to end: on the CPU engine, and with its kernels on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import gap
from benchmarks.harness.frame import Case, Trial
from benchmarks.suites.gap_kernels import KERNELS, selected
from benchmarks.verify import triangles
from sparsezc.memory import budget
from tests.benchmarks.runs import SMALL, cases, emulated
from tests.emulator.device import EmulatedDevice


def test_gap_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gap.json"
    assert gap.main(["kron:7", "urand:7", "--engine", "cpu", *SMALL, "--verify", "all", "--out", str(path)]) == 0
    found = cases(path)
    assert [case["name"] for case in found] == 2 * list(KERNELS)
    assert all(case["verified"] == "yes" for case in found)
    assert [len(case["trials"]) for case in found[:3]] == [4, 4, 2]
    assert [len(case["trials"]) for case in found[6:8]] == [2, 2]
    text = capsys.readouterr().out
    assert "pagerank / iteration" in text
    assert str(path) in text


@emulated
def test_gap_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "gap.json"
    assert gap.main(["kron:6", "--engine", "gpu", *SMALL, "--out", str(path)]) == 0
    found = cases(path)
    assert [(case["setting"]["placement"], case["name"]) for case in found] == [
        (placement, name) for placement in ("zerocopy", "device") for name in KERNELS
    ]
    assert all(case["verified"] == "yes" and case["derived"]["share_of_copy_rate"] > 0 for case in found)
    assert "mxv" in device.launches


@emulated
def test_gap_in_a_placement_that_moves_entries(
    tmp_path: Path, device: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "LONG", 64)  # so that two buffers fit so small a graph
    path = tmp_path / "gap.json"
    options = ["--engine", "gpu", "--placement", "stream,hybrid", "--kernels", "pagerank", *SMALL, "--out", str(path)]
    assert gap.main(["kron:7", *options]) == 0
    found = {case["setting"]["placement"]: case for case in cases(path)}
    assert list(found) == ["stream", "hybrid"]
    assert all(case["verified"] == "yes" and case["derived"]["share_of_copy_rate"] > 0 for case in found.values())


def test_bytes_count_ids_and_values_of_the_rows_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gap.json"
    gap.main(["star:9", "--engine", "cpu", *SMALL, "--out", str(path)])
    nbytes = {case["name"]: case["derived"]["nbytes"] for case in cases(path)}
    ids = 8 * 16  # 8 edges in both directions; the CPU engine has ids of 8 bytes
    assert nbytes == {
        "bfs": ids, "sssp": ids + 16, "cc": ids, "pagerank": ids, "pagerank32": ids, "spmv plus_second": ids,
        "spmv plus_times": ids + 64,
        "tc": ids / 2,  # each edge is read from one of its ends
        # From a leaf: all rows on the way out, the hub's on the way back. The hub is twice among the 16 drawn sources.
        "bc": 4 * (ids + 64), "bc1": ids + 64, "bc16": 14 * (ids + 64) + 2 * ids,
        "bfs64": 64 * ids, "bfs_parents": ids,
    }  # fmt: skip


def test_gap_s_own_rules(tmp_path: Path) -> None:
    file, path = tmp_path / "usa.mtx", tmp_path / "gap.json"
    file.write_text("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 300\n3 2 400\n")
    options = ["--rules", "gap", "--engine", "cpu", "--copy-mib", "1", "--verify", "all", "--out", str(path)]
    assert gap.main(["kron:6", f"road={file}", *options]) == 0
    found = cases(path)
    assert [(case["setting"]["graph"], case["name"]) for case in found] == [
        (graph, name) for graph in ("kron:6", "road") for name in ("bfs", "sssp", "cc", "pagerank", "tc", "bc")
    ]
    assert [len(case["trials"]) for case in found] == 2 * [64, 64, 16, 16, 3, 16]
    assert all(case["verified"] == "yes" and case["setting"]["rules"] == "gap" for case in found)
    assert [len(trial["input"]) for trial in found[5]["trials"]] == 16 * [4]
    assert len({tuple(trial["input"]) for trial in found[5]["trials"]}) > 1
    pagerank = found[3]
    ids = 8 * pagerank["setting"]["nvals"]
    assert pagerank["trials"][0]["nbytes"] == pagerank["notes"]["iterations"] * ids


def test_gap_s_rules_decide_lengths_and_the_end_of_pagerank() -> None:
    options = gap.parse(["kron:5", "--rules", "gap"])
    assert [gap.lengths(name, options) for name in ("kron:5", "road")] == ["hash:1-255", "file"]
    assert options.iterations is None
    options = gap.parse(["kron:5"])
    assert [gap.lengths(name, options) for name in ("kron:5", "road")] == ["hash:8-72", "hash:8-72"]
    assert options.iterations == 20
    assert gap.lengths("road", gap.parse(["kron:5", "--rules", "gap", "--weights", "hash:1-9"])) == "hash:1-9"
    assert gap.name_of("other=x.mtx") == ("other=x.mtx", "other=x.mtx")  # a file's name may contain the sign =


def test_triangles_of_a_large_graph_are_verified_on_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangles, "LARGE", 100)
    monkeypatch.setattr(triangles, "SAMPLE", 80)
    path = tmp_path / "gap.json"
    options = ["--engine", "cpu", "--kernels", "tc", *SMALL, "--out", str(path)]
    assert gap.main(["kron:8", *options]) == 0
    (case,) = cases(path)
    assert case["verified"] == "yes"
    assert "sample of at most 80 vertices" in case["notes"]["verified_on"]
    right = gap.gb.algorithms.triangle_count
    monkeypatch.setattr(gap.gb.algorithms, "triangle_count", lambda A: right(A) - (A.nrows < 256))
    assert gap.main(["kron:8", *options]) == 1
    monkeypatch.setattr(gap.gb.algorithms, "triangle_count", lambda A: right(A) if A.nrows < 256 else 0)
    assert gap.main(["kron:8", *options]) == 1
    assert "a part of the graph has" in cases(path)[0]["verified"]


def test_a_file_keeps_its_own_lengths_if_asked(tmp_path: Path) -> None:
    file, path = tmp_path / "g.mtx", tmp_path / "gap.json"
    file.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 2.25\n")
    options = ["--kernels", "sssp,spmv", "--weights", "file", "--engine", "cpu", "--copy-mib", "1"]
    assert gap.main([str(file), *options, "--out", str(path)]) == 0
    assert [case["verified"] for case in cases(path)] == ["yes"] * 3


def test_a_file_whose_ids_lie_far_apart_is_relabelled_if_asked(tmp_path: Path) -> None:
    file, path = tmp_path / "g.el", tmp_path / "gap.json"
    file.write_text("3 900000000\n900000000 70\n70 3\n")
    options = ["--relabel", "--engine", "cpu", *SMALL, "--out", str(path)]
    assert gap.main([f"twitter={file}", *options]) == 0
    assert {case["setting"]["nrows"] for case in cases(path)} == {3}
    assert [case["verified"] for case in cases(path)] == ["yes"] * len(KERNELS)


def test_a_graph_that_cannot_be_read_does_not_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gap.json"
    options = ["--engine", "cpu", "--kernels", "cc", *SMALL, "--out", str(path)]
    assert gap.main([str(tmp_path / "none.mtx"), "kron:5", *options]) == 1
    assert [case["name"] for case in cases(path)] == ["cc"]
    assert "none.mtx" in json.loads(path.read_text())["failures"][0]["error"]
    assert "!!" in capsys.readouterr().out


def test_a_wrong_answer_is_reported_and_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = gap.gb.algorithms.bfs

    def wrong(A: object, source: int) -> object:
        level = right(A, source)
        level[source] = 1
        return level

    monkeypatch.setattr(gap.gb.algorithms, "bfs", wrong)
    path = tmp_path / "gap.json"
    assert gap.main(["kron:5", "--engine", "cpu", "--kernels", "bfs", *SMALL, "--out", str(path)]) == 1
    assert cases(path)[0]["verified"].startswith("WRONG: level 0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kron:5", "--kernels", "bfz"], "'bfz' is not known"),
        (["kron:5", "--placement", "host"], "'host' is none of"),
        (["kron:5", "--trials", "0"], "at least 1"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        gap.main(arguments)
    assert message in capsys.readouterr().err


def test_kernels_are_chosen_by_name() -> None:
    assert selected("spmv,bfs") == ["spmv plus_second", "spmv plus_times", "bfs"]
    assert selected("cc,spmv plus_times,cc") == ["cc", "spmv plus_times"]


def test_goals_in_the_table() -> None:
    def bfs(seconds: float) -> Case:
        return Case("bfs", {"graph": "kron:24", "placement": "device"}, [Trial(0, seconds, 1)], reference=39)

    assert gap.goal_text(bfs(0.012)) == "met (<= 13.0 ms)"
    assert gap.goal_text(bfs(0.014)) == "MISSED (<= 13.0 ms)"
    mxv = Case("spmv plus_times", {"graph": "urand:24", "placement": "zerocopy"}, [Trial(None, 1.0, 86)], rate=100.0)
    assert gap.goal_text(mxv) == "met (>= 0.85 of copy)"
