"""The renumbering of vertices: the arrays of rows in another vertex order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import gather_scatter
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.memory import Buffer, allocate, budget

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows

ENTRY_BYTES = 64  # bytes of an entry: its id, row, old position and sort key, and the sort's memory


def renumbered(rows: Rows, take: Any, numbers: Any) -> tuple[Any, Buffer, Buffer]:
    """Return offsets, ids and values in which row p is row take[p] and id is numbers[id], sorted by id."""
    gpu = cuda.current()
    xp = gpu.xp
    take = take.astype(np.int64)
    starts, lengths = rows.indptr[:-1][take], (rows.indptr[1:] - rows.indptr[:-1])[take]
    indptr = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
    placement = rows.indices.placement
    placement = budget.fitting(placement, rows.indices.nbytes + (0 if rows.iso else rows.values.nbytes))
    indices = allocate(placement, rows.nvals, rows.indices.dtype)
    values = rows.values if rows.iso else allocate(placement, rows.nvals, rows.values.dtype)
    for first, last, *_ in row_blocks.blocks([indptr], ENTRY_BYTES):
        local = indptr[first : last + 1] - indptr[first]
        entry = xp.arange(int(local[-1]), dtype=np.int64)
        row = xp.searchsorted(local, entry, side="right") - 1
        source = starts[first:last][row] + entry - local[row]
        ids = numbers[gather_scatter.gather(rows.indices, source).astype(np.int64)]
        keys = row.astype(np.uint64) << np.uint64(32) | ids
        start = int(indptr[first])
        if rows.iso:
            keys.sort()
        else:
            by = xp.argsort(keys)
            keys = keys[by]
            values.write(start, gather_scatter.gather(rows.values, source[by]))
        indices.write(start, (keys & np.uint64(0xFFFFFFFF)).astype(rows.indices.dtype))
    gpu.synchronize()  # the host may read the result's pages now
    return indptr, indices, values
