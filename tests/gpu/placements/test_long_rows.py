"""Rows longer than a chunk: with ``rows_per_warp = 1`` one warp reads each whole row, in every placement."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.layouts.head_cache import ColumnDegrees
from sparsezc.engines.gpu.storage import matrix_store
from sparsezc.memory import budget
from tests.gpu.placements.test_placement_grid import COMPRESSED, PLACEMENTS, Kind, placed

N = 300
NEAR = ("device", *COMPRESSED)
BUFFERED = ("stream", "gather")  # all wanted entries pass through buffers, which hold whole rows


def graph() -> gb.Matrix:
    """Return a matrix with rows of 0 to 9 entries, and hubs that begin and end within lines."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 10, N)
    lengths[[5, 40, 41, 298]] = 300, 130, 65, 250
    rows = np.repeat(np.arange(N), lengths)
    columns = np.concatenate([np.sort(rng.permutation(N)[:k]) for k in lengths])
    return gb.Matrix.from_coo(rows, columns, rng.integers(1, 4, rows.size), "INT64", nrows=N, ncols=N)


def vector(share: float) -> gb.Vector:
    rng = np.random.default_rng(4)
    at = np.flatnonzero(rng.random(N) < share)
    return gb.Vector.from_coo(at, rng.integers(1, 4, at.size), "INT64", size=N)


STATEMENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "pull": lambda A, v, X: A.mxv(v, gb.semiring.plus_times),
    "push": lambda A, v, X: v.vxm(A, gb.semiring.min_plus),
    "search": lambda A, v, X: A.mxv(v, gb.semiring.any_pair),
    "pull with a panel": lambda A, v, X: A.mxm(X, gb.semiring.plus_times),
    "push with a panel": lambda A, v, X: A.T.mxm(X, gb.semiring.plus_times),
    "searches with a panel": lambda A, v, X: A.mxm(X, gb.semiring.any_pair),
}


#: A matrix alone, with its transpose and row heads, and with ids and values packed in one word.
KINDS = {"plain": Kind(), "heads, both ways": Kind(both_ways=True, head_cache="on"), "packed": Kind(packing="on")}


@pytest.fixture
def kind() -> str:
    return "plain"


@pytest.fixture
def put(
    placement: str, kind: str, gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(panel, "fits", lambda *_: True)
    return placed(placement, tmp_path, KINDS[kind]).put


def judged(A: gb.Matrix, B: gb.Matrix, setting: Any, names: Iterable[str] = STATEMENTS) -> None:
    """Check every statement, with few and with most entries of the vector."""
    X = gb.Matrix.from_dense(np.arange(2 * N).reshape(N, 2) % 3 + 1)
    for share in (0.05, 0.9):
        v = vector(share)
        for name in names:
            want = STATEMENTS[name](A, v, X).new()
            with gb.config.set(rows_per_warp=setting):
                found = STATEMENTS[name](B, v.to("gpu"), X.to("gpu")).new().to("cpu")
            assert found.isequal(want, check_dtype=True), (name, share, setting)


@pytest.mark.parametrize(
    ("placement", "kind"),
    [*((name, "plain") for name in PLACEMENTS), *(("zerocopy", kind) for kind in KINDS if kind != "plain")],
)
def test_answers_by_one_warp_a_row_and_by_chunks(placement: str, kind: str, put: Any) -> None:
    """Whole and cut rows take turns: layouts of one form serve no product of the other."""
    A = graph()
    B = put(A)
    space = None if placement in NEAR else budget.working_bytes(N) + 25_000  # two buffers of two hubs each
    with gb.config.set(budget=space), KINDS[kind].settings():
        for setting in (1, "auto", 1):
            judged(A, B, setting)
    rows, _ = B._store.held(B._store.order)
    assert rows.chunks.count == 5 + 3 + 2 + 4  # chunks of at most 64 entries
    with gb.config.set(rows_per_warp=1):
        one, _ = B._store.held(B._store.order)
        assert one.chunks.count == 0
        assert one.as_configured() is one


@pytest.mark.parametrize("placement", ["zerocopy", *BUFFERED])
def test_longer_rows_than_kernels_count_are_cut(placement: str, put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_store, "_UNCUT", 100)
    A = graph()
    B = put(A)
    judged(A, B, 1, ["pull", "push", "pull with a panel"])
    with gb.config.set(rows_per_warp=1):
        rows, _ = B._store.held()
    assert (rows.chunks.count, rows.longest_read) == (3 + 2 + 3, 100)


@pytest.mark.parametrize("placement", ["hybrid", "cached"])
def test_the_forms_take_turns_in_device_memory(placement: str, put: Any) -> None:
    """The form in use has all the space for resident segments, and the other has none."""
    A, v = graph(), vector(0.9)
    B, u = put(A), v.to("gpu")
    with gb.config.set(budget=budget.working_bytes(N) + 50_000):
        for setting in (1, "auto", 1, "auto"):
            with gb.config.set(rows_per_warp=setting):
                for _ in range(3):
                    B.mxv(u).new()
                stored, (rows, _) = B._store.in_stored_order()[0], B._store.held(B._store.order)
                assert rows.uncut == (setting == 1)
                assert sum(layout.nbytes for layout in rows.layouts.values()) > 0
                if rows is not stored:
                    assert list(stored.layouts) == [matrix_store.UncutRows]
                else:
                    assert matrix_store.UncutRows not in stored.layouts


@pytest.mark.parametrize("hubs", [False, True])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_memory_is_freed_with_the_matrix(placement: str, hubs: bool, put: Any) -> None:
    """Memory is freed at once, without the collector of cycles."""
    A = graph() if hubs else gb.Matrix.from_coo(np.arange(N), np.arange(N), 1)
    B, u = put(A), vector(0.9).to("gpu")
    gc.collect()
    gc.disable()
    try:
        with gb.config.set(rows_per_warp=1):
            B.mxv(u).new()
            rows = [weakref.ref(found) for found in (B._store.rows, B._store.held()[0])]
            del B
            assert [found() for found in rows] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("placement", [name for name in PLACEMENTS if name not in (*NEAR, "uvm")])
def test_buffers_that_hold_chunks_but_no_hub(placement: str, put: Any) -> None:
    """Placements that copy all entries need space for the longest row; the others read it over the link."""
    A, v = graph(), vector(0.9)
    B, u = put(A), v.to("gpu")
    with gb.config.set(budget=budget.working_bytes(N) + 10_000):
        assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())
        with gb.config.set(rows_per_warp=1):
            if placement in BUFFERED:
                with pytest.raises(gb.exceptions.OutOfMemory, match="twice the longest row, 300 entries"):
                    B.mxv(u).new()
            else:
                assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())
        assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())


@pytest.mark.parametrize("placement", ["zerocopy"])
def test_both_forms_know_the_ranks_of_the_columns(placement: str, put: Any) -> None:
    """Column ranks are set once for both forms, and a copy that shares the rows gets no form of its own."""
    B = put(graph())
    C, u = B.dup(), vector(0.9).to("gpu")
    with gb.config.set(rows_per_warp=1):
        C.mxv(u).new()
        uncut = C._store.held()[0]
    B._engine.set_column_degrees(B._store, np.arange(N))
    assert uncut.uncut
    assert uncut.facts[ColumnDegrees].offsets().shape == (N + 1,)
    B.mxv(u).new()
    assert matrix_store.UncutRows not in C._store.rows.layouts
