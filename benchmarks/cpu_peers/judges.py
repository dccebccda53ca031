"""Judges: each takes a graph, our answer and a peer's, and raises :class:`Wrong` if ours is not as good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cpu_peers.graphs import Graph
from benchmarks.verify.answers import Wrong

Judge = Callable[[Graph, Any, Any], None]


def equal(_: Graph, ours: Any, theirs: Any) -> None:
    """Require equal numbers; the peer's infinities and NaNs are unreached vertices, -1 in ours."""
    ours, theirs = (np.asarray(x, np.float64) for x in (ours, theirs))
    theirs = np.where(np.isfinite(theirs) & (theirs < 1e300), theirs, -1.0)
    if not np.array_equal(ours, theirs):
        raise Wrong(f"{np.count_nonzero(ours != theirs)} numbers differ from the peer's")


def close(relative: float = 1e-6, absolute: float = 1e-9) -> Judge:
    """Return a judge that requires numbers equal within a relative and an absolute tolerance."""

    def judge(_: Graph, ours: Any, theirs: Any) -> None:
        ours, theirs = (np.nan_to_num(np.asarray(x, np.float64)) for x in (ours, theirs))
        if not np.allclose(ours, theirs, rtol=relative, atol=absolute):
            raise Wrong(f"numbers differ from the peer's by up to {np.abs(ours - theirs).max():.3g}")

    return judge


def estimated(_: Graph, ours: Any, theirs: Any) -> None:
    """Require a lower bound of a diameter, at most the peer's upper one and at least nine tenths of its lower one."""
    least, most = theirs
    if not 0.9 * least <= ours <= most:
        raise Wrong(f"the bound is {ours}; the peer's are {least} and {most}")


def direction(_: Graph, ours: Any, theirs: Any) -> None:
    """Require vectors of one direction; their lengths may differ."""
    a, b = (np.asarray(x, np.float64) for x in (ours, theirs))
    cosine = abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)
    if cosine < 1 - 1e-6:
        raise Wrong(f"the cosine with the peer's vector is {cosine}")


def katz(g: Graph, x: Any, alpha: float) -> None:
    """Require Katz scores x: their definition is that x - alpha A x is equal at all vertices."""
    rest = x - alpha * (g.scipy("S") @ x)
    if np.ptp(rest) > 1e-4 * rest.mean():
        raise Wrong(f"x - alpha A x varies from {rest.min()} to {rest.max()}")


def parts(_: Graph, ours: Any, theirs: Any) -> None:
    """Require the same sets of vertices, and each of ours labelled with its least vertex."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    pairs = np.unique(np.c_[ours, theirs], axis=0)
    if not pairs.shape[0] == np.unique(ours).size == np.unique(theirs).size:
        raise Wrong("the sets of vertices differ from the peer's")
    if (ours[ours] != ours).any() or (ours > np.arange(ours.size)).any():
        raise Wrong("a set is not labelled with its least vertex")


def blocks(g: Graph, ours: Any, theirs: Any) -> None:
    """Require that the ends of each label's edges are one of the peer's sets of vertices."""
    pairs = np.unique(np.asarray(ours) * g.n + g.scipy("S").tocoo().row)
    label, vertex = np.divmod(pairs, g.n)
    mine = {frozenset(part.tolist()) for part in np.split(vertex, np.flatnonzero(np.diff(label)) + 1)}
    if mine != {frozenset(part) for part in theirs if len(part) > 1}:
        raise Wrong("the sets of vertices differ from the peer's")


def tree(g: Graph, ours: Any, theirs: Any) -> None:
    """Require parents along edges, and each vertex at its depth in the peer's tree."""
    mine, other = (_depths(np.asarray(x), g.source) for x in (ours, theirs))
    v = np.flatnonzero(mine > 0)
    if not _are_edges(g, "A", ours[v], v):
        raise Wrong("a parent has no edge to its child")
    if not np.array_equal(mine, other):
        raise Wrong("depths of vertices differ from those in the peer's tree")


def _are_edges(g: Graph, form: str, i: Any, j: Any) -> bool:
    C = g.scipy(form).tocoo()
    return bool(np.isin(i.astype(np.int64) * g.n + j, C.row.astype(np.int64) * g.n + C.col).all())


def _depths(parent: Any, root: int) -> Any:
    """Return the depth of each vertex in a tree, by pointer doubling; -1 for vertices without a parent."""
    at = np.where(parent < 0, np.arange(parent.size), parent)
    at[root] = root
    depth = (at != np.arange(at.size)).astype(np.int64)
    while (more := depth[at]).any():
        depth, at = depth + more, at[at]
    depth[(parent < 0) & (np.arange(parent.size) != root)] = -1
    return depth


def coloring(g: Graph, ours: Any, theirs: Any) -> None:
    """Require ends of two colours at each edge, and at most a quarter more colours than the peer's."""
    S = g.scipy("S").tocoo()
    if (ours[S.row] == ours[S.col]).any():
        raise Wrong("an edge has two ends of one colour")
    if ours.max() > 1.25 * max(theirs) + 1:
        raise Wrong(f"{ours.max() + 1} colours; the peer needs {max(theirs) + 1}")


def independent(g: Graph, ours: Any, theirs: Any) -> None:
    """Require a maximal independent set with at least 0.8 times the peer's members."""
    S = g.scipy("S")
    member = ours > 0
    beside = S @ member
    if (member & (beside > 0)).any() or (~member & (beside == 0)).any():
        raise Wrong("the set is not a maximal independent set")
    if member.sum() < 0.8 * np.count_nonzero(theirs):
        raise Wrong(f"{member.sum()} members; the peer finds {np.count_nonzero(theirs)}")


def matching(g: Graph, ours: Any, _: Any) -> None:
    """Require a maximal matching: partners are mutual and joined by edges, and no edge has two unmatched ends."""
    S = g.scipy("S").tocoo()
    has = ours >= 0
    v = np.flatnonzero(has)
    if (ours[ours[v]] != v).any() or not _are_edges(g, "S", v, ours[v]):
        raise Wrong("a pair is no edge")
    if (~has[S.row] & ~has[S.col]).any():
        raise Wrong("an edge could be added")


def vertices(_: Graph, ours: Any, theirs: Any) -> None:
    """Require entries at the vertices that the peer lists, and at no others."""
    if np.flatnonzero(ours).tolist() != sorted(theirs):
        raise Wrong("the vertices differ from the peer's")


def sorted_vertices(g: Graph, ours: Any, _: Any) -> None:
    """Require an order of the vertices in which every edge leads forward."""
    place = np.empty(g.n, np.int64)
    place[ours] = np.arange(g.n)
    D = g.scipy("D").tocoo()
    if (place[D.row] > place[D.col]).any():
        raise Wrong("an edge leads backward")


def propagated(g: Graph, ours: Any, _: Any) -> None:
    """Require that all but 0.1% of the vertices have a label that no other label among their neighbours outnumbers."""
    S = g.scipy("S").tocoo()
    pairs, counts = np.unique(S.row.astype(np.int64) * g.n + ours[S.col], return_counts=True)
    row, label = np.divmod(pairs, g.n)
    most, own = np.zeros(g.n, np.int64), np.zeros(g.n, np.int64)
    np.maximum.at(most, row, counts)
    mine = label == ours[row]
    own[row[mine]] = counts[mine]
    if (bad := np.count_nonzero(own < most)) > g.n // 1000:
        raise Wrong(f"{bad} vertices have a label that fewer neighbours have than another")


def modular(below: float) -> Judge:
    """Return a judge that requires a modularity at most `below` less than the peer's."""

    def judge(g: Graph, ours: Any, theirs: Any) -> None:
        mine, other = (modularity(g, np.asarray(x)) for x in (ours, theirs))
        if mine < other - below:
            raise Wrong(f"the modularity is {mine:.4f}; the peer reaches {other:.4f}")

    return judge


def modularity(g: Graph, label: Any) -> float:
    """Return the modularity of labels, computed by NumPy."""
    S = g.scipy("S").tocoo()
    degree = np.bincount(S.row, minlength=g.n)
    m = float(degree.sum())
    chance = np.bincount(label, degree) / m
    return float(np.count_nonzero(label[S.row] == label[S.col]) / m - chance @ chance)
