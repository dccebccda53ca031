"""The interface of every placement: one array of a matrix, written and read part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.memory.placement import RECORDS


class Buffer(ABC):
    """One array of `count` entries of `dtype` in some placement.

    Attributes
    ----------
    count, nbytes : int
    dtype : numpy.dtype
    placement : str
        The name of the placement that made it.
    pages : str
        The kind of memory behind it ("numpy", "device", "managed", "pinned", "migrating", "file"), which ``info`` and
        ``doctor`` print.
    """

    placement: str
    pages: str

    def __init__(self, count: int, dtype: np.dtype[Any]) -> None:
        self.count = count
        self.dtype = np.dtype(dtype)
        self.nbytes = count * self.dtype.itemsize

    def __len__(self) -> int:
        return self.count

    @property
    @abstractmethod
    def pointer(self) -> int:
        """Return the address of the first entry, for the engine of this placement."""

    @abstractmethod
    def write(self, start: int, array: ArrayLike) -> None:
        """Fill the entries from `start` on with `array`, converted to the buffer's dtype."""

    def begin_write(self, start: int, array: Any) -> None:
        """Begin to write an array of the device, whose entries are there once the device is idle."""
        self.write(start, array)

    @abstractmethod
    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries ``start:stop`` as a NumPy array; a view if they are in host memory."""

    @abstractmethod
    def load(self, start: int = 0, stop: int | None = None) -> Any:
        """Return the entries ``start:stop`` as an array in device memory; if they are there, a read-only view."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.count} x {self.dtype} in {self.placement} ({self.pages})>"


def index_dtype(ncols: int, placement: str) -> np.dtype[Any]:
    """Return the type of the column ids of a matrix: 4 bytes if they fit; in host memory SuiteSparse's 8 bytes."""
    return np.dtype(np.uint32 if RECORDS[placement].kernels and ncols <= 2**32 else np.uint64)
