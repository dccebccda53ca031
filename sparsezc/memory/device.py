"""Placement ``device``: device memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget
from sparsezc.memory.buffer import Buffer


class DeviceBuffer(Buffer):
    """A buffer over a device array."""

    placement = "device"
    pages = "device"

    def __init__(self, array: Any) -> None:
        super().__init__(array.size, array.dtype)
        self.array = array
        self._device = cuda.current()

    @property
    def pointer(self) -> int:
        return self._device.pointer(self.array)

    def write(self, start: int, array: ArrayLike) -> None:
        part = self._device.xp.asarray(array)
        self.array[start : start + part.size] = part

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        return self._device.asnumpy(self.array[start:stop])

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        return self.array[start:stop]


def allocate(count: int, dtype: np.dtype[Any], placement: str) -> DeviceBuffer:
    """Return an uninitialised device array of `count` entries."""
    gpu = cuda.current()
    nbytes, free = count * dtype.itemsize, gpu.memory()[0]
    if nbytes > free and budget.reclaim():
        free = gpu.memory()[0]
    if nbytes > free:
        raise OutOfMemory(f"placement {placement!r} needs {nbytes:,} bytes and {gpu.name} has {free:,} free")
    return DeviceBuffer(gpu.xp.empty(count, dtype))
