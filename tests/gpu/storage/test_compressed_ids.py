"""Compressed ids give the same answers from fewer bytes, for all rows, placements and operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.storage import compressed_ids
from sparsezc.exceptions import InvalidObject
from sparsezc.memory import allocate, budget, id_blocks
from sparsezc.memory.csr import Csr

N = 300


def lists(kind: str) -> np.ndarray:
    """Return ids of a kind: sorted row by row, or in disorder."""
    rng = np.random.default_rng(len(kind))
    if kind == "of a web":  # runs of ids near the row's own number
        rows = [np.unique(r + rng.integers(-3, 30, rng.integers(0, 20))) for r in range(40, 400)]
        return np.concatenate(rows).astype(np.uint32)
    if kind == "of hubs":
        rows = [np.unique((2.0 ** (24 * rng.random(rng.integers(1, 300)))).astype(np.uint32)) for _ in range(20)]
        return np.concatenate(rows)
    if kind == "ascending":
        return np.arange(5000, dtype=np.uint32)
    if kind == "the same":
        return np.full(1234, 77, np.uint32)
    if kind == "large gaps":
        return np.sort(rng.integers(0, 2**32, 777)).astype(np.uint32)
    assert kind == "in disorder"
    return rng.integers(0, 2**32, 1025).astype(np.uint32)


KINDS = ("of a web", "of hubs", "ascending", "the same", "large gaps", "in disorder")


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_in_numpy_give_back_what_went_in(kind: str) -> None:
    ids = lists(kind)
    for count in (1, 31, 32, 33, 64, ids.size):
        made = id_blocks.encode(ids[:count])
        assert np.array_equal(id_blocks.decode(made), ids[:count])
        assert made.body.size % 32 == 0
        assert (made.headers >> 10).max() <= 32
    made = id_blocks.encode(ids)
    for start, stop in (
        (0, 0),
        (5, 6),
        (31, 33),
        (40, ids.size),
        (ids.size - 1, ids.size),
        (7, ids.size + 50),
        (ids.size, 2**20),
    ):
        assert np.array_equal(id_blocks.decode(made, start, stop), ids[start:stop])


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_make_and_read_the_same_blocks(kind: str, placement: str, gpu: Any) -> None:
    ids = lists(kind)
    buffer = allocate(placement, ids.size, np.uint64 if kind == "of a web" else np.uint32)
    buffer.write(0, ids)
    made, want = compressed_ids.compressed(buffer, 2**32), id_blocks.encode(ids)
    if want.nbytes >= buffer.nbytes:
        assert made is None
        return
    assert made is not None
    assert made.placement == placement
    assert np.array_equal(gpu.asnumpy(made.headers), want.headers)
    assert np.array_equal(gpu.asnumpy(made.starts), want.starts)
    assert np.array_equal(made.body.read(), want.body)
    assert made.nbytes == want.nbytes
    assert np.array_equal(made.read(), ids)
    assert np.array_equal(made.plain().read(), ids)
    for start, stop in ((0, 0), (5, 6), (31, 33), (40, ids.size)):
        assert np.array_equal(gpu.asnumpy(made.load(start, stop)), ids[start:stop])
    with pytest.raises(InvalidObject, match="none of them can be changed"):
        made.write(0, [1])


def matrix(dtype: str = "INT64", *, rows: int = N, columns: int = N) -> gb.Matrix:
    """Return a matrix with rows of 0 to 90 entries, some close together and some anywhere; row 7 is full."""
    rng = np.random.default_rng(4)
    chosen = [np.unique(rng.integers(0, columns, rng.integers(0, 30) * (r % 4))) for r in range(rows)]
    chosen[7] = np.arange(columns)
    i = np.repeat(np.arange(rows), [c.size for c in chosen])
    j = np.concatenate(chosen)
    values = rng.integers(1, 5, i.size) if dtype != "BOOL" else True
    return gb.Matrix.from_coo(i, j, values, dtype, nrows=rows, ncols=columns)


def vectors(dtype: str = "INT64", size: int = N) -> list[gb.Vector]:
    """Return a full vector, one with half of the entries, and one with three."""
    rng = np.random.default_rng(3)
    return [
        gb.Vector.from_coo(at, rng.integers(1, 4, at.size), dtype, size=size)
        for at in (np.arange(size), np.flatnonzero(rng.random(size) < 0.5), np.array([3, 7, size - 1]))
    ]


@pytest.fixture(params=["sliced", "in chunks"])
def rows_of_both_kinds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONG", 2048 if request.param == "sliced" else 40)


@pytest.mark.usefixtures("rows_of_both_kinds")
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("heads", ["off", "on"])
def test_products_with_vectors_are_the_same(placement: str, heads: str, gpu: Any) -> None:
    A = matrix()
    mask = gb.Vector.from_coo(np.arange(0, N, 3), 1, size=N)
    with gb.config.set(head_cache=heads, packing="on"):
        for with_transpose in (False, True):
            B = A.to("gpu", placement, with_transpose=with_transpose).compress()
            assert B._store.held()[0].compressed
            assert B._store.placement == placement
            for u in vectors():
                for name in ("plus_times", "min_second", "any_pair", "plus_firsti"):
                    w = gb.Vector(int, N)
                    w(~mask.S) << B.mxv(u, name)
                    assert w.to("cpu").isequal(A.mxv(u.to("cpu"), name).new(mask=~mask.S))
                    w = u.vxm(B, name).new(mask=mask.S)
                    assert w.to("cpu").isequal(u.to("cpu").vxm(A, name).new(mask=mask.S))
                w = B.T.mxv(u, "plus_times").new()
                assert w.to("cpu").isequal(A.T.mxv(u.to("cpu"), "plus_times").new())


@pytest.mark.parametrize("row", [0, 6, 7, 150, N - 1])
def test_any_row_can_be_read_alone(row: int, gpu: Any) -> None:
    A = matrix()
    B = A.to("gpu", "zerocopy").compress()
    u = gb.Vector.from_coo([row], 1, size=N)
    assert u.vxm(B, "plus_times").new().to("cpu").isequal(A[row, :].new())


def test_a_symmetric_matrix_stays_one(gpu: Any) -> None:
    A = matrix("BOOL")
    i, j, _ = (A.ewise_add(A.T, "lor").new()).to_coo()
    A = gb.Matrix.from_coo(i, j, True, nrows=N, ncols=N)
    indptr, ids, _ = A.to_csr()
    B = gb.Matrix.from_csr(indptr, ids, True, symmetric=True, nrows=N, ncols=N).to("gpu", "zerocopy").compress()
    assert B._store.symmetric
    assert B._symmetric
    for q in vectors("BOOL"):
        got = q.vxm(B, "any_pair").new(mask=~q.S)
        assert got.to("cpu").isequal(q.to("cpu").vxm(A, "any_pair").new(mask=~q.S))
    assert np.array_equal(gb.algorithms.bfs(B, 7).to_coo()[1], gb.algorithms.bfs(A, 7).to_coo()[1])


@pytest.mark.parametrize("width", [3, 64])
def test_products_with_panels_are_the_same(width: int, gpu: Any) -> None:
    A = matrix()
    rng = np.random.default_rng(2)
    X = gb.Matrix.from_dense(rng.integers(1, 4, (N, width)))
    B = A.to("gpu", "zerocopy").compress()
    assert B.mxm(X.to("gpu"), "plus_times").new().to("cpu").isequal(A.mxm(X, "plus_times").new())
    Y = gb.Matrix.from_dense(rng.random((width, N)) < 0.1, missing_value=False)
    got = Y.to("gpu").mxm(B, "any_pair").new()
    assert got.to("cpu").isequal(Y.mxm(A, "any_pair").new())


def test_other_operations_are_the_same(gpu: Any) -> None:
    A = matrix()
    B = A.to("gpu", "zerocopy").compress()
    u = vectors()[1]
    pairs = [
        (X.apply("ainv"), X.apply(gb.indexunary.colindex), X.select(">", 2), X.select("triu"), X.T,
         X.mxm(X, "plus_times"), X.ewise_add(X.T, "plus"), X.ewise_mult(v, "times"), X[5:60, ::2], X[7, :], X[:, 7],
         X.reduce_rowwise("max"), X.reduce_columnwise("plus"), X.diag())
        for X, v in ((A, u.to("cpu")), (B, u))
    ]  # fmt: skip
    for want, got in zip(*pairs, strict=True):
        want, got = (e.new() if hasattr(e, "new") else e for e in (want, got))
        assert got.to("cpu").isequal(want)
    assert B[7, 20].new() == A[7, 20].new()
    assert B.to("cpu").isequal(A)
    assert B.dup().to("cpu").isequal(A)
    assert B.dup("FP32")._store.held()[0].compressed
    assert B.isequal(A.to("gpu"))
    for some, other in zip(B.to_coo(), A.to_coo(), strict=True):
        assert np.array_equal(some, other)
    C = B.dup()
    C[3, 4] = 9
    D = A.dup()
    D[3, 4] = 9
    assert C.to("cpu").isequal(D)
    assert B.to("cpu").isequal(A)
    B.resize(100, 50)
    A.resize(100, 50)
    assert B.to("cpu").isequal(A)


@pytest.mark.parametrize("order", ["natural", "degree"])
@pytest.mark.parametrize("placement", ["device", "zerocopy", "uvm", "stream", "gather", "cached", "hybrid"])
def test_compressed_ids_lie_on_the_card_or_in_zero_copy_memory(placement: str, order: str, gpu: Any) -> None:
    A = gb.io.read("kron:8", placement="host").to("gpu", placement=placement).compress(order)
    assert A._store.placement == ("device" if placement == "device" else "zerocopy")
    assert A._store.in_stored_order()[0].compressed


def test_what_packing_does_not_make_smaller_stays_as_it_is(gpu: Any) -> None:
    few = gb.Matrix.from_coo([0, 1], [5, 6], 1, nrows=8, ncols=8).to("gpu")
    assert few.bits_per_id == 32
    assert few.compress().bits_per_id == 32
    assert gb.Matrix(int, 8, 8).to("gpu").compress().bits_per_id == 0
    wide = gb.Matrix.from_coo(np.zeros(500, int), np.arange(500), 1, nrows=1, ncols=2**33).to("gpu")
    assert wide.compress().bits_per_id == 64
    assert wide.compress().to("cpu").isequal(wide.to("cpu"))


def test_requests_are_whole_lines_and_fewer(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consecutive blocks are read as lines of 128 bytes, each line once by each warp that needs it."""
    monkeypatch.setattr(emulated, "order", "lockstep")
    monkeypatch.setattr(emulated, "counting", True)
    monkeypatch.setattr(emulated, "multiprocessors", 1)
    lengths = np.random.default_rng(6).integers(0, 200, 600)
    ids = np.concatenate([np.sort(np.random.default_rng(k).choice(2**20, n, False)) for k, n in enumerate(lengths)])
    csr = Csr.from_arrays(np.concatenate([[0], np.cumsum(lengths)]), ids, [1], 2**20, dtype="FP32")
    before = cuda.use(emulated)
    try:
        A = gb.Matrix._from_csr(csr.place("zerocopy"), "gpu")
        B = A.compress()
        x = gb.Vector.from_dense(np.ones(2**20, np.float32))
        asked = []
        for M in (A, B):
            emulated.reset()
            M.mxv(x, "plus_second").new()
            asked.append(emulated.total(0))
        body = B._store.held()[0].indices.body.nbytes
        assert asked[1].share128 == 1
        assert body <= asked[1].bytes < 1.15 * body  # neighbouring warps share a first and last line
        assert asked[1].count < 0.75 * asked[0].count
        few = gb.Vector.from_coo([300], 1, "FP32", size=600)
        emulated.reset()
        few.vxm(B, "plus_first").new()
        assert emulated.total(0).count <= 2 + -(-int(lengths[300]) * 24 // 1024)
    finally:
        cuda.use(before)


@pytest.fixture(params=["device", "zerocopy"])
def ranked(request: pytest.FixtureRequest, gpu: Any) -> tuple[gb.Matrix, gb.Matrix]:
    """Return a matrix, and the same on the GPU engine with compressed ids and its vertices ordered by degree."""
    A = matrix()
    B = A.to("gpu", request.param).compress("degree")
    assert B._store.order is not None
    assert B._store.in_stored_order()[0].compressed
    return A, B


def test_users_speak_their_own_ids(ranked: Any) -> None:
    A, B = ranked
    some = gb.Vector.from_coo(np.arange(0, N, 3), 1, size=N)
    for u in vectors():
        for name in ("plus_times", "min_second", "any_pair"):
            for complement in (False, True):
                answers = []
                for M, v in ((A, u.dup().to("cpu")), (B, u)):
                    mask = ~some.S if complement else some.V
                    w = gb.Vector(int, N)
                    w(mask, "plus", replace=True) << M.mxv(v, name)
                    w("plus") << v.vxm(M, name)
                    w(some.S) << M.T.mxv(w, "plus_second")
                    answers.append(w)
                assert answers[1].to("cpu").isequal(answers[0])
    assert B.reduce_rowwise("plus").new().to("cpu").isequal(A.reduce_rowwise("plus").new())
    assert B.reduce_scalar("max").new() == A.reduce_scalar("max").new()
    assert B.to("cpu").isequal(A)
    assert B.T.new().to("cpu").isequal(A.T.new())
    assert B.dup("FP32").to("cpu").isequal(A.dup("FP32"))
    assert B.apply("ainv").new().to("cpu").isequal(A.apply("ainv").new())


def test_vectors_stay_in_the_order_that_they_met(ranked: Any) -> None:
    _, B = ranked
    order = B._store.order
    u, x = vectors()[1], vectors()[0]
    w = B.mxv(u, "plus_times").new()
    assert w._store.order is order
    assert u._store.order is order
    w << w.ewise_add(x, "plus")
    assert x._store.order is w._store.order is order
    w << w.apply("ainv")
    w(~u.S) << 7
    w << w.select("<", 1000)
    w.reduce("plus").new()
    assert w._store.order is order
    assert w.nvals == w.to_coo()[0].size  # reading restores the users' order
    assert w._store.order is None


def test_what_asks_for_numbers_gets_the_users_own(ranked: Any) -> None:
    A, B = ranked
    answers = []
    for M in (A, B):
        w = M.mxv(vectors()[1], "plus_times").new()
        first = w.apply(gb.indexunary.rowindex).new()
        second = w.select("rowle", 90).new()
        third = w[5:200:3].new()
        fourth = gb.Vector(int, N)
        fourth[::-1] << w
        fifth = M.mxv(w, "any_secondi").new().apply("one").new()
        sixth = M.mxv(w, "min_secondi").new()
        seventh = w.vxm(M, "max_firstj").new()
        w[3] = 8
        answers.append([first, second, third, fourth, fifth, sixth, seventh, w])
        assert w.get(3) == 8
    for want, got in zip(*answers, strict=True):
        assert got.to("cpu").isequal(want)


@pytest.mark.parametrize(
    "name", ["bfs", "bfs_parents", "connected_components", "pagerank", "sssp", "betweenness", "triangles"]
)
def test_algorithms_do_not_know(name: str, gpu: Any) -> None:
    rng = np.random.default_rng(11)
    i, j = rng.integers(0, N, 400) * rng.integers(0, 2, 400), rng.integers(0, N, 400)
    i, j = i[i != j], j[i != j]
    whole = gb.Matrix.from_coo(
        np.concatenate([i, j]), np.concatenate([j, i]), np.ones(2 * i.size), nrows=N, ncols=N, dup_op=gb.binary.first
    )
    indptr, ids, values = whole.to_csr()
    A = gb.Matrix.from_csr(indptr, ids, values, nrows=N, ncols=N, symmetric=True)
    B = A.to("gpu", "zerocopy").compress("degree")
    assert B._store.order is not None
    run = {
        "bfs": lambda M: gb.algorithms.bfs(M, 5),
        "bfs_parents": lambda M: gb.algorithms.bfs_parents(M, 5).apply("one").new(),
        "connected_components": gb.algorithms.connected_components,
        "pagerank": lambda M: gb.algorithms.pagerank(M, tol=1e-9),
        "sssp": lambda M: gb.algorithms.sssp(M, 5),
        "betweenness": lambda M: gb.algorithms.betweenness_centrality(M, sources=[1, 2, 3]),
        "triangles": gb.algorithms.triangle_count,
    }[name]
    want, got = run(A), run(B)
    if isinstance(want, gb.Vector):
        assert got.to("cpu").isclose(want, abs_tol=1e-9)
    else:
        assert got == want


def test_the_order_is_chosen_by_what_packs_better(gpu: Any) -> None:
    shuffled = gb.io.read("kron:10", placement="zerocopy")
    ranked = shuffled.compress("auto")
    assert ranked._store.order is not None
    assert ranked.bits_per_id < 0.9 * shuffled.compress().bits_per_id
    grid = gb.io.read("grid:60x60", placement="device").compress("auto")
    assert grid._store.order is None
    with pytest.raises(ValueError, match="choose 'natural', 'degree' or 'auto'"):
        shuffled.compress("best")
    with pytest.raises(ValueError, match="needs a square matrix"):
        matrix(columns=20).to("gpu").compress("degree")
    assert matrix(columns=20).to("gpu").compress("auto")._store.order is None


def test_a_search_that_runs_without_the_host(gpu: Any) -> None:
    """The path is long: rounds are recorded, with vectors in the matrix's order."""
    path = gb.io.read("grid:2x150", placement="zerocopy")
    want = gb.algorithms.bfs(path.to("cpu"), 0)
    assert gb.algorithms.bfs(path.compress("degree"), 0).to("cpu").isequal(want)


@pytest.mark.parametrize("placement", ["device", "zerocopy", "stream", "hybrid"])
def test_a_matrix_may_lie_in_any_order(placement: str, gpu: Any) -> None:
    A = matrix("FP64")
    order = np.random.default_rng(8).permutation(N)
    for with_transpose in (False, True):
        B = A.to("gpu", placement, with_transpose=with_transpose).reorder(order)
        assert B._store.placement == placement
        assert B._store.order is not None
        for M in (B, B.compress()):
            assert M.to("cpu").isequal(A)
            for u in vectors("FP64"):
                want = A.mxv(u.to("cpu"), "plus_times").new()
                assert M.mxv(u, "plus_times").new().to("cpu").isclose(want, rel_tol=1e-12)
                want = u.to("cpu").vxm(A, "min_first").new(mask=want.S)
                assert u.vxm(M, "min_first").new(mask=M.mxv(u, "plus_times").new().S).to("cpu").isequal(want)
    assert B.compress().reorder(order[::-1]).to("cpu").isequal(A)  # any present order may be replaced
    with pytest.raises(ValueError, match="is not a permutation"):
        A.reorder(np.zeros(N, int))
    with pytest.raises(ValueError, match=r"order has shape \(3,\)"):
        A.reorder([0, 1, 2])
