"""Placement gather: host threads gather rows, or segments are copied whole."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.placements import double_buffer, gather_rows, host_gather
from tests.gpu.placements.serving import N, link_bytes, matrix, space_for, vectors


@pytest.mark.usefixtures("small_pieces", "counting")
def test_pieces_are_gathered_or_copied_whole_by_what_takes_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("FP64"), next(vectors("FP64"))
    degrees = A.reduce_rowwise("count").new().to_dense(fill_value=0)
    assert 77 not in u.to_coo()[0]  # the row that half a buffer cannot hold
    some = gb.Vector.from_coo(np.arange(0, 150, 2), 1.0, size=N)  # half of the rows of some gather pieces
    own = host_gather._own()
    with space_for(40_000):
        B = A.to("gpu", placement="gather")
        for gathers, copies in ((1.0, 1.0), (1.0, 1e9)):  # rates in bytes a second, as if measured
            monkeypatch.setattr(own, "gathers", gathers)
            monkeypatch.setattr(own, "copies", copies)
            for v in (u, some):
                at = v.to_coo()[0]
                wanted, moved = 4 * degrees[at].sum(), link_bytes(lambda v=v: v.to("gpu").vxm(B, "any_pair").new())
                assert moved[0] == 0
                if copies == 1.0:  # gathering is then never slower than a whole copy
                    assert moved[1] == wanted
                else:
                    pieces = gather_rows._known[B._store.rows]
                    is_asked = np.add.reduceat(np.isin(np.arange(N), at) * degrees, pieces.rows[:-1]) > 0
                    assert moved[1] == 4 * np.diff(pieces.entries)[is_asked].sum() > wanted


@pytest.mark.usefixtures("small_pieces", "counting")
def test_copies_are_measured_from_their_start_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are timed from their start, as a counted copy has ended before the caller waits for it."""
    A, u = matrix("FP64"), next(vectors("FP64"))
    own, filled, took = host_gather._Hands(), double_buffer.Staging.fill, 0.02
    monkeypatch.setattr(host_gather, "_own", lambda: own)
    monkeypatch.setattr(host_gather, "_TELLING", 1)
    monkeypatch.setattr(double_buffer.Staging, "fill", lambda *given: (filled(*given), time.sleep(took))[0])
    with space_for(40_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="gather")
        link_bytes(lambda: u.to("gpu").vxm(B, "any_pair").new())
    assert 0 < own.copies <= 4 * gather_rows._known[B._store.rows].size / took


@pytest.mark.usefixtures("small_pieces", "counting")
def test_without_pinned_memory_to_gather_in_rows_are_read_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("FP64"), next(vectors("FP64"))
    with space_for(40_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="gather")
        own = host_gather._Hands()
        monkeypatch.setattr(host_gather, "_own", lambda: own)
        monkeypatch.setattr(host_gather, "break_even_share", lambda: 1.0)  # no piece is copied whole

        def refused(*_: Any) -> None:
            raise gb.exceptions.OutOfMemory("no more pages are pinned")

        monkeypatch.setattr(own, "array", refused)
        for mask in (None, u.S):
            w = u.to("gpu").vxm(B, "plus_times").new(mask=mask)
            assert w.to("cpu").isclose(u.vxm(A, "plus_times").new(mask=mask))
            w = B.mxv(u.to("gpu"), "plus_times").new(mask=mask)
            assert w.to("cpu").isclose(A.mxv(u, "plus_times").new(mask=mask))
        in_place, copied, _ = link_bytes(lambda: u.to("gpu").vxm(B, "plus_times").new())
        assert in_place > 0 == copied


def test_a_copy_that_waited_for_kernels_tells_nothing_of_the_link(
    emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = host_gather._Hands()
    monkeypatch.setattr(host_gather, "_own", lambda: own)
    host_gather.copied(lambda: time.sleep(0.05), host_gather._TELLING, time.perf_counter())
    slow = own.copies
    for _ in range(host_gather._LOOKS - 1):
        host_gather.copied(lambda: time.sleep(0.001), host_gather._TELLING, time.perf_counter())
    assert own.copies > 5 * slow
    host_gather.copied(lambda: 1 / 0, host_gather._TELLING, time.perf_counter())  # no caller waits for copies any more


@pytest.mark.usefixtures("small_pieces")
def test_what_is_wanted_whole_is_never_gathered(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = matrix("FP64"), gb.Vector.from_dense(np.ones(N))
    own = host_gather._own()
    monkeypatch.setattr(own, "gathers", 9.0)  # the threads are faster than the link
    monkeypatch.setattr(own, "copies", 1.0)
    monkeypatch.setattr(host_gather, "fill", None)
    with space_for(60_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="gather")
        assert B.mxv(u, "plus_times").new().to("cpu").isclose(A.mxv(u, "plus_times").new())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("full", [[200], [200, 290], [0, 1, N - 1]], ids=str)
def test_what_follows_a_long_row_is_written_though_it_is_empty(full: list[int], gpu: Any) -> None:
    """For a row that half a buffer cannot hold only chunks are read, and its piece may have no other row."""
    A = gb.Matrix.from_coo(np.repeat(full, 500), np.tile(np.arange(500), len(full)), 1.0, nrows=N, ncols=N)
    u = gb.Vector.from_dense(np.ones(N))
    with space_for(40_000):
        B = A.to("gpu", placement="gather")
        for old in (gb.Vector("FP64", N), gb.Vector.from_dense(np.ones(N))):
            w = old.to("gpu")
            w << B.mxv(u, "plus_times")
            assert w.to("cpu").isequal(A.mxv(u, "plus_times").new())
        assert gather_rows._known[B._store.rows].long


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("dtype", ["BOOL", "INT16", "FP32", "FP64"])
@pytest.mark.parametrize("wide", [False, True], ids=["ids of 4 bytes", "ids of 8"])
def test_rows_are_gathered_with_and_without_scipy_s_loop(
    wide: bool, dtype: str, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, few = matrix(dtype), gb.Vector.from_coo(np.arange(0, N, 9), True, size=N)
    u = gb.Vector.from_dense(np.arange(N) % 5 + 1).dup(dtype)
    name = "lor_land" if dtype == "BOOL" else "min_plus"
    monkeypatch.setattr(host_gather, "_TAKE", 64)  # many tasks a buffer turn
    with space_for(60_000), gb.config.set(packing="off"):
        B = gb.Matrix._from_csr(A._to_csr().place("gather", ids=np.uint64 if wide else None), "gpu")
        assert host_gather._row_copier() is not host_gather._by_positions
        for copier in (host_gather._row_copier, lambda: host_gather._by_positions):
            monkeypatch.setattr(host_gather, "_row_copier", copier)
            for op in (name, "any_pair"):
                assert B.mxv(u, op).new(mask=few.S).to("cpu").isequal(A.mxv(u, op).new(mask=few.S))
            monoid = "lor" if dtype == "BOOL" else "max"  # reads values only
            assert B.reduce_rowwise(monoid).new(mask=few.S).to("cpu").isequal(A.reduce_rowwise(monoid).new(mask=few.S))


@pytest.mark.usefixtures("small_pieces")
def test_an_output_that_masks_itself_is_written_turn_by_turn(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without long rows no output is kept apart: a turn writes the words that tell the next turn its wanted rows."""
    rng = np.random.default_rng(5)
    rows, columns = np.nonzero(rng.random((N, N)) < 0.02)
    A = gb.Matrix.from_coo(rows, columns, rng.integers(1, 9, rows.size), "FP64", nrows=N, ncols=N)
    full, old = gb.Vector.from_dense(np.ones(N)), gb.Vector.from_coo(np.flatnonzero(rng.random(N) < 0.5), 1.0, size=N)
    monkeypatch.setattr(host_gather, "break_even_share", lambda: 1.0)
    with space_for(40_000), gb.config.set(packing="off"):
        B = A.to("gpu", placement="gather")
        for flip in (False, True):
            w, v = old.to("gpu"), old.dup()
            w(~w.S if flip else w.S) << B.mxv(full, "plus_times")
            v(~v.S if flip else v.S) << A.mxv(full, "plus_times")
            assert w.to("cpu").isequal(v)
        assert len(gather_rows._known[B._store.rows].rows) > 3


def test_a_scipy_that_has_changed_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.sparse._sparsetools

    for changed in (lambda *arguments: None, None):
        monkeypatch.setattr(scipy.sparse._sparsetools, "csr_row_index", changed)
        assert host_gather._row_copier.__wrapped__() is host_gather._by_positions
