"""Resident segments: the segments of a matrix's entries that stay in device memory, chosen by the reads of products.

A *region* of device memory holds copies of segments. The entries that products read are counted by segment; once the
count is the segment's size, the segment is copied: a copy would by then have repaid its cost (the rent-or-buy rule:
never more than twice the bytes of the best choice in hindsight). In a full region, a segment replaces one that was read
less than half as often; if all are read alike, as by PageRank, nothing is replaced.

resident_parts.py makes the launch parts that read them; the placement chooses the region's size (hybrid.py,
baselines/cached.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, segments
from sparsezc.engines.gpu.storage.layout import Built
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import budget

LOOK = 1 / 16  # reads, as a share of all entries, between two searches for segments to copy
_LOOK_WHEN_FULL = 4  # the same in a full region, in which a copied segment evicts another
_LARGE = 1 << 26  # entries: the following shares, and LOOK, are of the matrix's entries or, if more, of these
_SMALL = 1 / 256  # a product that reads a smaller share is not counted, as counting would take longer
_TRIFLE = 1 / 4096  # a smaller product reads in place, as it would wait longer for the table than for the link
_GUESS = 1 / 16  # share of all entries that a product is assumed to read if the number is unknown
_HYSTERESIS = 2  # a segment evicts another if it was read more than so many times as often


class Rule(NamedTuple):
    """The rule by which a placement sizes and fills its region.

    Attributes
    ----------
    space : callable
        Returns the bytes for a region, given the rows and the arrays that a product reads.
    rank : callable
        Returns sort keys of segments, given their numbers of reads and their indices: the lowest are copied first.
    """

    space: Callable[[Rows, Entries], int]
    rank: Callable[[Any, Any], Any]


class Counted(NamedTuple):
    """The reads of each segment, and the number of products that they are from; both are halved together."""

    reads: Any
    products: int


class Region:
    """A region: copies of segments in device memory.

    Attributes
    ----------
    slots : int
        The number of segments that fit.
    filled : int
        The number of slots in use.
    nbytes : int
        The bytes of device memory for copies.
    """

    def __init__(self, rows: Rows, entries: Entries, nbytes: int, counted: Counted | None, rule: Rule) -> None:
        xp = cuda.current().xp
        self._rank = rule.rank
        self.entries = entries
        self.count = segments.count(rows.nvals)
        self.slots = min(self.count, nbytes // (entries.nbytes << segments.BITS))
        self.filled = 0
        self.nbytes = (self.slots * entries.nbytes) << segments.BITS
        self._kept = {id(b): xp.empty(self.slots << segments.BITS, b.dtype) for b in entries.buffers}
        self._tables = {id(b): xp.full(self.count, b.pointer, np.uint64) for b in entries.buffers}
        self._slot_of = xp.full(self.count, -1, np.int64)
        self._reads, self._counted = counted or (xp.zeros(self.count, np.uint32), 0)
        self._passes = 0  # products that read all entries, not yet added to _reads
        self._unseen = float(rows.nvals if counted else 0)  # reads since the last search for segments to copy
        self._bits: Any = None
        self.parts: dict[Any, Part] = {}  # the launch parts of all rows, by Entries.key
        self.unserved = 0.0  # entries that products have read of arrays not in the region, since it was last used
        # The last two measured times of each transfer, seconds an entry (baselines/cached.py).
        self.costs: dict[str, list[float]] = {}

    def counted(self, rows: Rows) -> Counted:
        """Return the counts, for the region that replaces this one."""
        self._add_passes(rows)
        return Counted(self._reads, self._counted)

    def serves(self, entries: Entries) -> bool:
        """Return whether the region has segments of all arrays that a product reads."""
        return all(id(buffer) in self._tables for buffer in entries.buffers)

    def note(self, rows: Rows, wanted: Wanted) -> None:
        """Count the reads of the next product; after enough reads, copy the segments whose counts justify it."""
        expected, size = expected_reads(rows, wanted), max(rows.nvals, _LARGE)
        if self.filled == self.count or expected < _SMALL * size:
            return
        if wanted.words is None and wanted.most >= rows.nvals:
            self._passes += 1
        else:
            segments.touch(rows, wanted, self._reads)
        self._unseen += expected
        self._counted += 1
        # A product adds at most a segment's size to a count, so counts are halved before they exceed 30 bits.
        if self._counted >> (30 - segments.BITS):
            self._add_passes(rows)
            self._reads >>= np.uint32(1)
            self._counted >>= 1
        has_space = self.filled < self.slots
        if self._unseen >= (LOOK if has_space else _LOOK_WHEN_FULL) * size or (
            has_space and self._unseen >= rows.nvals
        ):
            self._unseen = 0.0
            self._add_passes(rows)
            self._look()

    def _add_passes(self, rows: Rows) -> None:
        """Add the products that read all entries to the counts."""
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
        earned = earned[xp.argsort(self._rank(reads[earned], earned))]  # those that the rule ranks first
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
        order = xp.argsort(which)  # in the order of host memory
        which, slots = which[order], slots[order]
        start = clock(cuda.current()) if stats.collecting is not None else 0.0
        for buffer in self.entries.buffers:
            segments.copy(which.astype(np.uint64), slots.astype(np.uint64), buffer, self._kept[id(buffer)])
        if stats.collecting is not None:
            taken = clock(cuda.current()) - start
            stats.copied((int(which.size) * self.entries.nbytes) << segments.BITS, taken)
        self._slot_of[which] = slots
        self._point(which, slots)

    def _point(self, which: Any, slots: Any) -> None:
        """Set the addresses of these segments in the tables: of their slots or, if `slots` is None, of host memory."""
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
        """Return the tables of addresses by segment, of ids and of values; 0 for an array that is not read."""
        ids, values = (0 if buffer is None else self._tables[id(buffer)] for buffer in entries)
        return ids, values

    def bits(self, rows: Rows) -> Any:
        """Return presence words of the rows whose segments are all resident."""
        if self._bits is None:
            self._bits = segments.resident(rows, next(iter(self._tables.values())))
        return self._bits


class SegmentCache(Built[Region]):
    """Layout: the region of resident segments of some rows; `built` is None until it exists."""

    def get_or_build(self, rows: Rows, entries: Entries, wanted: Wanted, rule: Rule) -> Region | None:
        """Return the region, built at first use; None if the product must read in place.

        A product that reads other arrays than the region's reads in place, until such products have read as many
        entries as a new region would copy; then the region is rebuilt for their arrays. Counts are kept, as the rows
        are the same.
        """
        region, counted = self.built, None
        if region is not None:
            if region.serves(entries) and not budget.exceeded():
                region.unserved = 0.0
                return region
            region.unserved += expected_reads(rows, wanted)
            if region.unserved < region.filled << segments.BITS and not budget.exceeded():
                return None
            counted = region.counted(rows)
        self.drop()  # frees its memory for the new region
        del region
        space = rule.space(rows, entries)
        while space >= entries.nbytes << segments.BITS:
            try:
                self.built = Region(rows, entries, space, counted, rule)
            except MemoryError:  # less memory is free than the driver reported, or it is fragmented
                space //= 2
                continue
            budget.register_cache(self)
            return self.built
        return None


def expected_reads(rows: Rows, wanted: Wanted) -> float:
    """Return the number of entries that a product is expected to read, without a wait for the device."""
    if wanted.entries is not None:
        return wanted.entries
    return rows.nvals if wanted.words is None else _GUESS * rows.nvals


def for_product(rows: Rows, entries: Entries, wanted: Wanted, rule: Rule) -> Region | None:
    """Count a product's reads, and return the region that serves it; None if reading in place is no slower."""
    expected, size = expected_reads(rows, wanted), max(rows.nvals, _LARGE)
    if expected >= _SMALL * size:
        # No reference to the old region here: its memory must be free while a new one is built.
        region = noted(rows, entries, wanted, rule)
    elif expected < _TRIFLE * size:
        return None
    else:
        region = rows.layouts[SegmentCache].built
    return region if region is not None and region.filled and region.serves(entries) else None


def noted(rows: Rows, entries: Entries, wanted: Wanted, rule: Rule) -> Region | None:
    """Count the reads of the next product, and return the region of its rows; None if there is none."""
    region = rows.layouts[SegmentCache].get_or_build(rows, entries, wanted, rule)
    if region is None:
        return None
    try:
        region.note(rows, wanted)
    except MemoryError:  # memory is too short for the counts: the region is given up
        rows.layouts[SegmentCache].drop()
        return None
    return region


def scattered(reads: Any, which: Any) -> Any:
    """Return sort keys: the most read segments first, equally read ones in an order that is spread over the array.

    If resident segments alternate with others, a launch reads device memory while it waits for the link.
    """
    spread = (which.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    return spread.astype(np.int64) - (reads << 24)


def in_order(reads: Any, which: Any) -> Any:
    """Return sort keys: the most read segments first, equally read ones by position, so that most rows are whole."""
    return which.astype(np.int64) - (reads << 32)


def clock(gpu: Device) -> float:
    """Wait for all launches, and return the time in seconds."""
    gpu.synchronize()
    return time.perf_counter()
