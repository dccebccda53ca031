"""A check of a number of triangles: SciPy counts again, in blocks of rows, so that memory is bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.harness.frame import SEED
from benchmarks.verify.answers import Edges, Wrong

LARGE = 50_000_000  # edges, above which only a part of the graph is counted
SAMPLE = 1 << 15  # vertices of that part
PRODUCTS = 1 << 25  # formed at a time
DRAWN = 1 << 20  # pairs of edges at one vertex, of a large graph
DEVIATIONS = 6  # that the number of closed ones among them may be off


def equal(count: int, expected: int) -> None:
    """Wrong, unless both are the same."""
    if count != expected:
        raise Wrong(f"{count:,} triangles are said to be where {expected:,} are")


def count(edges: Edges, vertices: NDArray[np.int64] | None = None) -> int:
    """Triangles of a symmetric matrix's graph, or of the edges among some vertices, in ascending order.

    Each edge is kept at its end of lower degree, so rows are short, and a triangle is one product: L .* (L L).
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
    """Return the edges, loops left out, each from its end of lower degree to the other; vertices numbered by degree."""
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
    """Return some vertices with all neighbours, the same ones for the same graph: at most `size` in all, ascending."""
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
    """Wrong, if among pairs of edges drawn at one vertex too few or too many are closed by a third for such a count.

    No proof, but unlike :func:`sample` it judges the count of the whole graph. A triangle closes three such pairs.
    """
    indptr, ids = edges.csr.indptr, edges.csr.indices.read()
    degree = np.diff(indptr)
    ends = np.cumsum(degree * (degree - 1) // 2)
    pairs = int(ends[-1]) if ends.size else 0
    if not 0 <= 3 * count <= pairs:
        raise Wrong(f"{count:,} triangles are said to be; {pairs // 3:,} at most are possible")
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
