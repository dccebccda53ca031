"""Assignment to parts of objects: each rank writes the positions that it has.

Every rank knows the positions of an index list, so it requests from their owners the value's entries, and those of a
mask of the assigned positions, at its own positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.model.received_bytes import DENSE
from sparsezc.engines.distributed.parts import matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import new, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.engines.distributed.statements import entries, rowwise
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.expression import Expression, IndexList, Operand

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["assign"]

Ints = NDArray[np.int64]


def assign(engine: DistributedEngine, e: Any, out: Any, write: Any) -> None:
    """Run assign or subassign."""
    value, *keys = e.operands
    result, partition = out._store, out._store.partition
    full = _is_full_after(e, result, value, write)
    if not value.ndim and all(key.kind == "all" for key in keys):  # a scalar for all positions: no exchange
        shape = partition.local_shape(result.shape)
        everywhere = tuple(IndexList("all", None, n) for n in shape)
        if out.ndim == 1 and write.mask is not None and not engine.on_device:
            _prepare(engine, result, write.mask)
        write_local(result, Expression(e.operation, (value, *everywhere), None, e.dtype, shape), write)
        result.changed(partition.sizes if full else None)
        return
    region = _Region(engine, keys, result)
    given = region.part(value) if value.ndim else value
    mask = None
    if write.mask is not None:
        part = region.part if e.operation == "subassign" else region.part_of_target
        mask = type(write.mask)(part(write.mask.parent), write.mask.structure, write.mask.complement)
    clears = write.replace and e.operation == "assign" and len(e.mask_shape) == out.ndim
    if not result.is_empty_range and (region.key.size or clears):
        if not region.key.size:
            given = Operand._kinds[0](out.dtype)  # no position is written; the mask clears some
        keys[region.cut] = region.key
        shape = result.local.shape
        masks = shape if mask is None else mask.parent.shape
        here = Expression(e.operation, (given, *keys), None, e.dtype, shape, masks)
        update(result.local, here, Write(mask, write.accum, write.replace))
    result.changed(partition.sizes if full else None)


def _prepare(engine: DistributedEngine, result: Store, mask: Any) -> None:
    """Store `result` by position before many writes: into a list of entries SuiteSparse writes one in 26 ns."""
    here = result.partition.hi - result.partition.lo
    if not mask.complement and not result.dtype.is_udt and mask.parent._store.local.nvals * DENSE > here:
        engine.local.by_position(result.local)


def _is_full_after(e: Any, result: Store, value: Any, write: Any) -> bool:
    """Return whether a vector is known to have every entry after an assignment."""
    if len(e.shape) != 1 or result.partition.is_whole or write.replace:
        return False
    present = value.value is not None if value.ndim == 0 else value._store.is_full
    if result.is_full and (present or (write.accum is not None and value.ndim)):
        return True
    return bool(present and write.mask is None and e.operands[1].kind == "all")


class _Region:
    """The assigned positions of a statement, and those that this rank has.

    Attributes
    ----------
    cut : {0, 1}
        The dimension along which the target is cut.
    key : IndexList
        This rank's assigned positions along it, relative to this rank's first one.
    which : ndarray of int64, or None
        The places of `key` in the index list; None: the list has all positions.
    """

    def __init__(self, engine: DistributedEngine, keys: list[IndexList], result: Store) -> None:
        self._engine, self._partition = engine, result.partition
        self._is_whole = engine.size == 1 or result.partition.is_whole
        self.cut = 1 if result.partition.along is COLUMNS else 0
        self._kinds = [key.kind for key in keys]
        self.which: Ints | None = None
        self.key = keys[self.cut]
        if self._is_whole:
            return
        lo, hi = result.partition.lo, result.partition.hi
        if self.key.kind == "all":
            self.key = IndexList("all", None, hi - lo)
            return
        at = self.key.positions().astype(np.int64)
        self.which = np.flatnonzero((at >= lo) & (at < hi))
        if self.key.kind == "one" and self.which.size:
            self.key = IndexList("one", int(at[0]) - lo, 1)
        else:
            self.key = entries.listed(at[self.which] - lo)

    @property
    def _is_across(self) -> bool:
        """Return whether the assigned positions are in one row or column, which one rank has whole."""
        return self._kinds[self.cut] == "one"

    def part(self, x: Any) -> Any:
        """Return the part that this rank writes of an object of the assigned positions' shape."""
        engine = self._engine
        if self._is_whole or (x.ndim == 1 and self._is_across):
            return rowwise.whole(engine, x)
        if x.ndim == 1:
            return x._store.local if self.which is None else entries.asked_vector(engine, x._store, self.which)
        store = x._store
        if x._transposed and not engine.known_symmetric(x):
            store = matrix_exchange.turned(engine, store)
        if self.which is None and store.partition.along == self._partition.along:
            return store.local
        places = np.arange(self._partition.lo, self._partition.hi) if self.which is None else self.which
        if self.cut == 0:
            return entries.asked_rows(engine, store, places)
        whole = matrix_exchange.whole_matrix(engine, store)
        shape = (store.shape[0], int(places.size))
        if not places.size:
            return engine.local.matrix(store.dtype, shape)
        key = IndexList("all", None, shape[0]), entries.listed(places)
        return new(Expression("extract", (whole, *key), None, store.dtype, shape), engine.local)

    def part_of_target(self, x: Any) -> Any:
        """Return this rank's part of a mask of the shape of the target, or of one of its rows or columns."""
        if self._is_whole or (x.ndim == 1 and len(self._kinds) == 2 and self._is_across):
            return rowwise.whole(self._engine, x)
        return x._store.local
