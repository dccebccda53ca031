"""The memory from which the driver reads a kernel's arguments, allocated once per kernel and written at each launch.

The driver is given the address of each argument; before the launch returns, it copies the bytes of the kernel's
parameter from there. The addresses are computed once; a launch writes all arguments in one call, in a third of the time
in which CuPy makes an object of each. The caller ensures that only one thread at a time writes and launches.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from sparsezc.device.signature import Passed

#: The types of arguments that are passed by value; all others are device arrays, of which the address is passed.
_BY_VALUE = frozenset({int, bytes, *(np.dtype(code).type for code in "?bhilqBHILQfdFD")})


class ArgumentSlots:
    """One memory slot for each argument of a kernel, of eight bytes or of the argument's type.

    Parameters
    ----------
    passed : sequence of numpy.dtype or None
        The types of the kernel's parameters; None for a pointer.

    Attributes
    ----------
    address : int
        The address of the array of the slots' addresses, which the driver takes.
    """

    __slots__ = ("_addresses", "_codes", "_complex", "_memory", "_pack", "address")

    def __init__(self, passed: Passed) -> None:
        self._codes = codes = [_code(dtype) for dtype in passed]
        packer = struct.Struct("=" + "".join(codes))
        self._pack = packer.pack_into
        self._complex = [place for place, dtype in enumerate(passed) if dtype is not None and dtype.kind == "c"]
        self._memory = (ctypes.c_char * packer.size)()
        start = ctypes.addressof(self._memory)
        *slots, _ = accumulate((struct.calcsize("=" + code) for code in codes), initial=start)
        self._addresses = (ctypes.c_void_p * len(codes))(*slots)
        self.address = ctypes.addressof(self._addresses)

    def write(self, arguments: Sequence[Any]) -> None:
        """Write all arguments, in the parameters' order: device arrays, addresses or numbers."""
        values = [value if type(value) in _BY_VALUE else value.data.ptr for value in arguments]
        for place in self._complex:
            values[place] = values[place].tobytes()
        self._pack(self._memory, 0, *values)

    def part(self, first: int, count: int) -> Callable[[Sequence[Any]], None]:
        """Return a function that rewrites `count` arguments from number `first` on, none of which may be complex."""
        before, codes = ("=" + "".join(x) for x in (self._codes[:first], self._codes[first : first + count]))
        start, pack, memory = struct.calcsize(before), struct.Struct(codes).pack_into, self._memory

        def write(arguments: Sequence[Any]) -> None:
            pack(memory, start, *[value if type(value) in _BY_VALUE else value.data.ptr for value in arguments])

        return write


def _code(dtype: np.dtype[Any] | None) -> str:
    """Return the format by which `struct` writes a slot; an integer fills eight bytes and is read in part."""
    if dtype is None or dtype.kind == "u":
        return "Q"
    if dtype.kind == "i":
        return "q"
    return f"{dtype.itemsize}s" if dtype.kind == "c" else {"?": "?7x", "f": "f4x", "d": "d"}[dtype.char]
