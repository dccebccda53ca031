"""The interface of arrays in all placements, written and read part by part, and their allocation.

An array is allocated by the module of its kind of memory, which the placement's record names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sparsezc.device import cuda
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.placement import RECORDS

_LANDED = 256 << 20  # bytes of one copy from the device to the host: 5 ms of the link


class Buffer(ABC):
    """One array of `count` entries of `dtype` in some placement.

    Attributes
    ----------
    count, nbytes : int
    dtype : numpy.dtype
    placement : str
        The name of its placement.
    pages : str
        Its kind of memory ("numpy", "device", "managed", "pinned", "migrating", "file"), which ``info`` and ``doctor``
        print.
    """

    placement: str
    pages: str

    def __init__(self, count: int, dtype: np.dtype[Any]) -> None:
        self.count = count
        self.dtype = np.dtype(dtype)
        self.nbytes = count * self.dtype.itemsize

    def __len__(self) -> int:
        return self.count

    @property
    @abstractmethod
    def pointer(self) -> int:
        """Return the address of the first entry, for use by the engine of this placement."""

    @abstractmethod
    def write(self, start: int, array: ArrayLike) -> None:
        """Fill the entries from `start` on with `array`, converted to the buffer's dtype."""

    def begin_write(self, start: int, array: Any) -> None:
        """Begin to write a device array, whose entries can be read once the device is idle."""
        self.write(start, array)

    @abstractmethod
    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries ``start:stop`` as a NumPy array; a view if they are in host memory."""

    @abstractmethod
    def load(self, start: int = 0, stop: int | None = None) -> Any:
        """Return the entries ``start:stop`` as a device array; a read-only view if they are in device memory."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.count} x {self.dtype} in {self.placement} ({self.pages})>"


def index_dtype(ncols: int, placement: str) -> np.dtype[Any]:
    """Return the type of a matrix's column ids: 4 bytes if they suffice; for the CPU engine SuiteSparse's 8 bytes."""
    return np.dtype(np.uint32 if RECORDS[placement].kernels and ncols <= 2**32 else np.uint64)


def allocate(placement: str, count: int, dtype: DTypeLike, *, wait: bool = True) -> Buffer:
    """Return an uninitialised array of `count` entries in a placement.

    Parameters
    ----------
    placement : str
        A name in :data:`sparsezc.memory.placement.RECORDS`. New arrays for "mapped" are in zero-copy memory, as a
        mapped file cannot be changed.
    count : int
        The number of entries.
    dtype : dtype-like
        The type of one entry.
    wait : bool
        If False, host memory may become ready later, in ascending order: it must be written before it is read, and
        :meth:`~sparsezc.memory.Buffer.write` waits for the pages that it needs.

    Raises
    ------
    InvalidValue
        The name is no placement.
    OutOfMemory
        Memory is too small; the message has the bytes needed and free.
    DeviceUnavailable
        The placement needs a GPU and there is none.
    """
    (buffer,) = allocate_all(placement, (count, dtype), wait=wait)
    return buffer


def allocate_all(placement: str, *arrays: tuple[int, DTypeLike], wait: bool = True) -> list[Buffer]:
    """Return an array for each (count, dtype), as :func:`allocate` does, or raise OutOfMemory if not all fit.

    >>> [len(buffer) for buffer in allocate_all("host", (4, "uint32"), (1, "bool"))]
    [4, 1]
    """
    if placement not in RECORDS:
        raise InvalidValue(f"placement={placement!r} is not a placement; choose one of {', '.join(RECORDS)}")
    made: Any = RECORDS[placement].memory
    sizes = [(int(count), np.dtype(dtype)) for count, dtype in arrays]
    if isinstance(made, str):
        module = import_module(f"{__package__}.{made}")
        if hasattr(module, "allocate_all"):
            buffers: list[Buffer] = module.allocate_all(sizes, placement, wait)
            return buffers
        made = module.allocate
    return [made(count, dtype, placement) for count, dtype in sizes]


def copied(
    source: Buffer,
    placement: str,
    dtype: DTypeLike,
    chunk: int = 1 << 24,
    told: Callable[[int], None] = lambda _: None,
) -> Buffer:
    """Return a copy of a buffer in another placement; `told` is called with the number of entries after each `chunk`.

    From device memory entries are copied into host pages directly, into ready pages while others are still touched.
    """
    direct = RECORDS[source.placement].resident and RECORDS[placement].kernels
    target = allocate(placement, source.count, dtype, wait=not direct)
    step = _LANDED // target.dtype.itemsize if direct else chunk
    for start in range(0, source.count, step):
        stop = min(start + step, source.count)
        if direct:
            target.begin_write(start, source.load(start, stop))
        else:
            target.write(start, source.read(start, stop))
        told(stop - start)
    if direct:
        cuda.current().synchronize()
    return target
