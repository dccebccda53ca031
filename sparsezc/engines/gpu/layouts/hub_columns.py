"""A matrix's ids with the columns numbered by descending length, for vectors larger than the card's cache.

Each entry of a product with a full vector reads a sector of 32 bytes of the vector. Where most entries are in the
columns of hubs, whose values are scattered over the vector, the cache holds few other values in each sector of a hub.
In the columns' new order hubs share sectors. The rows and the order of their entries stay, and so do sums, to the last
bit. A product puts the vector into the columns' order first, which reads it once. The ids take the memory of a second
copy, which is dropped when memory runs short. Columns are counted where the matrix has no rows of its transpose, as a
part of one on several processes. The first columns' values are read from shared memory (mxv.cu), also
where a matrix has its columns in this order already and nothing is built.
Source: Y. Zhang, V. Kiriansky, C. Mendis, S. Amarasinghe, M. Zaharia, Making caches work for graph analytics, IEEE Big
Data 2017, doi:10.1109/BigData.2017.8257937 (vertices by frequency).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts import column_blocks
from sparsezc.engines.gpu.runtime import boolean_reductions, codegen, gather_scatter, launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.layout import BuiltAfter, Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory import budget
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

_PRODUCTS = 4  # renumbering takes as long as a product or two, of which each later one saves a quarter or a third

#: Threads of a block that has the first columns' values in shared memory: the most that one can have.
THREADS = 1024
# Bytes of shared memory that are left to the L1 cache, through whose lines all other values pass: 92 KB on an H200,
# with 160 for hubs. With 192 for hubs kron:24 took 3.57 ms instead of 3.47 in FP64, as long in FP32; with 220 5.7, 3.8.
_L1 = 67 << 10
_SHARE = 0.2  # of the entries: with fewer in shared memory, half as many warps at a time were not measured to pay
_ENTRY_BYTES = 24  # of an id that is counted: it, 64 bits of it, and what is asked of these
_COUNTED = 1 << 18  # columns whose entries are counted, more than a block has bytes


def capacity(dtype: DataType) -> int:
    """Return the columns whose values a block has in shared memory."""
    return max(cuda.current().block_bytes - _L1, 0) // dtype.np_type.itemsize


@dataclass(frozen=True, eq=False)
class Hubs:
    """Columns in the order of their lengths.

    Attributes
    ----------
    rows : Rows or None
        The rows with new ids; None: their own ids are in this order.
    columns : array of uint32 or None
        The column of each number, of those with entries, on the device.
    ends : array of int64
        The entries of the first columns, summed up, on the host.
    """

    rows: Rows | None
    columns: Any
    ends: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        return 0 if self.rows is None else int(self.rows.indices.nbytes + self.columns.nbytes)

    def in_shared(self, dtype: DataType, nvals: int) -> int:
        """Return the number of columns whose values are to be read from shared memory: 0 if few entries are theirs."""
        used = self.ends.size if self.rows is None else self.columns.size
        held = min(capacity(dtype), self.ends.size, used)
        return held if held and self.ends[held - 1] >= _SHARE * nvals else 0

    def gathered(self, vector: VectorStore) -> VectorStore:
        """Return a full vector in the columns' order; it has no values at columns without entries."""
        if self.rows is None:
            return vector
        made = VectorStore(vector.dtype, vector.size)
        values = _gathered(self.columns, self.columns.size, vector.operands()[0], vector.dtype.np_type)
        made.set(values, vector.bits, vector.size)
        return made


class HubColumns(BuiltAfter[Hubs]):
    """Layout: ids with columns numbered by descending length.

    Attributes
    ----------
    built : Hubs or None
    products : float
        Counts products with full vectors; -inf where most entries are not in scattered hubs.
    ordered : bool or None
        The columns are in this order already; None: it is not known yet.
    """

    def __init__(self) -> None:
        super().__init__(_PRODUCTS)
        self.ordered: bool | None = None
        self._lengths: Any = None  # of the columns, between is_worth and build

    def get_or_build(self, rows: Rows, demand: Demand) -> Hubs | None:
        """Return the renumbered rows for a product with a full vector, or None."""
        if not RECORDS[rows.indices.placement].resident or rows.compressed or rows.wide:
            return None
        if ENGINE_STATE.pool is not None:  # building would wait for the device
            return None
        if column_blocks.count(demand.vector_bytes) == 1:
            return None
        if self.built is None and self.is_worth(rows, demand):
            self.build(rows, demand)
        return self.built

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Return true after the first products, if most entries are in scattered hubs and there is enough memory."""
        if not self.count():
            return False
        counted = 0 if demand.columns is not None else 16 * rows.ncols  # numbers of 8 bytes, twice
        fits = rows.indices.nbytes + counted <= budget.available() // 2  # vectors need memory too
        if not fits and (self.ordered is False or demand.columns is None):
            return False
        lengths = _lengths(rows, demand.columns)
        if self.ordered is None:
            self.ordered = boolean_reductions.all_true(lengths[1:] <= lengths[:-1])
        if not self.ordered:
            if not fits:
                return False
            nblocks = column_blocks.count(demand.vector_bytes)
            if 2 * column_blocks.scattered(rows, lengths, nblocks).hubs <= 1:
                self.products = -math.inf
                return False
        self._lengths = lengths
        return True

    def build(self, rows: Rows, demand: Demand) -> None:
        lengths, self._lengths = self._lengths, None
        try:
            if self.ordered:
                self.built = Hubs(None, None, _ends(lengths))
                return
            self.built = _renumbered(rows, lengths)
        except MemoryError:  # less memory is free than the driver reported
            self.pause()
            return
        budget.register_cache(self)


def _lengths(rows: Rows, columns: Rows | None) -> Any:
    if columns is not None:
        return columns.indptr[1:] - columns.indptr[:-1]
    return gather_scatter.counts(rows.indices, rows.ncols, row_blocks.pieces(rows.nvals, _ENTRY_BYTES))


def _ends(lengths: Any) -> NDArray[np.int64]:
    gpu = cuda.current()
    return gpu.asnumpy(gpu.xp.cumsum(lengths[:_COUNTED]))


def _renumbered(rows: Rows, lengths: Any) -> Hubs:
    xp = cuda.current().xp
    order = xp.argsort(-lengths, kind="stable")
    numbers = xp.empty(rows.ncols, np.uint32)
    numbers[order] = xp.arange(rows.ncols, dtype=np.uint32)
    ids = _gathered(np.uint64(rows.indices.pointer), rows.nvals, numbers, np.uint32)
    made = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, DeviceBuffer(ids), rows.values, rows.iso, rows.order)
    descending = lengths[order]
    used = int(xp.searchsorted(-descending, xp.zeros(1, np.int64), side="left")[0])
    return Hubs(made, order[:used].astype(np.uint32), _ends(descending))


def _gathered(at: Any, count: int, values: Any, dtype: Any) -> Any:
    """Return values[at]; `at`: `count` numbers of 32 bits, or their address."""
    gpu = cuda.current()
    made = gpu.xp.empty(count, dtype)
    prelude = codegen.typedefs(A=launch.BY_SIZE[made.itemsize])
    kernel = codegen.kernel(gpu, "permute_vector.cu", prelude, "reorder")
    kernel.launch(launch.blocks(gpu, count), size=count, at=at, values=values, bits=0, new_values=made, new_bits=0)
    return made
