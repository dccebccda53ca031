"""Ids and small whole values packed in one word: the same answers with fewer requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.memory import budget

N = 150


def matrix(dtype: str, most: int = 255, *, least: int = 0) -> gb.Matrix:
    rng = np.random.default_rng(most)
    rows, columns = np.nonzero(rng.random((N, N)) < 0.3)
    values = rng.integers(least, most, rows.size, endpoint=True)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N)


def vectors(dtype: str) -> tuple[gb.Vector, gb.Vector]:
    rng = np.random.default_rng(3)
    at = np.flatnonzero(rng.random(N) < 0.4)
    return gb.Vector.from_coo(at, rng.integers(1, 4, at.size), dtype, size=N), gb.Vector.from_dense(
        rng.integers(1, 4, N).astype(float)
    ).dup(dtype)


@pytest.mark.parametrize("long", [2048, 33], ids=["sliced", "in chunks"])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize(
    ("dtype", "semirings"),
    [
        ("UINT8", ("min_plus", "max_first")), ("INT8", ("plus_times", "plus_second")),
        ("UINT16", ("min_plus", "max_first")), ("INT64", ("plus_times", "plus_second")),
        ("FP32", ("min_plus", "plus_second")), ("FP64", ("plus_times", "max_first")),
        ("BOOL", ("lor_land", "any_pair")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)  # fmt: skip
def test_answers_are_the_same(
    dtype: str, semirings: tuple[str, str], placement: str, long: int, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "LONG", long)
    A = matrix(dtype, 1 if dtype == "BOOL" else 120)
    with gb.config.set(packing="on"):
        B = A.to("gpu", placement=placement)
        for u in vectors(dtype):
            for name in semirings:
                for got, want in (
                    (B.mxv(u, name).new(), A.mxv(u.to("cpu"), name).new()),
                    (u.vxm(B, name).new(), u.to("cpu").vxm(A, name).new()),
                ):
                    assert got.to("cpu").isequal(want, check_dtype=True)
    assert B._store.rows.layouts[PackedValues].built.bits == 8


@pytest.mark.parametrize(
    ("dtype", "most", "least"),
    [("INT64", 2**24 - 1, 0), ("INT64", 2**24, 0), ("INT8", 9, -9), ("FP64", 3, 0), ("FP32", 2**24, 0)],
)
def test_what_does_not_fit_stays_as_it_is(dtype: str, most: int, least: int, gpu: Any) -> None:
    """Beside ids of 8 bits a value has 24 bits, and FP32's largest exact whole number, 2^24, does not fit."""
    A = matrix(dtype, most, least=least)
    A[3, 5] = most if dtype != "FP64" else 2.5
    A[3, 6] = least
    u = vectors(dtype)[1]
    with gb.config.set(packing="on"):
        B = A.to("gpu")
        assert B.mxv(u, "min_plus").new().to("cpu").isequal(A.mxv(u.to("cpu"), "min_plus").new())
    assert (B._store.rows.layouts[PackedValues].built.words is not None) == (most == 2**24 - 1)


def test_nan_is_no_whole_number(gpu: Any) -> None:
    A = matrix("FP64", 3)
    A[0, 0] = float("nan")
    with gb.config.set(packing="on"):
        B = A.to("gpu")
        B.mxv(vectors("FP64")[1], "plus_times").new()
    assert B._store.rows.layouts[PackedValues].built.words is None


def test_when_words_are_made_and_what_they_save(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated, "order", "lockstep")
    monkeypatch.setattr(emulated, "counting", True)
    before = cuda.use(emulated)
    try:
        A, u = matrix("UINT8").to("gpu", placement="zerocopy"), vectors("UINT8")[1]
        reads = []
        for _ in range(4):
            emulated.reset()
            A.mxv(u, "plus_times").new()
            reads.append((emulated.total(0).bytes, emulated.total(1).bytes))
            made = A._store.rows.layouts[PackedValues].built is not None
        assert made
        assert reads[0][1] > 0
        assert reads[-1] == (reads[0][0], 0)  # requests for ids bring the values
        near = matrix("UINT8").to("gpu", placement="device")
        for _ in range(4):
            near.mxv(u, "plus_times").new()
        assert near._store.rows.layouts[PackedValues].built is None
    finally:
        cuda.use(before)


def test_without_host_memory_nothing_is_packed(gpu: Any) -> None:
    A, u = matrix("UINT8").to("gpu", placement="zerocopy"), vectors("UINT8")[1]
    want = matrix("UINT8").mxv(u.to("cpu"), "plus_times").new()
    with gb.config.set(packing="on", host_budget=10):
        assert A.mxv(u, "plus_times").new().to("cpu").isequal(want)
    assert A._store.rows.layouts[PackedValues].built.words is None
