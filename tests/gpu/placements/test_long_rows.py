"""Rows longer than a chunk: with ``rows_per_warp = 1`` one warp reads all of each, in every placement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.memory import budget
from tests.gpu.placements.test_placement_grid import COMPRESSED, PLACEMENTS, Kind, placed

N = 300
CHUNK = 64  # entries, by the fixture of small pieces
BUFFERED = ("stream", "gather")  # all wanted entries pass through buffers, which hold whole rows


def graph() -> gb.Matrix:
    """Rows of 0 to 9 entries, and some hubs that begin and end within lines."""
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


@pytest.fixture
def put(placement: str, gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(panel, "fits", lambda *_: True)
    return placed(placement, tmp_path, Kind()).put


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_answers_by_one_warp_a_row_and_by_chunks(placement: str, put: Any, gpu: Any) -> None:
    A = graph()
    B = put(A)
    room = None if placement in ("device", *COMPRESSED) else budget.working_bytes(N) + 25_000  # two buffers of two hubs
    with gb.config.set(budget=room):
        for share in (0.05, 0.9):
            v, X = vector(share), gb.Matrix.from_dense(np.arange(2 * N).reshape(N, 2) % 3 + 1)
            for name, statement in STATEMENTS.items():
                want = statement(A, v, X).new()
                for setting in (1, "auto"):
                    with gb.config.set(rows_per_warp=setting):
                        found = statement(B, v.to("gpu"), X.to("gpu")).new().to("cpu")
                    assert found.isequal(want, check_dtype=True), (name, share, setting)
    rows, _ = B._store.held(B._store.order)
    assert rows.chunks.count == 5 + 3 + 2 + 4  # of at most 64 entries
    with gb.config.set(rows_per_warp=1):
        one, _ = B._store.held(B._store.order)
        assert one.chunks.count == 0
        assert one.as_configured() is one


@pytest.mark.parametrize("placement", [name for name in PLACEMENTS if name not in ("device", "uvm", *COMPRESSED)])
def test_buffers_that_hold_chunks_but_no_hub(placement: str, put: Any) -> None:
    """Placements that copy all entries need room for the longest row; the others read it over the link."""
    A, v = graph(), vector(0.9)
    B, u = put(A), v.to("gpu")
    with gb.config.set(budget=budget.working_bytes(N) + 10_000):
        assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())
        with gb.config.set(rows_per_warp=1):
            if placement in BUFFERED:
                with pytest.raises(gb.exceptions.OutOfMemory, match="rows_per_warp = 1 a row of 300 is in one buffer"):
                    B.mxv(u).new()
            else:
                assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())
        assert B.mxv(u).new().to("cpu").isequal(A.mxv(v).new())
