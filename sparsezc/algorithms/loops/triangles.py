"""Triangles of undirected simple graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["corners"]


def corners(indptr: Any, indices: Any) -> Any:
    """Return the number of triangles at each vertex, and of ordered pairs of its neighbours.

    Edges lead to the end of larger degree, of equal ones to the larger number, so no vertex has many; each triangle is
    found once, from its first vertex.
    """
    n = indptr.size - 1
    pairs = np.empty(n, np.int64)
    begin, ids = np.zeros(n + 1, np.int64), np.empty(indices.size // 2, np.uint32)
    count = 0
    for v in range(n):
        own = indptr[v + 1] - indptr[v]
        pairs[v] = own * (own - 1)
        for at in range(indptr[v], indptr[v + 1]):
            u = indices[at]
            degree = indptr[u + 1] - indptr[u]
            if degree > own or (degree == own and u > v):
                ids[count] = u
                count += 1
        begin[v + 1] = count
    mark, found = np.full(n, -1, np.int32), np.zeros(n, np.int64)
    for v in range(n):
        for at in range(begin[v], begin[v + 1]):
            mark[ids[at]] = v
        whole = 0
        for at in range(begin[v], begin[v + 1]):
            u = ids[at]
            total = 0
            for entry in range(begin[u], begin[u + 1]):
                w = ids[entry]
                if mark[w] == v:
                    found[w] += 1
                    total += 1
            found[u] += total
            whole += total
        found[v] += whole
    return found, pairs
