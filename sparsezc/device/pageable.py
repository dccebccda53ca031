"""Copies to the device from memory that is not pinned: threads fill pinned buffers, which the device reads meanwhile.

The driver does the same with one thread, at a fifth of the link's rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors

_PIECE = 8 << 20  # bytes of a buffer; pieces of 2 MiB, or 16 threads, took up to twice as long on an H100's host
LEAST = 16 << 20  # bytes from which threads are worth their start
_NON_BLOCKING = 1  # cudaStreamNonBlocking
_TO_DEVICE = 1  # cudaMemcpyHostToDevice


class Pageable:
    """Threads of one device, with two pinned buffers and two streams each; all are kept.

    Parameters
    ----------
    runtime : module
        CuPy's ``cuda.runtime``.
    device : int
        The number of the device.
    pin : callable
        ``pin(nbytes)`` returns pinned memory, as an array of bytes.
    threads : int, optional
        By default one for each processor, at most 12.
    """

    def __init__(
        self, runtime: Any, device: int, pin: Callable[[int], NDArray[np.uint8]], threads: int | None = None
    ) -> None:
        self._runtime, self._device = runtime, device
        count = processors(12) if threads is None else threads
        self._buffers = pin(2 * count * _PIECE).reshape(count, 2, _PIECE)
        self._streams = [[runtime.streamCreateWithFlags(_NON_BLOCKING) for _ in range(2)] for _ in range(count)]
        self._threads = ThreadPoolExecutor(count, "pageable")
        self._lock = Lock()  # two calls at once would share buffers

    def copy(self, target: int, host: NDArray[np.uint8]) -> None:
        """Copy bytes to a device address, at which no kernel works any more; return when they have arrived."""
        with self._lock:
            pieces = iter(range(0, host.size, _PIECE))
            list(self._threads.map(lambda k: self._work(k, target, host, pieces), range(len(self._streams))))

    def _work(self, number: int, target: int, host: NDArray[np.uint8], pieces: Iterator[int]) -> None:
        """Copy pieces that no other thread has taken."""
        runtime, streams, turn = self._runtime, self._streams[number], 0
        runtime.setDevice(self._device)
        for at in pieces:  # a range's iterator gives each number to one thread
            buffer, stream, some = self._buffers[number, turn], streams[turn], host[at : at + _PIECE]
            runtime.streamSynchronize(stream)  # the buffer's last piece has been read
            buffer[: some.size] = some  # without Python's lock
            runtime.memcpyAsync(target + at, buffer.ctypes.data, some.size, _TO_DEVICE, stream)
            turn = 1 - turn
        for stream in streams:
            runtime.streamSynchronize(stream)
