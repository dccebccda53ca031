"""The transpose of a matrix, and the union of a triangle and its transpose, by sorting entries by column in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import boolean_reductions, gather_scatter
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS

_ENTRY_BYTES = 80  # bytes of an entry: id, order, column, row and position, its value twice, and the sort's memory
_COLUMN_BYTES = 40  # bytes of a column: its offset, next free position and number of entries


def transposed(rows: Rows) -> Rows:
    """Return the CSR of the transpose, in the same placement, or in host memory if it does not fit in device memory.

    Matrices may have any size and rows any length: entries are counted by column, then read from their placement piece
    by piece and moved to their positions.

    Raises
    ------
    OutOfMemory
        Device memory is too small for the offsets of so many columns.
    """
    gpu = cuda.current()
    xp = gpu.xp
    if _COLUMN_BYTES * rows.ncols > gpu.memory()[0]:
        raise OutOfMemory(
            f"the transpose of a matrix of {rows.ncols:,} columns needs {_COLUMN_BYTES * rows.ncols:,} bytes of device"
            f" memory beside its entries, and {gpu.memory()[0]:,} are free"
        )
    pieces = row_blocks.pieces(rows.nvals, _ENTRY_BYTES)
    counts = gather_scatter.counts(rows.indices, rows.ncols, pieces)
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    kind = index_dtype(rows.nrows, rows.indices.placement)
    value_bytes = 0 if rows.iso else rows.values.dtype.itemsize
    placement = budget.fitting(rows.indices.placement, rows.nvals * (kind.itemsize + value_bytes))
    indices = allocate(placement, rows.nvals, kind)
    values = rows.values if rows.iso else allocate(placement, rows.nvals, rows.values.dtype)
    _move(rows, pieces, counts, indptr[:-1].copy(), (indices, values))
    gpu.synchronize()  # the host may read the result's pages now
    return Rows(rows.ncols, rows.nrows, rows.nvals, indptr, indices, values, rows.iso)


def mirrored(rows: Rows) -> Rows | None:
    """Return the union of a strictly triangular matrix and its transpose.

    In each row the entries of one precede those of the other, so nothing is merged. None if the matrix is not strictly
    triangular or not in device memory, or if the result does not fit.
    """
    xp = cuda.current().xp
    lower = _is_lower(rows)
    kind = rows.indices.dtype
    value_bytes = 0 if rows.iso else rows.values.dtype.itemsize
    needed = 2 * rows.nvals * (kind.itemsize + value_bytes)
    if lower is None or not RECORDS[rows.indices.placement].resident or needed > budget.available() // 4 * 3:
        return None
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    counts = gather_scatter.counts(rows.indices, rows.ncols, row_blocks.pieces(rows.nvals, _ENTRY_BYTES))
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths + counts)])
    own, turned = indptr[:-1], indptr[:-1] + lengths
    if not lower:
        own, turned = indptr[:-1] + counts, indptr[:-1].copy()
    indices = DeviceBuffer(xp.empty(2 * rows.nvals, kind))
    values: Buffer = rows.values
    if not rows.iso:
        values = DeviceBuffer(xp.empty(2 * rows.nvals, rows.values.dtype))
        gather_scatter.shift_rows(rows.values.load(), rows.indptr, own - rows.indptr[:-1], values.array)
    gather_scatter.shift_rows(rows.indices.load(), rows.indptr, own - rows.indptr[:-1], indices.array)
    # after the allocations, as pieces are cut by the memory that is free now
    _move(rows, row_blocks.pieces(rows.nvals, _ENTRY_BYTES), None, turned, (indices, values))
    return Rows(rows.nrows, rows.ncols, 2 * rows.nvals, indptr, indices, values, rows.iso)


def _is_lower(rows: Rows) -> bool | None:
    """Return True if all entries are below the diagonal, False if all are above it, otherwise None."""
    xp = cuda.current().xp
    some = xp.flatnonzero(rows.indptr[1:] > rows.indptr[:-1])
    if boolean_reductions.all_true(gather_scatter.gather(rows.indices, rows.indptr[some + 1] - 1) < some):
        return True
    return False if boolean_reductions.all_true(gather_scatter.gather(rows.indices, rows.indptr[some]) > some) else None


def _move(
    rows: Rows, pieces: list[tuple[int, int]], counts: Any, free: Any, into: tuple[Buffer, Buffer]
) -> None:  # fmt: skip
    """Move entries to their columns' next free positions, with row indices as ids; `free` is advanced.

    `counts`: the number of entries of each column, used if there is one piece; None if unknown.
    """
    xp = cuda.current().xp
    indices, values = into
    for start, stop in pieces:
        ids = rows.indices.load(start, stop)
        if counts is None or len(pieces) > 1:
            counts = gather_scatter.counts(rows.indices, rows.ncols, [(start, stop)])
        # Entries are ordered by row, so a stable sort by column keeps each column in row order.
        order = xp.argsort(ids, kind="stable")
        before = free - (xp.cumsum(counts) - counts)
        to = before[ids[order].astype(np.int64)] + xp.arange(order.size, dtype=np.int64)
        free += counts
        entry_rows = xp.searchsorted(rows.indptr, order + start, side="right") - 1
        gather_scatter.scatter(entry_rows.astype(indices.dtype), to, indices)
        if not rows.iso:
            gather_scatter.scatter(rows.values.load(start, stop)[order], to, values)
