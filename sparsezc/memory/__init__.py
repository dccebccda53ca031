"""The memory of a matrix's arrays.

Each kind of memory is a file: :mod:`~sparsezc.memory.host` (NumPy arrays, for the CPU engine),
:mod:`~sparsezc.memory.device` (device memory), :mod:`~sparsezc.memory.zerocopy` (host memory that kernels read over the
host link), :mod:`~sparsezc.memory.mapped` (a file's pages, which kernels read in the same way) and
:mod:`~sparsezc.memory.uvm` (pages that migrate). A *placement* is one of these together with the way in which products
read it: one record in :mod:`~sparsezc.memory.placement`. :func:`allocate` makes :class:`Buffer` objects;
:mod:`~sparsezc.memory.budget` says how much device memory may be used and resolves ``"auto"``.

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
    """Load names that need NumPy at their first use: config.py and the command line read the records before."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "host" if name == "wrap" else "buffer"
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found
