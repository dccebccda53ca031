"""ops.count_corners on both engines equals dense products: rows of every length, placements, and the write rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.cpu import two_way
from sparsezc.engines.gpu.products import spgemm_masked_dot
from sparsezc.exceptions import DimensionMismatch
from sparsezc.memory import budget
from tests.gpu.placements.test_placement_grid import KINDS, placed
from tests.gpu.products.test_spgemm_masked_dot import small_tables

N = 210


def patterns(seed: int = 0) -> list[np.ndarray]:
    """Return A, B and M with rows that use a warp's table, a block's, or none, and empty rows; columns likewise."""
    rng = np.random.default_rng(seed)
    made = []
    for most in (0.95, 0.6, 0.5):
        density = most * rng.random((N, 1)) ** 3
        density[rng.random(N) < 0.2] = 0
        made.append(rng.random((N, N)) < density)
    made[0][:4, :200] = True
    made[2][:4, ::2] = True
    return made


def judged(a: np.ndarray, b: np.ndarray, m: np.ndarray) -> list[int]:
    """Return each vertex's number of corners, by dense products."""
    a, b, m = (x.astype(np.int64) for x in (a, b, m))
    at_edges = (a @ b) * m
    counts: list[int] = (at_edges.sum(0) + at_edges.sum(1) + ((m @ b.T) * a).sum(0)).tolist()
    return counts


def matrix(pattern: np.ndarray) -> gb.Matrix:
    i, j = np.nonzero(pattern)
    return gb.Matrix.from_coo(i, j, np.ones(i.size), nrows=len(pattern), ncols=len(pattern))


@pytest.mark.parametrize("loops", [True, False])
def test_on_the_cpu(loops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts are right in numba's loops with one thread and with several, and without numba."""
    monkeypatch.setattr(two_way, "_FEW", 0)
    if not loops:
        monkeypatch.setattr(two_way, "_corner_loop", lambda: None)
    given = patterns()
    A, B, M = map(matrix, given)
    expected = judged(*given)
    assert max(expected) > 300
    assert min(expected) >= 0
    for threads in (1, 3):
        monkeypatch.setattr(two_way, "processors", lambda _most, threads=threads: threads)
        assert ops.count_corners(A, B, M).new().to_dense().tolist() == expected
    turned = [matrix(x.T) for x in given]
    assert ops.count_corners(turned[0].T, turned[1].T, turned[2].T).new().to_dense().tolist() == expected
    assert ops.count_corners(A, A.T, A).new().to_dense().tolist() == judged(given[0], given[0].T, given[0])
    assert ops.count_corners(A, A, A.T).new().to_dense().tolist() == judged(given[0], given[0], given[0].T)


@pytest.mark.parametrize("few", [0, 100])
def test_of_a_hypersparse_matrix(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    two_way._corner_loop.cache_clear()
    monkeypatch.setattr(two_way, "_FEW", few)
    A = gb.Matrix.from_coo([3, 3, 900], [900, 50, 50], True, nrows=1000, ncols=1000)
    counts = ops.count_corners(A, A.T, A.T).new()
    assert {v: x for v, x in counts.to_dict().items() if x} == {3: 1, 50: 1, 900: 1}
    assert counts.nvals == 1000


@pytest.mark.parametrize("kind", ["plain", "wide ids"])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_rows_of_every_length(placement: str, kind: str, gpu: Any, tmp_path: Path) -> None:
    given = patterns(1)
    put = placed(placement, tmp_path, KINDS[kind]).put
    A, B, M = (put(matrix(x)) for x in given)
    with small_tables():
        assert ops.count_corners(A, B, M).new().to_dense().tolist() == judged(*given)
        if placement == "device":
            turned = put(matrix(given[1].T))
            assert ops.count_corners(A, turned.T, M).new().to_dense().tolist() == judged(*given)


def test_the_mask_in_pieces(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces have several rows, or a part of a row that exceeds a piece."""
    given = patterns(2)
    A, B, M = (matrix(x).to("gpu", placement="zerocopy") for x in given)
    expected = judged(*given)
    monkeypatch.setattr(budget, "available", lambda: 2 * 60 * spgemm_masked_dot._MASK_BYTES)
    assert ops.count_corners(A, B, M).new().to_dense().tolist() == expected


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_results_are_written_as_any_are(engine: str, gpu: Any) -> None:
    given = patterns(3)
    expected = np.array(judged(*given))
    A, B, M = (matrix(x).to(engine) for x in given)
    w = gb.Vector.from_dense(np.arange(N))
    some = gb.Vector.from_dense(np.arange(N) % 3 == 0)
    w(some.V, accum=gb.binary.plus) << ops.count_corners(A, B, M)
    assert w.to_dense().tolist() == np.where(np.arange(N) % 3 == 0, expected + np.arange(N), np.arange(N)).tolist()
    w(~some.V, replace=True) << ops.count_corners(A, B, M)
    assert w.to_dense(fill_value=-1).tolist() == np.where(np.arange(N) % 3, expected, -1).tolist()


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_of_nothing(engine: str, gpu: Any) -> None:
    full, none = (gb.Matrix.from_dense(np.ones((3, 3))).to(engine), gb.Matrix("BOOL", 3, 3).to(engine))
    for A, B, M in ((none, full, full), (full, none, full), (full, full, none)):
        assert ops.count_corners(A, B, M).new().to_dense().tolist() == [0, 0, 0]
    assert ops.count_corners(full, full, full).new().to_dense().tolist() == [27, 27, 27]
    assert ops.count_corners(*[gb.Matrix("BOOL", 0, 0).to(engine)] * 3).new().size == 0


WRONG: list[Callable[[gb.Matrix, gb.Matrix], Any]] = [
    lambda A, B: ops.count_corners(B, A, A),
    lambda A, B: ops.count_corners(A, B, A),
    lambda A, B: ops.count_corners(A, A, B.T),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_matrices_of_other_shapes_are_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(DimensionMismatch, match=r"count_corners: .* \d x \d is needed"):
        wrong(gb.Matrix("BOOL", 4, 4), gb.Matrix("BOOL", 4, 5))


def test_a_matrix_in_another_order(gpu: Any) -> None:
    given = patterns(4)
    A, B, M = (matrix(x) for x in given)
    found = ops.count_corners(A.to("gpu").compress("degree"), B, M.to("gpu")).new()
    assert found.isequal(ops.count_corners(A, B, M).new(), check_dtype=True)
