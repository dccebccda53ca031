"""Searches by kernels that write into the memory of other cards: their answers, and how long their windows exist."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines import distributed
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.several_processes import peer_searches
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget
from tests.engines.distributed.on_cards import by_vertices, late


def graph(n: int, *, directed: bool = False) -> Any:
    """Return a graph of a few edges a vertex; some vertices have none."""
    i, j = np.random.default_rng(n).integers(0, n, (2, 2 * n))
    if not directed:
        i, j = np.r_[i, j], np.r_[j, i]
    return gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n).to("cpu")


def search(A: Any, D: Any = None) -> Any:
    """Return this graph on the cards after 64 searches, whose levels are checked against the CPU engine's."""
    D = A.to("gpu", placement="device").distribute() if D is None else D
    sources = [(7 * s + 1) % A.nrows for s in range(64)]
    with by_vertices():
        found = gb.algorithms.bfs(D, sources)
    assert A._engine.name == "cpu"
    np.testing.assert_array_equal(found.to_dense(-1), gb.algorithms.bfs(A, sources).to_dense(-1))
    return D


def exchange(A: Any) -> None:
    """Have ranks send each other device arrays."""
    assert gb.algorithms.bfs(A, 1).nvals


@contextmanager
def watched() -> Iterator[Any]:
    """Yield a function that returns the bytes of each window that this rank has made since and has not freed."""
    gc.collect()  # graphs of other checks keep their windows until they are freed
    kind, made = type(cuda.current()), []

    def window(gpu: Any, nbytes: int) -> Any:
        new = original(gpu, nbytes)
        made.append((weakref.ref(new.array._mmap), nbytes))  # every view keeps the memory map alive
        return new

    original = kind.window
    with patch.object(kind, "window", window):
        yield lambda: [nbytes for memory, nbytes in made if memory() is not None]


def window_bytes(D: Any) -> int:
    """Return the bytes of a window for searches in a matrix: some 20 bytes a vertex of two cards."""
    return peer_searches.memory(D._store.partition.bounds)[0]


def compare_answers() -> None:
    """Compare searches with dense frontiers, with many steps, along directed edges (push only) and on empty ranks."""
    rank, size = distributed.engine().rank, distributed.engine().size
    path, run = gb.io.read("path:70", placement="host"), peer_searches.run
    for A, readings in (
        (graph(64 * size + 40), (nullcontext(), late(rank))),
        (path, (late(rank),)),
        (graph(200, directed=True), (nullcontext(),)),
    ):
        for reading in readings:  # ways to read the device's numbers
            with patch.object(peer_searches, "run", side_effect=run) as ran, reading:
                search(A)
            assert ran.call_count == 1


def check_a_window_is_freed_with_the_matrix_that_needs_it() -> None:
    """Ten graphs in turn never have two windows, and the budget of device memory counts the one that exists."""
    engine = distributed.engine()
    small = graph(100)
    gc.collect()
    exchange(small.to("gpu").distribute())  # the exchange frees the windows of other checks
    with watched() as held, gb.config.set(head_cache="off"):
        cached, whole, D = budget._held(), {}, None
        for n in range(100, 1100, 100):
            D = search(graph(n))
            assert held() == [window_bytes(D)] == [budget._held() - cached]
            whole[n] = held()
        other = search(small)
        assert held() == whole[1000]  # one window serves both graphs
        kept = D if engine.rank else None  # some ranks free their part later than others
        del D
        gc.collect()
        exchange(other)
        assert held() == []
        assert budget._held() == cached
        search(small, other)
        assert held() == whole[100]
        search(graph(200))
        assert held() == whole[200]
        search(small, other)  # the next search frees a window, too
        assert held() == whole[100]
        assert kept is None or window_bytes(kept) > held()[0]


def check_windows_are_freed_where_memory_is_short() -> None:
    """One rank short of memory cannot free a window alone: it asks, and all ranks free it at the next exchange."""
    engine, A = distributed.engine(), graph(300)
    with watched() as held, gb.config.set(head_cache="off"):
        D = search(A)
        of_all = held()
        if engine.rank == 1:
            budget.reclaim()
            assert not budget.reclaim()  # nothing is freed before the next exchange
        assert held() == of_all
        exchange(D)
        assert held() == []
        search(A, D)
        assert held() == of_all
        if engine.rank == 1:
            budget.reclaim()
        search(A, D)
        assert held() == of_all


def check_searches_of_ranks_that_have_no_room_for_windows() -> None:
    """Frontiers travel in messages if one rank has no space for windows."""
    engine, A = distributed.engine(), graph(400)
    D = A.to("gpu", placement="device").distribute()
    kind, wanted = type(cuda.current()), window_bytes(D)
    original = kind.window

    def window(gpu: Any, nbytes: int) -> Any:
        if nbytes == wanted and engine.rank == 1:
            raise OutOfMemory("no room")
        return original(gpu, nbytes)

    with patch.object(peer_searches, "run", side_effect=AssertionError("windows")):
        with patch.object(kind, "window", window):
            search(A, D)
        short = patch.object(budget, "available", return_value=wanted - 1) if engine.rank == 1 else nullcontext()
        with short, patch.object(panel, "fits", return_value=True):
            search(A, D)
    search(A, D)
