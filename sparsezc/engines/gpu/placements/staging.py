"""Buffers on the card that parts of a matrix pass through: two of each, so that one fills while the other is read."""

from __future__ import annotations

import time
from itertools import cycle
from typing import Any

import numpy as np

from sparsezc import device, stats
from sparsezc.config import config
from sparsezc.engines.gpu.placements import Entries
from sparsezc.engines.gpu.stores import Rows
from sparsezc.errors import OutOfMemory
from sparsezc.memory import budget

_MOST = 64 << 20  # bytes of a buffer: beyond this a copy is as fast as it gets


def room(rows: Rows) -> int:
    """Bytes of device memory that are left for entries beside an algorithm's vectors and the row heads."""
    heads = 0 if rows.heads is None or config.budget is None else rows.heads.nbytes  # else free memory is less already
    return max(0, budget.available() - budget.working_bytes(rows.nrows) - heads)


def size(rows: Rows, entry_bytes: int, spare: int, taken: int = 0) -> int:
    """Entries of one of two buffers within the budget, at least twice what is `spare`; `taken`: bytes used otherwise.

    Raises
    ------
    OutOfMemory
        With the least that is needed.
    """
    free = room(rows) - taken
    entries = min(free // 2, _MOST) // entry_bytes // 32 * 32
    if entries < 2 * spare:
        may = budget.available()
        needed = may - free + least(entry_bytes, spare)
        raise OutOfMemory(
            f"the device memory that may be used, {may:,} bytes, has no room for two buffers of entries beside the"
            f" vectors of {rows.nrows:,} rows: {needed:,} are the least that works (gb.config.budget)"
        )
    return entries


def least(entry_bytes: int, spare: int) -> int:
    """Bytes of the smallest buffers that work."""
    return 4 * spare * entry_bytes


class Staging:
    """Two buffers for each array that a product reads.

    ``fill(sources)`` begins to copy; ``arrived()`` makes what is launched from then on wait for that.
    """

    def __init__(self, entries: Entries, size: int) -> None:
        gpu = device.current()
        self._pairs = [tuple(gpu.xp.empty(size, b.dtype) for b in entries.buffers) for _ in range(2)]
        self._turn = cycle(self._pairs)
        self._lane = gpu.copies()
        self._entries = entries

    def fill(self, sources: list[Any], offset: int = 0) -> tuple[int, int]:
        """Begin to copy host arrays into the next buffers, from entry `offset` on, once what was launched so far is
        done; gives the buffers' addresses.
        """
        gpu = device.current()
        targets = next(self._turn)
        self._lane.wait()
        start = time.perf_counter()
        for target, source in zip(targets, sources, strict=True):
            self._lane.copy(target[offset : offset + source.size], source)
        if stats.is_counting():
            self._lane.mark()()
            stats.copied(sum(source.nbytes for source in sources), time.perf_counter() - start)
        addresses = [gpu.pointer(target) for target in targets]
        ids = addresses.pop(0) if self._entries.ids is not None else 0
        return ids, addresses.pop() if addresses else 0

    def arrived(self) -> None:
        """What is launched from now on waits for the copies."""
        self._lane.join()

    def copied(self) -> Any:
        """A function that waits until the host's arrays have been read."""
        return self._lane.mark()


def pointers(addresses: tuple[int, int], entries: Entries, first: int, otherwise: tuple[Any, Any]) -> tuple[Any, Any]:
    """Addresses of entry 0, where entry `first` lies at `addresses`; `otherwise` for what is not moved."""
    made = []
    for address, buffer, other in zip(addresses, entries, otherwise, strict=True):
        made.append(other if buffer is None else np.uint64((address - first * buffer.dtype.itemsize) % 2**64))
    return made[0], made[1]


def pointers_of(entries: Entries, otherwise: tuple[Any, Any]) -> tuple[Any, Any]:
    """Addresses of the arrays where they lie; `otherwise` for what is not read."""
    ids, values = (
        other if buffer is None else np.uint64(buffer.pointer) for buffer, other in zip(entries, otherwise, strict=True)
    )
    return ids, values
