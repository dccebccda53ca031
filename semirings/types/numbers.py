"""Numbers of any type as values of a given one: the value of a Scalar."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.exceptions import InvalidValue
from sparsezc.semirings.types.datatypes import BOOL, FP64, INT64, UINT64, DataType, cast, highest, lookup, lowest

__all__ = ["PLAIN", "converted", "type_of"]

#: The types of Python's numbers.
PLAIN: dict[type, DataType] = {bool: BOOL, int: INT64, float: FP64}
_NUMBERS = (np.generic, np.ndarray, bool, int, float, complex)


def type_of(value: Any, dtype: Any) -> Any:
    """Return the type of a new Scalar for a number: `dtype`, or without one the number's own.

    Raises
    ------
    TypeError
        `value` is no number.
    """
    plain = PLAIN.get(type(value))
    if plain is INT64 and value >= 2**63:
        plain = UINT64
    if plain is None and not isinstance(value, _NUMBERS) and (dtype is None or not lookup(dtype).is_udt):
        raise TypeError(f"value must be a number; got {value!r} of type {type(value).__name__}")
    if dtype is not None:
        return dtype
    return lookup(np.asarray(value).dtype) if plain is None else plain


def converted(value: Any, dtype: DataType, name: str, is_cscalar: bool) -> Any:
    """Return a number of any type as a Python number of type `dtype`, or as a value of a user-defined type; None stays.

    Parameters
    ----------
    name : str
        The Scalar's name, for messages.
    is_cscalar : bool
        Refuse numbers that the type cannot hold.

    Raises
    ------
    TypeError
        `value` is no number.
    InvalidValue
        It needs more than 64 bits.
    OverflowError
        The type of a C number cannot hold it.
    """
    if dtype.is_udt:
        return None if value is None else _of_users(value, dtype, name)
    if is_cscalar and value is not None:
        _refuse(value, dtype, name)
    if value is None or (PLAIN.get(type(value)) is dtype and (dtype is not INT64 or -(2**63) <= value < 2**63)):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(2)
    if array.ndim or array.dtype.kind not in "biufc":
        if isinstance(value, int):
            raise InvalidValue(f"{name}: {value} needs more than 64 bits, and {dtype} has fewer")
        raise TypeError(f"{name}: the value must be a number; got {value!r} of type {type(value).__name__}")
    return cast(array, dtype).item()


def _of_users(value: Any, dtype: DataType, name: str) -> Any:
    """Convert to one value of a user-defined type."""
    made = cast(value, dtype)
    if np.shape(made) != dtype.shape:
        raise TypeError(f"{name}: one value of {dtype} is needed; got {value!r}")
    return made if dtype.shape == () and type(made) is not np.ndarray else np.array(made)[()]


def _refuse(value: Any, dtype: DataType, name: str) -> None:
    """Raise an error if a value does not fit a C number's type."""
    kind = np.asarray(value).dtype.kind
    if dtype.is_integer and kind in "fc":
        raise TypeError(f"{name}: an integer is required for a C number of type {dtype}; got {value!r}")
    if dtype.is_integer and not lowest(dtype) <= value <= highest(dtype):
        raise OverflowError(f"{name}: {value} is out of bounds for {dtype.np_type}")
