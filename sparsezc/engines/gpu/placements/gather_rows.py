"""Transfer of a product's wanted rows by a host gather: host threads gather them, and a bulk copy follows.

The gathered rows form a matrix whose other rows are empty: its offsets are the sums of the wanted rows' lengths, so
kernels need no special case. Offsets are made for one buffer turn at a time, as for all rows they would take more
device memory than the buffers. If the rows exceed a buffer, they take several buffer turns: host threads fill one
buffer while the GPU reads another. A row that is longer than half a buffer is read in place over the host link. A piece
of the matrix, of half a buffer, is copied whole if so much of it is wanted that this is faster than gathering
(host_gather.py measures both). Source: A. H. N. Sabet, Z. Zhao, R. Gupta, Subway: minimizing data transfer during
out-of-GPU-memory graph processing, EuroSys 2020, doi:10.1145/3342195.3387537.
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
from sparsezc.exceptions import OutOfMemory

_ROW_BYTES = 16  # bytes a row of a turn: its offset, and one of the turn before, which is still in use
_SPAN = 2**31 - 1  # widest range of entries that one turn gathers from: its runs are listed in 4 bytes


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """Yield the launch parts of a product."""
    return serve(plan(rows, entries, wanted))


class Pieces(NamedTuple):
    """A matrix in pieces for buffers of `size` entries and at most `most` rows.

    Piece k has rows[k] .. rows[k+1]-1, and likewise its entries and row chunks. `long`: the pieces that are a single
    row, too long for half a buffer. `cuts`: a copy of `rows` on the device.
    """

    size: int
    most: int
    rows: list[int]
    entries: list[int]
    chunks: list[int]
    long: list[int]
    cuts: Any

    def ranges(self, first: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the range of rows and the range of row chunks of pieces first .. end-1."""
        return (self.rows[first], self.rows[end]), (self.chunks[first], self.chunks[end])


class Turn(NamedTuple):
    """A buffer turn: rows and row chunks of one launch, whose `nvals` entries are counted from entry `start`.

    With a stretch these are the wanted entries of its rows, gathered in runs that count from entry `base`; without one
    they are all entries, copied whole. If `nvals` is 0, wanted entries (if any) are read in place.
    """

    rows: tuple[int, int]
    chunks: tuple[int, int]
    start: int
    nvals: int
    stretch: Stretch | None = None
    base: int = 0


class Plan(NamedTuple):
    """The buffer turns of a product, with all results of the device that they need: serving waits for copies only.

    `long`: rows that are read in place, and their row chunks; `listed`: the runs of the turns that gather, in order;
    `buffers`: None if no turn has entries. Buffers are made with the plan, so that the first copies wait for no
    kernel launched after it.
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
    """Return the most rows of a turn, in whole presence words, whose offsets take no more memory than the buffers."""
    return 32 * max(1, min(-(-rows.nrows // 32), 2 * size * entry_bytes // (32 * _ROW_BYTES)))


def plan(rows: Rows, entries: Entries, wanted: Wanted) -> Plan:
    """Return the plan of a product: which rows are gathered, copied or read in place, and in which turns."""
    return double_buffer.planned(rows, entries, lambda size: _plan(rows, entries, wanted, size), share=0.5)


def _plan(rows: Rows, entries: Entries, wanted: Wanted, size: int) -> Plan:
    pieces = _pieces(rows, size, _most(rows, entries.nbytes, size))
    scan = None if wanted.words is None else Scan(rows, wanted)
    before, runs = (pieces.entries, pieces.rows) if scan is None else scan.before(pieces.cuts)
    share = host_gather.break_even_share()
    long: list[tuple[int, tuple[int, int]]] = []
    turns: list[Turn] = []
    first, start = 0, 0  # the first piece without a turn, and the entries of all turns before it

    def gather(end: int) -> None:
        """Add a turn for pieces first .. end-1, with their unwanted rows, as kernels also write absent results."""
        nonlocal first, start
        if first < end:
            which, count = pieces.ranges(first, end), before[end] - before[first]
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
                long.append((pieces.rows[k], pieces.ranges(k, k + 1)[1]))
            else:
                turns.append(Turn(*pieces.ranges(k, k + 1), begin, end - begin))
    gather(len(pieces.rows) - 1)
    listed = None
    if scan is not None and (some := [(turn.stretch, turn.base) for turn in turns if turn.stretch is not None]):
        try:
            listed = scan.listed(some)
        except OutOfMemory:  # the list's memory cannot be pinned: these rows are read in place
            turns = [turn if turn.stretch is None else turn._replace(nvals=0, stretch=None) for turn in turns]
    buffers = double_buffer.Staging(entries, size) if any(turn.nvals for turn in turns) else None
    return Plan(rows, entries, scan, size, long, turns, listed, buffers)


def serve(given: Plan, subset: Any = None) -> Iterator[Part]:
    """Yield the launch parts of a plan; `subset`: presence words of the rows that they may take, wanted or not."""
    rows, entries = given.rows, given.entries
    for row, chunks in given.long:  # of its chunks only; the last row's launch also writes the rest of its word
        yield part(rows, double_buffer.in_place(rows, entries), which=(row + 1, row + 1), chunks=chunks, subset=subset)
    buffers, runs = given.buffers, iter(given.listed.runs if given.listed else ())
    for turn in given.turns:
        pointers = double_buffer.in_place(rows, entries)  # without wanted rows, nothing is read
        sources: list[Any] | None = None
        offsets: Offsets | None = None  # the matrix's own
        if turn.stretch is not None and given.scan is not None:
            sources = _gathered(given, next(runs))
            try:
                offsets = None if sources is None else given.scan.offsets(turn.stretch, turn.start)
            except MemoryError:  # earlier launches cannot be undone: these rows are read in place
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
    """Return the entries of a turn, which host threads gather while the GPU reads the turn before.

    None if memory cannot be pinned for them: they are read in place.
    """
    try:
        return host_gather.fill(given.rows, given.entries, given.size, runs)
    except OutOfMemory:
        return None


_known: WeakKeyDictionary[Rows, Pieces] = WeakKeyDictionary()


def _pieces(rows: Rows, size: int, most: int) -> Pieces:
    """Return the pieces of a matrix; they are kept until the size of buffers changes."""
    known = _known.get(rows)
    if known is None or (known.size, known.most) != (size, most):
        known = _known[rows] = _cut(rows, size, most)
    return known


def _cut(rows: Rows, size: int, most: int) -> Pieces:
    """Cut a matrix into pieces.

    A piece has the rows that begin within a range of half a buffer's entries. Its last row is no longer than the other
    half, so the piece fits the buffer. No piece crosses a multiple of `most` rows.
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
    kept = np.append(entries[:-1] != entries[1:], True)  # a piece without entries joins the one before it
    kept[0] = True
    kept |= np.isin(cuts, alone + 1)  # unless that one is a long row, of which a launch takes chunks only
    kept |= cuts % most == 0
    cuts, entries, at = (array[kept] for array in (cuts, entries, at))
    where = np.searchsorted(cuts, alone).tolist()
    return Pieces(size, most, cuts.tolist(), entries.tolist(), at.tolist(), where, xp.asarray(cuts))
