"""Searches from some vertices, one vertex at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["distances", "levels", "parents"]


def levels(indptr: Any, indices: Any, sources: Any, radius: int) -> Any:
    """Return the hops from the nearest source, -1 beyond the radius, and the number of vertices within."""
    n = indptr.size - 1
    level, queue = np.full(n, -1, np.int32), np.empty(n, np.int64)
    first = last = 0
    for s in sources:
        if level[s] < 0:
            level[s] = 0
            queue[last] = s
            last += 1
    while first < last:
        v = queue[first]
        first += 1
        depth = level[v] + 1
        if depth > radius:
            break
        for at in range(indptr[v], indptr[v + 1]):
            u = indices[at]
            if level[u] < 0:
                level[u] = depth
                queue[last] = u
                last += 1
    return level, last


def parents(indptr: Any, indices: Any, source: int) -> Any:
    """Return a shortest-path tree, -1 where it does not reach, and the number of its vertices."""
    n = indptr.size - 1
    parent, queue = np.full(n, -1), np.empty(n, np.int64)
    parent[source] = queue[0] = source
    first, last = 0, 1
    while first < last:
        v = queue[first]
        first += 1
        for at in range(indptr[v], indptr[v + 1]):
            u = indices[at]
            if parent[u] < 0:
                parent[u] = v
                queue[last] = u
                last += 1
    return parent, last


def distances(indptr: Any, indices: Any, lengths: Any, sources: Any, never: Any, target: int, most: Any) -> Any:
    """Return the distances from the nearest source, and parents on these paths, of which sources have themselves.

    They are exact up to `most`, and up to the target's distance if it is reached; farther vertices have `never`.
    Dijkstra's method, with a heap of four children, in which each vertex has a place.
    No length is negative, and no sum wraps around.
    """
    n = indptr.size - 1
    distance, place, parent = np.full(n, never, lengths.dtype), np.full(n, -1), np.full(n, -1)
    heap = np.empty(n, np.int64)
    size = 0
    for s in sources:
        if place[s] < 0:
            distance[s] = 0
            parent[s] = s
            place[s] = size
            heap[size] = s
            size += 1
    while size:
        v = heap[0]
        near = distance[v]
        if near > most:
            break
        if v == target:
            most = near
        place[v] = -2
        size -= 1
        if size:
            # the last one from the top down
            x = heap[size]
            key = distance[x]
            at = 0
            while True:
                child = 4 * at + 1
                if child >= size:
                    break
                least = child
                for other in range(child + 1, min(child + 4, size)):
                    if distance[heap[other]] < distance[heap[least]]:
                        least = other
                if distance[heap[least]] >= key:
                    break
                heap[at] = heap[least]
                place[heap[at]] = at
                at = least
            heap[at] = x
            place[x] = at
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            far = near + lengths[entry]
            if far < distance[u]:
                distance[u] = far
                parent[u] = v
                at = place[u]
                if at < 0:
                    at = size
                    size += 1
                while at > 0:
                    above = (at - 1) // 4
                    if distance[heap[above]] <= far:
                        break
                    heap[at] = heap[above]
                    place[heap[at]] = at
                    at = above
                heap[at] = u
                place[u] = at
    for at in range(size):
        if distance[heap[at]] > most:
            distance[heap[at]] = never
    return distance, parent
