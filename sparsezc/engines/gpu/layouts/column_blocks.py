"""A matrix in device memory cut by columns (column_blocks.cu), for vectors larger than the card's cache.

For each entry such a product reads a sector of the vector, mostly from memory, as the cache cannot hold all of it. The
part of the vector that belongs to a column block fits the cache: products process the blocks one after another and add
the results. The blocks take the memory of a second copy of the matrix, and offsets for each block; they are dropped
when memory runs short. A matrix is not cut if the cache serves most of its entries anyway (hubs, and neighbours with
near ids).
Source: Y. Zhang, V. Kiriansky, C. Mendis, S. Amarasinghe, M. Zaharia, Making caches work for graph analytics, IEEE Big
Data 2017, doi:10.1109/BigData.2017.8257937 (CSR segmenting).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.layout import BuiltAfter, Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import budget
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS

# Share of the cache for a block's part of the vector, which must stay cached while the block's entries stream through.
_PART = 0.4
_MOST = 31  # most blocks: column_blocks.cu has a lane for each, and one for the end of the row
_PAYS = 4  # mean entries of a row in a block: with fewer, offsets and results cost more than the blocks save
_PRODUCTS = 2  # products before the matrix is cut: a few more repay the cutting
_HUB = 4  # times the mean column's entries: the value of a column with more stays cached, whichever warps read it
_SAMPLE = 1 << 16  # entries that are sampled to estimate the share of scattered ones


@dataclass(frozen=True, eq=False)
class Blocks:
    """The column blocks, in the order of their columns; `values`: they have values, as a multiply reads these."""

    rows: list[Rows]
    values: bool
    nbytes: int


def count(nbytes: int) -> int:
    """Return the number of column blocks for a vector of `nbytes` bytes; 1 if the cache holds nearly all of it."""
    made = nbytes / (_PART * cuda.current().cache_bytes)
    return math.ceil(made) if made > 2 else 1


class ColumnBlocks(BuiltAfter[Blocks]):
    """Layout: a matrix cut into column blocks.

    Attributes
    ----------
    built : Blocks or None
    products : float
        The number of products with full vectors; -inf if this matrix is never cut, as its entries are not scattered.
    nblocks, values : int, bool
        The most blocks that any product needed, and whether any read values: the blocks serve all of these products.
    """

    def __init__(self) -> None:
        super().__init__(_PRODUCTS)
        self.nblocks, self.values = 0, False

    def get_or_build(self, rows: Rows, demand: Demand) -> list[Rows]:
        """Return the column blocks for a product with a full vector; if there are none, the rows as the only block."""
        if not RECORDS[rows.indices.placement].resident or rows.compressed or demand.columns is None:
            return [rows]
        if ENGINE_STATE.pool is not None:  # building would wait for the device
            return [rows]
        if not 1 < (nblocks := count(demand.vector_bytes)) <= _MOST or rows.nvals < _PAYS * nblocks * rows.nrows:
            return [rows]
        self.nblocks, self.values = max(self.nblocks, nblocks), self.values or demand.values
        if self.built is None or (len(self.built.rows), self.built.values) != (self.nblocks, self.values):
            if not self.is_worth(rows, demand):
                return [rows]
            self.build(rows, demand)
        return [rows] if self.built is None else self.built.rows

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Return True after the first products, if most entries miss the cache and half the free memory suffices."""
        if not self.count():
            return False
        self.built = None  # frees its memory for the new blocks
        if _nbytes(rows, self.values, self.nblocks) > budget.available() // 2:  # vectors need memory too
            self.nblocks, self.values = 0, False  # the next product may need less
            return False
        assert demand.columns is not None
        lengths = demand.columns.indptr[1:] - demand.columns.indptr[:-1]
        if 2 * scattered(rows, lengths, self.nblocks).others <= 1:
            self.products = -math.inf
            return False
        return True

    def build(self, rows: Rows, demand: Demand) -> None:
        try:
            made = _cut(rows, self.nblocks, self.values)
        except MemoryError:  # less memory is free than the driver reported
            self.pause()
            return
        self.built = Blocks(made, self.values, _nbytes(rows, self.values, self.nblocks))
        budget.register_cache(self)


def _nbytes(rows: Rows, values: bool, nblocks: int) -> int:
    return rows.indices.nbytes + (rows.values.nbytes if values else 0) + 8 * nblocks * (rows.nrows + 1)


class Scattered(NamedTuple):
    """The shares of entries whose columns are far from those of neighbouring rows: in hubs' columns, and in others."""

    hubs: float
    others: float


def scattered(rows: Rows, lengths: Any, nblocks: int) -> Scattered:
    """Estimate the shares of scattered entries from a sample; `lengths`: the number of entries of each column.

    The cache is unlikely to hold the vector's value for a scattered entry whose column is no hub. A hub's value is
    cached, and with it the rest of its sector.
    """
    gpu = cuda.current()
    xp = gpu.xp
    # An odd step: if all rows have one length, the sample covers all positions within a row.
    step = max(1, (rows.nvals // _SAMPLE - 1) | 1)
    at = xp.arange(0, rows.nvals, step)
    row = xp.searchsorted(rows.indptr, at, side="right") - 1
    column = rows.indices.load()[at].astype(np.int64)
    hub = lengths[column] * rows.ncols > _HUB * rows.nvals
    near = xp.abs(column / rows.ncols - row / rows.nrows) < 0.5 / nblocks
    # Counted on the host, as CuPy would compile a kernel for it (boolean_reductions.py).
    hubs, others = (np.count_nonzero(gpu.asnumpy(some)) / at.size for some in (hub & ~near, ~hub & ~near))
    return Scattered(hubs, others)


def _cut(rows: Rows, nblocks: int, values: bool) -> list[Rows]:
    gpu = cuda.current()
    xp = gpu.xp
    width = -(-rows.ncols // nblocks)
    types = codegen.typedefs(
        Id="u64" if rows.wide else "u32", A=launch.BY_SIZE[rows.values.dtype.itemsize if values else 1]
    )
    prelude = f"{types}\n{codegen.flags(VALUES=values)}"
    blocks = launch.blocks(gpu, 32 * rows.nrows)
    offsets = xp.zeros((nblocks, rows.nrows + 1), np.int64)
    given = {
        "nrows": rows.nrows, "indptr": rows.indptr, "ids": rows.indices.pointer,
        "width": width, "nblocks": nblocks, "offsets": offsets,
    }  # fmt: skip
    lengths, split = (codegen.kernel(gpu, "column_blocks.cu", prelude, name) for name in ("lengths", "split"))
    lengths.launch(blocks, **given, counter=xp.zeros(1, np.uint64))
    for block in offsets:
        xp.cumsum(block, out=block)
    counts = gpu.asnumpy(offsets[:, -1]).tolist()
    ids = [xp.empty(count, rows.indices.dtype) for count in counts]
    held = [xp.empty(count if values else 0, rows.values.dtype) for count in counts]
    into = np.array([[gpu.pointer(a), gpu.pointer(b)] for a, b in zip(ids, held, strict=True)], np.uint64)
    split.launch(blocks, **given, values=rows.values.pointer, into=xp.asarray(into), counter=xp.zeros(1, np.uint64))
    made = []
    for indptr, own, theirs in zip(offsets, ids, held, strict=True):
        buffer = DeviceBuffer(theirs) if values else rows.values
        made.append(Rows(rows.nrows, rows.ncols, own.size, indptr, DeviceBuffer(own), buffer, rows.iso, rows.order))
    return made
