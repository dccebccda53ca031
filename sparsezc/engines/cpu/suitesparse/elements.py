"""Single entries of python-graphblas's objects, for which its own methods take 30 times as long as SuiteSparse."""

from __future__ import annotations

from functools import cache
from typing import Any

from suitesparse_graphblas import ffi, lib

from sparsezc.engines.cpu.suitesparse import native

__all__ = ["element"]


def element(store: Any, *at: int) -> Any:
    """Return the value at a position within a Vector, or a Matrix or its transpose; None if there is no entry."""
    read, kind = _reader(type(store).__name__, store.dtype.name)
    if read is None:
        return store.get(*at)
    cell = ffi.new(kind)
    status = read(cell, store.gb_obj[0], *at)
    if status == lib.GrB_NO_VALUE:
        return None
    if status:
        native.gb.exceptions.check_status(status, store)
    return cell[0]


@cache
def _reader(kind: str, name: str) -> tuple[Any, Any]:
    """Return SuiteSparse's function for a class and a type, and the C type of its output; None without one."""
    prefix = "GxB" if name in ("FC32", "FC64") else "GrB"
    read = getattr(lib, f"{prefix}_{kind}_extractElement_{name}", None)
    return read, None if read is None else ffi.typeof(f"{native.gb.dtypes.lookup_dtype(name).c_type}*")
