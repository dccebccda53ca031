"""Geolocation, vertex nomination and local clustering: from some vertices to others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

ROUNDS, SEEDS = 10, 100


def _located(given: Input) -> tuple[gb.Matrix, Any]:
    """Half of the vertices have a place, anywhere on land-like latitudes."""
    A = given.read()
    rng = given.rng()
    places = np.c_[rng.uniform(-60, 75, A.nrows), rng.uniform(-180, 180, A.nrows)]
    places[rng.random(A.nrows) < 0.5] = np.nan
    return A, places


def _judge_places(given: tuple[gb.Matrix, Any], found: gb.Matrix) -> None:
    """Known places are as they were, and hidden ones on the sphere."""
    _, places = given
    values = found.to_dense(np.nan)
    known = ~np.isnan(places[:, 0])
    if np.abs(values[known] - places[known]).max() > 1e-9:
        raise Wrong("a known place has moved")
    hidden = values[~known & ~np.isnan(values[:, 0])]
    if not (np.abs(hidden[:, 0]) <= 90).all() or not (np.abs(hidden[:, 1]) <= 180).all():
        raise Wrong("a place is not on the sphere")


def _seeded(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read("?weights=8-72")
    return A, np.unique(given.sources(A, SEEDS))


def _judge_nominated(given: tuple[gb.Matrix, Any], answer: Any) -> None:
    """Scores are SciPy's distances, where the graph is small enough to ask."""
    A, seeds = given
    nominated, score = answer
    order = score[nominated.to_dense()].new().to_dense()
    if (np.diff(order) < 0).any():
        raise Wrong("a vertex is nominated before one that is nearer")
    if A.nvals > 1 << 24:
        return
    expected = dijkstra(gb.io.to_scipy_sparse(A.to("cpu")).astype(float), indices=seeds, min_only=True)
    at, values = score.to_coo()
    if not np.array_equal(values, expected[at.astype(np.int64)]):
        raise Wrong("a score is not the distance from the nearest seed")


def _theirs(given: tuple[gb.Matrix, Any]) -> Any:
    A, seeds = given
    return dijkstra(gb.io.to_scipy_sparse(A.to("cpu")), indices=seeds, min_only=True)


def _one(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read()
    return A, given.sources(A, 64)


def _judge_clusters(given: tuple[gb.Matrix, Any], answer: Any) -> None:
    """The conductance of each cluster, counted again."""
    A, _ = given
    _, cluster, conductance = answer
    degree = A.apply("one").new("INT64").reduce_rowwise("plus").new().to_dense(fill_value=0)
    for row, value in conductance.to_dict().items():
        members = cluster[row, :].new().to_coo()[0].astype(np.int64)
        volume = int(degree[members].sum())
        inside = A[members, members].new().nvals
        again = (volume - inside) / min(volume, A.nvals - volume)
        if abs(again - value) > 1e-9:
            raise Wrong(f"cluster {row} has conductance {again} and not {value}")


ROWS = [
    Row(
        "geolocation", "urand:24", _located, lambda x: gb.applications.geolocation(x[0], x[1], ROUNDS), _judge_places,
        goals={"zerocopy": Goal(0.3)}, host_graph="urand:14", made="made places",
    ),
    Row(
        "nomination", "kron:24", _seeded, lambda x: gb.applications.vertex_nomination(x[0], x[1]), _judge_nominated,
        peers=(Peer("sssp from one source", lambda x: gb.algorithms.sssp(x[0], int(x[1][0])).wait()),
               Peer("SciPy", _theirs)), host_graph="kron:16",
    ),
    Row(
        "local clustering", "kron:24", _one,
        lambda x: gb.applications.local_clustering(x[0], int(x[1][0])), _judge_clusters,
        goals={"zerocopy": Goal(0.01)}, host_graph="kron:16",
    ),
    Row(
        "local clustering, 64 seeds", "kron:24", _one,
        lambda x: gb.applications.local_clustering(x[0], x[1]), _judge_clusters, host_graph="kron:16",
        peers=(Peer("one by one", lambda x: [gb.applications.local_clustering(x[0], int(v)) for v in x[1]]),),
    ),
]  # fmt: skip
