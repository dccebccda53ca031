"""Rows that move between ranks, from slow ranks to others and to arbitrary bounds; no answer changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.distributed import balancer
from sparsezc.engines.distributed.model.rebalance import LIMIT, imbalance
from sparsezc.engines.distributed.parts.partition import ROWS, cut_rows

ENGINE = distributed.engine()
T = ENGINE.transport
GRAPH = "urand:12"


@contextmanager
def costing(seconds: Callable[[int, int, int], float]) -> Iterator[None]:
    """Let this rank's products take `seconds(rank, lo, hi)` for its rows lo:hi, on a clock that only they advance."""
    b, timed, before = ENGINE.balancer, ENGINE.balancer.timed, (balancer._MATTERS, balancer.perf_counter)
    clock = [0.0]

    def slow(store: Any, call: Callable[[], Any]) -> Any:
        def run() -> Any:
            clock[0] += seconds(T.rank, store.partition.lo, store.partition.hi)
            return call()

        return timed(store, run)

    b.timed, balancer._MATTERS, balancer.perf_counter = slow, 1, lambda: clock[0]
    try:
        yield
    finally:
        del b.timed
        balancer._MATTERS, balancer.perf_counter = before


def evenly() -> tuple[Any, Any, int]:
    """Return the graph, plain and cut so that entries are even, and the number of moves so far."""
    plain = gb.io.read(GRAPH)
    ENGINE.partitions.cut(cut_rows(plain._to_csr().indptr, T.size))
    return plain, plain.distribute(), ENGINE.balancer.moves


def ranked(A: Any) -> Any:
    return gb.algorithms.pagerank(A, tol=None, max_iter=16)


def moved_until_even(seconds: Callable[[int, int, int], float]) -> None:
    """Check that rows move, on all ranks alike, until all ranks take about as long, and that answers stay the same."""
    plain, A, before = evenly()
    began = A._store.partition.bounds
    with costing(seconds):
        found = [ranked(A) for _ in range(3)]
    bounds = A._store.partition.bounds
    assert T.objects((bounds.tolist(), ENGINE.balancer.moves)) == [(bounds.tolist(), ENGINE.balancer.moves)] * T.size
    if T.size == 1:
        assert ENGINE.balancer.moves == before
        return
    assert ENGINE.balancer.moves > before
    taken = [np.array([seconds(r, *cut[r : r + 2].tolist()) for r in range(T.size)]) for cut in (began, bounds)]
    assert imbalance(taken[0]) > 1.3
    assert imbalance(taken[1]) < LIMIT
    assert ENGINE.counts(A._store).sum() == plain.nvals
    want = ranked(plain).to("distributed")
    assert all(each.isclose(want, rel_tol=1e-9) for each in found)
    assert want._store.partition is ENGINE.partitions.of((plain.nrows,))
    for algorithm in (lambda M: gb.algorithms.bfs(M, 3), gb.algorithms.connected_components):
        assert algorithm(A).to_dict() == algorithm(plain).to_dict()


def check_rows_of_a_slow_rank_move() -> None:
    """Rows move between rounds of a loop, too, which then continues over its new rows."""
    with patch.object(compiled_loops, "pays", lambda _: True):
        moved_until_even(lambda rank, lo, hi: (hi - lo) * (1e-5 if rank == T.size - 1 else 2e-6))


def check_rows_that_take_longer_are_divided() -> None:
    """Entries are even and times are not: the rows before 1,024 take six times as long as the others."""
    with patch.object(compiled_loops, "pays", lambda _: False):
        moved_until_even(lambda _, lo, hi: 1e-5 * max(min(hi, 1024) - lo, 0) + 2e-6 * (hi - lo))


def check_even_ranks_are_measured_now_and_then() -> None:
    """Even ranks measure some products only: the host of a GPU must wait for a measured product."""
    _, A, _ = evenly()
    measured = [0]

    def even(_rank: int, _lo: int, _hi: int) -> float:
        measured[0] += bool(ENGINE.balancer._watched and not ENGINE.balancer._watched[A.nrows].rest)
        return 1e-3

    with costing(even):
        ranked(A)
        ranked(A)  # 32 products
    assert measured[0] < 24
    with costing(lambda rank, lo, hi: (hi - lo) * (5e-5 if rank == 0 else 1e-5)):
        before = ENGINE.balancer.moves
        for _ in range(4):
            ranked(A)
        assert T.size == 1 or ENGINE.balancer.moves > before  # later imbalance is still found


def check_ranks_without_a_frontier_measure_too() -> None:
    """Ranks decide in the same statement, or not at all, where one rank has all first levels of a search."""
    plain, A, _ = evenly()
    with costing(lambda rank, lo, hi: (hi - lo) * (5e-6 if rank == 0 else 1e-6)):
        for source in (0, plain.nrows - 1, 0, plain.nrows - 1):
            assert gb.algorithms.bfs(A, source).to_dict() == gb.algorithms.bfs(plain, source).to_dict()


def check_rows_stay_where_one_rank_says_so() -> None:
    _, A, before = evenly()
    with costing(lambda rank, lo, hi: (hi - lo) * (5e-6 if rank == 0 else 1e-6)), gb.config.set(rebalance=T.rank > 0):
        ranked(A)
    assert ENGINE.balancer.moves == before


def check_even_ranks_and_short_loops_stay() -> None:
    _, A, before = evenly()
    even = np.diff(A._store.partition.bounds)
    with costing(lambda rank, lo, hi: 4e-3 * (hi - lo) / even[rank] if even[rank] else 0.0):
        ranked(A)
    with costing(lambda rank, _lo, _hi: 1e-4 * (rank == 0)):
        ranked(A)  # the imbalance costs less than a move
    assert ENGINE.balancer.moves == before


def _cuts(n: int) -> Iterator[np.ndarray]:
    """Yield bounds with even, uneven and empty ranges."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        yield np.r_[0, np.sort(rng.integers(0, n // 64 + 1, T.size - 1)) * 64, n]
    yield np.r_[np.zeros(T.size, int), n]
    yield np.r_[0, np.full(T.size, n)]


def check_matrices_keep_their_entries_in_any_bounds() -> None:
    rng = np.random.default_rng(3)
    n = 450
    i, j = np.divmod(rng.choice(n * n, 3000, replace=False), n)
    star = np.r_[np.zeros(n - 1, int), 5, 6], np.r_[1:n, 7, 8]
    for at, values in (((i, j), rng.random(i.size)), ((i, j), True), (star, np.arange(star[0].size)), (star, 2.0)):
        plain = gb.Matrix.from_coo(*at, values, nrows=n, ncols=n)
        for keep in (False, True):
            A = plain.distribute()
            if keep:
                ENGINE.afford_transpose(A._store)
            v = gb.Vector.from_coo(range(0, n, 3), np.arange(0, n, 3) + 0.5, size=n)
            u = v.to("distributed")
            for bounds in _cuts(n):
                ENGINE.partitions.cut(bounds.astype(np.int64))
                for op in (gb.semiring.min_plus, gb.semiring.plus_times):
                    for M, P in ((A, plain), (A.T, plain.T)):
                        got, want = M.mxv(u, op).new(), P.mxv(v, op).new()
                        assert got.to_dict() == want.to_dict() or got.isclose(want.to("distributed"), rel_tol=1e-12)
                if T.size > 1:
                    assert A._store.partition.bounds.tolist() == bounds.tolist()
                    assert A._store.partition.along == ROWS
                assert A.isequal(plain.to("distributed"))


def check_a_kept_transpose_follows_new_bounds() -> None:
    """Check bounds that change the ranges of the kept transpose's rows and not those of the matrix."""
    for shape in ((261, 523), (261, 4)):  # the transpose of a narrow matrix is cut by columns
        rng = np.random.default_rng(3)
        whole = np.where(rng.random(shape) < 0.3, rng.integers(1, 9, shape), 0).astype(float)
        A = gb.Matrix.from_dense(whole, missing_value=0).to("distributed")
        B = gb.Matrix.from_dense(whole.T.copy(), missing_value=0).to("distributed")
        x = gb.Vector.from_coo([0, shape[1] - 1], [1.0, 2.0], size=shape[1])
        for n in ((), *shape):  # first the bounds as they are, then new ranges of rows, then of columns
            if n and n > 64:
                ENGINE.partitions.cut(np.minimum(np.r_[0, 64 * np.arange(1, T.size), n], n))
            assert np.array_equal(A.T.ewise_add(B, "plus").new().to_dense(0), 2 * whole.T)
            assert np.array_equal(A.mxv(x.to("distributed"), "plus_times").new().to_dense(0), whole @ x.to_dense(0))
            assert np.array_equal(A.reduce_rowwise("plus").new().to_dense(0), whole.sum(1))
            assert np.array_equal(A.reduce_columnwise("plus").new().to_dense(0), whole.sum(0))
