"""Arrays, sizes and types as users give them, checked before an engine sees them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import DimensionMismatch, IndexOutOfBound, InvalidObject, InvalidValue
from sparsezc.semirings.types import DataType, cast, lookup

__all__ = ["MAX_SIZE", "check_csr", "ids", "length", "size", "values"]

#: The most rows, columns or positions that there can be; SuiteSparse:GraphBLAS's limit.
MAX_SIZE = 2**60


def size(n: Any, where: str) -> int:
    """A number of rows, columns or positions.

    Raises
    ------
    TypeError
        It is no integer.
    InvalidValue
        It is negative or above :data:`MAX_SIZE`.
    """
    try:
        number = operator.index(n)
    except TypeError:
        raise TypeError(f"{where} must be an integer; got {n!r} of type {type(n).__name__}") from None
    if not 0 <= number <= MAX_SIZE:
        raise InvalidValue(f"{where} is {number}; from 0 to 2**60 is possible")
    return number


def ids(array: Any, where: str, bound: int | None = None) -> NDArray[np.uint64]:
    """Positions as a contiguous array of uint64; `bound` is how many there are.

    Raises
    ------
    InvalidValue
        They are not integers, or not a row of them.
    IndexOutOfBound
        One is negative, or not below `bound`.
    """
    given = np.asarray(array)
    if given.size == 0 and not isinstance(array, np.ndarray):
        given = np.empty(0, np.uint64)
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise InvalidValue(f"{where} must be a row of integers; got {given.ndim} dimensions of {given.dtype}")
    if given.size:
        if given.dtype.kind == "i" and int(given.min()) < 0:
            at = int(np.argmax(given < 0))
            raise IndexOutOfBound(f"{where}[{at}] is {given[at]}; ids are not negative")
        if bound is not None and int(given.max()) >= bound:
            at = int(np.argmax(given >= bound))
            raise IndexOutOfBound(f"{where}[{at}] is {given[at]}; there are {bound} positions, 0 to {bound - 1}")
    return np.ascontiguousarray(given, np.uint64)


def values(array: Any, dtype: Any, where: str, *dimensions: int) -> tuple[NDArray[Any], DataType]:
    """Values as an array of a GraphBLAS type, and that type; the array's own where none is given.

    Raises
    ------
    InvalidValue
        They are no numbers, or do not have as many `dimensions` as allowed.
    """
    try:
        given = np.asarray(array)
    except ValueError:
        raise InvalidValue(f"{where} must be numbers in an array; the rows have different lengths") from None
    if given.dtype.kind not in "biufc":
        raise InvalidValue(f"{where} must be numbers; got an array of {given.dtype}")
    if dimensions and given.ndim not in dimensions:
        allowed = " or ".join(map(str, dimensions))
        raise InvalidValue(f"{where} must have {allowed} dimensions; got {given.ndim}, of shape {given.shape}")
    kind = lookup(given.dtype if dtype is None else dtype)
    return np.ascontiguousarray(cast(given, kind)).reshape(given.shape), kind


def length(found: int, needed: int, where: str, other: str) -> None:
    """Refuse arrays of different lengths.

    Raises
    ------
    DimensionMismatch
        They differ.
    """
    if found != needed:
        raise DimensionMismatch(f"{where} has {found} entries and {other} has {needed}; they must be as many")


def check_csr(indptr: NDArray[np.uint64], indices: NDArray[np.uint64], ncols: int, names: tuple[str, str]) -> bool:
    """Whether ids are ascending in each row (True), or only distinct and need sorting (False).

    Raises
    ------
    InvalidObject
        The offsets do not start at 0, descend, or do not end at the number of ids; an id is not below `ncols`; or an id
        is twice in a row.
    """
    offsets, ids_name = names
    if indptr.size == 0 or indptr[0] != 0:
        found = "is empty" if indptr.size == 0 else f"starts at {indptr[0]}"
        raise InvalidObject(f"{offsets} {found}; it must start at 0")
    if np.any(indptr[1:] < indptr[:-1]):
        at = int(np.argmax(indptr[1:] < indptr[:-1]))
        raise InvalidObject(f"{offsets}[{at + 1}] is {indptr[at + 1]}, less than the {indptr[at]} before it")
    if int(indptr[-1]) != indices.size:
        raise InvalidObject(f"{offsets} ends at {indptr[-1]}; {ids_name} has {indices.size} entries")
    if indices.size and int(indices.max()) >= ncols:
        at = int(np.argmax(indices >= ncols))
        raise InvalidObject(f"{ids_name}[{at}] is {indices[at]}; it must be below {ncols}")
    after = np.flatnonzero(indices[1:] <= indices[:-1]) + 1  # only where a row starts may an id fail to be larger
    inside = after[indptr[np.searchsorted(indptr, after)] != after]
    if inside.size == 0:
        return True
    rows = np.repeat(np.arange(indptr.size - 1), (indptr[1:] - indptr[:-1]).astype(np.int64))
    order = np.lexsort((indices, rows))
    twice = (np.diff(indices[order].astype(np.int64)) == 0) & (np.diff(rows[order]) == 0)
    if twice.any():
        at = order[int(np.argmax(twice))]
        raise InvalidObject(
            f"{ids_name} has {indices[at]} twice between offsets {rows[at]} and {rows[at] + 1} of {offsets}"
        )
    return False
