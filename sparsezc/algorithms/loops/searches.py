"""Searches from one or several vertices that visit one vertex at a time.

Ids, of 4 bytes or 8, are read as unsigned numbers: numba tests whether a signed index is negative, to count from the
end, which takes up to half of a search's time. Unsigned numbers are used as indices only, because numba adds a signed
and an unsigned number as FP64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing, taking, taking_one

__all__ = ["distances", "induced", "levels", "parents"]


@replacing(3)  # where the search has few levels
@jumping
@taking(20)  # bytes a vertex: level 4, met 1, queue 8; level and met again if the result is copied; 2 to spare
def levels(indptr: Any, indices: Any, level: Any, met: Any, sources: Any, radius: int) -> Any:
    """Write the hops from the nearest source, up to `radius`, to `level`, and set `met` at the vertices reached.

    Return both, a queue of these vertices, and their number. `met` is false everywhere before the call.
    """
    starts, queue = indptr.view(np.uint64), np.empty(level.size, np.int64)
    first = last = 0
    for s in sources:
        if not met[s]:
            met[s] = True
            level[s] = 0
            queue[last] = s
            last += 1
    while first < last < met.size:  # once all are met, further edges find none
        v = queue[first]
        first += 1
        depth = level[v] + 1
        if depth > radius:
            break
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            if not met[u]:
                met[u] = True
                level[u] = depth
                queue[last] = u
                last += 1
    return level, met, queue, last


@replacing(3)  # where the search has few levels
@jumping
@taking(28)  # bytes a vertex: parent 8, met 1, queue 8; parent and met again if the result is copied; 2 to spare
def parents(indptr: Any, indices: Any, parent: Any, met: Any, source: int) -> Any:
    """Write a breadth-first tree to `parent`, and set `met` at the vertices reached.

    Return both, a queue of these vertices, and their number. `met` is false everywhere before the call.
    """
    starts, queue = indptr.view(np.uint64), np.empty(parent.size, np.int64)
    met[source] = True
    parent[source] = queue[0] = source
    first, last = 0, 1
    while first < last < met.size:  # once all are met, further edges find none
        v = queue[first]
        first += 1
        for at in range(starts[v], starts[v + 1]):
            u = np.uint64(indices[at])
            if not met[u]:
                met[u] = True
                parent[u] = v
                queue[last] = u
                last += 1
    return parent, met, queue, last


@replacing(100)
@jumping
def distances(
    indptr: Any, indices: Any, lengths: Any, distance: Any, parent: Any, sources: Any, target: int, most: Any
) -> Any:
    """Write the distances from the nearest source to `distance`, which is filled with a value above all distances.

    Return it, and `parent`: unless it is empty, the parents on these paths, sources being their own. Distances are
    exact up to `most`, and up to the distance of the target if it is reached; farther vertices keep the filled value.
    Dijkstra's method, with a 4-ary heap and each vertex's place in it; the heap has the dtype of `sources`. No length
    is negative, and no sum wraps around.
    """
    n, tree = indptr.size - 1, parent.size > 0
    indptr = indptr.view(np.uint64)
    never, place = distance[:1].copy(), np.full(n, -1, sources.dtype)
    heap, keys = np.empty(n, sources.dtype), np.empty(n, lengths.dtype)  # the vertices and their distances
    size = 0
    for s in sources:
        if place[s] < 0:
            distance[s] = 0
            if tree:
                parent[s] = s
            place[s] = size
            heap[size], keys[size] = s, 0
            size += 1
    while size:
        v, near = heap[0], keys[0]
        if near > most:
            break
        if v == target:
            most = near
        place[v] = -2
        size -= 1
        if size:
            # sift the last vertex down from the top
            x, key = heap[size], keys[size]
            at = 0
            while True:
                child = 4 * at + 1
                if child >= size:
                    break
                if child + 4 <= size:  # branchless: the least is unpredictable
                    least = child + int(keys[child + 1] < keys[child])
                    other = child + 2 + int(keys[child + 3] < keys[child + 2])
                    least += (other - least) * int(keys[other] < keys[least])
                else:
                    least = child
                    for other in range(child + 1, size):
                        if keys[other] < keys[least]:
                            least = other
                if keys[least] >= key:
                    break
                heap[at], keys[at] = heap[least], keys[least]
                place[heap[at]] = at
                at = least
            heap[at], keys[at] = x, key
            place[x] = at
        for entry in range(indptr[v], indptr[v + 1]):
            u = np.uint64(indices[entry])
            far = near + lengths[entry]
            if far < distance[u]:
                distance[u] = far
                if tree:
                    parent[u] = v
                at = place[u]
                if at < 0:
                    at = size
                    size += 1
                while at > 0:
                    above = (at - 1) // 4
                    if keys[above] <= far:
                        break
                    heap[at], keys[at] = heap[above], keys[above]
                    place[heap[at]] = at
                    at = above
                heap[at], keys[at] = u, far
                place[u] = at
    for at in range(size):
        if keys[at] > most:
            distance[heap[at]] = never[0]
    return distance, parent


@replacing(1)
@jumping
@taking_one
def induced(indptr: Any, indices: Any, values: Any, rows: Any, member: Any) -> Any:
    """Return the submatrix of the vertices `rows`: the offsets of its rows, and the columns and values of its entries.

    `member` is false everywhere before the call. For an iso-valued matrix one value is returned.
    """
    starts, one, most = indptr.view(np.uint64), np.uint64(1), 1
    several = values.size == indices.size
    for v in rows:
        member[v] = True
        most += indptr[v + 1] - indptr[v]
    begin, ids = np.zeros(rows.size + 1, np.int64), np.empty(most, np.uint64)
    found, last = np.empty(most if several else 0, values.dtype), 0
    for k in range(rows.size):
        v = np.uint64(rows[k])
        for at in range(starts[v], starts[v + one]):  # branchless: the next id overwrites a non-member's
            u = np.uint64(indices[at])
            ids[last] = u
            if several:
                found[last] = values[at]
            last += int(member[u])
        begin[k + 1] = last
    return begin, ids[:last].copy(), found[:last].copy() if several else values.copy()
