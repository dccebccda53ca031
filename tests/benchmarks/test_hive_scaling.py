"""benchmarks.hive --scaling: bytes that parts of a graph read and exchange equal counts by hand and by loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from benchmarks.hive.__main__ import main
from benchmarks.hive.scaling.counting import NAME, counting
from benchmarks.hive.scaling.parts import SHARED, Partition
from benchmarks.hive.scaling.study import SUMMARY, Sizes, nomination, walks
from benchmarks.hive.scaling.table import APPS
from tests.benchmarks.runs import cases

N = 2 * SHARED


def path() -> gb.Matrix:
    return gb.io.read(f"path:{N}").to(NAME)


def test_a_full_vector_is_needed_at_the_cut_alone_and_once() -> None:
    engine = counting()
    A, v = path(), gb.Vector.from_scalar(1.0, N, "FP64").to(NAME)
    engine.begin()
    for _ in range(2):
        A.mxv(v, "plus_times").new()
    two = engine.partition.counts[1]
    assert two.all_operations == 2 * A.nvals
    assert (two.received, two.exchanged) == (8, 16)  # one number each way, in the first product only
    v[N // 2] = 5.0
    engine.begin()
    A.mxv(v, "plus_times").new()
    assert engine.partition.counts[1].exchanged == 16
    assert [c.received for c in engine.partition.counts[:1]] == [0]


def test_a_mask_and_what_the_operator_reads_count() -> None:
    engine = counting()
    A, v = path(), gb.Vector.from_scalar(1.0, N, "FP64").to(NAME)
    some = gb.Vector.from_coo([N // 2], True, size=N).to(NAME)
    engine.begin()
    A.mxv(v, "plus_times").new(mask=some.S)
    assert (engine.partition.counts[1].all_operations, engine.partition.counts[1].exchanged) == (2, 8)
    engine.begin()
    A.mxv(v, "plus_pair").new()  # plus_pair reads no values, and all positions of a full vector are known
    assert engine.partition.counts[1].exchanged == 0


def test_a_push_sends_each_result_once() -> None:
    engine = counting()
    A = gb.Matrix.from_coo(np.arange(N - 1), np.full(N - 1, N - 1), 1, nrows=N, ncols=N).to(NAME)
    v = gb.Vector.from_coo(np.arange(10), 1, size=N).to(NAME)
    engine.begin()
    v.vxm(A, "plus_times").new("INT64")
    two = engine.partition.counts[1]
    assert (two.all_operations, two.exchanged) == (10, 4 + 8)  # ten results, added up to one before it is sent


def test_walks_tell_the_next_part_and_the_first() -> None:
    engine = counting()
    ring = gb.Matrix.from_coo(np.arange(N), (np.arange(N) + 1) % N, True, nrows=N, ncols=N).to(NAME)
    engine.begin()
    gb.algorithms.random_walks(ring, [N // 2 - 2], 4, seed=1)
    two = engine.partition.counts[1]
    assert two.all_operations == 4
    # the second step crosses; this and the two after it are reported to the part where the walk began
    assert two.exchanged == 12 * (1 + 3)


def test_pulls_are_as_loops_count_them() -> None:
    rng = np.random.default_rng(1)
    rows, cols = np.unique(rng.integers(0, N, (2, 600)), axis=1)
    nbytes, work = rng.integers(1, 9, N), rng.integers(1, 5, N)
    made = Partition([3])
    made.cut(np.bincount(rows, minlength=N))
    owner = made.owner(N, 3)
    assert (np.diff(owner) >= 0).all()
    assert np.bincount(owner[rows]).max() < 1.2 * rows.size / 3
    made.pull(rows, cols, (N, N), nbytes, work)
    operations, received = [0] * 3, [0] * 3
    for part in range(3):
        mine = [(i, j) for i, j in zip(rows, cols, strict=True) if owner[i] == part]
        operations[part] = sum(work[j] for _, j in mine)
        received[part] = sum(nbytes[j] for j in {j for _, j in mine} if owner[j] != part)
    counts = made.counts[0]
    assert (counts.operations, counts.all_operations) == (max(operations), sum(operations))
    assert (counts.received, counts.exchanged) == (max(received), sum(received))


def test_the_study_s_formulas() -> None:
    g = Sizes(V=100, E=1600)
    assert walks(4, 1000) == (250, 6000)
    assert nomination(8, g, updates=2.0) == (400, 2 * 100 / 8 * 8 * 8)
    assert nomination(32, g, updates=2.0).nbytes == 2 * 100 / 32 * 16 * 8
    assert set(APPS) == set(SUMMARY)


@pytest.mark.parametrize("names", [("walks", "nomination", "geolocation", "louvain", "local clustering")])
def test_applications_run_on_the_counting_engine(
    tmp_path: Path, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scaling.json"
    assert main(["--scaling", "--scale", "8", *names, "--out", str(path)]) == 0
    found = cases(path)
    assert [(case["name"], case["setting"]["parts"]) for case in found] == [
        (name, parts) for name in APPS if name in names for parts in range(1, 9)
    ]
    for case in found:
        notes = case["notes"]
        assert notes["study"]["operations"] > 0
        assert notes["operations"] <= notes["all_operations"] <= case["setting"]["parts"] * notes["operations"]
        assert (notes["exchanged_bytes"] == 0) == (case["setting"]["parts"] == 1)
    table = capsys.readouterr().out
    assert main(["--again", str(path), "--out", str(tmp_path / "again.json")]) == 0
    assert capsys.readouterr().out.splitlines()[: len(found) + 2] == table.splitlines()[: len(found) + 2]
