"""The byte model predicts the requests of the engine's own kernels over the link, as counted by the emulator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from benchmarks.model import __main__ as command
from benchmarks.model import counters
from benchmarks.model.emogi import PATTERNS, of_rows, per_row
from benchmarks.model.requests import Requests
from benchmarks.model.watch import Model
from sparsezc.expr import engines
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr
from tests.benchmarks.runs import emulated
from tests.emulator.device import EmulatedDevice
from tests.emulator.test_emogi import LENGTHS, closed_form, measure
from tests.emulator.test_emogi import PATTERNS as KERNELS

pytestmark = emulated
lockstep = pytest.mark.parametrize("device", ["lockstep"], indirect=True)
CLOSE = 0.10  # relative difference allowed between predicted and counted requests

N = 2048
SHAPES: dict[str, Any] = {
    "short rows": np.arange(640) % 9,
    "mixed": np.random.default_rng(6).integers(0, 200, 100),
    "power law": np.random.default_rng(7).zipf(1.6, 250).clip(0, 900),
    "one long and short ones": np.array([3, 0, 1990, 1] + [66] * 40),
}
GRAPHS = ["kron:9", "urand:9", "grid:16x16", "path:70", "star:600"]


@pytest.fixture(autouse=True)
def _no_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut no rows unless a test says so, as test_long_rows_are_cut_into_chunks does."""
    monkeypatch.setattr(budget, "_SHORT", budget.LONG)


def matrix(lengths: Any, ids: str = "u4", *, symmetric: bool = False) -> Any:
    """Return a zero-copy matrix of N columns with rows of these lengths, declared symmetric on request, true or not."""
    rng = np.random.default_rng(3)
    columns = np.concatenate([np.sort(rng.choice(N, k, replace=False)) for k in lengths.tolist()])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    csr = Csr.from_arrays(indptr, columns, np.arange(columns.size) % 7, N, dtype="FP32", symmetric=symmetric)
    return gb.Matrix._from_csr(csr.place("zerocopy", ids=ids), "gpu")


def some(size: int, share: float, seed: int = 5) -> Any:
    at = np.flatnonzero(np.random.default_rng(seed).random(size) < share)
    return gb.Vector.from_coo(at, np.ones(at.size), "FP32", size=size)


def full(size: int) -> Any:
    return gb.Vector.from_dense(np.ones(size, np.float32))


def hub(A: Any) -> int:
    return int(np.argmax(np.diff(A._to_csr().indptr)))


def both(device: EmulatedDevice, call: Callable[[], Any], *, loops: bool = False) -> tuple[Any, Any]:
    """Return the model's prediction for a call and the emulator's counts, each for ids and for values.

    With `loops`, counted rounds run on the device without the host; otherwise statement by statement, as predicted.
    """
    call()
    model = Model()
    with model.watching("gpu"):
        call()
    device.reset()
    with nullcontext() if loops else engines.stepping(engines.get("gpu")):
        call()
    assert model.unknown == {}
    ids = sum((each.reading.ids for each in model.statements), Requests())
    values = sum((each.reading.values for each in model.statements), Requests())
    return (ids, values), (device.total(0), device.total(1))


def assert_close(device: EmulatedDevice, call: Callable[[], Any], *, loops: bool = False) -> Requests:
    predicted, counted = both(device, call, loops=loops)
    for ours, theirs in zip(predicted, counted, strict=True):
        assert ours.count == pytest.approx(theirs.count, rel=CLOSE)
        assert ours.nbytes == pytest.approx(theirs.bytes, rel=CLOSE)
        assert ours.useful_bytes == pytest.approx(theirs.useful_bytes, rel=CLOSE)
        assert ours.by_size[3] == pytest.approx(theirs.by_size[128], rel=CLOSE, abs=3)
    return predicted[0] + predicted[1]


@pytest.fixture(autouse=True)
def nothing_beside_the_matrix() -> Iterator[None]:
    """Build no layouts beside the matrix unless a test says so."""
    with gb.config.set(head_cache="off", packing="off"):
        yield


@lockstep
@pytest.mark.parametrize(("shape", "ids"), [*((shape, "u4") for shape in SHAPES), ("mixed", "u8")])
def test_pulls(shape: str, ids: str, device: EmulatedDevice) -> None:
    A = matrix(SHAPES[shape], ids)
    mask = some(A.nrows, 0.3)
    for semiring in ("plus_times", "plus_pair", "any_second"):
        assert_close(device, lambda s=semiring: A.mxv(full(N), s).new())
        assert_close(device, lambda s=semiring: A.mxv(some(N, 0.05), s).new())
        assert_close(device, lambda s=semiring: A.mxv(some(N, 0.05), s).new(mask=mask.S))
        assert_close(device, lambda s=semiring: A.mxv(some(N, 0.4), s).new(mask=~mask.S))
    assert_close(device, lambda: A.reduce_rowwise(gb.monoid.plus).new())


@lockstep
@pytest.mark.parametrize(("shape", "ids"), [*((shape, "u4") for shape in SHAPES), ("mixed", "u8")])
def test_pushes(shape: str, ids: str, device: EmulatedDevice) -> None:
    A = matrix(SHAPES[shape], ids)
    for semiring in ("plus_times", "min_first", "any_pair"):
        assert_close(device, lambda s=semiring: full(A.nrows).vxm(A, s).new())
        assert_close(device, lambda s=semiring: some(A.nrows, 0.1).vxm(A, s).new())
        assert_close(device, lambda s=semiring: some(A.nrows, 0.1).vxm(A, s).new(mask=~some(N, 0.5).S))


@lockstep
def test_packed_values_come_with_their_ids(device: EmulatedDevice) -> None:
    A = matrix(SHAPES["mixed"])
    found = {}
    for packing in ("off", "on"):
        with gb.config.set(packing=packing):
            found[packing] = assert_close(device, lambda: A.mxv(full(N), gb.semiring.plus_times).new())
            assert_close(device, lambda: some(A.nrows, 0.1).vxm(A, gb.semiring.min_plus).new())
            assert_close(device, lambda: A.reduce_rowwise(gb.monoid.plus).new())
    assert found["on"].nbytes * 2 == found["off"].nbytes


@lockstep
def test_nothing_is_kept_of_long_rows(device: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 256)
    A = matrix(np.array([512] + [64] * 20))
    last = gb.Vector.from_coo([N - 1 - k for k in range(8)], True, size=N)
    with gb.config.set(head_cache="on"):
        found = assert_close(device, lambda: A.mxv(last, gb.semiring.any_pair).new())
    assert found.useful_bytes >= 4 * 512


@lockstep
def test_long_rows_are_cut_into_chunks(device: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 256)
    # Row chunks must begin at slices: the emulator takes the k-th load of each lane in a chunk for one instruction, so
    # it counts a chunk that begins inside a slice as misaligned to its end, which it is not on a GPU.
    A = matrix(np.array([992, 32, 704, 0, 288] + [64] * 50))
    assert_close(device, lambda: A.mxv(full(N), gb.semiring.plus_times).new())
    assert_close(device, lambda: full(A.nrows).vxm(A, gb.semiring.plus_times).new())


@lockstep
@pytest.mark.parametrize("slots", [0, 3, 8])
@pytest.mark.parametrize("graph", GRAPHS)
def test_whole_searches(graph: str, slots: int, device: EmulatedDevice) -> None:
    A = gb.io.read(graph, placement="zerocopy")
    with gb.config.set(head_cache="on" if slots else "off", head_budget=4 * max(slots, 1) * A.nrows):
        found = assert_close(device, lambda: gb.algorithms.bfs(A, hub(A)))
        assert found.count or slots
        assert_close(device, lambda: gb.algorithms.bfs_parents(A, hub(A)))
        if (
            graph != "path:70"
        ):  # trees are hooked there; the emulator also counts reads of their pointers, in device memory
            assert_close(device, lambda: gb.algorithms.connected_components(A))


@lockstep
@pytest.mark.parametrize("slots", [0, 3])
@pytest.mark.parametrize("graph", ["kron:9", "urand:9", "star:600"])
def test_many_searches_at_once(graph: str, slots: int, device: EmulatedDevice) -> None:
    """Some searches push and some pull; a warp leaves a row when all pulling searches have found a neighbour."""
    A = gb.io.read(graph, placement="zerocopy")
    sources = np.random.default_rng(4).choice(np.flatnonzero(np.diff(A._to_csr().indptr)), 16)
    with gb.config.set(head_cache="on" if slots else "off", head_budget=4 * max(slots, 1) * A.nrows):
        found = assert_close(device, lambda: gb.algorithms.bfs(A, sources))
    assert found.count
    assert {"multi_source_bfs_push", "multi_source_bfs_pull"} <= set(device.launches)


@lockstep
@pytest.mark.parametrize(
    ("algorithm", "weights", "bytes_of_an_entry", "kernel"),
    [(gb.algorithms.bfs, None, 4, "search"), (gb.algorithms.sssp, "hash:8-72", 5, "paths")],
)
def test_rounds_that_go_on_without_the_host_are_predicted_too(
    algorithm: Any, weights: str | None, bytes_of_an_entry: int, kernel: str, device: EmulatedDevice
) -> None:
    A = gb.io.read("path:200", weights=weights, placement="zerocopy")
    found = assert_close(device, lambda: algorithm(A, 0), loops=True)
    least = bytes_of_an_entry * A.nvals
    assert 0.99 * least <= found.useful_bytes <= (1.01 if algorithm is gb.algorithms.bfs else 2) * least
    device.reset()
    algorithm(A, 0)
    assert kernel in device.launches


@lockstep
@pytest.mark.parametrize("shape", SHAPES)
def test_pulls_that_look_at_heads_first(shape: str, device: EmulatedDevice) -> None:
    A = matrix(SHAPES[shape])
    found = {}
    for cache in ("off", "on"):
        with gb.config.set(head_cache=cache):
            found[cache] = assert_close(device, lambda: A.mxv(some(N, 0.1), gb.semiring.any_second).new())
            mask = some(A.nrows, 0.5)
            assert_close(device, lambda m=mask: A.mxv(some(N, 0.02), gb.semiring.any_pair).new(mask=~m.S))
    assert found["on"].nbytes < found["off"].nbytes


@lockstep
def test_shortest_paths_and_ranks(device: EmulatedDevice) -> None:
    A = gb.io.read("kron:8", weights="hash:8-72", placement="zerocopy")
    for packing in ("off", "on"):
        with gb.config.set(packing=packing):
            assert_close(device, lambda: gb.algorithms.sssp(A, hub(A)))
    assert_close(device, lambda: gb.algorithms.pagerank(A, tol=None, max_iter=2))


def test_a_prediction_needs_no_gpu(device: EmulatedDevice) -> None:
    """The CPU engine's run of the same algorithm predicts the same requests, with ids as narrow as on a GPU."""
    for slots in (0, 8):
        found = []
        for engine in ("cpu", "gpu"):
            with gb.config.set(engine=engine, head_cache="on" if slots else "off"):
                A = gb.io.read("kron:8", weights="hash:8-72", placement="zerocopy" if engine == "gpu" else "host")
                model = Model(heads=slots, packing=True)
                with model.watching(engine):
                    gb.algorithms.bfs(A, hub(A))
                    gb.algorithms.connected_components(A)
                    gb.algorithms.sssp(A, hub(A))
                    gb.algorithms.bfs(A, range(8))
            found.append(model.statements)
        assert found[0] == found[1]
        assert {each.direction for each in found[0]} >= {"push", "pull"}


def test_a_direction_can_be_forced(device: EmulatedDevice) -> None:
    A = gb.io.read("kron:8", placement="zerocopy")
    amounts = {}
    for direction in ("choose", "push", "pull"):
        model = Model(direction=direction)
        with model.watching("gpu"):
            gb.algorithms.bfs(A, hub(A))
        amounts[direction] = sum(each.reading.all.nbytes for each in model.statements)
    assert amounts["choose"] < min(amounts["push"], amounts["pull"])


def test_what_is_not_modelled_is_told(device: EmulatedDevice) -> None:
    A = gb.io.read("path:40", placement="zerocopy")
    model = Model()
    with model.watching("gpu"):
        A.mxm(A, gb.semiring.any_pair).new()
    assert model.unknown == {"mxm": 1}


# EMOGI's patterns: against the closed form and the counts of the emulator's own test


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("width", [4, 8])
def test_emogi_s_merged_patterns(lengths: Any, width: int) -> None:
    ends = np.cumsum(lengths)
    for ours, theirs in (("merged", "merged"), ("aligned", "merged_aligned")):
        counts = per_row(ends - lengths, ends, width, ours)
        found = of_rows(counts, lengths, np.ones(lengths.size, np.bool_), width)
        assert list(found.by_size) == list(closed_form(theirs, lengths, width).values())
        assert list(found.by_size) == list(measure(theirs, lengths, width).by_size.values())


@pytest.mark.parametrize("width", [1, 2])
def test_narrow_values_are_counted_too(width: int) -> None:
    """Each load of 32 narrow values covers a part of a line, and the next load the line's next part."""
    begin, end = np.array([0, 3, 200]), np.array([3, 200, 500])
    for pattern in PATTERNS[1:]:
        for row in range(3):
            first = begin[row] if pattern == "merged" else begin[row] // 32 * 32
            expected = [0, 0, 0, 0]
            for start in range(first, end[row], 32):
                low, high = max(start, begin[row]) * width, min(start + 32, end[row]) * width
                while low < high:
                    stop = min(high, (low // 128 + 1) * 128)
                    expected[(stop - 1) // 32 - low // 32] += 1
                    low = stop
            assert per_row(begin[[row]], end[[row]], width, pattern).tolist() == [expected]


def test_a_naive_worker_asks_for_each_sector_it_enters() -> None:
    lengths = np.array([9, 0, 16])  # entries 0..8 of 4 bytes are in sectors 0 and 1; 9..24 in 1, 2 and 3
    ends = np.cumsum(lengths)
    assert per_row(ends - lengths, ends, 4, "naive")[:, 0].tolist() == [2, 0, 3]
    assert KERNELS[0] == PATTERNS[0]


# The command


def test_the_command_holds_the_model_against_the_emulator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    arguments = ["kron:7", "--counters", "emulator", "--levels", "--kernels", "bfs,spmv", "--out", str(path)]
    before = command.cuda.use(None)
    try:
        assert command.main(arguments) == 0
    finally:
        command.cuda.use(before)
    found = json.loads(path.read_text())["cases"]
    assert [case["name"].strip() for case in found] == [
        "bfs, 0 heads", "bfs, 8 heads", "EMOGI naive", "EMOGI merged", "EMOGI aligned", "spmv plus_second",
        "spmv plus_times",
    ]  # fmt: skip
    assert found[1]["requests"] < found[0]["requests"]
    for case in (*found[:2], *found[5:]):
        assert case["notes"]["nbytes"] == pytest.approx(case["notes"]["counted"]["nbytes"], rel=CLOSE)
        assert case["requests"] == pytest.approx(case["notes"]["counted"]["requests"], rel=CLOSE)
    assert "push" in capsys.readouterr().out


def test_the_command_predicts_without_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    assert command.main(["kron:7", "--engine", "cpu", "--out", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["failures"] == []
    assert all(case["trials"] == [] for case in found["cases"])
    nothing = [case["name"] for case in found["cases"] if not case["requests"]]
    assert nothing == ["bfs, 8 heads", "cc, 8 heads"]  # every row that they read is in the head caches


def test_a_case_that_fails_leaves_the_others_their_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: EmulatedDevice
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("of this test")

    def counts(_graph: str, _weights: str, plans: Any, sources: Any) -> list[counters.Counted]:
        assert len(plans) == len(sources)
        return [counters.Counted(len(plan.kernel), 0, 0) for plan in plans]

    monkeypatch.setattr(counters, "why_not_ncu", lambda: None)
    monkeypatch.setattr(counters, "with_ncu", counts)
    monkeypatch.setattr(gb.algorithms, "sssp", fails)
    path = tmp_path / "m.json"
    arguments = ["kron:7", "--engine", "gpu", "--heads", "0", "--kernels", "bfs,sssp,pagerank", "--out", str(path)]
    assert command.main(arguments) == 1
    found = json.loads(path.read_text())
    assert len(found["failures"]) == 2  # sssp, predicted and counted
    told = {case["name"]: case["notes"]["counted"]["requests"] for case in found["cases"] if "counted" in case["notes"]}
    assert told == {"bfs, 0 heads": 3, "pagerank": 8}


def test_the_command_runs_64_searches_as_64(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    assert (
        command.main(["kron:11", "--engine", "cpu", "--kernels", "bfs,bfs64", "--heads", "0", "--out", str(path)]) == 0
    )
    one, *_, many = json.loads(path.read_text())["cases"]
    assert (one["name"], many["name"]) == ("bfs, 0 heads", "bfs64, 0 heads")
    assert one["requests"] < many["requests"] < 64 * one["requests"]


@pytest.mark.parametrize("kernel", ["bc", "tc"])
def test_kernels_that_are_not_modelled_are_refused(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["kron:5", "--kernels", f"bfs,{kernel}"])
    assert f"'{kernel}' is not modelled" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    assert f" {kernel}," not in capsys.readouterr().out


def test_all_kernels_that_read_a_matrix_are_counted() -> None:
    counted = re.compile(counters.KERNELS.removeprefix("regex:"))
    assert all(
        map(counted.match, ("mxv", "vxm", "spmm", "multi_source_bfs_push", "multi_source_bfs_pull", counters.STREAM))
    )
    assert not any(map(counted.match, ("panel_rows", "heads", "mxv2")))


def test_counters_that_are_not_there_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["kron:5", "--engine", "cpu", "--counters", "ncu"]) == 2
    assert "has no link" in capsys.readouterr().out
