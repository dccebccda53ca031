"""Scan statistics, flows and the fused lasso: applications whose input is a graph and numbers at it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow as scipys_flow

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

JUDGED = 200  # neighbourhoods that are counted again
SIDE = 523  # of an image of 273,529 pixels: Gunrock's has 273,280 vertices
REGIONS = 40


def _scanned(A: gb.Matrix, answer: Any) -> None:
    """Some neighbourhoods counted edge by edge, and the largest."""
    psi, vertex = answer
    values = psi.to_dense()
    if values[vertex] != values.max():
        raise Wrong(f"vertex {vertex} has {values[vertex]} and not {values.max()}")
    for v in [0, *np.random.default_rng(1).integers(0, A.nrows, JUDGED).tolist()]:
        around = np.setdiff1d(A[v, :].new().to_coo()[0].astype(np.int64), [v])
        if around.size > 2000:  # a hub's takes too long
            continue
        inside = A[around, around].new().select("offdiag").new().nvals // 2
        if inside + around.size != values[v]:
            raise Wrong(f"vertex {v} has {inside + around.size} edges around it and not {values[v]}")


def _grid(given: Input) -> tuple[gb.Matrix, Any, int, int]:
    """A grid with capacities 1..99, alike in both directions, from corner to corner."""
    A = given.read()
    side = round(A.nrows**0.5)
    theirs = gb.io.to_scipy_sparse(A.to("cpu")).tocoo()
    low, high = np.minimum(theirs.row, theirs.col), np.maximum(theirs.row, theirs.col)
    capacity = 1 + (low.astype(np.int64) * 7919 + high * 104_729) % 99
    theirs = csr_array((capacity.astype(np.int32), (theirs.row, theirs.col)), shape=theirs.shape)
    A = given.put(gb.io.from_scipy_sparse(theirs))
    middle = side // 2 * side
    return A, theirs, middle + side // 4, middle + 3 * side // 4


def _flowed(given: tuple[gb.Matrix, Any, int, int], answer: Any) -> None:
    """The value is SciPy's, and the flow is one."""
    _, theirs, s, t = given
    value, F = answer
    expected = scipys_flow(theirs, s, t).flow_value
    if value != expected:
        raise Wrong(f"the flow is {value} and not {expected}")
    flow = gb.io.to_scipy_sparse(F.to("cpu"))
    net = np.asarray(flow.sum(axis=1)).ravel() - np.asarray(flow.sum(axis=0)).ravel()
    net[[s, t]] -= [value, -value]
    if net.any() or (flow > theirs).nnz:
        raise Wrong("what leaves a vertex is not what enters it, or an edge carries more than it can")


def _image(given: Input) -> tuple[gb.Matrix, Any, Any]:
    """An image of regions with noise, as a grid."""
    side = 64 if given.small else SIDE
    rng = given.rng()
    x, y = np.mgrid[:side, :side]
    centres, shades = rng.integers(0, side, (REGIONS, 2)), rng.random(REGIONS)
    nearest = np.stack([(x - a) ** 2 + (y - b) ** 2 for a, b in centres]).argmin(axis=0)
    noisy = shades[nearest].ravel() + rng.normal(scale=0.1, size=side * side)
    number = np.arange(side * side).reshape(side, side)
    i = np.r_[number[:, :-1].ravel(), number[:-1].ravel()]
    j = np.r_[number[:, 1:].ravel(), number[1:].ravel()]
    A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], 1, nrows=side * side, ncols=side * side)
    return given.put(A), noisy, (i, j)


def _smoothed(given: tuple[gb.Matrix, Any, Any], answer: Any) -> None:
    """The gap is small beside the sum, and the sum is less than that of the noisy image and of its mean."""
    _, noisy, (i, j) = given
    x, gap = answer[0].to_dense(), answer[1]

    def total(z: Any) -> float:
        return float(((z - noisy) ** 2).sum() / 2 + 0.1 * np.abs(z[i] - z[j]).sum())

    if not gap <= 1e-6 * total(x) or total(x) - gap > min(total(noisy), total(np.full(noisy.size, noisy.mean()))):
        raise Wrong(f"the gap is {gap} at a sum of {total(x)}")


ROWS = [
    Row(
        "scan statistics", "kron:24", lambda given: given.read(), gb.algorithms.scan_statistics, _scanned,
        peers=(Peer("triangle_count", lambda A: gb.algorithms.triangle_count(A)),), host_graph="kron:16",
    ),
    Row(
        "maximum flow", "grid:1000x1000", _grid, lambda x: gb.algorithms.maximum_flow(x[0], x[2], x[3]), _flowed,
        peers=(Peer("SciPy", lambda x: scipys_flow(x[1], x[2], x[3])),), host_graph="grid:200x200",
    ),
    Row(
        "fused lasso", "", _image, lambda x: gb.applications.fused_lasso(x[0], x[1], 0.1), _smoothed,
        goals={"device": Goal(1.0)}, peers=(Peer("Graphtv, 107,064 vertices", published=8.7),),
        made="a made image of the original's size",
    ),
]  # fmt: skip
