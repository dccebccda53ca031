"""Results beyond memory: one error with the size, before memory is allocated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import OutOfMemory
from sparsezc.expr import engines
from tests.algorithms.graphs import both_ways, kronecker, matrix

a, b = gb.applications, gb.algorithms
_W = [np.ones((6, 3))] * 2
_HUB = both_ways(kronecker(8, 4))

#: Calls on a graph, and the words of their errors. Files and the other placements have tests of their own.
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "fused_lasso": (lambda A: a.fused_lasso(A, np.ones(256), 0.1), r"fused_lasso: rows of [\d,]+ edges"),
    "graphsage": (
        lambda A: a.graphsage(A, np.ones((256, 3)), *_W, seed=1),
        r"graphsage: layers of 3 and 3 and 3 numbers of 256 vertices",
    ),
    "local_clustering": (
        lambda A: a.local_clustering(A, range(9), rho=1e-6), r"local_clustering: [\d,]+ entries near 9 seeds",
    ),
    "random_walks": (lambda A: b.random_walks(A, [0] * 99, 99), r"walk: 99 walks of 99 steps"),
    "scan_statistics": (
        lambda A: b.scan_statistics(A, 2), r"scan_statistics: [\d,]+ vertices within 2 hops of [\d,]+",
    ),
    "seeded_graph_matching": (
        lambda A: a.seeded_graph_matching(A, A, [(k, k) for k in range(99)]),
        r"seeded_graph_matching: a gradient of up to [\d,]+ pairs of neighbours",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_result_beyond_memory_says_its_size(name: str) -> None:
    call, said = CALLS[name]
    A = matrix(_HUB)
    with gb.config.set(host_budget=4000), pytest.raises(OutOfMemory, match=said + r" needs [\d,]+ bytes of host mem"):
        call(A)
    with gb.config.set(host_budget="64MB"):
        call(A)


def test_clusters_by_arrays_say_it_too() -> None:
    call, said = CALLS["local_clustering"]
    stepped, limited = engines.stepping(engines.get("cpu")), gb.config.set(host_budget=4000)
    with stepped, limited, pytest.raises(OutOfMemory, match=said):
        call(matrix(_HUB))
