"""The arrays of a python-graphblas Matrix by rows, or of a full Vector, without a copy if it is stored so.

The arrays of other Vectors are copied, in the forms in which vectors travel between processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.suitesparse import native, pack_arrays
from sparsezc.engines.cpu.suitesparse.array_addresses import BY_ROWS, FULL, Finder

__all__ = [
    "RowArrays", "borrowed", "borrowed_table", "borrowed_values", "full_values", "row_lengths", "spread",
    "vector_from_arrays", "vector_to_arrays",
]  # fmt: skip


class RowArrays(NamedTuple):
    """A matrix by rows; of a hypersparse one only the rows that have entries are listed.

    Attributes
    ----------
    indptr, indices : ndarray of int64
    values : ndarray; one value where `iso`
    ids : ndarray of int64, or None
        The listed rows, ascending; None: all.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[Any]
    iso: bool
    ids: NDArray[np.int64] | None = None

    def every_row(self, rows: int) -> NDArray[np.int64]:
        """Return the offsets of all rows, including those that are not listed."""
        if self.ids is None:
            return self.indptr
        counts = np.zeros(rows + 1, np.int64)
        counts[self.ids + 1] = np.diff(self.indptr)
        return np.cumsum(counts)

    def ends(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each of some rows begins and ends."""
        if self.ids is None:
            return self.indptr[rows], self.indptr[rows + 1]
        if not self.ids.size:
            return np.zeros_like(rows), np.zeros_like(rows)
        at = np.minimum(np.searchsorted(self.ids, rows), self.ids.size - 1)
        begin = self.indptr[at]
        return begin, np.where(self.ids[at] == rows, self.indptr[at + 1], begin)

    def weights(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of some entries as FP64."""
        if self.iso:
            return np.full(at.shape, self.values[0] if self.values.size else 0, np.float64)
        return self.values[at].astype(np.float64)


class borrowed:  # noqa: N801  (read as a verb: `with borrowed(store) as rows:`)
    """Lend the arrays of a Matrix, whose lock the caller has, for reading only.

    A Matrix in another format than CSR or hypersparse CSR is copied; its format and settings remain. Without `values`
    the lent arrays have none.
    """

    __slots__ = ("_store", "_values")

    def __init__(self, store: Any, *, values: bool = True) -> None:
        self._store, self._values = store, values

    def __enter__(self) -> RowArrays:
        store = self._store
        with Finder.unused() as finder:
            if finder.attach(store) in BY_ROWS:
                indptr, indices, ids = finder.pattern()
                if not self._values:
                    return RowArrays(indptr, indices, _NO_VALUES, False, ids)
                iso = finder.iso
                return RowArrays(indptr, indices, finder.values(store, 1 if iso else indices.size), iso, ids)
        parts = store.ss.export("hypercsr", sort=True)
        listed, indptr, indices = (parts[name].view(np.int64) for name in ("rows", "indptr", "col_indices"))
        return RowArrays(indptr, indices, np.atleast_1d(parts["values"]), bool(parts["is_iso"]), listed)

    def __exit__(self, *error: object) -> None:
        """Do nothing: the Matrix still has its arrays."""


_NO_VALUES = np.empty(0)


def row_lengths(store: Any) -> NDArray[np.int64] | None:
    """Return the lengths of all rows; None for a matrix that is not stored by rows, or lists some of them."""
    with Finder.unused() as finder:
        if not store._nvals or finder.attach(store) not in BY_ROWS:
            return None
        indptr, _, listed = finder.pattern()
        return np.diff(indptr) if listed is None else None


@contextmanager
def borrowed_values(store: Any) -> Iterator[NDArray[Any]]:
    """Lend the values of a Vector that has every entry, as :class:`borrowed` does."""
    values = _stored(store, store.size)
    yield _every(store.ss.export("full"), store.size) if values is None else values


@contextmanager
def borrowed_table(store: Any) -> Iterator[NDArray[Any]]:
    """Lend the values of a Matrix that has every entry, as an array of two dimensions, as :class:`borrowed` does."""
    values = _stored(store, store.nrows * store.ncols)
    if values is None:
        parts = store.ss.export("fullr")
        values = _every(parts, store.shape) if parts["is_iso"] else parts["values"]
    yield values.reshape(store.shape)


def _stored(store: Any, count: int) -> NDArray[Any] | None:
    """Return the stored values of `count` entries, without a copy; None if the object is not stored as full."""
    with Finder.unused() as finder:
        if finder.attach(store) != FULL:
            return None
        return np.broadcast_to(finder.values(store, 1), count) if finder.iso else finder.values(store, count)


def full_values(store: Any) -> NDArray[Any] | None:
    """Return a copy of the values of a Vector that is stored as full; None for any other."""
    values = _stored(store, store._size)
    return None if values is None else values.copy()


def spread(
    numbers: NDArray[np.int64], first: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of the row, and the position, of `lengths` entries of each row from `first` on."""
    place = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(numbers, lengths), np.arange(place.size) - place + np.repeat(first, lengths)


def vector_to_arrays(store: Any, form: str) -> tuple[NDArray[Any], ...]:
    """Return the arrays of :meth:`sparsezc.expr.engines.Capabilities.vector_to_arrays`, copied."""
    if form == "ids":
        ids, values = store.to_coo(sort=True)
        return ids, values
    if form == "full":
        parts = store.ss.export("full")
        return (_every(parts, store.size),)
    parts = store.ss.export("bitmap")
    bits = np.packbits(parts["bitmap"], bitorder="little")
    words = np.zeros(-(-store.size // 32), np.uint32)
    words.view(np.uint8)[: bits.size] = bits
    return (words,) if form == "bits" else (words, _every(parts, store.size))


def _every(parts: dict[str, Any], size: int) -> NDArray[Any]:
    """Return a value for each position."""
    values = np.atleast_1d(parts["values"])
    return np.full(size, values[0]) if parts["is_iso"] else values


def vector_from_arrays(form: str, arrays: tuple[Any, ...], dtype: Any, size: int) -> Any:
    """Make a Vector of arrays in a form; it takes over values that own their memory (None: all are 1)."""
    theirs = native.type_of(dtype)
    *at, values = arrays
    iso = values is None
    given = np.ones(1, dtype.np_type) if iso else values
    if not given.flags.owndata or not given.flags.c_contiguous:
        given = np.array(given, order="C")
    if form == "full":
        return pack_arrays.new_vector(theirs, size, given, iso=iso)
    if form == "ids":
        return pack_arrays.new_vector(theirs, size, given, at[0].astype(np.uint64), iso=iso)
    present = np.unpackbits(at[0].view(np.uint8), bitorder="little")[:size].copy()
    return pack_arrays.new_vector(theirs, size, given, present=present, iso=iso)
