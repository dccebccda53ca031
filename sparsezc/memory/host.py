"""Placement ``host``: plain NumPy arrays, for the CPU engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget
from sparsezc.memory.buffer import Buffer


class HostBuffer(Buffer):
    """A buffer over a NumPy array, which it never copies."""

    placement = "host"
    pages = "numpy"

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(array.size, array.dtype)
        self.array = array

    @property
    def pointer(self) -> int:
        return int(self.array.ctypes.data)

    def write(self, start: int, array: ArrayLike) -> None:
        part = np.asarray(array)
        self.array[start : start + part.size] = part

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        return self.array[start:stop]

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        return cuda.current().xp.asarray(self.array[start:stop])


def allocate(count: int, dtype: np.dtype[Any], placement: str) -> HostBuffer:
    """Return an uninitialised host array of `count` entries."""
    budget.require_host(count * dtype.itemsize, f"placement {placement!r}")
    try:
        return HostBuffer(np.empty(count, dtype))
    except MemoryError:
        raise OutOfMemory(
            f"placement {placement!r} needs {count * dtype.itemsize:,} bytes, and the system refused"
        ) from None


def wrap(array: Any) -> Buffer:
    """Return a NumPy array as a Buffer, without a copy if it is contiguous."""
    return HostBuffer(np.ascontiguousarray(array))
