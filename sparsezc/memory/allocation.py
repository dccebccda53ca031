"""Allocation of buffers in a placement."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sparsezc.errors import InvalidValue
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import RECORDS


def allocate(placement: str, count: int, dtype: DTypeLike) -> Buffer:
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

    Raises
    ------
    InvalidValue
        The name is no placement.
    OutOfMemory
        Memory is short; the message gives both sizes in bytes.
    DeviceUnavailable
        The placement needs a GPU and there is none.
    """
    (buffer,) = allocate_all(placement, (count, dtype))
    return buffer


def allocate_all(placement: str, *arrays: tuple[int, DTypeLike]) -> list[Buffer]:
    """Return several arrays, of which all or none fit: a (count, dtype) each; as :func:`allocate` makes one.

    >>> [len(buffer) for buffer in allocate_all("host", (4, "uint32"), (1, "bool"))]
    [4, 1]
    """
    if placement not in RECORDS:
        raise InvalidValue(f"placement={placement!r} is not a placement; choose one of {', '.join(RECORDS)}")
    made: Any = RECORDS[placement].memory
    sizes = [(int(count), np.dtype(dtype)) for count, dtype in arrays]
    if isinstance(made, str):
        module = import_module(made)
        if hasattr(module, "allocate_all"):
            buffers: list[Buffer] = module.allocate_all(sizes, placement)
            return buffers
        made = module.allocate
    return [made(count, dtype, placement) for count, dtype in sizes]


def wrap(array: Any) -> Buffer:
    """Return a NumPy array as a Buffer, without a copy if it is contiguous."""
    from sparsezc.memory.host import HostBuffer

    return HostBuffer(np.ascontiguousarray(array))
