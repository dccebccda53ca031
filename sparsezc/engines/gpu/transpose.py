"""The other orientation of a matrix: its entries sorted by column, a block of rows at a time."""

from __future__ import annotations

import numpy as np

from sparsezc import device
from sparsezc.csr import index_dtype
from sparsezc.engines.gpu import launch, parts
from sparsezc.engines.gpu.stores import Rows
from sparsezc.memory import allocate

_ENTRY_BYTES = 64  # an id, its column, order, row and place, and its value twice


def transposed(rows: Rows) -> Rows:
    """The CSR of the transpose, in the same placement. Any size fits: what a block leaves is put where it belongs."""
    gpu = device.current()
    xp = gpu.xp
    ranges = parts.blocks([rows.indptr], _ENTRY_BYTES)
    counts = xp.zeros(rows.ncols, np.int64)
    for first, last in ranges:
        start, stop = rows.ends(first, last)
        counts += xp.bincount(rows.indices.load(start, stop).astype(np.int64), minlength=rows.ncols)
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    free = indptr[:-1].copy()  # where the next entry of each column goes
    placement = rows.indices.placement
    indices = allocate(placement, rows.nvals, index_dtype(rows.nrows, placement))
    values = rows.values if rows.iso else allocate(placement, rows.nvals, rows.values.dtype)
    for first, last in ranges:
        start, stop = rows.ends(first, last)
        ids = rows.indices.load(start, stop).astype(np.int64)
        order = xp.argsort(ids, kind="stable")  # entries come by row, so equal columns stay in row order
        ids = ids[order]
        to = free[ids] + xp.arange(ids.size, dtype=np.int64) - xp.searchsorted(ids, ids, side="left")
        entry_rows = xp.searchsorted(rows.indptr, order + start, side="right") - 1
        launch.move("place", to, entry_rows.astype(indices.dtype), np.uint64(indices.pointer))
        if not rows.iso:
            launch.move("place", to, rows.values.load(start, stop)[order], np.uint64(values.pointer))
        if len(ranges) > 1:
            free += xp.bincount(ids, minlength=rows.ncols)
    gpu.synchronize()  # the host may read the result's pages now
    return Rows(rows.ncols, rows.nrows, rows.nvals, indptr, indices, values, rows.iso)
