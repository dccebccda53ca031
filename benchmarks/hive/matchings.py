"""Seeded graph matching: a random graph and its shuffled copy, of which 100 vertices are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.hive.inputs import permuted
from benchmarks.hive.row import Input, Peer, Row, on_a_gpu
from benchmarks.verify.answers import Wrong

DEGREE, SEEDS = 20, 100


class _Shuffled(NamedTuple):
    """Two graphs, the known pairs, and the vertex of B for each vertex of A."""

    A: gb.Matrix
    B: gb.Matrix
    seeds: Any
    who: Any


def _shuffled(full: int, host: int) -> Any:
    def make(given: Input) -> _Shuffled:
        n, rng = given.size(full, host, 200), given.rng()
        A, B, who = permuted(n, DEGREE, rng)
        seeds = rng.choice(n, SEEDS, replace=False)
        return _Shuffled(given.put(A), given.put(B), np.c_[seeds, who[seeds]], who)

    return make


def _match(lap: str) -> Any:
    return lambda x: gb.applications.seeded_graph_matching(x.A, x.B, x.seeds, lap)


def _judge(given: _Shuffled, answer: Any) -> None:
    match, disagreements = answer
    if disagreements or not np.array_equal(match.to_dense(), given.who):
        raise Wrong(f"{disagreements} disagreements, {int((match.to_dense() != given.who).sum())} vertices elsewhere")


def _scipy(given: _Shuffled) -> Any:
    from scipy.optimize import quadratic_assignment

    A, B = (X.to_dense(0).astype(float) for X in (given.A, given.B))
    options = {"maximize": True, "partial_match": given.seeds}
    return quadratic_assignment(A, B, method="faq", options=options).col_ind


SCIPY = Peer("SciPy, quadratic_assignment", _scipy, most=1 << 15)
ROWS = [
    Row(
        f"matching, {full:,} vertices{how}", "", _shuffled(full, host), _match(lap), _judge,
        what=f"{SEEDS} seeds, lap={lap!r}",
        goals=on_a_gpu(goal), nbytes=lambda x, _: 8 * x.A.nvals + 8 * x.B.nvals,
        made=f"a random graph of mean degree {DEGREE} and its shuffled copy; {host:,} vertices on a CPU",
        peers=(SCIPY, *published),
    )
    for full, host, goal, lap, how, published in (
        (16_384, 1024, 1.0, "auction", "", (Peer("csgm", published=4.9),)),
        (16_384, 1024, 1.0, "exact", ", exact", (Peer("csgm", published=4.9),)),
        (65_536, 4096, 10.0, "auction", "", ()),
        (65_536, 4096, 10.0, "exact", ", exact", ()),
    )
]  # fmt: skip
