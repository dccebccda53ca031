"""The benchmarks run from end to end: on the CPU engine, and with their kernels on the emulated device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc.device
from benchmarks import all as session
from benchmarks import copyrate, frame, gap, link, overhead, verify_triangles
from benchmarks.frame import Case, Report, Trial
from benchmarks.gap_kernels import KERNELS, selected
from benchmarks.plot import plot
from tests.emulator import resources
from tests.emulator.device import EmulatedDevice, why_unavailable

emulated = pytest.mark.skipif(why_unavailable() is not None, reason=str(why_unavailable()))


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[EmulatedDevice]:
    """The emulated device in the GPU's place; in lockstep and counting where a test asks for that."""
    order = getattr(request, "param", "forward")
    made = EmulatedDevice(order, counting=order == "lockstep", multiprocessors=1)
    before = sparsezc.device.use(made)
    yield made
    sparsezc.device.use(before)


def cases(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found


# gap


SMALL = ("--trials", "2", "--sources", "2", "--iterations", "4", "--copy-mib", "1")


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


def test_bytes_count_ids_and_values_of_the_rows_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gap.json"
    gap.main(["star:9", "--engine", "cpu", *SMALL, "--out", str(path)])
    nbytes = {case["name"]: case["derived"]["nbytes"] for case in cases(path)}
    ids = 8 * 16  # 8 edges in both directions; the CPU engine has ids of 8 bytes
    assert nbytes == {
        "bfs": ids, "sssp": ids + 16, "cc": ids, "pagerank": ids, "spmv plus_second": ids, "spmv plus_times": ids + 64,
        "tc": ids / 2,  # each edge from one of its ends
        "bc": 4 * (ids + 64),  # from four leaves: all rows on the way out, the middle's on the way back
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
    assert gap.name_of("other=x.mtx") == ("other=x.mtx", "other=x.mtx")  # a file's name may hold the sign


def test_triangles_of_a_large_graph_are_verified_on_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_triangles, "LARGE", 100)
    monkeypatch.setattr(verify_triangles, "SAMPLE", 80)
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
    assert "a part of it has" in cases(path)[0]["verified"]


def test_a_file_keeps_its_own_lengths_if_asked(tmp_path: Path) -> None:
    file, path = tmp_path / "g.mtx", tmp_path / "gap.json"
    file.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 2.25\n")
    options = ["--kernels", "sssp,spmv", "--weights", "file", "--engine", "cpu", "--copy-mib", "1"]
    assert gap.main([str(file), *options, "--out", str(path)]) == 0
    assert [case["verified"] for case in cases(path)] == ["yes"] * 3


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


# link


LINK = ("--stream-mib", "1", "--working-mib", "1,2", "--requests", "1000", "--trials", "1")


@emulated
def test_link_on_the_emulated_device(
    tmp_path: Path, device: EmulatedDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "link.json"
    assert link.main([*LINK, "--out", str(path)]) == 0
    found = cases(path)
    assert all(case["verified"] == "yes" for case in found)
    names = {case["name"] for case in found}
    assert names >= set(link.facts.LINK_GBS) - {"first touch, managed ReadMostly"}
    assert {f"random {size} B" for size in (32, 64, 128)} <= names
    assert {case["setting"]["pages"] for case in found} == {"pinned", "managed"}
    assert "M req/s" in capsys.readouterr().out


@emulated
@pytest.mark.parametrize("device", ["lockstep"], indirect=True)
def test_each_pattern_makes_the_requests_that_it_is_named_for(device: EmulatedDevice, tmp_path: Path) -> None:
    """Counted under the emulator: what the figures of the link are figures of."""
    lines = 2048
    memory = device.pages(128 * (lines + 1), "pinned")
    link.fill(memory.array)
    bench = link.Bench(device, Report("link", "GB/s", tmp_path / "r.json"), link.Sizes())

    def requests(name: str, count: int, offset: int = 0, lane: int = 4, size: int = 128) -> dict[int, int]:
        kernel, pointer = bench.kernel(name, lane, size), np.uint64(memory.pointer + offset)
        middle = (np.uint64(lines * 128 // size - 1),) if name == "random_requests" else ()
        kernel(1, 256, (np.uint64(count), *middle, pointer, bench.sums))
        return {size: found for size, found in device.requests(0).by_size.items() if found}

    for lane in link.WORDS:
        assert requests("stream", 64 * 128 // lane, lane=lane) == {128: 64}
    assert requests("stream", 32 * 64, offset=32) == {96: 64, 32: 64}
    assert requests("strided", 64) == {32: 32 * 64}
    assert requests("random_requests", 256, size=128) == {128: 256}
    for size in (32, 64):  # now and then two of a warp's requests lie in one line
        assert requests("random_requests", 256, size=size)[size] > 240


@emulated
@pytest.mark.parametrize("device", ["reverse", "random"], indirect=True)
def test_a_wrong_count_of_words_is_seen(device: EmulatedDevice, tmp_path: Path) -> None:
    report = Report("link", "GB/s", tmp_path / "r.json")
    bench = link.Bench(device, report, link.Sizes(stream=4096, trials=1))
    pages = device.pages(4096, "pinned")
    link.fill(pages.array)
    arguments = (np.uint64(1024), np.uint64(pages.pointer))
    assert bench.run("x", 4096, bench.kernel("stream"), arguments, pages="pinned").verified == "yes"
    pages.array.view(np.uint32)[5] = 7
    case = bench.run("x", 4096, bench.kernel("stream"), arguments, pages="pinned")
    assert case.verified == "WRONG: 1,024 words should have been read once each, and the sum is 1,030"


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_link_kernels_compile_for_gpus_without_spills(tmp_path: Path) -> None:
    found = [("stream", lane, 128) for lane in link.WORDS] + [("strided", 4, 128)]
    found += [("random_requests", 4, size) for size in (32, 64, 128)]
    texts = [(f"{name}-{lane}-{size}", link.source(lane, size), name) for name, lane, size in found]
    usage = resources.measure(texts, (80, 90), tmp_path / "cache")
    assert len(usage) == 2 * len(texts)
    assert all(each.spills == 0 and each.stack == 0 and each.registers <= 32 for each in usage.values())


def test_more_managed_memory_than_is_safe_is_never_made(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def pages(self, nbytes: int, kind: str) -> None:
            raise AssertionError(f"{nbytes} bytes of {kind} memory")

    with pytest.raises(ValueError, match="at most"), link.held(Refusing(), link.MOST_MANAGED + 1, "managed"):
        pass


def test_link_without_a_gpu_says_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(link.device, "reason", lambda: "no GPU: none was built in")
    assert link.main([]) == 2
    assert "none was built in" in capsys.readouterr().out


# The rest


def test_copy_rates_are_positive(request: pytest.FixtureRequest) -> None:
    assert copyrate.of("host", 1 << 20) > 0
    if why_unavailable() is None:
        request.getfixturevalue("device")
        assert copyrate.of("zerocopy", 1 << 20) > 0
        assert copyrate.of("device", 1 << 20) > 0


def test_overhead_compares_equal_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "o.json"
    code = overhead.main(
        ["--graph", "kron:8", "--repeats", "3", "--edges", "2000", "--starts", "1", "--out", str(path)]
    )
    content = json.loads(path.read_text())
    assert content["failures"] == []
    assert [case["name"] for case in content["cases"]] == [
        "mxv plus_times", "vxm any_pair, ~mask", "bfs", "sparsezc bfs, 2,000 edges, cold",
    ]  # fmt: skip
    kept = [case["notes"]["within_limit"] for case in content["cases"]]
    assert code == (0 if all(kept) else 1)
    assert ("BROKEN" in capsys.readouterr().out) == (not all(kept))


def test_overhead_refuses_to_compare_different_answers() -> None:
    one, two = (overhead.gb.Vector.from_coo([1], [value], size=3) for value in (1.0, 2.0))
    with pytest.raises(AssertionError, match="different answers"):
        overhead.compare(overhead.Pair("x", lambda: one, lambda: two, lambda: 1), 1)


def test_a_session_survives_parts_that_fail_or_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = [
        session.Part("cpu", "gap", ("kron:5", "--engine", "cpu", "--kernels", "cc", *SMALL)),
        session.Part("broken", "gap", ("kron:5", "--kernels", "none")),
    ]
    monkeypatch.setattr(session, "parts", lambda _options: list(plan))
    assert session.main(["--out", str(tmp_path), "--budget-seconds", "600"]) == 1
    text = (tmp_path / "summary.txt").read_text()
    assert "kron:5" in text
    assert "ended with exit code 2" in text
    assert session.run(plan[0], tmp_path, 0.05).startswith("stopped after 0 s")
    assert session.main(["--out", str(tmp_path), "--budget-seconds", "0"]) == 1
    assert (tmp_path / "summary.txt").read_text().count("no time was left") == 2


def test_a_session_s_parts() -> None:
    options = session.argparse.Namespace(
        skip_link=False, link_options="--trials 3", gap_options="", scale=24, placement="zerocopy,device"
    )
    assert [part.name for part in session.parts(options)] == [
        "link", "gap-kron-24-zerocopy", "gap-urand-24-zerocopy", "gap-kron-24-device", "gap-urand-24-device",
    ]  # fmt: skip
    assert session.parts(options)[0].arguments == ("--trials", "3")
    assert session.parts(options)[4].arguments == ("urand:24", "--engine", "gpu", "--placement", "device")


@pytest.mark.parametrize("unit", ["ms", "GB/s"])
def test_a_plot_is_drawn_where_matplotlib_is(unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = frame.Report("test", unit, tmp_path / "r.json")
    report.cases = [
        Case("a", {"graph": "g"}, [Trial(0, 0.1, 10**9), Trial(0, 0.3, 10**9)], reference=5.0),
        Case("b", {}, [Trial(0, 0.2, 10**8)]),
    ]
    path = plot(report)
    if path is None:
        assert "matplotlib is not installed" in capsys.readouterr().out
    else:
        assert path.read_bytes().startswith(b"\x89PNG")
