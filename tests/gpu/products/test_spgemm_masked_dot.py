"""Masked products: rows of every length, in a warp's table, in a block's, and without a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.products import bit_dots, spgemm_masked_dot
from sparsezc.memory.csr import Csr

N = 310  # the number of columns of A and of rows of B

#: Lengths of A's rows, of B's columns, and of the mask's rows. A block's table holds up to 256 ids, a warp's 16.
LENGTHS = {
    "every length": (
        [0, 1, 5, 200, 33, 64, 17, 16, 3, 0, 90],
        [7, 0, 130, 16, 17, 300, 1, 2, 33],
        [5, 90, 3, 0, 40, 2, 1, 9],
    ),
    "rows that no table holds": ([300] * 4 + [2] * 40, [1] * 50 + [290] * 20, [70] * 4 + [1] * 20 + [66] * 20),
    "short rows in long ones": ([3] * 50, [300] * 70, [20] * 50),
    "tables that few would ask": ([12, 250], [40] * 30, [1, 2]),
}
SEMIRINGS = [
    ("plus_times", "INT64"),
    ("plus_pair", "INT64"),
    ("any_pair", "BOOL"),
    ("min_plus", "FP32"),
    ("max_first", "INT8"),
]
SEMIRINGS += [("plus_firstj", "INT64")]


@contextmanager
def small_tables() -> Iterator[None]:
    """Shrink tables, so that small rows are too long for a warp, a block, or a table."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in (("TABLE_BYTES", 2048), ("WARP_MASK", 8), ("CHUNK", 40)):
            patch.setattr(spgemm_masked_dot, constant, value)
        yield


def matrix(lengths: list[int], ncols: int, dtype: str, seed: int) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.concatenate([np.sort(rng.permutation(ncols)[:k]) for k in lengths])
    values = rng.integers(0, 4, rows.size)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=len(lengths), ncols=ncols)


def operands(name: str, dtype: str) -> list[gb.Matrix]:
    a, b, m = LENGTHS[name]
    a, m = (3 * x if len(x) < 30 else x for x in (a, m))
    m = (m * 2)[: len(a)] + [0] * (len(a) - 2 * len(m))
    return [
        matrix(a, N, dtype, 1),
        matrix(b * (5 if len(b) < 10 else 1), N, dtype, 2),
        matrix(m, max(len(b), 90), "INT8", 3),
    ]


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("name", LENGTHS)
def test_every_semiring_on_rows_of_every_length(name: str, placement: str, gpu: Any) -> None:
    for text, dtype in SEMIRINGS:
        semiring = getattr(gb.semiring, text)
        A, B, M = operands(name, dtype)
        M.resize(A.nrows, B.nrows)
        X, Y, Z = (x.to("gpu", placement=placement) for x in (A, B, M))
        for kind in ("S", "V"):
            with small_tables():
                got = X.mxm(Y.T, semiring).new(mask=getattr(Z, kind))
            wanted = A.mxm(B.T, semiring).new(mask=getattr(M, kind))
            assert wanted.nvals
            assert got.isequal(wanted, check_dtype=True), (text, kind)


@pytest.mark.parametrize("seed", [0, 4, 5, 6])
def test_counts_of_rows_that_meet_in_few_columns(seed: int, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are counted by bits or lists of numbers, and rows with other columns as in any product; B' may be A'."""
    taken: list[Any] = []
    launch = bit_dots.BitDots.launch
    monkeypatch.setattr(
        bit_dots.BitDots, "launch", lambda self, *a, **b: taken.append(launch(self, *a, **b)) or taken[-1]
    )
    for constant, value in (("HUBS", 320 if seed else 96), ("CHUNK", 40), ("FEWEST", 4), ("PAYS", 0)):
        monkeypatch.setattr(bit_dots, constant, value)
    rng = np.random.default_rng(seed)

    def skewed(nrows: int, ncols: int) -> gb.Matrix:
        i, j = np.nonzero(rng.random((nrows, ncols)) < rng.random((nrows, 1)) ** 2 * rng.random((1, ncols)) ** 2)
        return gb.Matrix.from_coo(i, j, rng.integers(0, 2, i.size), "INT64", nrows=nrows, ncols=ncols)

    A, B, M, S = skewed(190, 170), skewed(120, 170), skewed(190, 120), skewed(190, 190)
    X, Y, K, T = (x.to("gpu", placement="device") for x in (A, B, M, S))
    for kind, dtype in (("S", "INT64"), ("V", "UINT8")):
        semiring = gb.semiring.plus_pair[dtype]
        with small_tables():
            got = X.mxm(Y.T, semiring).new(mask=getattr(K, kind)), T.mxm(T.T, semiring).new(mask=T.S)
        assert got[0].isequal(A.mxm(B.T, semiring).new(mask=getattr(M, kind)), check_dtype=True)
        assert got[1].isequal(S.mxm(S.T, semiring).new(mask=S.S), check_dtype=True)
    assert len(taken) == 4
    assert all(done.any() and not done.all() for done in taken)


def test_blocks_of_rows_and_old_entries(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result within the mask replaces the output, or is merged with entries that stay."""
    from sparsezc.memory import budget

    A, B, M = operands("every length", "INT64")
    M.resize(A.nrows, B.nrows)
    C = matrix([20] * A.nrows, B.nrows, "INT64", 4)
    monkeypatch.setattr(budget, "available", lambda: 20_000)
    for given in ({}, {"replace": True}, {"accum": "plus"}, {"accum": "min", "replace": True}):
        got = C.to("gpu").dup()
        with small_tables():
            got(M.to("gpu").S, **given) << A.to("gpu").mxm(B.to("gpu").T, "plus_times")
        wanted = C.dup()
        wanted(M.S, **given) << A.mxm(B.T, "plus_times")
        assert got.isequal(wanted), given


def test_ids_of_8_bytes_and_ids_that_look_like_none(gpu: Any) -> None:
    """With 2^32 columns an id of 4 bytes may equal the mark of an empty slot, so no table is built."""
    last = 2**32 - 1
    rows = Csr.from_arrays([0, 2, 4], np.array([5, last, 7, last], np.uint64), np.array([2, 3, 5, 7]), 2**32)
    for left in (np.uint32, np.uint64):
        for right in (np.uint32, np.uint64):
            A = gb.Matrix._from_csr(rows.place("device", ids=left), "gpu")
            B = gb.Matrix._from_csr(rows.place("device", ids=right), "gpu")
            M = gb.Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], 1, nrows=2, ncols=2).to("gpu")
            with small_tables():
                C = A.mxm(B.T, "plus_times").new(mask=M.S)
            assert [x.tolist() for x in C.to_coo()] == [[0, 0, 1, 1], [0, 1, 0, 1], [13, 21, 21, 74]]


@pytest.mark.parametrize("order", ["random", "reverse"])
def test_sums_do_not_depend_on_timing(order: str, emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Floating-point sums are equal to the bit whichever lane and warp runs first."""
    from sparsezc.device import cuda

    rng = np.random.default_rng(7)
    A, B = (gb.Matrix.from_dense(rng.random((40, N)) * 10.0 ** rng.integers(-8, 8, (40, N))) for _ in range(2))
    M = matrix([40] * 40, 40, "INT8", 1)
    before = cuda.use(emulated)
    try:
        a, b, m = (x.to("gpu") for x in (A, B, M))
        with small_tables():
            expected = a.mxm(b.T, "plus_times").new(mask=m.S).to_dense()
            monkeypatch.setattr(emulated, "order", order)
            for seed in range(3):
                monkeypatch.setattr(emulated, "seed", seed)
                assert np.array_equal(a.mxm(b.T, "plus_times").new(mask=m.S).to_dense(), expected)
    finally:
        cuda.use(before)
