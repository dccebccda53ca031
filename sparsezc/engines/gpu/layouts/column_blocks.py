"""A matrix in device memory cut by columns (column_blocks.cu), for vectors larger than the card's cache.

Each entry of such a product reads a sector of the vector, from memory where the cache is too small for all of it. A
column block has the columns whose part of the vector fits the cache: products process the blocks one after another and
add the results. The blocks take the memory of a second copy of the matrix, and offsets for each block; they are dropped
when memory runs short. Where the cache serves most entries anyway (hubs, and neighbours with near ids), a matrix is not
cut.
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

# Share of the cache for a block's part of the vector, which must stay cached while the block streams through.
_PART = 0.4
_MOST = 31  # blocks: a lane of column_blocks.cu for each, and one for the end of the row
_PAYS = 4  # entries of a row in a block, on average: with fewer, offsets and results cost more than the blocks save
_PRODUCTS = 2  # after so many products, the next few repay the cutting
_HUB = 4  # times the entries of the mean column: such a column is cached whichever warp asks for it
_SAMPLE = 1 << 16  # entries that are sampled to estimate the share of scattered ones


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks, in the order of their columns; `values` only if a multiply reads them."""

    rows: list[Rows]
    values: bool
    nbytes: int


def count(nbytes: int) -> int:
    """Return the number of blocks for a vector of so many bytes; 1 where the cache holds nearly all of it."""
    made = nbytes / (_PART * cuda.current().cache_bytes)
    return math.ceil(made) if made > 2 else 1


class ColumnBlocks(BuiltAfter[Blocks]):
    """Layout: rows cut by columns.

    Attributes
    ----------
    built : Blocks or None
    products : float
        Counts products with full vectors; -inf where column blocking is disabled for this matrix, as its entries are
        not scattered.
    nblocks, values : int, bool
        The most blocks that a product asked for, and whether one asked for values: blocks serve all of these products.
    """

    def __init__(self) -> None:
        super().__init__(_PRODUCTS)
        self.nblocks, self.values = 0, False

    def get_or_build(self, rows: Rows, demand: Demand) -> list[Rows]:
        """Return the blocks for a product with a full vector; without blocks, the rows alone."""
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
        """Return true after the first products, if most entries miss the cache and half the free memory is enough."""
        if not self.count():
            return False
        self.built = None  # frees its memory for the next
        if _nbytes(rows, self.values, self.nblocks) > budget.available() // 2:  # vectors need memory too
            self.nblocks, self.values = 0, False  # what the next product asks for may be less
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
    """The shares of entries with columns far from those that neighbouring rows read: hubs' columns, and others."""

    hubs: float
    others: float


def scattered(rows: Rows, lengths: Any, nblocks: int) -> Scattered:
    """Estimate the shares of scattered entries from a sample; `lengths` are of the columns.

    The cache is unlikely to hold the vector's entry for one that is not a hub's. A hub's is cached, and with it the
    other entries of its sector.
    """
    gpu = cuda.current()
    xp = gpu.xp
    # Odd, so that the sample covers all positions within rows of any one length.
    step = max(1, (rows.nvals // _SAMPLE - 1) | 1)
    at = xp.arange(0, rows.nvals, step)
    row = xp.searchsorted(rows.indptr, at, side="right") - 1
    column = rows.indices.load()[at].astype(np.int64)
    hub = lengths[column] * rows.ncols > _HUB * rows.nvals
    near = xp.abs(column / rows.ncols - row / rows.nrows) < 0.5 / nblocks
    # Counted on the host: CuPy compiles its own count (boolean_reductions.py).
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
