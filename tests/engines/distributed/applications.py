"""Every application on distributed graphs, against the same call on the plain CPU engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sparsezc as gb
from tests.engines.distributed.algorithms import alike, expected

a = gb.applications
N = 160
_RNG = np.random.default_rng(11)
_PLACES = np.where(_RNG.random((N, 1)) < 0.4, _RNG.random((N, 2)) * 60, np.nan)
_X, _W = _RNG.random((N, 6)), [_RNG.random((12, 4)) - 0.5, _RNG.random((8, 3)) - 0.5]
_PATTERN = gb.Matrix.from_edgelist([(0, 1), (1, 2)], [5.0, 1.0], nrows=3, ncols=3)


def _graph() -> Any:
    i, j = _RNG.integers(0, N, (2, 900))
    kept = i != j
    weights = _RNG.integers(1, 9, 900).astype(float)
    return gb.Matrix.from_coo(i[kept], j[kept], weights[kept], nrows=N, ncols=N, dup_op="min")


def _assignable(A: Any) -> Any:
    """Return a matrix in which every row can be assigned a column of its own."""
    C = A.dup()
    C.setdiag(20.0)
    return C


CALLS: dict[str, Callable[[Any], Any]] = {
    "application_classification": lambda A: a.application_classification(A, _PATTERN, _X[:, :2], _X[:3, :2]),
    "collaborative_filtering": lambda A: a.collaborative_filtering(A, k=2, solver="als", rounds=3, seed=1)[0],
    "collaborative_filtering by gradients": lambda A: a.collaborative_filtering(A, k=2, rounds=3, seed=1)[0],
    "fused_lasso": lambda A: a.fused_lasso(A, _X[:, 0], lambda1=0.1)[0],
    "geolocation": lambda A: a.geolocation(A, _PLACES, rounds=50, tol=100.0),
    "graphsage": lambda A: a.graphsage(A, _X, *_W, seed=1),
    "linear_assignment": lambda A: a.linear_assignment(_assignable(A)),
    "local_clustering": lambda A: a.local_clustering(A, [0, 5], rho=0.01)[1],
    "projection": lambda A: a.projection(A, "columns", "jaccard"),
    "seeded_graph_matching": lambda A: a.seeded_graph_matching(A, A, [(0, 0), (5, 5)])[0],
    "vertex_nomination": lambda A: a.vertex_nomination(A, [0], k=5)[0],
}


def check_applications() -> None:
    A = _graph()
    D = A.distribute()
    wrong, wanted = [], expected({name: (call, A) for name, call in CALLS.items()})
    for name, call in CALLS.items():
        got = call(D)
        if not alike(got, wanted[name]):
            wrong.append(f"{name}: {got!r} instead of {wanted[name]!r}")
    assert not wrong, "\n".join(wrong)


def check_every_application_has_a_call() -> None:
    assert {name.partition(" ")[0] for name in CALLS} == set(a.__all__)
