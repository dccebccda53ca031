"""Assignment to parts of objects, and extraction of parts.

Every rank knows the positions of an index list, and so how many of them each rank has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed import exchange, moves, pieces, reductions
from sparsezc.engines.distributed.layout import COLUMNS
from sparsezc.engines.distributed.local_objects import assignment, new, put, write_local
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.layout import Layout
    from sparsezc.engines.distributed.stores import Store

__all__ = ["assign", "extract"]


def _positions(key: IndexList) -> NDArray[np.int64]:
    return key.positions().astype(np.int64)


def _listed(at: NDArray[np.int64]) -> IndexList:
    return IndexList("list", at.astype(np.uint64), int(at.size))


def _here(at: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """Return the places of an index list whose positions are in this rank's range."""
    return np.flatnonzero((at >= layout.lo) & (at < layout.hi))


def _all(shape: tuple[int, ...]) -> tuple[IndexList, ...]:
    return tuple(IndexList("all", None, n) for n in shape)


# Assignment


def assign(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Write to a part of an object."""
    value, result = e.operands[0], out._store
    full = _is_full_after(e, result, value, write)
    if engine.size == 1 or result.layout.is_whole:
        done = _assign_whole(engine, e, result, write)
    elif value.ndim == 0:
        done = _assign_scalar(e, result, write)
    elif value.ndim != len(e.shape) or e.operation == "subassign":
        done = False
    elif value.ndim == 1:
        done = _assign_vector(engine, e, result, write)
    else:
        done = _assign_matrix(engine, e, result, write)
    if not done:
        return False
    result.changed()
    if full:
        result.counts = result.layout.sizes
    return None


def _is_full_after(e: Any, result: Store, value: Any, write: Any) -> bool:
    """Return whether a vector is known to have every entry after an assignment."""
    if len(e.shape) != 1 or result.layout.is_whole or write.replace:
        return False
    present = value.value is not None if value.ndim == 0 else value._store.is_full
    if result.is_full and (present or (write.accum is not None and value.ndim)):
        return True
    return bool(present and write.mask is None and e.operands[1].kind == "all")


def _assign_whole(engine: DistributedEngine, e: Any, result: Store, write: Any) -> bool:
    value, *keys = e.operands
    if value.ndim:
        if engine.size > 1 and not value._store.layout.is_whole:
            return False
        value = value._store.local.T if value._transposed else value._store.local
    write_local(result, Expression(e.operation, (value, *keys), None, e.dtype, e.shape, e.mask_shape), write)
    return True


def _assign_scalar(e: Any, result: Store, write: Any) -> bool:
    value, *keys = e.operands
    if e.operation == "subassign" or len(e.mask_shape) != len(e.shape):
        return False
    layout, shape = result.layout, result.local.shape
    cut = 1 if layout.along == COLUMNS else 0
    if keys[cut].kind == "all":
        keys[cut] = IndexList("all", None, shape[cut])
    else:
        at = _positions(keys[cut])
        keys[cut] = _listed(at[_here(at, layout)] - layout.lo)
    if keys[cut].size or write.replace:
        write_local(result, Expression("assign", (value, *keys), None, e.dtype, shape), write)
    return True


def _assign_vector(engine: DistributedEngine, e: Any, result: Store, write: Any) -> bool:
    value, key = e.operands
    store, layout = value._store, result.layout
    size = layout.hi - layout.lo
    if key.kind == "all":
        write_local(result, assignment(store.local, result.local), write)
        return True
    at = _positions(key)
    if store.layout.is_whole:
        which = _here(at, layout)
        part, to = _picked(engine, store.local, which), at[which] - layout.lo
    else:
        arrived = _sent_to(engine, store, at, result)
        to = np.unique(at[_here(at, layout)]) - layout.lo
        part = _picked(engine, arrived, to)
    if to.size or write.replace:
        write_local(result, Expression("assign", (part, _listed(to)), None, e.dtype, (size,)), write)
    return True


def _picked(engine: DistributedEngine, vector: Any, at: NDArray[np.int64]) -> Any:
    """Return a local vector's entries at some positions."""
    if not at.size or not vector.size:
        return engine.local.vector(vector.dtype, at.size)
    return new(Expression("extract", (vector, _listed(at)), None, vector.dtype, (at.size,)), engine.local)


def _sent_to(engine: DistributedEngine, store: Store, at: NDArray[np.int64], result: Store) -> Any:
    """Send each entry k of a vector to the owner of position ``at[k]`` of another."""
    mine = None
    counts = engine.counts(store)
    if counts[engine.rank]:
        ids, values = engine.local.arrays(store.local, "ids")
        to = at[np.asarray(_on_host(ids)).astype(np.int64) + store.layout.lo]
        order = np.argsort(to, kind="stable")
        arrays = engine.as_local(to[order].astype(np.uint64)), values[engine.as_local(order)]
        mine = engine.local.from_arrays("ids", arrays, store.dtype, result.shape[0])
    op = binary.second[store.dtype]
    return exchange.fold_at_owners(engine, mine, result.layout, op, counts)


def _on_host(array: Any) -> NDArray[Any]:
    return moves.on_host(array)


def _assign_matrix(engine: DistributedEngine, e: Any, result: Store, write: Any) -> bool:
    value, *keys = e.operands
    store, layout = value._store, result.layout
    cut = 1 if layout.along == COLUMNS else 0
    if keys[cut].kind != "all":
        return False
    if value._transposed:
        store = moves.turned(engine, store)
    if store.layout.along != layout.along:
        return False
    keys[cut] = IndexList("all", None, layout.hi - layout.lo)
    write_local(result, Expression("assign", (store.local, *keys), None, e.dtype, result.local.shape), write)
    return True


# Extraction


def extract(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Read a part of an object."""
    u, *keys = e.operands
    store = moves.turned(engine, u._store) if u.ndim == 2 and u._transposed and engine.size > 1 else u._store
    if out.ndim == 0:
        value = _element(store, keys)
        if not store.layout.is_whole and engine.size > 1:
            value = reductions.one_value(engine, value, e.dtype)
            value = value.item() if hasattr(value, "item") and not e.dtype.is_udt else value
        out._receive(e, value, write.accum)
        return None
    result = out._store
    if engine.size == 1 or (store.layout.is_whole and result.layout.is_whole):
        part = store.local.T if u.ndim == 2 and u._transposed and engine.size == 1 else store.local
        write_local(result, Expression("extract", (part, *keys), None, e.dtype, e.shape), write)
    elif e.dtype.is_udt:
        return False
    elif u.ndim == 1:
        put(result, _subvector(engine, store, keys[0], result.layout), write)
    elif out.ndim == 1:
        put(result, _line(engine, store, keys, result.layout), write)
    else:
        put(result, _submatrix(engine, store, keys, e.shape), write)
    result.changed()
    return None


def _element(store: Store, keys: list[IndexList]) -> Any:
    layout = store.layout
    cut = 1 if layout.along == COLUMNS else 0
    at = [key.key for key in keys]
    if not layout.lo <= at[cut] < layout.hi:
        return None
    if not layout.is_whole:
        at[cut] -= layout.lo
    return store.local.get(*at)


def _subvector(engine: DistributedEngine, store: Store, key: IndexList, target: Layout) -> Any:
    """Return this rank's range of ``u[I]``."""
    at, layout = _positions(key), store.layout
    if layout.is_whole:  # a list may repeat positions of a small vector
        return _picked(engine, store.local, at[target.lo : target.hi])
    which = _here(at, layout)
    most = np.diff(np.searchsorted(np.sort(at), layout.bounds))
    part = _picked(engine, store.local, at[which] - layout.lo)
    mine = None
    if which.size:
        ids, values = engine.local.arrays(part, "ids")
        to = engine.as_local(which.astype(np.uint64))[ids.astype(np.int64)]
        mine = engine.local.from_arrays("ids", (to, values), store.dtype, at.size)
    return exchange.fold_at_owners(engine, mine, target, binary.second[store.dtype], most)


def _line(engine: DistributedEngine, store: Store, keys: list[IndexList], target: Layout) -> Any:
    """Return this rank's range of part of a row or of a column."""
    layout = store.layout
    cut = 1 if layout.along == COLUMNS else 0
    one = 0 if keys[0].kind == "one" else 1
    many = keys[1 - one]
    line: Any = None
    if one == cut and not layout.is_whole:  # one rank has all of it
        most = np.zeros(engine.size, np.int64)
        most[np.searchsorted(layout.bounds, keys[one].key, side="right") - 1] = many.size
        if layout.lo <= keys[one].key < layout.hi:
            at = [keys[0], keys[1]]
            at[one] = IndexList("one", keys[one].key - layout.lo, 1)
            line = new(Expression("extract", (store.local, *at), None, store.dtype, (many.size,)), engine.local)
        return exchange.fold_at_owners(engine, line, target, binary.second[store.dtype], most)
    if layout.is_whole:
        line = new(Expression("extract", (store.local, *keys), None, store.dtype, (many.size,)), engine.local)
        return _picked(engine, line, np.arange(target.lo, target.hi))
    from sparsezc.engines.distributed.stores import Store

    length = store.shape[1 - one]
    here = layout.hi - layout.lo
    at = [keys[one], IndexList("all", None, here)] if one == 0 else [IndexList("all", None, here), keys[one]]
    line = engine.local.vector(store.dtype, here)
    if here:
        line = new(Expression("extract", (store.local, *at), None, store.dtype, (here,)), engine.local)
    if many.kind == "all":
        return line
    return _subvector(engine, Store(line, engine.layouts.of((length,)), (length,)), many, target)


def _submatrix(engine: DistributedEngine, store: Store, keys: list[IndexList], shape: tuple[int, int]) -> Any:
    """Return this rank's part of ``A[I, J]``."""
    layout, target = store.layout, engine.layouts.of(shape)
    if layout.along == COLUMNS:
        turned = moves.turned(engine, store)
        return moves.turned(engine, _store_of(engine, turned, keys[::-1], shape[::-1])).local
    if keys[0].kind == "all" and target.along == layout.along and not layout.is_whole:
        here = layout.hi - layout.lo
        part = engine.local.matrix(store.dtype, (here, shape[1]))
        if here:
            at = (IndexList("all", None, here), keys[1])
            part = new(Expression("extract", (store.local, *at), None, store.dtype, (here, shape[1])), engine.local)
        return part
    return _store_of(engine, store, keys, shape).local


def _store_of(engine: DistributedEngine, store: Store, keys: list[IndexList], shape: tuple[int, int]) -> Store:
    """Return ``A[I, J]`` of a matrix cut by rows: each rank sends its rows to their new owners."""
    layout, at = store.layout, _positions(keys[0])
    which = _here(at, layout)
    if layout.is_whole:  # every rank has all rows: one of them gives them
        which = which if engine.rank == 0 else which[:0]
    part = engine.local.matrix(store.dtype, (which.size, shape[1]))
    if which.size and shape[1]:
        rows = _listed(at[which] - layout.lo)
        part = new(Expression("extract", (store.local, rows, keys[1]), None, store.dtype, part.shape), engine.local)
    return pieces.rows_at_owners(engine, part, which, shape)
