"""Two buffers in device memory for each array of a matrix: one is filled while the other is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import cycle
from typing import Any, TypeVar

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Entries
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget, placement

MOST = 64 << 20  # bytes of a buffer: larger copies are no faster

_T = TypeVar("_T")


def planned(rows: Rows, entries: Entries, make: Callable[[int], _T], share: float = 1.0) -> _T:
    """Return the result of `make` for buffers of so many entries, halved as long as memory is refused.

    The driver may refuse memory that it reported as free. `share`: see :func:`size`.

    Raises
    ------
    OutOfMemory
        There is no room for the smallest buffers that work.
    """
    count, smallest = size(rows, entries.nbytes, share), 2 * spare(rows)
    while True:
        try:
            return make(count)
        except MemoryError as error:
            if count == smallest:
                raise OutOfMemory(
                    f"no room for two buffers of {smallest * entries.nbytes:,} bytes, the least that works, and what is"
                    f" planned with them: {error}"
                ) from None
        count = max(smallest, count // 64 * 32)


def bytes_for_entries(rows: Rows) -> int:
    """Return the bytes of device memory for entries that an algorithm's vectors leave."""
    return max(0, budget.available() - budget.working_bytes(rows.nrows))


def size(rows: Rows, entry_bytes: int, share: float = 1.0) -> int:
    """Return the entries of one of two buffers within the budget, at least twice :func:`spare`.

    `share`: the share of the memory beside the vectors to use, where that is more.

    Raises
    ------
    OutOfMemory
        The budget is too small; the message gives the bytes that are needed.
    """
    vectors, smallest = budget.working_bytes(rows.nrows), least(rows, entry_bytes)
    needed = vectors + smallest
    may = budget.make_available(needed)
    left = may - vectors
    entries = min(max(int(share * left), min(left, smallest)) // 2, max(MOST, smallest // 2)) // entry_bytes // 32 * 32
    if entries < 2 * spare(rows):
        why = ""
        if rows.uncut:
            why = f"; each holds twice the longest row, {rows.longest_read:,} entries, as rows_per_warp = 1 cuts none"
        raise OutOfMemory(
            f"the device memory that may be used, {may:,} bytes, has no room for two buffers of entries beside the"
            f" vectors of {rows.nrows:,} rows: {needed:,} are the least that works (gb.config.budget){why}"
        )
    return entries


def spare(rows: Rows) -> int:
    """Return the entries that a buffer must hold beyond its range: the most of a row that a warp reads."""
    return placement.spare(rows.longest_read)


def least(rows: Rows, entry_bytes: int) -> int:
    """Return the bytes of the smallest buffers that work."""
    return placement.two_buffers(entry_bytes, rows.longest_read)


class Staging:
    """Two buffers for each array that a product reads.

    ``fill(sources)`` begins to copy; after ``arrived()``, later launches wait for that copy.
    """

    def __init__(self, entries: Entries, size: int) -> None:
        gpu = cuda.current()
        self._pairs = [tuple(gpu.xp.empty(size, b.dtype) for b in entries.buffers) for _ in range(2)]
        self._turn = cycle(self._pairs)
        self._lane = gpu.copies()
        self._lane.wait()  # a kernel that used this memory before may still read it
        self._entries = entries

    def fill(self, sources: list[Any], offset: int = 0) -> tuple[int, int]:
        """Begin to copy host arrays, from entry `offset` on, into the next buffers; return the buffers' addresses."""
        gpu = cuda.current()
        targets = next(self._turn)
        start = time.perf_counter()
        for target, source in zip(targets, sources, strict=True):
            self._lane.copy(target[offset : offset + source.size], source)
        if stats.collecting is not None:
            self._lane.mark()()
            stats.copied(sum(source.nbytes for source in sources), time.perf_counter() - start)
        addresses = [gpu.pointer(target) for target in targets]
        ids = addresses.pop(0) if self._entries.ids is not None else 0
        return ids, addresses.pop() if addresses else 0

    def arrived(self) -> None:
        """Make later launches wait for the copies, and the next copies for earlier launches, which read the buffers."""
        self._lane.join()
        self._lane.wait()

    def copied(self) -> Any:
        """Return a function that waits until the host's arrays have been read."""
        return self._lane.mark()


def pointers(rows: Rows, entries: Entries, addresses: tuple[int, int], first: int) -> tuple[Any, Any]:
    """Return the addresses of entry 0 of the arrays that a product reads, where entry `first` is at `addresses`."""
    ids, values = in_place(rows, entries)
    sizes = (0 if buffer is None else buffer.dtype.itemsize for buffer in entries)
    moved = [np.uint64((address - first * size) % 2**64) for address, size in zip(addresses, sizes, strict=True)]
    return ids if entries.ids is None else moved[0], values if entries.values is None else moved[1]


def in_place(rows: Rows, entries: Entries) -> tuple[Any, Any]:
    """Return the addresses of the arrays that a product reads, in their placement."""
    ids = 0 if entries.ids is None else entries.ids.pointer
    values = entries.values if entries.values is not None else rows.values if rows.iso else None
    return np.uint64(ids), np.uint64(0 if values is None else values.pointer)
