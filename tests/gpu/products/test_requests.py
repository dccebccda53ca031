"""Requests of mxv and vxm to host memory, counted on the emulated device: whole lines, and no unnecessary byte.

The bounds are EMOGI's figures (Min et al., VLDB 2021): on graphs of mean degree 64 or more with ids of 8 bytes, at
least 85% of the bytes in requests of 128 bytes, and at most 1.06 bytes for each useful byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr
from tests.emulator.test_emogi import kronecker_lengths

IDS, VALUES = 0, 1
N = 2048  # columns

GRAPHS: dict[str, Any] = {
    "kronecker": kronecker_lengths(scale=9, mean=72),
    "all about 64": 64 + np.random.default_rng(9).integers(-12, 13, 300),
    "all of 100": np.full(150, 100),
    "mixed": np.random.default_rng(6).integers(0, 200, 150),
    "one long and short ones": np.array([3, 0, 2000, 1] + [66] * 20),
}


@pytest.fixture
def link(counted: Any) -> Callable[[Callable[[], Any]], tuple[Any, Any]]:
    """Return a function that runs code and returns its requests over the link, for ids and for values."""

    def asked(run: Callable[[], Any]) -> tuple[Any, Any]:
        counted.reset()
        run()
        return counted.total(IDS), counted.total(VALUES)

    return asked


@pytest.fixture(autouse=True)
def counted(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put the emulated device in use, counting requests to host memory."""
    from sparsezc.device import cuda

    monkeypatch.setattr(emulated, "order", "lockstep")
    monkeypatch.setattr(emulated, "counting", True)
    before = cuda.use(emulated)
    yield emulated
    cuda.use(before)


def matrix(lengths: Any, ids: str = "u8", dtype: str = "FP64", *, iso: bool = False) -> Any:
    """Return a zero-copy matrix of N columns with rows of these lengths."""
    columns = np.concatenate([np.arange(k) * N // max(k, 1) for k in lengths.tolist()])
    values = [2] if iso else np.arange(columns.size) % 5
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    csr = Csr.from_arrays(indptr, columns, values, N, dtype=dtype)
    return gb.Matrix._from_csr(csr.place("zerocopy", ids=ids), "gpu")


def full(size: int, dtype: str = "FP64") -> Any:
    return gb.Vector.from_coo(range(size), np.ones(size), dtype, size=size)


@pytest.mark.parametrize("graph", GRAPHS)
def test_by_rows_requests_are_whole_lines(graph: str, link: Any) -> None:
    A = matrix(GRAPHS[graph])
    ids, values = link(lambda: A.mxv(full(N), gb.semiring.plus_times).new())
    for asked in (ids, values):
        assert asked.useful_bytes == 8 * A.nvals
        assert asked.share128 >= 0.85
        assert asked.bytes_per_useful_byte <= 1.06


@pytest.mark.parametrize("graph", GRAPHS)
def test_by_frontier_requests_are_whole_lines(graph: str, link: Any) -> None:
    A = matrix(GRAPHS[graph])
    ids, values = link(lambda: full(A.nrows).vxm(A, gb.semiring.plus_times).new())
    for asked in (ids, values):
        assert asked.useful_bytes == 8 * A.nvals
        assert asked.share128 >= 0.85
        assert asked.bytes_per_useful_byte <= 1.06


def test_short_rows_share_their_requests(link: Any) -> None:
    """A warp reads 32 short rows as one, where EMOGI's warp takes one row, so requests are larger than the paper's."""
    for lengths in (np.full(640, 4), np.arange(640) % 9):
        A = matrix(lengths, "u4")
        ids, _ = link(lambda A=A: A.mxv(full(N), gb.semiring.plus_second).new())
        assert ids.share128 >= 0.8  # the entries of 32 rows may end inside a line
        assert ids.bytes_per_useful_byte <= 1.06


@pytest.mark.parametrize(
    ("semiring", "iso"), [("any_pair", False), ("plus_second", False), ("min_second", False), ("plus_times", True)]
)
def test_values_that_do_not_matter_are_not_read(semiring: str, iso: bool, link: Any) -> None:
    """The multiply ignores the values, or all of them are equal."""
    A = matrix(GRAPHS["all of 100"], iso=iso)
    half = gb.Vector.from_coo(range(0, N, 2), np.ones(N // 2), size=N)
    for run in (
        lambda: A.mxv(half, semiring).new(),
        lambda: full(A.nrows).vxm(A, semiring.replace("second", "first")).new(),
    ):
        ids, values = link(run)
        assert ids.loads > 0
        assert values.loads == 0


def test_a_fold_of_rows_reads_no_ids(link: Any) -> None:
    A = matrix(GRAPHS["mixed"])
    ids, values = link(lambda: A.reduce_rowwise(gb.monoid.plus).new())
    assert ids.loads == 0
    assert values.useful_bytes == 8 * A.nvals


@pytest.mark.parametrize("complement", [False, True])
def test_rows_that_the_mask_refuses_cause_no_request(complement: bool, link: Any) -> None:
    lengths = GRAPHS["mixed"]
    A = matrix(lengths)
    chosen = np.flatnonzero(np.arange(lengths.size) % 7 == 3)
    m = gb.Vector.from_coo(chosen, 1, size=A.nrows)
    mask, wanted = (~m.S, np.delete(lengths, chosen)) if complement else (m.S, lengths[chosen])
    ids, values = link(lambda: A.mxv(full(N), gb.semiring.plus_times).new(mask=mask))
    assert ids.useful_bytes == values.useful_bytes == 8 * wanted.sum()
    every_row = gb.Vector.from_coo(range(A.nrows), 1, size=A.nrows)
    ids, values = link(lambda: A.mxv(full(N), gb.semiring.plus_times).new(mask=~every_row.S))
    assert ids.loads == values.loads == 0


def test_a_row_ends_where_its_answer_is_known(link: Any) -> None:
    """`any` takes the first product, `lor` ends at the first true one, and a sum needs all."""
    lengths = np.full(64, 640)
    A = matrix(lengths, "u4", "BOOL")
    half = gb.Vector.from_coo(range(0, N, 2), np.ones(N // 2), "BOOL", size=N)
    everything, _ = link(lambda: A.mxv(half, gb.semiring.plus_second["INT64"]).new())
    assert everything.useful_bytes == 4 * A.nvals
    for semiring in ("any_pair", "lor_second"):
        ids, _ = link(lambda s=semiring: A.mxv(half, s).new())
        assert ids.useful_bytes == 64 * 128  # one slice of 32 ids for each row


def test_a_frontier_reads_its_own_rows_only(link: Any) -> None:
    lengths = GRAPHS["mixed"]
    A = matrix(lengths)
    frontier = np.array([5, 6, 40, 149])
    q = gb.Vector.from_coo(frontier, np.ones(4), size=A.nrows)
    ids, values = link(lambda: q.vxm(A, gb.semiring.plus_times).new())
    assert ids.useful_bytes == values.useful_bytes == 8 * lengths[frontier].sum()


def test_a_frontier_asks_the_mask_before_it_reads_values(link: Any) -> None:
    A = matrix(GRAPHS["all of 100"])
    column = gb.Vector.from_coo([0], 1, size=N)  # every row's first id
    ids, values = link(lambda: full(A.nrows).vxm(A, gb.semiring.plus_times).new(mask=column.S))
    assert ids.useful_bytes == 8 * A.nvals
    assert values.useful_bytes == 8 * A.nrows


def test_long_rows_are_read_as_well_as_others(link: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 256)
    A = matrix(np.array([1000, 1, 300, 0, 257] + [70] * 30))
    for run in (
        lambda: A.mxv(full(N), gb.semiring.plus_times).new(),
        lambda: full(A.nrows).vxm(A, gb.semiring.plus_times).new(),
    ):
        ids, values = link(run)
        for asked in (ids, values):
            assert asked.useful_bytes == 8 * A.nvals
            assert asked.share128 >= 0.85
            assert asked.bytes_per_useful_byte <= 1.06
