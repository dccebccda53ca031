"""Searches from some vertices, one vertex at a time.

Ids, of 4 bytes or 8, are read as unsigned numbers: for a signed index numba checks whether it counts from the end,
which takes up to half of a search's time. They are used as indices only, because numba adds a signed and an unsigned
number as FP64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing, taking, taking_one

__all__ = ["distances", "induced", "levels", "parents"]


@replacing(3)  # where the search has few levels
@jumping
@taking(20)  # 4 of a level, 1, and 8 in the queue; 5 once more where the answer is copied; 2 to spare
def levels(indptr: Any, indices: Any, level: Any, met: Any, sources: Any, radius: int) -> Any:
    """Write the hops from the nearest source, up to a radius, to `level`, and which vertices have them to `met`.

    Return both, a queue with these vertices, and their number. `met` is false everywhere before.
    """
    starts, queue = indptr.view(np.uint64), np.empty(level.size, np.int64)
    first = last = 0
    for s in sources:
        if not met[s]:
            met[s] = True
            level[s] = 0
            queue[last] = s
            last += 1
    while first < last < met.size:  # once all are met, no edge tells more
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
@taking(28)  # 8 of a parent, 1, and 8 in the queue; 9 once more where the answer is copied; 2 to spare
def parents(indptr: Any, indices: Any, parent: Any, met: Any, source: int) -> Any:
    """Write a shortest-path tree to `parent`, and which vertices it has to `met`.

    Return both, a queue with these vertices, and their number. `met` is false everywhere before.
    """
    starts, queue = indptr.view(np.uint64), np.empty(parent.size, np.int64)
    met[source] = True
    parent[source] = queue[0] = source
    first, last = 0, 1
    while first < last < met.size:  # once all are met, no edge tells more
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
    """Write the distances from the nearest source to `distance`, which is filled with one beyond all that occur.

    Return it, and `parent` with the parents on these paths, of which sources have themselves, if it is not empty.
    They are exact up to `most`, and up to the distance of the target if it is reached; farther vertices keep theirs.
    Dijkstra's method, with a heap of four children, in which each vertex has a place; the heap has vertices in the
    type of `sources`.
    No length is negative, and no sum wraps around.
    """
    n, tree = indptr.size - 1, parent.size > 0
    indptr = indptr.view(np.uint64)
    never, place = distance[:1].copy(), np.full(n, -1, sources.dtype)
    heap, keys = np.empty(n, sources.dtype), np.empty(n, lengths.dtype)  # the vertices, and beside each its distance
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
            # the last one from the top down
            x, key = heap[size], keys[size]
            at = 0
            while True:
                child = 4 * at + 1
                if child >= size:
                    break
                if child + 4 <= size:  # without a branch, as the least comes in no order
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
    """Return where each of some rows begins among the entries between these vertices, and their columns and values.

    `member` is false everywhere before. Of one value that stands for all, one is returned.
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
        for at in range(starts[v], starts[v + one]):  # the last write at a place stays: members come in no order
            u = np.uint64(indices[at])
            ids[last] = u
            if several:
                found[last] = values[at]
            last += int(member[u])
        begin[k + 1] = last
    return begin, ids[:last].copy(), found[:last].copy() if several else values.copy()
