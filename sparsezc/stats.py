"""``gb.stats``: the bytes that products moved, and the times of products and transfers.

>>> import sparsezc as gb
>>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3])
>>> with gb.stats.collect() as moved:
...     w = A.mxv(gb.Vector.from_dense([1, 1, 1]), "plus_times").new()
>>> moved.link_bytes  # the CPU engine has no link
0

Counting slows kernels (each request increments a counter in device memory), and the host waits for the end of every
product. So count to learn how much is moved, and measure rates without counting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher

__all__ = ["Traffic", "collect", "copied", "counted", "timed", "together"]

_SECTOR = 32  # bytes: the least that a GPU reads


@dataclass
class Traffic:
    """Traffic and times of products (mxv, vxm, and mxm with matrices of few columns or rows) on a GPU.

    Attributes
    ----------
    link_bytes : int
        Bytes that crossed the host link: sectors of 32 bytes that kernels read, and copies. Pages that the driver
        migrates (placement ``uvm``) are not counted.
    requests : int
        Requests of at most 128 bytes that kernels made to host memory.
    copied_bytes : int
        The part of `link_bytes` that was copied in bulk.
    device_bytes : int
        Bytes of ids and values that kernels read in device memory, and all bytes that they read in migrating pages.
    compute_seconds, copy_seconds, gather_seconds : float
        The times of the products' kernels, of copies, and of host threads. While counting they wait for each other.
    """

    link_bytes: int = 0
    requests: int = 0
    copied_bytes: int = 0
    device_bytes: int = 0
    compute_seconds: float = 0.0
    copy_seconds: float = 0.0
    gather_seconds: float = 0.0

    def _add_seconds(self, what: str, seconds: float) -> None:
        """Add to ``what_seconds``."""
        name = f"{what}_seconds"
        setattr(self, name, getattr(self, name) + seconds)


#: The counters that products add to, or None; while there are counters, kernels are compiled to count.
collecting: Traffic | None = None


@contextmanager
def collect() -> Iterator[Traffic]:
    """Count the traffic of products within the context. Of nested contexts only the inner one counts."""
    global collecting
    before, collecting = collecting, Traffic()
    try:
        yield collecting
    finally:
        collecting = before


def counted(kernel: Launcher, near: bool) -> Callable[..., None]:
    """Return a function that launches a kernel as its ``launch`` does, and adds its traffic while products are counted.

    `near`: the entries that it reads are in device memory, permanently or as a copy.
    """
    return kernel.launch if collecting is None else partial(_count, collecting, kernel, kernel.launch, near)


def together(kernel: Launcher, near: bool) -> Callable[..., None]:
    """Return the same as :func:`counted` for ``launch_together``."""
    run = kernel.launch_together
    return run if collecting is None else partial(_count, collecting, kernel, run, near)


def _count(
    traffic: Traffic, kernel: Launcher, run: Callable[..., None], near: bool, blocks: int, /, *groups: Any, **named: Any
) -> None:
    gpu = cuda.current()
    gpu.synchronize()
    start = time.perf_counter()
    run(blocks, *groups, **named)
    gpu.synchronize()
    traffic.compute_seconds += time.perf_counter() - start
    requests, sectors, inside = gpu.traffic(kernel.function)
    traffic.device_bytes += _SECTOR * (inside + (sectors if near else 0))
    if not near:
        traffic.requests += requests
        traffic.link_bytes += _SECTOR * sectors


def copied(nbytes: int, seconds: float = 0.0) -> None:
    """Add the bytes and seconds of a bulk copy over the host link."""
    if collecting is not None:
        collecting.link_bytes += nbytes
        collecting.copied_bytes += nbytes
        collecting.copy_seconds += seconds


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Add the time that a block takes to ``what_seconds``."""
    start = time.perf_counter()
    yield
    if collecting is not None:
        collecting._add_seconds(what, time.perf_counter() - start)


def __dir__() -> list[str]:
    return sorted(__all__)
