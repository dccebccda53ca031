"""A python-graphblas Vector as arrays in the forms in which vectors travel between processes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic

__all__ = ["from_arrays", "to_arrays"]


def to_arrays(store: Any, form: str) -> tuple[NDArray[Any], ...]:
    """Return the arrays of :meth:`sparsezc.expr.engines.Capabilities.vector_to_arrays`, copied."""
    if form == "ids":
        ids, values = store.to_coo(sort=True)
        return ids, values
    if form == "full":
        parts = store.ss.export("full")
        return (_spread(parts, store.size),)
    parts = store.ss.export("bitmap")
    bits = np.packbits(parts["bitmap"], bitorder="little")
    words = np.zeros(-(-store.size // 32), np.uint32)
    words.view(np.uint8)[: bits.size] = bits
    return words, _spread(parts, store.size)


def _spread(parts: dict[str, Any], size: int) -> NDArray[Any]:
    """Return a value for each position."""
    values = np.atleast_1d(parts["values"])
    return np.full(size, values[0]) if parts["is_iso"] else values


def from_arrays(form: str, arrays: tuple[Any, ...], dtype: Any, size: int) -> Any:
    """Return a Vector of such arrays; values None: each is 1."""
    theirs, make = native.type_of(dtype), native.gb.Vector.ss
    *at, values = arrays
    iso = values is None
    given = np.ones(1, dtype.np_type) if iso else np.ascontiguousarray(values)
    if form == "ids":
        if not at[0].size:
            return acyclic(native.gb.Vector(theirs, size))
        made = make.import_sparse(
            size=size, indices=at[0].astype(np.uint64), values=given, is_iso=iso, sorted_index=True, dtype=theirs
        )
    elif form == "full":
        made = make.import_full(size=size, values=given, is_iso=iso, dtype=theirs)
    else:
        bitmap = np.unpackbits(at[0].view(np.uint8), bitorder="little")[:size]
        made = make.import_bitmap(
            size=size, bitmap=bitmap, nvals=int(np.count_nonzero(bitmap)), values=given, is_iso=iso, dtype=theirs
        )
    return acyclic(made)
