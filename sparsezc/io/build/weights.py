"""The meaning of ``weights=``: the file's values, none, another type, or generated values.

Generated weights are a hash of the two vertex numbers: the same in both directions, on every machine, by NumPy and
CuPy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import InvalidValue, UnknownDtype
from sparsezc.semirings.types import datatypes

_NARROW = (datatypes.UINT8, datatypes.UINT16, datatypes.UINT32, datatypes.INT8, datatypes.INT16, datatypes.INT32, datatypes.INT64, datatypes.UINT64)


@dataclass(frozen=True)
class Weights:
    """A parsed ``weights=``: `kind` ("file", "none" or "hash"), requested `dtype`, a hash's `low` and `high`.

    `narrow`: whole numbers of a file that states no type come in the smallest type that holds them, not in INT64.
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
            "'narrowest' (the smallest that holds the file's), or 'hash:1-255' (made ones)"
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
