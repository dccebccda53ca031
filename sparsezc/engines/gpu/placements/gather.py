"""Placement ``gather``: the rows that a product wants are put together by the host's threads, then copied.

What arrives is a matrix whose other rows are empty: its offsets are the sums of the wanted rows' lengths, so the
kernels see nothing new. What exceeds a buffer goes in turns, and the threads fill one buffer while the card reads
another. A row that is longer than half a buffer stays where it is and is read over the link. Source: A. H. N. Sabet,
Z. Zhao, R. Gupta, Subway: minimizing data transfer during out-of-GPU-memory graph processing, EuroSys 2020,
doi:10.1145/3342195.3387537.

Subway gathers always. Here a piece of the matrix, of half a buffer, of which so much is wanted that copying all takes
less time than gathering (hands.py measures both) is copied from where it lies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sparsezc import device
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, hands, part, staging
from sparsezc.engines.gpu.placements.hands import Runs
from sparsezc.engines.gpu.stores import Rows
from sparsezc.errors import OutOfMemory

PLAN_BYTES = 17  # a row: the offsets of what is gathered and, while they are made, as many bytes once more and one
_SPAN = 2**31 - 1  # entries that one turn's rows may lie apart: its runs are told in 4 bytes


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The launches that serve a product."""
    return serve(plan(rows, entries, wanted))


class Pieces(NamedTuple):
    """A matrix in pieces for buffers of `size` entries: piece k has rows[k] .. rows[k+1]-1, and so with its entries and
    chunks; `long` are those that are one row, too long for half a buffer.
    """

    size: int
    rows: list[int]
    entries: list[int]
    chunks: list[int]
    long: list[int]

    def of(self, first: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rows and the chunks of pieces first .. end-1."""
        return (self.rows[first], self.rows[end]), (self.chunks[first], self.chunks[end])


class Gathered(NamedTuple):
    """The matrix of the wanted rows: its offsets, and the offset of each piece and of the end."""

    indptr: Any
    offsets: list[int]


class Turn(NamedTuple):
    """Rows and chunks, whose `nvals` entries arrive from entry `start` of the matrix with offsets `indptr`: gathered
    from runs, or without these copied as they lie.
    """

    rows: tuple[int, int]
    chunks: tuple[int, int]
    indptr: Any
    start: int
    nvals: int
    runs: Runs | None = None


class Plan(NamedTuple):
    """All that asking the device takes, so that serving it waits for nothing but copies.

    `long`: rows that are read in place, and their chunks; `buffers`: None where no turn has entries. They are made with
    the plan, so that the first copies wait for no kernel that is launched between plan and service.
    """

    rows: Rows
    entries: Entries
    size: int
    long: list[tuple[int, tuple[int, int]]]
    turns: list[Turn]
    buffers: staging.Staging | None


def plan(rows: Rows, entries: Entries, wanted: Wanted) -> Plan:
    """What is gathered, and what is copied, when."""
    size = staging.size(rows, entries.nbytes, PLAN_BYTES * rows.nrows)
    pieces = _pieces(rows, size)
    gathered, counts = _gathered(rows, pieces, wanted)
    share = hands.share()
    long, turns = [], []
    first, count = 0, 0  # what the next turn gathers: the pieces from the first on that have none yet
    for k, (wants, begin, end) in enumerate(zip(counts, pieces.entries, pieces.entries[1:], strict=False)):
        alone = wants > 0 and (k in pieces.long or wants >= share * (end - begin))
        if alone or count + wants > size - 32 or end - pieces.entries[first] > _SPAN:
            turns += _turn(rows, pieces, gathered, first, k, count)
            first, count = k, 0
        if not alone:
            count += wants
            continue
        first = k + 1
        if k in pieces.long:
            long.append((pieces.rows[k], pieces.of(k, k + 1)[1]))
        else:
            turns.append(Turn(*pieces.of(k, k + 1), rows.indptr, begin, end - begin))
    turns += _turn(rows, pieces, gathered, first, len(counts), count)
    buffers = staging.Staging(entries, size) if any(turn.nvals for turn in turns) else None
    return Plan(rows, entries, size, long, turns, buffers)


def serve(given: Plan, subset: Any = None) -> Iterator[Part]:
    """The launches; `subset`: presence words of the rows that they take at all, wanted or not."""
    rows, entries = given.rows, given.entries
    for row, chunks in given.long:  # only its chunks have anything to do; the last row's presence word ends with it
        yield part(rows, staging.in_place(rows, entries), which=(row + 1, row + 1), chunks=chunks, subset=subset)
    buffers = given.buffers
    for turn in given.turns:
        indptr, near, pointers = turn.indptr, True, staging.in_place(rows, entries)
        sources = _sources(given, turn) if buffers is not None and turn.nvals else []
        if sources is None:
            indptr, near = rows.indptr, False
        elif buffers is not None and sources:
            start = time.perf_counter()
            there = buffers.fill(sources, turn.start % 32)
            if turn.runs is not None:
                hands.copied(buffers.copied(), sum(source.nbytes for source in sources), start)
            buffers.arrived()
            pointers = staging.pointers(rows, entries, there, turn.start - turn.start % 32)
        yield part(rows, pointers, which=turn.rows, chunks=turn.chunks, indptr=indptr, subset=subset, near=near)


def _sources(given: Plan, turn: Turn) -> list[Any] | None:
    """What a turn copies to the card: the matrix as it lies, or runs that the threads gather while the card reads the
    turn before. None: the host lets no memory be pinned for these, and they are read in place.
    """
    if turn.runs is None:
        return [buffer.read(turn.start, turn.start + turn.nvals) for buffer in given.entries.buffers]
    try:
        return hands.fill(given.rows, given.entries, given.size, turn.runs)
    except OutOfMemory:
        return None


def _gathered(rows: Rows, pieces: Pieces, wanted: Wanted) -> tuple[Gathered, list[int]]:
    """The wanted rows, but for those that are read in place, and how many entries are wanted of each piece."""
    if wanted.words is None:
        return Gathered(rows.indptr, pieces.entries), np.diff(pieces.entries).tolist()
    gpu = device.current()
    xp = gpu.xp
    bits = xp.unpackbits((wanted.words ^ np.uint32(wanted.flip)).view(np.uint8), bitorder="little")
    indptr = xp.zeros(rows.nrows + 1, np.int64)
    lengths = indptr[1:]  # in place, as of all that a plan takes this is the most
    xp.subtract(rows.indptr[1:], rows.indptr[:-1], out=lengths)
    lengths *= bits[: rows.nrows]
    long = xp.asarray([pieces.rows[k] for k in pieces.long], np.int64)
    apart = lengths[long]
    lengths[long] = 0
    xp.cumsum(lengths, out=lengths)
    found = gpu.asnumpy(xp.concatenate([indptr[xp.asarray(pieces.rows)], apart]))
    offsets = found[: len(pieces.rows)]
    counts = np.diff(offsets)
    counts[pieces.long] = found[len(pieces.rows) :]
    return Gathered(indptr, offsets.tolist()), counts.tolist()


def _turn(rows: Rows, pieces: Pieces, gathered: Gathered, first: int, end: int, count: int) -> list[Turn]:
    """The turn that gathers pieces first .. end-1. Rows that nobody wants have one, too: what is absent is written."""
    if first == end:
        return []
    where, start = pieces.of(first, end), gathered.offsets[first]
    if count == 0:
        return [Turn(*where, gathered.indptr, start, 0)]
    gpu = device.current()
    xp = gpu.xp
    offsets = gathered.indptr[where[0][0] : where[0][1] + 1]
    at = xp.flatnonzero(offsets[1:] != offsets[:-1]) + where[0][0]
    begins = rows.indptr[at] - pieces.entries[first]
    ends = begins + gathered.indptr[at + 1] - gathered.indptr[at]
    before = xp.concatenate([gathered.indptr[at] - start, xp.asarray([count])])
    bounds = xp.stack([begins, ends], axis=1).astype(np.int64 if rows.wide else np.int32)
    tasks = xp.searchsorted(before, xp.asarray(hands.tasks(count)))
    tasks, taken = gpu.asnumpy(xp.stack([tasks, before[tasks]]))
    runs = Runs(pieces.entries[first], gpu.asnumpy(bounds), np.append(tasks, at.size), np.append(taken, count))
    return [Turn(*where, gathered.indptr, start, count, runs)]


_known: WeakKeyDictionary[Rows, Pieces] = WeakKeyDictionary()


def _pieces(rows: Rows, size: int) -> Pieces:
    """The pieces of a matrix, which are looked for once as long as buffers stay as large."""
    known = _known.get(rows)
    if known is None or known.size != size:
        known = _known[rows] = _cut(rows, size)
    return known


def _cut(rows: Rows, size: int) -> Pieces:
    """A piece has the rows that begin in so many entries as half a buffer holds. So with its last one, which is no
    longer than the other half, it fits the buffer.
    """
    gpu = device.current()
    xp = gpu.xp
    half = size // 2
    long = xp.flatnonzero(rows.indptr[1:] - rows.indptr[:-1] > half - 32)
    ends = xp.asarray([0, rows.nrows], np.int64)
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
    cuts, entries, at = (array[kept] for array in (cuts, entries, at))
    return Pieces(size, cuts.tolist(), entries.tolist(), at.tolist(), np.searchsorted(cuts, alone).tolist())
