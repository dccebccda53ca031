"""Double edge swaps: pairs of edges exchange their ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["ends_of", "exchanges", "rows_of"]


@replacing(5)
def ends_of(indptr: Any, indices: Any) -> Any:
    """Return the edges of a symmetric matrix without a diagonal: two rows of ends, the smaller first, ascending."""
    starts, one = indptr.view(np.uint64), np.uint64(1)
    ends, last = np.empty((2, indices.size // 2), np.int64), 0
    for v in range(np.uint64(indptr.size - 1)):
        for at in range(starts[v], starts[v + one]):
            u = np.uint64(indices[at])
            if u > v:
                ends[0, last], ends[1, last] = v, u
                last += 1
    return ends


@replacing(3000)  # a draw, in Python
def exchanges(n: int, ends: Any, draws: Any, wanted: int) -> Any:
    """Exchange ends of pairs of edges, (u, v) and (x, y) to (u, x) and (v, y), unless loops or parallel edges result.

    `ends`: two rows of vertices, which are below `n`. `draws`: two rows, each number twice that of an edge, plus 0 or 1
    for the end that is taken first. Return the ends, the number of exchanges, and the number of draws that would give
    no loop; at most `wanted` exchanges are made.

    Edges are found in a hash table with linear probing. An edge's number is hashed by 31 bits of a product (D. Knuth,
    The Art of Computer Programming 3, section 6.4).
    """

    def key_of(one: Any, other: Any) -> Any:
        """Return the number of an edge, unique and independent of its direction."""
        return min(one, other) * n + max(one, other)

    def home_of(key: Any, last: Any) -> Any:
        """Return the slot that an edge's number hashes to, in a table whose last slot is `last`."""
        return ((key & 0x7FFFFFFF) * 0x61C88647 >> 20 ^ key >> 31) & last

    edges = ends.shape[1]
    ends = ends.copy()
    size = 4
    while size < 4 * edges:
        size *= 2
    table = np.full(size, -1)
    for e in range(edges):
        key = key_of(ends[0, e], ends[1, e])
        at = home_of(key, size - 1)
        while table[at] >= 0:
            at = at + 1 & size - 1
        table[at] = key
    done = tried = 0
    for k in range(draws.shape[1]):
        if done == wanted:
            break
        d, e = draws[0, k] >> 1, draws[1, k] >> 1
        u, v = ends[draws[0, k] & 1, d], ends[1 - (draws[0, k] & 1), d]
        x, y = ends[draws[1, k] & 1, e], ends[1 - (draws[1, k] & 1), e]
        if u == x or v == y:
            continue
        tried += 1
        found = False
        for one, other in ((u, x), (v, y)):
            key = key_of(one, other)
            at = home_of(key, size - 1)
            while table[at] >= 0 and table[at] != key:
                at = at + 1 & size - 1
            found = found or table[at] == key
        if found:
            continue
        for one, other in ((u, v), (x, y)):
            key = key_of(one, other)
            at = home_of(key, size - 1)
            while table[at] != key:
                at = at + 1 & size - 1
            # move later keys into the free slot if they would no longer be found
            free, at = at, at + 1 & size - 1
            while table[at] >= 0:
                key = table[at]
                home = home_of(key, size - 1)
                if (at - home & size - 1) >= (at - free & size - 1):
                    table[free] = table[at]
                    free = at
                at = at + 1 & size - 1
            table[free] = -1
        for one, other in ((u, x), (v, y)):
            key = key_of(one, other)
            at = home_of(key, size - 1)
            while table[at] >= 0:
                at = at + 1 & size - 1
            table[at] = key
        ends[0, d], ends[1, d] = u, x
        ends[0, e], ends[1, e] = v, y
        done += 1
    return ends, done, tried


@replacing(100)  # an entry, where a statement builds the matrix
def rows_of(n: int, ends: Any) -> Any:
    """Return offsets and ids of the rows of the symmetric matrix that has each edge in both directions."""
    edges = ends.shape[1]
    begins, by_column = np.zeros(n + 1, np.int64), np.empty(2 * edges, np.int64)
    for side in range(2):
        for e in range(edges):
            begins[ends[side, e] + 1] += 1
    for v in range(n):
        begins[v + 1] += begins[v]
    free = begins[:n].copy()
    for side in range(2):  # list the rows of each column, as many as the row of that number has columns
        for e in range(edges):
            v = ends[side, e]
            by_column[free[v]] = ends[1 - side, e]
            free[v] += 1
    free[:] = begins[:n]
    ids = np.empty(2 * edges, np.int64)
    for v in range(n):  # in order of columns, so that ids ascend in each row
        for at in range(begins[v], begins[v + 1]):
            row = by_column[at]
            ids[free[row]] = v
            free[row] += 1
    return begins, ids
