"""The other orientation of a matrix: its entries sorted by column, a block of rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.csr import index_dtype
from sparsezc.engines.gpu import launch, parts, specialise
from sparsezc.engines.gpu.stores import Rows
from sparsezc.memory import Buffer, allocate

_ENTRY_BYTES = 64  # an id, its column, order, row and place, and its value twice


def transposed(rows: Rows) -> Rows:
    """The CSR of the transpose, in the same placement. Any size fits: what a block leaves is put where it belongs."""
    gpu = device.current()
    xp = gpu.xp
    ranges = parts.blocks([rows.indptr], _ENTRY_BYTES)
    counts = xp.zeros(rows.ncols, np.int64)
    for first, last in ranges:
        start, stop = _ends(rows, first, last)
        counts += xp.bincount(rows.indices.load(start, stop).astype(np.int64), minlength=rows.ncols)
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    free = indptr[:-1].copy()  # where the next entry of each column goes
    placement = rows.indices.placement
    indices = allocate(placement, rows.nvals, index_dtype(rows.nrows, placement))
    values = rows.values if rows.iso else allocate(placement, rows.nvals, rows.values.dtype)
    for first, last in ranges:
        start, stop = _ends(rows, first, last)
        ids = rows.indices.load(start, stop).astype(np.int64)
        order = xp.argsort(ids, kind="stable")  # entries come by row, so equal columns stay in row order
        ids = ids[order]
        to = free[ids] + xp.arange(ids.size, dtype=np.int64) - xp.searchsorted(ids, ids, side="left")
        entry_rows = xp.searchsorted(rows.indptr, order + start, side="right") - 1
        _place(to, entry_rows.astype(indices.dtype), indices)
        if not rows.iso:
            _place(to, rows.values.load(start, stop)[order], values)
        if len(ranges) > 1:
            free += xp.bincount(ids, minlength=rows.ncols)
    gpu.synchronize()  # the host may read the result's pages now
    return Rows(rows.ncols, rows.nrows, rows.nvals, indptr, indices, values, rows.iso)


def _ends(rows: Rows, first: int, last: int) -> tuple[int, int]:
    return int(rows.indptr[first]), int(rows.indptr[last])


def _place(to: Any, values: Any, out: Buffer) -> None:
    gpu = device.current()
    ctype = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}[values.dtype.itemsize]
    kernel = specialise.kernel(gpu, "compact.cu", specialise.typedefs(Id="u32", A=ctype), "place")
    arguments = np.uint64(to.size), to.astype(np.uint64), values, np.uint64(out.pointer)
    kernel(launch.blocks(gpu, to.size), launch.THREADS, arguments)
