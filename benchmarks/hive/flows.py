"""Scan statistics and the maximum flow."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow as scipys_flow

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

JUDGED = 40  # neighbourhoods that are counted again


def _scanned(A: gb.Matrix, answer: Any) -> None:
    """Some neighbourhoods counted edge by edge, and the largest."""
    psi, vertex = answer
    values = psi.to_dense()
    if values[vertex] != values.max():
        raise Wrong(f"vertex {vertex} has {values[vertex]} and not {values.max()}")
    for v in [0, *np.random.default_rng(1).integers(0, A.nrows, JUDGED).tolist()]:
        around = np.setdiff1d(A[v, :].new().to_coo()[0].astype(np.int64), [v])
        if around.size > 500:  # those of hubs take too long
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


def _igraph(given: tuple[gb.Matrix, Any, int, int]) -> Any:
    """Return the graph as igraph's, both ends and the capacities."""
    import igraph as ig

    edges = given[1].tocoo()
    G = ig.Graph(n=edges.shape[0], edges=np.c_[edges.row, edges.col], directed=True)
    return G, given[2], given[3], edges.data.tolist()


IGRAPH = Peer("igraph", lambda x: x[0].maxflow_value(*x[1:]), "igraph", most=1 << 20, prepare=_igraph)
ROWS = [
    Row(
        "scan statistics", "kron:24", lambda given: given.read(), gb.algorithms.scan_statistics, _scanned,
        what="edges in each closed neighbourhood",
        goals={where: Goal(1.5, "of peer") for where in ("device", "host")}, nbytes=lambda A, _: 2 * A.nvals,
        peers=(Peer("triangle_count", gb.algorithms.triangle_count, ours=True),), host_graph="kron:16",
    ),
    Row(
        "maximum flow", "grid:1000x1000", _grid, lambda x: gb.algorithms.maximum_flow(x[0], x[2], x[3]), _flowed,
        what="flow between two places of a grid, capacities 1..99",
        peers=(Peer("SciPy", lambda x: scipys_flow(x[1], x[2], x[3])), IGRAPH),
        host_graph="grid:200x200",
    ),
]  # fmt: skip
