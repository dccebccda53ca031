"""PageRank, from round to round in one loop."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["pagerank"]


def pagerank(
    indptr: Any, indices: Any, weights: Any, share: Any, begin: Any, jumps: Any, bound: float, rounds: int
) -> Any:
    """Return ranks, and the change of the last round, which is the first whose change is within a bound.

    Parameters
    ----------
    weights : array
        Of the edges; none if all are 1.
    share : array
        What each edge of a vertex carries of its rank, by weight; 0 without edges.
    jumps : (array, array, float)
        Where rank goes that no edge carries; where that of vertices without edges goes, or nothing; and its part that
        goes there.
    bound : float
        Below 0: every round is run.
    """
    n = indptr.size - 1
    teleport, leak, damping = jumps
    rank, before, change = begin.copy(), np.empty(n), 0.0
    weighted = weights.size > 0
    for _ in range(rounds):
        rank, before = before, rank
        rank[:] = 0.0
        lost = 0.0
        for v in range(n):
            if share[v] == 0.0:
                lost += before[v]
            sent = before[v] * share[v]
            if weighted:
                for at in range(indptr[v], indptr[v + 1]):
                    rank[indices[at]] += sent * weights[at]
            else:
                for at in range(indptr[v], indptr[v + 1]):
                    rank[indices[at]] += sent
        rest = 1.0
        for v in range(n):
            rest -= rank[v]
        if leak.size:
            lost *= damping
            rest -= lost
        change = 0.0
        for v in range(n):
            rank[v] += teleport[v] * rest
            if leak.size:
                rank[v] += leak[v] * lost
            change += abs(rank[v] - before[v])
        if change <= bound:
            break
    return rank, change
