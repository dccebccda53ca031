"""Searches from many vertices: 64 at once, of one bit each; and Brandes' two sweeps, one source at a time.

Ids are read as unsigned numbers: see :mod:`sparsezc.algorithms.loops.searches`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing

__all__ = ["brandes", "counts"]


@replacing(50)  # for each pass
@jumping
def counts(indptr: Any, indices: Any, sources: Any, first: int, last: int) -> Any:
    """Count the searches from ``sources[first:last]`` that reach each vertex, and sum up their hops.

    Return for each vertex the number of these searches, the sum of its hops from their sources, the sum of the
    reciprocals of hops, and the most hops. A source does not count for itself.
    """
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    reached, total, farthest = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    inverse = np.zeros(n)
    met, new, next = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    here, there = np.empty(n, np.int64), np.empty(n, np.int64)
    for start in range(first, last, 64):
        met[:] = 0
        size = 0
        for k in range(start, min(start + 64, last)):
            v = sources[k]
            if new[v] == 0:
                here[size] = v
                size += 1
            new[v] |= np.uint64(1) << np.uint64(k - start)
        for at in range(size):
            met[here[at]] = new[here[at]]
        depth = 0
        while size:
            depth += 1
            count = 0
            for at in range(size):
                v = here[at]
                bits = new[v]
                new[v] = 0
                for entry in range(indptr[v], indptr[v + 1]):
                    u = np.uint64(indices[entry])
                    more = bits & ~met[u]
                    if more:
                        if next[u] == 0:
                            there[count] = u
                            count += 1
                        next[u] |= more
            for at in range(count):
                w = there[at]
                bits = next[w]
                met[w] |= bits
                x = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
                x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                many = np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
                reached[w] += many
                total[w] += many * depth
                inverse[w] += many / depth
                farthest[w] = max(farthest[w], depth)
            here, there, new, next = there, here, next, new
            size = count
    return reached, total, inverse, farthest


@replacing(20)  # for each search
@jumping
def brandes(indptr: Any, indices: Any, sources: Any, ends: bool, entries: bool, first: int, last: int) -> Any:
    """Sum over ``sources[first:last]`` the shares of shortest paths through each vertex, or each entry with `entries`.

    With `ends` a path counts for its two ends, too.
    """
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    centrality = np.zeros(indices.size if entries else n)
    level, order = np.full(n, -1, np.int32), np.empty(n, np.int64)
    paths, below = np.zeros(n), np.zeros(n)
    for k in range(first, last):
        s = sources[k]
        level[s] = 0
        paths[s] = 1.0
        order[0] = s
        size, at = 1, 0
        while at < size:
            v = order[at]
            at += 1
            depth = level[v] + 1
            for entry in range(indptr[v], indptr[v + 1]):
                u = np.uint64(indices[entry])
                if level[u] < 0:
                    level[u] = depth
                    order[size] = u
                    size += 1
                if level[u] == depth:
                    paths[u] += paths[v]
        for at in range(size - 1, -1, -1):
            v = order[at]
            depth = level[v] + 1
            share = 0.0
            for entry in range(indptr[v], indptr[v + 1]):
                u = np.uint64(indices[entry])
                if level[u] == depth:
                    share += below[u]
                    if entries:
                        centrality[entry] += paths[v] * below[u]
            share *= paths[v]
            below[v] = (1.0 + share) / paths[v]
            if at and not entries:
                centrality[v] += share
            if ends:
                centrality[v] += 1.0 if at else size - 1.0
        for at in range(size):
            v = order[at]
            level[v] = -1
            paths[v] = 0.0
            below[v] = 0.0
    return centrality
