"""Rounds that the device runs without the host: the same answers, and few waits."""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import sparsezc as gb
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.device import cuda, cupy_device
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.graph_replay import Replay
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.exceptions import InvalidValue
from sparsezc.memory import budget


def both(edges: list[tuple[int, int]], n: int, *, directed: bool = False) -> tuple[gb.Matrix, gb.Matrix]:
    """Return a graph on the GPU engine and on the CPU engine."""
    rows, columns = np.array(edges).T
    if not directed:
        rows, columns = np.r_[rows, columns], np.r_[columns, rows]
    A = gb.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n)
    return A.to("gpu", placement="zerocopy", with_transpose=not directed), A


@pytest.fixture(autouse=True)
def by_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches run statements, as if one launch could not run all rounds."""
    monkeypatch.setattr(engine_loops, "search", lambda *_, **__: None)
    monkeypatch.setattr(engine_loops, "shorten", lambda *_, **__: False)


def path(n: int) -> list[tuple[int, int]]:
    return [(k, k + 1) for k in range(n - 1)]


GRAPHS = {
    "one round too few for a recording": (path(17), 17),
    "a path that ends while it is recorded": (path(19), 19),
    "a path": (path(160), 160),
    "a ladder of 50 by 10": (
        [(k, k + 1) for k in range(499) if k % 50 != 49] + [(k, k + 50) for k in range(450)],
        500,
    ),
    "a path into a star, and another path": (
        path(60) + [(59, k) for k in range(60, 460)] + [(459, 460)] + [(k, k + 1) for k in range(460, 559)],
        560,
    ),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_levels_and_parents(name: str, directed: bool, gpu: Any) -> None:
    B, A = both(*GRAPHS[name], directed=directed)
    for source in (0, 5):
        want = gb.algorithms.bfs(A, source)
        assert gb.algorithms.bfs(B, source).to("cpu").isequal(want, check_dtype=True)
        at, parent = gb.algorithms.bfs_parents(B, source).to_coo()
        level = want.to_dense(-1)
        assert np.array_equal(at, want.to_coo()[0])
        assert all(
            level[p] == level[i] - 1 and A.get(p, i) == 1 for i, p in zip(at, parent, strict=True) if i != source
        )
        assert gb.algorithms.bfs(B, source).to("cpu").isequal(want)  # an earlier recording has no effect


@pytest.mark.parametrize(
    ("name", "slots"), [("a ladder of 50 by 10", 4), ("a path into a star, and another path", 7)], ids=str
)
def test_short_rows_are_read_from_the_row_heads(name: str, slots: int, gpu: Any) -> None:
    """Heads are built once pushes have read as much as building them takes; longer rows are read from the matrix."""
    _, A = both(*GRAPHS[name])
    indptr, ids, _ = A.to_csr()
    B = gb.Matrix.from_csr(indptr, ids, True, ncols=A.ncols, symmetric=True).to("gpu", placement="zerocopy")
    want, reads, longer = gb.algorithms.bfs(A, 0), [], np.diff(indptr)
    with gb.config.set(head_budget=4 * slots * A.nrows):
        for _ in range(6):
            assert gb.algorithms.bfs(B, 0).to("cpu").isequal(want)
            with gb.stats.collect() as moved:
                gb.algorithms.bfs(B, 0)
            reads.append(moved.link_bytes)
    assert B._store.rows.layouts[HeadCache].built.k == slots
    assert reads[-1] <= 128 * (longer[longer > slots] // 32 + 2).sum()


def test_the_host_waits_seldom(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cuda.use(emulated)
    try:
        B, _ = both(path(800), 800)
        waits = []
        asnumpy = type(emulated).asnumpy
        monkeypatch.setattr(type(emulated), "asnumpy", lambda self, array: waits.append(1) or asnumpy(self, array))
        emulated.reset()
        assert gb.algorithms.bfs(B, 0).reduce("max").value == 799
        assert len(waits) < 80
        assert 3 * 800 <= len(emulated.launches) < 3.3 * 800  # assign, push, and clear for the next round
    finally:
        cuda.use(before)


@pytest.mark.parametrize(
    ("dtype", "name", "source", "delta"),
    [
        ("UINT8", "a path", 0, None),
        ("UINT8", "a path into a star, and another path", 5, 1000),
        ("BOOL", "a path into a star, and another path", 0, 2),
        ("INT64", "a path that ends while it is recorded", 0, 3),
        ("INT64", "a ladder of 50 by 10", 230, 3),
        ("FP32", "a ladder of 50 by 10", 0, None),
        ("FP64", "a path", 80, 1.5),
    ],
)
def test_shortest_paths(dtype: str, name: str, source: int, delta: Any, gpu: Any) -> None:
    """Where buckets are narrow, the device passes many of them without the host."""
    edges, n = GRAPHS[name]
    rows, columns = np.array(edges).T
    lengths = np.random.default_rng(3).integers(0 if dtype == "BOOL" else 1, 2 if dtype == "BOOL" else 30, rows.size)
    A = gb.Matrix.from_coo(np.r_[rows, columns], np.r_[columns, rows], np.r_[lengths, lengths], dtype, nrows=n, ncols=n)
    want, (indptr, ids, values) = judge(A, source), A.to_csr()
    for symmetric in (False, True):
        B = gb.Matrix.from_csr(indptr, ids, values, ncols=n, symmetric=symmetric).to("gpu", placement="zerocopy")
        found = gb.algorithms.sssp(B, source, delta)
        np.testing.assert_allclose(found.to("cpu").to_dense(np.inf), want, rtol=1e-5 * dtype.startswith("FP"))


def test_shortest_paths_in_another_order(gpu: Any) -> None:
    """Vectors are in the matrix's order while the device runs without the host."""
    edges, n = GRAPHS["a ladder of 50 by 10"]
    rows, columns = np.array(edges).T
    lengths = np.random.default_rng(3).integers(1, 30, rows.size)
    A = gb.Matrix.from_coo(np.r_[rows, columns], np.r_[columns, rows], np.r_[lengths, lengths], nrows=n, ncols=n)
    B = A.to("gpu", placement="zerocopy").reorder(np.random.default_rng(4).permutation(n))
    np.testing.assert_array_equal(gb.algorithms.sssp(B, 30, 40).to("cpu").to_dense(np.inf), judge(A, 30))


@pytest.mark.parametrize("symmetric", [False, True])
def test_ids_and_values_are_packed_when_that_pays(symmetric: bool, gpu: Any) -> None:
    """Packing pays once ids and values were read twice; it waits for a round that the host sees.

    The host sees few rounds, and packing in the others would wait for the device.
    """
    rows, columns = np.array(path(200)).T
    values = 1 + rows % 2
    A = gb.Matrix.from_coo(
        np.r_[rows, columns], np.r_[columns, rows], np.r_[values, values], "UINT8", nrows=200, ncols=200
    )
    B = gb.Matrix.from_csr(*A.to_csr(), ncols=200, symmetric=symmetric).to("gpu", placement="zerocopy")
    want, reads = judge(A, 0), []
    with gb.config.set(packing="auto"):
        for _ in range(4):
            np.testing.assert_array_equal(gb.algorithms.sssp(B, 0).to("cpu").to_dense(np.inf), want)
            held = B._store.rows
            reads.append(held.layouts[PackedValues].read / held.nvals)
            assert held.layouts[PackedValues].built is None or reads[-1] >= 2
    assert 0.8 < reads[0] < 1.2  # a search reads every edge once
    assert held.layouts[PackedValues].built is not None


def judge(A: gb.Matrix, source: int) -> Any:
    """Return Dijkstra's distances, by SciPy, which takes a stored 0 for no edge."""
    indptr, ids, values = A.to_csr()
    longer = 1 + 1e6 * values.astype(np.float64)  # none is 0, and the ones sum to less than 1e6
    graph = sp.csr_array((longer, ids, indptr), shape=A.shape)
    return np.floor(csgraph.dijkstra(graph, indices=source) / 1e6)


def test_shortest_paths_leave_the_host_alone(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cuda.use(emulated)
    try:
        indptr, ids, _ = both(path(500), 500)[1].to_csr()
        lengths = np.ones(ids.size, np.uint8)
        B = gb.Matrix.from_csr(indptr, ids, lengths, ncols=500, symmetric=True).to("gpu", placement="zerocopy")
        waits = []
        asnumpy = type(emulated).asnumpy
        monkeypatch.setattr(type(emulated), "asnumpy", lambda self, array: waits.append(1) or asnumpy(self, array))
        emulated.reset()
        assert gb.algorithms.sssp(B, 0, delta=5).reduce("max").value == 499
        assert len(waits) < 120
        assert 9 * 500 <= len(emulated.launches) < 10.5 * 500
        # a push's output is cleaned only where it was written, and not filled
        assert emulated.launches.count("neutral") > 475
    finally:
        cuda.use(before)


def test_distances_that_wrap_around_while_the_device_goes_on_alone(gpu: Any) -> None:
    """Short lengths are summed in INT32, then in INT64, whose overflow is refused."""
    rows, columns = np.array(path(150)).T
    for length, fits in ((2**31 - 1, True), (2**31 // 100, True), (2**62 // 50, False)):
        A = gb.Matrix.from_coo(rows, columns, length, "INT64", nrows=150, ncols=150).to("gpu", placement="zerocopy")
        for delta in (None, length, 2 * length):
            if fits:
                assert gb.algorithms.sssp(A, 0, delta)[149].new() == 149 * length
            else:
                with pytest.raises(InvalidValue, match="may not fit INT64"):
                    gb.algorithms.sssp(A, 0, delta)


def test_a_body_that_fails_leaves_the_device_usable(gpu: Any) -> None:
    from sparsezc.algorithms._frontier_loops import rounds

    B, A = both(path(160), 160)
    frontier = forms.vector_beside(B, gb.dtypes.BOOL)
    frontier[0] = True
    seen = 0
    try:
        for _ in rounds(frontier):
            seen += 1
            if seen == 18:  # the first recorded round
                raise KeyError(seen)
            frontier << frontier.vxm(B, gb.semiring.any_pair[gb.dtypes.BOOL])
    except KeyError:
        seen = -1
    assert seen == -1
    assert gb.algorithms.bfs(B, 0).to("cpu").isequal(gb.algorithms.bfs(A, 0))


def test_shortest_paths_that_are_stopped_leave_the_device_usable(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may stop them, and the caller may still hold its traceback when the next statement runs."""
    B = both(path(200), 200)[0]
    stopped, select, calls = False, vector_map.select, []

    def stop(*given: Any, **more: Any) -> None:
        calls.append(1)
        if ENGINE_STATE.pool is not None and len(calls) > 38:  # two calls a round: the 20th round is the first recorded
            raise KeyboardInterrupt
        select(*given, **more)

    monkeypatch.setattr(vector_map, "select", stop)
    try:
        gb.algorithms.sssp(B, 0)
    except KeyboardInterrupt as error:
        monkeypatch.undo()
        stopped = error.__traceback__ is not None
        assert ENGINE_STATE.pool is None
        assert gb.algorithms.bfs(B, 0).reduce("max").value == 199
        assert gb.algorithms.sssp(B, 0).reduce("max").value == 199
    assert stopped


@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_row_heads_that_go_while_rounds_are_recorded(name: str, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory runs short between two batches: the recording has the heads' addresses, so they stay until it ends."""
    call = getattr(gb.algorithms, name)
    indptr, ids, _ = both(path(160), 160)[1].to_csr()
    B = gb.Matrix.from_csr(indptr, ids, 1, ncols=160, symmetric=True).to("gpu", placement="zerocopy")
    for _ in range(3):  # equal lengths are not read one by one, so heads serve shortest paths, too
        assert call(B, 0).reduce("max").value == 159
    made, held = weakref.ref(B._store.rows.layouts[HeadCache].built), []
    continues = Replay._continues

    def shortage(recorded: Replay) -> bool:
        if recorded.rounds:
            budget.reclaim()
            assert B._store.rows.layouts[HeadCache].built is None
            held.append(made() is not None)
        return continues(recorded)

    monkeypatch.setattr(Replay, "_continues", shortage)
    assert call(B, 0).reduce("max").value == 159
    assert held[0]


def test_a_matrix_that_goes_while_a_loop_is_recorded(gpu: Any) -> None:
    from sparsezc.algorithms._frontier_loops import rounds

    B, A = both(path(160), 160)
    others = [both(path(30), 30)[0]]
    level, frontier = forms.vector_beside(B, gb.dtypes.INT32), forms.vector_beside(B, gb.dtypes.BOOL)
    frontier[0] = True
    for seen, depth in enumerate(rounds(frontier)):
        if seen == 17:  # recorded: giving back pages would wait for the device, which ends a recording
            others.clear()
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(B, gb.semiring.any_pair[gb.dtypes.BOOL])
    assert level.to("cpu").isequal(gb.algorithms.bfs(A, 0))


def test_pages_are_given_back_after_a_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    runtime = SimpleNamespace(deviceSynchronize=lambda: calls.append("wait"))
    later: list[Any] = []
    monkeypatch.setattr(cupy_device, "_later", later)
    memory = np.zeros(1)
    cupy_device._give_back(runtime, calls.append, 7, memory)
    assert calls == []
    assert len(later) == 1
    assert any(kept is memory for kept in later[0])
    monkeypatch.setattr(cupy_device, "_later", None)
    cupy_device._give_back(*later.pop())
    assert calls == ["wait", 7]


@pytest.mark.parametrize("target", [3, 40])
def test_the_device_goes_on_no_farther_than_a_target(target: int, emulated: Any) -> None:
    before = cuda.use(emulated)
    try:
        B, A = both(path(250), 250)
        launches = []
        for given in (target, None):
            emulated.reset()
            found = gb.algorithms.sssp(B, 0, 3, target=given)
            launches.append(len(emulated.launches))
            assert found.to("cpu").isequal(gb.algorithms.sssp(A, 0, 3, target=given), check_dtype=True)
        assert 4 * launches[0] < launches[1]
    finally:
        cuda.use(before)
