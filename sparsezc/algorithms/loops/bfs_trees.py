"""Breadth-first trees in which vertices visit their neighbours in the order of the row, which may differ from ids'."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["tree"]


@replacing(60)  # an entry, in Python
def tree(indptr: Any, indices: Any, parent: Any, sources: Any, target: int, farthest: int) -> Any:
    """Search from `sources`, up to the level of `target` or to `farthest` hops.

    Return the vertices in the order in which they are found, their number, the depth of each vertex, and `parent`. All
    values of `parent` are -1 before the call, and remain so at sources.
    """
    n = parent.size
    queue, depth = np.empty(max(n, sources.size), np.int64), np.zeros(n, np.int64)
    met, last = np.zeros(n, np.bool_), sources.size
    for k in range(last):
        queue[k] = sources[k]
        met[sources[k]] = True
    first = 0
    while first < last < n:  # once all are found, further edges find none
        v = queue[first]
        first += 1
        below = depth[v] + 1
        if below > farthest or (target >= 0 and met[target] and depth[target] < below):
            break
        for at in range(indptr[v], indptr[v + 1]):
            u = indices[at]
            if not met[u]:
                met[u] = True
                depth[u] = below
                parent[u] = v
                queue[last] = u
                last += 1
    return queue, last, depth, parent
