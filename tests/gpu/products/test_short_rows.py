"""Rows of a few entries in device memory, which lanes read by themselves: the same products as the CPU engine's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.memory import budget

N = 300


def matrix(dtype: str) -> gb.Matrix:
    """Rows of 0 to 40 entries, most of them of fewer than eight, and one that is cut into chunks."""
    rng = np.random.default_rng(3)
    lengths = np.where(rng.random(N) < 0.9, rng.integers(0, 8, N), rng.integers(8, 40, N))
    lengths[17] = 100
    rows = np.repeat(np.arange(N), lengths)
    columns, values = rng.integers(0, N, rows.size), rng.integers(1, 90, rows.size)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N, dup_op="first")


def vector(dtype: str, share: float) -> gb.Vector:
    rng = np.random.default_rng(4)
    at = np.flatnonzero(rng.random(N) < share)
    return gb.Vector.from_coo(at, rng.integers(1, 90, at.size), dtype, size=N)


@pytest.mark.parametrize("share", [1, 0.4])
@pytest.mark.parametrize(
    ("dtype", "name", "packing"),
    [("FP64", "plus_times", "off"), ("BOOL", "any_pair", "off"), ("UINT8", "max_times", "on")],
)
def test_products(dtype: str, name: str, packing: str, share: float, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(budget, "_SHORT", 64)
    A, u, m = matrix(dtype), vector(dtype, share), vector("BOOL", 0.6)
    B, v, mask = A.to("gpu", placement="device"), u.to("gpu"), m.to("gpu")
    assert rows_per_warp.with_lanes(rows_per_warp.Grid(32, 1, 8, 1, False), B._store.rows).alone > 0
    with gb.config.set(packing=packing):
        assert B.mxv(v, name).new().to("cpu").isclose(A.mxv(u, name).new(), rel_tol=1e-6, check_dtype=True)
        got, want = v.dup(), u.dup()
        got(~mask.S, accum=gb.binary.max) << B.mxv(v, name)
        want(~m.S, accum=gb.binary.max) << A.mxv(u, name)
        assert got.to("cpu").isclose(want, rel_tol=1e-6, check_dtype=True)


def test_only_short_rows_that_are_near_are_read_so(gpu: Any) -> None:
    grid, A = rows_per_warp.Grid(32, 1, 8, 1, False), matrix("FP64")
    assert rows_per_warp.with_lanes(grid, A.to("gpu", placement="zerocopy")._store.rows) == grid
    assert rows_per_warp.with_lanes(grid._replace(at_once=1), A.to("gpu", placement="device")._store.rows).alone == 0
    long = gb.Matrix.from_dense(np.ones((40, 40))).to("gpu", placement="device")
    assert rows_per_warp.with_lanes(grid, long._store.rows) == grid
