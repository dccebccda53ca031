"""The memory of a matrix's arrays: buffers, placements and budgets.

Each kind of memory has a module: :mod:`~sparsezc.memory.host` (NumPy arrays, for the CPU engine),
:mod:`~sparsezc.memory.device` (device memory), :mod:`~sparsezc.memory.zerocopy` (host memory that kernels read over the
host link), :mod:`~sparsezc.memory.mapped` (a file's pages, which kernels read in the same way) and
:mod:`~sparsezc.memory.uvm` (migrating pages). A *placement* is one of these together with the way in which products
read it: one record in :mod:`~sparsezc.memory.placement`. :func:`allocate` makes :class:`Buffer` objects;
:mod:`~sparsezc.memory.budget` computes the device memory that may be used and resolves ``"auto"``.

>>> from sparsezc import memory
>>> ids = memory.allocate("host", 4, "uint32")
>>> ids.write(0, [3, 1]); ids.write(2, [2, 0])
>>> ids.read(1)
array([1, 2, 0], dtype=uint32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.memory.buffer import Buffer as Buffer
    from sparsezc.memory.buffer import allocate as allocate
    from sparsezc.memory.buffer import allocate_all as allocate_all
    from sparsezc.memory.host import wrap as wrap
else:  # imported at first use: config.py and the command line read placements' records without importing NumPy
    __all__, __getattr__, __dir__ = first_use.names(
        __name__, {"buffer": "Buffer allocate allocate_all", "host": "wrap"}
    )
