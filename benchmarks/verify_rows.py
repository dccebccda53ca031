"""Is an answer right, where the edges fill most of the host's memory? Checks on all cores, a block of rows at a time.

For symmetric graphs. Nothing is shared with the algorithms: NumPy looks every entry's column up in the answer and folds
each row (``take`` and ``reduceat`` leave Python's lock to others), so a check is one pass over the edges at some
billions of entries a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verify import Undecided, Wrong

BLOCK = 1 << 18  # entries at a time: what a core looks up stays near it
REST = 1 << 28  # entries outside of what a search reached, which SciPy may judge
_UNREACHED = 255  # a level that no vertex has

Fold = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], None]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(csr: Any, look: Fold, block: int = BLOCK, threads: int | None = None) -> None:
    """Call ``look(rows, starts, ids)`` for blocks of rows that have entries: which, where each begins, all their ids.

    The first to raise ends it all.
    """
    indptr, n = csr.indptr, csr.nrows
    tasks = max(1, min(n, 64 * (threads or cores())))

    def task(k: int) -> None:
        row, last = n * k // tasks, n * (k + 1) // tasks
        while row < last:
            end = int(np.searchsorted(indptr[row : last + 1], indptr[row] + block, "right")) + row - 1
            end = min(max(end, row + 1), last)
            starts = indptr[row:end] - indptr[row]
            there = np.flatnonzero(indptr[row + 1 : end + 1] > indptr[row:end])
            if there.size:
                look(there + row, starts[there], csr.indices.read(int(indptr[row]), int(indptr[end])))
            row = end

    with ThreadPoolExecutor(threads or cores()) as pool:
        running = [pool.submit(task, k) for k in range(tasks)]
        try:
            for each in running:
                each.result()
        finally:
            for each in running:
                each.cancel()


def _refuse(bad: NDArray[np.bool_], why: str, rows: NDArray[Any] | None = None) -> None:
    """Wrong, at the first of these rows, or of all, where `bad` holds."""
    if bad.any():
        at = int(bad.argmax())
        raise Wrong(f"{why} (vertex {at if rows is None else int(rows[at])})")


def structure(csr: Any) -> None:
    """Ids are vertices, and ascend in each row."""
    if csr.indptr[0] != 0 or (np.diff(csr.indptr) < 0).any() or csr.indptr[-1] != csr.indices.count:
        raise Wrong("the offsets do not ascend from 0 to the number of entries")

    def look(rows: NDArray[Any], starts: NDArray[Any], ids: NDArray[Any]) -> None:
        ends = np.append(starts[1:], ids.size) - 1
        _refuse(ids[ends] >= csr.ncols, "an id is no vertex", rows)
        falls = np.flatnonzero(ids[1:] <= ids[:-1]) + 1
        if not np.isin(falls, starts, assume_unique=True).all():
            raise Wrong(f"the ids of a row do not ascend (among vertices {int(rows[0])} to {int(rows[-1])})")

    over_rows(csr, look)


def bfs(csr: Any, level: NDArray[Any], source: int) -> None:
    """Levels, -1 where there is none.

    The least level among a vertex's neighbours is one less than its own, so there is a path of that length; the
    greatest is one more at most, so there is no shorter one; whoever was not reached has no neighbour that was.
    """
    if level.shape != (csr.nrows,) or level[source] != 0 or np.count_nonzero(level == 0) != 1:
        raise Wrong(f"level 0 must be the source {source}'s alone, among {csr.nrows:,}")
    if level.min() < -1 or level.max() >= _UNREACHED - 1:
        raise Undecided(f"levels go from {level.min()} to {level.max()}; -1 to {_UNREACHED - 2} can be judged")
    near = level.astype(np.uint8)  # -1 is 255
    alone = (np.diff(csr.indptr) == 0) & (near != _UNREACHED)
    alone[source] = False
    _refuse(alone, "a vertex without edges was reached")

    def look(rows: NDArray[Any], starts: NDArray[Any], ids: NDArray[Any]) -> None:
        found = near.take(ids, mode="clip")
        least, most = (fold.reduceat(found, starts).astype(np.int16) for fold in (np.minimum, np.maximum))
        own = near[rows].astype(np.int16)
        apart = own == _UNREACHED
        _refuse(apart & (least != _UNREACHED), "a neighbour of a reached vertex was not reached", rows)
        _refuse(~apart & (most > own + 1), "an edge leads more than one level deeper", rows)
        _refuse(~apart & (own > 0) & (least != own - 1), "no neighbour is one level nearer", rows)

    over_rows(csr, look)


def components(csr: Any, label: NDArray[Any], reached: NDArray[np.bool_]) -> None:
    """Labels: the smallest vertex of each component.

    `reached` marks all that a search reached that was found right: one component. No edge joins two labels, that
    component has its smallest vertex for a label, and SciPy finds the components among all other vertices.
    """
    if label.shape != (csr.nrows,):
        raise Wrong(f"the answer has shape {label.shape}; ({csr.nrows},) is needed")
    if label.min() < 0 or label.max() >= csr.nrows:
        raise Wrong(f"labels go from {label.min()} to {label.max()}")
    near = label.astype(np.uint32)

    def look(rows: NDArray[Any], starts: NDArray[Any], ids: NDArray[Any]) -> None:
        found, own = near.take(ids, mode="clip"), near[rows]
        least, most = np.minimum.reduceat(found, starts), np.maximum.reduceat(found, starts)
        _refuse((least != own) | (most != own), "an edge joins two labels", rows)

    over_rows(csr, look)
    if reached.any():
        first = int(reached.argmax())
        _refuse((near != first) & reached, f"{first} is the smallest vertex of the component, and not its label")
    rest = np.flatnonzero(~reached)
    expected = _smallest(csr, rest)
    _refuse(near[rest] != expected, "a label is not its component's smallest vertex", rest)


def _smallest(csr: Any, rest: NDArray[Any]) -> NDArray[Any]:
    """The smallest vertex of the component of each of these vertices, which no edge leaves."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    begins, ends = csr.indptr[rest], csr.indptr[rest + 1]
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    if offsets[-1] > REST:
        raise Undecided(f"{offsets[-1]:,} entries lie outside of what the search reached; {REST:,} can be judged")
    at = np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1])
    ids = np.searchsorted(rest, csr.indices.read()[at])
    ones = np.ones(ids.size, np.int8)
    _, found = connected_components(csr_matrix((ones, ids, offsets), (rest.size, rest.size)), directed=False)
    _, firsts = np.unique(found, return_index=True)
    smallest: NDArray[Any] = rest[firsts][found]
    return smallest


def product(csr: Any, x: NDArray[np.float64], y: NDArray[np.float64], tolerance: float = 1e-9) -> None:
    """y = A x over (plus, second), 0 where a row is empty: each entry against a sum in float64."""
    _compare(y, neighbour_sums(csr, x), tolerance)


def pagerank(csr: Any, rank: NDArray[np.float64], damping: float, tolerance: float = 1e-9) -> None:
    """The ranks after one iteration from 1/n each, every one against its formula in float64."""
    n, degree = csr.nrows, np.diff(csr.indptr)
    expected = neighbour_sums(csr, damping / n / np.maximum(degree, 1))
    expected += (1 - expected.sum()) / n
    _compare(rank, expected, tolerance)


def _compare(found: NDArray[np.float64], expected: NDArray[np.float64], tolerance: float) -> None:
    if found.shape != expected.shape:
        raise Wrong(f"the answer has shape {found.shape}; {expected.shape} is needed")
    error = np.abs(found - expected)
    _refuse(~(error <= tolerance * expected), f"a number is off by more than {tolerance:g} of itself")


def neighbour_sums(csr: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the neighbours of each vertex have, together."""
    sums = np.zeros(csr.nrows)

    def look(rows: NDArray[Any], starts: NDArray[Any], ids: NDArray[Any]) -> None:
        sums[rows] = np.add.reduceat(x.take(ids, mode="clip"), starts)

    over_rows(csr, look)
    return sums
