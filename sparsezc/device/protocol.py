"""The operations of a GPU that the GPU engine and the placements need, and the recovery of memory that is short.

:class:`~sparsezc.device.cupy_device.Cuda` does it with CuPy, the tests' emulated device on the CPU.
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


#: Launches a kernel once more, with other values of the arguments of one group.
Relaunch = Callable[[tuple[Any, ...]], None]


class Kernel(Protocol):
    """A compiled kernel."""

    def __call__(self, blocks: int, threads: int, arguments: tuple[Any, ...]) -> None: ...

    def reserve(self, nbytes: int) -> None:
        """Give each block of later launches so many bytes of shared memory, at most the device's `block_bytes`."""

    def keep(self, blocks: int, threads: int, arguments: tuple[Any, ...], first: int, count: int) -> Relaunch:
        """Return a function that launches these blocks with `count` other arguments from the place `first` on.

        It takes them as one tuple. It keeps the addresses of the arrays among the other arguments, and not the arrays.
        """
        ...

    def at_once(self, threads: int) -> int:
        """Return the most blocks of so many threads that the device runs at the same time."""
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
    ready: Callable[[int], None] | None = None  # waits until the first so many bytes may be used; None: all may be

    def wait_for_all(self) -> Pages:
        """Return itself once every byte may be used."""
        if self.ready is not None:
            self.ready(self.array.nbytes)
            self.ready = None
        return self


@dataclass(eq=False)
class Window:
    """Device memory that other processes of this machine can open by a name; their views must be gone before it is."""

    array: Any  # bytes
    name: bytes


@dataclass(eq=False)
class Signal:
    """A mark in a device's order of work, for which devices of other processes wait: they open it by its name."""

    give: Callable[[], None]  # once the kernels and moves so far have ended, and none that follow
    name: bytes


class Device(Protocol):
    """The operations of a GPU that the GPU engine and the placements need."""

    name: str
    xp: Any  # cupy, or numpy on the emulated device
    multiprocessors: int
    cache_bytes: int  # of the cache that all multiprocessors share
    block_bytes: int  # of shared memory, the most that a block can have

    def has_turn(self, turn: int) -> bool:
        """Return whether this is the machine's device of a number, counted modulo their number."""
        ...

    def compile(self, source: str, name: str, passed: Passed) -> Kernel:
        """Compile a text's kernel of this name; `passed`: the types of its parameters."""
        ...

    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the device's memory."""
        ...

    def pages(self, nbytes: int, kind: str, wait: bool = True) -> Pages:
        """Allocate host memory; without `wait` its first bytes may be ready before the others."""
        ...

    def map(self, array: NDArray[np.uint8]) -> Pages:
        """Map a file's pages, mapped by the host, for kernels to read only; raise OutOfMemory if that is refused."""
        ...

    def managed_is_safe(self) -> bool:
        """Return whether a kernel and the host can share managed pages without migrating them."""
        ...

    def asnumpy(self, array: Any) -> NDArray[Any]: ...
    def pointer(self, array: Any) -> int: ...
    def copy_in(self, array: Any, host: NDArray[Any], kind: str = "pinned") -> None:
        """Fill a device array from as many bytes of host memory; from pages of this kind, at the link's own rate."""

    def copy_pageable(self, array: Any, host: NDArray[Any]) -> Arrival:
        """Begin to fill a device array from memory that is not pinned, and stays unchanged until it has arrived."""
        ...

    def copy_out(self, array: Any, host: NDArray[Any], kind: str = "pinned", wait: bool = True) -> None:
        """Copy from the device to the host; without `wait` the bytes are there once :meth:`synchronize` returns."""

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy between addresses of device memory, of any card that this one reaches, in the order of the kernels."""

    def synchronize(self) -> None: ...
    def cards(self) -> list[int]:
        """Return the free bytes of each card whose memory kernels can reach, in :meth:`spread`'s order."""
        ...

    def spread(self, nbytes: int) -> Any:
        """Return uninitialised bytes in the memory of all :meth:`cards`; raise OutOfMemory if they have too little."""
        ...

    def window(self, nbytes: int) -> Window:
        """Allocate device memory that other processes can open."""
        ...

    def open_window(self, name: bytes, nbytes: int) -> Any:
        """Return the bytes of another process's window; raise DeviceUnavailable if this device cannot reach them."""
        ...

    def signal(self) -> Signal:
        """Make a signal that other processes can open; raise DeviceUnavailable if this device has none."""
        ...

    def open_signal(self, name: bytes) -> Callable[[], None]:
        """Return a function that lets later kernels and moves wait for another process's signal, as it was last given.

        The host does not wait. Raise DeviceUnavailable if this device cannot.
        """
        ...

    def copies(self) -> Copies:
        """Return a lane for copies from pinned host memory beside the kernels."""
        ...

    def traffic(self, kernel: Kernel) -> tuple[int, int, int]:
        """Return the requests and sectors (32 bytes) of host memory, and the sectors of segments in device memory.

        These are the counts of a counting kernel since the last call.
        """
        ...

    def record(self) -> AbstractContextManager[Recording]:
        """Record the kernels that are launched within the context, instead of running them."""
        ...


class Arrival(Protocol):
    """A copy to the device that runs beside kernels and beside the host's own work."""

    def wait(self, nbytes: int) -> int:
        """Wait until later kernels find so many bytes from the start on; return how many they find."""
        ...


class Copies(Protocol):
    """Copies to the device that run beside kernels, in their order."""

    def wait(self) -> None:
        """Let the next copies begin once all kernels launched so far have ended."""

    def copy(self, target: Any, host: NDArray[Any]) -> None:
        """Begin to fill a device array; the host's must be pinned, and stay unchanged until the copy has ended."""

    def join(self) -> None:
        """Let kernels launched later wait for the copies so far."""

    def mark(self) -> Callable[[], None]:
        """Return a function with which the host waits for the copies so far."""
        ...


class Recording(Protocol):
    """Recorded kernels that can run again, in their order."""

    def replay(self) -> None: ...


_T = TypeVar("_T")
_givers: list[Callable[[], bool]] = []


def when_short(give: Callable[[], bool]) -> None:
    """Have `give` called when an allocation fails; it frees device memory and returns whether it freed any."""
    _givers.append(give)


def giving(allocate: Callable[[int], _T]) -> Callable[[int], _T]:
    """Wrap an allocator so that it frees caches before it fails."""

    def allocated(nbytes: int) -> _T:
        try:
            return allocate(nbytes)
        except MemoryError:  # CuPy's, or that of an allocator which the user gave it
            gave = [give() for give in _givers]
            if not any(gave):
                raise
            return allocate(nbytes)

    return allocated
