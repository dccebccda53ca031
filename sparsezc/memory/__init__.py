"""Where the arrays of a matrix lie.

The kinds of memory are one file each: :mod:`~sparsezc.memory.host` (NumPy arrays, for the CPU engine),
:mod:`~sparsezc.memory.device` (the card's own memory), :mod:`~sparsezc.memory.zerocopy` (host memory that kernels
read over the link), :mod:`~sparsezc.memory.mapped` (a file's pages, which they read in the same way) and
:mod:`~sparsezc.memory.uvm` (pages that migrate). A *placement* is one of these together with the way in which products
get at it: one record in :mod:`~sparsezc.memory.placement`. :func:`allocate` makes :class:`Buffer` objects;
:mod:`~sparsezc.memory.budget` says how much of the card may be used and resolves ``"auto"``.

>>> from sparsezc import memory
>>> ids = memory.allocate("host", 4, "uint32")
>>> ids.write(0, [3, 1]); ids.write(2, [2, 0])
>>> ids.read(1)
array([1, 2, 0], dtype=uint32)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.memory.buffer import Buffer as Buffer
    from sparsezc.memory.buffer import allocate as allocate
    from sparsezc.memory.buffer import allocate_all as allocate_all
    from sparsezc.memory.host import wrap as wrap

__all__ = ["Buffer", "allocate", "allocate_all", "wrap"]


def __getattr__(name: str) -> Any:
    """Load what needs NumPy at its first use: the records are read before (config.py, the command line's arguments)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "host" if name == "wrap" else "buffer"
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found
