"""Bytes that ranks receive equal those that ``sparsezc scale`` counts on the plain engine, statement by statement."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.cli.scale_counts import Counts, Cut
from sparsezc.engines import distributed
from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.distributed.parts import vector_exchange

a = gb.algorithms
CALLS: dict[str, Any] = {
    "bfs": lambda A: a.bfs(A, 1),
    "parents": lambda A: a.bfs_parents(A, 1),
    "components": a.connected_components,
    "sssp": lambda A: a.sssp(A, 1),
    "pagerank": lambda A: a.pagerank(A, tol=None, max_iter=3),
}


def graphs() -> dict[str, Any]:
    i, j = np.random.default_rng(5).integers(0, 1500, (2, 6000))
    return {
        "kron": gb.io.read("kron:9?weights=1-9"),
        "directed": gb.Matrix.from_coo(i, j, i % 7 + 1, nrows=1500, ncols=1500, dup_op="min"),
        "path": gb.io.read("path:90"),
    }


def check_received_bytes_are_those_of_the_model() -> None:
    engine = distributed.engine()
    for packing in (0, 2000) if engine.on_device else (0,):
        with patch.object(vector_exchange, "PACKING", packing), patch.object(compiled_loops, "pays", lambda _: False):
            for graph, A in graphs().items():
                if engine.size > 2 and graph == "path":
                    continue
                if engine.on_device:
                    if graph != "kron":  # the emulator compiles a kernel for each type, which takes long
                        continue
                    A = A.to("gpu")
                _compare(A, CALLS, packing, graph)


def check_received_bytes_of_loops() -> None:
    """Ranks on CPUs run these in machine code, and receive the same bytes."""
    if not distributed.engine().on_device:
        with patch.object(compiled_loops, "pays", lambda _: True):
            for name in ("components", "pagerank"):
                _compare(gb.io.read("kron:9"), {name: CALLS[name]}, 0, "kron")


def _compare(A: Any, calls: dict[str, Any], packing: int, graph: str) -> None:
    engine = distributed.engine()
    transport, D = engine.transport, A.distribute()
    for name, call in calls.items():
        call(D)  # the first call may form a transpose
        before = transport.received
        call(D)
        received = transport.received - before
        counts = Counts(Cut(D._store.partition.bounds, packing, engine.on_device, engine.rank))
        with counts.watching(A):
            call(A)
        told = transport.objects((received, counts.received))
        assert all(got == model for got, model in told), (graph, name, packing, told)
