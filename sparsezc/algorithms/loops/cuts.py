"""Minimum cuts, articulation points and bridges."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["blocks", "least_cut", "single_cuts"]


@replacing(50)  # for each phase
def least_cut(indptr: Any, indices: Any, weights: Any) -> Any:
    """Return the weight of a minimum cut of an undirected graph of at least two vertices, and one side of it.

    Each phase of Stoer and Wagner's method takes groups of vertices one after another, always the one joined most
    heavily to those taken, from a 4-ary heap. The last group is one side of a cut, and is then merged with the one
    before. Weights are not negative.
    """
    n = indptr.size - 1
    group, last_of, next_of = np.arange(n), np.arange(n), np.full(n, -1)
    joined, heap, place = np.zeros(n, weights.dtype), np.empty(n, np.int64), np.empty(n, np.int64)
    side = np.zeros(n, np.bool_)
    least, alive = joined[0], n
    first = True
    while alive > 1:
        size = 0
        for v in range(n):
            joined[v] = 0
            place[v] = -1
            if group[v] == v:
                heap[size] = v
                place[v] = size
                size += 1
        s = t = -1
        while size:
            s, t = t, heap[0]
            place[t] = -1
            size -= 1
            if size:
                x = heap[size]
                at = 0
                while True:
                    child = 4 * at + 1
                    if child >= size:
                        break
                    most = child
                    for other in range(child + 1, min(child + 4, size)):
                        if joined[heap[other]] > joined[heap[most]]:
                            most = other
                    if joined[heap[most]] <= joined[x]:
                        break
                    heap[at] = heap[most]
                    place[heap[at]] = at
                    at = most
                heap[at] = x
                place[x] = at
            v = t
            while v >= 0:
                for entry in range(indptr[v], indptr[v + 1]):
                    u = group[indices[entry]]
                    at = place[u]
                    if at >= 0:
                        joined[u] += weights[entry]
                        while at > 0:
                            above = (at - 1) // 4
                            if joined[heap[above]] >= joined[u]:
                                break
                            heap[at] = heap[above]
                            place[heap[at]] = at
                            at = above
                        heap[at] = u
                        place[u] = at
                v = next_of[v]
        if first or joined[t] < least:
            first = False
            least = joined[t]
            for v in range(n):
                side[v] = group[v] == t
            if least == 0:
                break
        v = t
        while v >= 0:
            group[v] = s
            v = next_of[v]
        next_of[last_of[s]] = t
        last_of[s] = last_of[t]
        alive -= 1
    return least, side


@replacing(200)  # where the forest has few levels
def single_cuts(indptr: Any, indices: Any) -> Any:
    """Find the articulation points and the bridges of an undirected graph by a depth-first search.

    Return whether each vertex is an articulation point; each vertex's parent in the depth-first forest if the edge
    between them is a bridge, else -1; and, for :func:`blocks`, the forest: the visit number of each vertex, from 1 on,
    the smallest visit number that an edge from its subtree leads to, and its parent, n at roots.

    Source: J. Hopcroft, R. Tarjan, Algorithm 447: efficient algorithms for graph manipulation, CACM 16, 1973,
    doi:10.1145/362248.362272.
    """
    n = indptr.size - 1
    starts, one = indptr.view(np.uint64), np.uint64(1)  # unsigned, so that numba omits sign checks
    none = np.uint64(n)
    met, low, next = np.zeros(n, np.int64), np.empty(n, np.int64), starts[:-1].copy()
    parent, over, divides = np.full(n, none), np.full(n, -1), np.zeros(n, np.bool_)
    number = 0
    for root in range(none):
        if met[root]:
            continue
        number += 1
        met[root] = low[root] = number
        v, branches = root, 0
        while v != none:
            at = next[v]
            if at < starts[v + one]:
                next[v] = at + one
                u: Any = np.uint64(indices[at])
                if met[u] == 0:
                    number += 1
                    met[u] = low[u] = number
                    parent[u] = v
                    branches += v == root
                    v = u
                elif u != parent[v]:
                    low[v] = min(low[v], met[u])
                continue
            above = parent[v]
            if above != none:
                low[above] = min(low[above], low[v])
                if low[v] >= met[above] and above != root:
                    divides[above] = True
                if low[v] > met[above]:
                    over[v] = above
            v = above
        divides[root] = branches > 1
    return divides, over, (met, low, parent)


@replacing(200)  # where the forest has few levels
def blocks(indptr: Any, indices: Any, forest: Any) -> Any:
    """Return copies of `indptr` and `indices`, and the label of each entry's block, its biconnected component.

    The label is the smallest vertex of the block without its topmost. `forest`: as :func:`single_cuts` returns it.
    """
    met, low, parent = forest
    n = met.size
    order, head, least = np.empty(n, np.uint64), np.arange(n), np.full(n, n)
    for v in range(n):
        order[met[v] - 1] = v
    for v in order:
        above = parent[v]
        if above < np.uint64(n):
            if low[v] < met[above]:
                head[v] = head[above]  # the parent edges of v and `above` are on a common cycle
            least[head[v]] = min(least[head[v]], np.int64(v))
    label, starts = np.empty(indptr[n], np.int64), indptr.view(np.uint64)
    for v in range(n):
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            label[at] = least[head[u]] if met[u] > met[v] else least[head[v]]
    return indptr.copy(), indices.copy(), label
