"""Parts of a graph: components, and the edges that join them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing

__all__ = ["components", "degree_sums", "forest", "inside", "loops", "opposites", "strong_components"]


@replacing(20)
def components(indptr: Any, indices: Any, group: Any = None) -> Any:
    """Return the smallest vertex of each weak component, by trees whose roots are their smallest vertices.

    `group`: a number of each vertex; then only edges between vertices of the same one count.
    """
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
            if group is not None and group[u] != group[v]:  # numba leaves this out where there is none
                continue
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


@replacing(20)
@jumping
def strong_components(indptr: Any, indices: Any) -> Any:
    """Return the smallest vertex of each strong component, by one depth-first search.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Computing 1, 1972, doi:10.1137/0201010;
    with one number a vertex: D. Pearce, A space-efficient algorithm for finding strongly connected components,
    Information Processing Letters 116, 2016, doi:10.1016/j.ipl.2015.08.010.
    """
    n = np.uint64(indptr.size - 1)
    starts = indptr.view(np.uint64)  # numba checks no sign then
    one = np.uint64(1)
    # the number of the first vertex met that it reaches back to; n and more once it is done
    low = np.zeros(n, np.uint64)
    label = np.arange(indptr.size - 1)
    next = starts[:-1].copy()
    path, kept = np.empty(n, np.uint64), np.empty(n, np.uint64)
    own = np.zeros(n, np.bool_)  # nothing that was met before is reached from it
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
                u = np.uint64(indices[at])  # the edge is looked at again once u is done
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
    """Return the forest of the entries, in an order, that join trees which no entry before them has joined.

    Entries are above the diagonal. The forest has each in both directions: its rows, ids, and the entries of both.
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
    for entry in range(indices.size):  # by rows, so the ids of each row come in ascending order
        if taken[entry]:
            column = np.uint64(indices[entry])
            for end, other in ((row[entry], column), (column, row[entry])):
                ids[free[end]] = other
                entries[free[end]] = entry
                free[end] += 1
    return begin, ids, entries


@replacing(10)
def inside(indptr: Any, indices: Any, label: Any, symmetric: bool) -> Any:
    """Return the number of entries within a label, and the sum over labels of the products of both degrees.

    Labels are unsigned.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)  # numba checks no sign then
    leaving = np.zeros(n)
    left = diagonal = 0
    for v in range(n):
        own = label[v]
        leaving[own] += indptr[v + 1] - indptr[v]
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            if symmetric and u >= np.uint64(v):  # ids ascend, and what follows has its opposite left of it
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

    Ids ascend in each row, so from row to row a row's next id that is looked for only moves forward. Entries left of
    the diagonal look for theirs.
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

    a and b are numbers of entries in rows, or in columns; with `twice` an entry of the diagonal counts twice.
    """
    n = indptr.size - 1
    starts, one = indptr.view(np.uint64), np.uint64(1)
    out = np.empty(n, np.int64)
    block = np.uint64(512)  # entries summed together, unless a row has more: their sums stay in the first cache
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
    # By blocks, as processors do not foresee where short rows end: first the sum of b up to each entry, then the rows'.
    upto = np.zeros(size + one, np.int64)
    row, rows = np.uint64(0), np.uint64(n)
    while row < rows:
        first, end, total, before = starts[row], row + one, 0, 0
        while end < rows and starts[end + one] - first <= block:
            end += one
        if np.uint64(32) * (end - row) <= starts[end] - first:  # few ends of rows: two sums, as additions wait
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
