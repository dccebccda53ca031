"""Greedy modularity: communities merge two at a time, the pair of largest gain first."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["best_pairs"]


@replacing(100_000)
def best_pairs(
    indptr: Any, indices: Any, value: Any, heap: Any, share: Any, resolution: float, fewest: int, most: int
) -> Any:
    """Merge repeatedly the pair of largest gain, into its vertex of the higher number.

    The matrix is symmetric without loops. `value` holds the gain of each pair; pairs are numbered as the entries above
    the diagonal, by rows. `heap` holds the pairs, those of largest gain and then of smallest vertices first, and
    `share` each vertex's shares of all edges: of those out of it, and of those to it. Merging ends at `fewest`
    communities, or once the largest gain is negative and at most `most` communities are left. Return the vertex into
    which each vertex merged, and whether no pair was left.

    Rows are linked lists, and `twin` links the two entries of a pair, so that an entry is removed in constant time.
    """
    n, entries, pairs = indptr.size - 1, indices.size, value.size
    value, heap, out, back = value.copy(), heap.copy(), share[0].copy(), share[1].copy()
    head, twin, pair = indices.astype(np.int64), np.empty(entries, np.int64), np.empty(entries, np.int64)
    after, before, first = np.full(entries, -1), np.full(entries, -1), np.full(n, -1)
    half, place, touched = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    fresh, ends = np.empty(pairs), np.empty(pairs, np.int64)
    filled, mark, label = indptr[:-1].copy(), np.full(n, -1), np.arange(n)
    number = 0
    for u in range(n):
        if indptr[u] < indptr[u + 1]:
            first[u] = indptr[u]
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            twin[at] = filled[v]  # rows ascend, so the entries of row v are filled in order
            filled[v] += 1
            if at > indptr[u]:
                before[at] = at - 1
                after[at - 1] = at
            if u < v:
                pair[at] = pair[twin[at]] = number
                half[number], ends[number] = at, u * n + v
                number += 1
    for at in range(pairs):
        place[heap[at]] = at
    count, left = n, pairs
    while count > fewest and left:
        best = heap[0]
        if value[best] < 0 and count <= most:
            break
        u, v = head[twin[half[best]]], head[half[best]]
        if u > v:
            u, v = v, u
        label[u] = v
        count -= 1
        waiting = 0
        at = first[v]
        while at >= 0:
            mark[head[at]] = at
            at = after[at]
        at = first[u]
        while at >= 0:
            next, w, other, e = after[at], head[at], twin[at], pair[at]
            touched[waiting], fresh[e] = e, -np.inf
            waiting += 1
            if mark[w] >= 0 or w == v:
                if w != v:
                    f = pair[mark[w]]
                    fresh[f] = value[f] + value[e]
                    mark[w] = -1
                    touched[waiting] = f
                    waiting += 1
                left -= 1
                if before[other] >= 0:
                    after[before[other]] = after[other]
                else:
                    first[w] = after[other]
                if after[other] >= 0:
                    before[after[other]] = before[other]
            else:
                fresh[e] = value[e] - resolution * (out[v] * back[w] + out[w] * back[v])
                head[other] = v
                before[at], after[at] = -1, first[v]
                if first[v] >= 0:
                    before[first[v]] = at
                first[v] = at
            at = next
        mark[u] = -1
        at = first[v]
        while at >= 0:
            w = head[at]
            if mark[w] == at:
                e = pair[at]
                fresh[e] = value[e] - resolution * (out[u] * back[w] + out[w] * back[u])
                mark[w] = -1
                touched[waiting] = e
                waiting += 1
            at = after[at]
        out[v] += out[u]
        back[v] += back[u]
        for k in range(waiting):  # one at a time, so that only this pair is out of order in the heap
            e = touched[k]
            x, y = head[half[e]], head[twin[half[e]]]
            value[e], ends[e] = fresh[e], min(x, y) * n + max(x, y)
            at = place[e]
            up = False
            while True:
                # up while the pair is better than its parent; else down while a child is better than the pair
                step = -1
                if at > 0:
                    f = heap[(at - 1) // 2]
                    if value[e] > value[f] or (value[e] == value[f] and ends[e] < ends[f]):
                        step, up = (at - 1) // 2, True
                if step < 0 and not up:
                    g = e
                    for child in range(2 * at + 1, min(2 * at + 3, pairs)):
                        f = heap[child]
                        if value[f] > value[g] or (value[f] == value[g] and ends[f] < ends[g]):
                            step, g = child, f
                if step < 0:
                    break
                heap[at] = heap[step]
                place[heap[at]] = at
                at = step
            heap[at] = e
            place[e] = at
    for u in range(n - 1, -1, -1):  # label[u] is u or higher, so its own label is final
        label[u] = label[label[u]]
    return label, left == 0
