"""Placement ``zerocopy``: host memory that kernels read over the link, a request at a time, without a copy.

The kind of page changes the rate of random rows up to tenfold; :mod:`~sparsezc.memory.pages` chooses it. Managed pages
that the host touches first and that are mapped for the device (SetAccessedBy) keep their rate at any size, but all of
them together stay below the device's free memory: more than that can hang it. Other arrays get pinned pages (mmap,
touched by many threads, registered). Pointers are aligned to at least 128 bytes, so entry 32 * k of any array starts a
line.

Bulk copies need pinned pages (from managed ones they run at a sixth of the link's rate), so placements that copy in
bulk get these; placements that are read in place (placement.py) get the pages that ``zerocopy`` gets.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.memory import budget, pages
from sparsezc.memory.buffer import Buffer
from sparsezc.terminal.progress import working

_PART = 1 << 22  # entries that one thread copies at a time
_managed: weakref.WeakSet[Buffer] = weakref.WeakSet()  # live buffers of managed memory
_counting = threading.Lock()  # one thread may make a buffer while another counts all of them


class ZerocopyBuffer(Buffer):
    """A buffer in host memory with an address that kernels can read."""

    def __init__(self, held: cuda.Pages, count: int, dtype: np.dtype[Any], placement: str) -> None:
        super().__init__(count, dtype)
        self.placement = placement
        self.pages = held.kind
        self._pages = held
        self.array = held.array[: self.nbytes].view(dtype)

    @property
    def pointer(self) -> int:
        return self._pages.pointer

    def write(self, start: int, array: ArrayLike) -> None:
        if hasattr(array, "__cuda_array_interface__"):  # from device memory directly into the pages
            given: Any = array
            target = self.array[start : start + given.size]
            cuda.current().copy_out(given.astype(self.dtype, copy=False), target, self.pages)
            return
        part = np.asarray(array)
        target = self.array[start : start + part.size]
        if part.size <= _PART:
            target[...] = part
            return
        with ThreadPoolExecutor(min(16, cpu_count() or 1)) as pool:  # one core copies more slowly than the link
            list(pool.map(lambda i: np.copyto(target[i : i + _PART], part[i : i + _PART], "unsafe"),
                          range(0, part.size, _PART)))  # fmt: skip

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        return self.array[start:stop]

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        gpu, part = cuda.current(), self.array[start:stop]
        made = gpu.xp.empty(part.size, self.dtype)
        gpu.copy_in(made, part, self.pages)
        return made


def allocate(count: int, dtype: np.dtype[Any], placement: str) -> ZerocopyBuffer:
    """Return pages for `count` entries."""
    return allocate_all([(count, dtype)], placement)[0]


def allocate_all(arrays: Sequence[tuple[int, np.dtype[Any]]], placement: str) -> list[ZerocopyBuffer]:
    """Return pages of one kind for arrays of these counts and types, chosen by their total bytes."""
    nbytes = sum(count * dtype.itemsize for count, dtype in arrays)
    budget.require_host(nbytes, f"placement {placement!r}")  # before it is mapped and touched
    gpu, made = cuda.current(), []
    kind = pages.choose(placement, nbytes, gpu.memory()[0] - managed_bytes()).kind
    with working("touching host pages"):
        for count, dtype in arrays:
            made.append(ZerocopyBuffer(gpu.pages(count * dtype.itemsize, kind), count, dtype, placement))
    if kind == "managed":
        for buffer in made:
            count_managed(buffer)
    return made


def managed_room() -> int:
    """Return the bytes of managed memory that may still be made: in all it stays below the device's free memory."""
    return cuda.current().memory()[0] - managed_bytes()


def managed_bytes() -> int:
    """Return the bytes of managed memory that exist in this process."""
    with _counting:
        return sum(map(attrgetter("nbytes"), _managed))


def count_managed(buffer: Buffer) -> None:
    """Count a buffer of managed memory for as long as it lives."""
    with _counting:
        _managed.add(buffer)
