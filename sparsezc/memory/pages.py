"""The choice of the kind of host pages for an array that kernels read over the link; no other module chooses.

Rules come first. Bulk copies need pinned pages, whatever else reads them; and managed pages are never made beyond the
device's free memory, as more can hang it. If both kinds are allowed, the faster one is chosen: both are measured once a
process, when the first large array is made, which takes some hundredths of a second. Kinds that are equally fast in
that sample differ in large arrays, beyond the reach of the device's address translation (pinned pages of several GiB
were read at a tenth of the rate at random), so managed pages win a tie.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.cuda import Device, Pages
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.errors import OutOfMemory
from sparsezc.memory.placement import RECORDS

_MATTERS = 1 << 28  # bytes: for smaller arrays a measurement costs more than it saves
_SAMPLE = 1 << 26  # bytes that a measurement reads: more than the device's cache holds
_TIE = 1.1  # pinned pages win if they are so many times faster
_LINE = 128  # bytes
_FAR = 0x9E3779B97F4A7C15  # an odd factor that maps neighbours far apart
_BLOCKS_PER_MULTIPROCESSOR = 8


class Rate(NamedTuple):
    """Bytes a second at which a kernel reads pages: in ascending order, and lines in random order."""

    streamed: float
    scattered: float

    @property
    def cost(self) -> float:
        """Return the seconds for a byte read in each way."""
        return 1 / self.streamed + 1 / self.scattered

    def __str__(self) -> str:
        return f"{self.streamed / 1e9:.3g} GB/s in order, {self.scattered / 1e9:.3g} scattered"


class Choice(NamedTuple):
    """A kind of pages, and the reason for it."""

    kind: str
    why: str


_measured: tuple[Device, dict[str, Rate]] | None = None


def choose(placement: str, nbytes: int, room: int, *, measure: bool = True) -> Choice:
    """Return the kind of pages for an array.

    Parameters
    ----------
    placement : str
        The placement that reads them.
    nbytes : int
        The bytes of the array.
    room : int
        The bytes of managed memory that may still be made.
    measure : bool
        Measure the rates, if that was not done yet.
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
    """Return the choice by measured rates; a missing kind could not be allocated."""
    if "pinned" not in rates:
        return Choice("managed", "pinned pages could not be made for a measurement")
    if "managed" not in rates:
        return Choice("pinned", "managed pages could not be made for a measurement")
    told = "; ".join(f"{kind}: {rate}" for kind, rate in rates.items())
    if rates["managed"].cost > _TIE * rates["pinned"].cost:
        return Choice("pinned", f"measured to be faster ({told})")
    return Choice("managed", f"measured to be no slower ({told}), and large arrays keep that rate")


def known(gpu: Device) -> dict[str, Rate] | None:
    """Return the rates that were measured in this process; None: none yet."""
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
    """Return the rates at which a kernel reads a power of two bytes of pages: the best of some runs."""
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
    """Return the bytes a second of copies from pages: the best of some runs."""
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
    """Return the choices for arrays read in place, by size: the bytes from which on each choice holds."""
    found: list[tuple[int, Choice]] = []
    for start in sorted({0, _MATTERS, max(room, 0)}):
        choice = choose("zerocopy", start, room, measure=measure)
        if not found or found[-1][1] != choice:
            found.append((start, choice))
    return found
