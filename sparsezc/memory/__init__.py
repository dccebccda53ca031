"""Where the arrays of a matrix lie.

The kinds of memory are one file each: :mod:`~sparsezc.memory.host` (NumPy arrays, for the CPU engine),
:mod:`~sparsezc.memory.device` (the card's own memory), :mod:`~sparsezc.memory.zerocopy` (host memory that kernels
read over the link), :mod:`~sparsezc.memory.mapped` (a file's pages, which they read in the same way) and
:mod:`~sparsezc.memory.uvm` (pages that migrate). A *placement* is one of these together with the way in which products
get at it: ``stream``, ``gather``, ``cached`` and ``hybrid`` lie in host memory that kernels can read, too, and
``sparsezc/engines/gpu/placements/`` serves them. :func:`allocate` makes :class:`Buffer` objects;
:mod:`~sparsezc.memory.budget` says how much of the card may be used and resolves ``"auto"``.

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

__all__ = ["GPU_PLACEMENTS", "PLACEMENTS", "Buffer", "allocate", "allocate_all", "wrap"]

#: The module behind each placement of the GPU engine, which has a function ``allocate(count, dtype, placement)``.
_MODULES = {
    "device": "device",
    "zerocopy": "zerocopy",
    "mapped": "mapped",
    "hybrid": "zerocopy",
    "cached": "zerocopy",
    "gather": "zerocopy",
    "stream": "zerocopy",
    "uvm": "uvm",
}
GPU_PLACEMENTS = tuple(_MODULES)
PLACEMENTS = ("host", *GPU_PLACEMENTS)
#: Those whose entries kernels read over the link where they lie, if they are on the host.
IN_PLACE = ("zerocopy", "mapped", "hybrid")


def allocate(placement: str, count: int, dtype: DTypeLike) -> Buffer:
    """Make an uninitialised array of `count` entries in a placement.

    Parameters
    ----------
    placement : {"host", "device", "zerocopy", "mapped", "hybrid", "cached", "gather", "stream", "uvm"}
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
    module = _module(placement)
    buffer: Buffer = module.allocate(int(count), np.dtype(dtype), placement)
    return buffer


def allocate_all(placement: str, *arrays: tuple[int, DTypeLike]) -> list[Buffer]:
    """Make several arrays, of which all or none fit: a (count, dtype) each; as :func:`allocate` makes one.

    >>> [len(buffer) for buffer in allocate_all("host", (4, "uint32"), (1, "bool"))]
    [4, 1]
    """
    module = _module(placement)
    sizes = [(int(count), np.dtype(dtype)) for count, dtype in arrays]
    if hasattr(module, "allocate_all"):
        buffers: list[Buffer] = module.allocate_all(sizes, placement)
        return buffers
    return [module.allocate(count, dtype, placement) for count, dtype in sizes]


def _module(placement: str) -> Any:
    """The module of a placement's memory."""
    if placement not in PLACEMENTS:
        raise InvalidValue(f"placement={placement!r} is not a placement; choose one of {', '.join(PLACEMENTS)}")
    return import_module(f"sparsezc.memory.{_MODULES.get(placement, placement)}")


def wrap(array: Any) -> Buffer:
    """Give a NumPy array a Buffer's face, without a copy where it is contiguous."""
    from sparsezc.memory.host import HostBuffer

    return HostBuffer(np.ascontiguousarray(array))
