"""The reads of sparsezc's kernels in one mxv or vxm: mxv.cu and vxm.cu with rows.cuh, in NumPy.

A pull streams each wanted row up to the end of the slice in which its answer is found; a push streams each row of the
frontier. One warp streams 32 consecutive rows (a word), which share requests. A longer row than `Rows.long` is cut into
row chunks, each streamed by a warp; all chunks of a pull have started before one of them can stop the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.model.head_cache import Heads, fill, of_engine
from benchmarks.model.requests import Integers, Requests, of_entries, of_spans, positions
from sparsezc.memory import budget

Bits = NDArray[np.bool_]
Answered = Callable[[slice, Integers], Bits]  # of a block of rows and their lengths

BLOCK = 1 << 22  # entries that one thread processes at a time
_WORD = 32


class Reading(NamedTuple):
    """The reads of a matrix's two arrays."""

    ids: Requests = Requests()
    values: Requests = Requests()

    @property
    def all(self) -> Requests:
        return self.ids + self.values

    def plus(self, other: Reading) -> Reading:
        return Reading(self.ids + other.ids, self.values + other.values)


@dataclass(eq=False)
class Rows:
    """A CSR with the GPU engine's widths of ids and values, its arrays on the host.

    Attributes
    ----------
    indptr : ndarray of int64, shape (nrows + 1,)
    indices : ndarray of an unsigned type, shape (nvals,)
    id_bytes, value_bytes : int
        Bytes of an id and of a value on the GPU; 0 for values that are all equal, as none is read.
    ncols : int
    values : ndarray, shape (nvals,) or (1,)
    engine_rows : optional
        The GPU engine's object for these rows, if it has one.
    """

    indptr: Integers
    indices: NDArray[Any]
    id_bytes: int
    value_bytes: int
    ncols: int
    values: NDArray[Any]
    engine_rows: Any = None
    _heads: Heads | None = None

    @property
    def nrows(self) -> int:
        return self.indptr.size - 1

    @property
    def nvals(self) -> int:
        return int(self.indptr[-1])

    @property
    def long(self) -> int:
        """The most entries of a row that is not cut into row chunks."""
        return budget.chunk_length(self.nvals)

    @cached_property
    def packs(self) -> bool:
        """Return whether ids and values fit into one word of 4 bytes (packed_values.cu)."""
        spare = 32 - max(1, (self.ncols - 1).bit_length())
        if not self.value_bytes or self.id_bytes != 4 or spare < 1 or self.values.dtype.kind == "c":
            return False
        low, high = self.values.min(), self.values.max()
        return bool(low >= 0 and high < 2**spare and (self.values == self.values.astype(np.int64)).all())

    def blocks(self) -> Iterator[slice]:
        """Yield blocks of rows with about BLOCK entries, which begin at multiples of 32 rows."""
        targets = np.arange(BLOCK, self.nvals, BLOCK)
        cuts = np.searchsorted(self.indptr, targets) // _WORD * _WORD
        ends = np.unique(np.concatenate([[0], cuts, [self.nrows]])).tolist()
        for first, last in pairwise(ends):
            yield slice(first, last)

    def heads(self, k: int, hubs: Rows | None) -> Heads:
        """Return the row-head cache of k ids a row; `hubs`: the transpose, whose row lengths rank the ids."""
        kept = getattr(self.engine_rows, "heads", None)
        if (self._heads is None or self._heads.k != k) and kept is not None and kept.k == k:
            self._heads = of_engine(kept, self.nrows, self.ncols)
        if self._heads is None or self._heads.k != k:
            made = Heads(np.full((self.nrows, k), self.ncols, np.min_scalar_type(self.ncols)), self.ncols)
            degree = None if hubs is None else np.diff(hubs.indptr)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                blocks = self.blocks()
                list(pool.map(lambda block: fill(made, block, self.indptr, self.indices, degree, self.long), blocks))
            self._heads = made
        return self._heads


class Spans(NamedTuple):
    """Parts of rows: entries begin .. end-1 of a row, and the warp that streams them."""

    begin: Integers
    end: Integers
    warp: Integers

    def at(self, chosen: Any) -> Spans:
        return Spans(self.begin[chosen], self.end[chosen], self.warp[chosen])


def spans_of(rows: Rows, block: slice, wanted: Bits | None, answered: Answered | None) -> list[Spans]:
    """Return the wanted rows of a block with entries and no answer: short rows by words, long ones as row chunks."""
    begin, end = rows.indptr[block], rows.indptr[block.start + 1 : block.stop + 1]
    chosen = begin < end
    if wanted is not None:
        chosen &= wanted[block]
    if answered is not None:
        chosen &= ~answered(block, end - begin)
    which = np.flatnonzero(chosen)
    begin, end = begin[which], end[which]
    is_long = end - begin > rows.long
    by_word = Spans(begin, end, (which + block.start) // _WORD).at(~is_long)
    count = -(-(end - begin)[is_long] // rows.long)
    number, row = positions(np.zeros_like(count), count)
    first = begin[is_long][row] + number * rows.long
    chunks = Spans(first, np.minimum(first + rows.long, end[is_long][row]), np.arange(row.size))
    return [spans for spans in (by_word, chunks) if spans.begin.size]


def _first_hits(rows: Rows, spans: Spans, present: Bits) -> Integers:
    """Return the position of each span's first entry whose id is present; the span's end if there is none."""
    low, high = int(spans.begin[0]), int(spans.end[-1])
    if 2 * int((spans.end - spans.begin).sum()) > high - low:  # most entries are wanted: one pass over all is faster
        hits = np.flatnonzero(present[rows.indices[low:high]]) + low
    else:
        at, _ = positions(spans.begin, spans.end)
        hits = at[present[rows.indices[at]]]
    next_hit = np.append(hits, np.iinfo(np.int64).max)[np.searchsorted(hits, spans.begin)]
    found: Integers = np.minimum(next_hit, spans.end)
    return found


def pull(
    rows: Rows, wanted: Bits | None, present: Bits | None, *, reads_ids: bool, reads_values: bool, stops: bool,
    heads: Heads | None = None, whole: int = 0,
) -> Reading:  # fmt: skip
    """Return the reads of mxv.cu.

    Parameters
    ----------
    wanted : ndarray of bool, shape (nrows,), optional
        The rows that the mask lets through; by default all.
    present : ndarray of bool, shape (ncols,), optional
        The vector's entries; by default all, and then ids are read only if the operator needs them.
    stops : bool
        A row is left at its first product.
    heads : Heads, optional
        Read before the row, if rows stop.
    whole : int
        Number of cached ids of each row, if rows do not stop: a row of at most `whole` entries is not read.
    """

    def of(spans: Spans) -> Reading:
        if stops:
            hit = spans.begin if present is None else _first_hits(rows, spans, present)
            spans = spans._replace(end=np.minimum((hit // 32 + 1) * 32, spans.end))
        ids = values = Requests()
        if reads_ids or present is not None:
            ids = of_spans(*spans, rows.id_bytes)
        if reads_values and rows.value_bytes:
            values = _values(rows, spans, present)
        return Reading(ids, values)

    answered = _whole(whole)
    if heads is not None:
        answered = lambda block, lengths: heads.answered(block, present, lengths)  # noqa: E731
    return streamed(rows, wanted, of, answered)


def push(
    rows: Rows, frontier: Bits | None, allowed: Bits | None, *, reads_values: bool, whole: int = 0
) -> Reading:  # fmt: skip
    """Return the reads of vxm.cu: the rows of the frontier, and the values of entries that the mask lets through.

    Parameters
    ----------
    frontier : ndarray of bool, shape (nrows,), optional
    allowed : ndarray of bool, shape (ncols,), optional
        Results that the mask lets through.
    whole : int
        Number of cached ids of each row: a row of at most `whole` entries is not read.
    """

    def of(spans: Spans) -> Reading:
        values = _values(rows, spans, allowed) if reads_values and rows.value_bytes else Requests()
        return Reading(of_spans(*spans, rows.id_bytes), values)

    return streamed(rows, frontier, of, _whole(whole))


def _whole(ids: int) -> Answered | None:
    """Return the function that marks rows of at most `ids` entries, which are not read; None for 0."""
    return (lambda _, lengths: lengths <= ids) if ids else None


def _values(rows: Rows, spans: Spans, at_ids: Bits | None) -> Requests:
    """Return the requests for values of all entries of spans, or of those whose ids are in `at_ids`."""
    if at_ids is None:
        return of_spans(*spans, rows.value_bytes)
    at, span = positions(spans.begin, spans.end)
    kept = at_ids[rows.indices[at]]
    return of_entries(at[kept], spans.warp[span[kept]], rows.value_bytes)


def streamed(
    rows: Rows, wanted: Bits | None, of: Callable[[Spans], Reading], answered: Answered | None = None
) -> Reading:
    """Return the reads of wanted rows without an answer, computed block by block on all cores."""

    def one(block: slice) -> list[Reading]:
        return [of(spans) for spans in spans_of(rows, block, wanted, answered)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [reading for part in pool.map(one, rows.blocks()) for reading in part]
    return reduce(Reading.plus, found, Reading())
