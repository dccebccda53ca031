"""The fused lasso on a photograph and on a road network, judged by its gap and, on small inputs, by cvxpy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra

import sparsezc as gb
from benchmarks.hive.inputs import grid, photograph, regions, symmetric
from benchmarks.hive.row import Input, Peer, Row, Unavailable, on_a_gpu
from benchmarks.verify.answers import Wrong

LAMBDA, TOL = 0.1, 1e-6
PIXELS = 427, 640  # 273,280 vertices, as many as the original
ROADS = "road-7cities"  # 478,011 vertices
STRIP = 692, 691  # a grid whose first 478,011 vertices replace the roads if these are missing
NOISE = 0.1


class _Noisy(NamedTuple):
    """A graph, noisy values y, its edges (i, j), and the values before noise."""

    A: gb.Matrix
    y: Any
    i: Any
    j: Any
    truth: Any
    what: str


def _photograph(given: Input) -> _Noisy:
    rows, columns = PIXELS if not given.small else (12, 12)
    if given.placement == "host" and not given.small:
        rows, columns = 96, 128
    image, what = photograph(given, rows, columns)
    i, j = grid(rows, columns)
    return _noisy(given, symmetric(i, j, rows * columns), image.ravel(), what)


def _roads(given: Input) -> _Noisy:
    """Return a road network whose quarters have one value each, or a grid of as many vertices."""
    rng = given.rng()
    if given.size(1, 0, 0):
        try:
            A = given.reference(ROADS).apply("one").new(bool)
        except Unavailable:
            n = 478_011
            i, j = grid(*STRIP, n)
            shades = regions(*STRIP, 300, rng).ravel()[:n]
            return _noisy(given, symmetric(i, j, n), shades, f"a grid of {n:,} vertices")
    else:
        A = given.put(gb.io.read("grid:64x64" if not given.small else "grid:10x10"))
    centres = rng.choice(A.nrows, max(2, A.nrows // 1500), replace=False)
    graph = gb.io.to_scipy_sparse(A.to("cpu")).astype(np.int8)
    nearest = dijkstra(graph, unweighted=True, indices=centres, min_only=True, return_predecessors=True)[2]
    shades = rng.random(A.nrows + 1)  # the last one is for vertices that no centre reaches
    return _noisy(given, A, shades[np.where(nearest < 0, A.nrows, nearest)], "quarters around chosen vertices")


def _noisy(given: Input, A: gb.Matrix, truth: Any, what: str) -> _Noisy:
    y = truth + given.rng(1).normal(scale=NOISE, size=truth.size)
    i, j, _values = A.to_coo(values=False)
    once = i < j
    return _Noisy(given.put(A), y, i[once].astype(np.int64), j[once].astype(np.int64), truth, what)


def _total(given: _Noisy, x: Any) -> float:
    return float(((x - given.y) ** 2).sum() / 2 + LAMBDA * np.abs(x[given.i] - x[given.j]).sum())


def _judge(given: _Noisy, answer: Any) -> None:
    """Check that the gap is small, and that neither other vectors nor cvxpy (small graphs) have a lower sum."""
    x, gap = answer[0].to_dense(), answer[1]
    ours = _total(given, x)
    if not gap <= TOL * ours:
        raise Wrong(f"the gap is {gap} at a sum of {ours}; at most {TOL} of the sum is needed")
    others = {"noisy values": given.y, "their mean": np.full_like(given.y, given.y.mean()), "the truth": given.truth}
    for name, z in others.items():
        if ours - gap > (theirs := _total(given, z)):
            raise Wrong(f"the sum is {ours}, at most {gap} too large; that of {name} is {theirs}")
    if (
        given.y.size <= SMALL
        and Peer("", _cvxpy, "cvxpy").can_run
        and ours - gap > (theirs := _cvxpy(given)) * (1 + TOL)
    ):
        raise Wrong(f"the sum is {ours}, at most {gap} too large; cvxpy finds {theirs}")


SMALL = 1 << 10  # most vertices of a graph that cvxpy judges, too


def _cvxpy(given: _Noisy) -> float:
    """Return the least sum that cvxpy finds."""
    import cvxpy as cp
    from scipy.sparse import csr_array

    m, n = given.i.size, given.y.size
    rows = np.arange(m)
    B = csr_array((np.r_[np.ones(m), -np.ones(m)], (np.r_[rows, rows], np.r_[given.i, given.j])), shape=(m, n))
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - given.y) / 2 + LAMBDA * cp.norm1(B @ x)))
    problem.solve(solver="CLARABEL")
    return float(problem.value)


def _notes(given: _Noisy, answer: Any) -> dict[str, Any]:
    x = answer[0].to_dense()
    return {
        "input": given.what, "relative gap": answer[1] / _total(given, x),
        "mean error": float(np.abs(x - given.truth).mean()), "before": float(np.abs(given.y - given.truth).mean()),
    }  # fmt: skip


ROWS = [
    Row(
        f"fused lasso, {name}", "", make, lambda given: gb.applications.fused_lasso(given.A, given.y, LAMBDA, tol=TOL),
        _judge, what="lambda1 = 0.1, to a relative gap of 1e-6", goals=on_a_gpu(1.0), notes=_notes, made=made,
        peers=(Peer("cvxpy", _cvxpy, "cvxpy", most=1 << 17),
               Peer(f"Graphtv, {there:,} vertices", published=seconds)),
    )
    for name, make, made, there, seconds in (
        ("273,280 vertices", _photograph, "a photograph with noise, as a grid; 96 x 128 pixels on a CPU", 107_064, 8.7),
        ("478,011 vertices", _roads, "roads, with values by quarters; a grid of 4,096 on a CPU", 213_360, 104.0),
    )
]  # fmt: skip
