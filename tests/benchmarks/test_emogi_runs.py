"""`benchmarks.emogi` runs from end to end on the emulated device and reports the requests that the emulator counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from benchmarks.emogi import __main__ as emogi
from benchmarks.emogi.statements import Statements
from benchmarks.emogi.uvm import why_no_pages_migrate
from benchmarks.emogi.variants import UNREACHED, Count, Edges, Variant, source
from benchmarks.harness.frame import Case, Trial
from benchmarks.model.emogi import PATTERNS
from tests.benchmarks.runs import cases, emulated
from tests.emulator import resources
from tests.emulator.device import EmulatedDevice

SMALL = ("--sources", "2", "--counted", "1", "--trials", "1", "--copy-mib", "1")


@emulated
def test_emogi_on_the_emulated_device(
    tmp_path: Path, device: EmulatedDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.json"
    assert emogi.main(["kron:5", "grid:4x4", *SMALL, "--out", str(path)]) == 0
    found = cases(path)
    variants = [*PATTERNS, "sparsezc"]
    expected = [(name, variant) for name in emogi.ALGORITHMS for variant in variants]
    assert [(case["name"], case["setting"]["variant"]) for case in found] == 2 * expected
    assert all(case["verified"] == "yes" for case in found)
    theirs = [case for case in found if case["setting"]["variant"] != "sparsezc"]
    assert all(case["requests"] > 0 and case["notes"]["amplification"] > 0 for case in theirs)
    text = capsys.readouterr().out
    assert emogi.main(["--again", str(path), "--out", str(tmp_path / "again.json")]) == 0
    assert capsys.readouterr().out.startswith(text[text.index("graph   ") : text.index("written:")])
    assert "this device has no pages that migrate" in text
    assert "section 5.3.4, figure 10" in text


@emulated
def test_ids_of_eight_bytes_take_twice_the_bytes(tmp_path: Path, device: EmulatedDevice) -> None:
    moved = {}
    for width in ("4", "8"):
        path = tmp_path / f"{width}.json"
        options = ["--variants", "aligned,sparsezc", "--algorithms", "bfs", "--id-bytes", width]
        assert emogi.main(["urand:7", *SMALL, *options, "--out", str(path)]) == 0
        moved[width] = [case["derived"]["nbytes"] for case in cases(path)]
    assert moved["8"][0] == pytest.approx(2 * moved["4"][0], rel=0.15)


@emulated
@pytest.mark.parametrize("device", ["lockstep"], indirect=True)
def test_sizes_and_requests_are_means_of_the_same_sources(tmp_path: Path, device: EmulatedDevice) -> None:
    """Searches of large and of small components differ in bytes, so means must be taken over the same sources."""
    file, path = tmp_path / "g.mtx", tmp_path / "e.json"
    members = [range(1, 61), *(range(k, k + 12) for k in range(61, 181, 12))]
    edges = [(i, j) for part in members for i in part for j in part if i < j]
    text = "".join(f"{j} {i}\n" for i, j in edges)
    file.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n180 180 {len(edges)}\n{text}")
    options = ["--variants", "sparsezc", "--algorithms", "bfs", "--sources", "6", "--counted", "6", "--copy-mib", "1"]
    assert emogi.main([str(file), *options, "--out", str(path)]) == 0
    (case,) = cases(path)
    assert len(case["trials"]) == case["notes"]["counted_sources"] == 6
    assert len({trial["nbytes"] for trial in case["trials"]}) > 1
    assert sum(case["notes"]["by_size"].values()) == pytest.approx(case["requests"], rel=0.1)


def test_of_pages_that_migrate_only_the_least_is_told() -> None:
    setting = {"graph": "g", "variant": "uvm"}
    case = Case("bfs", setting, [Trial(0, 0.5, 10**9)], verified="yes", rate=4e9)
    case.notes = {"edge_list_bytes": 10**9, "mean_seconds": 0.5, "amplification": 1.0}
    assert dict(zip(emogi.HEADER, emogi.row(case, [case]), strict=True)) == {
        "graph": "g", "algorithm": "bfs", "variant": "uvm", "calls": "1", "mean ms": "500", "min": "500", "max": "500",
        "over UVM": "1.00", "rounds": "-", "counted": "-", "M req": "-", "32": "-", "64": "-", "96": "-", "128": "-",
        "GB": ">= 1.00", "GB/s": ">= 2.00", "of copy": ">= 0.500", "amplification": ">= 1.00", "ok": "yes",
    }  # fmt: skip
    (line,) = [line for line in emogi.beside_the_paper([case]).splitlines() if "figure 10" in line]
    assert line.endswith(">= 1.00")


@emulated
def test_a_variant_that_takes_long_gets_fewer_sources(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "e.json"
    options = ["--variants", "aligned,sparsezc", "--algorithms", "sssp", "--seconds", "60,sssp=0", "--out", str(path)]
    assert emogi.main(["urand:6", *SMALL, *options]) == 0
    assert [len(case["trials"]) for case in cases(path)] == [1, 1]
    assert emogi.parse(["urand:6", "--seconds", "9,uvm=4"]).seconds == {"": 9.0, "uvm": 4.0}
    with pytest.raises(SystemExit):
        emogi.parse(["urand:6", "--seconds", "9,vmu=4"])
    assert emogi.main(["urand:6", *SMALL, "--most-seconds", "-1", "--out", str(path)]) == 0
    assert cases(path) == []


@emulated
def test_components_of_a_directed_graph_are_left_out(
    tmp_path: Path, device: EmulatedDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = tmp_path / "g.mtx", tmp_path / "e.json"
    file.write_text("%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n2 3\n3 1\n")
    assert emogi.main([str(file), *SMALL, "--variants", "aligned", "--out", str(path)]) == 0
    assert [case["name"] for case in cases(path)] == ["bfs", "sssp"]
    assert "is not symmetric" in capsys.readouterr().out


@emulated
@pytest.mark.parametrize("device", ["lockstep"], indirect=True)
@pytest.mark.parametrize("pattern", [*PATTERNS, "statements"])
def test_rounds_are_counted_as_the_emulator_counts_them(pattern: str, device: EmulatedDevice) -> None:
    A = gb.io.read("kron:8", weights="hash:8-72", placement="zerocopy")
    csr = A._to_csr()
    edges = Edges(csr.indptr, csr.indices.pointer, csr.values.pointer, 4, 1)
    variant = Statements(device, edges, csr) if pattern == "statements" else Variant(device, edges, pattern)
    start = int(np.argmax(np.diff(csr.indptr)))
    answers = {
        "bfs": gb.algorithms.bfs(A, start).to_dense(-1),
        "sssp": gb.algorithms.sssp(A, start).to_dense(UNREACHED),
        "cc": gb.algorithms.connected_components(A).to_dense(),
    }
    for name, answer in answers.items():
        count = Count()
        device.reset()
        found = variant.as_array(getattr(variant, name)(start, variant.counting(count, lengths=name == "sssp")))
        assert (found == answer).all()
        ids, lengths = device.total(0), device.total(1)
        if (pattern, name) == ("statements", "cc"):  # the emulator also counts ids of P, in device memory
            assert count.ids.useful_bytes < ids.useful_bytes
            continue
        assert (count.ids.useful_bytes, count.lengths.useful_bytes) == (ids.useful_bytes, lengths.useful_bytes)
        if name == "bfs":
            assert variant.of_search(found) == count
        if pattern == "naive":  # the emulator has no cache: each entry is a request there
            assert count.ids.count < ids.count
        else:
            assert list(count.ids.by_size) == list(ids.by_size.values())
            assert list(count.lengths.by_size) == list(lengths.by_size.values())


@emulated
@pytest.mark.parametrize("device", ["reverse", "random"], indirect=True)
def test_answers_do_not_depend_on_the_order_of_lanes(device: EmulatedDevice) -> None:
    A = gb.io.read("urand:6", weights="hash:8-72", placement="zerocopy")
    csr = A._to_csr()
    variant = Variant(device, Edges(csr.indptr, csr.indices.pointer, csr.values.pointer, 4, 1), "aligned")
    assert (variant.bfs(0) == gb.algorithms.bfs(A, 0).to_dense(-1)).all()
    assert (variant.sssp(0) == gb.algorithms.sssp(A, 0).to_dense(UNREACHED)).all()
    assert (variant.cc() == gb.algorithms.connected_components(A).to_dense()).all()


def test_more_pages_than_the_card_has_free_never_migrate() -> None:
    class Runtime:
        runtime = None

    class Full:
        class xp:  # noqa: N801
            class cuda:  # noqa: N801
                runtime = Runtime

        def managed_is_safe(self) -> bool:
            return True

        def memory(self) -> tuple[int, int]:
            return 3 << 30, 80 << 30

    assert "more than the card has free" in str(why_no_pages_migrate(Full(), 3 << 30))
    assert why_no_pages_migrate(Full(), 1 << 30) is None


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_the_kernels_compile_for_gpus_without_spills(tmp_path: Path) -> None:
    kernels = ("bfs", "sssp", "hook", "jump")
    texts = [(f"{name}-{pattern}", source(pattern), name) for name in kernels for pattern in PATTERNS]
    usage = resources.measure(texts, (80, 90), tmp_path / "cache")
    assert len(usage) == 2 * len(texts)
    assert all(each.spills == 0 and each.stack == 0 and each.registers <= 40 for each in usage.values())


def test_without_a_gpu_it_says_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(emogi.cuda, "reason", lambda: "no GPU: none was built in")
    assert emogi.main(["kron:5"]) == 2
    assert "none was built in" in capsys.readouterr().out
