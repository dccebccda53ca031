"""The row-head cache: the first ids of each row, hubs first, in device memory, for early-exit pulls (head_cache.cu).

A pull over a monoid with a terminal value reads a row until one of its columns is in the vector; that column is mostly
a hub. With the largest hubs of each row in device memory, few rows are read over the host link. Pushes, and pulls
without early exit, read whole rows; they use the cache for rows short enough to be whole in it, as most of a road
network are. ``gb.config.head_cache`` turns it on and off, ``gb.config.head_budget`` limits its memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.placements.segment_cache import SegmentCache
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.layout import Built, Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.exceptions import warn_slow
from sparsezc.memory import budget
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import BOOL, DataType

_LINE = 32  # entries of the request by which a push reads a row, however short the row is
_STEPS = 2000  # steps of a rank for each doubling of a degree: 32 doublings fit 16 bits


@dataclass(frozen=True, eq=False)
class Heads:
    """The contents of a row-head cache: k slots for each row; `values` 0 unless a multiply reads them."""

    k: int
    ids: Any
    values: Any

    @property
    def nbytes(self) -> int:
        """Return the bytes of device memory of ids and values."""
        arrays = [array for array in (self.ids, self.values) if not isinstance(array, int)]
        return sum(int(array.nbytes) for array in arrays)


NO_HEADS = Heads(0, 0, 0)


class ColumnDegrees:
    """Fact: the order of the columns by degree, for one process's part of the rows, in which columns are incomplete.

    It is stored as logarithms of 16 bits, in host memory: columns may be as many as the device has bytes.
    """

    nbytes = 0

    def __init__(self) -> None:
        self._ranks: NDArray[np.uint16] | None = None

    def of(self, degrees: NDArray[Any]) -> None:
        """Compute the order from the columns' degrees, which are below 2**32."""
        self._ranks = (np.log2(degrees + 1.0, dtype=np.float32) * _STEPS).astype(np.uint16)

    def offsets(self) -> Any:
        """Return offsets whose differences have this order, for the kernel to read as degrees; 0 if it is not known."""
        if self._ranks is None:
            return 0
        xp = cuda.current().xp
        made = xp.zeros(self._ranks.size + 1, np.int64)
        xp.cumsum(xp.asarray(self._ranks), dtype=np.int64, out=made[1:])
        return made

    def drop(self) -> None:
        self._ranks = None


class HeadCache(Built[Heads]):
    """Layout: the row-head cache of some rows.

    Attributes
    ----------
    built : Heads or None
    read : float
        Entries that products have read without the cache.
    """

    def __init__(self) -> None:
        super().__init__()
        self.read = 0.0
        self._told: Any = None  # the settings with which the lack of memory was already reported
        self._settings: Any = None  # the settings with which the heads were built

    def get_or_build(self, rows: Rows, demand: Demand) -> Heads:
        """Return the heads for an early-exit pull, built once they pay off; ``NO_HEADS`` while there are none."""
        if self._settings == _settings() and not demand.values:  # memory was checked when they were built
            return self.built or NO_HEADS
        slots = self._slots(rows, demand.dtype, demand.values)
        if not slots:
            return NO_HEADS
        lacks_values = demand.values and not rows.iso and self.built is not None and isinstance(self.built.values, int)
        if self.built is None or self.built.k > slots or lacks_values:
            if not self.is_worth(rows, demand):
                return NO_HEADS
            self.build(rows, demand)
        return self.built or NO_HEADS

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Return True with ``head_cache="on"``; with "auto" once pulls have read as many entries as the matrix has."""
        self.read += demand.entries
        return config.head_cache != "auto" or self.read >= rows.nvals

    def build(self, rows: Rows, demand: Demand) -> None:
        # Frees the old heads' memory for the new ones, and the segments', which are rebuilt in the rest.
        self.drop()
        rows.layouts[SegmentCache].drop()
        values = demand.values and not rows.iso
        slots = self._slots(rows, demand.dtype, values)
        if not slots:  # a recording still reads the heads that were dropped
            return
        try:
            self.built = _make(rows, demand.columns, demand.dtype, slots, values)
        except MemoryError as error:
            self.read = 0  # building is tried again only after as many reads
            warn_slow(f"no row-head cache for {rows.nrows:,} rows: {error}")
            return
        self._settings = _settings()
        budget.register_cache(self)

    def drop(self) -> None:
        super().drop()
        self._settings = None

    def of_short_rows(self, rows: Rows, columns: Rows | None, entries: float) -> Heads:
        """Return the heads for a product without early exit; ``NO_HEADS`` unless most rows are whole in them.

        `entries`: the number of entries that such a product reads without heads.
        """
        # Such a matrix is in host memory as device memory is too small, and heads take more memory than its rows.
        if RECORDS[rows.indices.placement].beyond:
            return NO_HEADS
        if self.built is not None:  # built already: the budget need not be checked
            return self.usable if rows.nvals <= self.built.k * rows.nrows else NO_HEADS
        most = budget.MOST_HEADS if config.head_budget is not None else budget.HEAD_BYTES // rows.indices.dtype.itemsize
        if rows.nvals > most * rows.nrows or rows.nvals > self._slots(rows, BOOL, False) * rows.nrows:
            return NO_HEADS
        return self.get_or_build(rows, Demand(entries, BOOL, columns=columns))

    def to_push(self, rows: Rows, columns: Rows | None, count: int | None) -> Heads:
        """Return the heads for a push of `count` rows, which reads the rows from them that they contain whole.

        `count` None: only existing heads are returned.
        """
        if placements.moves(rows) or placements.in_device_memory(rows):
            return NO_HEADS
        if count is not None:
            self.of_short_rows(rows, columns, min(rows.nvals, _LINE * count))
        return self.usable

    @property
    def usable(self) -> Heads:
        """Return the existing heads if the settings allow them, otherwise ``NO_HEADS``."""
        return NO_HEADS if self.built is None or config.head_cache == "off" else self.built

    def expected_slots(self, rows: Rows, dtype: DataType, *, values: bool) -> int:
        """Return the number of slots a row that a pull will have."""
        return self._slots(rows, dtype, values) if config.head_cache == "on" else self.usable.k

    def _slots(self, rows: Rows, dtype: DataType, values: bool) -> int:
        """Return the slots a row within the budget; 0 if the settings exclude heads or, with a warning, if none fit."""
        if config.head_cache == "off" or (config.head_cache == "auto" and not RECORDS[rows.indices.placement].in_place):
            return 0
        id_bytes = rows.indices.dtype.itemsize
        slot = id_bytes + (dtype.np_type.itemsize if values and not rows.iso else 0)
        if rows.ncols > 2 ** (8 * id_bytes) - 2:  # the two largest ids are markers
            return 0
        asked = (
            budget.setting_bytes(config.head_budget)
            if config.head_budget is not None
            else budget.HEAD_BYTES // id_bytes * slot * rows.nrows
        )
        space = budget.heads_space(asked, self._space(rows))
        slots = min(space // (slot * max(rows.nrows, 1)), budget.MOST_HEADS)
        setting = config.head_budget, config.budget
        if not slots and rows.nrows and self._told != setting:
            self._told = setting
            warn_slow(
                f"no row-head cache: one id for each of {rows.nrows:,} rows takes {slot * rows.nrows:,} bytes of device"
                f" memory and {space:,} may be used (gb.config.head_budget, gb.config.budget)"
            )
        return slots

    def _space(self, rows: Rows) -> int:
        """Return the bytes for heads: the free memory or, with a budget, the part that an algorithm's vectors leave."""
        # The old heads and segments count as free, as they would be dropped.
        space = budget.available() + self.nbytes + rows.layouts[SegmentCache].nbytes
        return space if config.budget is None else max(0, space - budget.working_bytes(rows.nrows))


def _settings() -> tuple[Any, ...]:
    """Return the settings that the number of slots depends on."""
    return config.head_cache, config.head_budget, config.budget


def sample(rows: Rows, columns: Rows | None, dtype: DataType) -> Rows | None:
    """Return rows that consist of their heads only, for sampling; None if there are no heads."""
    made = rows.layouts[HeadCache].get_or_build(rows, Demand(0, dtype, columns=columns))
    if not made.k:
        return None
    empty = cuda.current().xp.zeros(rows.nrows + 1, np.int64)
    short = Rows(rows.nrows, rows.ncols, 0, empty, rows.indices, rows.values, rows.iso, rows.order)
    short.layouts[HeadCache].built = made
    return short


def _make(rows: Rows, columns: Rows | None, dtype: DataType, k: int, values: bool) -> Heads:
    """Build the heads; hubs are the columns with the most entries."""
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
        hubs=rows.facts[ColumnDegrees].offsets() if columns is None else columns.indptr, counter=xp.zeros(1, np.uint64),
    )  # fmt: skip
    return Heads(k, ids, kept)
