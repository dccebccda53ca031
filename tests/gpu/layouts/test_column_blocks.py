"""Matrices in column blocks: products with full vectors have the same results and read the same entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu import matrix_conversions
from sparsezc.engines.gpu.layouts import column_blocks
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.storage import layout
from sparsezc.memory import budget

N = 330


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(column_blocks, "_PAYS", 0)
    monkeypatch.setattr(column_blocks, "_HUB", N)
    budget.reclaim()


def parts_of(monkeypatch: pytest.MonkeyPatch, count: float, entry_bytes: int, size: int = N) -> None:
    """Set the device's cache so that vectors of such entries are cut into `count` blocks."""
    monkeypatch.setattr(cuda.current(), "cache_bytes", -(-size * entry_bytes // count) / column_blocks._PART)


def held(A: gb.Matrix, placement: str = "device") -> gb.Matrix:
    """Return a matrix in device memory with its transpose."""
    B = A.to("gpu", placement=placement)
    matrix_conversions.keep_transpose(B._store)
    return B


def matrix(dtype: str, *, iso: bool = False, ncols: int = N) -> gb.Matrix:
    """Return a matrix with rows of every length, a long row, empty rows, and a block of columns without entries."""
    rng = np.random.default_rng(4)
    present = rng.random((N, ncols)) < rng.random((N, 1)) ** 3
    present[5, :200] = True
    present[40:90] = False
    present[:, 110:220] = False
    rows, columns = np.nonzero(present)
    values: Any = 1 if iso else rng.integers(1, 90, rows.size)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=ncols)


def full(dtype: str, size: int = N) -> gb.Vector:
    return gb.Vector.from_dense(np.arange(size) % 7 + 1).dup(dtype)


@pytest.mark.parametrize(
    ("dtype", "name", "variant", "count"),
    [
        ("FP64", "plus_times", "plain", 3), ("FP64", "plus_times", "iso", 7), ("FP64", "plus_times", "wide ids", 31),
        ("FP64", "plus_second", "plain", 31), ("INT32", "min_plus", "plain", 7), ("INT16", "min_plus", "iso", 3),
        ("UINT8", "max_times", "plain", 3), ("FP32", "min_max", "wide ids", 3),
    ],
)  # fmt: skip
def test_products_are_the_cpu_engine_s(
    dtype: str, name: str, variant: str, count: int, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, u = matrix(dtype, iso=variant == "iso"), full(dtype)
    parts_of(monkeypatch, count, u.dtype.np_type.itemsize)
    csr = A._to_csr().place("device", ids=np.uint64 if variant == "wide ids" else None)
    B, v = gb.Matrix._from_csr(csr, "gpu"), u.to("gpu")
    matrix_conversions.keep_transpose(B._store)
    for product in (lambda M, x: M.mxv(x, name), lambda M, x: x.vxm(M.T, name)):
        wanted = product(A, u).new()
        for _ in range(4):
            assert product(B, v).new().to("cpu").isclose(wanted, rel_tol=1e-6, check_dtype=True)
    blocks = B._store.rows.layouts[ColumnBlocks].built
    assert len(blocks.rows) == count
    assert sum(block.nvals for block in blocks.rows) == A.nvals
    assert blocks.values == (not csr.iso and name != "plus_second")
    nbytes = csr.indices.nbytes + blocks.values * csr.values.nbytes
    assert blocks.nbytes == nbytes + 8 * count * (N + 1)


def test_only_products_that_it_serves_are_cut(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u, op = matrix("FP64"), full("FP64"), "plus_second"
    parts_of(monkeypatch, 4, 8)
    m, few = gb.Vector.from_coo(np.arange(0, N, 3), True, size=N), gb.Vector.from_coo([1, 7], 1.0, size=N)
    B, v = held(A), u.to("gpu")
    for _ in range(4):
        assert B.mxv(v, op).new(mask=m.S).to("cpu").isclose(A.mxv(u, op).new(mask=m.S))
        assert B.mxv(few.to("gpu"), op).new().to("cpu").isclose(A.mxv(few, op).new())
        assert B.mxv(v, "plus_first").new().to("cpu").isclose(A.mxv(u, "plus_first").new())
        got, want = full("FP64").to("gpu"), full("FP64")
        got(gb.binary.plus) << B.mxv(v, op)
        want(gb.binary.plus) << A.mxv(u, op)
        assert got.to("cpu").isclose(want)
        got, want = full("FP64").to("gpu"), full("FP64")
        got << B.mxv(got, op)  # the output is also an operand
        want << A.mxv(want, op)
        assert got.to("cpu").isclose(want)
        with gb.config.set(packing="on"):  # packing applies whether or not the values fit a word
            assert B.mxv(v, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
        C = held(A, "zerocopy")
        assert C.mxv(v, op).new().to("cpu").isclose(A.mxv(u, op).new())
    assert B._store.rows.layouts[ColumnBlocks].built is None
    for _ in range(3):
        w = full("FP64").to("gpu")  # its old content is dropped
        w << B.mxv(v, op)
        assert w.to("cpu").isclose(A.mxv(u, op).new())
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 4


def test_sums_are_rounded_once_to_the_result_s_type(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.random.default_rng(2).random(N))
    parts_of(monkeypatch, 4, 8)
    B, v = held(A), u.to("gpu")
    for _ in range(4):
        got, wide = gb.Vector("FP32", N).to("gpu"), gb.Vector("FP64", N).to("gpu")
        got << B.mxv(v, "plus_second")
        wide << B.mxv(v, "plus_second")
        assert got.isequal(wide.dup("FP32"), check_dtype=True)
        assert got.to("cpu").isclose(A.mxv(u, "plus_second").new("FP32"), rel_tol=1e-6)
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 4


def test_a_matrix_of_few_columns_or_short_rows_is_left_whole(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, v = held(matrix("FP64")), full("FP64").to("gpu")
    for count, pays in ((2, 0), (40, 0), (4, 30)):
        parts_of(monkeypatch, count, 8)
        monkeypatch.setattr(column_blocks, "_PAYS", pays)
        for _ in range(4):
            A.mxv(v, "plus_second").new()
        assert A._store.rows.layouts[ColumnBlocks].built is None


def test_matrices_that_are_not_square(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("INT64", ncols=1000), full("INT64", 1000)
    parts_of(monkeypatch, 5, 8, 1000)
    B, v = held(A), u.to("gpu")
    for _ in range(4):
        assert B.mxv(v, "plus_times").new().to("cpu").isequal(A.mxv(u, "plus_times").new())
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 5


def test_blocks_go_where_the_room_is_needed(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, v = matrix("FP64"), full("FP64").to("gpu")
    parts_of(monkeypatch, 4, 8)
    B = held(A)
    needed = 4 * A.nvals + 8 * 4 * (N + 1)
    with gb.config.set(budget=2 * needed - 2):
        for _ in range(4):
            B.mxv(v, "plus_second").new()
        assert B._store.rows.layouts[ColumnBlocks].built is None
    with gb.config.set(budget=2 * needed + 2):
        free = budget.available()
        first = B.mxv(v, "plus_second").new()
        assert budget.available() == free - needed
        assert B._store.rows.layouts[ColumnBlocks].built.nbytes == needed
        assert budget.reclaim()
        for k in range((layout._PAUSE + 1) * column_blocks._PRODUCTS):  # building pauses, as memory may be short again
            assert B._store.rows.layouts[ColumnBlocks].built is None, k
            assert B.mxv(v, "plus_second").new().to("cpu").isclose(first.to("cpu"))
    assert B.mxv(v, "plus_times").new().to("cpu").isclose(A.mxv(full("FP64"), "plus_times").new())
    assert B._store.rows.layouts[ColumnBlocks].built.values  # blocks with values serve both products
    B.mxv(v, "plus_second").new()
    assert B._store.rows.layouts[ColumnBlocks].built.values


def test_blocks_without_values_go_before_those_with_values_are_made(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, v = matrix("FP64"), full("FP64").to("gpu")
    parts_of(monkeypatch, 4, 8)
    B = held(A)
    with gb.config.set(budget=2 * (12 * A.nvals + 8 * 4 * (N + 1)) + 2):  # space for one of the two forms
        for _ in range(3):
            B.mxv(v, "plus_second").new()
        assert not B._store.rows.layouts[ColumnBlocks].built.values
        B.mxv(v, "plus_times").new()
        assert B._store.rows.layouts[ColumnBlocks].built.values


def test_wider_vectors_are_given_more_blocks_which_narrower_ones_use(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix("FP64")
    parts_of(monkeypatch, 6, 8)
    B, counts = held(A), []
    for dtype in ("FP32", "FP32", "FP32", "FP64", "FP32"):
        got = B.mxv(full(dtype).to("gpu"), gb.semiring.plus_second["FP64"]).new()
        assert got.to("cpu").isclose(A.mxv(full(dtype), gb.semiring.plus_second["FP64"]).new())
        made = B._store.rows.layouts[ColumnBlocks].built
        counts.append(0 if made is None else len(made.rows))
    assert counts == [0, 0, 3, 6, 6]


def test_packing_concerns_products_that_read_values(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("UINT8"), full("FP64")
    parts_of(monkeypatch, 4, 8)
    B = held(A)
    with gb.config.set(packing="on"):
        for _ in range(3):
            assert B.mxv(u.to("gpu"), "plus_second").new().to("cpu").isclose(A.mxv(u, "plus_second").new())
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 4


def test_pagerank_and_recorded_rounds(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("kron:9", weights="hash:1-255")
    parts_of(monkeypatch, 4, 8, A.nrows)
    B = A.to("gpu", placement="device")
    assert gb.algorithms.pagerank(B).to("cpu").isclose(gb.algorithms.pagerank(A), abs_tol=1e-9)
    assert len(B._store.rows.layouts[ColumnBlocks].built.rows) == 4
    assert gb.algorithms.sssp(B, 1).to("cpu").isclose(gb.algorithms.sssp(A, 1))
    assert gb.algorithms.connected_components(B).to("cpu").isequal(gb.algorithms.connected_components(A))
    assert cuda.current() is gpu


def pattern(kind: str, n: int = 2000, degree: int = 16) -> tuple[Any, Any]:
    """Return rows and columns of entries: at random, near the diagonal, or most of them in a few columns."""
    rng = np.random.default_rng(6)
    rows = np.repeat(np.arange(n), degree)
    anywhere = rng.integers(0, n, rows.size)
    if kind == "near":
        return rows, np.clip(rows + rng.integers(-20, 21, rows.size), 0, n - 1)
    if kind == "hubs":
        return rows, np.where(rng.random(rows.size) < 0.7, anywhere % 40, anywhere)
    return rows, anywhere


@pytest.mark.parametrize(("kind", "cut"), [("random", True), ("near", False), ("hubs", False), ("one way", False)])
def test_only_what_the_cache_does_not_hold_is_worth_a_cut(
    kind: str, cut: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_blocks, "_HUB", 4)
    rows, columns = pattern(kind)
    A = gb.Matrix.from_coo(rows, columns, np.ones(rows.size), dup_op="plus", nrows=2000, ncols=2000)
    u = gb.Vector.from_dense(np.arange(2000.0))
    parts_of(monkeypatch, 4, 8, 2000)
    B = A.to("gpu", placement="device") if kind == "one way" else held(A)
    for _ in range(4):
        assert B.mxv(u.to("gpu"), "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())
    assert (B._store.rows.layouts[ColumnBlocks].built is not None) == cut
