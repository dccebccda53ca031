"""Graph search: greedy walks towards high scores (Gunrock's application "graph search")."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

LENGTH = 200
_WALKS = 1 << 20, 1 << 20, 1 << 8  # on a GPU; on the CPU engine; for a small input
JUDGED = 50  # walks that are checked
PASS = 0.038  # seconds for kron:24's ids over a link of 55 GB/s


def _make(given: Input) -> tuple[gb.Matrix, gb.Vector, Any]:
    A = given.read()
    scores = gb.Vector.from_dense(given.rng().random(A.nrows))
    return (
        A,
        scores if given.placement == "host" else scores.to("gpu"),
        given.sources(A, min(A.nrows, given.size(*_WALKS))),
    )


def _search(length: int) -> Any:
    return lambda made: gb.algorithms.graph_search(made[0], made[2], made[1], length, "greedy")


def _judge(made: tuple[gb.Matrix, gb.Vector, Any], walks: gb.Matrix) -> None:
    """Check that each step of some walks leads to the best neighbour."""
    A, scores, sources = made
    known = scores.to_dense()
    for r in range(0, sources.size, max(1, sources.size // JUDGED)):
        row = walks[r, :].new().to_dense(fill_value=-1)
        if row[0] != sources[r]:
            raise Wrong(f"walk {r} starts at {row[0]}; its source is {sources[r]}")
        for here, there in pairwise(row[:6].tolist()):
            if here < 0:
                break
            near = A[here, :].new().to_coo()[0]
            best = near[np.lexsort((near, -known[near]))[0]] if near.size else -1
            if there != best:
                raise Wrong(f"walk {r} goes from {here} to {there}; the best neighbour is {best}")


def _steps(_: Any, walks: gb.Matrix) -> float:
    return float(walks.nvals - walks.nrows)


def _arrays(made: tuple[gb.Matrix, gb.Vector, Any]) -> Any:
    """Return the scores, the ids, and the offsets of non-empty rows."""
    A, scores, _ = made
    indptr, ids, _values = A.to_csr()
    indptr = indptr.astype(np.int64)
    return scores.to_dense(), ids.astype(np.int64), indptr[:-1][np.diff(indptr) > 0]


NUMPY = Peer("NumPy, scores alone", lambda x: np.maximum.reduceat(x[0][x[1]], x[2]), most=1 << 26, prepare=_arrays)
ROWS = [
    Row(
        "greedy search, a step", "kron:24", _make, _search(1), _judge,
        what="the best neighbour of each vertex", goals={"zerocopy": Goal(1.2 * PASS)},
        nbytes=lambda made, _: 4 * made[0].nvals, peers=(NUMPY,),
        host_graph="kron:16",
    ),
    Row(
        "greedy search, 200 steps", "kron:24", _make, _search(LENGTH), _judge,
        what="the same, then 1 M walks of 200 jumps",
        goals={"zerocopy": Goal(8e8, "steps"), "device": Goal(8e8, "steps")}, work=_steps,
        nbytes=lambda made, _: 4 * made[0].nvals, host_graph="kron:14",
    ),
]  # fmt: skip
