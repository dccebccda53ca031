"""Contraction of communities to vertices, for Louvain and Leiden. Numbers are unsigned: see searches.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["contracted", "numbered", "unweighted", "weighted"]


@replacing(15)  # too few for Python to run the loop as it is written
def unweighted(indptr: Any, indices: Any) -> Any:
    """Return the arrays of a network whose entries weigh 1, as `weighted` does; that of weights is empty INT64."""
    n = indptr.size - 1
    ids, k = np.empty(indices.size, np.uint32), np.empty(n)
    inside = squares = 0.0
    for v in range(n):
        k[v] = indptr[v + 1] - indptr[v]
        squares += k[v] * k[v]
        for at in range(indptr[v], indptr[v + 1]):
            ids[at] = indices[at]
            inside += indices[at] == v
    return indptr.view(np.uint64).copy(), ids, np.empty(0, np.int64), k, inside, squares


@replacing(15)  # too few for Python to run the loop as it is written
def weighted(indptr: Any, indices: Any, values: Any) -> Any:
    """Return a network's offsets, ids, weights and weighted degrees, the weight of loops and sum of squared degrees."""
    n = indptr.size - 1
    ids, k = np.empty(indices.size, np.uint32), np.zeros(n)
    inside = squares = 0.0
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            ids[at] = indices[at]
            k[v] += values[at]
            if indices[at] == v:
                inside += values[at]
        squares += k[v] * k[v]
    return indptr.view(np.uint64).copy(), ids, values.copy(), k, inside, squares


def numbered(k: Any, label: Any) -> Any:
    """Return the rank of each vertex's label among the labels in use, n where k is 0; and the number of labels."""
    n = k.size
    rank, number = np.zeros(n, np.uint64), np.full(n, n, np.uint64)
    for v in range(n):
        if k[v] > 0:
            rank[label[v]] = 1
    count = np.uint64(0)
    for c in range(n):
        used = rank[c]
        rank[c] = count
        count += used
    for v in range(n):
        if k[v] > 0:
            number[v] = rank[label[v]]
    return number, np.int64(count)


def contracted(begin: Any, ids: Any, weights: Any, k: Any, number: Any, count: Any) -> Any:
    """Return the arrays of the network of `count` communities, as `weighted` does; `number`: of each vertex, or n."""
    n = k.size
    one = np.uint64(1)
    nothing = np.uint64(n)
    count = np.uint64(count)
    place = np.zeros(count + one, np.uint64)
    for v in range(n):
        if number[v] < nothing:
            place[number[v] + one] += one
    for c in range(count):
        place[c + one] += place[c]
    members, free = np.empty(n, np.uint64), place.copy()
    for v in range(n):
        if number[v] < nothing:
            members[free[number[v]]] = v
            free[number[v]] += one
    weighs = weights.size > 0
    most = min(np.uint64(ids.size), count * count)
    into, sums = np.empty(most, np.uint32), np.empty(most)
    starts, degree = np.zeros(count + one, np.uint64), np.zeros(count)
    total, seen = np.zeros(count), np.empty(count, np.uint64)
    written = np.uint64(0)
    inside = squares = 0.0
    for c in range(count):
        found = np.uint64(0)
        for r in range(place[c], place[c + one]):
            v = members[r]
            for at in range(begin[v], begin[v + one]):
                d = number[ids[at]]
                w = weights[at] if weighs else 1.0
                if d < nothing and w != 0.0:
                    if total[d] == 0.0:
                        seen[found] = d
                        found += one
                    total[d] += w
        inside += total[c]
        for t in range(found):
            d = seen[t]
            into[written] = d
            sums[written] = total[d]
            degree[c] += total[d]
            total[d] = 0.0
            written += one
        starts[c + one] = written
        squares += degree[c] * degree[c]
    return starts, into[:written].copy(), sums[:written].copy(), degree, inside, squares
