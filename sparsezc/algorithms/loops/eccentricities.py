"""The diameter and the radius of undirected graphs, and a lower bound of the diameter, by few searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import jumping, replacing

__all__ = ["farthest", "least", "longest"]


def search(starts: Any, ids: Any, source: Any, level: Any, queue: Any) -> Any:
    """Write levels, -1 at unreached vertices, to `level`; return the last level and the number of vertices reached."""
    level[:] = -1
    level[source] = 0
    queue[0] = source
    first, last = np.uint64(0), np.uint64(1)
    while first < last:
        v = queue[first]
        first += np.uint64(1)
        depth = level[v] + 1
        for at in range(starts[v], starts[v + np.uint64(1)]):
            u = np.uint64(ids[at])
            if level[u] < 0:
                level[u] = depth
                queue[last] = u
                last += np.uint64(1)
    return level[queue[last - np.uint64(1)]], last


def nearer(starts: Any, ids: Any, depth: Any, v: Any) -> Any:
    """Return the neighbour of v, of those nearer to the middle, with the most edges; v itself if it is the middle."""
    best, most = v, np.uint64(0)
    for at in range(starts[v], starts[v + np.uint64(1)]):
        u = np.uint64(ids[at])
        edges = starts[u + np.uint64(1)] - starts[u]
        if edges > most and depth[u] < depth[v]:
            best, most = u, edges
    return best


@replacing(20)
@jumping
def longest(indptr: Any, indices: Any, state: Any, place: Any, searches: int) -> Any:
    """Search for the diameter; return the place and the state after at most `searches` searches.

    Two sweeps find a vertex in the middle. Then vertices are settled, the farthest from the middle first, until twice
    the distance of the next one is at most the greatest distance found. A vertex is settled by a search from the vertex
    two steps nearer to the middle, then by one from the vertex a step nearer, as these bound the eccentricities of all
    vertices around, and finally by one from the vertex itself.

    Source: P. Crescenzi et al., On computing the diameter of real-world undirected graphs, Theoretical Computer Science
    514, 2013, doi:10.1016/j.tcs.2012.09.018; bounds: F. Takes, W. Kosters, CIKM 2011, doi:10.1145/2063576.2063748.

    Parameters
    ----------
    state : (array, array, array, array)
        The vertices in the order of their distances from the middle; these distances; upper bounds of eccentricities;
        whether a search started at each vertex. The arrays are empty at first, and are overwritten.
    place : (int, int)
        The number of vertices left to settle, and the greatest distance found so far, which is the diameter once the
        number is 0. A number of -1: the graph is not connected.
    searches : int
        Most searches of this call.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    level, queue = np.empty(n, np.int64), np.empty(n, np.uint64)
    order, depth, upper, searched = state
    left, most = place
    if order.size == 0:
        middle, edges = np.uint64(0), np.uint64(0)
        for v in range(n):
            if starts[v + 1] - starts[v] > edges:
                middle, edges = np.uint64(v), starts[v + 1] - starts[v]
        for _ in range(2):
            if search(starts, indices, middle, level, queue)[1] < n:
                return (-1, most), order, depth, upper, searched
            far = queue[n - 1]
            distance = search(starts, indices, far, level, queue)[0]
            most = max(most, distance)
            middle = queue[n - 1]
            while 2 * level[middle] > distance:  # back along half of the path
                for at in range(starts[middle], starts[middle + np.uint64(1)]):
                    if level[np.uint64(indices[at])] < level[middle]:
                        middle = np.uint64(indices[at])
                        break
        distance = search(starts, indices, middle, level, queue)[0]
        order, depth, upper, searched = queue.copy(), level.copy(), level + distance, np.zeros(n, np.bool_)
        most, left = max(most, distance), n
    while left and searches:
        v = order[left - 1]
        if 2 * depth[v] <= most:
            left = 0
            break
        if upper[v] <= most:
            left -= 1
            continue
        above = nearer(starts, indices, depth, v)
        source = nearer(starts, indices, depth, above)
        if searched[source]:
            source = v if searched[above] else above
        searches -= 1
        searched[source] = True
        distance = search(starts, indices, source, level, queue)[0]
        most = max(most, distance)
        for u in range(n):
            upper[u] = min(upper[u], distance + level[u])
    return (left, most), order, depth, upper, searched


@replacing(20)
@jumping
def least(indptr: Any, indices: Any, state: Any, place: Any, searches: int) -> Any:
    """Search for the radius; return the place and the state after at most `searches` searches.

    A search from v with eccentricity e bounds the eccentricity of w from below by max(d(v, w), e - d(v, w)). Searches
    start alternately at the vertex of least bound, of several the one with the most edges, and at the vertex farthest
    from it, which raises the bounds of all vertices in the middle.

    Source: F. Takes, W. Kosters, Computing the eccentricity distribution of large graphs, Algorithms 6, 2013,
    doi:10.3390/a6010100.

    Parameters
    ----------
    state : (array,)
        Lower bounds of eccentricities. The array is empty at first, and is overwritten.
    place : (int, int, int)
        1 while searches are left, 0 once the radius is found, -1 if the graph is not connected; the smallest
        eccentricity found so far; the vertex of the next search, -1 for the vertex of least bound.
    searches : int
        Most searches of this call.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    level, queue = np.empty(n, np.int64), np.empty(n, np.uint64)
    (lower,) = state
    _, smallest, far = place
    if lower.size == 0:
        lower, smallest = np.zeros(n, np.int64), n
    while searches:
        searches -= 1
        source = np.uint64(max(far, 0))
        if far < 0:
            bound, edges = smallest, np.uint64(0)
            for v in range(n):
                if lower[v] < bound or (lower[v] == bound < smallest and starts[v + 1] - starts[v] > edges):
                    source, bound, edges = np.uint64(v), lower[v], starts[v + 1] - starts[v]
            if bound == smallest:
                return (0, smallest, far), lower
        distance, count = search(starts, indices, source, level, queue)
        if count < n:
            return (-1, smallest, far), lower
        smallest = min(smallest, distance)
        for v in range(n):
            lower[v] = max(lower[v], level[v], distance - level[v])
        far = np.int64(queue[n - 1]) if far < 0 else -1
    return (1, smallest, far), lower


@replacing(10)
@jumping
def farthest(indptr: Any, indices: Any, start: int, searches: int) -> Any:
    """Return the greatest distance found by at most `searches` searches, each from the end of the one before.

    The end of a search is the smallest of the vertices farthest from its start. A `start` of -1 stands for the first
    vertex with the most entries. The graph is undirected.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    level, queue, begun = np.empty(n, np.int64), np.empty(n, np.uint64), np.zeros(n, np.bool_)
    if start < 0:
        start = 0
        for u in range(n):
            if starts[u + 1] - starts[u] > starts[start + 1] - starts[start]:
                start = u
    longest, v = np.int64(0), np.uint64(start)
    while searches and not begun[v]:  # further searches would repeat earlier ones
        searches -= 1
        begun[v] = True
        distance, last = search(starts, indices, v, level, queue)
        longest = max(longest, distance)
        while last and level[queue[last - np.uint64(1)]] == distance:
            last -= np.uint64(1)
            v = queue[last] if level[v] < distance else min(v, queue[last])
    return longest
