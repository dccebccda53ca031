"""The operations of a GPU that the GPU engine and the placements need, and the freeing of caches when memory is short.

:class:`~sparsezc.device.cupy_device.Cuda` implements them with CuPy, the tests' emulated device on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sparsezc.device.signature import Passed

__all__ = ["Arrival", "Copies", "Device", "Kernel", "Pages", "Recording", "Relaunch", "Signal", "Window", "giving",
           "when_short"]  # fmt: skip


#: A function that launches a kernel again, with other values of the arguments of one group.
Relaunch = Callable[[tuple[Any, ...]], None]


class Kernel(Protocol):
    """A compiled kernel."""

    def __call__(self, blocks: int, threads: int, arguments: tuple[Any, ...]) -> None: ...

    def reserve(self, nbytes: int) -> None:
        """Give each block of later launches `nbytes` of dynamic shared memory, at most the device's `block_bytes`."""

    def keep(self, blocks: int, threads: int, arguments: tuple[Any, ...], first: int, count: int) -> Relaunch:
        """Return a function that repeats this launch with `count` new arguments from number `first` on.

        The function takes the new arguments as one tuple. Of the other arrays it keeps only the addresses.
        """
        ...

    def at_once(self, threads: int) -> int:
        """Return the largest number of blocks of `threads` threads that the device runs at the same time."""
        ...

    def together(self, blocks: int, threads: int, arguments: tuple[Any, ...]) -> None:
        """Launch blocks that wait for each other (grid_sync.cuh): at most :meth:`at_once`."""
        ...


@dataclass(eq=False)
class Pages:
    """Host memory that kernels read over the link: `array` for the host, `pointer` for kernels."""

    array: NDArray[np.uint8]
    pointer: int
    kind: str  # "managed", "pinned", "migrating" or "file"
    ready: Callable[[int], None] | None = None  # waits until the first n bytes may be used; None: all bytes may be

    def wait_for_all(self) -> Pages:
        """Wait until every byte may be used; return these pages."""
        if self.ready is not None:
            self.ready(self.array.nbytes)
            self.ready = None
        return self


@dataclass(eq=False)
class Window:
    """Device memory that other processes of this machine open by a name; it must outlive their views."""

    array: Any  # bytes
    name: bytes


@dataclass(eq=False)
class Signal:
    """An event in a device's stream for which the devices of other processes can wait; they open it by its name."""

    give: Callable[[], None]  # records the event: it occurs once all kernels and moves issued so far have ended
    name: bytes


class Device(Protocol):
    """The operations of a GPU that the GPU engine and the placements need."""

    name: str
    xp: Any  # cupy, or numpy on the emulated device
    multiprocessors: int
    cache_bytes: int  # bytes of the cache that all multiprocessors share
    block_bytes: int  # bytes of shared memory that a block can have at most

    def has_turn(self, turn: int) -> bool:
        """Return whether this is the machine's device `turn`, modulo the number of devices."""
        ...

    def compile(self, source: str, name: str, passed: Passed) -> Kernel:
        """Compile the kernel `name` of a text; `passed`: the types of its parameters."""
        ...

    def memory(self) -> tuple[int, int]:
        """Return the free and the total bytes of the device's memory."""
        ...

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Pages:
        """Allocate host memory that kernels read; without `wait` the bytes become ready later, in ascending order."""
        ...

    def map(self, array: NDArray[np.uint8]) -> Pages:
        """Let kernels read a file's pages that the host has mapped; raise OutOfMemory if the driver refuses."""
        ...

    def managed_is_safe(self) -> bool:
        """Return whether kernels and the host can access managed pages at the same time, without migration."""
        ...

    def asnumpy(self, array: Any) -> NDArray[Any]: ...
    def pointer(self, array: Any) -> int: ...
    def copy_in(self, array: Any, host: NDArray[Any], kind: str = "pinned") -> None:
        """Fill a device array from as many bytes of host memory, which are pages of `kind`, at the link's full rate."""

    def copy_pageable(self, array: Any, host: NDArray[Any]) -> Arrival:
        """Begin to fill a device array from memory that is not pinned and stays unchanged until the copy has ended."""
        ...

    def copy_out(self, array: Any, host: NDArray[Any], kind: str = "pinned", wait: bool = True) -> None:
        """Copy from the device to the host; without `wait` the host may read the bytes after :meth:`synchronize`."""

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy between device addresses, of any card that this one reaches, in the order of the kernels."""

    def synchronize(self) -> None: ...
    def cards(self) -> list[int]:
        """Return the free bytes of each card whose memory kernels can reach, in :meth:`spread`'s order."""
        ...

    def spread(self, nbytes: int) -> Any:
        """Return uninitialised bytes spread over all :meth:`cards`; raise OutOfMemory if they have too few."""
        ...

    def window(self, nbytes: int) -> Window:
        """Allocate device memory that other processes can open."""
        ...

    def open_window(self, name: bytes, nbytes: int) -> Any:
        """Return the bytes of another process's window; raise DeviceUnavailable if this device cannot reach them."""
        ...

    def signal(self) -> Signal:
        """Return a new signal that other processes can open; raise DeviceUnavailable if this device has none."""
        ...

    def open_signal(self, name: bytes) -> Callable[[], None]:
        """Return a function that makes later kernels and moves wait for another process's signal, as last recorded.

        The host does not wait. Raise DeviceUnavailable if this device cannot.
        """
        ...

    def copies(self) -> Copies:
        """Return a stream of copies from pinned host memory that run beside the kernels."""
        ...

    def traffic(self, kernel: Kernel) -> tuple[int, int, int]:
        """Return the requests to host memory, their sectors (32 bytes), and the sectors of segments in device memory.

        A counting kernel counted them since the last call of this method.
        """
        ...

    def record(self) -> AbstractContextManager[Recording]:
        """Record the kernels that are launched within the context, instead of running them."""
        ...


class Arrival(Protocol):
    """A copy to the device that runs beside kernels and beside the host's own work."""

    def wait(self, nbytes: int) -> int:
        """Wait until kernels can read the first `nbytes` bytes; return how many bytes from the start they can read."""
        ...


class Copies(Protocol):
    """A stream of copies to the device, which run in order and beside kernels."""

    def wait(self) -> None:
        """Make later copies wait for all kernels launched so far."""

    def copy(self, target: Any, host: NDArray[Any]) -> None:
        """Begin to fill a device array; `host` must be pinned, and unchanged until the copy has ended."""

    def join(self) -> None:
        """Make kernels launched later wait for the copies issued so far."""

    def mark(self) -> Callable[[], None]:
        """Return a function with which the host waits for the copies issued so far."""
        ...


class Recording(Protocol):
    """Recorded kernels that can run again, in their order."""

    def replay(self) -> None: ...


_T = TypeVar("_T")
_givers: list[Callable[[], bool]] = []


def when_short(give: Callable[[], bool]) -> None:
    """Register a function to call when an allocation fails; it frees memory and returns whether it freed any."""
    _givers.append(give)


def giving(allocate: Callable[[int], _T]) -> Callable[[int], _T]:
    """Return an allocator that frees caches and tries again before it fails."""

    def allocated(nbytes: int) -> _T:
        try:
            return allocate(nbytes)
        except MemoryError:  # CuPy's own, or that of an allocator which the user gave to CuPy
            gave = [give() for give in _givers]
            if not any(gave):
                raise
            return allocate(nbytes)

    return allocated
