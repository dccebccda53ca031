"""Local clustering: a cluster around a vertex, judged by the optimality conditions and a second count of its edges."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row, degrees
from benchmarks.verify.answers import Wrong

ALPHA, TOL = 0.15, 1e-4
#: Of 64 seeds together, whose clusters have at most 1 / RHO = 10,000 vertices; and of the one seed, which finds some
#: thousands: kron:18 has 25 within 1e-4 and 2,000 within 1e-6.
RHO, FAR = 1e-4, 1e-6
SEEDS = 64


def _one(given: Input) -> tuple[gb.Matrix, Any, Any]:
    A = given.read()
    degree = degrees(A)
    seeds = given.sources(A, 4 * SEEDS)
    some = seeds[degree[seeds] < 1 / RHO / 2]  # a seed with more neighbours has no cluster
    return A, np.unique(some)[:SEEDS], degree


def _cluster(A: gb.Matrix, seeds: Any, rho: float = RHO) -> Any:
    return gb.applications.local_clustering(A, seeds, ALPHA, rho, tol=TOL)


def _judge(given: tuple[gb.Matrix, Any, Any], answer: Any, most: float = RHO * ALPHA) -> None:
    """Check the optimality conditions, and recompute the conductance of each cluster by NumPy."""
    A, seeds, degree = given
    p, cluster, conductance = answer
    rows, columns, values = p.to_coo()
    for row in range(p.nrows):
        mine = rows == row
        _optimal(A, degree, (int(seeds[row]), most), columns[mine].astype(np.int64), values[mine])
    for row, value in conductance.to_dict().items():
        members = cluster[row, :].new().to_coo()[0].astype(np.int64)
        volume = int(degree[members].sum())
        inside = A[members, members].new().nvals
        again = (volume - inside) / min(volume, A.nvals - volume)
        if abs(again - value) > 1e-9:
            raise Wrong(f"the conductance of cluster {row} is {value}; {again} is right")


def _optimal(A: gb.Matrix, degree: Any, problem: tuple[int, float], at: Any, p: Any) -> None:
    """Require a vector whose gradient is within its bound; the graph is undirected, without loops.

    `problem`: the seed, and rho alpha.

    With y = p / d the gradient of the smooth part at vertex v, over sqrt(d(v)), is
    (1 + alpha)/2 y(v) - (1 - alpha)/2 sum of y(u) / d(v) over neighbours u - alpha [v = seed] / d(v). It must be
    -rho alpha where p is positive, and at least that elsewhere.
    """
    seed, most = problem
    indptr, ids, _values = A[at, :].new().to_csr()
    y = p / degree[at]
    near, place = np.unique(np.r_[at, ids.astype(np.int64), seed], return_inverse=True)
    into = np.bincount(
        place[at.size : at.size + ids.size], np.repeat(y, np.diff(indptr.astype(np.int64))), minlength=near.size
    )
    own = np.bincount(place[: at.size], y, minlength=near.size)
    slope = (1 + ALPHA) / 2 * own - (1 - ALPHA) / 2 * into / degree[near]
    slope[place[-1]] -= ALPHA / degree[seed]
    positive = own > 0
    if (slope[~positive] < -(1 + 2 * TOL) * most).any() or (np.abs(slope[positive] + most) > 2 * TOL * most).any():
        raise Wrong(f"the gradient around {seed} exceeds rho alpha by up to {np.abs(slope).max() / most - 1:.3g} of it")


def _touched(given: tuple[gb.Matrix, Any, Any], answer: Any) -> int:
    """Return the bytes of ids in the rows of found vertices, each row once for each seed that finds its vertex."""
    return int(4 * given[2][answer[0].to_coo(values=False)[1].astype(np.int64)].sum())


def _found(given: tuple[gb.Matrix, Any, Any], answer: Any) -> dict[str, Any]:
    rows, columns = (x.astype(np.int64) for x in answer[0].to_coo(values=False)[:2])
    found = np.bincount(rows, minlength=answer[0].nrows)
    distinct = int(4 * given[2][np.unique(columns)].sum())
    return {"vertices found": {"min": int(found.min()), "max": int(found.max())}, "bytes of distinct rows": distinct}


def _one_by_one(given: tuple[gb.Matrix, Any, Any]) -> Any:
    return [_cluster(given[0], int(v)) for v in given[1]]


ROWS = [
    Row(
        "local clustering", "kron:24", _one, lambda x: _cluster(x[0], x[1][:1], FAR),
        lambda x, answer: _judge(x, answer, FAR * ALPHA), what="one seed, thousands of vertices found",
        goals={"zerocopy": Goal(0.01)}, nbytes=_touched, notes=_found, host_graph="kron:16",
    ),
    Row(
        "local clustering, 64 seeds", "kron:24", _one, lambda x: _cluster(x[0], x[1]), _judge, what="64 seeds together",
        goals={"zerocopy": Goal(0.1, "of peer")}, nbytes=_touched, notes=_found, host_graph="kron:16",
        peers=(Peer("one by one", _one_by_one, ours=True),),
    ),
]  # fmt: skip
