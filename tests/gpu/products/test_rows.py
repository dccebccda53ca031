"""Rows of every length: alone, sharing a request, and cut into chunks for several warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import launch
from sparsezc.memory import budget

LONG = 33  # instead of 2,048, so that small graphs have long rows

LENGTHS = {
    "all empty": [0] * 70,
    "one entry each": [1] * 70,
    "around a slice": [31, 32, 33, 0, 63, 64, 65] * 10,
    "around a chunk": [LONG - 1, LONG, LONG + 1, 2 * LONG, 2 * LONG + 1] * 14,
    "a giant and empty ones": [0] * 33 + [70] + [0] * 36,
    "a star": [70] + [1] * 69,
    "growing": list(range(70)),
}
SEMIRINGS = ("plus_times", "min_plus", "max_first", "any_pair", "plus_pair", "lor_land", "min_secondi", "plus_second")


def matrix(lengths: list[int], dtype: str = "INT64") -> gb.Matrix:
    n = len(lengths)
    rng = np.random.default_rng(sum(lengths))
    rows = np.repeat(np.arange(n), lengths)
    columns = np.concatenate([np.sort(rng.permutation(n)[:k]) for k in lengths] or [[]]).astype(int)
    values = rng.integers(0, 5, rows.size)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=n, ncols=n)


def vector(n: int, share: float, seed: int, dtype: str = "INT64") -> gb.Vector:
    rng = np.random.default_rng(seed)
    at = np.flatnonzero(rng.random(n) < share)
    return gb.Vector.from_coo(at, rng.integers(0, 4, at.size), dtype, size=n)


def assert_same(got: gb.Vector, want: gb.Vector) -> None:
    assert got._engine is not None
    assert got._engine.name == "gpu"
    np.testing.assert_array_equal(got.to_coo()[0], want.to_coo()[0])
    np.testing.assert_array_equal(got.to_coo()[1], want.to_coo()[1])


@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("placement", ["device", "hybrid"])
def test_words_without_entries_are_skipped(placement: str, share: float, gpu: Any) -> None:
    n = 32 * rows_per_warp._WORDS_TO_SKIP * launch.blocks(gpu, 1 << 40) * launch.THREADS // 32 + 5
    rng = np.random.default_rng(7)
    rows = np.concatenate([rng.integers(0, n, 300), [0, 31, 32, n - 1], np.repeat(5000, 70)])
    columns, values = rng.permutation(n)[: rows.size], rng.integers(1, 9, rows.size)
    A = gb.Matrix.from_coo(rows, columns, values, "INT64", nrows=n, ncols=n)
    B, v = A.to("gpu", placement=placement), vector(n, share, 3)
    mask, w = vector(n, 0.5, 4), vector(n, 0.5, 5)
    assert rows_per_warp.skips_words(n, B.nvals, launch.blocks(gpu, n) * launch.THREADS // 32)
    for semiring in (gb.semiring.plus_times, gb.semiring.ss.min_secondi):
        assert_same(B.mxv(v, semiring).new(), A.mxv(v, semiring).new())
        got, want = w.dup(), w.dup()
        got(~mask.S, gb.binary.plus) << B.mxv(v, semiring)
        want(~mask.S, gb.binary.plus) << A.mxv(v, semiring)
        assert_same(got, want)


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("name", LENGTHS)
def test_every_semiring_on_rows_of_every_length(
    name: str, placement: str, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "LONG", LONG)
    A = matrix(LENGTHS[name])
    B = A.to("gpu", placement=placement)
    for seed, share in enumerate((0.1, 1.0)):
        for text in SEMIRINGS:
            semiring = getattr(gb.semiring, text)
            u, v = vector(A.ncols, share, seed), vector(A.ncols, share, seed)
            assert_same(B.mxv(v, semiring).new(), A.mxv(u, semiring).new())  # each warp takes rows of the output
            assert_same(v.vxm(B, semiring).new(), u.vxm(A, semiring).new())  # warps take rows of the vector's entries


@pytest.mark.parametrize("name", ["around a chunk", "a star", "growing"])
def test_long_rows_are_written_by_the_same_rule(name: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write rule holds also where the output is its own mask: a chunk's result must not act as a mask."""
    monkeypatch.setattr(budget, "LONG", LONG)
    A = matrix(LENGTHS[name])
    B = A.to("gpu")
    for flip in (False, True):
        for replace in (False, True):
            for accum in (None, gb.binary.plus):
                for own in (False, True):
                    results = []
                    for M in (A, B):
                        w, m, v = (vector(70, share, seed) for seed, share in enumerate((0.3, 0.5, 1.0)))
                        mask = (w if own else m).S
                        w(~mask if flip else mask, accum=accum, replace=replace) << M.mxv(v, gb.semiring.plus_times)
                        results.append(w)
                    assert_same(results[1], results[0])


@pytest.mark.parametrize("order", ["reverse", "random", "lockstep"])
def test_no_answer_depends_on_the_order_of_lanes(order: str, emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsezc.device import cuda

    monkeypatch.setattr(budget, "LONG", LONG)
    monkeypatch.setattr(emulated, "order", order)
    before = cuda.use(emulated)
    try:
        for name in ("around a slice", "around a chunk", "a star"):
            A = matrix(LENGTHS[name])
            B = A.to("gpu", placement="zerocopy")
            u, v = vector(70, 0.4, 1), vector(70, 0.4, 1)
            for text in ("plus_times", "min_plus", "any_pair"):
                semiring = getattr(gb.semiring, text)
                assert_same(B.mxv(v, semiring).new(), A.mxv(u, semiring).new())
                assert_same(v.vxm(B, semiring).new(), u.vxm(A, semiring).new())
                assert_same(B.mxv(v, semiring).new(mask=~v.S), A.mxv(u, semiring).new(mask=~u.S))
    finally:
        cuda.use(before)


def test_ids_of_four_and_of_eight_bytes(gpu: Any) -> None:
    A = matrix(LENGTHS["around a slice"], "FP64")
    for ids in ("u4", "u8"):
        B = gb.Matrix._from_csr(A._to_csr().place("zerocopy", ids=ids), "gpu")
        assert B._store.rows.wide == (ids == "u8")
        u, v = vector(70, 0.5, 2, "FP64"), vector(70, 0.5, 2, "FP64")
        assert_same(B.mxv(v, gb.semiring.plus_times).new(), A.mxv(u, gb.semiring.plus_times).new())
        assert_same(v.vxm(B, gb.semiring.min_plus).new(), u.vxm(A, gb.semiring.min_plus).new())


def test_a_lone_nan_stays_one(gpu: Any) -> None:
    """Under min and max a number replaces NaN, but the identity does not."""
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [np.nan, 1.0, np.nan], nrows=2, ncols=2)
    B = A.to("gpu", with_transpose=True)
    for share in ([0], [0, 1]):
        for text in ("min_times", "max_times"):
            u, v = (gb.Vector.from_coo(share, 1.0, size=2) for _ in "uv")
            assert_same(B.mxv(v, getattr(gb.semiring, text)).new(), A.mxv(u, getattr(gb.semiring, text)).new())
            assert_same(v.vxm(B, getattr(gb.semiring, text)).new(), u.vxm(A, getattr(gb.semiring, text)).new())


def test_push_and_pull_agree(gpu: Any) -> None:
    A = matrix(LENGTHS["growing"])
    both, one = A.to("gpu", with_transpose=True), A.to("gpu")
    assert both._store.columns is not None
    assert one._store.columns is None
    for share in (0.02, 0.5, 1.0):
        for text in ("plus_times", "min_plus", "any_pair", "lor_land"):
            semiring = getattr(gb.semiring, text)
            m = vector(70, 0.4, 9)
            for mask in (m.S, ~m.S):
                v = vector(70, share, 3)
                assert_same(both.mxv(v, semiring).new(mask=mask), one.mxv(v, semiring).new(mask=mask))
                assert_same(v.vxm(both, semiring).new(mask=mask), v.vxm(one, semiring).new(mask=mask))
