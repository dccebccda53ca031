"""The other benchmarks run from end to end: on the CPU engine, and with their kernels on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from benchmarks import all as session
from benchmarks import compressed, converting, opening, overhead
from benchmarks.harness import copyrate, frame
from benchmarks.harness.frame import Case, Report, Trial
from benchmarks.harness.plot import plot
from benchmarks.micro import link
from benchmarks.micro.hashed_graph import WRITERS, Scattered, Spool
from benchmarks.verify.answers import Wrong
from tests.benchmarks.runs import SMALL, cases, emulated
from tests.emulator import resources
from tests.emulator.device import EmulatedDevice, why_unavailable

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
    """Each access pattern of the link benchmark makes requests of the size in its name, as the emulator counts them."""
    lines = 2048
    memory = device.pages(128 * (lines + 1), "pinned")
    link.fill(memory.array)
    bench = link.Bench(device, Report("link", "GB/s", tmp_path / "r.json"), link.Sizes())

    def requests(name: str, count: int, offset: int = 0, lane: int = 4, size: int = 128) -> dict[int, int]:
        counted = {"stream": "count", "strided": "lines", "random_requests": "requests"}[name]
        given = {counted: count, "words": memory.pointer + offset, "sums": bench.sums}
        more = {"mask": lines * 128 // size - 1} if name == "random_requests" else {}
        bench.kernel(name, lane, size).launch(1, **given, **more)
        return {size: found for size, found in device.requests(0).by_size.items() if found}

    for lane in link.WORDS:
        assert requests("stream", 64 * 128 // lane, lane=lane) == {128: 64}
    assert requests("stream", 32 * 64, offset=32) == {96: 64, 32: 64}
    assert requests("strided", 64) == {32: 32 * 64}
    assert requests("random_requests", 256, size=128) == {128: 256}
    for size in (32, 64):  # now and then two of a warp's requests fall into one line
        assert requests("random_requests", 256, size=size)[size] > 240


@emulated
@pytest.mark.parametrize("device", ["reverse", "random"], indirect=True)
def test_a_wrong_count_of_words_is_seen(device: EmulatedDevice, tmp_path: Path) -> None:
    report = Report("link", "GB/s", tmp_path / "r.json")
    bench = link.Bench(device, report, link.Sizes(stream=4096, trials=1))
    pages = device.pages(4096, "pinned")
    link.fill(pages.array)
    arguments = {"count": 1024, "words": pages.pointer}
    assert bench.run("x", 4096, bench.kernel("stream"), arguments, pages="pinned").verified == "yes"
    pages.array.view(np.uint32)[5] = 7
    case = bench.run("x", 4096, bench.kernel("stream"), arguments, pages="pinned")
    assert case.verified == "WRONG: the sum of 1,024 words of 1 is 1,030"


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
        def pages(self, nbytes: int, kind: str, wait: bool = True) -> None:
            raise AssertionError(f"{nbytes} bytes of {kind} memory")

    with pytest.raises(ValueError, match="at most"), link.held(Refusing(), link.MOST_MANAGED + 1, "managed"):
        pass


def test_link_without_a_gpu_says_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(link.cuda, "reason", lambda: "no GPU: none was built in")
    assert link.main([]) == 2
    assert "none was built in" in capsys.readouterr().out


# The rest


def test_copy_rates_are_positive(request: pytest.FixtureRequest) -> None:
    assert copyrate.copy_rate("host", 1 << 20) > 0
    if why_unavailable() is None:
        request.getfixturevalue("device")
        assert copyrate.copy_rate("zerocopy", 1 << 20) > 0
        assert copyrate.copy_rate("device", 1 << 20) > 0


def test_overhead_compares_equal_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "o.json"
    code = overhead.main(
        ["--graph", "kron:8", "--repeats", "3", "--edges", "2000", "--starts", "1", "--out", str(path)]
    )
    content = json.loads(path.read_text())
    assert content["failures"] == []
    assert [case["name"] for case in content["cases"]] == [
        "mxv plus_times", "mxv of A'", "vxm any_pair, ~mask", "bfs", "sparsezc bfs, 2,000 edges, cold",
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


# opening


@emulated
def test_opening_a_file_on_the_emulated_device(
    tmp_path: Path, device: EmulatedDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    path = tmp_path / "opening.json"
    assert opening.main(["kron:12", "--trials", "1", "--folder", str(tmp_path), "--out", str(path)]) == 0
    found = cases(path)
    assert {case["setting"]["placement"] for case in found} == {"mapped", "zerocopy", "device"}
    assert len(found) == 9
    assert all(case["verified"] == "yes" for case in found)
    assert capsys.readouterr().out.count("kept") == 2
    assert {each.stem for each in tmp_path.iterdir()} == {"opening"}  # and with matplotlib a chart


# converting


def test_converting_under_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    monkeypatch.setattr(converting, "_COPIED", 1 << 24)
    path = tmp_path / "converting.json"
    options = ["--scale", "10", "--formats", "txt,mtx.gz", "--folder", str(tmp_path), "--out", str(path)]
    assert converting.main(options) == 0
    found = cases(path)
    assert [case["name"] for case in found] == ["txt", "mtx.gz"]
    assert all(case["verified"] == "yes" for case in found)
    assert all(0 < case["series"]["peak_bytes"][0] <= case["setting"]["limit"] for case in found)
    assert capsys.readouterr().out.count("kept") == 2
    assert {each.stem for each in tmp_path.iterdir()} == {"converting"}
    with pytest.raises(SystemExit):
        converting.main(["--formats", "doc"])


def test_a_conversion_that_needs_more_than_the_limit_fails(tmp_path: Path) -> None:
    WRITERS["txt"](Spool.of(Scattered(12), tmp_path), tmp_path / "a.txt")
    with pytest.raises(RuntimeError, match="it ended with 1: sparsezc: "):
        converting.convert(tmp_path / "a.txt", tmp_path / "b.h5", 70_000_000, "--memory", "8GB")


def test_another_graph_is_found_out(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    graph, path = Scattered(8), tmp_path / "a.h5"
    WRITERS["npz"](Spool.of(graph, tmp_path), tmp_path / "a.npz")
    gb.io.convert(tmp_path / "a.npz", path)
    converting.check(graph, path)
    for name in ("values", "indices_1", "pointers_to_1"):
        with h5py.File(path, "r+") as file:
            file[name][7] += 1
        with pytest.raises(Wrong, match="of the rows 0 to 255 differ from the graph's"):
            converting.check(graph, path)
        with h5py.File(path, "r+") as file:
            file[name][7] -= 1
    with pytest.raises(Wrong, match="the file holds CSR of"):
        converting.check(Scattered(9), path)


@pytest.mark.parametrize("kind", WRITERS)
def test_files_of_a_scattered_graph(tmp_path: Path, kind: str) -> None:
    pytest.importorskip({"h5": "h5py", "parquet": "pyarrow"}.get(kind, "numpy"), reason="not installed")
    graph = Scattered(9)
    spool = Spool.of(graph, tmp_path)
    WRITERS[kind](spool, tmp_path / f"a.{kind}")
    rows, cols, values = gb.io.read(tmp_path / f"a.{kind}").to_coo()
    for found, expected in zip((rows, cols, values), graph.rows(0, graph.n), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert spool.nvals == rows.size
    assert not (np.diff(next(spool.pieces())[0].astype(np.int64)) >= 0).all()


# compressed


@emulated
def test_compressed_ids_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "compressed.json"
    options = ["--trials", "1", "--placement", "zerocopy", "--orders", "reverse_cuthill_mckee", "--out", str(path)]
    assert compressed.main(["kron:9", *options]) == 0
    found = cases(path)
    assert [case["name"] for case in found] == ["mxv", "pagerank", "bfs"] * 4
    assert all(case["verified"] == "yes" for case in found)
    bits = {case["setting"]["ids"]: case["setting"]["bits"] for case in found}
    assert bits["degree"] < bits["natural"] < bits["plain"] == bits["plain, reverse_cuthill_mckee"] == 32
