"""Products with a vector, and rounds of them in one loop.

Ids are read as unsigned numbers: see :mod:`sparsezc.algorithms.loops.searches`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PARALLEL", "krylov", "onward", "pagerank", "powers"]

PARALLEL = 1e-12  # of the own part: what is beside it, of a vector that is an eigenvector but for rounding


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
    indptr = indptr.view(np.uint64)
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
                    rank[np.uint64(indices[at])] += sent * weights[at]
            else:
                for at in range(indptr[v], indptr[v + 1]):
                    rank[np.uint64(indices[at])] += sent
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


def onward(indptr: Any, indices: Any, weights: Any, x: Any, turned: bool) -> Any:
    """Return A x, or A' x if `turned`; without weights all are 1."""
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    y = np.zeros(n)
    weighted = weights.size > 0
    for v in range(n):
        if turned:
            for at in range(indptr[v], indptr[v + 1]):
                y[np.uint64(indices[at])] += x[v] * weights[at] if weighted else x[v]
        else:
            total = 0.0
            for at in range(indptr[v], indptr[v + 1]):
                total += x[np.uint64(indices[at])] * weights[at] if weighted else x[np.uint64(indices[at])]
            y[v] = total
    return y


def powers(
    indptr: Any, indices: Any, weights: Any, start: Any, terms: Any, symmetric: bool, bound: float, rounds: int
) -> Any:
    """Return x after rounds of x = s x + alpha A' x + b, and the change of the last, the first within the bound.

    Parameters
    ----------
    weights : array
        Of the entries; none if all are 1.
    terms : (float, float, array)
        s, alpha and b; without b, x is scaled to length 1 in each round.
    symmetric : bool
        The matrix is its own transpose: rows are summed, which is faster than adding to columns.
    """

    def row_sum(x: Any, ids: Any, at: Any, end: Any) -> Any:
        """Sum over ids; four sums at a time, as each addition waits for the one before."""
        one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
        a = b = c = d = 0.0
        while at + three < end:
            a += x[np.uint64(ids[at])]
            b += x[np.uint64(ids[at + one])]
            c += x[np.uint64(ids[at + two])]
            d += x[np.uint64(ids[at + three])]
            at += np.uint64(4)
        while at < end:
            a += x[np.uint64(ids[at])]
            at += one
        return (a + b) + (c + d)

    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    own, alpha, base = terms
    x, before, change = start.copy(), np.empty(n), 0.0
    weighted = weights.size > 0
    based = base.size > 0
    for _ in range(rounds):
        x, before = before, x
        change = squares = 0.0
        if symmetric:
            for v in range(n):
                total = 0.0
                if weighted:
                    for at in range(indptr[v], indptr[v + 1]):
                        total += before[np.uint64(indices[at])] * weights[at]
                else:
                    total = row_sum(before, indices, indptr[v], indptr[v + 1])
                x[v] = own * before[v] + alpha * total
        else:
            for v in range(n):
                x[v] = own * before[v]
            for v in range(n):
                sent = alpha * before[v]
                for at in range(indptr[v], indptr[v + 1]):
                    x[np.uint64(indices[at])] += sent * (weights[at] if weighted else 1.0)
        if based:
            for v in range(n):
                x[v] += base[v]
                change += abs(x[v] - before[v])
        else:
            for v in range(n):
                squares += x[v] * x[v]
            length = np.sqrt(squares)
            if length == 0.0:  # squares that overflowed divided all scores to 0
                change = np.nan
                break
            for v in range(n):
                x[v] /= length
                change += abs(x[v] - before[v])
        if change <= bound or not change < np.inf:
            break
    return x, change


def krylov(indptr: Any, indices: Any, weights: Any, start: Any, parts: Any) -> Any:
    """Return the sum of the parts of a symmetric matrix's Lanczos vectors, without signs, and T's two diagonals.

    With the vectors Q, T = Q' A Q has the first diagonal, and the second beside it on both sides, but for its last
    number. There are as many vectors as parts, or fewer if one is nearly an eigenvector.
    """
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    x, q, before, w = np.zeros(n), np.empty(n), np.zeros(n), start.copy()
    diagonal, beside = np.empty(parts.size), np.empty(parts.size)
    weighted = weights.size > 0
    length = 0.0
    for v in range(n):
        length += start[v] * start[v]
    last = np.sqrt(length)
    count = 0
    for k in range(parts.size):
        for v in range(n):
            q[v] = w[v] / last
            x[v] += parts[k] * q[v]
        own = 0.0
        back = last if k else 0.0
        for v in range(n):
            total = -back * before[v]
            if weighted:
                for at in range(indptr[v], indptr[v + 1]):
                    total += q[np.uint64(indices[at])] * weights[at]
            else:
                for at in range(indptr[v], indptr[v + 1]):
                    total += q[np.uint64(indices[at])]
            w[v] = total
            own += total * q[v]
        length = 0.0
        for v in range(n):
            w[v] -= own * q[v]
            length += w[v] * w[v]
        last = np.sqrt(length)
        diagonal[k], beside[k] = own, last
        count = k + 1
        if not last > PARALLEL * abs(own):
            break
        q, before = before, q
    for v in range(n):
        x[v] = abs(x[v])
    return x, diagonal[:count], beside[:count]
