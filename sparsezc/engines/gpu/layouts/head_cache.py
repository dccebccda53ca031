"""The row-head cache: a few ids of each row, hubs first, in device memory, for pulls that stop early (head_cache.cu).

A pull over a monoid with a terminal value reads a row until one of its columns is in the vector; that is mostly a hub.
So with the largest hubs of each row at hand, few rows are read over the link at all. A push, and a pull that never
stops, need all of a row, and have it there where the row is short: on a road network nearly always.
``gb.config.head_cache`` says whether, ``gb.config.head_budget`` how much memory it may take.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.device.cuda import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.errors import warn_slow
from sparsezc.memory import budget
from sparsezc.memory.placement import BEYOND, RECORDS
from sparsezc.semirings.types.datatypes import BOOL, DataType

_LINE = 32  # entries that the link brings for a row, however short
_MOST = 32  # slots a row: a lane of the warp that makes them keeps one
_FREE = 0.5  # of the device memory that may be used, at most so much: vectors come and go


@dataclass(frozen=True, eq=False)
class Heads:
    """k slots for each row; `values` only if a multiply needed them."""

    k: int
    ids: Any
    values: Any
    rows: Callable[[], Rows | None] = lambda: None  # whose they are

    def drop(self) -> None:
        """Give their memory back."""
        rows = self.rows()
        if rows is not None and rows.heads is self:
            rows.heads = None

    @property
    def nbytes(self) -> int:
        """Device memory that they take."""
        arrays = [array for array in (self.ids, self.values) if not isinstance(array, int)]
        return sum(int(array.nbytes) for array in arrays)


NO_HEADS = Heads(0, 0, 0)


def of(rows: Rows, hubs: Rows | None, dtype: DataType, *, values: bool, entries: float) -> Heads:
    """The heads of some rows, for a pull that would read so many entries without them.

    Parameters
    ----------
    rows : Rows
        What is pulled; it keeps its heads.
    hubs : Rows, optional
        The transpose: the longest of its rows are the hubs.
    values : bool
        Whether the multiply reads values.
    entries : float
        With ``head_cache="auto"`` heads are made when pulls have read as many entries as making them reads: all.
    """
    slots = _slots(rows, dtype, values)
    if not slots:
        return NO_HEADS
    values = values and not rows.iso
    kept: Heads | None = rows.heads
    if kept is not None and kept.k <= slots and not (values and isinstance(kept.values, int)):
        return kept
    rows.pulled += entries
    if config.head_cache == "auto" and rows.pulled < rows.nvals:
        return NO_HEADS
    # Their memory is free: for what is made now, and for the region in what it leaves.
    rows.heads = rows.region = kept = None
    try:
        made = rows.heads = _make(rows, hubs, dtype, slots, values)
    except MemoryError as error:
        rows.pulled = 0  # not at once again
        warn_slow(f"no row-head cache for {rows.nrows:,} rows: {error}")
        return NO_HEADS
    return made


def of_short_rows(rows: Rows, hubs: Rows | None, entries: float) -> Heads:
    """The heads of rows that are mostly whole in them, for products that read so many entries where there are none."""
    if rows.indices.placement == BEYOND:  # there for want of room, and such heads take more than the rows
        return NO_HEADS
    if rows.heads is not None:  # no need to ask what there is room for
        return kept(rows) if rows.nvals <= rows.heads.k * rows.nrows else NO_HEADS
    most = _MOST if config.head_budget is not None else budget.HEAD_BYTES // rows.indices.dtype.itemsize
    if rows.nvals > most * rows.nrows or rows.nvals > _slots(rows, BOOL, False) * rows.nrows:
        return NO_HEADS
    return of(rows, hubs, BOOL, values=False, entries=entries)


def to_push(rows: Rows, hubs: Rows | None, count: int | None) -> Heads:
    """The heads for pushes of so many rows, which look there for those that are whole in them; None: make none now."""
    if placements.moves(rows) or placements.lie_near(rows):
        return NO_HEADS
    if count is not None:
        of_short_rows(rows, hubs, min(rows.nvals, _LINE * count))
    return kept(rows)


def kept(rows: Rows) -> Heads:
    """The heads that there are."""
    return NO_HEADS if rows.heads is None or config.head_cache == "off" else rows.heads


def sample(rows: Rows, hubs: Rows | None, dtype: DataType) -> Rows | None:
    """A matrix of the heads alone, as long as there are heads: rows that end where their heads do."""
    made = of(rows, hubs, dtype, values=False, entries=0)
    if not made.k:
        return None
    empty = cuda.current().xp.zeros(rows.nrows + 1, np.int64)
    short = Rows(rows.nrows, rows.ncols, 0, empty, rows.indices, rows.values, rows.iso, rows.order)
    short.heads = made
    return short


def expected(rows: Rows, dtype: DataType, *, values: bool) -> int:
    """Slots a row that a pull will look at."""
    if config.head_cache == "on":
        return _slots(rows, dtype, values)
    return 0 if rows.heads is None or config.head_cache == "off" else rows.heads.k


def _slots(rows: Rows, dtype: DataType, values: bool) -> int:
    """Slots a row that the budget allows; 0 where nobody wants any or, with a line that says so, it allows none."""
    if config.head_cache == "off" or (config.head_cache == "auto" and not RECORDS[rows.indices.placement].in_place):
        return 0
    id_bytes = rows.indices.dtype.itemsize
    slot = id_bytes + (dtype.np_type.itemsize if values and not rows.iso else 0)
    if rows.ncols > 2 ** (8 * id_bytes) - 2:  # the last two ids say something else
        return 0
    room = int(_FREE * _left(rows))
    asked = (
        budget.share(config.head_budget)
        if config.head_budget is not None
        else budget.HEAD_BYTES // id_bytes * slot * rows.nrows
    )
    slots = min(min(asked, room) // (slot * max(rows.nrows, 1)), _MOST)
    setting = config.head_budget, config.budget
    if not slots and rows.nrows and rows.told != setting:
        rows.told = setting
        warn_slow(
            f"no row-head cache: one id for each of {rows.nrows:,} rows takes {slot * rows.nrows:,} bytes of device"
            f" memory and {min(asked, room):,} may be used (gb.config.head_budget, gb.config.budget)"
        )
    return slots


def _left(rows: Rows) -> int:
    """Device memory that may be used; of a budget, what an algorithm's vectors leave."""
    own: int = sum(cache.nbytes for cache in (rows.heads, rows.region) if cache is not None)  # these go for others
    room = budget.available() + own
    return room if config.budget is None else max(0, room - budget.working_bytes(rows.nrows))


def _make(rows: Rows, hubs: Rows | None, dtype: DataType, k: int, values: bool) -> Heads:
    gpu: Device = cuda.current()
    xp = gpu.xp
    padded = -(-rows.nrows // 32) * 32 * k
    ids = xp.empty(padded, rows.indices.dtype)
    kept = xp.empty(padded, dtype.np_type) if values else 0
    prelude = "\n".join(
        (
            codegen.typedefs(Id="u64" if rows.wide else "u32", A=dtype),
            f"constexpr u64 LONG = {rows.chunks.length};",
            codegen.flags(KEEPS_VALUES=values, COMPRESSED=rows.compressed),
        )
    )
    kernel = codegen.kernel(gpu, "head_cache.cu", prelude, "heads")
    kernel.launch(
        launch.blocks(gpu, rows.nrows), rows.arguments, heads=ids, head_values=kept, k=k,
        hubs=0 if hubs is None else hubs.indptr, counter=xp.zeros(1, np.uint64),
    )  # fmt: skip
    made = Heads(k, ids, kept, weakref.ref(rows))
    budget.hold(made)
    return made
