"""Arrays, sizes and types as users give them, checked before an engine sees them."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import DimensionMismatch, IndexOutOfBound, InvalidObject, InvalidValue, UnknownDtype
from sparsezc.semirings.types.datatypes import INT64, UINT64, DataType, cast, highest, lookup, lowest
from sparsezc.semirings.types.user_types import inferred, packed

__all__ = [
    "MAX_SIZE", "are_below", "check_csr", "checked_ids", "dense", "ids", "lengths", "must_be_read", "must_fit", "order",
    "size", "values",
]  # fmt: skip

_MOST_DIMENSIONS = 64  # NumPy's
#: The most rows, columns or positions; SuiteSparse:GraphBLAS's limit.
MAX_SIZE = 2**60


def size(n: Any, where: str) -> int:
    """Check a number of rows, columns or positions.

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
    """Convert positions to a contiguous array of uint64, as :func:`checked_ids` checks them."""
    return np.ascontiguousarray(checked_ids(array, where, bound), np.uint64)


def checked_ids(array: Any, where: str, bound: int | None = None) -> NDArray[Any]:
    """Check positions; `bound` is the number of positions.

    Raises
    ------
    InvalidValue
        They are not integers, or not in one dimension.
    IndexOutOfBound
        A position is negative, or at least `bound`.
    """
    given = np.asarray(array)
    if not isinstance(array, np.ndarray) and given.ndim == 1 and given.dtype.kind in "fO":
        # Python's numbers lose their fractions, as they do in NumPy; those above 2**63 count.
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise InvalidValue(f"{where} holds {given[~np.isfinite(given)][0]}; integers are needed")
        given = np.array(list(array), np.int64 if given.dtype.kind == "f" and np.all(given < 2**63) else np.uint64)
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise InvalidValue(f"{where} must be a row of integers; got {given.dtype} in {given.ndim} dimensions")
    if given.size and not are_below(given, bound):
        if given.dtype.kind == "i" and int(given.min()) < 0:
            at = int(np.argmax(given < 0))
            raise IndexOutOfBound(f"{where}[{at}] is {given[at]}; ids are not negative")
        if bound is not None and int(given.max()) >= bound:
            at = int(np.argmax(given >= bound))
            raise IndexOutOfBound(f"{where}[{at}] is {given[at]}; there are {bound} positions, 0 to {bound - 1}")
    return given


def are_below(positions: NDArray[Any], bound: int | None) -> bool:
    """Return True if INT64 positions are all in 0 .. bound - 1, by one pass; False also where that is not checked."""
    if bound is None or positions.dtype != np.int64:
        return False
    return bool(positions.view(np.uint64).max() < bound)  # negative ones are the largest


def must_fit(given: Any, dtype: DataType, where: str) -> None:
    """Raise InvalidValue for Python integers, one or an array of them, that an integer type cannot hold.

    A number with a type wraps when it is converted, as in GraphBLAS; Python's integers have no type.

    Raises
    ------
    InvalidValue
        An integer does not fit.
    """
    if not dtype.is_integer:
        return
    if type(given) is int:  # for every statement with a number; NumPy would take as long as its other host work
        extremes = [given]
    else:
        extremes = [int(np.min(given)), int(np.max(given))] if np.size(given) else []
    low, high = _range(dtype)
    for worst in extremes:
        if not low <= worst <= high:
            raise InvalidValue(f"{where}: {worst} does not fit {dtype}, which goes from {low} to {high}")


def must_be_read(given: Any, dtype: DataType, where: str) -> None:
    """Raise InvalidValue for a Python integer that cannot be converted to an integer type.

    Python integers are converted to INT64 first, for every integer type except UINT64.

    Raises
    ------
    InvalidValue
        It does not fit INT64.
    """
    if type(given) is int and dtype.is_integer and dtype is not UINT64:
        must_fit(given, INT64, where)


@cache
def _range(dtype: DataType) -> tuple[int, int]:
    return int(lowest(dtype)), int(highest(dtype))


def values(array: Any, dtype: Any, where: str, *dimensions: int) -> tuple[NDArray[Any], DataType]:
    """Convert values to an array of a GraphBLAS type, by default the array's own; return the array and the type.

    Without a type, dimensions beyond the allowed ones make a sub-array type. Sub-arrays are returned as
    :func:`~sparsezc.semirings.types.user_types.packed` makes them, one element each.

    Raises
    ------
    InvalidValue
        They are no values of the type, or do not have one of the allowed numbers of `dimensions`; or a Python integer
        does not fit the type, or a Python float that is NaN or infinite an integer type.
    """
    if dtype is not None and lookup(dtype).is_udt:
        return _of_users(array, lookup(dtype), where, dimensions)
    try:
        given = np.asarray(array)
    except ValueError:
        raise InvalidValue(f"{where} must be numbers in an array; the rows have different lengths") from None
    if dtype is None and (given.dtype.names or (given.dtype.kind in "biufc" and given.ndim > max(dimensions))):
        return _of_users(given, inferred(given, max(dimensions)), where, dimensions)
    if given.dtype.kind in "fO" and dtype is not None and lookup(dtype).is_integer and not hasattr(array, "dtype"):
        given = _whole(array, given, lookup(dtype), where)
    if given.dtype.kind not in "biufc":
        raise InvalidValue(
            f"{where} must be numbers, integers of 64 bits at most; object dtype for values is not allowed, nor is"
            f" {given.dtype}"
        )
    _check_dimensions(given, where, dimensions)
    try:
        kind = lookup(given.dtype if dtype is None else dtype)
    except UnknownDtype as error:
        raise UnknownDtype(f"{where}: {error}") from None
    if given.dtype.kind in "iu" and not hasattr(array, "dtype"):
        must_fit(given, kind, where)
    if given.dtype.kind == "f" and kind.is_integer and not hasattr(array, "dtype") and not np.isfinite(given).all():
        raise InvalidValue(f"{where}: {given[~np.isfinite(given)][0]} is no number of {kind}")
    return np.ascontiguousarray(cast(given, kind)).reshape(given.shape), kind


def _whole(array: Any, given: NDArray[Any], kind: DataType, where: str) -> NDArray[Any]:
    """Convert Python's integers to an integer type where NumPy made floats or objects, as for 1 beside 2**63."""
    numbers = np.asarray(array, object)
    if not all(isinstance(x, int) for x in numbers.flat):
        return given
    must_fit(numbers, kind, where)
    return numbers.astype(kind.np_type)


def _of_users(array: Any, kind: DataType, where: str, dimensions: tuple[int, ...]) -> tuple[NDArray[Any], DataType]:
    """Convert to values of a user-defined type."""
    try:
        given = np.asarray(packed(cast(array, kind), kind))
    except TypeError as error:
        raise InvalidValue(f"{where}: {error}") from None
    _check_dimensions(given, where, dimensions)
    return given, kind


def _check_dimensions(given: NDArray[Any], where: str, dimensions: tuple[int, ...]) -> None:
    if given.ndim not in dimensions:
        allowed = " or ".join(map(str, dimensions))
        raise InvalidValue(f"{where} must have {allowed} dimensions; got {given.ndim}, of shape {given.shape}")


def dense(array: Any, dtype: Any, noun: str, ndim: int) -> tuple[NDArray[Any], DataType]:
    """Return the values of ``from_dense``, for all positions of a Vector or Matrix.

    Raises
    ------
    TypeError
        It is one number.
    InvalidValue
        It has another number of dimensions.
    """
    where = f"{noun}.from_dense: values"
    try:
        given, kind = values(array, dtype, where, *range(1 + (ndim if dtype is None else _MOST_DIMENSIONS)))
    except InvalidValue as error:
        if dtype is None or not lookup(dtype).shape:
            raise
        raise InvalidValue(f"{error}; a >{ndim}d array is needed, of a sub-array at each position") from None
    if given.ndim == 0:
        raise TypeError(f"{where} must have {ndim} dimensions; got {array!r}, which {noun}.from_scalar takes")
    if given.ndim < ndim:
        raise InvalidValue(f"{where} must have {ndim} dimensions, which a dense {noun} needs; got {given.ndim}")
    if given.ndim > ndim:
        raise InvalidValue(f"{where} must be {ndim}d, of {ndim} dimensions; got shape {given.shape}")
    return given, kind


def lengths(where: str, **given: NDArray[Any]) -> None:
    """Raise DimensionMismatch for arrays of different lengths; one value for all (no dimension) fits any length.

    Raises
    ------
    DimensionMismatch
        They differ.
    """
    found = [array.size for array in given.values() if array.ndim]
    if any(n != found[0] for n in found):
        named = " and ".join(f"`{name}`" for name in given)
        raise DimensionMismatch(f"{where}: {named} lengths must match: {', '.join(map(str, found))}")


def check_csr(indptr: NDArray[np.uint64], indices: NDArray[np.uint64], ncols: int, names: tuple[str, str]) -> bool:
    """Return whether ids are ascending in each row (True), or only distinct and need sorting (False).

    Raises
    ------
    InvalidValue
        There are no offsets, or they do not end at the number of ids.
    InvalidObject
        The offsets do not start at 0, or descend; an id is not below `ncols`; or an id is twice in a row.
    """
    offsets, ids_name = names
    if indptr.size == 0 or indptr[0] != 0:
        found, kind = ("is empty", InvalidValue) if indptr.size == 0 else (f"starts at {indptr[0]}", InvalidObject)
        raise kind(f"{offsets} {found}; it must start at 0")
    if np.any(indptr[1:] < indptr[:-1]):
        at = int(np.argmax(indptr[1:] < indptr[:-1]))
        raise InvalidObject(f"{offsets}[{at + 1}] is {indptr[at + 1]}, less than the {indptr[at]} before it")
    if int(indptr[-1]) != indices.size:
        raise InvalidValue(f"{offsets} ends at {indptr[-1]}; {ids_name} has {indices.size} entries")
    if indices.size and int(indices.max()) >= ncols:
        at = int(np.argmax(indices >= ncols))
        raise InvalidObject(f"{ids_name}[{at}] is {indices[at]}; it must be below {ncols}")
    after = np.flatnonzero(indices[1:] <= indices[:-1]) + 1  # an id may not ascend only where a row starts
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


_ORDERS = dict.fromkeys(("rowwise", "row", "rows", "r", "c"), "rowwise")
_ORDERS |= dict.fromkeys(("columnwise", "colwise", "column", "columns", "col", "cols", "f"), "columnwise")


def order(given: Any, where: str) -> str:
    """Check an order: ``"rowwise"`` or ``"columnwise"``.

    Raises
    ------
    InvalidValue
        It is neither.
    """
    found = _ORDERS.get(given.lower()) if isinstance(given, str) else None
    if found is None:
        raise InvalidValue(f"{where}: Bad value for order: {given!r}; 'rowwise' or 'columnwise' is needed")
    return found
