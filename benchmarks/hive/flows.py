"""Scan statistics and maximum flows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.csgraph import maximum_flow as scipys_flow

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

JUDGED = 40  # neighbourhoods whose edges are counted again


def _scanned(A: gb.Matrix, answer: Any) -> None:
    """Check the statistics of some vertices by counting edges, and that the reported vertex has the largest."""
    psi, vertex = answer
    values = psi.to_dense()
    if values[vertex] != values.max():
        raise Wrong(f"vertex {vertex} has {values[vertex]}; the largest is {values.max()}")
    for v in [0, *np.random.default_rng(1).integers(0, A.nrows, JUDGED).tolist()]:
        around = np.setdiff1d(A[v, :].new().to_coo()[0].astype(np.int64), [v])
        if around.size > 500:  # hubs take too long
            continue
        inside = A[around, around].new().select("offdiag").new().nvals // 2
        if inside + around.size != values[v]:
            raise Wrong(f"vertex {v} has {inside + around.size} edges around it; the answer is {values[v]}")


class _Network(NamedTuple):
    """A network: capacities as our Matrix and as SciPy's array, source and sink."""

    A: gb.Matrix
    theirs: csr_array
    s: int
    t: int


def _network(given: Input, edges: list[tuple[Any, Any, Any]], n: int, s: int, t: int) -> _Network:
    """Return the network of edges that are given as lists of tails, heads and capacities."""
    i, j, c = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    theirs = csr_array((c.astype(np.int32), (i, j)), shape=(n, n))
    return _Network(given.put(gb.io.from_scipy_sparse(theirs)), theirs, s, t)


def _grid(given: Input) -> tuple[int, Any, Any]:
    """Return the number of pixels of a grid, and its edges in both directions."""
    edges = gb.io.to_scipy_sparse(given.read().to("cpu")).tocoo()
    return edges.shape[0], edges.row.astype(np.int64), edges.col.astype(np.int64)


def _between_places(given: Input) -> _Network:
    """Return a grid with capacities 1..99, equal in both directions; both ends are in its middle row."""
    n, i, j = _grid(given)
    side = round(n**0.5)
    capacity = 1 + (np.minimum(i, j) * 7919 + np.maximum(i, j) * 104_729) % 99
    middle = side // 2 * side
    return _network(given, [(i, j, capacity)], n, middle + side // 4, middle + 3 * side // 4)


def _image(given: Input) -> _Network:
    """Return a noisy disc: each pixel has edges to both ends by its brightness, and to its neighbours."""
    n, i, j = _grid(given)
    side = round(n**0.5)
    pixel = np.arange(n)
    disc = np.hypot(pixel // side - side / 2, pixel % side - side / 2) < 0.3 * side
    light = 60 * (disc + given.rng().normal(scale=0.6, size=n))
    to_s, to_t = (np.clip(x, 0, 255).astype(np.int64) + 1 for x in (light, 60 - light))
    ties = [(np.full(n, n), pixel, to_s), (pixel, np.full(n, n + 1), to_t)]
    return _network(given, [(i, j, np.full(i.size, 100)), *ties], n + 2, n, n + 1)


def _side_to_side(given: Input) -> _Network:
    """Return a grid with capacities 1..99, and two ends tied to the first and the last twentieth of its columns."""
    n, i, j = _grid(given)
    side = round(n**0.5)
    capacity = 1 + (np.minimum(i, j) * 7919 + np.maximum(i, j) * 104_729) % 99
    column, width = np.arange(n) % side, max(1, side // 20)
    left, right = np.flatnonzero(column < width), np.flatnonzero(column >= side - width)
    ties = [(np.full(left.size, n), left, np.full(left.size, 1000))]
    ties += [(right, np.full(right.size, n + 1), np.full(right.size, 1000))]
    return _network(given, [(i, j, capacity), *ties], n + 2, n, n + 1)


def _flowed(given: _Network, answer: Any) -> None:
    """Check that the answer is a flow of its value, and that no path has residual capacity."""
    _, theirs, s, t = given
    value, F = answer
    flow = gb.io.to_scipy_sparse(F.to("cpu"))
    net = np.asarray(flow.sum(axis=1)).ravel() - np.asarray(flow.sum(axis=0)).ravel()
    net[[s, t]] -= [value, -value]
    if net.any() or (flow > theirs).nnz:
        raise Wrong("flows into and out of a vertex differ, or an edge's flow exceeds its capacity")
    left = csr_array(theirs - flow + flow.T)
    left.eliminate_zeros()
    if t in breadth_first_order(left, s, return_predecessors=False):
        raise Wrong(f"the flow is {value}, and a path has residual capacity")


def _igraph(given: _Network) -> Any:
    """Return igraph's graph, source, sink and capacities."""
    import igraph as ig

    edges = given.theirs.tocoo()
    G = ig.Graph(n=edges.shape[0], edges=np.c_[edges.row, edges.col], directed=True)
    return G, given.s, given.t, edges.data.tolist()


def _row(name: str, make: Any, what: str, most: int) -> Row:
    """Return a row; SciPy runs on graphs of at most `most` entries."""
    return Row(
        name, "grid:1000x1000", make, lambda x: gb.algorithms.maximum_flow(x.A, x.s, x.t), _flowed,
        what=what, host_graph="grid:200x200",
        peers=(Peer("SciPy", lambda x: scipys_flow(x.theirs, x.s, x.t), most=most), IGRAPH),
    )  # fmt: skip


IGRAPH = Peer("igraph", lambda x: x[0].maxflow_value(*x[1:]), "igraph", most=1 << 20, prepare=_igraph)
ROWS = [
    Row(
        "scan statistics", "kron:24", lambda given: given.read(), gb.algorithms.scan_statistics, _scanned,
        what="edges in each closed neighbourhood",
        goals={where: Goal(1.5, "of peer") for where in ("device", "host")}, nbytes=lambda A, _: 2 * A.nvals,
        peers=(Peer("triangle_count", gb.algorithms.triangle_count, ours=True),), host_graph="kron:16",
    ),
    _row("maximum flow", _between_places, "flow between two places of a grid, capacities 1..99", 1 << 24),
    _row("maximum flow, image", _image, "least cut between the disc of an image and its background", 1 << 24),
    _row("maximum flow, side to side", _side_to_side, "flow through a grid, capacities 1..99", 1 << 20),
]  # fmt: skip
