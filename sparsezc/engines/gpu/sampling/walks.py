"""Walks along rows (walk.cu): all steps of all walks in one launch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.expr.draws import TRIES, Trail
from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import BOOL, INT64, DataType

_VERTEX_BYTES = 24  # of device memory, for each place that a walk may take: the vertex, its column, whether it is there
_WEIGHTS = {"": 0, "values": 1, "columns": 2}


def walk(matrix: MatrixStore, trail: Trail, top: VectorStore | None, by: VectorStore | None) -> MatrixStore:
    """Return the walks, a row each, of vertices in their order.

    Parameters
    ----------
    matrix : MatrixStore
        Its rows are read where they are.
    top, by : VectorStore of FP64, or None
        The largest weight of each row; weights by column.
    """
    rows, columns = assembly.rows_of(matrix), trail.length + 1
    weights = [_filled(v) for v in (top, by)]
    ranges = _ranges(trail.starts.size, columns)
    xp = cuda.current().xp

    def make(first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        met, lengths = _met(rows, matrix.dtype, trail, weights, first, last)
        local = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
        if not whole:
            return local, None, None
        ids = xp.broadcast_to(xp.arange(columns, dtype=index_dtype(columns, "device")), met.shape)
        if int(local[-1]) == met.size:
            return local, ids.ravel(), met.ravel()
        there = met >= 0
        return local, ids[there], met[there]

    return assembly.assemble(ranges, make, (trail.starts.size, columns), INT64, DeviceBuffer.placement)


def _ranges(count: int, columns: int) -> list[row_blocks.Block]:
    """Cut walks so that those of one launch fit the device."""
    most = max(1, budget.available() // 2 // (_VERTEX_BYTES * columns))
    return [(first, min(first + most, count)) for first in range(0, count, most)] or [(0, 0)]


def _filled(v: VectorStore | None) -> Any:
    """Return a vector's values with zeros where it has no entry; null for none."""
    if v is None:
        return 0
    xp = cuda.current().xp
    made = xp.zeros(v.size, np.float64)
    at, values = v.entries()
    made[at] = values
    return made


def _met(rows: Rows, dtype: DataType, trail: Trail, weights: list[Any], first: int, last: int) -> tuple[Any, Any]:
    """Return the vertices that walks `first` .. `last` - 1 meet, -1 after the end of each, and how many each meets."""
    gpu = cuda.current()
    starts = gpu.xp.empty(last - first, np.int64)
    gpu.copy_in(starts, trail.starts[first:last], "pageable")
    met = gpu.xp.empty((last - first, trail.length + 1), np.int64)
    lengths = gpu.xp.empty(last - first, np.int64)
    if not met.size:
        return met, lengths
    back, close, far = map(np.uint64, trail.shares or (0, 0, 0))
    prelude = _prelude(rows.wide, dtype, rows.iso, _WEIGHTS[trail.weights], trail.shares is not None)
    kernel = codegen.kernel(gpu, "walk.cu", prelude, "walk")
    stats.counted(kernel, placements.lie_near(rows))(
        launch.blocks(gpu, last - first), count=last - first, first=first, length=trail.length, nrows=rows.nrows,
        indptr=rows.indptr, indices=rows.indices.pointer, values=rows.values.pointer, top=weights[0], by=weights[1],
        back=back, close=close, far=far, seed=np.uint64(trail.seed), starts=starts, met=met, lengths=lengths,
    )  # fmt: skip
    return met, lengths


@lru_cache(maxsize=64)
def _prelude(wide: bool, dtype: DataType, iso: bool, weights: int, biased: bool) -> str:
    return "\n".join(
        (
            typedefs(Id="u64" if wide else "u32", A=dtype if weights == 1 else BOOL),
            flags(ISO=iso, WEIGHTS=weights, BIASED=biased),
            f"constexpr unsigned TRIES = {TRIES};",
        )
    )
