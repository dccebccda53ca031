"""The allocation of buffers: an array in a placement is made by the file of its kind of memory."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sparsezc.device import cuda
from sparsezc.errors import InvalidValue
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import RECORDS

__all__ = ["allocate", "allocate_all", "copied"]

_LANDED = 256 << 20  # bytes that one copy brings from the device to the host: 5 ms of the link


def allocate(placement: str, count: int, dtype: DTypeLike, *, wait: bool = True) -> Buffer:
    """Return an uninitialised array of `count` entries in a placement.

    Parameters
    ----------
    placement : str
        A name of :data:`sparsezc.memory.placement.RECORDS`. New arrays for "mapped" are in zero-copy memory, as a
        mapped file cannot be changed.
    count : int
        The number of entries.
    dtype : dtype-like
        The type of one entry.
    wait : bool
        Without it host memory may become ready part by part, in ascending order: all of it must be written before it is
        read, and :meth:`~sparsezc.memory.Buffer.write` waits for what it needs.

    Raises
    ------
    InvalidValue
        The name is no placement.
    OutOfMemory
        Memory is short; the message gives both sizes in bytes.
    DeviceUnavailable
        The placement needs a GPU and there is none.
    """
    (buffer,) = allocate_all(placement, (count, dtype), wait=wait)
    return buffer


def allocate_all(placement: str, *arrays: tuple[int, DTypeLike], wait: bool = True) -> list[Buffer]:
    """Return several arrays, of which all or none fit: a (count, dtype) each; as :func:`allocate` makes one.

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
    """Return a buffer's entries in another placement, copied `chunk` entries at a time, each of which is told.

    From the device they cross into pages of the host directly: into those that are ready, while others are made.
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
