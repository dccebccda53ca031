"""Copies to the device from memory that is not pinned: threads fill pinned buffers, which the device reads meanwhile.

The driver does the same with one thread, at a fifth of the link's rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors

_PIECE = 8 << 20  # bytes of a buffer; pieces of 2 MiB, or 16 threads, took up to twice as long on an H100's host
LEAST = 16 << 20  # bytes from which the threads pay off
_NON_BLOCKING = 1  # cudaStreamNonBlocking
_TO_DEVICE = 1  # cudaMemcpyHostToDevice


class Arrival:
    """A copy in progress, in pieces that arrive in any order. It keeps the device array alive while it is written.

    Parameters
    ----------
    array : device array
        The copy's target.
    count : int, optional
        Bytes from the start that have arrived already.
    """

    def __init__(self, array: Any, count: int = 0) -> None:
        self._array, self._count = array, count
        self._wanted = 0  # bytes that the waiting thread needs
        self._beyond: set[int] = set()  # pieces that arrived before an earlier one of the array
        self._error: BaseException | None = None
        self._changed = Condition()

    def wait(self, nbytes: int) -> int:
        """Wait until the first `nbytes` bytes have arrived; return the number of bytes from the start that have."""
        with self._changed:
            self._wanted = nbytes
            self._changed.wait_for(lambda: self._count >= nbytes or self._error is not None)
            if self._error is not None:
                raise self._error
            return self._count

    def add(self, piece: int) -> None:
        """Record that the piece which begins at byte `piece` has arrived."""
        with self._changed:
            self._beyond.add(piece)
            while self._count in self._beyond:
                self._beyond.remove(self._count)
                self._count = min(self._count + _PIECE, self._array.nbytes)
            if self._count >= self._wanted:
                self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Make all waiting threads raise an error."""
        with self._changed:
            self._error = error
            self._changed.notify_all()


class Pageable:
    """A pool of threads that copy to one device, each with two pinned buffers and two streams; all live until the end.

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
        self._count = processors(12) if threads is None else threads
        self._lanes: SimpleQueue[tuple[Any, list[Any]]] = SimpleQueue()  # a task takes one while it copies
        for buffers in pin(2 * self._count * _PIECE).reshape(self._count, 2, _PIECE):
            self._lanes.put((buffers, [runtime.streamCreateWithFlags(_NON_BLOCKING) for _ in range(2)]))
        self._threads = ThreadPoolExecutor(self._count, "pageable")

    def begin(self, array: Any, target: int, host: NDArray[np.uint8]) -> Arrival:
        """Begin to copy bytes to a device array at the address `target`, which no kernel uses any more."""
        arrival, pieces = Arrival(array), iter(range(0, host.size, _PIECE))
        for _ in range(self._count):
            self._threads.submit(self._work, arrival, target, host, pieces)
        return arrival

    def _work(self, arrival: Arrival, target: int, host: NDArray[np.uint8], pieces: Iterator[int]) -> None:
        """Copy the pieces that no other thread has taken."""
        lane = self._lanes.get()
        try:
            self._copy(lane, arrival, target, host, pieces)
        except BaseException as error:
            for stream in lane[1]:  # the device may still write a piece to the array
                with suppress(Exception):
                    self._runtime.streamSynchronize(stream)
            arrival.fail(error)
        finally:
            self._lanes.put(lane)

    def _copy(
        self, lane: tuple[Any, list[Any]], arrival: Arrival, target: int, host: NDArray[np.uint8], pieces: Iterator[int]
    ) -> None:
        runtime, (buffers, streams) = self._runtime, lane
        runtime.setDevice(self._device)
        sent: list[int | None] = [None, None]  # pieces that the device may still read from the buffers
        turn = 0

        def wait(number: int) -> None:
            runtime.streamSynchronize(streams[number])
            if (piece := sent[number]) is not None:
                arrival.add(piece)

        for at in pieces:  # a range's iterator gives each number to one thread
            wait(turn)
            buffer, some = buffers[turn], host[at : at + _PIECE]
            buffer[: some.size] = some  # NumPy releases Python's lock while it copies
            runtime.memcpyAsync(target + at, buffer.ctypes.data, some.size, _TO_DEVICE, streams[turn])
            sent[turn] = at
            turn = 1 - turn
        wait(turn)
        wait(1 - turn)
