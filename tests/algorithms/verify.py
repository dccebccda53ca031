"""Judges of the algorithms' answers. They share no code with the algorithms, and every right answer passes.

A graph is a SciPy CSR array: an entry (i, j), explicit zeros too, is an edge from i to j. An answer is a NumPy array
with an element for each vertex; each judge names its value for "not reached". A wrong answer raises :class:`Wrong`.
"""

from collections import Counter, deque

import numpy as np
from scipy.sparse.csgraph import connected_components


class Wrong(AssertionError):
    """The answer is wrong."""


def edges(graph):
    """Return the arrays of rows, columns and values of a graph's edges."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices.astype(np.int64), graph.data


def refuse(bad, message):
    """Raise :class:`Wrong` if any element of `bad` is true, with the number and the first."""
    bad = np.flatnonzero(bad)
    if bad.size:
        raise Wrong(f"{message}: {bad.size} times, first at {bad[0]}")


def bfs_levels(graph, source, level):
    """Check the hops from `source`, -1 where not reached, against a search by a queue, one vertex at a time."""
    indptr, indices = graph.indptr.tolist(), graph.indices.tolist()
    expected = [-1] * graph.shape[0]
    expected[source] = 0
    queue = deque([source])
    while queue:
        u = queue.popleft()
        for v in indices[indptr[u] : indptr[u + 1]]:
            if expected[v] < 0:
                expected[v] = expected[u] + 1
                queue.append(v)
    refuse(level != np.array(expected, np.int64), "level differs from the queue's")


def bfs_parents(graph, source, parent):
    """Check the parent of each vertex, the source its own, -1 where not reached: any tree of shortest paths passes."""
    n = graph.shape[0]
    refuse((parent < -1) | (parent >= n), "parent is no vertex")
    if parent[source] != source:
        raise Wrong(f"the source's parent is {parent[source]}, not itself")
    level = np.full(n, -1)
    level[source] = 0
    pending = parent >= 0
    pending[source] = False
    fresh = pending & (level[parent] >= 0)
    while fresh.any():
        level[fresh] = level[parent[fresh]] + 1
        pending &= ~fresh
        fresh = pending & (level[parent] >= 0)
    refuse(pending, "the parents do not lead to the source")
    child = np.flatnonzero((parent >= 0) & (np.arange(n) != source))
    rows, cols, _ = edges(graph)
    exists = np.isin(parent[child] * n + child, rows * n + cols)
    refuse(~exists, "there is no edge from the parent")
    bfs_levels(graph, source, level)


def distances(graph, source, distance, rtol=0.0):
    """Check the distances from `source`, infinity where not reached; `rtol` is for weights whose sums are rounded.

    Right if and only if no edge gives a shorter path (triangle inequality) and every vertex that is reached has a path
    of tight edges from the source. The path is followed because the edges of a zero-length cycle are tight, too.
    """
    n = graph.shape[0]
    if distance[source] != 0:
        raise Wrong(f"the source's distance is {distance[source]}, not 0")
    refuse(np.isnan(distance), "distance is NaN")
    rows, cols, weight = edges(graph)
    usable = np.isfinite(distance[rows].astype(float)) & np.isfinite(weight.astype(float))
    rows, cols, weight = rows[usable], cols[usable], weight[usable]
    way = distance[rows] + weight
    slack = rtol * np.maximum(np.abs(distance[rows]), np.abs(way))
    refuse(distance[cols] > way + slack, "an edge gives a shorter path")
    tight = np.abs(distance[cols] - way) <= slack
    rows, cols = rows[tight], cols[tight]
    order = np.argsort(rows, kind="stable")
    start, cols = np.searchsorted(rows[order], np.arange(n + 1)).tolist(), cols[order].tolist()
    proved = np.zeros(n, bool)
    proved[source] = True
    queue = deque([source])
    while queue:
        u = queue.popleft()
        for v in cols[start[u] : start[u + 1]]:
            if not proved[v]:
                proved[v] = True
                queue.append(v)
    refuse(np.isfinite(distance.astype(float)) & ~proved, "no path from the source has this length")


def pagerank(graph, rank, damping=0.85, personalization=None, weighted=False, bound=1e-6):
    """Check that ranks sum to 1, and that one more step, in NumPy, changes them by at most `bound` in all."""
    n = graph.shape[0]
    refuse(~(rank >= 0), "rank is negative or NaN")
    if abs(rank.sum() - 1) > 1e-9:
        raise Wrong(f"the ranks sum to {rank.sum()}, not to 1")
    rows, cols, weight = edges(graph)
    weight = weight.astype(float) if weighted else np.ones(weight.size)
    teleport = np.full(n, 1 / n) if personalization is None else personalization / personalization.sum()
    out = np.bincount(rows, weight, n)
    flow = damping * rank[rows] * weight / np.where(out > 0, out, 1)[rows]
    step = np.bincount(cols, flow, n) + (damping * rank[out == 0].sum() + 1 - damping) * teleport
    change = np.abs(step - rank).sum()
    if change > bound:
        raise Wrong(f"one more step changes the ranks by {change:.3g}, more than {bound:.3g}")


def components(graph, label):
    """Check labels, each the smallest vertex of its weakly connected component."""
    rows, cols, _ = edges(graph)
    refuse((label < 0) | (label >= graph.shape[0]), "label is no vertex")
    refuse(label[rows] != label[cols], "an edge joins two labels")
    count, _ = connected_components(graph, directed=True, connection="weak")
    distinct = np.unique(label).size
    if distinct != count:
        raise Wrong(f"there are {distinct} labels and {count} components")
    smallest = np.full(graph.shape[0], graph.shape[0])
    np.minimum.at(smallest, label, np.arange(graph.shape[0]))
    refuse(smallest[label] != label, "label is not the component's smallest vertex")


def strong_components(graph, label):
    """Check labels, each the smallest vertex of its strongly connected component, by SciPy."""
    _, part = connected_components(graph, directed=True, connection="strong")
    smallest = np.full(part.max(initial=-1) + 1, graph.shape[0])
    np.minimum.at(smallest, part, np.arange(graph.shape[0]))
    refuse(label != smallest[part], "label is not the component's smallest vertex")


def neighbours(graph):
    """Return for each vertex the set of its neighbours by edges in either direction, without itself."""
    rows, cols, _ = edges(graph)
    found = [set() for _ in range(graph.shape[0])]
    for u, v in zip(rows.tolist(), cols.tolist(), strict=True):
        if u != v:
            found[u].add(v)
            found[v].add(u)
    return found


def core_numbers(graph, core):
    """Check core numbers by removing, one at a time, a vertex of the smallest remaining degree."""
    left = dict(enumerate(neighbours(graph)))
    expected, deepest = np.zeros(graph.shape[0], np.int64), 0
    while left:
        v = min(left, key=lambda u: len(left[u]))
        deepest = max(deepest, len(left[v]))
        expected[v] = deepest
        for u in left.pop(v):
            left[u].discard(v)
    refuse(core != expected, "core number differs")


def label_propagation(graph, rounds, label):
    """Check labels after rounds of Graphalytics' rule, counted one vote at a time."""
    rows, cols, _ = edges(graph)
    pairs = [(u, v) for u, v in zip(rows.tolist(), cols.tolist(), strict=True) if u != v]
    expected = list(range(graph.shape[0]))
    for _ in range(rounds):
        votes = [Counter() for _ in expected]
        for u, v in pairs:
            votes[u][expected[v]] += 1
            votes[v][expected[u]] += 1
        expected = [
            min(vote, key=lambda k: (-vote[k], k)) if vote else mine for vote, mine in zip(votes, expected, strict=True)
        ]
    refuse(label != np.array(expected, np.int64), "label differs")
