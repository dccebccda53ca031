"""Placement ``gather``: the rows that a product wants are put together by the host's threads, then copied.

What arrives is a matrix whose other rows are empty: its offsets are the sums of the wanted rows' lengths, so the
kernels see nothing new. What exceeds a buffer goes in turns, and the threads fill one buffer while the card reads
another. A row that is longer than a buffer stays where it is and is read over the link. Source: A. H. N. Sabet, Z.
Zhao, R. Gupta, Subway: minimizing data transfer during out-of-GPU-memory graph processing, EuroSys 2020,
doi:10.1145/3342195.3387537.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from os import cpu_count
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sparsezc import device, stats
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, part, staging
from sparsezc.engines.gpu.stores import Rows

_TAKE = 1 << 16  # entries that a thread takes at once: their positions stay in its cache
_RUN = 512  # entries: runs are copied one by one if they are as long as this on average
_THREADS = min(16, cpu_count() or 1)


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The launches that serve a product."""
    return serve(plan(rows, entries, wanted))


class Turn(NamedTuple):
    """Rows first .. end-1, of which the wanted ones are gathered: from `begins`, runs of `sizes` entries."""

    rows: tuple[int, int]
    chunks: tuple[int, int]
    start: int  # the entry of the gathered matrix that is the first of them
    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Plan(NamedTuple):
    """All that asking the device takes, so that serving it waits for nothing but copies.

    `long`: rows that no buffer holds; `indptr`: the gathered matrix's offsets.
    """

    rows: Rows
    entries: Entries
    size: int
    long: list[int]
    indptr: Any
    turns: list[Turn]


def plan(rows: Rows, entries: Entries, wanted: Wanted) -> Plan:
    """What is gathered when."""
    gpu = device.current()
    xp = gpu.xp
    size = staging.size(rows, entries.nbytes)
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    if wanted.words is not None:
        lengths = xp.where(_unpacked(wanted, rows.nrows), lengths, 0)
    long = gpu.asnumpy(xp.flatnonzero(lengths > size - 32)).tolist()
    lengths[xp.asarray(long, np.int64)] = 0
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
    turns = []
    for first, end in _ranges(indptr, size - 32, long):
        at = xp.flatnonzero(lengths[first:end]) + first
        runs = _runs(rows.indptr[at], lengths[at])
        turns.append(Turn((first, end), _chunks(rows, first, end), int(indptr[first]), *runs))
    return Plan(rows, entries, size, long, indptr, turns)


def serve(given: Plan, subset: Any = None) -> Iterator[Part]:
    """The launches; `subset`: presence words of the rows that they take at all, wanted or not."""
    rows, entries = given.rows, given.entries
    for row in given.long:  # only its chunks have anything to do; the last row's presence word ends with it
        chunks = _chunks(rows, row, row + 1)
        yield part(rows, staging.in_place(rows, entries), which=(row + 1, row + 1), chunks=chunks, subset=subset)
    sources = [buffer.read() for buffer in entries.buffers]
    pinned = _kept.setdefault(device.current(), (_Pinned(), _Pinned()))
    buffers = staging.Staging(entries, given.size)
    for number, turn in enumerate(given.turns):
        host = pinned[number % 2]
        filled = host.fill(sources, given.size, turn.begins, turn.sizes)  # while the card reads the one before
        there = buffers.fill(filled, turn.start % 32)
        host.is_free = buffers.copied()
        buffers.arrived()
        pointers = staging.pointers(rows, entries, there, turn.start - turn.start % 32)
        yield part(rows, pointers, which=turn.rows, chunks=turn.chunks, indptr=given.indptr, subset=subset, near=True)


def _unpacked(wanted: Wanted, nrows: int) -> Any:
    """The wanted rows as booleans."""
    xp = device.current().xp
    bits = xp.unpackbits((wanted.words ^ np.uint32(wanted.flip)).view(np.uint8), bitorder="little")
    return bits[:nrows].astype(bool)


def _ranges(indptr: Any, size: int, long: list[int]) -> list[tuple[int, int]]:
    """Rows that follow each other and have at most `size` entries together, none of them in `long`."""
    gpu = device.current()
    nrows, first, made = indptr.size - 1, 0, []
    for stop in [*long, nrows]:
        while first < stop:
            limit = int(indptr[first]) + size
            end = min(stop, int(gpu.xp.searchsorted(indptr, gpu.xp.asarray([limit]), side="right")[0]) - 1)
            made.append((first, end))
            first = end
        first = stop + 1
    return made


def _chunks(rows: Rows, first: int, end: int) -> tuple[int, int]:
    """The chunks of the long rows among first .. end-1."""
    chunks = rows.chunks
    if chunks.count == 0:
        return 0, 0
    xp = device.current().xp
    at = xp.searchsorted(chunks.rows, xp.asarray([first, end], np.uint64))
    begin, stop = chunks.first[at].tolist()
    return int(begin), int(stop)


class _Pinned:
    """Pinned memory that rows are gathered into. It is kept: to make it takes longer than to fill it.

    `is_free()` waits until what it held, for this product or the one before, has been copied.
    """

    def __init__(self) -> None:
        self._pages: dict[int, device.Pages] = {}
        self.is_free: Any = lambda: None

    def fill(
        self, sources: list[Any], size: int, begins: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> list[NDArray[Any]]:
        """The entries of some runs, one run after another, `size` at most."""
        self.is_free()
        targets = [self._array(k, size, source.dtype) for k, source in enumerate(sources)]
        with stats.timed("gather"):
            before = np.concatenate([[0], np.cumsum(sizes)])
            total, shift = int(before[-1]), begins - before[:-1]
            step = max(_TAKE, -(-total // (2 * _THREADS)))
            pairs = list(zip(sources, targets, strict=True))
            tasks = [(lo, min(lo + step, total)) for lo in range(0, total, step)]
            list(_threads().map(lambda task: _take(pairs, shift, before, *task), tasks))
        return [target[:total] for target in targets]

    def _array(self, k: int, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        nbytes = size * dtype.itemsize
        if k not in self._pages or self._pages[k].array.size < nbytes:
            self._pages.pop(k, None)
            self._pages[k] = device.current().pages(nbytes, "pinned")
        array: NDArray[Any] = self._pages[k].array[:nbytes].view(dtype)
        return array


_kept: WeakKeyDictionary[device.Device, tuple[_Pinned, _Pinned]] = WeakKeyDictionary()


def _take(pairs: list[tuple[Any, Any]], shift: Any, before: Any, lo: int, hi: int) -> None:
    """Entries lo .. hi-1 of what is gathered: run by run where these are long, else by their positions."""
    for start in range(lo, hi, _TAKE):
        stop = min(start + _TAKE, hi)
        first, end = np.searchsorted(before, (start, stop - 1), side="right") - [1, 0]
        edges = np.clip(before[first : end + 1], start, stop)
        if stop - start > _RUN * (end - first):
            for run in range(first, end):
                to, until = edges[run - first], edges[run - first + 1]
                for source, target in pairs:
                    target[to:until] = source[to + shift[run] : until + shift[run]]
            continue
        at = np.ones(stop - start, np.int64)  # steps of 1 within a run; np.repeat would hold the other threads up
        at[0] = start + shift[first]
        at[edges[1:-1] - start] += np.diff(shift[first:end])
        np.cumsum(at, out=at)
        for source, target in pairs:
            source.take(at, out=target[start:stop], mode="clip")


def _runs(begins: Any, sizes: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows on the device as runs for the host: those that follow each other without a gap are one."""
    gpu = device.current()
    xp = gpu.xp
    if begins.size == 0:
        return gpu.asnumpy(begins), gpu.asnumpy(sizes)
    ends = begins + sizes
    gaps = xp.flatnonzero(begins[1:] != ends[:-1])
    first = xp.concatenate([begins[:1], begins[gaps + 1]])
    last = xp.concatenate([ends[gaps], ends[-1:]])
    return gpu.asnumpy(first), gpu.asnumpy(last - first)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "gather")
