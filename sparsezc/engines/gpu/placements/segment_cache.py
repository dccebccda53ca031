"""Placements ``hybrid``, ``mapped`` and ``cached``: some segments of the entries stay on the card, the rest is fetched.

A *region* of the budget holds copies of segments. Each counts how many of its entries products have read; once that
is as many as the segment has, its copy is made, as from then on it has paid for itself whatever comes (the rule of
renting and buying: never more than twice the bytes of the best choice made in hindsight). With the region full, a
segment takes the place of one that was read less than half as often; where all are read alike, as by PageRank,
nothing moves any more.

``hybrid``, and ``mapped`` with a file's pages, read the rest over the link, in the same launch: a warp asks a table
where its segment lies, and while some warps wait for the link others work on the card. Where that takes less time on
this machine, ``hybrid`` has the rest copied or gathered (transfer_cost.py). ``cached`` follows Ascetic, for comparison:
the rows that lie wholly in the region are worked on while the threads of the host gather the others (gather.py), unless
reading these in place is faster, which the first products measure.
Source: R. Tang, Z. Zhao, K. Wang, X. Gong, J. Zhang, W. Wang, P.-C. Yew, Ascetic: enhancing cross-iterations data
efficiency in out-of-memory graph processing on GPUs, ICPP 2021, doi:10.1145/3472456.3472457.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import (
    Entries,
    Part,
    Wanted,
    double_buffer,
    gather,
    part,
    segments,
    stream,
    transfer_cost,
    whole,
)
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import budget

_LARGE = 1 << 26  # entries: what follows is a share of all entries, and of so many where a matrix has fewer
_LOOK = 1 / 16  # read as many, and it is time to see which segments have earned a copy
_LOOK_WHEN_FULL = 4  # likewise, where something would have to go
_SMALL = 1 / 256  # a product that reads less is not counted, for counting would take longer
_TRIFLE = 1 / 4096  # likewise: it waits for the table longer than for the link
_GUESS = 1 / 16  # of all entries: what a product is taken to read of which nobody knows
_HYSTERESIS = 2  # a segment takes another's place if it was read so many times as often
#: Of the entries that are not kept, the share that ``cached`` expects a product to want. Ascetic has 0.1; as fetched
#: rows come in turns here, less than half of the memory does for them, and more can stay.
ACTIVE = 0.04
_FETCHING = 8 << 20  # bytes: with less, what little is fetched would take more turns than it is worth
WAYS = (transfer_cost.IN_PLACE, transfer_cost.GATHERED)  # in which ``cached`` may fetch the rest; Ascetic gathers


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterable[Part]:
    """The launches that serve a product."""
    if rows.indices.placement == "cached":
        return _as_ascetic(rows, entries, wanted)
    wanted = transfer_cost.counted(rows, entries, wanted)
    expected, size = _expected(rows, wanted), max(rows.nvals, _LARGE)
    cache, region = rows.layouts[SegmentCache], None
    if expected >= _SMALL * size:
        region = cache.noted(rows, entries, wanted)  # where another is made, nobody may hold the one before
    elif expected >= _TRIFLE * size and cache.built is not None and cache.built.serves(entries):
        region = cache.built
    if region is not None and not region.filled:
        region = None  # no table to look into
    way = transfer_cost.cheapest(
        rows, entries, wanted, expected, 0.0 if region is None else region.filled / region.count
    )
    try:
        if way == transfer_cost.COPIED:
            return stream.parts(rows, entries, wanted)
        if way == transfer_cost.GATHERED:
            return _gathered(region, rows, entries, wanted)
    except MemoryError:  # the card has no room for buffers: all is read in place
        pass
    if region is None:  # as zerocopy
        return (whole(rows, None if entries.ids is rows.indices else entries.ids),)
    return _all(region, rows, entries)


class Counted(NamedTuple):
    """How many entries of each segment products have read, and how many products since these numbers were halved."""

    reads: Any
    products: int


class Region:
    """Copies of segments on the card.

    Attributes
    ----------
    slots : int
        Segments that it has room for.
    filled : int
        Slots in use.
    nbytes : int
        Device memory that it takes.
    """

    def __init__(self, rows: Rows, entries: Entries, nbytes: int, counted: Counted | None) -> None:
        xp = cuda.current().xp
        self.entries = entries
        self.count = segments.count(rows.nvals)
        self.slots = min(self.count, nbytes // (entries.nbytes << segments.BITS))
        self.filled = 0
        self.nbytes = (self.slots * entries.nbytes) << segments.BITS
        self._kept = {id(b): xp.empty(self.slots << segments.BITS, b.dtype) for b in entries.buffers}
        self._tables = {id(b): xp.full(self.count, b.pointer, np.uint64) for b in entries.buffers}
        self._slot_of = xp.full(self.count, -1, np.int64)
        self._reads, self._counted = counted or (xp.zeros(self.count, np.uint32), 0)
        self._passes = 0  # products that read all, and are not in _reads yet
        self._unseen = float(rows.nvals if counted else 0)  # entries read since the last look
        self._bits: Any = None
        self.parts: dict[Any, Part] = {}  # what one launch takes that reads all rows, by the arrays that it reads
        self.unserved = 0.0  # entries that products have read of other arrays since it was last of use
        self.costs: dict[str, list[float]] = {way: [] for way in WAYS}  # the last two, seconds an entry

    def counted(self, rows: Rows) -> Counted:
        """What it has counted, for a region in its place."""
        self._add_passes(rows)
        return Counted(self._reads, self._counted)

    def serves(self, entries: Entries) -> bool:
        """Whether it holds the arrays that a product reads."""
        return all(id(buffer) in self._tables for buffer in entries.buffers)

    def note(self, rows: Rows, wanted: Wanted) -> None:
        """Count what a product is about to read, and from time to time bring in what has earned it."""
        expected, size = _expected(rows, wanted), max(rows.nvals, _LARGE)
        if self.filled == self.count or expected < _SMALL * size:
            return
        if wanted.words is None and wanted.most >= rows.nvals:
            self._passes += 1
        else:
            segments.touch(rows, wanted, self._reads)
        self._unseen += expected
        self._counted += 1
        if self._counted >> (30 - segments.BITS):  # each may have added a whole segment: far from the end of 32 bits
            self._add_passes(rows)
            self._reads >>= np.uint32(1)
            self._counted >>= 1
        has_room = self.filled < self.slots
        if self._unseen >= (_LOOK if has_room else _LOOK_WHEN_FULL) * size or (has_room and self._unseen >= rows.nvals):
            self._unseen = 0.0
            self._add_passes(rows)
            self._look()

    def _add_passes(self, rows: Rows) -> None:
        """Count the products that read all."""
        if self._passes:
            last = rows.nvals - ((self.count - 1) << segments.BITS)
            self._reads[:-1] += np.uint32(self._passes << segments.BITS)
            self._reads[-1:] += np.uint32(self._passes * last)
            self._passes = 0

    def _look(self) -> None:
        xp = cuda.current().xp
        there = self._slot_of >= 0
        earned = xp.flatnonzero(~there & (self._reads >= np.uint32(1 << segments.BITS)))
        if not earned.size:
            return
        reads = self._reads.astype(np.int64)
        earned = earned[xp.argsort(_rank(reads[earned], earned))]  # the most read first
        free = min(self.slots - self.filled, earned.size)
        coming, slots = earned[:free], self.filled + xp.arange(free, dtype=np.int64)
        self.filled += free
        if earned.size > free:
            residents = xp.flatnonzero(there)
            least = residents[xp.argsort(reads[residents])][: earned.size - free]
            rivals = earned[free : free + least.size]
            better = reads[rivals] > _HYSTERESIS * reads[least] + (1 << segments.BITS)
            going, rivals = least[better], rivals[better]
            coming, slots = xp.concatenate([coming, rivals]), xp.concatenate([slots, self._slot_of[going]])
            self._point(going, None)
            self._slot_of[going] = -1
        if coming.size:
            self._bring(coming, slots)

    def _bring(self, which: Any, slots: Any) -> None:
        xp = cuda.current().xp
        order = xp.argsort(which)  # as it lies on the host
        which, slots = which[order], slots[order]
        start = _clock(cuda.current()) if stats.is_counting() else 0.0
        for buffer in self.entries.buffers:
            segments.copy(which.astype(np.uint64), slots.astype(np.uint64), buffer, self._kept[id(buffer)])
        if stats.is_counting():
            taken = _clock(cuda.current()) - start
            stats.copied((int(which.size) * self.entries.nbytes) << segments.BITS, taken)
        self._slot_of[which] = slots
        self._point(which, slots)

    def _point(self, which: Any, slots: Any) -> None:
        """Enter in the tables where these segments lie: in slots, or on the host."""
        gpu = cuda.current()
        self._bits = None
        for buffer in self.entries.buffers:
            if slots is None:
                self._tables[id(buffer)][which] = np.uint64(buffer.pointer)
                continue
            start = np.int64(gpu.pointer(self._kept[id(buffer)]))
            size = np.int64(buffer.dtype.itemsize << segments.BITS)
            self._tables[id(buffer)][which] = (start + (slots - which) * size).astype(np.uint64) | np.uint64(1)

    def tables(self, entries: Entries) -> tuple[Any, Any]:
        """Where each segment lies, of ids and values."""
        ids, values = (0 if buffer is None else self._tables[id(buffer)] for buffer in entries)
        return ids, values

    def bits(self, rows: Rows) -> Any:
        """Presence words of the rows that need nothing from the host."""
        if self._bits is None:
            self._bits = segments.resident(rows, next(iter(self._tables.values())))
        return self._bits


class SegmentCache:
    """Layout: the region of some rows; `built` is None while there is none."""

    def __init__(self) -> None:
        self.built: Region | None = None

    def noted(self, rows: Rows, entries: Entries, wanted: Wanted) -> Region | None:
        """Return the region once it has counted what a product is about to read."""
        region = self._get_or_build(rows, entries, wanted)
        if region is None:
            return None
        try:
            region.note(rows, wanted)
        except MemoryError:  # what it keeps is worth less than what there is no room for
            self.drop()
            return None
        return region

    def _get_or_build(self, rows: Rows, entries: Entries, wanted: Wanted) -> Region | None:
        """Return the region, made at first use.

        A product that reads other arrays than those that it holds does without, until such products have read as much
        as has to be brought once more for it to be made anew for them. What was counted stays: the same rows are read.
        """
        counted = None
        if self.built is not None:
            if self.built.serves(entries) and not budget.exceeded():
                self.built.unserved = 0.0
                return self.built
            self.built.unserved += _expected(rows, wanted)
            if self.built.unserved < self.built.filled << segments.BITS and not budget.exceeded():
                return None
            counted = self.built.counted(rows)
        self.drop()  # its memory is free for the next
        room = _room(rows, entries)
        while room >= entries.nbytes << segments.BITS:
            try:
                self.built = Region(rows, entries, room, counted)
            except MemoryError:  # the card has less than it said, or has it in small pieces
                room //= 2
                continue
            budget.hold(self)
            return self.built
        return None

    @property
    def nbytes(self) -> int:
        return 0 if self.built is None else self.built.nbytes

    def drop(self) -> None:
        self.built = None


def _expected(rows: Rows, wanted: Wanted) -> float:
    """Entries that a product will read, as far as that is known without asking the device."""
    if wanted.entries is not None:
        return wanted.entries
    return rows.nvals if wanted.words is None else _GUESS * rows.nvals


def _mixed(region: Region, rows: Rows, entries: Entries, subset: Any = None) -> Part:
    """Rows whose segments are read where they lie."""
    made = None if subset is not None else region.parts.get(entries.key)
    if made is None:
        tables, pointers = region.tables(entries), double_buffer.in_place(rows, entries)
        made = part(rows, pointers, segments=tables, bits=segments.BITS, subset=subset)
        if subset is None:
            region.parts[entries.key] = made
    return made


def _all(region: Region, rows: Rows, entries: Entries) -> Iterator[Part]:
    """All rows in one launch. The region stays until that is done: a part knows its addresses alone, and caches may go
    in the middle of a product.
    """
    yield _mixed(region, rows, entries)


def _rank(reads: Any, which: Any) -> Any:
    """Numbers that put the most read first, and those read alike in an order that spreads over the array: where some of
    its neighbours are on the card, a launch reads from there while it waits for the link. Where the rest is gathered
    they come as they lie, for then only rows help that are on the card as wholes.
    """
    if transfer_cost.IN_PLACE not in WAYS:
        return which.astype(np.int64) - (reads << 32)
    scattered = (which.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    return scattered.astype(np.int64) - (reads << 24)


def share(active: float, data: float, memory: float) -> float:
    """Ascetic's share of the memory for what stays: with it, the rest of the memory just holds the active part of
    what does not stay. (Section 4.2 of the paper: R = (1 - K D / M) / (1 - K).)

    >>> share(0.1, 40e9, 10e9)
    0.6666666666666666
    >>> share(0.1, 200e9, 10e9), share(0.1, 5e9, 10e9)
    (0.0, 1.0)
    """
    return min(1.0, max(0.0, (1 - active * data / memory) / (1 - active)))


def _room(rows: Rows, entries: Entries) -> int:
    """Bytes for a region: what the budget leaves beside the vectors and the rows that are fetched.

    The paper corrects the share when the fetched rows overflow their memory while others idle. Here they come in turns,
    through buffers that need no more than they have.
    """
    room = double_buffer.room(rows)
    if rows.indices.placement == "cached" and room:
        stays = int(room * share(ACTIVE, rows.nvals * entries.nbytes, room))
        least = max(2 * double_buffer.least(rows, entries.nbytes), min(_FETCHING, room // 8))
        return max(0, min(room - least, stays))
    return room - transfer_cost.buffers(rows, entries, room)


def _gathered(region: Region | None, rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The rows in the region, and meanwhile the others are gathered. Fails before anything is launched, if at all."""
    if region is None:
        return gather.parts(rows, entries, wanted)
    others = ~region.bits(rows)
    words = others if wanted.words is None else (wanted.words ^ np.uint32(wanted.flip)) & others
    rest = gather.plan(rows, entries, Wanted(words))  # before the card has work, for this waits for it
    return _apart(region, rest, others)


def _apart(region: Region, rest: gather.Plan, others: Any) -> Iterator[Part]:
    yield _mixed(region, rest.rows, rest.entries, region.bits(rest.rows))
    yield from gather.serve(rest, others)


def _as_ascetic(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The rows in the region first, and meanwhile the others are gathered; or all in one launch, if that is faster."""
    gpu, region = cuda.current(), rows.layouts[SegmentCache].noted(rows, entries, wanted)
    if region is None:
        yield whole(rows, None if entries.ids is rows.indices else entries.ids)
        return
    count = rows.nvals if wanted.words is None else wanted.entries or 0
    is_large = count >= _LOOK * rows.nvals
    untried = [way for way, costs in region.costs.items() if len(costs) < 2]  # the first time, kernels are compiled
    known = {way: costs[-1] for way, costs in region.costs.items() if costs} or dict.fromkeys(WAYS[:1], 0.0)
    way = untried[0] if untried and is_large else min(known, key=known.__getitem__)
    start = _clock(gpu) if is_large else 0.0  # always, for products differ: a way that was lucky once is found out
    served = _all(region, rows, entries)
    if way == transfer_cost.GATHERED:
        try:
            served = _gathered(region, rows, entries, wanted)
        except MemoryError:  # the card has no room for buffers: this says nothing of what gathering takes
            is_large = False
    yield from served
    if is_large:
        region.costs[way] = [*region.costs[way][-1:], (_clock(gpu) - start) / count]


def _clock(gpu: cuda.Device) -> float:
    gpu.synchronize()
    return time.perf_counter()
