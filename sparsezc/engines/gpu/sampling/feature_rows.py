"""Rows of a dense array in a placement, read by row number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import gather_scatter, launch
from sparsezc.memory import allocate, budget
from sparsezc.memory.placement import RECORDS

# Types by size: a row is read as elements of the widest that divides it, so that a thread reads up to 16 bytes.
_BY_SIZE = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


class FeatureRows:
    """A copy of an array of bytes in a placement, whose rows kernels read.

    Parameters
    ----------
    array : ndarray of uint8, shape (n, m)
    placement : str or None
        By default ``config.placement``; "auto" is device memory if the array fits, and host memory if not.
    """

    @launch.locked
    def __init__(self, array: NDArray[Any], placement: str | None) -> None:
        self.nbytes = array.shape[1]
        kind = np.dtype(_BY_SIZE[next(size for size in (16, 8, 4, 2, 1) if self.nbytes % size == 0)])
        self._width = self.nbytes // kind.itemsize
        self.placement = budget.resolve(placement, array.nbytes, array.shape[0])
        self._buffer = allocate(self.placement, array.size // kind.itemsize, kind)
        self._buffer.write(0, np.ascontiguousarray(array).reshape(-1).view(kind))

    @launch.locked
    def read(self, at: Any) -> Any:
        """Return the rows `at`, uint8 of shape (at.size, m), on the device."""
        near = RECORDS[self.placement].near
        # Pinned pages that are far apart are read several times faster in ascending order than at random.
        order = None if near or self._buffer.pages == "managed" else cuda.current().xp.argsort(at)
        found = gather_scatter.gather_rows(self._buffer, at, self._width, order, near=near)
        return found.view(np.uint8).reshape(at.size, self.nbytes)
