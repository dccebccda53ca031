"""Placement ``ordinary``: ordinary host memory, for machines whose GPU reads it by its address (one address space).

A placement of a program's own takes a buffer, a function that makes one, and a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import sparsezc as gb
from sparsezc.device import cuda

_LINE = 128  # bytes: kernels request whole lines, so arrays start at one


class OrdinaryBuffer(gb.placements.Buffer):
    """One array in host memory that is neither pinned nor registered."""

    placement, pages = "ordinary", "ordinary"

    def __init__(self, count: int, dtype: np.dtype[Any]) -> None:
        super().__init__(count, dtype)
        buffer = np.empty(self.nbytes + _LINE, np.uint8)
        self.array = buffer[-buffer.ctypes.data % _LINE :][: self.nbytes].view(self.dtype)

    @property
    def pointer(self) -> int:
        return int(self.array.ctypes.data)

    def write(self, start: int, array: ArrayLike) -> None:
        gpu = cuda.current()
        part = gpu.asnumpy(array) if isinstance(array, gpu.xp.ndarray) else np.asarray(array)
        gpu.synchronize()  # kernels may still read the memory that is overwritten
        self.array[start : start + part.size] = part

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        return self.array[start:stop]

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        return cuda.current().xp.asarray(self.array[start:stop])


def allocate(count: int, dtype: np.dtype[Any], _name: str) -> OrdinaryBuffer:
    return OrdinaryBuffer(count, dtype)


ORDINARY = gb.placements.Placement(
    "ordinary",
    allocate,
    location="in ordinary host memory",
    description="read over the link by its address",
    purpose="machines with one address space",
    in_place=True,
)
