"""Facts about this machine's GPU and the rates of its host link, for ``sparsezc doctor``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsezc.device import cuda as device
from sparsezc.device.protocol import Device, Pages
from sparsezc.engines.gpu.placements import host_gather
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget, zerocopy
from sparsezc.memory.mapped import MappedBuffer

_BYTES = 1 << 30  # moved by one measurement: more than a GPU's address translation caches cover
_GATHERED = 1 << 26  # bytes of pinned memory, which the process keeps; host threads gather no faster from more
_REPEATS = 5


def diagnose(*, measure: bool = True) -> dict[str, Any]:
    """Return facts about the GPU.

    Parameters
    ----------
    measure : bool
        Also measure the host link. This takes some seconds, as much device memory, and 1 GiB each of host memory (an
        eighth of the free memory if that is less) and of a temporary file.

    Returns
    -------
    dict
        ``available`` (bool) and, without a GPU, ``reason``; with one: ``name``, ``multiprocessors``, ``memory_free``,
        ``memory_total``, ``budget`` (bytes), versions, ``pages`` (the kind of pages that arrays of each size get in
        host memory: a list of ``from``, bytes, ``kind`` and ``why``). Measured, bytes per second: ``link`` (``copy``
        from pinned memory, ``gather`` by host threads; ``managed``, ``pinned`` and ``file`` pages read by a kernel in
        ascending order), ``scattered`` (the same pages, lines of 128 bytes in random order).
    """
    reason = device.reason()
    if reason is not None:
        return {"available": False, "reason": reason}
    gpu = device.current()
    free, total = gpu.memory()
    space = zerocopy.managed_available()
    facts: dict[str, Any] = {
        "available": True,
        "name": gpu.name,
        "multiprocessors": gpu.multiprocessors,
        "memory_free": free,
        "memory_total": total,
        "budget": budget.available(),
        **_versions(gpu),
        "pages": [
            {"from": start, "kind": choice.kind, "why": choice.why}
            for start, choice in zerocopy.choices(space, measure=measure)
        ],
    }
    if measure:
        facts["link"], facts["scattered"] = _link(gpu)
    return facts


def _versions(gpu: Device) -> dict[str, Any]:
    """Return the versions of CuPy, driver and compiler, as far as the array module is CuPy."""
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


def _link(gpu: Device) -> tuple[dict[str, float], dict[str, float]]:
    """Return rates of the link: of copies and of pages read in ascending order; of pages read in random order."""
    space = budget.host_available()
    nbytes = _BYTES if space is None else min(_BYTES, 1 << max(space // 8, 1 << 20).bit_length() - 1)
    streamed, scattered = {}, {}
    for kind, held in _held(gpu, nbytes):
        if kind == "pinned":
            streamed["copy"] = zerocopy.copied(gpu, held, _REPEATS)
            streamed["gather"] = host_gather.rate(held.array[:_GATHERED])
        streamed[kind], scattered[kind] = zerocopy.rate(gpu, held, _REPEATS)
        del held  # freed before the next pages are allocated
    return streamed, scattered


def _held(gpu: Device, nbytes: int) -> Iterator[tuple[str, Pages]]:
    """Yield pages of each kind that this machine allows, one after another."""
    allowed = gpu.managed_is_safe() and zerocopy.managed_available() > nbytes
    for kind in ("managed", "pinned") if allowed else ("pinned",):
        yield kind, gpu.pages(nbytes, kind)
    with tempfile.NamedTemporaryFile() as file:
        try:
            np.zeros(nbytes, np.uint8).tofile(file.name)
            mapped = gpu.map(MappedBuffer(file.name, 0, nbytes, np.uint8).array)
        except (OSError, OutOfMemory):  # the folder is full, or its file system's pages cannot be registered
            return
        yield "file", mapped
