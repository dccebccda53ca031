"""The meaning of ``weights=``: the file's values, none, another type, or generated values.

Generated weights are a hash of the two vertex numbers: the same in both directions, on every machine, by NumPy and
CuPy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue, UnknownDtype
from sparsezc.semirings.types import datatypes

_NARROW = (
    datatypes.UINT8,
    datatypes.UINT16,
    datatypes.UINT32,
    datatypes.INT8,
    datatypes.INT16,
    datatypes.INT32,
    datatypes.INT64,
    datatypes.UINT64,
)


@dataclass(frozen=True)
class Weights:
    """A parsed ``weights=``: `kind` ("file", "none" or "hash"), requested `dtype`, a hash's `low` and `high`.

    `narrow`: whole numbers of a file that states no type get the smallest type that holds them, not INT64.
    """

    kind: str = "file"
    dtype: datatypes.DataType | None = None
    low: int = 0
    high: int = 0
    narrow: bool = False


FROM_FILE = Weights()


def parse(weights: Any) -> Weights:
    """Parse the argument of :func:`sparsezc.io.read`.

    >>> parse("hash:1-255")
    Weights(kind='hash', dtype=UINT8, low=1, high=255, narrow=False)
    """
    if isinstance(weights, Weights):
        return weights
    if weights is None or weights is True:
        return Weights()
    if isinstance(weights, str) and weights == "narrowest":
        return Weights(narrow=True)
    if weights is False:
        return Weights("none", datatypes.BOOL)
    if isinstance(weights, str) and (made := re.fullmatch(r"(?:hash:)?(\d{1,10})-(\d{1,10})", weights)):
        low, high = int(made[1]), int(made[2])
        if not low <= high < 2**32:
            raise InvalidValue(f"weights={weights!r}: the first number must not exceed the second, both below 2^32")
        return Weights("hash", narrowest(0, high), low, high)
    try:
        return Weights("file", datatypes.lookup_real(weights))
    except UnknownDtype:
        raise InvalidValue(
            f"weights={weights!r} is not understood; give None (the file's), False (none), a type such as 'FP32', "
            "'narrowest' (the smallest that holds the file's), or 'hash:1-255' (generated)"
        ) from None


def narrowest(low: int, high: int) -> datatypes.DataType:
    """Return the smallest integer type that holds `low` to `high`; unsigned if possible.

    >>> narrowest(1, 255), narrowest(-1, 255), narrowest(0, 2**40)
    (UINT8, INT16, INT64)
    """
    for dtype in _NARROW:
        bounds = np.iinfo(dtype.np_type)
        if bounds.min <= low and high <= bounds.max:
            return dtype
    raise InvalidValue(f"no integer type holds both {low} and {high}")


def first_unfit(values: NDArray[Any], dtype: datatypes.DataType) -> int | None:
    """Return the position of the first value that `dtype` cannot hold, or None if all fit.

    An integer type holds the whole numbers of its range, FP32 the numbers that become neither infinite nor 0 in it
    (digits may be lost), and BOOL all numbers: those other than 0 are true.

    >>> first_unfit(np.array([5, 300]), datatypes.INT8), first_unfit(np.array([0.1, 3.0]), datatypes.FP32)
    (1, None)
    """
    kind = dtype.np_type
    if values.dtype == kind or dtype.is_bool or dtype.is_complex or not values.size:
        return None
    if not dtype.is_integer:
        with np.errstate(over="ignore", under="ignore"):
            cast = values.astype(kind)
        wrong = (np.isfinite(values) & ~np.isfinite(cast)) | ((values.real != 0) & (cast == 0))
    else:
        bounds = np.iinfo(kind)
        if values.dtype.kind in "biu" and int(bounds.min) <= int(values.min()) and int(values.max()) <= int(bounds.max):
            return None
        real, imaginary = (values.real, values.imag) if values.dtype.kind == "c" else (values, None)
        wrong = ~(real >= bounds.min) | ~(real < bounds.max + 1)  # NaN fails both
        if values.dtype.kind in "fc":
            wrong |= (np.floor(real) != real) | (imaginary != 0 if imaginary is not None else False)
    return int(wrong.argmax()) if wrong.any() else None


def needed(dtype: datatypes.DataType) -> str:
    """Describe the numbers that a type holds, for messages.

    >>> needed(datatypes.INT8), needed(datatypes.FP32)
    ('whole numbers from -128 to 127', '0 or numbers from 1.4e-45 to 3.4e+38')
    """
    if dtype.is_integer:
        return f"whole numbers from {np.iinfo(dtype.np_type).min} to {np.iinfo(dtype.np_type).max}"
    bounds = np.finfo(np.float64 if dtype.is_bool else dtype.np_type)
    return f"0 or numbers from {bounds.smallest_subnormal:.2g} to {bounds.max:.2g}"


def check_fit(values: NDArray[Any], dtype: datatypes.DataType, place: Callable[[int], str] | None = None) -> None:
    """Raise InvalidValue if the requested type does not hold a value.

    Parameters
    ----------
    place : callable, optional
        Returns the start of the message: the file and line of the value at a position.

    Raises
    ------
    InvalidValue
        A value does not fit; the message names the first, and the numbers that fit.

    Examples
    --------
    >>> check_fit(np.array([5, 300]), datatypes.INT8)
    Traceback (most recent call last):
        ...
    sparsezc.exceptions.InvalidValue: found the weight 300; weights='INT8' needs whole numbers from -128 to 127
    """
    bad = first_unfit(values, dtype)
    if bad is None:
        return
    start = "" if place is None else f"{place(bad)}: "
    raise InvalidValue(f"{start}found the weight {values[bad]}; weights={dtype.name!r} needs {needed(dtype)}")


def hashed(u: NDArray[Any], v: NDArray[Any], weights: Weights, xp: Any = np) -> NDArray[Any]:
    """Return generated weights of the edges {u, v}, from `weights.low` to `weights.high`.

    Parameters
    ----------
    u, v : arrays of ids, from `xp`

    Examples
    --------
    >>> hashed(np.array([0, 5]), np.array([5, 0]), parse("hash:1-255"))
    array([186, 186], dtype=uint8)
    """
    assert weights.dtype is not None
    u, v = u.astype(xp.uint32), v.astype(xp.uint32)
    x = xp.minimum(u, v) * xp.uint32(2654435761) + xp.maximum(u, v) * xp.uint32(2246822519)
    x ^= x >> xp.uint32(15)
    x *= xp.uint32(3266489917)
    x >>= xp.uint32(8)
    x %= xp.uint32(weights.high - weights.low + 1)
    return (x + xp.uint32(weights.low)).astype(weights.dtype.np_type)  # type: ignore[no-any-return]
