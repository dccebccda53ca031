"""Parts of a graph: components, and the edges that join them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping

__all__ = ["components", "degree_sums", "forest", "inside", "opposites", "strong_components"]


def components(indptr: Any, indices: Any) -> Any:
    """Return the smallest vertex of each weak component, by trees whose roots are their smallest vertices."""
    starts = indptr.view(np.uint64)  # as in searches.py: all numbers here are unsigned
    labels = np.arange(indptr.size - 1)
    parent = labels.view(np.uint64)
    for v in range(labels.size):
        root = parent[v]
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            while parent[u] != u:
                parent[u] = parent[parent[u]]
                u = parent[u]
            if u < root:
                parent[root] = u
                root = u
            elif root < u:
                parent[u] = root
    for v in range(labels.size):  # a parent is smaller, so its own is final
        parent[v] = parent[parent[v]]
    return labels


@jumping
def strong_components(indptr: Any, indices: Any) -> Any:
    """Return the smallest vertex of each strong component, by one depth-first search.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Computing 1, 1972, doi:10.1137/0201010;
    with one number a vertex: D. Pearce, A space-efficient algorithm for finding strongly connected components,
    Information Processing Letters 116, 2016, doi:10.1016/j.ipl.2015.08.010.
    """
    n = indptr.size - 1
    # the number of the first vertex met that it reaches back to; n and more once it is done
    low = np.zeros(n, np.int64)
    label = np.arange(n)
    next = indptr[:-1].copy()
    path, kept = np.empty(n, np.int64), np.empty(n, np.int64)
    own = np.zeros(n, np.bool_)  # nothing that was met before is reached from it
    number = waiting = 0
    for start in range(n):
        if low[start]:
            continue
        depth = 0
        path[0] = start
        number += 1
        low[start] = number
        own[start] = True
        while depth >= 0:
            v = path[depth]
            at, end, least = next[v], indptr[v + 1], low[v]
            while at < end and low[indices[at]]:
                least = min(least, low[indices[at]])
                at += 1
            next[v] = at
            if least < low[v]:
                low[v] = least
                own[v] = False
            if at < end:
                u = indices[at]  # the edge is looked at again once u is done
                depth += 1
                path[depth] = u
                number += 1
                low[u] = number
                own[u] = True
                continue
            depth -= 1
            if not own[v]:
                kept[waiting] = v
                waiting += 1
                continue
            least, first = v, waiting
            while first > 0 and low[kept[first - 1]] >= low[v]:
                first -= 1
                least = min(least, kept[first])
            for at in range(first, waiting):
                low[kept[at]] = n + 1
                label[kept[at]] = least
            waiting = first
            low[v] = n + 1
            label[v] = least
    return label


def forest(indptr: Any, indices: Any, order: Any) -> Any:
    """Return the forest of the entries, in an order, that join trees which no entry before them has joined.

    Entries are above the diagonal. The forest has each in both directions: its rows, ids, and the entries of both.
    """
    n = indptr.size - 1
    row = np.empty(indices.size, np.int64)
    for v in range(n):
        row[indptr[v] : indptr[v + 1]] = v
    parent = np.arange(n)
    taken = np.zeros(indices.size, np.bool_)
    begin = np.zeros(n + 1, np.int64)
    left = n - 1
    for entry in order:
        v, u = row[entry], indices[entry]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        if u != v:
            parent[max(u, v)] = min(u, v)
            taken[entry] = True
            begin[row[entry] + 1] += 1
            begin[indices[entry] + 1] += 1
            left -= 1
            if left == 0:
                break
    for v in range(n):
        begin[v + 1] += begin[v]
    free = begin[:n].copy()
    ids, entries = np.empty(begin[n], np.int64), np.empty(begin[n], np.int64)
    for entry in range(indices.size):  # by rows, so the ids of each row come in ascending order
        if taken[entry]:
            for v, u in ((row[entry], indices[entry]), (indices[entry], row[entry])):
                ids[free[v]] = u
                entries[free[v]] = entry
                free[v] += 1
    return begin, ids, entries


def inside(indptr: Any, indices: Any, label: Any, symmetric: bool) -> Any:
    """Return the number of entries within a label, and the sum over labels of the products of both degrees."""
    n = indptr.size - 1
    leaving = np.zeros(n)
    count = 0
    for v in range(n):
        own = label[v]
        leaving[own] += indptr[v + 1] - indptr[v]
        for at in range(indptr[v], indptr[v + 1]):
            count += label[np.uint64(indices[at])] == own
    entering = leaving
    if not symmetric:
        entering = np.zeros(n)
        for at in range(indices.size):
            entering[label[np.uint64(indices[at])]] += 1
    chance = 0.0
    for c in range(n):
        chance += leaving[c] * entering[c]
    return count, chance


def opposites(indptr: Any, indices: Any) -> Any:
    """Return the number of entries (i, j) off the diagonal that have an entry (j, i).

    Ids ascend in each row, so from row to row a row's next id that is looked for only moves forward.
    """
    next = indptr[:-1].copy()
    count = 0
    for i in range(next.size):
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            place, end = next[j], indptr[j + 1]
            while place < end and indices[place] < i:
                place += 1
            next[j] = place
            if place < end and indices[place] == i and i != j:
                count += 1
    return count


def degree_sums(indptr: Any, indices: Any, x_out: bool, y_out: bool, twice: bool) -> Any:
    """Return sums over the entries (i, j) of a(i), its square, b(j), its square, and a(i) b(j).

    a and b are numbers of entries in rows, or in columns; an entry of the diagonal counts twice if `twice`.
    """
    n = indptr.size - 1
    out, back = np.empty(n, np.int64), np.zeros(n, np.int64)
    for v in range(n):
        out[v] = indptr[v + 1] - indptr[v]
    for at in range(indices.size):
        back[np.uint64(indices[at])] += 1
    if twice:
        for v in range(n):
            for at in range(indptr[v], indptr[v + 1]):
                if indices[at] == v:
                    out[v] += 1
                    back[v] += 1
    a, b = out if x_out else back, out if y_out else back
    s_a = s_aa = s_b = s_bb = s_ab = 0
    for v in range(n):
        total = 0
        for at in range(indptr[v], indptr[v + 1]):
            far = b[np.uint64(indices[at])]
            total += far
            s_bb += far * far
        count = indptr[v + 1] - indptr[v]
        s_a += count * a[v]
        s_aa += count * a[v] * a[v]
        s_b += total
        s_ab += a[v] * total
    return s_a, s_aa, s_b, s_bb, s_ab
