"""Placement ``gather``: the rows that a product wants are put together by the host's threads, then copied.

What arrives is a matrix whose other rows are empty: its offsets are the sums of the wanted rows' lengths, so the
kernels see nothing new. They are made for a turn's rows at a time, once to tell the host what to gather and once more
for the kernel, as for all rows they would take more of the card than buffers do. What exceeds a buffer goes in turns,
and the threads fill one buffer while the card reads another. A row that is longer than half a buffer stays where it is
and is read over the link. Source: A. H. N. Sabet, Z. Zhao, R. Gupta, Subway: minimizing data transfer during
out-of-GPU-memory graph processing, EuroSys 2020, doi:10.1145/3342195.3387537.

Subway gathers always. Here a piece of the matrix, of half a buffer, of which so much is wanted that copying all takes
less time than gathering (hands.py measures both) is copied from where it lies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sparsezc import device
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, hands, part, staging
from sparsezc.engines.gpu.placements.hands import Runs
from sparsezc.engines.gpu.stores import Rows
from sparsezc.errors import OutOfMemory

_ROW_BYTES = 24  # of a turn: the offsets of what is gathered, which rows are wanted, and a slice's runs of these
_SLICES = 16  # at most, in which the host is told of the runs
_SPAN = 2**31 - 1  # entries that the rows which one turn gathers may lie apart: its runs are told in 4 bytes


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The launches that serve a product."""
    return serve(plan(rows, entries, wanted))


class Pieces(NamedTuple):
    """A matrix in pieces for buffers of `size` entries, of `most` rows at most: piece k has rows[k] .. rows[k+1]-1, and
    so with its entries and chunks; `long` are those that are one row, too long for half a buffer.
    """

    size: int
    most: int
    rows: list[int]
    entries: list[int]
    chunks: list[int]
    long: list[int]

    def of(self, first: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rows and the chunks of pieces first .. end-1."""
        return (self.rows[first], self.rows[end]), (self.chunks[first], self.chunks[end])


class Turn(NamedTuple):
    """Rows and chunks, whose `nvals` entries arrive from entry `start` on: gathered from runs, or without these copied
    as they lie.
    """

    rows: tuple[int, int]
    chunks: tuple[int, int]
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
    wanted: Wanted
    size: int
    long: list[tuple[int, tuple[int, int]]]
    turns: list[Turn]
    buffers: staging.Staging | None


def _most(rows: Rows, entry_bytes: int, size: int) -> int:
    """Rows of a turn, whole presence words: to tell of them takes as much as the two buffers do."""
    return 32 * max(1, min(-(-rows.nrows // 32), 2 * size * entry_bytes // (32 * _ROW_BYTES)))


def plan(rows: Rows, entries: Entries, wanted: Wanted) -> Plan:
    """What is gathered, and what is copied, when."""
    return staging.planned(rows, entries, lambda size: _plan(rows, entries, wanted, size), share=0.5)


def _plan(rows: Rows, entries: Entries, wanted: Wanted, size: int) -> Plan:
    pieces = _pieces(rows, size, _most(rows, entries.nbytes, size))
    counts = _counts(rows, pieces, wanted)
    share = hands.share()
    long, turns = [], []
    first, count, start = 0, 0, 0  # what the next turn gathers: the pieces from the first on that have none yet
    for k, (wants, begin, end) in enumerate(zip(counts, pieces.entries, pieces.entries[1:], strict=False)):
        alone = wants > 0 and (k in pieces.long or wants >= share * (end - begin))
        is_far = end - pieces.entries[first] > _SPAN or pieces.rows[k + 1] - pieces.rows[first] > pieces.most
        if alone or ((count or wants) and (is_far or count + wants > size - 32)):
            turns += _turn(rows, pieces, wanted, first, k, start, count)
            first, count, start = k, 0, start + count
        if not alone:
            count += wants
            continue
        first = k + 1
        if k in pieces.long:
            long.append((pieces.rows[k], pieces.of(k, k + 1)[1]))
        else:
            turns.append(Turn(*pieces.of(k, k + 1), begin, end - begin))
    turns += _turn(rows, pieces, wanted, first, len(counts), start, count)
    buffers = staging.Staging(entries, size) if any(turn.nvals for turn in turns) else None
    return Plan(rows, entries, wanted, size, long, turns, buffers)


def serve(given: Plan, subset: Any = None) -> Iterator[Part]:
    """The launches; `subset`: presence words of the rows that they take at all, wanted or not."""
    rows, entries = given.rows, given.entries
    for row, chunks in given.long:  # only its chunks have anything to do; the last row's presence word ends with it
        yield part(rows, staging.in_place(rows, entries), which=(row + 1, row + 1), chunks=chunks, subset=subset)
    buffers = given.buffers
    for turn in given.turns:
        pointers = staging.in_place(rows, entries)  # where nothing is wanted, nothing is read
        sources = _sources(given, turn) if turn.nvals else None
        offsets: _Offsets | None = None  # the matrix's own
        if sources is not None and turn.runs is not None:
            try:
                offsets = _Offsets(rows, given.wanted, turn.rows, turn.start)
            except MemoryError:  # what was launched cannot be taken back: these rows are read in place
                sources = None
        if buffers is not None and sources is not None:
            start = time.perf_counter()
            there = buffers.fill(sources, turn.start % 32)
            if turn.runs is not None:
                hands.copied(buffers.copied(), sum(source.nbytes for source in sources), start)
            buffers.arrived()
            pointers = staging.pointers(rows, entries, there, turn.start - turn.start % 32)
        indptr, near = rows.indptr if offsets is None else offsets.address, sources is not None
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


def _lengths(rows: Rows, wanted: Wanted, first: int, end: int, into: Any) -> None:
    """How many entries are wanted of rows first .. end-1, the first of which begins a presence word."""
    xp = device.current().xp
    xp.subtract(rows.indptr[first + 1 : end + 1], rows.indptr[first:end], out=into)
    if wanted.words is not None:
        words = wanted.words[first // 32 : -(-end // 32)] ^ np.uint32(wanted.flip)
        into *= xp.unpackbits(words.view(np.uint8), bitorder="little")[: end - first]


class _Offsets:
    """The offsets of what a turn gathers, made in place as they are the most of what that takes.

    Attributes
    ----------
    first : int
        The first row that there is an offset of: kernels look at all rows of a presence word.
    array : array of int64 on the device
    """

    def __init__(self, rows: Rows, wanted: Wanted, which: tuple[int, int], start: int) -> None:
        xp = device.current().xp
        self.first, end = which[0] // 32 * 32, min(rows.nrows, -(-which[1] // 32) * 32)
        self.array = xp.empty(end - self.first + 1, np.int64)
        lengths = self.array[1:]
        _lengths(rows, wanted, self.first, end, lengths)
        lengths[: which[0] - self.first] = 0
        lengths[which[1] - self.first :] = 0
        self.array[0] = start
        xp.cumsum(self.array, out=self.array)

    @property
    def address(self) -> np.uint64:
        """Where the offset of row 0 would lie."""
        return np.uint64((device.current().pointer(self.array) - 8 * self.first) % 2**64)


def _counts(rows: Rows, pieces: Pieces, wanted: Wanted) -> list[int]:
    """How many entries are wanted of each piece."""
    if wanted.words is None:
        return [end - first for first, end in pairwise(pieces.entries)]
    gpu = device.current()
    xp = gpu.xp
    ends, found = np.asarray(pieces.rows), []
    lengths = xp.empty(pieces.most, np.int64)
    for first in range(0, rows.nrows, pieces.most):
        end = min(first + pieces.most, rows.nrows)
        own = lengths[: end - first]
        _lengths(rows, wanted, first, end, own)
        xp.cumsum(own, out=own)
        mine = ends[(ends > first) & (ends <= end)]  # pieces end where these rows do
        found.append(xp.diff(xp.concatenate([xp.zeros(1, np.int64), own[xp.asarray(mine - first - 1)]])))
    return [int(count) for count in gpu.asnumpy(xp.concatenate(found))]


def _turn(rows: Rows, pieces: Pieces, wanted: Wanted, first: int, end: int, start: int, count: int) -> list[Turn]:
    """The turn that gathers pieces first .. end-1. Rows that nobody wants have one, too: what is absent is written."""
    if first == end:
        return []
    which, chunks = pieces.of(first, end)
    if count == 0:
        return [Turn(which, chunks, start, 0)]
    gpu = device.current()
    xp = gpu.xp
    offsets = _Offsets(rows, wanted, which, 0).array
    at = xp.flatnonzero(offsets[1:] != offsets[:-1])
    tasks = xp.searchsorted(offsets, xp.asarray(hands.tasks(count)))  # rows, and then runs
    tasks, taken = gpu.asnumpy(xp.stack([xp.searchsorted(at, tasks), offsets[tasks]]))
    bounds = np.empty((at.size, 2), np.int64 if rows.wide else np.int32)
    step = max(1, pieces.most // _SLICES)
    for lo in range(0, at.size, step):
        some = at[lo : lo + step]
        begins = rows.indptr[some + which[0] // 32 * 32] - pieces.entries[first]
        ends = begins + offsets[some + 1] - offsets[some]
        bounds[lo : lo + step] = gpu.asnumpy(xp.stack([begins, ends], axis=1).astype(bounds.dtype))
    runs = Runs(pieces.entries[first], bounds, np.append(tasks, at.size), np.append(taken, count))
    return [Turn(which, chunks, start, count, runs)]


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
    gpu = device.current()
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
    return Pieces(size, most, cuts.tolist(), entries.tolist(), at.tolist(), np.searchsorted(cuts, alone).tolist())
