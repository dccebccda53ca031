"""The face that every placement shows: one array of a matrix, written and read part by part."""

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
        Name of the placement that made it.
    pages : str
        What kind of memory backs it ("numpy", "device", "managed", "pinned", "migrating", "file"): what ``info`` and
        ``doctor`` show.
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
        """Address of the first entry, as the engine of this placement reads it."""

    @abstractmethod
    def write(self, start: int, array: ArrayLike) -> None:
        """Fill the entries from `start` on with `array`, converted to the buffer's dtype."""

    @abstractmethod
    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The entries ``start:stop`` as a NumPy array; a view where the memory is the host's."""

    @abstractmethod
    def load(self, start: int = 0, stop: int | None = None) -> Any:
        """The entries ``start:stop`` as an array in device memory; a view where they lie there: not to be changed."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.count} x {self.dtype} in {self.placement} ({self.pages})>"
