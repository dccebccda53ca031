"""Where the arrays of a matrix lie.

A *placement* is one file of this room: :mod:`~sparsezc.memory.host` (NumPy arrays, for the CPU engine),
:mod:`~sparsezc.memory.device` (the card's own memory), :mod:`~sparsezc.memory.zerocopy` (host memory that kernels
read over the link) and :mod:`~sparsezc.memory.mapped` (a file's pages, which they read in the same way). Each makes
:class:`Buffer` objects through :func:`allocate`; :mod:`~sparsezc.memory.budget` says how much of the card may be used
and resolves ``"auto"``.

>>> from sparsezc import memory
>>> ids = memory.allocate("host", 4, "uint32")
>>> ids.write(0, [3, 1]); ids.write(2, [2, 0])
>>> ids.read(1)
array([1, 2, 0], dtype=uint32)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sparsezc.errors import InvalidValue
from sparsezc.memory.buffer import Buffer

__all__ = ["PLACEMENTS", "Buffer", "allocate", "wrap"]

#: The placements by name; each is the module of this name, with a function ``allocate(count, dtype)``.
PLACEMENTS = ("host", "device", "zerocopy", "mapped")


def allocate(placement: str, count: int, dtype: DTypeLike) -> Buffer:
    """Make an uninitialised array of `count` entries in a placement.

    Parameters
    ----------
    placement : {"host", "device", "zerocopy", "mapped"}
        What is made for "mapped" is zero-copy memory: a file that is mapped holds what it holds.
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
    if placement not in PLACEMENTS:
        raise InvalidValue(f"placement={placement!r} is not a placement; choose one of {', '.join(PLACEMENTS)}")
    module: Any = import_module(f"sparsezc.memory.{placement}")
    buffer: Buffer = module.allocate(int(count), np.dtype(dtype))
    return buffer


def wrap(array: Any) -> Buffer:
    """Give a NumPy array a Buffer's face, without a copy where it is contiguous."""
    from sparsezc.memory.host import HostBuffer

    return HostBuffer(np.ascontiguousarray(array))
