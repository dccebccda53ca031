"""Copies from memory that is not pinned, with a driver that notes its calls."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from sparsezc.device.pageable import _PIECE, LEAST, Pageable


class Runtime:
    """A driver whose copies happen when their stream is waited for."""

    def __init__(self) -> None:
        self.pending: dict[int, list[tuple[int, int, int]]] = {}

    def setDevice(self, number: int) -> None:
        assert number == 3

    def streamCreateWithFlags(self, _: int) -> int:
        self.pending[len(self.pending)] = []
        return len(self.pending) - 1

    def memcpyAsync(self, to: int, source: int, nbytes: int, kind: int, stream: int) -> None:
        assert kind == 1
        self.pending[stream].append((to, source, nbytes))

    def streamSynchronize(self, stream: int) -> None:
        for copy in self.pending[stream]:
            ctypes.memmove(*copy)
        self.pending[stream].clear()


@pytest.mark.parametrize("nbytes", [1, _PIECE, 9 * _PIECE + 17])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_bytes_arrive(nbytes: int, threads: int) -> None:
    """A buffer that is filled again before the device has read it would leave wrong bytes."""
    pinned: list[Any] = []

    def pin(size: int) -> Any:
        pinned.append(np.empty(size, np.uint8))
        return pinned[-1]

    copies = Pageable(Runtime(), 3, pin, threads)
    host = np.random.default_rng(1).integers(0, 256, nbytes, np.uint8)
    for _ in range(2):
        to = np.zeros(nbytes, np.uint8)
        copies.copy(to.ctypes.data, host)
        assert np.array_equal(to, host)
    assert [array.size for array in pinned] == [2 * threads * _PIECE]


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    from sparsezc.device import cuda

    gpu = cuda.current()
    for dtype in (np.float64, np.uint8):
        host = np.random.default_rng(1).integers(0, 256, (2 * LEAST + 24) // np.dtype(dtype).itemsize).astype(dtype)
        to = gpu.xp.empty(host.size, dtype)
        gpu.copy_in(to, host, "pageable")
        assert np.array_equal(gpu.asnumpy(to), host)
