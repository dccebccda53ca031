"""Components, spanning forests, and counts over the edges of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing

__all__ = ["components", "degree_sums", "forest", "inside", "loops", "opposites", "strong_components"]


@replacing(20)
def components(indptr: Any, indices: Any, group: Any = None) -> Any:
    """Return for each vertex the smallest vertex of its weak component, by union-find with the smallest as roots.

    `group`: a number for each vertex; if it is given, only edges between vertices of equal numbers count.
    """
    starts = indptr.view(np.uint64)  # all numbers here are unsigned: see searches.py
    labels = np.arange(indptr.size - 1)
    parent = labels.view(np.uint64)
    for v in range(labels.size):
        root = parent[v]
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            if group is not None and group[u] != group[v]:  # numba omits this test if `group` is None
                continue
            while parent[u] != u:
                parent[u] = parent[parent[u]]
                u = parent[u]
            if u < root:
                parent[root] = u
                root = u
            elif root < u:
                parent[u] = root
    for v in range(labels.size):  # a parent is smaller than v, so its own parent is final
        parent[v] = parent[parent[v]]
    return labels


@replacing(20)
@jumping
def strong_components(indptr: Any, indices: Any) -> Any:
    """Return for each vertex the smallest vertex of its strong component, by one depth-first search.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Computing 1, 1972, doi:10.1137/0201010;
    with one number a vertex: D. Pearce, A space-efficient algorithm for finding strongly connected components,
    Information Processing Letters 116, 2016, doi:10.1016/j.ipl.2015.08.010.
    """
    n = np.uint64(indptr.size - 1)
    starts = indptr.view(np.uint64)  # unsigned, so that numba omits sign checks
    one = np.uint64(1)
    # the smallest visit number that each vertex reaches; n + 1 once its component is complete
    low = np.zeros(n, np.uint64)
    label = np.arange(indptr.size - 1)
    next = starts[:-1].copy()
    path, kept = np.empty(n, np.uint64), np.empty(n, np.uint64)
    own = np.zeros(n, np.bool_)  # it reaches no vertex met before it
    number = waiting = np.uint64(0)
    for start in range(n):
        if low[start]:
            continue
        depth = one  # vertices on the path
        path[0] = start
        number += one
        low[start] = number
        own[start] = True
        while depth:
            v = path[depth - one]
            at, end, least = next[v], starts[v + one], low[v]
            while at < end and low[np.uint64(indices[at])]:
                least = min(least, low[np.uint64(indices[at])])
                at += one
            next[v] = at
            if least < low[v]:
                low[v] = least
                own[v] = False
            if at < end:
                u = np.uint64(indices[at])  # the edge is read again once u is done
                path[depth] = u
                depth += one
                number += one
                low[u] = number
                own[u] = True
                continue
            depth -= one
            if not own[v]:
                kept[waiting] = v
                waiting += one
                continue
            least, first = v, waiting
            while first and low[kept[first - one]] >= low[v]:
                first -= one
                least = min(least, kept[first])
            for at in range(first, waiting):
                low[kept[at]] = n + one
                label[kept[at]] = least
            waiting = first
            low[v] = n + one
            label[v] = least
    return label


@replacing(200)
def forest(indptr: Any, indices: Any, order: Any) -> Any:
    """Return the spanning forest of the entries that, taken in `order`, join two trees (Kruskal's method).

    Entries are above the diagonal. The forest has each of them in both directions: return its row offsets, its ids, and
    for each id the number of the entry that it is from.
    """
    n = indptr.size - 1
    row = np.empty(indices.size, np.uint64)
    for v in range(n):
        row[indptr[v] : indptr[v + 1]] = v
    parent = np.arange(n).view(np.uint64)
    taken = np.zeros(indices.size, np.bool_)
    begin = np.zeros(n + 1, np.int64)
    left = n - 1
    for entry in order.view(np.uint64):
        v, u = row[entry], np.uint64(indices[entry])
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        if u != v:
            parent[max(u, v)] = min(u, v)
            taken[entry] = True
            begin[row[entry] + np.uint64(1)] += 1
            begin[np.uint64(indices[entry]) + np.uint64(1)] += 1
            left -= 1
            if left == 0:
                break
    for v in range(n):
        begin[v + 1] += begin[v]
    free = begin[:n].copy()
    ids, entries = np.empty(begin[n], np.int64), np.empty(begin[n], np.int64)
    for entry in range(indices.size):  # in order of rows, so that ids ascend in each row
        if taken[entry]:
            column = np.uint64(indices[entry])
            for end, other in ((row[entry], column), (column, row[entry])):
                ids[free[end]] = other
                entries[free[end]] = entry
                free[end] += 1
    return begin, ids, entries


@replacing(10)
def inside(indptr: Any, indices: Any, label: Any, symmetric: bool) -> Any:
    """Return the number of entries (i, j) of equal labels, and the sum over labels of out-degree times in-degree.

    Labels are unsigned numbers below n.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)  # unsigned, so that numba omits sign checks
    leaving = np.zeros(n)
    left = diagonal = 0
    for v in range(n):
        own = label[v]
        leaving[own] += indptr[v + 1] - indptr[v]
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            if symmetric and u >= np.uint64(v):  # ids ascend: the rest is counted by its opposites
                diagonal += u == np.uint64(v)
                break
            left += label[u] == own
    entering = leaving
    if not symmetric:
        entering = np.zeros(n)
        for at in range(indices.size):
            entering[label[np.uint64(indices[at])]] += 1
    chance = 0.0
    for c in range(n):
        chance += leaving[c] * entering[c]
    return 2 * left + diagonal if symmetric else left, chance


@replacing(50)
def opposites(indptr: Any, indices: Any) -> Any:
    """Return the number of entries (i, j) off the diagonal that have an entry (j, i).

    Ids ascend in each row. Entries (i, j) left of the diagonal are looked up in row j; as i ascends, each lookup in a
    row continues where the last one ended.
    """
    starts, one = indptr.view(np.uint64), np.uint64(1)
    next = starts[:-1].copy()
    count = 0
    for i in range(np.uint64(next.size)):
        for at in range(starts[i], starts[i + one]):
            j = np.uint64(indices[at])
            if j >= i:
                break
            place, end = next[j], starts[j + one]
            while place < end and np.uint64(indices[place]) < i:
                place += one
            next[j] = place
            count += place < end and np.uint64(indices[place]) == i
    return 2 * count


@replacing(1)
def loops(indptr: Any, indices: Any) -> Any:
    """Return whether an entry is on the diagonal."""
    starts = indptr.view(np.uint64)
    for v in range(indptr.size - 1):
        for at in range(starts[v], starts[v + 1]):
            if np.uint64(indices[at]) == np.uint64(v):
                return True
    return False


@replacing(10)
def degree_sums(indptr: Any, indices: Any, x_out: bool, y_out: bool, symmetric: bool, twice: bool) -> Any:
    """Return the number of entries (i, j), and sums over them of a(i), its square, b(j), its square, and a(i) b(j).

    a is the out-degree if `x_out`, else the in-degree, and b likewise by `y_out`; with `twice` a loop adds 2 to them.
    """
    n = indptr.size - 1
    starts, one = indptr.view(np.uint64), np.uint64(1)
    out = np.empty(n, np.int64)
    block = np.uint64(512)  # entries, or those of the longest row if more: their prefix sums fit the L1 cache
    size = block
    for v in range(n):
        out[v] = indptr[v + 1] - indptr[v]
        size = max(size, np.uint64(out[v]))
    back = out
    if not symmetric:
        back = np.zeros(n, np.int64)
        for at in range(indices.size):
            back[np.uint64(indices[at])] += 1
    a, b = out if x_out else back, out if y_out else back
    if twice:
        a = b = out.copy()
        for v in range(n):
            for at in range(starts[v], starts[v + 1]):
                a[v] += np.uint64(indices[at]) == np.uint64(v)
    s_a = s_aa = s_b = s_bb = s_ab = 0
    # Ends of short rows are mispredicted branches: so prefix sums of b over a block of rows, then differences by row.
    upto = np.zeros(size + one, np.int64)
    row, rows = np.uint64(0), np.uint64(n)
    while row < rows:
        first, end, total, before = starts[row], row + one, 0, 0
        while end < rows and starts[end + one] - first <= block:
            end += one
        if np.uint64(32) * (end - row) <= starts[end] - first:  # long rows: two sums, as additions wait
            for u in range(row, end):
                at, last, odd = starts[u], starts[u + one], 0
                total = 0
                while at + one < last:
                    total += b[np.uint64(indices[at])]
                    odd += b[np.uint64(indices[at + one])]
                    at += np.uint64(2)
                if at < last:
                    total += b[np.uint64(indices[at])]
                s_ab += a[u] * (total + odd)
        else:
            for at in range(starts[end] - first):
                total += b[np.uint64(indices[first + at])]
                upto[at + one] = total
            for u in range(row, end):
                after = upto[starts[u + one] - first]
                s_ab += a[u] * (after - before)
                before = after
        row = end
    for v in range(n):
        s_a += out[v] * a[v]
        s_aa += out[v] * a[v] * a[v]
        s_b += back[v] * b[v]
        s_bb += back[v] * b[v] * b[v]
    return indices.size, s_a, s_aa, s_b, s_bb, s_ab
