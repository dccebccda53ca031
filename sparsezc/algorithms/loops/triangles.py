"""Triangles of undirected simple graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["corners"]


@replacing(50)
def corners(indptr: Any, indices: Any) -> Any:
    """Return the number of triangles at each vertex, and of ordered pairs of its neighbours.

    Edges are oriented to the end of larger degree, of equal degrees to the larger number, so that rows stay short; each
    triangle is found once, from its first vertex.
    """
    n = indptr.size - 1
    starts, one = indptr.view(np.uint64), np.uint64(1)  # unsigned, so that numba omits sign checks
    pairs = np.empty(n, np.int64)
    begin, ids = np.zeros(n + 1, np.uint64), np.empty(indices.size // 2, np.uint32)
    count = np.uint64(0)
    for v in range(n):
        own = starts[v + 1] - starts[v]
        pairs[v] = np.int64(own) * (np.int64(own) - 1)
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            degree = starts[u + one] - starts[u]
            if degree > own or (degree == own and u > np.uint64(v)):
                ids[count] = u
                count += one
        begin[v + 1] = count
    mark, found = np.full(n, -1, np.int32), np.zeros(n, np.int64)
    for v in range(n):
        for at in range(begin[v], begin[v + 1]):
            mark[ids[at]] = v
        whole = 0
        for at in range(begin[v], begin[v + 1]):
            u = np.uint64(ids[at])
            total = 0
            for entry in range(begin[u], begin[u + one]):
                w = ids[entry]
                here = mark[w] == v
                found[w] += here
                total += here
            found[u] += total
            whole += total
        found[v] += whole
    return found, pairs
