"""The first touch of host pages, by threads: the system makes a page when a processor first writes to it."""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors

__all__ = ["FirstTouch"]

_LEAST, _MOST = 2 << 20, 16 << 20  # bytes that a thread touches at a time: some ms, beside 20 us for handing them out


class FirstTouch:
    """Bytes whose pages are touched in ascending order by every core: one thread takes ten times longer.

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
        self._touched, self._waited = [], 0  # parts that are touched or will be; those that were waited for
        if min(len(parts), cores) < 2:
            array[:: mmap.PAGESIZE] = 0
            return
        threads = ThreadPoolExecutor(min(len(parts), cores))
        self._touched = [threads.submit(part.fill, 0) for part in parts]
        threads.shutdown(wait=False)

    def wait(self, nbytes: int) -> None:
        """Return once the pages of the first `nbytes` bytes were touched."""
        parts = -(-nbytes // self._part)
        for touched in self._touched[self._waited : parts]:
            touched.result()
        self._waited = max(self._waited, parts)
