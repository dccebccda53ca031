"""Products with a vector, and rounds of them in one loop.

Ids are read as unsigned numbers: see :mod:`sparsezc.algorithms.loops.searches`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["BLOCKS", "PARALLEL", "krylov", "onward", "pagerank", "powers", "transposed"]

BLOCKS = 16  # blocks of rows; their sums are added in order, so that results do not depend on the number of threads
PARALLEL = 1e-12  # residual, relative to the Rayleigh quotient, of a vector that is an eigenvector up to rounding


@replacing(10)
def transposed(indptr: Any, indices: Any, weights: Any, ids: Any) -> Any:
    """Return the rows of A': their offsets, their ids, which are written to `ids`, and their weights, if any."""
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    begins, turned = np.zeros(n + 2, np.int64), np.empty(weights.size)
    ends = begins[1:]  # the place of each row's next entry; finally the row's end
    for at in range(indptr[n]):
        begins[np.uint64(indices[at]) + np.uint64(2)] += 1
    for v in range(n):
        ends[v + 1] += ends[v]
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            row = np.uint64(indices[at])
            to = np.uint64(ends[row])
            ends[row] += 1
            ids[to] = v
            if weights.size:
                turned[to] = weights[at]
    return begins[: n + 1], ids, turned


@replacing(10)
def pagerank(
    indptr: Any, indices: Any, weights: Any, state: Any, bound: float, pulls: bool, first: int, last: int
) -> int:
    """Run rounds until one changes the ranks by at most `bound`, or one round of some blocks; return their number.

    Parameters
    ----------
    indptr, indices : array
        The rows of A' if `pulls`, else those of A, in which case the call must take all blocks.
    weights : array
        The weights of the edges; empty if all are 1.
    state : tuple
        The ranks; each vertex's share, d / k, by which its rank is sent along an edge, 0 without edges; two arrays of
        rank times share of all vertices, for even and odd rounds; the given rows' parts of these; two arrays of sums
        for each block, likewise: ranks of vertices with edges, ranks of the others, and changes; the numbers of the
        first round and of the one after the last; and three parameters: the distribution of the rest, the distribution
        of the rank of vertices without edges, or an empty array, and the damping d.
    bound : float
        A change of the ranks, the sum of absolute values; below 0 all rounds run.
    """

    def begin_of(block: int, indptr: Any, size: int) -> Any:
        """Return the first row of a block; blocks have about equal sums of rows and entries."""
        low, high = np.uint64(0), np.uint64(size)
        least = (high + indptr[size]) * np.uint64(block) // np.uint64(BLOCKS)
        while low < high:
            middle = (low + high) >> np.uint64(1)
            if middle + indptr[middle] < least:
                low = middle + np.uint64(1)
            else:
                high = middle
        return low

    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    rank, share, sends, own, sums, rounds, (teleport, leak, damping) = state
    weighted = weights.size > 0
    count = 0
    for turn in range(rounds[0], rounds[1] if last - first == BLOCKS else rounds[0] + 1):
        count += 1
        sent, sending = sends[turn & 1], own[1 - turn & 1]
        was, now = sums[turn & 1], sums[1 - turn & 1]
        kept = lost = 0.0
        for block in range(BLOCKS):
            kept += was[block, 0]
            lost += was[block, 1]
        lost *= damping
        rest = 1.0 - damping * kept - (lost if leak.size else 0.0)
        if not pulls:
            sending[:] = 0.0
            for v in range(n):
                for at in range(indptr[v], indptr[v + 1]):
                    sending[np.uint64(indices[at])] += sent[v] * weights[at] if weights.size > 0 else sent[v]
        for block in range(first, last):
            kept = leaves = change = 0.0
            for v in range(begin_of(block, indptr, n), begin_of(block + 1, indptr, n)):
                at, end = indptr[v], indptr[v + np.uint64(1)]
                new = 0.0
                if not pulls:
                    new = sending[v]
                elif weighted:
                    while at < end:
                        new += sent[np.uint64(indices[at])] * weights[at]
                        at += np.uint64(1)
                else:
                    new = row_sum(sent, indices, at, end)
                new += teleport[v] * rest
                if leak.size:
                    new += leak[v] * lost
                change += abs(new - rank[v])
                rank[v] = new
                sending[v] = new * share[v]
                if share[v] != 0.0:
                    kept += new
                else:
                    leaves += new
            now[block, 0], now[block, 1], now[block, 2] = kept, leaves, change
        change = 0.0
        for block in range(BLOCKS):
            change += now[block, 2]
        if change <= bound:
            break
    return count


@replacing(1)  # for each product
def onward(indptr: Any, indices: Any, weights: Any, x: Any, turned: bool) -> Any:
    """Return A x, or A' x if `turned`; all weights are 1 if `weights` is empty."""
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


def row_sum(x: Any, ids: Any, at: Any, end: Any) -> Any:
    """Sum up x at the ids from `at` to `end`, in four independent sums, as each addition waits for the one before."""
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


def length_of(x: Any) -> Any:
    """Return |x|, by four independent sums, too."""
    a = b = c = d = 0.0
    whole = x.size - x.size % 4
    for v in range(0, whole, 4):
        a += x[v] * x[v]
        b += x[v + 1] * x[v + 1]
        c += x[v + 2] * x[v + 2]
        d += x[v + 3] * x[v + 3]
    for v in range(whole, x.size):
        a += x[v] * x[v]
    return np.sqrt((a + b) + (c + d))


def scaled(x: Any, length: float, before: Any) -> Any:
    """Divide x by `length` in place; return the sum |x - before|."""
    a = b = c = d = 0.0
    whole = x.size - x.size % 4
    for v in range(0, whole, 4):
        for k in range(4):
            x[v + k] /= length
        a += abs(x[v] - before[v])
        b += abs(x[v + 1] - before[v + 1])
        c += abs(x[v + 2] - before[v + 2])
        d += abs(x[v + 3] - before[v + 3])
    for v in range(whole, x.size):
        x[v] /= length
        a += abs(x[v] - before[v])
    return (a + b) + (c + d)


@replacing(1)  # for each product
def powers(
    indptr: Any, indices: Any, weights: Any, start: Any, terms: Any, rows: Any, bound: float, rounds: int
) -> Any:
    """Iterate x = s x + alpha A' x + b until a change is within `bound`, or for `rounds`; return x and the last change.

    Parameters
    ----------
    weights : array
        The weights of the entries; empty if all are 1.
    terms : (float, float, array)
        s, alpha and b; if b is empty, x is scaled to length 1 in each round.
    rows : (bool, bool)
        Whether rows are summed, which is faster than adding to columns, but needs a symmetric matrix. Whether ids are
        first copied to 4 bytes, of which caches hold twice as many: only for unweighted sums. It takes as long as a
        round.
    """
    n = indptr.size - 1
    indptr = indptr.view(np.uint64)
    own, alpha, base = terms
    x, before, change = start.copy(), np.empty(n), 0.0
    weighted = weights.size > 0
    based = base.size > 0
    summed, shorter = rows
    short = np.empty(0, np.uint32)
    if shorter and indices.itemsize > 4:  # ids in files have 4 bytes already
        short = indices.astype(np.uint32)
    for _ in range(rounds):
        x, before = before, x
        change = 0.0
        if summed:
            for v in range(n):
                total = 0.0
                if weighted:
                    for at in range(indptr[v], indptr[v + 1]):
                        total += before[np.uint64(indices[at])] * weights[at]
                else:
                    at, end = indptr[v], indptr[v + 1]
                    total = row_sum(before, short, at, end) if short.size else row_sum(before, indices, at, end)
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
            length = length_of(x)
            if length == 0.0:  # squares overflowed, and all scores were divided to 0
                change = np.nan
                break
            change = scaled(x, length, before)
        if change <= bound or not change < np.inf:
            break
    return x, change


@replacing(1)  # for each product
def krylov(indptr: Any, indices: Any, weights: Any, start: Any, parts: Any, vectors: Any) -> Any:
    """Return |sum of parts[k] q_k| over a symmetric matrix's Lanczos vectors q_k, and the two diagonals of T.

    If `vectors` has rows, the Lanczos vectors are written to them.

    With the vectors as columns of Q, T = Q' A Q is tridiagonal: the first array returned is its diagonal, the second,
    without its last number, the one beside it. There are as many vectors as parts, or fewer if they nearly span
    an invariant subspace.
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
        if vectors.shape[0]:
            vectors[k] = q
        own = 0.0
        back = last if k else 0.0
        for v in range(n):
            total = -back * before[v]
            if weighted:
                for at in range(indptr[v], indptr[v + 1]):
                    total += q[np.uint64(indices[at])] * weights[at]
            else:
                total += row_sum(q, indices, indptr[v], indptr[v + 1])
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
