"""A check of a number of triangles by SciPy, in blocks of rows to bound memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.harness.frame import SEED
from benchmarks.verify.answers import Edges, Wrong

LARGE = 50_000_000  # most edges of a graph that is counted whole
SAMPLE = 1 << 15  # vertices of the part of a larger graph that is counted
PRODUCTS = 1 << 25  # products of entries that are formed at a time
DRAWN = 1 << 20  # pairs of edges with a common vertex that are drawn in a large graph
DEVIATIONS = 6  # standard deviations by which the closed pairs may differ


def equal(count: int, expected: int) -> None:
    """Raise Wrong unless both counts are equal."""
    if count != expected:
        raise Wrong(f"the answer is {count:,} triangles; there are {expected:,}")


def count(edges: Edges, vertices: NDArray[np.int64] | None = None) -> int:
    """Return the triangles of a symmetric matrix's graph, or of the edges among `vertices`, which ascend.

    L has each edge at its end of lower degree, so rows are short, and each triangle is one product in L .* (L L).
    """
    L = _forward(edges, vertices)
    length = np.diff(L.indptr).astype(np.int64)
    done = np.cumsum(L @ length)
    total, first = 0, 0
    while first < L.shape[0]:
        before = done[first - 1] if first else 0
        last = max(int(np.searchsorted(done, before + PRODUCTS, "right")), first + 1)
        block = L[first:last]
        total += int((block @ L).multiply(block).sum(dtype=np.int64))
        first = last
    return total


def _forward(edges: Edges, vertices: NDArray[np.int64] | None) -> Any:
    """Return the edges without loops, each from its end of lower degree; vertices are numbered by degree."""
    n = edges.n if vertices is None else vertices.size
    place = np.arange(edges.n) if vertices is None else np.full(edges.n, -1)
    if vertices is not None:
        place[vertices] = np.arange(n)
    host = Edges(edges.csr, np, edges.part)
    parts = []
    for i, j, _ in host:
        i, j = place[i].astype(np.int32), place[j].astype(np.int32)
        inside = (i >= 0) & (j > i)
        parts.append((i[inside], j[inside]))
    i, j = (np.concatenate([part[k] for part in parts] or [np.empty(0, np.int32)]) for k in (0, 1))
    degree = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    rank = np.empty(n, np.int32)
    rank[np.argsort(degree, kind="stable")] = np.arange(n, dtype=np.int32)
    i, j = rank[i], rank[j]
    return csr_matrix((np.ones(i.size, np.int32), (np.minimum(i, j), np.maximum(i, j))), shape=(n, n))


def sample(edges: Edges, size: int | None = None, seed: int = SEED) -> NDArray[np.int64]:
    """Return random vertices and all their neighbours, at most `size` in all, ascending; fixed by graph and seed."""
    size = SAMPLE if size is None else size
    indptr, indices = edges.csr.indptr, edges.csr.indices
    rng = np.random.default_rng(seed)
    chosen, found = np.zeros(edges.n, np.bool_), 0
    candidates = np.flatnonzero(np.diff(indptr) > 1)
    for v in rng.choice(candidates, min(size, candidates.size), replace=False).tolist():
        row = np.append(indices.read(int(indptr[v]), int(indptr[v + 1])).astype(np.int64), v)
        new = np.unique(row[~chosen[row]])
        if found + new.size <= size:
            chosen[new] = True
            found += new.size
    return np.flatnonzero(chosen)


def likely(edges: Edges, count: int, seed: int = SEED) -> None:
    """Raise Wrong if too few or too many drawn pairs of edges with a common vertex are closed by a third edge.

    This is no proof, but unlike :func:`sample` it judges the count of the whole graph: a triangle closes three pairs.
    """
    indptr, ids = edges.csr.indptr, edges.csr.indices.read()
    degree = np.diff(indptr)
    ends = np.cumsum(degree * (degree - 1) // 2)
    pairs = int(ends[-1]) if ends.size else 0
    if not 0 <= 3 * count <= pairs:
        raise Wrong(f"the answer is {count:,} triangles; at most {pairs // 3:,} are possible")
    if not pairs:
        return
    rng = np.random.default_rng(seed)
    v = np.searchsorted(ends, rng.integers(0, pairs, DRAWN), "right")
    first, second = rng.integers(0, degree[v]), rng.integers(0, degree[v] - 1)
    second += second >= first
    u, w = (ids[indptr[v] + at].astype(np.int64) for at in (first, second))
    found = int((_joined(indptr, ids, u, w) & (u != v) & (w != v)).sum())
    share = 3 * count / pairs
    slack = DEVIATIONS * (np.sqrt(DRAWN * share * (1 - share)) + 1)
    if abs(found - DRAWN * share) > slack:
        raise Wrong(f"{count:,} triangles would close {DRAWN * share:.0f} +- {slack:.0f} of {DRAWN:,} drawn pairs of "
                    f"edges; {found:,} are closed")  # fmt: skip


def _joined(indptr: NDArray[np.int64], ids: NDArray[Any], u: NDArray[np.int64], w: NDArray[np.int64]) -> Any:
    """Return whether the row of u has w, by bisection of all rows at once."""
    low, high = indptr[u], indptr[u + 1]
    end = high
    while (open_ := low < high).any():
        middle = (low + high) // 2
        less = open_ & (ids[np.where(open_, middle, 0)] < w)
        low, high = np.where(less, middle + 1, low), np.where(open_ & ~less, middle, high)
    return (low < end) & (ids[np.minimum(low, ids.size - 1)] == w)
