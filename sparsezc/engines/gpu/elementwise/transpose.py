"""The transpose of a matrix: its entries sorted by column, piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import gather_scatter
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.errors import OutOfMemory
from sparsezc.memory import allocate, budget
from sparsezc.memory.buffer import index_dtype

_ENTRY_BYTES = 80  # an entry: its id, order, column, row and place, its value twice, and the sort's own memory
_COLUMN_BYTES = 40  # a column: its offset, its next place, and its number of entries


def transposed(rows: Rows) -> Rows:
    """Return the CSR of the transpose, in the same placement, or in host memory where the device has no room for it.

    Matrices may have any size and rows any length: entries are counted by column and then moved to their places, a
    piece at a time, from where they are stored.

    Raises
    ------
    OutOfMemory
        The device has no room for the offsets of so many columns.
    """
    gpu = cuda.current()
    xp = gpu.xp
    if _COLUMN_BYTES * rows.ncols > gpu.memory()[0]:
        raise OutOfMemory(
            f"the transpose of a matrix of {rows.ncols:,} columns needs {_COLUMN_BYTES * rows.ncols:,} bytes of device"
            f" memory beside its entries, and {gpu.memory()[0]:,} are free"
        )
    pieces = row_blocks.pieces(rows.nvals, _ENTRY_BYTES)
    counts = xp.zeros(rows.ncols, np.int64)
    for start, stop in pieces:
        ids = rows.indices.load(start, stop)
        counts += _by_column(ids, rows.ncols)
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    free = indptr[:-1].copy()  # the place of the next entry of each column
    kind = index_dtype(rows.nrows, rows.indices.placement)
    value_bytes = 0 if rows.iso else rows.values.dtype.itemsize
    placement = budget.fitting(rows.indices.placement, rows.nvals * (kind.itemsize + value_bytes))
    indices = allocate(placement, rows.nvals, kind)
    values = rows.values if rows.iso else allocate(placement, rows.nvals, rows.values.dtype)
    for start, stop in pieces:
        if len(pieces) > 1:  # with one piece the first round's ids and counts are still in memory
            ids = rows.indices.load(start, stop)
            counts = _by_column(ids, rows.ncols)
        # Entries are ordered by row, so a stable sort keeps equal columns in row order.
        order = xp.argsort(ids, kind="stable")
        before = free - (xp.cumsum(counts) - counts)
        to = before[ids[order].astype(np.int64)] + xp.arange(order.size, dtype=np.int64)
        free += counts
        entry_rows = xp.searchsorted(rows.indptr, order + start, side="right") - 1
        gather_scatter.scatter(entry_rows.astype(indices.dtype), to, indices)
        if not rows.iso:
            gather_scatter.scatter(rows.values.load(start, stop)[order], to, values)
    gpu.synchronize()  # the host may read the result's pages now
    return Rows(rows.ncols, rows.nrows, rows.nvals, indptr, indices, values, rows.iso)


def _by_column(ids: Any, ncols: int) -> Any:
    return cuda.current().xp.bincount(ids.astype(np.int64), minlength=ncols)
