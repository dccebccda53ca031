"""Loops that visit vertices in an order: core numbers, topological generations, independent sets, matchings."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["acyclic", "cores", "first_set", "generations", "matching"]


@replacing(100)
def cores(indptr: Any, indices: Any) -> Any:
    """Return the core numbers of an undirected simple graph, removing vertices by degree from bins of equal degrees.

    Source: V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, 2003, arXiv:cs/0310049.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)  # numbers are unsigned, so that numba omits sign checks
    one = np.uint64(1)
    degree = np.empty(n, np.int64)
    for v in range(n):  # np.diff would take three seconds to compile
        degree[v] = indptr[v + 1] - indptr[v]
    left = degree.view(np.uint64)
    begin = np.zeros(n + 2, np.uint64)  # where the bin of each degree begins in `order`
    for v in range(n):
        begin[left[v] + one] += one
    for d in range(n + 1):
        begin[d + 1] += begin[d]
    order, place = np.empty(n, np.uint64), np.empty(n, np.uint64)
    free = begin.copy()
    for v in range(n):
        place[v] = free[left[v]]
        order[place[v]] = v
        free[left[v]] += one
    for v in order:
        least = left[v]
        for entry in range(starts[v], starts[v + one]):
            u = np.uint64(indices[entry])
            d = left[u]
            if d > least:
                # u swaps places with the first vertex of its bin, and the bin then begins after u
                first = begin[d]
                w = order[first]
                order[place[u]] = w
                place[w] = place[u]
                order[first] = u
                place[u] = first
                begin[d] = first + one
                left[u] = d - one
    return degree


@replacing(30)
def generations(indptr: Any, indices: Any) -> Any:
    """Return the length of a longest path to each vertex, -1 for vertices on a cycle or reached from one.

    Return also which vertices have a length; a queue of these, by length and then by number; and their number.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    one = np.uint64(1)
    left, generation, queue = np.zeros(n, np.int64), np.full(n, -1), np.empty(n, np.int64)
    line = queue.view(np.uint64)
    for at in range(indices.size):
        left[np.uint64(indices[at])] += 1
    first = last = np.uint64(0)
    for v in range(n):
        if left[v] == 0:
            generation[v] = 0
            line[last] = v
            last += one
    while first < last:
        v = line[first]
        first += one
        for at in range(starts[v], starts[v + one]):
            u = np.uint64(indices[at])
            left[u] -= 1
            if left[u] == 0:  # generations ascend in the queue, so v has the largest before u
                generation[u] = generation[v] + 1
                line[last] = u
                last += one
    depth = generation[line[last - one]] + 1 if last else 0
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
    return generation, generation >= 0, queue, np.int64(last)


@replacing(30)
def acyclic(indptr: Any, indices: Any) -> Any:
    """Return whether the graph has no cycle. Ids ascend in each row."""
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    one = np.uint64(1)
    forward = backward = True  # entries on one side of the diagonal alone: a topological order
    for v in range(n):
        first, end = starts[v], starts[v + 1]
        if first < end:
            forward &= bool(np.uint64(indices[first]) > np.uint64(v))
            backward &= bool(np.uint64(indices[end - one]) < np.uint64(v))
    if forward or backward:
        return True
    left, line = np.zeros(n, np.uint64), np.empty(n, np.uint64)
    for at in range(indices.size):
        left[np.uint64(indices[at])] += one
    first = last = np.uint64(0)
    for v in range(n):
        if left[v] == 0:
            line[last] = v
            last += one
    while first < last:
        v = line[first]
        first += one
        for at in range(starts[v], starts[v + one]):
            u = np.uint64(indices[at])
            left[u] -= one
            if left[u] == 0:
                line[last] = u
                last += one
    return last == n


@replacing(10)
def first_set(indptr: Any, indices: Any, order: Any) -> Any:
    """Return the members of the greedy independent set: in `order`, each vertex without a neighbour in the set."""
    starts = indptr.view(np.uint64)
    out = np.zeros(indptr.size - 1, np.bool_)
    member = np.zeros(indptr.size - 1, np.bool_)
    for v in order.view(np.uint64):
        if not out[v]:
            member[v] = True
            for at in range(starts[v], starts[v + np.uint64(1)]):
                out[np.uint64(indices[at])] = True
    return member


@replacing(50)
def matching(indptr: Any, indices: Any, start: Any, low: Any) -> Any:
    """Return the partner of each vertex, -1 for none: an edge whose key is the least at both of its ends is matched.

    Each vertex has a word below 2**63, made by SplitMix64's finaliser, with the vertex number in the bits of `low`; the
    key of an edge is the exclusive or of its ends' words. A vertex computes its least key again once the other end of
    that edge is matched.
    """
    n = indptr.size - 1
    starts, one, taken = indptr.view(np.uint64), np.uint64(1), np.uint64(1 << 63)
    word, least = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for v in range(n):
        x = np.uint64(v) + start
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word[v] = ((x ^ (x >> np.uint64(31))) >> one & ~low) | np.uint64(v)
    for v in range(n):  # no vertex is matched yet, so rows can be read independently
        own, key = word[v], taken
        for at in range(starts[v], starts[v + 1]):
            key = min(key, word[np.uint64(indices[at])] ^ own)
        least[v] = key
    partner, waiting, count = np.full(n, -1), np.empty(n, np.int64), 0
    for v in range(n):
        key = least[v]
        if key < taken:
            u = (key ^ word[v]) & low
            if least[u] == key:
                partner[v] = u
                word[v] |= taken
            else:
                waiting[count] = v
                count += 1
    while count:
        left = 0
        for k in range(count):
            waits = np.uint64(waiting[k])
            own, key = word[waits], least[waits]
            if own < taken:
                u = (key ^ own) & low
                if word[u] >= taken:
                    key = taken
                    for at in range(starts[waits], starts[waits + one]):
                        key = min(key, word[np.uint64(indices[at])] ^ own)
                    least[waits] = key
                    u = (key ^ own) & low
                if key < taken and least[u] == key:
                    partner[waits], partner[u] = u, waits
                    word[waits] |= taken
                    word[u] |= taken
                elif key < taken:
                    waiting[left] = waits
                    left += 1
        count = left
    return partner
