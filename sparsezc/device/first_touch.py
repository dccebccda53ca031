"""The first touch of host pages, by threads: the system allocates a page when a processor first writes to it."""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors

__all__ = ["FirstTouch"]

_LEAST, _MOST = 2 << 20, 16 << 20  # bytes of a thread's task: it takes some ms, its submission 20 us


class FirstTouch:
    """A first touch of an array's pages in ascending order by a thread on each core: one thread takes ten times longer.

    Example
    -------
    >>> touching = FirstTouch(np.ones(1 << 25, np.uint8))
    >>> touching.wait(1 << 24)  # now the first 16 MiB are
    >>> touching.wait(1 << 25)
    """

    def __init__(self, array: NDArray[np.uint8]) -> None:
        cores = processors(32)
        self._part = min(max(array.size // cores // _LEAST * _LEAST, _LEAST), _MOST)
        parts = [array[at : at + self._part : mmap.PAGESIZE] for at in range(0, array.size, self._part)]
        self._touched, self._waited = [], 0  # the tasks of all parts; the number of parts waited for
        if min(len(parts), cores) < 2:
            array[:: mmap.PAGESIZE] = 0
            return
        threads = ThreadPoolExecutor(min(len(parts), cores))
        self._touched = [threads.submit(part.fill, 0) for part in parts]
        threads.shutdown(wait=False)

    def wait(self, nbytes: int) -> None:
        """Wait until the pages of the first `nbytes` bytes are touched."""
        parts = -(-nbytes // self._part)
        for touched in self._touched[self._waited : parts]:
            touched.result()
        self._waited = max(self._waited, parts)
