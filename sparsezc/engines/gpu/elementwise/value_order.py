"""The order of values by one stable sort of integer keys: CuPy sorts integers by radix, floats by comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import boolean_reductions
from sparsezc.engines.gpu.storage.vector_store import VectorStore, from_dense
from sparsezc.semirings.types.datatypes import INT64

_MANY = 1 << 18  # values from which an attempt at two-byte keys pays off: it reads all of them
_EXACT = 1 << 23  # whole numbers below it are exact in every floating type of at least 4 bytes


def argsort(vector: VectorStore, size: int) -> VectorStore:
    """Return the positions of the `size` smallest entries in ascending order; equal values by position, NaN last."""
    at, values = vector.entries()
    made = at[order_of(values)][:size]
    if made.size == size:
        return from_dense(made, INT64, copy=False)
    store = VectorStore(INT64, size)
    store.put(cuda.current().xp.arange(made.size), made)
    return store


def order_of(values: Any, *, descending: bool = False) -> Any:
    """Return the permutation that sorts values, stable among equal ones; NaN last if ascending."""
    keys = _near_integers(values)
    keys = _integers(values) if keys is None else keys
    return cuda.current().xp.argsort(~keys if descending else keys, kind="stable")


def _near_integers(values: Any) -> Any:
    """Return keys of two bytes if all values are whole numbers of a small range, such as hops; otherwise None.

    Such keys have a quarter of the digits of 8-byte values, which a radix sort reads in turn.
    """
    if values.size < _MANY or values.dtype.itemsize < 4:
        return None
    least, most = float(values.min()), float(values.max())
    if not (abs(least) < _EXACT and most - least < 1 << 16):  # NaN and infinity fail this comparison
        return None
    keys = (values - values.dtype.type(least)).astype(np.uint16)
    whole = values.dtype.kind != "f" or boolean_reductions.all_true(
        keys.astype(values.dtype) + values.dtype.type(least) == values
    )
    return keys if whole else None


def _integers(values: Any) -> Any:
    """Return integer keys that have the order of the values.

    Positive IEEE 754 numbers have the order of their bits, negative ones the reverse. Only bits are compared, as a
    device may treat subnormal numbers as zero.
    """
    kind = values.dtype
    if kind == np.bool_:
        return values.view(np.uint8)
    if kind.kind != "f":
        return values
    xp = cuda.current().xp
    whole = np.dtype(f"i{kind.itemsize}")
    largest, infinite = whole.type(np.iinfo(whole).max), np.array(np.inf, kind).view(whole)[()]
    bits = values.view(whole)
    size = bits & largest
    bits = xp.where(size > infinite, largest, xp.where(size == 0, whole.type(0), bits))  # NaN last, -0 as 0
    return bits ^ ((bits >> (8 * kind.itemsize - 1)) & largest)
