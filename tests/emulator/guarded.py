"""Arrays beside a page without access: the first index out of bounds is a fault, at full speed."""

from __future__ import annotations

import ctypes
import mmap
from types import TracebackType
from typing import Self

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE


def guarded_bytes(nbytes: int, edge: str) -> np.ndarray:
    """Return zeros whose last byte (edge ``after``) or first byte (``before``) is beside a page without access."""
    size = -(-nbytes // PAGE) * PAGE
    buffer = np.frombuffer(mmap.mmap(-1, size + PAGE), np.uint8)
    forbidden = buffer.ctypes.data + (size if edge == "after" else 0)
    if _libc.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    start = size - nbytes if edge == "after" else PAGE
    return buffer[start : start + nbytes]


class GuardedCopies:
    """Copies of a launch's arrays, each with its end (``after``) or its start (``before``) at a forbidden page.

    Results are copied back at the end of the launch. An array that is given twice keeps one copy; arrays that overlap
    another one in part are passed as they are. ``None`` passes everything as it is.
    """

    def __init__(self, edge: str | None) -> None:
        if edge not in (None, "after", "before"):
            raise ValueError(f'guard is "after", "before" or None, not {edge!r}')
        self.edge = edge
        self._copies: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def __enter__(self) -> Self:
        return self

    def pointer(self, array: np.ndarray) -> int:
        if self.edge is None or array.nbytes == 0:
            return int(array.ctypes.data)
        key = (array.ctypes.data, array.nbytes)
        if key not in self._copies:
            if any(start < key[0] + key[1] and key[0] < start + size for start, size in self._copies):
                return key[0]
            copy = guarded_bytes(array.nbytes, self.edge).view(array.dtype).reshape(array.shape)
            copy[...] = array
            self._copies[key] = (array, copy)
        return int(self._copies[key][1].ctypes.data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for array, copy in self._copies.values():
            if array.flags.writeable:
                array[...] = copy
        self._copies.clear()
