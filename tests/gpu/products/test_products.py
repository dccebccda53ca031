"""Products of matrices: rows of few and of many products, in one block and in many, with few and many columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.products import spgemm_dense, spgemm_heavy_rows, spgemm_rows
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr
from tests.gpu.products.test_spgemm_masked_dot import matrix

#: Lengths of A's rows and of B's rows, and the number of B's columns. A warp's table holds 16 to 40 ids.
LENGTHS = {
    "every length": ([0, 1, 5, 80, 33, 64, 17, 16, 3, 0, 76] * 4, [7, 0, 130, 16, 17, 300, 1, 2] * 10, 1100),
    "many products, few columns": ([3, 2, 60, 1] * 12, [14] * 80, 14),
    "a map of several parts": ([40, 1, 2], [1, 2, 3, 290] * 20, 70_000),
}
SEMIRINGS = [
    ("plus_times", "FP32"),
    ("plus_pair", "INT64"),
    ("any_pair", "BOOL"),
    ("min_plus", "INT8"),
    ("max_first", "INT8"),
]
SEMIRINGS += [("plus_secondi", "INT64"), ("times_second", "INT16"), ("plus_pair", "FP64"), ("plus_times", "FC64")]


@contextmanager
def small_tables() -> Iterator[None]:
    """Shrink tables, so that small rows are too long for a warp."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spgemm_rows, "TABLE_BYTES", 2048)
        patch.setattr(spgemm_rows, "PATIENCE", 300)
        patch.setattr(spgemm_dense, "COLUMNS", 0)
        yield


@contextmanager
def dense_rows() -> Iterator[None]:
    """Give rows of more than four products a slot for each column, in parts of few columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spgemm_rows, "TABLE_BYTES", 256)
        patch.setattr(spgemm_dense, "BYTES", 1024)
        patch.setattr(spgemm_dense, "COLUMNS", 2**20)
        yield


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("name", LENGTHS)
def test_every_semiring_on_rows_of_every_length(name: str, placement: str, gpu: Any) -> None:
    a, b, ncols = LENGTHS[name]
    for text, dtype in SEMIRINGS:
        semiring = getattr(gb.semiring, text)
        A, B = matrix(a, 80, dtype, 1), matrix(b, ncols, dtype, 2)
        X, Y = (x.to("gpu", placement=placement) for x in (A, B))
        wanted = A.mxm(B, semiring).new()
        for ways in (small_tables, dense_rows):
            with ways():
                got = X.mxm(Y, semiring).new()
            assert got.isequal(wanted, check_dtype=True), (text, ways)


@contextmanager
def light_rows() -> Iterator[list[int]]:
    """Let all grid blocks share rows of a hundred products; yield the list of such rows."""
    shared: list[int] = []

    class Noted(spgemm_heavy_rows.HeavyRow):
        def __init__(self, a: Any, b: Any, row: int, marking: str) -> None:
            super().__init__(a, b, row, marking)
            shared.append(row)

    with pytest.MonkeyPatch.context() as patch:
        for constant, value in (("PRODUCTS", 100), ("PIECE", 37), ("PARTS", 5)):
            patch.setattr(spgemm_heavy_rows, constant, value)
        patch.setattr(spgemm_dense, "COLUMNS", 0)
        patch.setattr(spgemm_rows, "HeavyRow", Noted)
        yield shared


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_rows_that_all_blocks_share(placement: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long rows that meet short rows and short rows that meet long ones are shared, beside others that are not."""
    for text, dtype in (("plus_times", "FP64"), ("min_plus", "INT8"), ("any_pair", "BOOL"), ("plus_secondi", "INT64")):
        semiring = getattr(gb.semiring, text)
        A = matrix([3, 70, 0, 1, 2, 75, 5, 80], 80, dtype, 1)
        B = matrix([7, 0, 0, 130, 1, 17, 990, 2] * 10, 1100, dtype, 2)
        products = A.mxv(B.reduce_rowwise(gb.agg.count).new(), "plus_second").new().to_dense(0)
        wanted = A.mxm(B, semiring).new()
        X, Y = (x.to("gpu", placement=placement) for x in (A, B))
        for space in (1 << 28, 100_000):  # space for the sums of one or two parts
            monkeypatch.setattr(budget, "available", lambda space=space: space)
            with light_rows() as shared:
                assert X.mxm(Y, semiring).new().isequal(wanted, check_dtype=True), (text, space)
            assert sorted(set(shared)) == np.flatnonzero(products > 100).tolist()
        monkeypatch.undo()


def test_a_row_is_shared_where_it_has_a_large_part_of_all_products() -> None:
    assert spgemm_heavy_rows.least(np.array([1 << 30] + [10] * 1000)) < 1 << 30
    assert spgemm_heavy_rows.least(np.full(10_000, 1 << 30)) > 1 << 30
    assert spgemm_heavy_rows.least(np.array([1000])) > 1000


@pytest.mark.parametrize("space", [30_000, 100_000])
def test_blocks_of_rows(space: int, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = matrix([30] * 60, 80, "INT64", 1), matrix([25] * 80, 300, "INT64", 2)
    X, Y = (x.to("gpu", placement="zerocopy") for x in (A, B))
    monkeypatch.setattr(budget, "available", lambda: space)
    with small_tables():
        assert X.mxm(Y, "plus_times").new().isequal(A.mxm(B, "plus_times").new())


def test_columns_that_no_map_holds_are_numbered_anew(gpu: Any) -> None:
    """There may be 2^60 columns, and an id of 4 bytes may equal the mark of an empty slot."""
    last = 2**32 - 1
    for ncols, ids in ((2**60, np.uint64), (2**32, np.uint32), (2**32, np.uint64)):
        columns = np.array([3, 70, last, 5, 70, last], np.uint64)
        csr = Csr.from_arrays([0, 3, 6], columns, np.array([2, 3, 5, 7, 11, 13]), ncols)
        B = gb.Matrix._from_csr(csr.place("device", ids=ids), "gpu")
        A = gb.Matrix.from_coo([0, 0, 2], [0, 1, 1], [1, 10, 100], nrows=3, ncols=2).to("gpu")
        for semiring, values in (
            ("plus_times", [2, 70, 113, 135, 700, 1100, 1300]),
            ("max_secondj", [3, 5, 70, last, 5, 70, last]),
        ):
            with small_tables(), pytest.MonkeyPatch.context() as patch:
                patch.setattr(spgemm_rows, "TABLE_BYTES", 256)
                C = A.mxm(B, semiring).new()
            assert C.ncols == ncols
            assert [x.tolist() for x in C.to_coo()] == [[0] * 4 + [2] * 3, [3, 5, 70, last, 5, 70, last], values]


@pytest.mark.parametrize("ways", [small_tables, light_rows, dense_rows])
@pytest.mark.parametrize("order", ["random", "reverse"])
def test_sums_do_not_depend_on_timing(order: str, ways: Any, emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Floating-point sums are equal to the bit whichever lane runs first, in rows of few and of many products."""
    rng = np.random.default_rng(7)
    A = gb.Matrix.from_dense(rng.random((9, 50)) * 10.0 ** rng.integers(-8, 8, (9, 50)))
    B = gb.Matrix.from_dense(rng.random((50, 70)) * 10.0 ** rng.integers(-8, 8, (50, 70)))
    few = B.select("colle", 8).new()
    before = cuda.use(emulated)
    try:
        with ways():
            a = A.to("gpu")
            for b in (B.to("gpu"), few.to("gpu")):
                monkeypatch.setattr(emulated, "order", "forward")
                expected = a.mxm(b, "plus_times").new().to_dense(fill_value=0)
                monkeypatch.setattr(emulated, "order", order)
                for seed in range(3):
                    monkeypatch.setattr(emulated, "seed", seed)
                    assert np.array_equal(a.mxm(b, "plus_times").new().to_dense(fill_value=0), expected)
    finally:
        cuda.use(before)
