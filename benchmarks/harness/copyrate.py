"""The rates of plain copies, measured in each run, of which the run's shares are fractions.

``zerocopy``: cudaMemcpy from pinned host memory to the device, bytes copied a second: the host link.
``device``: a copy within device memory; ``host``: a copy by NumPy on one core. Both count bytes read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.frame import nothing, timed
from benchmarks.harness.summary import summary
from sparsezc.device.protocol import Device, Pages

SIZE = 1 << 30
TRIALS = 5
_HOST_TO_DEVICE = 1


def runtime_of(gpu: Device) -> Any:
    """Return CuPy's CUDA runtime; None on an emulated device."""
    return getattr(getattr(gpu.xp, "cuda", None), "runtime", None)


def median_seconds(call: Callable[[], Any], synchronize: Callable[[], None], trials: int = TRIALS) -> float:
    """Return the median seconds of `trials` calls, after one that is not counted."""
    timed(call, synchronize)
    return summary([timed(call, synchronize)[1] for _ in range(trials)]).median


def transfer(gpu: Device, target: Any, pages: Pages) -> None:
    """Start a cudaMemcpyAsync from pages to a device array of bytes, without waiting for its end."""
    runtime = runtime_of(gpu)
    if runtime is None:
        target[...] = pages.array
    else:
        runtime.memcpyAsync(gpu.pointer(target), pages.pointer, target.nbytes, _HOST_TO_DEVICE, 0)


def link(gpu: Device, size: int) -> float:
    pages, target = gpu.pages(size, "pinned"), gpu.xp.empty(size, np.uint8)
    return size / median_seconds(lambda: transfer(gpu, target, pages), gpu.synchronize)


def device(gpu: Device, size: int) -> float:
    source, target = gpu.xp.zeros(size, np.uint8), gpu.xp.empty(size, np.uint8)
    return 2 * size / median_seconds(lambda: gpu.xp.copyto(target, source), gpu.synchronize)


def host(size: int) -> float:
    source, target = np.zeros(size, np.uint8), np.empty(size, np.uint8)
    source.fill(1)  # untouched pages would all map to one page of zeros
    return 2 * size / median_seconds(lambda: np.copyto(target, source), nothing)


def copy_rate(placement: str, size: int | None = None) -> float:
    """Return the bytes a second of the copy that a placement is compared with."""
    size = SIZE if size is None else size
    if placement == "host":
        return host(min(size, SIZE // 4))
    from sparsezc.device.cuda import current

    return device(current(), size) if placement == "device" else link(current(), size)
