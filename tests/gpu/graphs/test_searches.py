"""Searches and shortest paths of which one launch runs all rounds: the answers, and the cases left to statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.graphs import cooperative_launch, paths, search
from sparsezc.exceptions import InvalidValue
from sparsezc.memory import budget
from tests.algorithms import verify

N = 700


@pytest.fixture(autouse=True)
def short_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """End launches after three rounds, and cut rows of more than 64 entries into chunks."""
    monkeypatch.setattr(cooperative_launch, "ROUNDS", 3)
    monkeypatch.setattr(budget, "_SHORT", 64)


def network(seed: int = 1, *, directed: bool = False) -> sp.csr_array:
    """Return a graph of hubs, short rows, an attached path and isolated vertices; lengths from 1 to 40."""
    rng = np.random.default_rng(seed)
    row, column = rng.integers(0, 500, 1500), (500 * rng.random(1500) ** 4).astype(int)
    tail = np.arange(500, 560)
    row, column = np.r_[row, tail - 1], np.r_[column, tail]
    length = rng.integers(1, 41, row.size)
    if not directed:
        row, column, length = np.r_[row, column], np.r_[column, row], np.r_[length, length]
    at, first = np.unique(row * N + column, return_index=True)
    graph = sp.csr_array((length[first], (at // N, at % N)), shape=(N, N))
    return graph if directed else graph.maximum(graph.T).tocsr()


def put(graph: sp.csr_array, placement: str, dtype: str = "UINT8", *, transpose: bool = True) -> gb.Matrix:
    at = graph.tocoo()
    A = gb.Matrix.from_coo(at.row, at.col, at.data, dtype, nrows=N, ncols=N)
    return A.to("gpu", placement=placement, with_transpose=transpose)


def launched(device: Any, name: str) -> bool:
    """Return whether an emulated device ran a kernel, or True for a GPU, which keeps no list."""
    return name in getattr(device, "launches", [name])


@pytest.mark.parametrize(
    ("placement", "heads", "rows_per_warp", "way"),
    [
        ("device", "off", 32, "push"),
        ("device", "off", 32, "pull"),
        ("device", "off", 1, "chosen"),
        ("zerocopy", "off", 32, "pull"),
        ("zerocopy", "off", 1, "pull"),
        ("zerocopy", "off", 32, "chosen"),
        ("zerocopy", "on", 32, "push"),
        ("zerocopy", "on", 32, "pull"),
        ("zerocopy", "on", 1, "pull"),
    ],
)
def test_levels_and_parents(
    placement: str, heads: str, rows_per_warp: int, way: str, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "chosen":
        costs = (1.0, 1e9) if way == "push" else (1e9, 0.0)
        for name in ("_NEAR_COST", "_LINK_COST"):
            monkeypatch.setattr(search, name, costs)
        search._kernel.cache_clear()
    monkeypatch.setattr(budget, "LONG", 64)
    settings = {"head_cache": heads, "head_budget": 16 * N, "rows_per_warp": rows_per_warp}
    for directed, transpose in ((False, True), (True, True), (True, False)):
        graph = network(directed=directed)
        with gb.config.set(**settings):
            A = put(graph, placement, transpose=transpose)
            for source in (0, 559):
                level, parent = gb.algorithms.bfs(A, source), gb.algorithms.bfs_parents(A, source)
                assert (str(level.dtype), str(parent.dtype)) == ("INT32", "INT64")
                verify.bfs_levels(graph, source, level.to_dense(-1))
                verify.bfs_parents(graph, source, parent.to_dense(-1))
                assert level.nvals == len(level.to_coo()[0])
    search._kernel.cache_clear()


@pytest.mark.parametrize("rows_per_warp", [1, 32])
@pytest.mark.parametrize("way", ["chosen", "pull"], indirect=True)
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_a_hub_of_the_transpose_alone(
    placement: str, way: None, rows_per_warp: int, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many vertices lead to the hub, and none has many edges, so only pulls meet a long row, far from the source."""
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(search, "_NEAR_COST", (1e9, 0.0))
    monkeypatch.setattr(search, "_LINK_COST", (1e9, 0.0))
    search._kernel.cache_clear()
    rng, hub = np.random.default_rng(8), 7
    row = np.r_[np.arange(300), rng.integers(0, 300, 300), np.arange(300, 500)]
    column = np.r_[(np.arange(300) * 7 + 11) % 300, rng.integers(0, 300, 300), np.full(200, hub)]
    keep = (column != hub) | (row >= 300)
    row, column = np.r_[row[keep], [299, 480]], np.r_[column[keep], [480, hub]]
    at = np.unique(row * N + column)
    graph = sp.csr_array((1 + at % 40, (at // N, at % N)), shape=(N, N))
    assert np.diff(graph.indptr).max() <= 64 < np.bincount(at % N).max()
    with gb.config.set(rows_per_warp=rows_per_warp, head_cache="off"):
        A = put(graph, placement, "INT64")
        rows, back = A._store.held()
        assert (rows.chunks.length, rows.uncut) == (back.chunks.length, back.uncut)
        verify.bfs_levels(graph, 0, gb.algorithms.bfs(A, 0).to_dense(-1))
        verify.bfs_parents(graph, 0, gb.algorithms.bfs_parents(A, 0).to_dense(-1))
        want = csgraph.dijkstra(graph, indices=0)
        assert np.isfinite(want[hub])
        for delta in (None, 3, 1000):
            np.testing.assert_array_equal(gb.algorithms.sssp(A, 0, delta).to_dense(np.inf), want)
        label = gb.algorithms.connected_components(A).to_dense()
    found = csgraph.connected_components(graph, connection="weak")[1]
    smallest = np.full(found.max() + 1, N)
    np.minimum.at(smallest, found, np.arange(N))
    np.testing.assert_array_equal(label, smallest[found])
    search._kernel.cache_clear()


def test_what_statements_do(emulated: Any) -> None:
    """Levels are one launch, reordered too; compressed ids, hybrid's parts and reordered parents take statements."""
    graph, before = network(), cuda.use(emulated)
    try:
        A = put(graph, "zerocopy")
        order = np.random.default_rng(2).permutation(N)
        for B, whole in ((A, True), (A.reorder(order), True), (A.compress(), False), (put(graph, "hybrid"), False)):
            emulated.reset()
            verify.bfs_levels(graph, 3, gb.algorithms.bfs(B, 3).to_dense(-1))
            assert launched(emulated, "search") is whole
        emulated.reset()
        verify.bfs_parents(graph, 3, gb.algorithms.bfs_parents(A.reorder(order), 3).to_dense(-1))
        assert "search" not in emulated.launches
    finally:
        cuda.use(before)


def test_the_host_waits_once_a_launch(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before, waits = cuda.use(emulated), []
    asnumpy = type(emulated).asnumpy
    monkeypatch.setattr(type(emulated), "asnumpy", lambda self, array: waits.append(1) or asnumpy(self, array))
    try:
        A = gb.Matrix.from_coo(np.arange(30), np.arange(1, 31), 1, nrows=31, ncols=31).to("gpu", placement="device")
        emulated.reset()
        level = gb.algorithms.bfs(A, 0)
        assert emulated.launches.count("search") == len(waits) == 11  # 3 levels each, and one launch that finds the end
        assert level.nvals == 31
        emulated.reset()
        assert gb.algorithms.sssp(A, 0)[30].new() == 30
        assert {"paths", "vxm"} & set(emulated.launches) == {"paths"}
    finally:
        cuda.use(before)


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let rounds of shortest paths push only, pull only, or choose, with bounds for sparse graphs, too."""
    if request.param != "plain":
        monkeypatch.setattr(cooperative_launch, "_DEEP", 0)
    if request.param in ("push", "pull"):
        monkeypatch.setattr(paths, "_PUSH_COST", 0.0 if request.param == "push" else 1e9)
    paths._kernel.cache_clear()
    yield
    paths._kernel.cache_clear()


@pytest.mark.parametrize(
    ("dtype", "placement", "rows_per_warp", "way"),
    [
        ("UINT8", "device", 32, "chosen"),
        ("INT64", "device", 1, "pull"),
        ("UINT64", "device", 32, "push"),
        ("FP32", "device", 32, "pull"),
        ("FP64", "device", 1, "push"),
        ("FP64", "device", 32, "plain"),
        ("UINT8", "zerocopy", 32, "plain"),
    ],
    indirect=["way"],
)
def test_shortest_paths(
    dtype: str, placement: str, rows_per_warp: int, way: None, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "LONG", 64)
    for directed in (False, True):
        graph = network(directed=directed)
        want = csgraph.dijkstra(graph, indices=[0, 520])
        with gb.config.set(rows_per_warp=rows_per_warp):
            A = put(graph, placement, dtype)
            for delta in (None, 7):
                np.testing.assert_array_equal(gb.algorithms.sssp(A, 0, delta).to_dense(np.inf), want[0])
            nearest = gb.algorithms.multi_source_shortest_paths(A, [0, 520], weighted=True)
            np.testing.assert_array_equal(nearest.to_dense(np.inf), want.min(0))
            for target in (7, 530):
                near = np.where(want[0] <= want[0][target], want[0], np.inf)
                np.testing.assert_array_equal(gb.algorithms.sssp(A, 0, target=target).to_dense(np.inf), near)
                found = gb.algorithms.sssp(A, 0, 3, cutoff=want[0][target])
                np.testing.assert_array_equal(found.to_dense(np.inf), near)
    assert launched(gpu, "paths")


@pytest.mark.parametrize("way", ["push", "pull"], indirect=True)
def test_fractions_are_added_as_statements_add_them(way: None, gpu: Any) -> None:
    """Each sum is rounded from the source on, so paths in every direction give the same bits."""
    graph = network()
    graph.data = np.random.default_rng(5).random(graph.nnz)
    graph = graph.maximum(graph.T).tocsr()
    near, far = (gb.algorithms.sssp(put(graph, where, "FP64"), 0) for where in ("device", "zerocopy"))
    assert near.isequal(far, check_dtype=True)


def test_shortest_paths_in_another_order(gpu: Any) -> None:
    graph = network()
    A = put(graph, "device").reorder(np.random.default_rng(4).permutation(N))
    want = csgraph.dijkstra(graph, indices=3)
    np.testing.assert_array_equal(gb.algorithms.sssp(A, 3).to_dense(np.inf), want)
    assert gb.algorithms.sssp(A, 3, target=555)[555].new() == want[555]


def test_lengths_that_are_all_alike_or_0(gpu: Any) -> None:
    graph = network()
    at = graph.tocoo()
    for value in (0, 3):
        A = gb.Matrix.from_coo(at.row, at.col, value, "INT16", nrows=N, ncols=N).to("gpu", placement="device")
        hops = csgraph.dijkstra(graph, indices=0, unweighted=True)
        want = np.where(np.isinf(hops), np.inf, value * np.where(np.isinf(hops), 0, hops))
        np.testing.assert_array_equal(gb.algorithms.sssp(A, 0).to_dense(np.inf), want)


def test_distances_that_wrap_around(gpu: Any) -> None:
    """Short lengths are summed in INT32, then in INT64, whose overflow is refused."""
    at = np.arange(149)
    for length, fits in ((2**31 - 1, True), (2**31 // 100, True), (2**62 // 50, False)):
        A = gb.Matrix.from_coo(at, at + 1, length, "INT64", nrows=150, ncols=150).to("gpu", placement="device")
        if fits:
            assert gb.algorithms.sssp(A, 0)[149].new() == 149 * length
        else:
            with pytest.raises(InvalidValue, match="may not fit INT64"):
                gb.algorithms.sssp(A, 0)
