"""Distances over lengths of any sign (Bellman-Ford), by rounds over the vertices whose distances fell."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["relaxed"]


@replacing(100)
def relaxed(indptr: Any, indices: Any, lengths: Any, distance: Any, parent: Any, sources: Any) -> Any:
    """Lower the distances from `sources` until none changes, or until parents form a cycle.

    Return `distance`, which is filled with a value above all distances before the call; `parent`, which is filled with
    -1 and keeps it at sources that no cycle reaches; and a vertex on the cycle, or -1. Parents are checked for cycles
    after rounds 1, 2, 4, ... and from round n on.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    now, later, seen = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    waits = np.zeros(n, np.bool_)
    count, rounds, looks = sources.size, 0, 0
    for k in range(count):
        now[k] = sources[k]
        distance[now[k]] = 0
        waits[now[k]] = True
    while count:
        fell = 0
        for k in range(count):
            v = now[k]
            waits[v] = False
            near = distance[v]
            for entry in range(starts[v], starts[v + 1]):
                u = np.uint64(indices[entry])
                far = near + lengths[entry]
                if far < distance[u]:
                    distance[u] = far
                    parent[u] = v
                    if not waits[u]:
                        waits[u] = True
                        later[fell] = u
                        fell += 1
        now, later = later, now
        count = fell
        rounds += 1
        if rounds & (rounds - 1) == 0 or rounds >= n:
            for v in range(n):
                looks += 1
                at = v
                while at >= 0 and seen[at] < looks - v:  # the first number of this check
                    seen[at] = looks
                    at = parent[at]
                if at >= 0 and seen[at] == looks:
                    return distance, parent, at
    return distance, parent, -1
