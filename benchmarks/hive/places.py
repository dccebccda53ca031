"""Geolocation and vertex nomination: predictions for vertices from known values of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

import sparsezc as gb
from benchmarks.hive.inputs import on_a_sphere, unit_vectors
from benchmarks.hive.row import Goal, Input, Peer, Row, degrees, on_a_gpu
from benchmarks.verify.answers import Wrong

ROUNDS, SEEDS = 10, 100
NEAR = 8  # neighbours in the geometric graph
EARTH = 6371.0  # km


def _located(given: Input) -> tuple[gb.Matrix, Any]:
    """Return a graph and places, known for half of the vertices, at latitudes from -60 to 75."""
    A = given.read()
    rng = given.rng()
    places = np.c_[rng.uniform(-60, 75, A.nrows), rng.uniform(-180, 180, A.nrows)]
    places[rng.random(A.nrows) < 0.5] = np.nan
    return A, places


def _judge_places(given: tuple[gb.Matrix, Any], found: gb.Matrix) -> None:
    """Check that known places are unchanged, and that hidden ones are on the sphere."""
    _, places = given
    values = found.to_dense(np.nan)
    known = ~np.isnan(places[:, 0])
    if np.abs(values[known] - places[known]).max() > 1e-9:
        raise Wrong("a known place has changed")
    hidden = values[~known & ~np.isnan(values[:, 0])]
    if not (np.abs(hidden[:, 0]) <= 90).all() or not (np.abs(hidden[:, 1]) <= 180).all():
        raise Wrong("a place is not on the sphere")


def _bytes(given: tuple[Any, ...], _: Any) -> int:
    """Return the bytes of a call: each round reads once the ids in the rows of vertices without a place."""
    A, places = given[:2]
    return int(4 * ROUNDS * degrees(A)[np.isnan(places[:, 0])].sum())


def _planted(given: Input) -> tuple[gb.Matrix, Any, Any]:
    """Return a geometric graph, whose neighbours are near; half of the places are hidden."""
    A, truth = on_a_sphere(given.size(1 << 20, 1 << 14, 1 << 8), NEAR, given.rng())
    places = truth.copy()
    places[given.rng(1).random(A.nrows) < 0.5] = np.nan
    return given.put(A), places, truth


def _misses(given: tuple[gb.Matrix, Any, Any], found: gb.Matrix) -> dict[str, Any]:
    """Return median distances in km, of found places from the true ones and between neighbours."""
    A, places, truth = given
    at = unit_vectors(truth)
    i, j, _values = A.to_coo(values=False)
    apart = np.median(_arc(at[i.astype(np.int64)], at[j.astype(np.int64)]))
    values = found.to_dense(np.nan)
    hidden = np.isnan(places[:, 0]) & ~np.isnan(values[:, 0])
    miss = np.median(_arc(unit_vectors(values[hidden]), at[hidden]))
    return {"miss km": float(miss), "neighbours apart km": float(apart), "placed": int(hidden.sum())}


def _arc(a: Any, b: Any) -> Any:
    return EARTH * np.arccos(np.clip(np.einsum("ij,ij->i", a, b), -1, 1))


def _judge_planted(given: tuple[gb.Matrix, Any, Any], found: gb.Matrix) -> None:
    """Check that found places miss the true ones by less than the distance between neighbours (medians)."""
    _judge_places(given[:2], found)
    notes = _misses(given, found)
    if notes["miss km"] > notes["neighbours apart km"]:
        raise Wrong(
            f"places are {notes['miss km']:.0f} km off; neighbours are {notes['neighbours apart km']:.0f} apart"
        )


def _mean_angle(given: tuple[gb.Matrix, Any, Any]) -> Any:
    """Run one round of the rule that averages latitudes and longitudes in degrees, for all vertices, by SciPy."""
    A, places, _ = given
    S = gb.io.to_scipy_sparse(A.to("cpu")).astype(float)
    known = (~np.isnan(places[:, 0])).astype(float)
    return (S @ np.nan_to_num(places)) / np.maximum(S @ known, 1)[:, None]


def _seeded(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read("?weights=8-72")
    return A, np.unique(given.sources(A, SEEDS))


def _judge_nominated(given: tuple[gb.Matrix, Any], answer: Any) -> None:
    """Check the order, and on small graphs that scores are SciPy's distances."""
    A, seeds = given
    nominated, score = answer
    order = score[nominated.to_dense()].new().to_dense()
    if (np.diff(order) < 0).any():
        raise Wrong("a vertex is nominated before a nearer one")
    if A.nvals > 1 << 24:
        return
    expected = dijkstra(gb.io.to_scipy_sparse(A.to("cpu")).astype(float), indices=seeds, min_only=True)
    at, values = score.to_coo()
    if not np.array_equal(values, expected[at.astype(np.int64)]):
        raise Wrong("a score is not the distance from the nearest seed")


def _sssp(given: tuple[gb.Matrix, Any]) -> Any:
    return gb.algorithms.sssp(given[0], int(given[1][0])).wait()


SCIPY = Peer(
    "SciPy", lambda x: dijkstra(x[0], indices=x[1], min_only=True), most=1 << 24,
    prepare=lambda given: (gb.io.to_scipy_sparse(given[0].to("cpu")).astype(float), given[1]),
)  # fmt: skip
ROWS = [
    Row(
        "geolocation", "urand:24", _located, lambda x: gb.applications.geolocation(x[0], x[1], ROUNDS), _judge_places,
        what="10 rounds, half of the places known",
        goals={"zerocopy": Goal(0.3)}, nbytes=_bytes, host_graph="urand:14", made="places by chance",
    ),
    Row(
        "geolocation, planted places", "", _planted, lambda x: gb.applications.geolocation(x[0], x[1], ROUNDS),
        _judge_planted,
        what="the same, judged by the places that were hidden", nbytes=_bytes, notes=_misses,
        peers=(Peer("SciPy, one mean of degrees", _mean_angle),),
        made="a geometric graph on a sphere; half of the places are hidden",
    ),
    Row(
        "nomination", "kron:24", _seeded, lambda x: gb.applications.vertex_nomination(x[0], x[1]), _judge_nominated,
        what="distances from 100 seeds, lengths of one byte; all vertices ranked",
        goals=on_a_gpu(1.0, "of peer"), nbytes=lambda x, _: 5 * x[0].nvals,
        peers=(Peer("sssp from one source", _sssp, ours=True), SCIPY), host_graph="kron:16",
    ),
]  # fmt: skip
