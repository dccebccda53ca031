"""Assignment to parts of objects, and extraction of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed import reductions
from sparsezc.engines.distributed.layout import COLUMNS
from sparsezc.engines.distributed.local_objects import write_local
from sparsezc.expr.expression import Expression, IndexList

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.layout import Layout

__all__ = ["assign", "extract"]


def _within(key: IndexList, lo: int, hi: int) -> NDArray[np.int64]:
    """Return the places of an index list whose positions are in a range."""
    at = key.positions().astype(np.int64)
    return np.flatnonzero((at >= lo) & (at < hi))


def _local(key: IndexList, lo: int, hi: int) -> IndexList:
    """Return the positions within a range, counted from its first."""
    if key.kind == "all":
        return IndexList("all", None, hi - lo)
    at = key.positions().astype(np.int64)
    at = at[(at >= lo) & (at < hi)] - lo
    return IndexList("list", at.astype(np.uint64), int(at.size))


def assign(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Write to a part of an object."""
    value, *keys = e.operands
    result = out._store
    layout = result.layout
    everything = all(key.kind == "all" for key in keys)
    full = everything and len(e.shape) == 1 and write.mask is None and not (value.ndim == 0 and value.value is None)
    if engine.size == 1 or layout.is_whole or everything:
        given = value
        if value.ndim:
            if engine.size > 1 and (value._transposed or (layout.is_whole and not value._store.layout.is_whole)):
                return False
            given = value._store.local.T if value._transposed else value._store.local
            full = full and value._store.is_full
        here = tuple(IndexList("all", None, n) for n in result.local.shape) if everything else tuple(keys)
        was = result.is_full
        write_local(result, Expression("assign", (given, *here), None, e.dtype, result.local.shape,
                                       _local_mask_shape(write, result)), write)  # fmt: skip
        result.changed()
        if (
            (full or (was and value.ndim == 0 and value.value is not None))
            and not write.replace
            and not layout.is_whole
        ):
            result.counts = layout.sizes if len(e.shape) == 1 else None
        return None
    if value.ndim or len(e.mask_shape) != len(e.shape):
        return False
    was = result.is_full
    cut = 1 if layout.along == COLUMNS else 0
    here = list(keys)
    here[cut] = _local(keys[cut], layout.lo, layout.hi)
    if here[cut].size or write.replace:
        shape = result.local.shape
        write_local(result, Expression("assign", (value, *here), None, e.dtype, shape), write)
    result.changed()
    if was and not write.replace and value.value is not None and len(e.shape) == 1:
        result.counts = layout.sizes
    return None


def _local_mask_shape(write: Any, result: Any) -> tuple[int, ...]:
    if write.mask is None:
        return result.local.shape  # type: ignore[no-any-return]
    return write.mask.parent._store.local.shape  # type: ignore[no-any-return]


def extract(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Read a part of an object."""
    u, *keys = e.operands
    store = u._store
    if out.ndim == 0:
        if u.ndim == 2 and u._transposed:
            return False
        value = _element(store, keys)
        if not store.layout.is_whole:
            value = reductions.one_value(engine, value, e.dtype)
            if value is not None and not e.dtype.is_udt:
                value = value.item() if hasattr(value, "item") else value
        out._receive(e, value, write.accum)
        return None
    return False


def _element(store: Any, keys: list[IndexList]) -> Any:
    layout: Layout = store.layout
    cut = 1 if layout.along == COLUMNS else 0
    at = [key.key for key in keys]
    if not layout.lo <= at[cut] < layout.hi:
        return None
    at[cut] -= layout.lo
    return store.local.get(*at)
