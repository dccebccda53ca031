"""Checks of answers on graphs whose edges fill most of the host memory: on all cores, in blocks of rows.

Graphs are symmetric. No code is shared with the algorithms: NumPy looks every entry's column up in a table and folds
each row (``take`` and ``reduceat`` release Python's lock). The tables' memory limits the speed, so tables are narrow,
and so does the lock, so blocks are large and each thread keeps its buffers. A check may have a time limit: blocks come
in a random order, and each check returns the share of the rows that it has seen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verify.answers import Undecided, Wrong

BLOCK = 1 << 21  # entries of a block: large, as a thread acquires Python's lock several times for each block
REST = 1 << 28  # most entries outside of a search's component that SciPy judges
_SEED = 27182818


class Block:
    """The rows first to last - 1: `there` lists those with entries, and `starts` the first entries of these."""

    def __init__(self, csr: Any, first: int, last: int, buffers: Buffers) -> None:
        bounds = csr.indptr[first : last + 1]
        self.first, self.last = first, last
        self.ids = csr.indices.read(int(bounds[0]), int(bounds[-1]))
        self.there = np.flatnonzero(bounds[1:] > bounds[:-1])
        self.starts = bounds[:-1][self.there] - bounds[0]
        self._wide, self._buffers = buffers.get_or_make("ids", np.dtype(np.intp), self.ids.size), buffers
        np.copyto(self._wide, self.ids)

    def at_rows(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the values of an array at the rows with entries."""
        return array[self.first : self.last][self.there]

    def look_up(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the table's number for each entry's column; the buffer is reused by the next look-up of this type."""
        found = self._buffers.get_or_make("found", table.dtype, self.ids.size)
        return table.take(self._wide, mode="clip", out=found)

    def refuse(self, bad: NDArray[np.bool_], why: str) -> None:
        if bad.any():
            raise Wrong(f"{why} (vertex {self.first + int(self.there[bad.argmax()])})")


class Buffers:
    """A thread's buffers, which are kept, as allocating them takes longer than filling them."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._arrays: dict[tuple[str, np.dtype[Any]], NDArray[Any]] = {}

    def get_or_make(self, use: str, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        if (use, dtype) not in self._arrays:
            self._arrays[use, dtype] = np.empty(self._entries, dtype)
        return self._arrays[use, dtype][:count]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(
    csr: Any,
    look: Callable[[Block], None],
    *,
    block: int = BLOCK,
    threads: int | None = None,
    seconds: float | None = None,
) -> float:
    """Call `look` for all blocks of rows with entries; return the share of the rows that was seen.

    The blocks come in a random order, for at most `seconds`. The first error ends all threads.
    """
    indptr, n = csr.indptr, csr.nrows
    cuts = np.searchsorted(indptr, np.arange(0, max(int(indptr[-1]), 1), block), "right") - 1
    cuts = np.unique(np.append(cuts, [0, n]))
    largest = int(np.diff(indptr[cuts]).max())
    until = float("inf") if seconds is None else time.monotonic() + seconds
    turns = iter(np.random.default_rng(_SEED).permutation(cuts.size - 1).tolist())
    failed: list[BaseException] = []

    def work() -> int:
        buffers, seen = Buffers(largest), 0
        for k in turns:  # threads share the iterator; Python's lock gives each block to one of them
            if failed or time.monotonic() > until:
                break
            try:
                rows = Block(csr, int(cuts[k]), int(cuts[k + 1]), buffers)
                if rows.ids.size:
                    look(rows)
            except BaseException as error:
                failed.append(error)
                raise
            seen += int(cuts[k + 1] - cuts[k])
        return seen

    count = threads or cores()
    with ThreadPoolExecutor(count) as pool:
        return sum(each.result() for each in [pool.submit(work) for _ in range(count)]) / n


def structure(csr: Any, seconds: float | None = None) -> float:
    """Check that ids are vertices and ascend in each row; return the share of the rows that was seen."""
    if csr.indptr[0] != 0 or (np.diff(csr.indptr) < 0).any() or csr.indptr[-1] != csr.indices.count:
        raise Wrong("the offsets do not ascend from 0 to the number of entries")

    def look(rows: Block) -> None:
        ids, begins = rows.ids, np.zeros(rows.ids.size, bool)
        begins[rows.starts] = True
        rows.refuse(ids[np.append(rows.starts[1:], ids.size) - 1] >= csr.ncols, "an id is no vertex")
        if not (begins[1:] | (ids[1:] > ids[:-1])).all():
            raise Wrong(f"the ids of a row do not ascend (among vertices {rows.first} to {rows.last - 1})")

    return over_rows(csr, look, seconds=seconds)


def traversals(
    csr: Any, level: NDArray[Any], source: int, label: NDArray[Any] | None = None, seconds: float | None = None
) -> float:
    """Check levels of a search (-1: unreached) and labels (a component's smallest vertex) in one pass.

    The least level among a vertex's neighbours is one less than its own, so there is a path of that length; the
    greatest is at most one more, so there is no shorter path; no unreached vertex has a reached neighbour. So the
    reached vertices are one component, whose label must be its smallest vertex; SciPy finds the components of the
    rest; and no edge joins two labels. A table of one byte a vertex (two in deep graphs) has the level in its low bits
    and a hash of the label above, which is 0 for the source's component alone. Return the share of the rows seen.
    """
    reached = _plausible(csr, level, source)
    bits = 4 if level.max() < 15 else 8
    none = (1 << bits) - 1
    near = (level & none).astype(np.uint8 if bits == 4 else np.uint16)  # -1 is all ones
    if label is not None:
        _labelled(csr, label, reached)
        near |= np.where(label == label[source], 0, (label & 7) + 1 << bits).astype(near.dtype)

    def look(rows: Block) -> None:
        found, own = rows.look_up(near), rows.at_rows(near).astype(np.int32)
        least, most = (fold.reduceat(found, rows.starts).astype(np.int32) for fold in (np.minimum, np.maximum))
        rows.refuse((least >> bits != own >> bits) | (most >> bits != own >> bits), "an edge joins two labels")
        least, most, own = least & none, most & none, own & none
        apart = own == none
        rows.refuse(apart & (least != none), "a neighbour of a reached vertex was not reached")
        rows.refuse(~apart & (most > own + 1), "an edge leads more than one level deeper")
        rows.refuse(~apart & (own > 0) & (least != own - 1), "no neighbour is one level nearer")

    return over_rows(csr, look, seconds=seconds)


def _plausible(csr: Any, level: NDArray[Any], source: int) -> NDArray[np.bool_]:
    """Return the reached vertices; raise if the levels are impossible."""
    if level.shape != (csr.nrows,) or level[source] != 0 or np.count_nonzero(level == 0) != 1:
        raise Wrong(f"level 0 must be the source {source}'s alone, among {csr.nrows:,} levels")
    if level.min() < -1 or level.max() >= 255:
        raise Undecided(f"levels go from {level.min()} to {level.max()}; -1 to 254 can be judged")
    reached: NDArray[np.bool_] = level >= 0
    alone = reached & (csr.indptr[1:] == csr.indptr[:-1])
    alone[source] = False
    _refuse(alone, "a vertex without edges was reached")
    return reached


def _labelled(csr: Any, label: NDArray[Any], reached: NDArray[np.bool_]) -> None:
    """Check labels: that of reached vertices is their smallest one; SciPy computes those of all others."""
    if label.shape != (csr.nrows,) or label.min() < 0:
        raise Wrong(f"labels of shape {label.shape} from {label.min()} on; ({csr.nrows},) and 0 are needed")
    first, rest = int(reached.argmax()), np.flatnonzero(~reached)
    if (reached & (label != first)).any():
        raise Wrong(f"{first} is the smallest vertex of its component, but not the label of all its vertices")
    wrong = label[rest] != _smallest(csr, rest)
    if wrong.any():
        raise Wrong(f"a label is not its component's smallest vertex (vertex {int(rest[wrong.argmax()])})")


def _smallest(csr: Any, rest: NDArray[Any]) -> NDArray[Any]:
    """Return the smallest vertex of each vertex's component among `rest`, which no edge leaves."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    begins, ends = csr.indptr[rest], csr.indptr[rest + 1]
    offsets = np.concatenate([[0], np.cumsum(ends - begins)])
    if offsets[-1] > REST:
        raise Undecided(f"{offsets[-1]:,} entries are outside of the search's component; {REST:,} can be judged")
    at = np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1])
    given = csr.indices.read()[at]
    ids = np.minimum(np.searchsorted(rest, given), max(rest.size - 1, 0))
    if (rest[ids] != given).any():
        raise Wrong("a neighbour of a reached vertex was not reached")
    ones = np.ones(ids.size, np.int8)
    _, found = connected_components(csr_matrix((ones, ids, offsets), (rest.size, rest.size)), directed=False)
    _, firsts = np.unique(found, return_index=True)
    smallest: NDArray[Any] = rest[firsts][found]
    return smallest


def product(
    csr: Any,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    plus: float = 0.0,
    tolerance: float = 1e-9,
    seconds: float | None = None,
) -> float:
    """Check y = A x + plus, over (plus, second), against float64 sums; return the share of the rows that was seen."""
    if y.shape != (csr.nrows,):
        raise Wrong(f"the answer has shape {y.shape}; ({csr.nrows},) is needed")

    def look(rows: Block) -> None:
        expected = np.add.reduceat(rows.look_up(x), rows.starts) + plus
        off = ~(np.abs(rows.at_rows(y) - expected) <= tolerance * expected)
        rows.refuse(off, f"a number is off by more than {tolerance:g} of itself")

    empty = csr.indptr[1:] == csr.indptr[:-1]
    _refuse(empty & ~(np.abs(y - plus) <= tolerance * plus), "a number without terms is off")
    return over_rows(csr, look, seconds=seconds)


def pagerank(csr: Any, rank: NDArray[np.float64], damping: float, seconds: float | None = None) -> float:
    """Check the ranks after one iteration from 1/n each: sums over edges, and an equal share of the rest."""
    n, degree = csr.nrows, np.diff(csr.indptr)
    rest = 1 - damping * np.count_nonzero(degree) / n
    return product(csr, damping / n / np.maximum(degree, 1), rank, plus=rest / n, seconds=seconds)


def _refuse(bad: NDArray[np.bool_], why: str) -> None:
    """Raise Wrong at the first vertex where `bad` is true."""
    if bad.any():
        raise Wrong(f"{why} (vertex {int(bad.argmax())})")
