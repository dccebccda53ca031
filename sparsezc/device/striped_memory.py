"""The memory of several cards as one range of addresses, through CUDA's virtual memory management.

Physical memory is allocated on the cards stripe by stripe; the stripes are mapped to consecutive addresses, which this
process's card can read and write, over NVLink where the cards have it. Kernels see one array.

Source: CUDA C++ Programming Guide, section Virtual Memory Management.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_int, c_size_t, c_ubyte, c_uint64, c_void_p
from typing import Any

from sparsezc.exceptions import DeviceUnavailable, OutOfMemory

__all__ = ["STRIPE", "Range", "owners"]

#: Bytes of a stripe: few enough that reads of neighbouring rows are spread over the cards.
STRIPE = 64 << 20
_DEVICE, _PINNED, _READ_WRITE = (
    1,
    1,
    3,
)  # CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_PINNED, ..._PROT_READWRITE
_OUT_OF_MEMORY = 2


class _Location(ctypes.Structure):
    _fields_ = (("type", c_int), ("id", c_int))


class _Properties(ctypes.Structure):
    _fields_ = (
        ("type", c_int),
        ("handle_types", c_int),
        ("location", _Location),
        ("windows", c_void_p),
        ("flags", c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", c_int))


def owners(nbytes: int, free: Sequence[int]) -> list[int]:
    """Return the card of each stripe of an array: a stripe is allocated on the card with the most memory left.

    Parameters
    ----------
    nbytes : int
    free : sequence of int
        The free bytes of each card.

    Raises
    ------
    OutOfMemory
        The free memory of all cards is too small.

    >>> owners(4 * STRIPE, [3 * STRIPE, 2 * STRIPE])
    [0, 0, 1, 0]
    """
    left, found = list(free), []
    for _ in range(-(-nbytes // STRIPE)):
        card = max(range(len(left)), key=left.__getitem__)
        if left[card] < STRIPE:
            raise OutOfMemory(
                f"{nbytes:,} bytes over {len(left)} cards were requested; their free bytes are {list(free)}"
            )
        left[card] -= STRIPE
        found.append(card)
    return found


class Range:
    """A range of addresses mapped to stripes of several cards' memory; :meth:`close` frees both.

    Attributes
    ----------
    address, nbytes : int
    """

    def __init__(self, cards: Sequence[int], reader: int) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self.nbytes, self._stripes = len(cards) * STRIPE, 0
        self.address = 0
        address = c_uint64()
        self._call(
            "cuMemAddressReserve", byref(address), c_size_t(self.nbytes), c_size_t(STRIPE), c_uint64(0), c_uint64(0)
        )
        self.address = address.value
        try:
            for card in cards:
                self._add(card)
            access = _Access(_Location(_DEVICE, reader), _READ_WRITE)
            self._call("cuMemSetAccess", address, c_size_t(self.nbytes), byref(access), c_size_t(1))
        except BaseException:
            self.close()
            raise

    def _add(self, card: int) -> None:
        """Allocate a stripe of a card's memory and map it after the earlier stripes."""
        wanted = _Properties(type=_PINNED, location=_Location(_DEVICE, card))
        memory = c_uint64()
        self._call("cuMemCreate", byref(memory), c_size_t(STRIPE), byref(wanted), c_uint64(0))
        try:
            at = c_uint64(self.address + self._stripes * STRIPE)
            self._call("cuMemMap", at, c_size_t(STRIPE), c_size_t(0), memory, c_uint64(0))
            self._stripes += 1
        finally:
            self._call("cuMemRelease", memory)  # the mapping keeps the memory

    def close(self) -> None:
        """Free addresses and memory; no kernel may use them any more."""
        if self._stripes:
            self._call("cuMemUnmap", c_uint64(self.address), c_size_t(self._stripes * STRIPE))
            self._stripes = 0
        if self.address:
            self._call("cuMemAddressFree", c_uint64(self.address), c_size_t(self.nbytes))
            self.address = 0

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._driver, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(c_int(code), byref(text))
            said = f"{name}: {(text.value or b'unknown error').decode()}"
            if code == _OUT_OF_MEMORY:
                raise OutOfMemory(f"{self.nbytes:,} bytes over several cards were requested: {said}")
            raise DeviceUnavailable(f"the cards' memory cannot be mapped as one range: {said}")
