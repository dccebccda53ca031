"""Random walks of 10 steps from vertices with out-edges (Gunrock's application "random walk")."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

LENGTH = 10
_WALKS = 1 << 22, 1 << 18, 1 << 10  # on a GPU; on the CPU engine; for a small input
JUDGED = 20_000  # steps that are looked up


def _make(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read()
    return A, given.sources(A, given.size(*_WALKS))


def _make_weighted(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read("?weights=1-255")
    return A, given.sources(A, given.size(*_WALKS))


def _steps(_: Any, walks: gb.Matrix) -> float:
    return float(walks.nvals - walks.nrows)


def _judge(made: tuple[gb.Matrix, Any], walks: gb.Matrix) -> None:
    """Check that every walk starts at its source, and that some steps follow edges."""
    A, sources = made
    starts = walks[:, 0].new().to_dense(fill_value=-1)
    if not np.array_equal(starts, sources):
        raise Wrong(f"{int((starts != sources).sum()):,} walks do not start at their sources")
    some = max(1, JUDGED // LENGTH)
    rows = walks[:some, :].new().to_dense(fill_value=-1)
    for row in rows[:: max(1, some // 50)]:
        met = row[row >= 0]
        for i, j in pairwise(met):
            if A[int(i), int(j)].new().get(None) is None:
                raise Wrong(f"a walk goes from {i} to {j}, and there is no such edge")


def _arrays(made: tuple[gb.Matrix, Any]) -> Any:
    A, sources = made
    indptr, ids, _values = A.to_csr()
    return (indptr.astype(np.int64), ids), np.asarray(sources)


def _numpy(made: tuple[tuple[Any, Any], Any]) -> Any:
    """Compute walks by array operations, a step of all walks at a time."""
    (indptr, ids), at = made
    rng = np.random.default_rng(1)
    met = [at]
    for _ in range(LENGTH):
        degree = indptr[at + 1] - indptr[at]
        at = ids[indptr[at] + (rng.random(at.size) * degree).astype(np.int64)].astype(np.int64)
        met.append(at)
    return np.stack(met, axis=1)


NUMPY = Peer("NumPy", _numpy, most=1 << 26, prepare=_arrays)
GUNROCK = Peer("Gunrock, P100", published=1.45e9)
ROWS = [
    Row(
        "walks", "kron:24", _make, lambda x: gb.algorithms.random_walks(x[0], x[1], LENGTH, seed=1), _judge,
        what="4 M walks of 10 steps (256 k on a CPU), all edges alike",
        goals={"zerocopy": Goal(2e8, "steps"), "device": Goal(2e9, "steps"), "host": Goal(1e7, "steps")},
        work=_steps, requests=lambda x, walks: int(_steps(x, walks)), peers=(NUMPY, GUNROCK), host_graph="kron:16",
    ),
    Row(
        "walks by weight", "kron:24", _make_weighted,
        lambda x: gb.algorithms.random_walks(x[0], x[1], LENGTH, weighted=True, seed=1), _judge,

        what="the same walks, edges drawn by weights of one byte", unit="steps", work=_steps,
        requests=lambda x, walks: int(_steps(x, walks)), host_graph="kron:16",
    ),
]  # fmt: skip
