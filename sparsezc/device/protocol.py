"""The operations of a GPU that the GPU engine and the placements need, and the recovery of memory that is short.

:class:`~sparsezc.device.cupy_device.Cuda` does it with CuPy, the tests' emulated device on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Copies", "Device", "Kernel", "Pages", "Recording", "giving", "when_short"]

Kernel = Callable[[int, int, tuple[Any, ...]], None]  # kernel(blocks, threads of a block, arguments)


@dataclass(eq=False)
class Pages:
    """Host memory that kernels read over the link: `array` for the host, `pointer` for kernels."""

    array: NDArray[np.uint8]
    pointer: int
    kind: str  # "managed", "pinned", "migrating" or "file"


class Device(Protocol):
    """The operations of a GPU that the GPU engine and the placements need."""

    name: str
    xp: Any  # cupy, or numpy on the emulated device
    multiprocessors: int
    cache_bytes: int  # of the cache that all multiprocessors share

    def compile(self, source: str, name: str) -> Kernel: ...
    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the device's memory."""
        ...

    def pages(self, nbytes: int, kind: str) -> Pages: ...
    def map(self, array: NDArray[np.uint8]) -> Pages:
        """Map pages of a file that the host has mapped, for kernels to read only; OutOfMemory where that is refused."""
        ...

    def managed_is_safe(self) -> bool:
        """Return whether a kernel and the host can share managed pages without migrating them."""
        ...

    def asnumpy(self, array: Any) -> NDArray[Any]: ...
    def pointer(self, array: Any) -> int: ...
    def copy_in(self, array: Any, host: NDArray[Any], kind: str = "pinned") -> None:
        """Fill a device array from as many bytes of host memory; from pages of this kind, at the link's own rate."""

    def copy_out(self, array: Any, host: NDArray[Any], kind: str = "pinned") -> None:
        """Copy from the device to the host."""

    def synchronize(self) -> None: ...
    def copies(self) -> Copies:
        """Return a lane for copies from pinned host memory beside the kernels."""
        ...

    def traffic(self, kernel: Kernel) -> tuple[int, int, int]:
        """Return the requests and sectors (32 bytes) of host memory, and the sectors of segments in device memory.

        They are what a counting kernel read since this was asked last.
        """
        ...

    def record(self) -> AbstractContextManager[Recording]:
        """Write kernels down that are launched within the context, instead of running them."""
        ...


class Copies(Protocol):
    """Copies to the device that run beside kernels, in their order."""

    def wait(self) -> None:
        """Let the next copies begin once the kernels launched so far have ended."""

    def copy(self, target: Any, host: NDArray[Any]) -> None:
        """Begin to fill a device array; the host's must be pinned, and stay as it is until the copy has ended."""

    def join(self) -> None:
        """Let kernels launched from now on wait for the copies so far."""

    def mark(self) -> Callable[[], None]:
        """Return a function with which the host waits for the copies so far."""
        ...


class Recording(Protocol):
    """Kernels to run again, in their order."""

    def replay(self) -> None: ...


_T = TypeVar("_T")
_givers: list[Callable[[], bool]] = []


def when_short(give: Callable[[], bool]) -> None:
    """Have `give` asked for device memory where an allocation fails; it says whether it had any."""
    _givers.append(give)


def giving(allocate: Callable[[int], _T]) -> Callable[[int], _T]:
    """Wrap an allocator so that before it fails it has given back what can be done without."""

    def allocated(nbytes: int) -> _T:
        try:
            return allocate(nbytes)
        except MemoryError:  # CuPy's, or that of an allocator which the user gave it
            gave = [give() for give in _givers]
            if not any(gave):
                raise
            return allocate(nbytes)

    return allocated
