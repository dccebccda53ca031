"""What this machine's GPU is and how fast its host link is: the facts behind ``sparsezc doctor``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.device import Device, Pages
from sparsezc.engines.gpu import reduce
from sparsezc.engines.gpu.stores import VectorStore
from sparsezc.memory import budget
from sparsezc.semirings import monoid
from sparsezc.semirings.types import UINT64

_BYTES = 1 << 28  # what one measurement moves
_REPEATS = 5


def diagnose(*, measure: bool = True) -> dict[str, Any]:
    """Facts about the GPU.

    Parameters
    ----------
    measure : bool
        Measure the host link too, which takes about a second and 256 MiB of host and device memory.

    Returns
    -------
    dict
        ``available`` (bool) and, without a GPU, ``reason``; with one: ``name``, ``multiprocessors``, ``memory_free``,
        ``memory_total``, ``budget`` (bytes), versions, ``zerocopy_pages`` (the kind that would be taken) and ``link``
        (bytes per second: ``copy`` from pinned memory, ``managed`` and ``pinned`` pages read by a kernel).
    """
    reason = device.reason()
    if reason is not None:
        return {"available": False, "reason": reason}
    gpu = device.current()
    free, total = gpu.memory()
    facts: dict[str, Any] = {
        "available": True,
        "name": gpu.name,
        "multiprocessors": gpu.multiprocessors,
        "memory_free": free,
        "memory_total": total,
        "budget": budget.available(),
        "zerocopy_pages": "managed" if gpu.managed_is_safe() else "pinned",
        **_versions(gpu),
    }
    if measure:
        facts["link"] = _link(gpu)
    return facts


def _versions(gpu: Device) -> dict[str, Any]:
    """CuPy, driver and compiler, as far as the array module is CuPy."""
    cuda = getattr(gpu.xp, "cuda", None)
    if cuda is None:
        return {}
    return {
        "cupy": gpu.xp.__version__,
        "driver": _dotted(cuda.runtime.driverGetVersion()),
        "cuda": _dotted(cuda.runtime.runtimeGetVersion()),
        "nvrtc": ".".join(map(str, cuda.nvrtc.getVersion())),
        "capability": getattr(gpu, "capability", None),
    }


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _link(gpu: Device) -> dict[str, float]:
    xp = gpu.xp
    target = xp.empty(_BYTES, np.uint8)
    rates: dict[str, float] = {}
    for kind in ("pinned", "managed"):
        if kind == "managed" and not gpu.managed_is_safe():
            continue
        pages = gpu.pages(_BYTES, kind)
        if kind == "pinned":
            rates["copy"] = _rate(gpu, lambda pages=pages: gpu.copy_in(target, pages.array))  # type: ignore[misc]
        rates[kind] = _rate(gpu, _reader(pages))
    return rates


def _reader(pages: Pages) -> Callable[[], Any]:
    """A kernel that reads all pages in aligned requests: the sum of them as one long full vector."""
    count = _BYTES // 8
    vector = VectorStore(UINT64, count)
    vector.set(np.uint64(pages.pointer), 0, count)
    return lambda: reduce.reduce_vector(monoid.plus[UINT64], vector)


def _rate(gpu: Device, move: Callable[[], Any]) -> float:
    """The best of a few runs, in bytes per second."""
    seconds = []
    for _ in range(_REPEATS + 1):  # the first one compiles and warms up
        gpu.synchronize()
        start = time.perf_counter()
        move()
        gpu.synchronize()
        seconds.append(time.perf_counter() - start)
    return _BYTES / min(seconds[1:])
