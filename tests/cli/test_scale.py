"""``sparsezc scale``: a prediction for 1 to 64 ranks, from this machine's rates."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import calibrate, main, scale, scale_counts
from sparsezc.engines.distributed.model.cost import Rates, Work, predicted


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure rates on 1 MiB, as their values do not matter here, and restore the variable that the command sets."""
    monkeypatch.setattr(calibrate, "_BYTES", 1 << 20)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.parametrize("algorithm", list(scale.ALGORITHMS))
def test_predictions_and_the_time_of_one_rank(algorithm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "kron:8", algorithm, "--trials", "1", "--peer", "10", "--latency", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["ranks"] for row in told["predicted"]] == [1, 2, 4, 8, 16, 32, 64]
    one = told["predicted"][0]
    assert one["error"] is None
    assert min(one["seconds"], one["measured"]["busy"]) > 0
    assert told["products"] > 0
    assert (told["rates"]["peer"], told["rates"]["latency"]) == (10e9, 3e-6)
    for row in told["predicted"]:
        parts = [row[name] for name in ("fixed", "latency", "read", "assembly", "exchange", "network")]
        assert row["seconds"] == pytest.approx(sum(parts))


def test_bytes_of_vectors_are_counted_as_they_travel() -> None:
    A = gb.io.read("path:64", placement="host")
    full, few = gb.Vector.from_dense(np.ones(64)), gb.Vector.from_coo([3, 4], [1.0, 2.0], size=64)
    for v, semiring, nbytes in (
        (full, gb.semiring.plus_second, 8 * 64),
        (few, gb.semiring.plus_second, 2 * 8 + 8),  # two values, and their positions as a bitmap or two ids
        (few, gb.semiring.any_pair, 8),
    ):
        counts = scale_counts.Counts()
        with counts.watching(A):
            A.mxv(v, semiring).new()
        assert (counts.steps, counts.nbytes) == (1, nbytes)
        assert counts.entries == A.nvals * v.nvals / 64


@pytest.mark.parametrize("graph", ["kron:8", "directed"])
def test_one_rank_is_timed_with_the_products_of_several(graph: str) -> None:
    i, j = np.random.default_rng(6).integers(0, 200, (2, 900))
    A = gb.Matrix.from_coo(i, j, 1 + i % 7, nrows=200, ncols=200, dup_op="min")
    if graph != "directed":
        A = gb.io.read(graph, placement="host")
    for algorithm in (gb.algorithms.bfs, gb.algorithms.sssp):
        counts = scale_counts.Counts(scale_counts.cut(A._to_csr().indptr, 2, gpu=False))
        with counts.watching(A):
            wanted = algorithm(A, 1)
        pushes, flips = zip(*counts.ways, strict=True)
        assert len(pushes) == counts.steps
        assert any(pushes)
        assert any(flips) == (graph != "directed" and algorithm is gb.algorithms.bfs)  # a search pulls between pushes
        with counts.directed(A):
            assert algorithm(A, 1).isequal(wanted)


@pytest.mark.parametrize("option", ["--peer", "--ranks", "--trials", "--latency"])
def test_numbers_must_be_above_zero(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "kron:4", "bfs", option, "0"]) == 1
    assert f"{option} is 0" in capsys.readouterr().err


def test_the_model_has_the_limits_of_lux() -> None:
    work = Work(steps=100, seconds=1.0, exchanged=1e9)
    rates = Rates(link=50e9, memory=200e9, peer=1e12, network=10e9, latency=0, network_latency=0, step=1e-3, ranks=8)
    assert predicted(work, rates, 1).total == pytest.approx(1.0)
    assert predicted(work, rates, 4).read == pytest.approx(0.9 / 4)
    assert predicted(work, rates, 8).read == predicted(work, rates, 4).read  # four links saturate memory
    assert predicted(work, rates, 16).read == pytest.approx(0.9 / 8)  # two machines, twice the memory's rate
    assert predicted(work, rates, 16).network == pytest.approx(0.05)
    uneven = Work(100, 1.0, 1e9, {4: 0.5})
    assert predicted(uneven, rates, 4).read == pytest.approx(1.5 * 0.9 / 4)
