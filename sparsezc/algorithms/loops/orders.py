"""Vertices visited in an order: cores, generations, independent sets, matchings."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cores", "first_set", "generations", "matching"]


def cores(indptr: Any, indices: Any) -> Any:
    """Return core numbers of an undirected simple graph: vertices leave by their degrees, which are kept in bins.

    Source: V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, 2003, arXiv:cs/0310049.
    """
    n = indptr.size - 1
    degree = np.empty(n, np.int64)
    for v in range(n):  # np.diff would take three seconds to compile
        degree[v] = indptr[v + 1] - indptr[v]
    begin = np.zeros(n + 2, np.int64)  # of the bin of each degree, in `order`
    for v in range(n):
        begin[degree[v] + 1] += 1
    for d in range(n + 1):
        begin[d + 1] += begin[d]
    order, place = np.empty(n, np.int64), np.empty(n, np.int64)
    free = begin.copy()
    for v in range(n):
        place[v] = free[degree[v]]
        order[place[v]] = v
        free[degree[v]] += 1
    for v in order:
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            d = degree[u]
            if d > degree[v]:
                # u changes places with the first of its bin, which then begins behind it
                first = begin[d]
                w = order[first]
                order[place[u]] = w
                place[w] = place[u]
                order[first] = u
                place[u] = first
                begin[d] = first + 1
                degree[u] = d - 1
    return degree


def generations(indptr: Any, indices: Any) -> Any:
    """Return the longest path to each vertex that is on no cycle, nor reached from one, -1 at others; which vertices
    these are; a queue with them by their paths and numbers; and their number.
    """
    n = indptr.size - 1
    left, generation, queue = np.zeros(n, np.int64), np.full(n, -1), np.empty(n, np.int64)
    for at in range(indices.size):
        left[indices[at]] += 1
    first = last = 0
    for v in range(n):
        if left[v] == 0:
            generation[v] = 0
            queue[last] = v
            last += 1
    while first < last:
        v = queue[first]
        first += 1
        for at in range(indptr[v], indptr[v + 1]):
            u = indices[at]
            left[u] -= 1
            if left[u] == 0:  # the queue has generations in their order, so v's is the largest before u
                generation[u] = generation[v] + 1
                queue[last] = u
                last += 1
    depth = generation[queue[last - 1]] + 1 if last else 0
    place = np.zeros(depth + 1, np.int64)
    for v in range(n):
        if generation[v] >= 0:
            place[generation[v] + 1] += 1
    for g in range(depth):
        place[g + 1] += place[g]
    for v in range(n):
        if generation[v] >= 0:
            queue[place[generation[v]]] = v
            place[generation[v]] += 1
    return generation, generation >= 0, queue, last


def first_set(indptr: Any, indices: Any, order: Any) -> Any:
    """Return the members of the independent set that takes each vertex of an order without a member beside it."""
    out = np.zeros(indptr.size - 1, np.bool_)
    member = np.zeros(indptr.size - 1, np.bool_)
    for v in order:
        if not out[v]:
            member[v] = True
            for at in range(indptr[v], indptr[v + 1]):
                out[indices[at]] = True
    return member


def matching(indptr: Any, indices: Any, order: Any) -> Any:
    """Return the partner of each vertex, -1 for none, of the matching that takes each edge of an order that it can.

    Edges have numbers: the entries above the diagonal, by rows.
    """
    n = indptr.size - 1
    ends = np.empty((order.size, 2), np.uint64)  # beside each other, as edges are read in any order
    count = 0
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            if indices[at] > v:
                ends[count, 0], ends[count, 1] = v, indices[at]
                count += 1
    partner = np.full(n, -1)
    for edge in order.view(np.uint64):
        v, u = ends[edge, 0], ends[edge, 1]
        if partner[v] < 0 and partner[u] < 0:
            partner[v] = u
            partner[u] = v
    return partner
