"""The rows that a product wants, put together by the host's threads, then copied.

What arrives is a matrix whose other rows are empty: its offsets are the sums of the wanted rows' lengths, so the
kernels see nothing new. They are made for a turn's rows at a time, as for all rows they would take more of the card
than buffers do. What exceeds a buffer is gathered in turns, and the threads fill one buffer while the card reads
another. A row that is longer than half a buffer is read in place over the host link. A piece of the matrix, of half a
buffer, of which so much is wanted that copying all takes less time than gathering (host_gather.py measures both) is
copied as it is. Source: A. H. N. Sabet, Z. Zhao, R. Gupta, Subway: minimizing data transfer during out-of-GPU-memory
graph processing, EuroSys 2020, doi:10.1145/3342195.3387537.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, double_buffer, host_gather, part
from sparsezc.engines.gpu.placements.host_gather import Runs
from sparsezc.engines.gpu.placements.row_runs import Listed, Offsets, Scan, Stretch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.errors import OutOfMemory

_ROW_BYTES = 16  # of a turn: the offsets of what is gathered, which are made while those of another are in use
_SPAN = 2**31 - 1  # entries that the rows which one turn gathers may lie apart: its runs are told in 4 bytes


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The launches that serve a product."""
    return serve(plan(rows, entries, wanted))


class Pieces(NamedTuple):
    """A matrix in pieces for buffers of `size` entries, of `most` rows at most: piece k has rows[k] .. rows[k+1]-1, and
    so with its entries and chunks; `long` are those that are one row, too long for half a buffer. `cuts` are the rows
    once more, on the device.
    """

    size: int
    most: int
    rows: list[int]
    entries: list[int]
    chunks: list[int]
    long: list[int]
    cuts: Any

    def of(self, first: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rows and the chunks of pieces first .. end-1."""
        return (self.rows[first], self.rows[end]), (self.chunks[first], self.chunks[end])


class Turn(NamedTuple):
    """Rows and chunks, whose `nvals` entries arrive from entry `start` on: those that are wanted of a stretch of rows,
    whose runs count from entry `base`; or without a stretch all of them, copied as they lie. Without entries what is
    wanted, if anything, is read in place.
    """

    rows: tuple[int, int]
    chunks: tuple[int, int]
    start: int
    nvals: int
    stretch: Stretch | None = None
    base: int = 0


class Plan(NamedTuple):
    """All that asking the device takes, so that serving it waits for nothing but copies.

    `long`: rows that are read in place, and their chunks; `listed`: the runs of the turns that gather, in their order;
    `buffers`: None where no turn has entries. They are made with the plan, so that the first copies wait for no kernel
    that is launched between plan and service.
    """

    rows: Rows
    entries: Entries
    scan: Scan | None
    size: int
    long: list[tuple[int, tuple[int, int]]]
    turns: list[Turn]
    listed: Listed | None
    buffers: double_buffer.Staging | None


def _most(rows: Rows, entry_bytes: int, size: int) -> int:
    """Rows of a turn, whole presence words: their offsets take no more than the two buffers do."""
    return 32 * max(1, min(-(-rows.nrows // 32), 2 * size * entry_bytes // (32 * _ROW_BYTES)))


def plan(rows: Rows, entries: Entries, wanted: Wanted) -> Plan:
    """What is gathered, and what is copied, when."""
    return double_buffer.planned(rows, entries, lambda size: _plan(rows, entries, wanted, size), share=0.5)


def _plan(rows: Rows, entries: Entries, wanted: Wanted, size: int) -> Plan:
    pieces = _pieces(rows, size, _most(rows, entries.nbytes, size))
    scan = None if wanted.words is None else Scan(rows, wanted)
    before, runs = (pieces.entries, pieces.rows) if scan is None else scan.before(pieces.cuts)
    share = host_gather.break_even_share()
    long: list[tuple[int, tuple[int, int]]] = []
    turns: list[Turn] = []
    first, start = 0, 0  # the next turn gathers the pieces from the first on that have none yet

    def gather(end: int) -> None:
        """A turn for pieces first .. end-1. Unwanted rows have one, too: absent results are written."""
        nonlocal first, start
        if first < end:
            which, count = pieces.of(first, end), before[end] - before[first]
            stretch = Stretch(which[0], before[first], runs[first], count, runs[end] - runs[first])
            turns.append(Turn(*which, start, count, stretch if count else None, pieces.entries[first]))
            first, start = end, start + count

    for k, (begin, end) in enumerate(pairwise(pieces.entries)):
        wants = before[k + 1] - before[k]
        alone = wants > 0 and (k in pieces.long or wants >= share * (end - begin))
        is_far = end - pieces.entries[first] > _SPAN or pieces.rows[k + 1] - pieces.rows[first] > pieces.most
        any_yet = before[k + 1] > before[first]
        if alone or (any_yet and (is_far or before[k + 1] - before[first] > size - 32)):
            gather(k)
        if alone:
            first = k + 1
            if k in pieces.long:
                long.append((pieces.rows[k], pieces.of(k, k + 1)[1]))
            else:
                turns.append(Turn(*pieces.of(k, k + 1), begin, end - begin))
    gather(len(pieces.rows) - 1)
    listed = None
    if scan is not None and (some := [(turn.stretch, turn.base) for turn in turns if turn.stretch is not None]):
        try:
            listed = scan.listed(some)
        except OutOfMemory:  # the host lets no memory be pinned for it: what would be gathered is read in place
            turns = [turn if turn.stretch is None else turn._replace(nvals=0, stretch=None) for turn in turns]
    buffers = double_buffer.Staging(entries, size) if any(turn.nvals for turn in turns) else None
    return Plan(rows, entries, scan, size, long, turns, listed, buffers)


def serve(given: Plan, subset: Any = None) -> Iterator[Part]:
    """The launches; `subset`: presence words of the rows that they take at all, wanted or not."""
    rows, entries = given.rows, given.entries
    for row, chunks in given.long:  # only its chunks have anything to do; the last row's presence word ends with it
        yield part(rows, double_buffer.in_place(rows, entries), which=(row + 1, row + 1), chunks=chunks, subset=subset)
    buffers, runs = given.buffers, iter(given.listed.runs if given.listed else ())
    for turn in given.turns:
        pointers = double_buffer.in_place(rows, entries)  # where nothing is wanted, nothing is read
        sources: list[Any] | None = None
        offsets: Offsets | None = None  # the matrix's own
        if turn.stretch is not None and given.scan is not None:
            sources = _gathered(given, next(runs))
            try:
                offsets = None if sources is None else given.scan.offsets(turn.stretch, turn.start)
            except MemoryError:  # what was launched cannot be taken back: these rows are read in place
                sources = None
        elif turn.nvals:
            sources = [buffer.read(turn.start, turn.start + turn.nvals) for buffer in entries.buffers]
        if buffers is not None and sources is not None:
            start = time.perf_counter()
            there = buffers.fill(sources, turn.start % 32)
            if offsets is not None:
                host_gather.copied(buffers.copied(), sum(source.nbytes for source in sources), start)
            buffers.arrived()
            pointers = double_buffer.pointers(rows, entries, there, turn.start - turn.start % 32)
        indptr = rows.indptr if offsets is None else offsets.address
        yield part(
            rows, pointers, which=turn.rows, chunks=turn.chunks, indptr=indptr, subset=subset, near=sources is not None
        )
    if given.listed is not None:
        host_gather.give_pages(given.listed.pages)


def _gathered(given: Plan, runs: Runs) -> list[Any] | None:
    """The runs of a turn, which the threads gather while the card reads the turn before. None: the host lets no memory
    be pinned for them, and they are read in place.
    """
    try:
        return host_gather.fill(given.rows, given.entries, given.size, runs)
    except OutOfMemory:
        return None


_known: WeakKeyDictionary[Rows, Pieces] = WeakKeyDictionary()


def _pieces(rows: Rows, size: int, most: int) -> Pieces:
    """The pieces of a matrix, which are looked for once as long as buffers stay as large."""
    known = _known.get(rows)
    if known is None or (known.size, known.most) != (size, most):
        known = _known[rows] = _cut(rows, size, most)
    return known


def _cut(rows: Rows, size: int, most: int) -> Pieces:
    """A piece has the rows that begin in so many entries as half a buffer holds. So with its last one, which is no
    longer than the other half, it fits the buffer. None reaches beyond a multiple of `most` rows.
    """
    gpu = cuda.current()
    xp = gpu.xp
    half = size // 2
    long = xp.flatnonzero(rows.indptr[1:] - rows.indptr[:-1] > half - 32)
    ends = xp.asarray([*range(0, rows.nrows, most), rows.nrows], np.int64)
    halves = xp.searchsorted(rows.indptr, xp.arange(half, rows.nvals, half))
    cuts = xp.unique(xp.concatenate([halves, long, long + 1, ends]))
    chunks = rows.chunks
    at = xp.zeros(cuts.size, np.int64)
    if chunks.count:
        at = chunks.first[xp.searchsorted(chunks.rows, cuts.astype(np.uint64))].astype(np.int64)
    cuts, entries, at = gpu.asnumpy(xp.stack([cuts, rows.indptr[cuts], at]))
    alone = gpu.asnumpy(long)
    kept = np.append(entries[:-1] != entries[1:], True)  # a piece without entries is part of the one before it
    kept[0] = True
    kept |= np.isin(cuts, alone + 1)  # unless that is one long row, of which only the chunks are asked for
    kept |= cuts % most == 0
    cuts, entries, at = (array[kept] for array in (cuts, entries, at))
    where = np.searchsorted(cuts, alone).tolist()
    return Pieces(size, most, cuts.tolist(), entries.tolist(), at.tolist(), where, xp.asarray(cuts))
