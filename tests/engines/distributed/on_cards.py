"""Searches, components and sums on ranks that have a card: graphs in every placement, compressed and reordered.

Ranks may share a card: ``test_ranks_on_cards`` runs all checks on real cards, ``on_gpus.py`` some on emulated ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.distributed.parts import row_exchange
from sparsezc.engines.distributed.statements import search_batches
from sparsezc.engines.gpu.several_processes import peer_searches
from sparsezc.expr import engines

GRAPH = "kron:10"
PLACEMENTS = ("device", "zerocopy", "hybrid", "stream", "gather", "cached", "uvm")
T = distributed.engine().transport


def results(A: Any) -> list[Any]:
    """Return answers that are equal to the bit on all engines, and as the last one PageRank."""
    hub = int(np.argmax(A.reduce_rowwise(gb.agg.count).new().to_dense(0)))
    searches = [hub, 3, 5]
    found = [
        gb.algorithms.bfs(A, hub).to_dense(-1),
        gb.algorithms.bfs(A, searches).to_dense(-1),  # a panel of three
        gb.algorithms.sssp(A, hub).to_dense(-1),
        gb.algorithms.connected_components(A).to_dense(-1),
    ]
    return [*found, gb.algorithms.pagerank(A, tol=None, max_iter=5).to_dense(0)]


@cache
def expected() -> list[Any]:
    return results(gb.io.read(GRAPH))


def compare(A: Any) -> None:
    got = results(A)
    for mine, theirs in zip(got[:-1], expected()[:-1], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_allclose(got[-1], expected()[-1], rtol=1e-9)


def _of(change: Callable[[], Any]) -> Callable[[], None]:
    return lambda: compare(change().distribute())


for _placement in PLACEMENTS:
    globals()[f"check_{_placement}"] = _of(lambda kept=_placement: gb.io.read(GRAPH, placement=kept))  # type: ignore[misc]
check_compressed = _of(lambda: gb.io.read(GRAPH, placement="zerocopy").compress("natural"))
check_reordered = _of(lambda: gb.io.read(GRAPH, placement="zerocopy").compress("degree"))


def check_row_heads_of_hubs() -> None:
    """Row blocks receive the degrees of columns whose rows they do not have."""
    with gb.config.set(head_cache="on"):
        compare(gb.io.read(GRAPH, placement="zerocopy").distribute())


def check_parents_of_several_searches() -> None:
    """Values of a panel are exchanged with its positions."""
    A = gb.io.read(GRAPH)
    D = gb.io.read(GRAPH, placement="device").distribute()
    parents = gb.algorithms.bfs_parents(D, [1, 2, 3])
    levels = gb.algorithms.bfs(A, [1, 2, 3]).to_dense(-1)
    found = parents.to_dense(-1)
    np.testing.assert_array_equal(found < 0, levels < 0)
    for k in range(3):
        far = levels[k] > 0
        assert (levels[k][found[k][far]] == levels[k][far] - 1).all()


def check_levels_of_many_searches() -> None:
    """Levels are right with no statement between the steps and by statements; graphs are directed and small, too."""
    i, j = np.random.default_rng(6).integers(0, 200, (2, 500))
    directed = gb.Matrix.from_coo(i, j, True, nrows=200, ncols=200)
    graphs = {"kron": gb.io.read("kron:8"), "path": gb.io.read("path:70"), "directed": directed}
    for name, A in graphs.items():
        D, engine = A.to("gpu", placement="device").distribute(), distributed.engine()
        for k in {"kron": (64, 33, 1), "path": (64,), "directed": (3,)}[name]:  # a path needs many steps
            sources = [(7 * s + 1) % A.nrows for s in range(k)]
            want = gb.algorithms.bfs(A, sources).to_dense(-1)
            with patch.object(type(engine), "run", side_effect=AssertionError("a statement")), by_vertices():
                found = gb.algorithms.bfs(D, sources)
            np.testing.assert_array_equal(found.to_dense(-1), want)
            with engines.stepping(engine) if k != 64 else late(engine.rank), by_vertices():
                np.testing.assert_array_equal(gb.algorithms.bfs(D, sources).to_dense(-1), want)


def late(rank: int) -> Any:
    """Let ranks read the device's numbers at different times, so that they launch different numbers of steps."""
    hear = peer_searches._Steps.hear

    def heard(steps: Any, ahead: int) -> None:
        if not ahead or steps.launched >= min(7 * rank, 7):
            hear(steps, ahead)

    return patch.object(peer_searches._Steps, "hear", heard)


def by_vertices() -> Any:
    return patch.object(search_batches, "saved", return_value=-1.0)


def check_matrices_travel_as_device_arrays() -> None:
    """Products, transposes and permuted rows are right, with and without space for all of it in device memory."""
    i, j = np.random.default_rng(8).integers(0, 300, (2, 1500))
    A = gb.Matrix.from_coo(i, j, i + j, nrows=300, ncols=300, dup_op="min")
    rows = np.random.default_rng(9).permutation(300)[:200]
    D = A.to("gpu").distribute()
    for copies in (row_exchange._COPIES, 1 << 60):
        with patch.object(row_exchange, "_COPIES", copies):
            for got, want in (
                (D.mxm(D, gb.semiring.plus_times), A.mxm(A, gb.semiring.plus_times)),
                (D.T.mxm(D, gb.semiring.min_plus), A.T.mxm(A, gb.semiring.min_plus)),
            ):
                assert got.new().to_dicts() == want.new().to_dicts()
            assert D.T.new().to_dicts() == A.T.new().to_dicts()
            assert D[rows, :].new().to_dicts() == A[rows, :].new().to_dicts()
