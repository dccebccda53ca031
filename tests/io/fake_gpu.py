"""A GPU without kernels, which readers' tests use in place of a real one: it has memory only."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device.protocol import Pages


class Card:
    """The part of a device that placements use: its memory, with NumPy arrays as device arrays."""

    name, xp, multiprocessors, cache_bytes = "card", np, 1, 1 << 20

    def __init__(self, free: int = 1 << 30) -> None:
        self.free = free

    def compile(self, source: str, name: str, passed: Any) -> Any:
        raise AssertionError("a reader compiles nothing")

    def memory(self) -> tuple[int, int]:
        return self.free, self.free

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Pages:
        array = np.zeros(nbytes, np.uint8)
        return Pages(array, array.ctypes.data, kind)

    def map(self, array: Any) -> Pages:
        return Pages(array, array.ctypes.data, "file")

    def managed_is_safe(self) -> bool:
        return True

    def asnumpy(self, array: Any) -> Any:
        return np.asarray(array)

    def pointer(self, array: Any) -> int:
        return int(array.ctypes.data)

    def synchronize(self) -> None:
        pass
