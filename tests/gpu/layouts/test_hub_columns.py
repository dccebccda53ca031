"""Columns numbered by descending length: products with full vectors are equal but for the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu import matrix_conversions
from sparsezc.engines.gpu.layouts import column_blocks, hub_columns
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.storage import layout
from sparsezc.memory import budget

N = 1000
HUBS = 20  # entries of 8 bytes that fit shared memory, half of the hubs


@pytest.fixture(autouse=True)
def small(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(column_blocks, "_PAYS", 0)
    monkeypatch.setattr(cuda.current(), "cache_bytes", 8 * N / 4 / column_blocks._PART)
    monkeypatch.setattr(cuda.current(), "block_bytes", hub_columns._L1 + 8 * HUBS)
    budget.reclaim()


def matrix(dtype: str, kind: str = "hubs", ncols: int = N) -> gb.Matrix:
    """Return rows of 16 entries, some up to 60, and a long row; in "hubs" 70% of the entries are in 40 columns."""
    rng = np.random.default_rng(6)
    rows = np.repeat(np.arange(N), 16 + 44 * (np.arange(N) % 50 < 3))
    columns = rng.integers(100, ncols, rows.size)
    if kind == "hubs":
        columns = np.where(rng.random(rows.size) < 0.7, rng.choice(ncols, 40, replace=False)[columns % 40], columns)
    if kind == "near":
        columns = np.clip(rows + rng.integers(-9, 10, rows.size), 0, ncols - 1)
    rows, columns = np.append(rows, np.full(300, 7)), np.append(columns, np.arange(200, 500))
    return gb.Matrix.from_coo(rows, columns, rng.integers(1, 90, rows.size), dtype, nrows=N, ncols=ncols, dup_op="plus")


def held(A: gb.Matrix, ids: Any = None, *, columns: bool = True) -> gb.Matrix:
    B = gb.Matrix._from_csr(A._to_csr().place("device", ids=ids), "gpu")
    if columns:
        matrix_conversions.keep_transpose(B._store)
    return B


def full(dtype: str, size: int = N) -> gb.Vector:
    return gb.Vector.from_dense(np.arange(size) * 5 % 7 / 3 + 1).dup(dtype)


def built(A: gb.Matrix) -> Any:
    return A._store.rows.layouts[HubColumns].built


@pytest.mark.parametrize(
    ("dtype", "name", "ncols"),
    [("FP64", "plus_times", N), ("FP64", "plus_second", N), ("FP32", "min_max", 2 * N), ("INT64", "plus_times", 1200)],
)
def test_products_are_the_same(dtype: str, name: str, ncols: int, gpu: Any) -> None:
    A, u = matrix(dtype, ncols=ncols), full(dtype, ncols)
    B, v = held(A, columns=dtype != "FP32"), u.to("gpu")  # without a transpose, entries of columns are counted
    for product in (lambda M, x: M.mxv(x, name), lambda M, x: x.vxm(M.T, name)):
        wanted, first = product(A, u).new(), None
        for _ in range(hub_columns._PRODUCTS + 2):
            got = product(B, v).new()
            first = got if first is None else first
            assert got.isclose(first, rel_tol=1e-14 if name.startswith("plus") and dtype == "FP64" else 0)
            assert got.to("cpu").isclose(wanted, rel_tol=1e-6, check_dtype=True)
    assert np.all(np.diff(np.bincount(built(B).rows.indices.load(), minlength=ncols)) <= 0)
    assert built(B).columns.size == np.unique(A.to_coo()[1]).size < ncols
    assert built(B).nbytes == 4 * (A.nvals + built(B).columns.size) == B._store.rows.layouts[HubColumns].nbytes
    assert built(B).in_shared(v.dtype, A.nvals) == 8 * HUBS // v.dtype.np_type.itemsize
    assert B._store.rows.layouts[ColumnBlocks].built is None


def test_of_columns_in_this_order_only_the_first_are_kept_apart(gpu: Any) -> None:
    rows, columns, values = matrix("FP64").to_coo()
    places = np.argsort(np.argsort(-np.bincount(columns, minlength=N), kind="stable"))
    A, u = gb.Matrix.from_coo(rows, places[columns], values, nrows=N, ncols=N), full("FP64")
    B, v = held(A), u.to("gpu")
    first = B.mxv(v, "plus_times").new()
    assert first.to("cpu").isclose(A.mxv(u, "plus_times").new())
    for _ in range(hub_columns._PRODUCTS + 1):
        assert B.mxv(v, "plus_times").new().isclose(first, rel_tol=1e-14)
    assert built(B).rows is None
    assert built(B).nbytes == 0
    assert built(B).in_shared(v.dtype, A.nvals) == HUBS
    assert built(B).in_shared(v.dtype, 9 * A.nvals) == 0  # shared memory does not pay with so few entries a column


def writes_into_others(A: gb.Matrix, B: gb.Matrix, u: gb.Vector, v: gb.Vector) -> None:
    """Check products of B and v, on the GPU, that are accumulated, narrower, or overwrite the vector they read."""
    for dtype, accum in (("FP32", None), ("FP64", gb.binary.plus), ("FP32", gb.binary.times)):
        got, want = full(dtype).to("gpu"), full(dtype)
        got(accum=accum) << B.mxv(v, "plus_second")
        want(accum=accum) << A.mxv(u, "plus_second")
        assert got.to("cpu").isclose(want, rel_tol=1e-6, check_dtype=True)
    got, want = full("FP64").to("gpu"), full("FP64")
    got << B.mxv(got, "plus_second")
    want << A.mxv(want, "plus_second")
    assert got.to("cpu").isclose(want)


def test_accumulated_narrower_and_overwritten(gpu: Any) -> None:
    A, u = matrix("FP64"), full("FP64")
    B, v = held(A), u.to("gpu")
    for _ in range(hub_columns._PRODUCTS + 1):
        B.mxv(v, "plus_second").new()
    assert built(B) is not None
    writes_into_others(A, B, u, v)


def test_products_that_it_does_not_serve(gpu: Any) -> None:
    A, u, one = matrix("INT64"), full("INT64"), gb.Vector.from_coo([1, 7], 1, size=N)
    B, v, m = held(A), u.to("gpu"), gb.Vector.from_coo(np.arange(0, N, 3), True, size=N)
    wide = held(A, np.uint64)
    for _ in range(hub_columns._PRODUCTS + 2):
        for op in ("min_secondi", "any_second", "plus_first"):  # values are ids; sums end early; the vector is not read
            assert B.mxv(v, op).new().nvals == A.mxv(u, op).new().nvals
        assert B.mxv(v, "min_secondi").new().to("cpu").isequal(A.mxv(u, "min_secondi").new())
        assert B.mxv(v, "plus_times").new(mask=m.S).to("cpu").isequal(A.mxv(u, "plus_times").new(mask=m.S))
        assert B.mxv(one.to("gpu"), "plus_times").new().to("cpu").isequal(A.mxv(one, "plus_times").new())
        assert wide.mxv(v, "plus_times").new().to("cpu").isequal(A.mxv(u, "plus_times").new())
        with gb.config.set(packing="on"):
            assert B.mxv(v, "plus_times").new().to("cpu").isequal(A.mxv(u, "plus_times").new())
    assert built(B) is None
    assert built(wide) is None


@pytest.mark.parametrize("kind", ["random", "near"])
def test_others_than_scattered_hubs_are_left(kind: str, gpu: Any) -> None:
    B, v = held(matrix("FP64", kind)), full("FP64").to("gpu")
    for _ in range(hub_columns._PRODUCTS + 2):
        B.mxv(v, "plus_times").new()
    assert built(B) is None
    assert (B._store.rows.layouts[ColumnBlocks].built is not None) == (kind == "random")


def test_it_goes_where_memory_is_needed(gpu: Any) -> None:
    A, v = matrix("FP64"), full("FP64").to("gpu")
    B = held(A)
    with gb.config.set(budget=2 * 4 * A.nvals - 2):
        for _ in range(hub_columns._PRODUCTS + 2):
            first = B.mxv(v, "plus_times").new()
        assert built(B) is None
    B.mxv(v, "plus_times").new()
    assert built(B) is not None
    assert budget.reclaim()
    for k in range((layout._PAUSE + 1) * hub_columns._PRODUCTS + 1):  # building pauses, as memory may be short again
        assert built(B) is None, k
        assert B.mxv(v, "plus_times").new().isclose(first, rel_tol=1e-14)
    assert built(B) is not None


def test_pagerank(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:9")
    monkeypatch.setattr(cuda.current(), "cache_bytes", 4 * A.nrows / 8 / column_blocks._PART)
    monkeypatch.setattr(column_blocks, "_HUB", 1)  # so small a graph has few hubs
    B = A.to("gpu", placement="device")
    wanted = gb.algorithms.pagerank(A, tol=None, max_iter=20)
    assert gb.algorithms.pagerank(B, tol=None, max_iter=20).to("cpu").isclose(wanted, abs_tol=1e-12)
    assert built(B) is not None
    start = gb.Vector.from_dense(np.full(A.nrows, 1 / A.nrows, np.float32)).to("gpu")
    narrow = gb.algorithms.pagerank(B, tol=None, max_iter=20, nstart=start).to("cpu")
    assert narrow.dtype == "FP32"
    # Each of the 20 rounds rounds a rank three times, with a relative error of 2^-24; the damping passes 0.85 of it on.
    assert np.abs(narrow.to_dense() - wanted.to_dense()).sum() <= 3 * 2**-24 / (1 - 0.85)
