"""Copies from memory that is not pinned, with a driver that records its calls."""

from __future__ import annotations

import ctypes
from typing import Any
from unittest import mock

import numpy as np
import pytest

from sparsezc.device.pageable import _PIECE, LEAST, Pageable


class Runtime:
    """A driver whose copies run when their stream is waited for."""

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
    """A buffer that is refilled before the device has read it would deliver wrong bytes."""
    pinned: list[Any] = []

    def pin(size: int) -> Any:
        pinned.append(np.empty(size, np.uint8))
        return pinned[-1]

    copies = Pageable(Runtime(), 3, pin, threads)
    host = np.random.default_rng(1).integers(0, 256, nbytes, np.uint8)
    targets = [np.zeros(nbytes, np.uint8) for _ in range(2)]
    arrivals = [copies.begin(to, to.ctypes.data, host) for to in targets]  # both copies run at once
    for to, arrival in zip(targets, arrivals, strict=True):
        for wanted in (0, 1, nbytes // 2, nbytes):
            count = arrival.wait(wanted)
            assert wanted <= count <= nbytes
            assert np.array_equal(to[:count], host[:count])
    assert [array.size for array in pinned] == [2 * threads * _PIECE]


def test_a_driver_that_fails() -> None:
    """Its error reaches the waiting thread, and the next copy finds all buffers free."""
    copies, to = Pageable(runtime := Runtime(), 3, lambda size: np.empty(size, np.uint8), 2), np.zeros(9, np.uint8)
    with (
        mock.patch.object(runtime, "memcpyAsync", side_effect=RuntimeError("no link")),
        pytest.raises(RuntimeError, match="no link"),
    ):
        copies.begin(to, to.ctypes.data, to).wait(9)
    assert copies.begin(to, to.ctypes.data, to).wait(9) == 9


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    from sparsezc.device import cuda

    gpu = cuda.current()
    for dtype in (np.float64, np.uint8):
        host = np.random.default_rng(1).integers(0, 256, (2 * LEAST + 24) // np.dtype(dtype).itemsize).astype(dtype)
        to = gpu.xp.empty(host.size, dtype)
        assert gpu.copy_pageable(to, host).wait(to.nbytes) == to.nbytes
        assert np.array_equal(gpu.asnumpy(to), host)
