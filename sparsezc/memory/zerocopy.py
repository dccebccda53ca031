"""Placement ``zerocopy``: host memory that kernels read over the link without a copy, and the choice of its pages.

The kind of pages changes the rate of random rows up to tenfold. Managed pages, which the host touches first and which
are mapped for the device (SetAccessedBy), keep their rate at any size, but their total must stay below the device's
free memory: more can hang the device. Other arrays get pinned pages (mmap, touched by many threads, registered).
Pointers are aligned to at least 128 bytes, so entry 32 * k of any array begins a line.

Only :func:`choose` chooses the kind, first by rules. Bulk copies need pinned pages (from managed ones they run at a
sixth of the link's rate), so placements that copy in bulk get these; placements that are read in place (placement.py)
get the same pages as ``zerocopy``. If both kinds are allowed, the faster one is chosen: both are measured once a
process, when the first large array is allocated, which takes some hundredths of a second. Kinds that are equally fast
in that sample differ in arrays larger than the device's address translation caches cover (pinned pages of several GiB
were read at a tenth of the rate at random), so managed pages win a tie.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.device.processors import processors
from sparsezc.device.protocol import Device, Pages
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import BY_ADDRESS, RECORDS
from sparsezc.terminal.progress import working

_PART = 1 << 22  # entries that one thread copies at a time
_MATTERS = 1 << 28  # bytes: for smaller arrays a measurement costs more than it saves
_TOLD = 1 << 28  # bytes: touching fewer takes too little time to be reported
_SAMPLE = 1 << 26  # bytes that a measurement reads: more than fit in the device's cache
_TIE = 1.1  # least speedup for which pinned pages are chosen
_LINE = 128  # bytes of a line
_FAR = 0x9E3779B97F4A7C15  # an odd factor that maps neighbouring lines far apart
_BLOCKS_PER_MULTIPROCESSOR = 8
_managed: weakref.WeakSet[Buffer] = weakref.WeakSet()  # live buffers of managed memory
_counting = threading.Lock()  # one thread may add a buffer while another sums over all


class ZerocopyBuffer(Buffer):
    """A buffer in host memory with an address that kernels can read."""

    def __init__(self, held: Pages, count: int, dtype: np.dtype[Any], placement: str) -> None:
        super().__init__(count, dtype)
        self.placement = placement
        self.pages = held.kind
        self._held = held
        self.array = held.array[: self.nbytes].view(dtype)

    @property
    def pointer(self) -> int:
        return self._held.pointer

    def write(self, start: int, array: ArrayLike) -> None:
        if hasattr(array, "__cuda_array_interface__"):  # copied from device memory directly into the pages
            self._copy_out(start, array, wait=True)
            return
        part = np.asarray(array)
        target = self.array[start : start + part.size]
        if self._held.ready is not None:
            self._held.ready((start + part.size) * self.dtype.itemsize)
        if part.size <= _PART:
            target[...] = part
            return
        with ThreadPoolExecutor(processors(16)) as pool:  # one core copies more slowly than the link
            list(pool.map(lambda i: np.copyto(target[i : i + _PART], part[i : i + _PART], "unsafe"),
                          range(0, part.size, _PART)))  # fmt: skip

    def begin_write(self, start: int, array: Any) -> None:
        self._copy_out(start, array, wait=False)

    def _copy_out(self, start: int, array: Any, wait: bool) -> None:
        stop = start + array.size
        if self._held.ready is not None:
            self._held.ready(stop * self.dtype.itemsize)
        cuda.current().copy_out(array.astype(self.dtype, copy=False), self.array[start:stop], self.pages, wait)

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


def allocate_all(
    arrays: Sequence[tuple[int, np.dtype[Any]]], placement: str, wait: bool = True
) -> list[ZerocopyBuffer]:
    """Return pages of one kind for arrays of these counts and types, chosen by their total bytes.

    Without `wait` some pages may be touched later, so a page must not be read before it was written.
    """
    nbytes = sum(count * dtype.itemsize for count, dtype in arrays)
    budget.require_host(nbytes, f"placement {placement!r}")  # before any page is mapped and touched
    gpu, made = cuda.current(), []
    kind = choose(placement, nbytes, gpu.memory()[0] - managed_bytes()).kind
    with working("touching host pages") if nbytes >= _TOLD else nullcontext():
        for count, dtype in arrays:
            made.append(ZerocopyBuffer(gpu.pages(count * dtype.itemsize, kind, wait), count, dtype, placement))
    if kind == "managed":
        for buffer in made:
            count_managed(buffer)
    return made


def managed_available() -> int:
    """Return the bytes of managed memory that may still be allocated: the total stays below the free device memory."""
    return cuda.current().memory()[0] - managed_bytes()


def managed_bytes() -> int:
    """Return the bytes of managed memory that exist in this process."""
    with _counting:
        return sum(map(attrgetter("nbytes"), _managed))


def count_managed(buffer: Buffer) -> None:
    """Count a buffer of managed memory for as long as the object exists."""
    with _counting:
        _managed.add(buffer)


# The choice of the kind of pages


class Rate(NamedTuple):
    """The rates, in bytes a second, at which a kernel reads pages in ascending order, and lines in random order."""

    streamed: float
    scattered: float

    @property
    def cost(self) -> float:
        """Return the seconds for one byte read in each order, in total."""
        return 1 / self.streamed + 1 / self.scattered

    def __str__(self) -> str:
        return f"{self.streamed / 1e9:.3g} GB/s in order, {self.scattered / 1e9:.3g} scattered"


class Choice(NamedTuple):
    """A kind of pages, and the reason for it."""

    kind: str
    why: str


_measured: tuple[Device, dict[str, Rate]] | None = None


def choose(placement: str, nbytes: int, space: int, *, measure: bool = True) -> Choice:
    """Return the kind of pages for an array.

    Parameters
    ----------
    placement : str
        The array's placement.
    nbytes : int
        The bytes of the array.
    space : int
        The bytes of managed memory that may still be allocated.
    measure : bool
        Whether to measure the rates, if that was not done yet.
    """
    gpu = cuda.current()
    if not RECORDS[placement].in_place:
        return Choice("pinned", "bulk copies run at the link's rate from pinned pages only")
    if not gpu.managed_is_safe():
        return Choice("pinned", "this card cannot share managed pages with the host")
    if nbytes >= space:
        return Choice("pinned", f"managed pages beyond the card's free memory ({space:,} bytes) can hang it")
    rates = known(gpu)
    if rates is None and nbytes < _MATTERS:
        return Choice("managed", f"for less than {_MATTERS >> 20} MiB a measurement does not pay off")
    if rates is None and not measure:
        return Choice("managed", "unless the first such array finds pinned pages faster")
    if rates is None:
        rates = _measure(gpu, space)
    return _faster(rates)


def _faster(rates: dict[str, Rate]) -> Choice:
    """Return the choice by measured rates; `rates` lacks a kind that could not be allocated."""
    if "pinned" not in rates:
        return Choice("managed", "pinned pages could not be allocated for a measurement")
    if "managed" not in rates:
        return Choice("pinned", "managed pages could not be allocated for a measurement")
    told = "; ".join(f"{kind}: {rate}" for kind, rate in rates.items())
    if rates["managed"].cost > _TIE * rates["pinned"].cost:
        return Choice("pinned", f"measured to be faster ({told})")
    return Choice("managed", f"measured to be no slower ({told}), and large arrays keep that rate")


def known(gpu: Device) -> dict[str, Rate] | None:
    """Return the rates measured in this process; None if they were not measured yet."""
    return _measured[1] if _measured is not None and _measured[0] is gpu else None


def _measure(gpu: Device, space: int) -> dict[str, Rate]:
    global _measured
    rates: dict[str, Rate] = {}
    for kind in ("managed", "pinned"):
        if kind == "managed" and space <= _SAMPLE:
            continue
        try:
            rates[kind] = rate(gpu, gpu.pages(_SAMPLE, kind), repeats=1)
        except OutOfMemory:  # the system refuses; the call that needs the pages will report it
            continue
    _measured = gpu, rates
    return rates


def rate(gpu: Device, pages: Pages, repeats: int = 5) -> Rate:
    """Measure the rates at which a kernel reads pages of a power of two bytes: the best of several runs."""
    lines = pages.array.size // _LINE
    blocks = gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR
    kernel, sums = _kernel(gpu), gpu.xp.zeros(blocks * THREADS, np.uint64)

    def seconds(factor: int) -> float:
        given = {"lines": lines, "factor": np.uint64(factor), "words": pages.pointer, "sums": sums}
        return _seconds(gpu, lambda: kernel.launch(blocks, **given))

    seconds(1)  # warms up
    streamed, scattered = (min(seconds(factor) for _ in range(repeats)) for factor in (1, _FAR))
    return Rate(lines * _LINE / streamed, lines * _LINE / scattered)


def copied(gpu: Device, held: Pages, repeats: int = 5) -> float:
    """Measure the bytes a second of a copy from pages: the best of several runs."""
    target = gpu.xp.empty(held.array.size, np.uint8)
    seconds = [_seconds(gpu, lambda: gpu.copy_in(target, held.array, held.kind)) for _ in range(repeats + 1)]
    return held.array.size / min(seconds[1:])


def _seconds(gpu: Device, run: Callable[[], None]) -> float:
    gpu.synchronize()
    start = time.perf_counter()
    run()
    gpu.synchronize()
    return time.perf_counter() - start


_compiled: tuple[Device, Launcher] | None = None


def _kernel(gpu: Device) -> Launcher:
    global _compiled
    if _compiled is None or _compiled[0] is not gpu:
        _compiled = gpu, Launcher.compiled(gpu, (Path(__file__).parent / "pages.cu").read_text(), "read_lines")
    return _compiled[1]


def choices(space: int, *, measure: bool = True) -> list[tuple[int, Choice]]:
    """Return the choices for arrays read in place, each with the least bytes for which it holds."""
    found: list[tuple[int, Choice]] = []
    for start in sorted({0, _MATTERS, max(space, 0)}):
        choice = choose(BY_ADDRESS, start, space, measure=measure)
        if not found or found[-1][1] != choice:
            found.append((start, choice))
    return found
