"""Placement ``zerocopy``: host memory that kernels read over the link, a request at a time, without a copy.

The kind of page matters up to tenfold for random rows. Managed pages that the host touches first and that are mapped
for the device (SetAccessedBy) keep their speed at any size, but all of them together stay below the card's free memory:
more than that can hang a card. Pinned pages (mmap, touched by many threads, registered) are the rest. Pointers are
aligned to 128 bytes and more, so entry 32 * k of any array starts a line.

:func:`choose` is the one place that decides. Rules come first. Bulk copies want pinned pages (from managed ones they
run at a sixth of the link's rate), so placements that live by them take these; those that are read in place
(placement.py) take what ``zerocopy`` takes. Where both kinds are allowed, the faster one is taken: both are measured
once in a process, when the first large array is made, which takes some hundredths of a second. Kinds that are equally
fast in that sample are not so in large arrays, where the reach of a card's address translation ends (pinned pages of
several GiB were read at a tenth of the rate at random), so a tie goes to managed pages.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from os import cpu_count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.device.protocol import Device, Pages
from sparsezc.errors import OutOfMemory
from sparsezc.memory import budget
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import RECORDS
from sparsezc.terminal.progress import working

_PART = 1 << 22  # entries that one thread copies at a time
_MATTERS = 1 << 28  # bytes: smaller arrays are not worth a measurement
_SAMPLE = 1 << 26  # bytes that a measurement reads: more than a card's cache holds
_TIE = 1.1  # pinned pages that are so many times faster are faster
_LINE = 128  # bytes
_FAR = 0x9E3779B97F4A7C15  # an odd factor that puts neighbours far apart
_BLOCKS_PER_MULTIPROCESSOR = 8
_managed: weakref.WeakSet[Buffer] = weakref.WeakSet()  # live buffers of managed memory
_counting = threading.Lock()  # of several threads one may make a buffer while another looks at all


class ZerocopyBuffer(Buffer):
    """A buffer in host memory with an address that kernels can read."""

    def __init__(self, held: Pages, count: int, dtype: np.dtype[Any], placement: str) -> None:
        super().__init__(count, dtype)
        self.placement = placement
        self.pages = held.kind
        self._pages = held
        self.array = held.array[: self.nbytes].view(dtype)

    @property
    def pointer(self) -> int:
        return self._pages.pointer

    def write(self, start: int, array: ArrayLike) -> None:
        if hasattr(array, "__cuda_array_interface__"):  # device memory: straight into the pages
            given: Any = array
            target = self.array[start : start + given.size]
            cuda.current().copy_out(given.astype(self.dtype, copy=False), target, self.pages)
            return
        part = np.asarray(array)
        target = self.array[start : start + part.size]
        if part.size <= _PART:
            target[...] = part
            return
        with ThreadPoolExecutor(min(16, cpu_count() or 1)) as pool:  # one core copies slower than the link
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
    """Pages for `count` entries."""
    return allocate_all([(count, dtype)], placement)[0]


def allocate_all(arrays: Sequence[tuple[int, np.dtype[Any]]], placement: str) -> list[ZerocopyBuffer]:
    """Pages of one kind for arrays of these counts and types, chosen by what they take together."""
    nbytes = sum(count * dtype.itemsize for count, dtype in arrays)
    budget.require_host(nbytes, f"placement {placement!r}")  # before it is mapped and touched
    gpu, made = cuda.current(), []
    kind = choose(placement, nbytes, gpu.memory()[0] - managed_bytes()).kind
    with working("touching host pages"):
        for count, dtype in arrays:
            made.append(ZerocopyBuffer(gpu.pages(count * dtype.itemsize, kind), count, dtype, placement))
    if kind == "managed":
        for buffer in made:
            count_managed(buffer)
    return made


def managed_room() -> int:
    """Bytes of managed memory that may still be made: all of it together stays below the card's free memory."""
    return cuda.current().memory()[0] - managed_bytes()


def managed_bytes() -> int:
    """Bytes of managed memory that live in this process."""
    with _counting:
        return sum(map(attrgetter("nbytes"), _managed))


def count_managed(buffer: Buffer) -> None:
    """Count a buffer of managed memory for as long as it lives."""
    with _counting:
        _managed.add(buffer)


# Which kind of pages


class Rate(NamedTuple):
    """Bytes a second at which a kernel reads pages: in the order in which they lie, and a line here and there."""

    streamed: float
    scattered: float

    @property
    def cost(self) -> float:
        """Seconds for a byte read in each way."""
        return 1 / self.streamed + 1 / self.scattered

    def __str__(self) -> str:
        return f"{self.streamed / 1e9:.3g} GB/s in order, {self.scattered / 1e9:.3g} scattered"


class Choice(NamedTuple):
    """A kind of pages, and why."""

    kind: str
    why: str


_measured: tuple[Device, dict[str, Rate]] | None = None


def choose(placement: str, nbytes: int, room: int, *, measure: bool = True) -> Choice:
    """The kind of pages for an array.

    Parameters
    ----------
    placement : str
        Who reads them.
    nbytes : int
        Of the array.
    room : int
        Bytes of managed memory that may still be made.
    measure : bool
        Whether a measurement may be made that has not been.
    """
    gpu = cuda.current()
    if not RECORDS[placement].in_place:
        return Choice("pinned", "bulk copies run at the link's rate from pinned pages only")
    if not gpu.managed_is_safe():
        return Choice("pinned", "this card cannot share managed pages with the host")
    if nbytes >= room:
        return Choice("pinned", f"managed pages beyond the card's free memory ({room:,} bytes) can hang it")
    rates = known(gpu)
    if rates is None and nbytes < _MATTERS:
        return Choice("managed", f"less than {_MATTERS >> 20} MiB are not worth a measurement")
    if rates is None and not measure:
        return Choice("managed", "unless the first such array finds pinned pages faster")
    if rates is None:
        rates = _measure(gpu, room)
    return _faster(rates)


def _faster(rates: dict[str, Rate]) -> Choice:
    """By what was measured; a kind that is missing could not be made."""
    if "pinned" not in rates:
        return Choice("managed", "pinned pages could not be made for a measurement")
    if "managed" not in rates:
        return Choice("pinned", "managed pages could not be made for a measurement")
    told = "; ".join(f"{kind}: {rate}" for kind, rate in rates.items())
    if rates["managed"].cost > _TIE * rates["pinned"].cost:
        return Choice("pinned", f"measured to be faster ({told})")
    return Choice("managed", f"measured to be no slower ({told}), and large arrays keep that rate")


def known(gpu: Device) -> dict[str, Rate] | None:
    """What was measured in this process; None: nothing yet."""
    return _measured[1] if _measured is not None and _measured[0] is gpu else None


def _measure(gpu: Device, room: int) -> dict[str, Rate]:
    global _measured
    rates: dict[str, Rate] = {}
    for kind in ("managed", "pinned"):
        if kind == "managed" and room <= _SAMPLE:
            continue
        try:
            rates[kind] = rate(gpu, gpu.pages(_SAMPLE, kind), repeats=1)
        except OutOfMemory:  # the system forbids it: the call that needs the pages will say so
            continue
    _measured = gpu, rates
    return rates


def rate(gpu: Device, pages: Pages, repeats: int = 5) -> Rate:
    """How fast a kernel reads pages, of which there are a power of two bytes: the best of some runs."""
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
    """Bytes a second of copies from pages: the best of some runs."""
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


def choices(room: int, *, measure: bool = True) -> list[tuple[int, Choice]]:
    """What arrays read in place get by their size: the bytes from which on each choice holds."""
    found: list[tuple[int, Choice]] = []
    for start in sorted({0, _MATTERS, max(room, 0)}):
        choice = choose("zerocopy", start, room, measure=measure)
        if not found or found[-1][1] != choice:
            found.append((start, choice))
    return found
