"""Batches of searches divided by search among ranks that each have the whole graph: the same answers, no exchange."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.distributed.parts import search_exchange
from sparsezc.engines.distributed.statements import search_batches

a = gb.algorithms


@contextmanager
def paying(seconds: float) -> Iterator[None]:
    """Let a batch divided by search save so many seconds, and gathering the matrix cost one second."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(search_batches, "saved", lambda _: seconds))
        stack.enter_context(patch.object(search_batches, "gathering", lambda _: 1.0))
        stack.enter_context(gb.config.set(fallback="error"))
        yield


def graphs() -> dict[str, Any]:
    found = {"kron": gb.io.read("kron:8")}
    if not distributed.engine().on_device and distributed.engine().size == 2:  # a GPU needs a symmetric matrix
        i, j = np.random.default_rng(4).integers(0, 150, (2, 600))
        found["directed"] = gb.Matrix.from_coo(i, j, i + j, nrows=150, ncols=150, dup_op="min")
    return found


def received(call: Any) -> tuple[Any, int]:
    """Return a call's result, and the bytes received by the rank that received most."""
    transport = distributed.engine().transport
    before = transport.received
    found = call()
    return found, max(transport.objects(transport.received - before))


def check_batches_by_search() -> None:
    for name, A in graphs().items():
        D = A.distribute()
        with paying(2.0):
            on_device = distributed.engine().on_device  # an emulated device compiles kernels for each type
            for sources in (list(range(64)), [5, 4], *([] if on_device else [[3, 1, 2, 0, 9]])):
                a.bfs(D, sources)  # the first batch sends the graph
                level, sent = received(lambda D=D, sources=sources: a.bfs(D, sources))
                assert level._store.partition.by_search, name
                assert sent <= 100 * len(sources)  # the sources of the searches
                want = a.bfs(A, sources)
                k = len(sources) - 1
                row, part = level[k, :].new(), level[[0, k], :].new()  # divided by vertices again
                assert not level._store.partition.by_search
                np.testing.assert_array_equal(row.to_dense(-1), want[k, :].new().to_dense(-1))
                np.testing.assert_array_equal(part.to_dense(-1), want[[0, k], :].new().to_dense(-1))
                np.testing.assert_array_equal(level.to_dense(-1), want.to_dense(-1))
            if on_device:
                continue
            reached = a.bfs_parents(D, [1, 2, 3]).to_dense(-1) >= 0
            np.testing.assert_array_equal(reached, a.bfs(A, [1, 2, 3]).to_dense(-1) >= 0)
            for call in (
                lambda X: a.betweenness_centrality(X, sources=range(40)),
                a.closeness_centrality,
            ):
                np.testing.assert_allclose(call(D).to_dense(0), call(A).to_dense(0), rtol=1e-9)


def is_by_search(D: Any, sources: Any = (1, 2, 3)) -> bool:
    return bool(a.bfs(D, sources)._store.partition.by_search)


def check_a_graph_is_sent_once_batches_would_have_paid_for_it() -> None:
    D = gb.io.read("kron:8").distribute()
    with paying(0.4):
        assert [is_by_search(D) for _ in range(4)] == [False, False, True, True]
    D = gb.io.read("kron:8").distribute()
    with paying(-1.0):
        assert not is_by_search(D)
    with paying(2.0), patch.object(search_exchange, "_SHARE", 0.0):  # no memory may be used for the graph
        assert [is_by_search(D) for _ in range(2)] == [False, False]


def check_batches_of_both_kinds_meet() -> None:
    A = gb.io.read("kron:9")
    D, sources = A.distribute(), list(range(10))
    with paying(-1.0):
        old = a.bfs(D, sources)
    with paying(2.0):
        new = a.bfs(D, sources[::-1])
        assert new._store.partition.by_search
        got = old.ewise_add(new, gb.binary.plus).new()
        assert not new._store.partition.by_search
        want = a.bfs(A, sources).ewise_add(a.bfs(A, sources[::-1]), gb.binary.plus).new()
        np.testing.assert_array_equal(got.to_dense(-1), want.to_dense(-1))
        again = a.bfs(D, sources)
        masked = again.dup()
        masked(again.S, gb.binary.plus) << 5
        assert masked._store.partition.by_search
        total = masked.reduce_scalar(gb.monoid.plus).new().value
        want = a.bfs(A, sources)
        assert total == want.reduce_scalar(gb.monoid.plus).new().value + 5 * want.nvals
        assert masked.T.new().nvals == want.nvals
