"""Migrating pages: EMOGI's baseline keeps the edge list in managed memory with the advice ReadMostly.

The first touch of a page by a kernel is a fault that copies the page to the card, where it stays. In the paper graphs
are larger than the card and pages are evicted again; here they never are, because more managed memory than is free can
hang a card. So this baseline is the best case of migrating pages.
"""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from benchmarks.emogi.variants import Edges
from benchmarks.harness.copyrate import runtime_of
from sparsezc.device import cupy_device
from sparsezc.device.protocol import Device
from sparsezc.memory import zerocopy
from sparsezc.memory.csr import Csr

PAGE = 4096
_READ_MOSTLY = 1  # cudaMemAdviseSetReadMostly
_PART = 1 << 28
_SPARE = 1 << 30  # bytes of device memory left free for vectors


def why_no_pages_migrate(gpu: Device, nbytes: int) -> str | None:
    """Return the reason why `nbytes` of pages cannot migrate on this device, or None if they can."""
    if runtime_of(gpu) is None or not gpu.managed_is_safe():
        return "this device has no pages that migrate"
    free = gpu.memory()[0] - zerocopy.managed_bytes() - _SPARE
    if nbytes > free:
        return f"{nbytes:,} bytes of managed memory are more than the card has free ({max(free, 0):,})"
    return None


class Migrating:
    """Copies of a matrix's ids, and of lengths, in managed memory; a context that frees the memory.

    Attributes
    ----------
    addresses : (int, int)
        Addresses of the ids and of the lengths.
    """

    def __init__(self, gpu: Device, csr: Csr, *, lengths: bool) -> None:
        self.gpu, self.runtime = gpu, runtime_of(gpu)
        self.buffers = [csr.indices, csr.values] if lengths else [csr.indices]
        self.pointers: list[int] = []
        self.arrays: list[Any] = []

    def __enter__(self) -> Self:
        where = int(self.runtime.getDevice())
        for buffer in self.buffers:
            pointer = int(self.runtime.mallocManaged(buffer.nbytes))
            self.pointers.append(pointer)
            array = cupy_device._view(pointer, buffer.nbytes)
            _copy(array, buffer.read().view(np.uint8))
            self.runtime.memAdvise(pointer, buffer.nbytes, _READ_MOSTLY, where)
            self.arrays.append(array)
        return self

    def __exit__(self, *_: object) -> None:
        self.gpu.synchronize()
        for pointer in self.pointers:
            self.runtime.free(pointer)

    @property
    def addresses(self) -> tuple[int, int]:
        return self.pointers[0], self.pointers[-1]

    def evict(self) -> None:
        """Evict every page from the card: a write by the host does so under the advice ReadMostly."""
        self.gpu.synchronize()
        with ThreadPoolExecutor(16) as pool:
            parts = [array[k : k + _PART] for array in self.arrays for k in range(0, array.size, _PART)]
            list(pool.map(_write_pages, parts))

    def least_bytes(self, edges: Edges, reached: Any, *, lengths: bool) -> int:
        """Return the bytes of the pages that contain rows of reached vertices, the least that have moved.

        The driver does not report the bytes that moved, and the card's free memory does not show them.
        """
        widths = [edges.id_bytes, edges.length_bytes] if lengths else [edges.id_bytes]
        return sum(PAGE * pages_of(edges.indptr, reached, width) for width in widths)


def pages_of(indptr: Any, reached: Any, itemsize: int) -> int:
    """Return the number of pages with entries of reached rows.

    >>> pages_of(np.array([0, 1000, 1030, 5000]), np.array([True, True, False]), 4)
    2
    """
    chosen = reached & (indptr[1:] > indptr[:-1])
    first = indptr[:-1][chosen] * itemsize // PAGE
    last = (indptr[1:][chosen] * itemsize - 1) // PAGE
    if not first.size:
        return 0
    shared = int((first[1:] == last[:-1]).sum())  # rows ascend, so neighbours alone can share a page
    return int((last - first + 1).sum()) - shared


def _write_pages(part: Any) -> None:
    ends = part[:: mmap.PAGESIZE]
    ends[...] = ends.copy()


def _copy(target: Any, source: Any) -> None:
    with ThreadPoolExecutor(16) as pool:
        starts = range(0, target.size, _PART)
        list(pool.map(lambda k: np.copyto(target[k : k + _PART], source[k : k + _PART]), starts))
