"""The addresses of a Matrix's arrays in SuiteSparse, read from an iterator in a fifth of a microsecond.

Taking arrays out of a Matrix and putting them back takes 25 times as long, as settings are lost and set again.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from suitesparse_graphblas import ffi, lib

from sparsezc.engines.cpu.suitesparse import native

__all__ = ["BY_ROWS", "FULL", "Finder"]

# GB_Iterator_opaque of GraphBLAS.h, whose macros read it: words of 8 bytes, at these places.
_SIZES, _ROWS, _OFFSETS, _LISTED, _IDS, _VALUES, _KIND = 5, 8, 9, 10, 12, 13, 15
_WORDS = 16
_ISO = 1 << 32  # the bit of iso-valued objects, above the format
BY_ROWS = lib.GxB_HYPERSPARSE, lib.GxB_SPARSE
FULL: int = lib.GxB_FULL
_INDEX = np.dtype(np.int64)  # sizes stay below 2**60, so signs do not matter

_Pattern = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]


class Finder:
    """An iterator of SuiteSparse, and the arrays that it found last: making arrays takes longer than finding them."""

    __slots__ = ("_iterator", "_known", "_pattern", "_words", "iso")

    def __init__(self) -> None:
        made = ffi.new("GxB_Iterator*")
        native.gb.exceptions.check_status_carg(lib.GxB_Iterator_new(made), "Matrix", made[0])
        self._iterator = made[0]
        self._words = np.frombuffer(ffi.buffer(ffi.cast("void*", made[0]), 8 * _WORDS), _INDEX)
        self._known, self.iso = b"", False
        self._pattern: _Pattern = np.zeros(1, _INDEX), np.empty(0, _INDEX), None

    @staticmethod
    def unused() -> Finder:
        """Return a finder that is not in use, for a ``with`` statement; its arrays may be used after the statement."""
        try:
            return _free.pop()
        except IndexError:
            return Finder()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        _free.append(self)

    def attach(self, store: Any) -> int:
        """Find the arrays of a Matrix's sorted rows, or of a Vector's values, and return the format.

        Returns 0 if a Matrix is not stored by rows, or if this SuiteSparse's iterators are not as expected.
        """
        find = _rows if store.ndim == 2 else _values
        if find(self._iterator, store.gb_obj[0], ffi.NULL) or not _tells():
            return 0
        kind = int(self._words[_KIND])
        self.iso = bool(kind & _ISO)
        return kind & 0xFFFFFFFF

    def pattern(self) -> _Pattern:
        """Return the row offsets, the ids of all entries, and the listed rows (None: all rows)."""
        known = self._words[_SIZES:_VALUES].tobytes()
        found = self._pattern
        if known != self._known or found[0][-1] != found[1].size:
            rows, offsets, listed, _, ids = self._words[_ROWS:_VALUES].tolist()
            indptr = _seen(offsets, rows + 1, _INDEX)
            some = _seen(listed, rows, _INDEX) if listed else None
            found = self._pattern = indptr, _seen(ids, int(indptr[-1]), _INDEX), some
            self._known = known
        return found

    def values(self, store: Any, count: int) -> NDArray[Any]:
        """Return the first `count` values."""
        return _seen(int(self._words[_VALUES]), count, store.dtype.np_type)


_free: list[Finder] = []
_rows, _values = lib.GxB_rowIterator_attach, lib.GxB_Vector_Iterator_attach  # a look-up takes as long as a call


def _seen(address: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return SuiteSparse's memory at an address as an array."""
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer(ffi.buffer(ffi.cast("void*", address), count * dtype.itemsize), dtype)


@cache
def _tells() -> bool:
    """Return whether iterators of this SuiteSparse have the words read here, tested on a Matrix of known rows."""
    rows, columns, values = [1, 1, 70], [2, 0, 5], np.array([7.0, 8.0, 9.0])
    known = native.gb.Matrix.from_coo(rows, columns, values, nrows=90, ncols=60)
    known.ss.config["sparsity_control"] = "hypersparse"
    finder = Finder()
    status = _rows(finder._iterator, known.gb_obj[0], ffi.NULL)
    words = finder._words
    if status or words[_SIZES - 1] != 8 * _WORDS or words[_SIZES + 1 : _ROWS + 1].tolist() != [60, 90, 2]:
        return False
    if words[_KIND] & (_ISO | 0xFFFFFFFF) != lib.GxB_HYPERSPARSE or not all(words[[_OFFSETS, _LISTED, _IDS, _VALUES]]):
        return False
    *pattern, values = *finder.pattern(), finder.values(known, 3)
    return [np.asarray(x).tolist() for x in (*pattern, values)] == [[0, 2, 3], [0, 2, 5], [1, 70], [8.0, 7.0, 9.0]]
