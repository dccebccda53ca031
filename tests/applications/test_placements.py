"""Applications on graphs in every placement, against the CPU engine; integer answers are equal.

Each placement runs a third of the applications, so that each runs in some placements; slow tests run the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core.access import forms
from tests.algorithms.graphs import both_ways, kronecker, matrix
from tests.gpu.placements.test_placement_grid import KINDS, PLACEMENTS, placed

a, b = gb.applications, gb.algorithms
N = 64
_RNG = np.random.default_rng(3)
_PLACES = np.where(_RNG.random((N, 1)) < 0.5, _RNG.random((N, 2)) * 50, np.nan)
_X, _W = _RNG.random((N, 3)), [_RNG.random((6, 3)) - 0.4 for _ in range(2)]
_SCORES = gb.Vector.from_dense(_RNG.integers(0, 9, N) + 0.0)
_PATTERN = gb.Matrix.from_edgelist([(0, 1), (1, 2)], [5.0, 1.0], nrows=3, ncols=3)
_SOURCES = _RNG.integers(0, N, 40)

#: Calls whose answers are integers (draws and counts). SUMS has those with sums, whose order may differ.
WHOLE: dict[str, Callable[[Any], Any]] = {
    "graph_search, greedy": lambda A: b.graph_search(A, _SOURCES, _SCORES, 6, "greedy"),
    "graph_search, stochastic": lambda A: b.graph_search(A, _SOURCES, _SCORES, 6, "stochastic", seed=2),
    "leiden_communities": lambda A: b.leiden_communities(A, seed=1),
    "louvain_communities": lambda A: b.louvain_communities(A, seed=1),
    "maximum_flow": lambda A: gb.Scalar.from_value(b.maximum_flow(A, 0, 1)[0]),
    "projection": lambda A: a.projection(A),
    "random_walks": lambda A: b.random_walks(A, _SOURCES, 5, weighted=True, p=0.5, q=2, seed=1),
    "sample_neighbors": lambda A: b.sample_neighbors(A, _SOURCES, 3, seed=1),
    "scan_statistics": lambda A: b.scan_statistics(A)[0],
    "seeded_graph_matching": lambda A: a.seeded_graph_matching(A, A, [(k, k) for k in range(8)])[0],
}
SUMS: dict[str, Callable[[Any], Any]] = {
    "application_classification": lambda A: a.application_classification(A, _PATTERN, _X, _X[:3]),
    "collaborative_filtering, als": lambda A: a.collaborative_filtering(A, 2, "als", rounds=2, seed=1)[1],
    "collaborative_filtering, gd": lambda A: a.collaborative_filtering(A, 2, rounds=2, seed=1)[1],
    "fused_lasso": lambda A: a.fused_lasso(A, _X[:, 0], 0.01, tol=0.1)[0],
    "geolocation": lambda A: a.geolocation(A, _PLACES, rounds=4),
    "graphsage": lambda A: a.graphsage(A, _X, *_W, children=3, seed=1),
    "local_clustering": lambda A: a.local_clustering(A, [0, 1], rho=0.01)[0],
    "projection, jaccard": lambda A: a.projection(A, weight="jaccard"),
    "vertex_nomination": lambda A: a.vertex_nomination(A, [0, 1])[1],
}


def graph() -> Any:
    shape = both_ways(kronecker(6, 3))
    shape.data = 1 + (shape.indices + np.repeat(np.arange(N), np.diff(shape.indptr))) % 7  # symmetric
    return matrix(shape)


@pytest.mark.parametrize("third", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_answers_are_those_of_the_cpu_engine(placement: str, third: int, gpu: Any, tmp_path: Path) -> None:
    A = graph()
    there = placed(placement, tmp_path, KINDS["plain"]).put(A)
    for number, (name, call) in enumerate((WHOLE | SUMS).items()):
        if (number + PLACEMENTS.index(placement)) % 3 != third:
            continue
        expected, found = call(A), call(there)
        if name in WHOLE:
            assert found.isequal(expected, check_dtype=True), name
        else:
            assert found.isclose(expected, rel_tol=1e-6, abs_tol=1e-9), name


def test_a_graph_that_is_read_often_is_copied_to_device_memory_where_there_is_room(gpu: Any) -> None:
    A = graph()
    there = A.to(placement="zerocopy")
    near = forms.resident(there, 4)
    assert near._store.placement == "device"
    assert near.isequal(A, check_dtype=True)
    assert near._symmetric == there._symmetric
    assert forms.resident(near, 4) is near
    assert forms.resident(A, 4) is A  # the CPU engine has one memory
    with gb.config.set(budget=A.nvals):
        assert forms.resident(there, 1) is there
