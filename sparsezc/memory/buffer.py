"""The interface of every placement: one array of a matrix, written and read part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Buffer(ABC):
    """One array of `count` entries of `dtype` in some placement.

    Attributes
    ----------
    count : int
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

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize

    def __len__(self) -> int:
        return self.count

    @property
    @abstractmethod
    def pointer(self) -> int:
        """Return the address of the first entry, for the engine of this placement."""

    @abstractmethod
    def write(self, start: int, array: ArrayLike) -> None:
        """Fill the entries from `start` on with `array`, converted to the buffer's dtype."""

    @abstractmethod
    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries ``start:stop`` as a NumPy array; a view if they are in host memory."""

    @abstractmethod
    def load(self, start: int = 0, stop: int | None = None) -> Any:
        """Return the entries ``start:stop`` as an array in device memory; if they are there, a read-only view."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.count} x {self.dtype} in {self.placement} ({self.pages})>"
