"""Latency, shapes and transfers (`benchmarks.micro.transfers`) run from end to end on the emulated device."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import latency, rows_per_warp, shapes
from benchmarks.harness.frame import load
from benchmarks.micro import transfers
from tests.benchmarks.runs import cases, emulated
from tests.emulator.device import EmulatedDevice

# latency


@emulated
def test_latency_on_the_emulated_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Latency is measured, and importing takes at most 0.4 s of processor time beyond NumPy, the project's limit."""
    path = tmp_path / "l.json"
    before = latency.cuda.use(None)
    options = ["--emulator", "--calls", "3", "--repeats", "2", "--starts", "1", "--grid", "5", "--graph", "kron:6"]
    try:
        assert latency.main([*options, "--out", str(path)]) == 0
    finally:
        latency.cuda.use(before)
    found = {case["name"]: case for case in cases(path)}
    assert set(latency.AT_MOST) <= set(found)
    assert all(case["derived"]["min"] > 0 for case in found.values())
    for name in ("import, beyond NumPy", "import and gb.Matrix, beyond NumPy"):
        assert min(found[name]["series"]["processor"]) <= latency.AT_MOST[name]
    for placement in ("device", "zerocopy"):
        notes = found[f"bfs, a level, {placement}"]["notes"]
        assert (notes["levels"], notes["side"]) == (9, 5)
    notes = found["bfs, slow against fast host"]["notes"]
    assert notes["graph"] == "kron:6"
    assert notes["launch_takes_times"] > 0
    assert sys.getprofile() is None
    assert "goal" in capsys.readouterr().out


def test_a_process_that_fails_is_told() -> None:
    with pytest.raises(RuntimeError, match="ended with 1"):
        latency.python("-c", "raise ValueError('no such thing')")


# shapes


@emulated
def test_shapes_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "s.json"
    shapes.main(["--entries", "11", "--trials", "1", "--copy-mib", "1", "--out", str(path)])
    report = load(path)
    assert report.failures == []
    full, masked, pushed = (report.cases[k::3] for k in range(3))
    for found in (full, masked, pushed):
        assert len({case.name for case in found}) == 1
        assert [(case.setting["graph"], case.setting["placement"]) for case in found] == [
            (name, placement) for name in shapes.SHAPES for placement in ("zerocopy", "device")
        ]
        assert all(case.verified == "yes" and case.notes["of_stream"] > 0 for case in found)
        assert found[0].notes["of_stream"] == 1
    for every, some, sent in zip(full, masked, pushed, strict=True):
        assert every.setting["entries_read"] == every.setting["nvals"]
        assert some.setting["entries_read"] == sent.setting["entries_read"] <= every.setting["entries_read"]
        assert some.nbytes <= every.nbytes
    assert {shapes.kept(case) for case in masked + pushed} == {None}
    assert {"mxv", "vxm"} <= set(device.launches)


def test_a_tenth_of_the_rows_is_chosen_with_the_longest() -> None:
    for name, make in shapes.SHAPES.items():
        lengths = np.asarray(make(1 << 20), np.int64)
        chosen = shapes.some_of(lengths)
        assert chosen[lengths.argmax()]
        assert chosen.mean() == pytest.approx(0.1, abs=0.03), name


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_shapes_have_the_entries_they_say(name: str) -> None:
    lengths = np.asarray(shapes.SHAPES[name](1 << 16), np.int64)
    assert lengths.min() >= 0
    if name == "empty rows":
        assert np.count_nonzero(lengths) == lengths.size // 1024
    else:
        assert lengths.sum() == pytest.approx(1 << 16, rel=0.1)
    if name.startswith("mean degree"):
        assert lengths.mean() == pytest.approx(int(name.split()[-1]), rel=0.1)


@emulated
def test_a_shape_s_rows_have_ascending_ids_without_twins(device: EmulatedDevice) -> None:
    lengths = np.array([5, 0, 1000, 1, 300])
    csr = shapes.matrix(lengths, 1000, "zerocopy")._to_csr()
    assert (np.diff(csr.indptr) == lengths).all()
    for begin, end in zip(csr.indptr, csr.indptr[1:], strict=False):
        ids = csr.indices.read(begin, end).astype(np.int64)
        assert (np.diff(ids) > 0).all()
        assert (ids < 1000).all()


def test_without_a_gpu_both_say_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shapes.cuda, "reason", lambda: "no GPU: none was built in")
    assert shapes.main([]) == latency.main([]) == 2
    assert capsys.readouterr().out.count("none was built in") == 2


# rows_per_warp


@emulated
def test_rows_per_warp_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice) -> None:
    path = tmp_path / "rows.json"
    small = ["--entries", "12", "--means", "16,64", "--hubs", "900", "--trials", "2", "--placement", "zerocopy"]
    assert rows_per_warp.main([*small, "--out", str(path)]) == 0
    keys, shapes = ("mean", "hub", "rows_per_warp"), ((16, 0), (64, 0), (16, 900))
    found = [(case["name"], *(case["setting"][key] for key in keys)) for case in cases(path)]
    assert found == [(product, *shape, n) for shape in shapes for product in ("pull", "push") for n in (1, "auto", 32)]
    assert all(
        case["notes"]["ratio_min"] <= case["notes"]["ratio"] <= case["notes"]["ratio_max"] for case in cases(path)
    )
    assert [len(case["trials"]) for case in cases(path)] == [2] * len(found)
    assert all(trial["nbytes"] > 0 for case in cases(path) for trial in case["trials"])


# ways


@emulated
def test_ways_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice) -> None:
    path, small = tmp_path / "ways.json", ["--gib", "0.00008", "--means", "12", "--trials", "1", "--copy-mib", "1"]
    assert transfers.main([*small, "--shares", "0.1,1", "--out", str(path)]) == 0
    found = cases(path)
    assert [(case["setting"]["share"], case["setting"]["placement"]) for case in found] == [
        (share, way) for share in (0.1, 1.0) for way in transfers.WAYS
    ]
    assert all(case["verified"] == "yes" and case["setting"]["memory"] == "pinned" for case in found)
    assert 0 < found[0]["setting"]["entries"] < found[-1]["setting"]["entries"] < 30_000
    assert found[0]["notes"] == {"in_place": 1.0}
    with pytest.raises(SystemExit):
        transfers.main(["--shares", "0"])
