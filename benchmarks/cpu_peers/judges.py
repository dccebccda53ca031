"""Judges: each takes a graph, our answer and a peer's, and raises :class:`Wrong` where ours is not as good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cpu_peers.graphs import Graph
from benchmarks.verify.answers import Wrong

Judge = Callable[[Graph, Any, Any], None]


def equal(_: Graph, ours: Any, theirs: Any) -> None:
    """Require the same numbers; what has no entry, and what is infinite or NaN, is not reached."""
    ours, theirs = (np.asarray(x, np.float64) for x in (ours, theirs))
    theirs = np.where(np.isfinite(theirs) & (theirs < 1e300), theirs, -1.0)
    if not np.array_equal(ours, theirs):
        raise Wrong(f"{np.count_nonzero(ours != theirs)} numbers differ from the peer's")


def close(relative: float = 1e-6, absolute: float = 1e-9) -> Judge:
    """Return a judge that requires the same numbers, nearly."""

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
    """Require the same vector, but for its length."""
    a, b = (np.asarray(x, np.float64) for x in (ours, theirs))
    cosine = abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)
    if cosine < 1 - 1e-6:
        raise Wrong(f"the cosine with the peer's vector is {cosine}")


def katz(g: Graph, x: Any, alpha: float) -> None:
    """Scores x with x - alpha A x the same everywhere, which defines them."""
    rest = x - alpha * (g.scipy("S") @ x)
    if np.ptp(rest) > 1e-4 * rest.mean():
        raise Wrong(f"x - alpha A x varies from {rest.min()} to {rest.max()}")


def parts(_: Graph, ours: Any, theirs: Any) -> None:
    """Require the same sets of vertices; ours are named by their least vertex."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    pairs = np.unique(np.c_[ours, theirs], axis=0)
    if not pairs.shape[0] == np.unique(ours).size == np.unique(theirs).size:
        raise Wrong("other sets of vertices than the peer's")
    if (ours[ours] != ours).any() or (ours > np.arange(ours.size)).any():
        raise Wrong("a set is not named by its least vertex")


def blocks(g: Graph, ours: Any, theirs: Any) -> None:
    """Edges of one label join the same vertices as one of the peer's sets."""
    pairs = np.unique(np.asarray(ours) * g.n + g.scipy("S").tocoo().row)
    label, vertex = np.divmod(pairs, g.n)
    mine = {frozenset(part.tolist()) for part in np.split(vertex, np.flatnonzero(np.diff(label)) + 1)}
    if mine != {frozenset(part) for part in theirs if len(part) > 1}:
        raise Wrong("other sets of vertices than the peer's")


def tree(g: Graph, ours: Any, theirs: Any) -> None:
    """Parents along edges, at the peer's depths."""
    mine, other = (_depths(np.asarray(x), g.source) for x in (ours, theirs))
    v = np.flatnonzero(mine > 0)
    if not _are_edges(g, "A", ours[v], v):
        raise Wrong("a parent has no edge to its child")
    if not np.array_equal(mine, other):
        raise Wrong("vertices are at other depths than in the peer's tree")


def _are_edges(g: Graph, form: str, i: Any, j: Any) -> bool:
    C = g.scipy(form).tocoo()
    return bool(np.isin(i.astype(np.int64) * g.n + j, C.row.astype(np.int64) * g.n + C.col).all())


def _depths(parent: Any, root: int) -> Any:
    """Return the depth of each vertex in a tree, by doubling the length of the paths; -1 where it has no parent."""
    at = np.where(parent < 0, np.arange(parent.size), parent)
    at[root] = root
    depth = (at != np.arange(at.size)).astype(np.int64)
    while (more := depth[at]).any():
        depth, at = depth + more, at[at]
    depth[(parent < 0) & (np.arange(parent.size) != root)] = -1
    return depth


def coloring(g: Graph, ours: Any, theirs: Any) -> None:
    """No edge has two ends of one colour, and colours are at most a quarter more than the peer's."""
    S = g.scipy("S").tocoo()
    if (ours[S.row] == ours[S.col]).any():
        raise Wrong("an edge has two ends of one colour")
    if ours.max() > 1.25 * max(theirs) + 1:
        raise Wrong(f"{ours.max() + 1} colours; the peer needs {max(theirs) + 1}")


def independent(g: Graph, ours: Any, theirs: Any) -> None:
    """No two members are neighbours, every other vertex has one, and there are 0.8 as many as the peer's."""
    S = g.scipy("S")
    member = ours > 0
    beside = S @ member
    if (member & (beside > 0)).any() or (~member & (beside == 0)).any():
        raise Wrong("it is not a maximal independent set")
    if member.sum() < 0.8 * np.count_nonzero(theirs):
        raise Wrong(f"{member.sum()} members; the peer finds {np.count_nonzero(theirs)}")


def matching(g: Graph, ours: Any, _: Any) -> None:
    """Partners are each other's, joined by edges, and no edge has two ends without one."""
    S = g.scipy("S").tocoo()
    has = ours >= 0
    v = np.flatnonzero(has)
    if (ours[ours[v]] != v).any() or not _are_edges(g, "S", v, ours[v]):
        raise Wrong("a pair is no edge")
    if (~has[S.row] & ~has[S.col]).any():
        raise Wrong("an edge could be added")


def vertices(_: Graph, ours: Any, theirs: Any) -> None:
    """Require entries at the vertices that are listed, and at no others."""
    if np.flatnonzero(ours).tolist() != sorted(theirs):
        raise Wrong("other vertices")


def sorted_vertices(g: Graph, ours: Any, _: Any) -> None:
    """Every edge leads forward."""
    place = np.empty(g.n, np.int64)
    place[ours] = np.arange(g.n)
    D = g.scipy("D").tocoo()
    if (place[D.row] > place[D.col]).any():
        raise Wrong("an edge leads backward")


def propagated(g: Graph, ours: Any, _: Any) -> None:
    """Every vertex has a label that most of its neighbours have."""
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
    """Return a judge that requires a modularity not farther below the peer's."""

    def judge(g: Graph, ours: Any, theirs: Any) -> None:
        mine, other = (modularity(g, np.asarray(x)) for x in (ours, theirs))
        if mine < other - below:
            raise Wrong(f"the modularity is {mine:.4f}; the peer reaches {other:.4f}")

    return judge


def modularity(g: Graph, label: Any) -> float:
    """Compute it by NumPy."""
    S = g.scipy("S").tocoo()
    degree = np.bincount(S.row, minlength=g.n)
    m = float(degree.sum())
    chance = np.bincount(label, degree) / m
    return float(np.count_nonzero(label[S.row] == label[S.col]) / m - chance @ chance)
