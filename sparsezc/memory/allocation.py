"""Making buffers in a placement."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sparsezc.errors import InvalidValue
from sparsezc.memory.buffer import Buffer
from sparsezc.memory.placement import RECORDS


def allocate(placement: str, count: int, dtype: DTypeLike) -> Buffer:
    """Make an uninitialised array of `count` entries in a placement.

    Parameters
    ----------
    placement : str
        A name of :data:`sparsezc.memory.placement.RECORDS`. What is made for "mapped" is zero-copy memory: a file that
        is mapped holds what it holds.
    count : int
        Number of entries.
    dtype : dtype-like
        Type of one entry.

    Raises
    ------
    InvalidValue
        For a name that is no placement.
    OutOfMemory
        When the memory asked for is not there; the message gives both sizes in bytes.
    DeviceUnavailable
        When the placement needs a GPU and there is none.
    """
    (buffer,) = allocate_all(placement, (count, dtype))
    return buffer


def allocate_all(placement: str, *arrays: tuple[int, DTypeLike]) -> list[Buffer]:
    """Make several arrays, of which all or none fit: a (count, dtype) each; as :func:`allocate` makes one.

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
    """Give a NumPy array a Buffer's face, without a copy where it is contiguous."""
    from sparsezc.memory.host import HostBuffer

    return HostBuffer(np.ascontiguousarray(array))
