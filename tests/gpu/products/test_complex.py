"""Complex numbers where they differ from other types: two-word atomics, chunks of rows, requests over the link."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.memory import budget

N = 70


def matrix(dtype: str, *, into_few: bool = False) -> Any:
    """Return numbers of absolute value 1, whose products stay finite; rows of all lengths, or all columns among few."""
    rng = np.random.default_rng(4)
    i, j = np.nonzero(rng.random((N, N)) < np.linspace(0, 1, N)[:, None])
    j = j % 3 if into_few else j
    values = np.exp(1j * rng.random(i.size))
    return gb.Matrix.from_coo(i, j, values, dtype, nrows=N, ncols=N, dup_op="first")


def vector(dtype: str, share: float = 0.7) -> Any:
    at = np.flatnonzero(np.random.default_rng(9).random(N) < share)
    return gb.Vector.from_coo(at, np.exp(2j * at), dtype, size=N)


def assert_close(got: Any, want: Any, dtype: str) -> None:
    assert got.dtype == want.dtype
    (at, values), (want_at, want_values) = got.to_coo(), want.to_coo()
    np.testing.assert_array_equal(at, want_at)
    np.testing.assert_allclose(values, want_values, rtol=1e-4 if dtype == "FC32" else 1e-12)


@pytest.mark.parametrize("order", ["forward", "reverse", "random", "lockstep"])
def test_many_threads_combine_into_few_values(order: str, emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums use atomics on each part; products use compare-and-swap for FC32, and lanes take turns for FC64."""
    monkeypatch.setattr(emulated, "order", order)
    before = cuda.use(emulated)
    try:
        with gb.config.set(fallback="error"):
            for dtype in ("FC32", "FC64"):
                A = matrix(dtype, into_few=True)
                B = A.to("gpu")
                for semiring in (gb.semiring.plus_second, gb.semiring.times_second):
                    u, v = vector(dtype), vector(dtype)
                    assert_close(v.vxm(B, semiring).new(), u.vxm(A, semiring).new(), dtype)
    finally:
        cuda.use(before)


@pytest.mark.parametrize("order", ["forward", "reverse", "random", "lockstep"])
def test_lanes_share_a_table_of_sums(order: str, emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated, "order", order)
    before = cuda.use(emulated)
    try:
        with gb.config.set(fallback="error"):
            for dtype in ("FC32", "FC64"):
                A = matrix(dtype)
                B = A.to("gpu")
                got, want = B.mxm(B).new().to_coo(), A.mxm(A).new().to_coo()
                assert all(np.allclose(x, y, rtol=1e-4) for x, y in zip(got, want, strict=True))
    finally:
        cuda.use(before)


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_rows_in_chunks_and_every_placement(placement: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 32)
    A = matrix("FC64")
    B = A.to("gpu", placement=placement, with_transpose=True)
    with gb.config.set(fallback="error"):
        assert B._store.placement == placement
        for semiring in (gb.semiring.plus_times, gb.semiring.times_second):
            u, v = vector("FC64"), vector("FC64")
            assert_close(B.mxv(v, semiring).new(), A.mxv(u, semiring).new(), "FC64")
            w, x = vector("FC64", 0.4), vector("FC64", 0.4)
            w(~v.S, gb.binary.plus) << v.vxm(B, semiring)
            x(~u.S, gb.binary.plus) << u.vxm(A, semiring)
            assert_close(w, x, "FC64")
        kept = B.select("!=", A.to_coo()[2][0]).new()
        assert (kept.nvals, kept._store.placement) == (A.nvals - 1, placement)
        assert_close(B.T.new()[3, :].new(), A[:, 3].new(), "FC64")


def test_a_row_s_heads_have_complex_values(gpu: Any) -> None:
    A = matrix("FC32")
    B = A.to("gpu", placement="zerocopy")
    with gb.config.set(head_cache="on", fallback="error"):
        got = B.mxv(vector("FC32", 0.5), gb.semiring.any_first).new()
    assert got.nvals == A.mxv(vector("FC32", 0.5), gb.semiring.any_first).new().nvals
    of_row = {i: set(row.values()) for i, row in A.to_dicts().items()}
    assert all(value in of_row[i] for i, value in got.to_dict().items())


def test_nothing_is_said_of_complex_numbers(gpu: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v = gb.Vector.from_dense([1j, 2, 3 - 1j]).to("gpu")
        v[1] = 4j
        v.resize(2)
        assert v.to_dict() == {0: 1j, 1: 4j}
        assert v.dup("FP64").to_dict() == {0: 0, 1: 0}
        assert gb.Vector.from_dense([1.0, 2]).to("gpu").dup("FC32").to_dict() == {0: 1, 1: 2}
        assert v.isequal(v.dup())
