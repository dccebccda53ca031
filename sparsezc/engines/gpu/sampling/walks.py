"""Walks along rows (walk.cu) or a vector of positions (follow.cu): all steps of all walks in one launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.expr.sampling import TRIES, Trail
from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.types.datatypes import BOOL, INT64, DataType

_VERTEX_BYTES = 24  # bytes of device memory for each vertex of a walk: the vertex, its column, and its presence
_WEIGHTS = {"": 0, "values": 1, "columns": 2}


def walk(matrix: MatrixStore, trail: Trail, top: VectorStore | None, by: VectorStore | None) -> MatrixStore:
    """Return the matrix with a row for each walk: its vertices in order.

    Parameters
    ----------
    matrix : MatrixStore
        The matrix whose rows the kernel reads in place.
    top, by : VectorStore of FP64, or None
        The largest weight of each row; weights by column.
    """
    return _assembled(
        Steps(assembly.rows_of(matrix), matrix.dtype, trail, top, by).run, trail.starts.size, trail.length
    )


@launch.locked
def follow(v: VectorStore, starts: NDArray[np.int64], length: int, meanwhile: Callable[[], None]) -> MatrixStore:
    """Return the walks of `length` steps along a vector of positions: from p a walk moves to v(p) (follow.cu).

    `meanwhile` is called once the first walks are launched.
    """
    v.arrange(None)
    values, bits = v.operands()
    waiting = [meanwhile]

    def run(first: int, last: int) -> tuple[Any, Any]:
        gpu = cuda.current()
        at = gpu.xp.asarray(starts[first:last])  # CuPy copies through pinned memory, without a wait for the device
        met, lengths = gpu.xp.empty((at.size, length + 1), np.int64), gpu.xp.empty(at.size, np.int64)
        kernel = codegen.kernel(gpu, "follow.cu", "", "follow")
        kernel.launch(
            launch.blocks(gpu, at.size), count=at.size, length=length, next=values, bits=bits, starts=at, met=met,
            lengths=lengths,
        )  # fmt: skip
        while waiting:
            waiting.pop()()
        return met, lengths

    return _assembled(run, starts.size, length)


def _assembled(run: Callable[[int, int], tuple[Any, Any]], count: int, length: int) -> MatrixStore:
    """Return a matrix with a row for each walk; run(first, last) returns vertices and lengths of these walks."""
    columns, xp = length + 1, cuda.current().xp

    def make(first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        met, lengths = run(first, last)
        local = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
        if not whole:
            return local, None, None
        ids = xp.broadcast_to(xp.arange(columns, dtype=index_dtype(columns, "device")), met.shape)
        if int(local[-1]) == met.size:
            return local, ids.ravel(), met.ravel()
        there = met >= 0
        return local, ids[there], met[there]

    return assembly.assemble(_ranges(count, columns), make, (count, columns), INT64, DeviceBuffer.placement)


def _ranges(count: int, columns: int) -> list[row_blocks.Block]:
    """Cut the walks into ranges of which each fits in device memory."""
    most = max(1, budget.available() // 2 // (_VERTEX_BYTES * columns))
    return [(first, min(first + most, count)) for first in range(0, count, most)] or [(0, 0)]


def _filled(v: VectorStore | None) -> Any:
    """Return a vector's values, 0 where it has no entry; 0 (null) without a vector."""
    if v is None:
        return 0
    xp = cuda.current().xp
    made = xp.zeros(v.size, np.float64)
    at, values = v.entries()
    made[at] = values
    return made


class Steps:
    """The steps of walks in one matrix: all steps of a range of walks, or one step from any vertices."""

    def __init__(
        self, rows: Rows, dtype: DataType, trail: Trail, top: VectorStore | None, by: VectorStore | None
    ) -> None:
        self._rows, self._trail = rows, trail
        self._weights = {"top": _filled(top), "by": _filled(by)}
        self._case = rows.wide, dtype, rows.iso, _WEIGHTS[trail.weights], trail.shares is not None

    def run(self, first: int, last: int) -> tuple[Any, Any]:
        """Return the vertices of walks first .. last-1, -1 after their ends, and the number of each walk's vertices."""
        gpu = cuda.current()
        starts = gpu.xp.empty(last - first, np.int64)
        gpu.copy_pageable(starts, self._trail.starts[first:last]).wait(starts.nbytes)
        begins = {"numbers": 0, "step": 0, "before": 0, "place": 0}
        return self._met(False, starts, self._trail.length, self._rows, first=first, **begins)

    @launch.locked
    def step(self, number: int, walks: Any, at: Any, before: Any, older: tuple[MatrixStore, Any] | None) -> Any:
        """Return the vertices to which walks move in a step, -1 for a walk that ends, as a host array.

        Parameters
        ----------
        number : int
            The number of the step.
        walks, at : ndarray of uint64, ndarray of int64
            The walks' numbers and vertices.
        before : ndarray of int64, or None
            The walks' previous vertices.
        older : (MatrixStore, ndarray of int64), or None
            The rows of the previous vertices, and the numbers of these vertices, ascending.
        """
        xp = cuda.current().xp
        given: dict[str, Any] = {"before": 0, "place": 0}
        rows = self._rows
        if before is not None and older is not None:
            rows = assembly.rows_of(older[0])
            given = {"before": xp.asarray(before), "place": xp.asarray(np.searchsorted(older[1], before))}
        met, _ = self._met(True, xp.asarray(at), 1, rows, first=0, numbers=xp.asarray(walks), step=number, **given)
        found: Any = cuda.current().asnumpy(met[:, 1])
        return found

    def _met(self, goes_on: bool, starts: Any, length: int, older: Rows, **given: Any) -> tuple[Any, Any]:
        gpu, rows, trail = cuda.current(), self._rows, self._trail
        met, lengths = gpu.xp.empty((starts.size, length + 1), np.int64), gpu.xp.empty(starts.size, np.int64)
        if starts.size:
            back, close, far = map(np.uint64, trail.shares or (0, 0, 0))
            kernel = codegen.kernel(gpu, "walk.cu", _prelude(*self._case, goes_on), "walk")
            stats.counted(kernel, placements.in_device_memory(rows))(
                launch.blocks(gpu, starts.size), count=starts.size, length=length, nrows=rows.nrows,
                indptr=rows.indptr, indices=rows.indices.pointer, values=rows.values.pointer, back=back, close=close,
                far=far, seed=np.uint64(trail.seed), starts=starts, older_indptr=older.indptr,
                older_indices=older.indices.pointer, met=met, lengths=lengths, **given, **self._weights,
            )  # fmt: skip
        return met, lengths


@lru_cache(maxsize=64)
def _prelude(wide: bool, dtype: DataType, iso: bool, weights: int, biased: bool, goes_on: bool) -> str:
    return "\n".join(
        (
            typedefs(Id="u64" if wide else "u32", A=dtype if weights == 1 else BOOL),
            flags(ISO=iso, WEIGHTS=weights, BIASED=biased, GOES_ON=goes_on),
            f"constexpr unsigned TRIES = {TRIES};",
        )
    )
