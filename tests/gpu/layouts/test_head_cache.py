"""The row-head cache: pulls with it have the same results as without it, and read fewer bytes."""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core.access import forms
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.expr import engines
from sparsezc.memory import budget

N = 200
LENGTHS = [0, 1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 150]  # around a head's 8 ids, a slice, and the long rows here
LONG = 99


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", LONG)


def matrix(dtype: str, seed: int = 1) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    lengths = [LENGTHS[k % len(LENGTHS)] for k in range(N)]
    columns = np.concatenate([np.sort(rng.permutation(N)[:k]) for k in lengths])
    return gb.Matrix.from_coo(
        np.repeat(np.arange(N), lengths), columns, rng.integers(0, 2, columns.size), dtype, nrows=N, ncols=N
    )


def vector(share: float, dtype: str, seed: int) -> gb.Vector:
    rng = np.random.default_rng(seed)
    at = np.flatnonzero(rng.random(N) < share)
    return gb.Vector.from_coo(at, rng.integers(0, 2, at.size), dtype, size=N)


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("semiring", ["any_pair", "lor_land", "land_lor", "lor_second"])
def test_answers_are_the_same(semiring: str, placement: str, gpu: Any) -> None:
    op = getattr(gb.semiring, semiring)[gb.dtypes.BOOL]
    A = matrix("BOOL")
    with gb.config.set(head_cache="on"):
        B = A.to("gpu", placement=placement)
        for seed, share in enumerate((0.01, 0.2, 0.9)):
            u, v = vector(share, "BOOL", seed), vector(share, "BOOL", seed)
            m = vector(0.5, "BOOL", 9)
            for mask in (None, m.S, ~m.S, m.V):
                for replace in (False, True) if mask is not None else (False,):
                    for accum in (None, gb.binary.lxor):
                        got, want = vector(0.3, "BOOL", 5), vector(0.3, "BOOL", 5)
                        got(mask=mask, accum=accum, replace=replace) << B.mxv(v, op)
                        want(mask=mask, accum=accum, replace=replace) << A.mxv(u, op)
                        np.testing.assert_array_equal(got.to_coo()[0], want.to_coo()[0])
                        np.testing.assert_array_equal(got.to_coo()[1], want.to_coo()[1])
        assert B._store.rows.layouts[HeadCache].built.k == budget.HEAD_BYTES // 4


@pytest.mark.parametrize("semiring", ["any_secondi", "any_first", "any_times"])
def test_any_product_is_one_of_the_row(semiring: str, gpu: Any) -> None:
    A, v = matrix("INT64", 3), vector(0.3, "INT64", 2)
    with gb.config.set(head_cache="on"):
        got = A.to("gpu").mxv(v, getattr(gb.semiring, semiring)).new()
    assert np.array_equal(got.to_coo()[0], A.mxv(v, gb.semiring.any_pair).new().to_coo()[0])
    dense, there = A.to_dense(0), v.to_dense(0)
    stored = matrix("INT64", 3).apply(gb.unary.one).new().to_dense(0) * (v.apply(gb.unary.one).new().to_dense(0) > 0)
    product = {"any_secondi": np.arange(N), "any_first": dense, "any_times": dense * there}[semiring]
    for i, value in zip(*got.to_coo(), strict=True):
        assert value in np.broadcast_to(product, (N, N))[i][stored[i] > 0]


def test_hubs_come_first(gpu: Any) -> None:
    """Slot 0 holds the neighbour with most neighbours; heads hold short rows whole, and no ids of long rows."""
    rows = np.r_[np.arange(1, 60), np.zeros(59, int), [3, 5], np.full(110, 100)]
    columns = np.r_[np.zeros(59, int), np.arange(1, 60), [5, 3], np.arange(110)]
    A = gb.Matrix.from_coo(rows, columns, 1, nrows=120, ncols=120)
    with gb.config.set(head_cache="on", head_budget=4 * 4 * 120):
        B = A.to("gpu", with_transpose=True)
        B.mxv(gb.Vector.from_coo(range(1, 120), True, size=120), gb.semiring.any_pair).new()
    kept = B._store.rows.layouts[HeadCache].built
    ids = cuda.current().asnumpy(kept.ids).reshape(-1, kept.k, 32).transpose(0, 2, 1).reshape(-1, kept.k)
    none = np.uint32(2**32 - 1)
    assert kept.k == 4
    assert ids[3].tolist() == [0, 5, none, none]
    assert ids[7].tolist() == [0, none, none, none]
    assert (ids[119] == none).all()
    assert ids[100][0] == none - 1


def test_parents_and_levels_of_a_search_are_right(gpu: Any) -> None:
    A = gb.io.read("kron:9")
    want = gb.algorithms.bfs(A, 7)
    with gb.config.set(head_cache="on"):
        B = A.to("gpu", placement="zerocopy", with_transpose=True)
        assert gb.algorithms.bfs(B, 7).to("cpu").isequal(want)
        at, parent = gb.algorithms.bfs_parents(B, 7).to_coo()
    assert np.array_equal(at, want.to_coo()[0])
    level = want.to_dense(-1)
    assert all(level[p] == level[i] - 1 and A.get(p, i) is not None for i, p in zip(at, parent, strict=True) if i != 7)


def _ids_read(emulated: Any, A: gb.Matrix, v: gb.Vector) -> int:
    emulated.reset()
    A.mxv(v, gb.semiring.any_pair).new()
    return int(emulated.total(0).bytes)


def test_when_it_is_made_and_what_it_saves(counting: Any) -> None:
    A = gb.Matrix.from_dense(np.random.default_rng(1).random((256, 256)) < 0.12, missing_value=False)
    v = gb.Vector.from_coo(np.arange(0, 256, 2), True, size=256)
    whole = 4 * A.nvals
    with gb.config.set(head_cache="off"):
        without = _ids_read(counting, A.to("gpu", placement="zerocopy"), v)
    assert without > whole / 2
    with gb.config.set(head_cache="on"):
        B = A.to("gpu", placement="zerocopy")
        assert whole <= _ids_read(counting, B, v) < 1.2 * whole + without  # building the heads reads every id
        assert _ids_read(counting, B, v) < without / 20
    B = A.to("gpu", placement="zerocopy")
    reads = [_ids_read(counting, B, v) for _ in range(4)]  # repeated products repay the heads
    assert B._store.rows.layouts[HeadCache].built is not None
    assert reads[-1] < without / 20
    near = A.to("gpu", placement="device")
    for _ in range(4):
        near.mxv(v, gb.semiring.any_pair).new()
    assert near._store.rows.layouts[HeadCache].built is None


def test_a_budget_too_small_means_no_cache_and_a_line_that_says_so(gpu: Any) -> None:
    A, v = matrix("BOOL").to("gpu", placement="zerocopy"), vector(0.3, "BOOL", 2)
    with (
        gb.config.set(head_cache="on", head_budget=100),
        pytest.warns(gb.exceptions.PerformanceWarning, match="no row-head cache.*800 bytes.*100 may be used"),
    ):
        got = A.mxv(v, gb.semiring.any_pair).new()
    assert A._store.rows.layouts[HeadCache].built is None
    assert got.to("cpu").isequal(matrix("BOOL").mxv(vector(0.3, "BOOL", 2), gb.semiring.any_pair).new())


def test_settings_are_checked() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="head_cache"):
        gb.config.set(head_cache="always")
    with pytest.raises(gb.exceptions.InvalidValue, match="head_budget"):
        gb.config.set(head_budget="much")


def clique(first: int) -> list[tuple[int, int]]:
    """Return the edges of vertices that are each other's hubs, so that no sampled edge leads out."""
    return [(u, v) for u in range(first, first + 13) for v in range(first, u)]


def behind_a_neighbour() -> list[tuple[int, int]]:
    """Return a hub of 41 neighbours: 30 with a leaf each, and one with a clique."""
    leaves = [(k, 40 + k) for k in range(2, 32)]
    return [*((0, k) for k in range(1, 42)), *leaves, (1, 72), *clique(72)]


def behind_a_leaf(path: int) -> list[tuple[int, int]]:
    """Return a hub, a path that leads to two more, and a clique behind one of their leaves."""
    ends = list(range(36, 36 + path))
    hubs = 36 + path, 37 + path
    edges = [(0, k) for k in range(1, 36)] + list(pairwise([0, *ends]))
    for k, hub in enumerate(hubs):
        edges += [(ends[-1], hub)] + [(hub, 38 + path + 34 * k + leaf) for leaf in range(34)]
    return [*edges, (38 + path, 106 + path), *clique(106 + path)]


@pytest.mark.parametrize("edges", [behind_a_neighbour(), *(behind_a_leaf(path) for path in (28, 29, 30))])
def test_components_behind_what_the_heads_show(edges: list[tuple[int, int]], gpu: Any) -> None:
    rows, columns = np.array(edges).T
    A = gb.Matrix.from_coo(np.r_[rows, columns], np.r_[columns, rows], 1, nrows=10_240, ncols=10_240)
    with gb.config.set(head_cache="on"):
        B = A.to("gpu", placement="zerocopy", with_transpose=True)
        assert forms.sampled(B) is not None
        want = gb.algorithms.connected_components(A)
        assert gb.algorithms.connected_components(B).to("cpu").isequal(want)
        with engines.stepping(B._engine):
            assert gb.algorithms.connected_components(B).to("cpu").isequal(want)


@pytest.mark.parametrize("name", ["min_first", "plus_first", "min_second"])
def test_rows_that_are_whole_in_the_heads_are_not_read(name: str, counting: Any) -> None:
    """Heads that hold whole rows serve any product that reads no values and does not depend on the order of entries."""
    with gb.config.set(engine="cpu"):
        A = gb.io.read("grid:40x40")
    u = gb.Vector.from_coo(range(0, 1600, 3), range(534), size=1600)
    with gb.config.set(head_cache="on"):
        B, v = A.to("gpu", placement="zerocopy"), u.to("gpu")
        gb.algorithms.bfs(B, 0)
        counting.reset()
        pushed, pulled = v.vxm(B, name).new(), B.mxv(v, name).new()
        assert counting.total(0).bytes == 0
    assert pushed.to("cpu").isequal(u.vxm(A, name).new())
    assert pulled.to("cpu").isequal(A.mxv(u, name).new())


@pytest.mark.usefixtures("counting")
def test_components_of_a_grid_read_its_edges_until_that_has_paid_for_the_heads() -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("grid:64x64")
    B, moved = A.to("gpu", placement="zerocopy"), []
    for _ in range(2):
        with gb.stats.collect() as traffic:
            found = gb.algorithms.connected_components(B)
        moved.append(traffic.link_bytes)
        assert (found.to_dense() == 0).all()
    assert moved[0] < 1.5 * 4 * A.nvals
    assert moved[1] == 0


def test_making_heads_reads_lines_that_short_rows_share_once(counting: Any) -> None:
    with gb.config.set(engine="cpu"):
        A = gb.io.read("grid:64x64")
    B = A.to("gpu", placement="zerocopy")
    counting.reset()
    with gb.config.set(head_cache="on"):
        assert forms.sampled(B) is not None
    assert counting.total(0).bytes < 1.3 * 4 * A.nvals


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_components_of_any_graph(seed: int, directed: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Components are right however early a search begins to read heads, and however late it ends."""
    module = importlib.import_module("sparsezc.algorithms.connected_components")
    monkeypatch.setattr(module, "MANY", 10**9)
    monkeypatch.setattr(module, "SWEEPS", seed % 4)
    rng = np.random.default_rng(seed)
    n = 64
    rows, columns = rng.integers(0, n, (2, rng.integers(20, 90)))
    both = (rows, columns) if directed else (np.r_[rows, columns], np.r_[columns, rows])
    A = gb.Matrix.from_coo(*both, 1, nrows=n, ncols=n)
    with gb.config.set(head_cache="on", head_budget=4 * n * (1 + seed % 2)):
        B = A.to("gpu", placement="zerocopy", with_transpose=True)
        assert forms.sampled(B) is not None
        want = gb.algorithms.connected_components(A)
        assert gb.algorithms.connected_components(B).to("cpu").isequal(want)
        with engines.stepping(B._engine):
            assert gb.algorithms.connected_components(B).to("cpu").isequal(want)
