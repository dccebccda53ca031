"""Matrices entry by entry: apply, select and transpose, without leaving the device (entries.cu, compact.cu).

A result lies in the placement of its operand. Only whole results are made here; with a mask or an accumulator the
operation is left to the CPU engine.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.csr import index_dtype
from sparsezc.engines.gpu import launch, specialise
from sparsezc.engines.gpu.specialise import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.stores import MatrixStore, Rows
from sparsezc.memory import allocate, budget
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import DataType


def apply(op: TypedOp, matrix: MatrixStore, left: bool, scalar: Any, scalar_type: DataType) -> MatrixStore:
    """f(A), f(s, A) with `left`, or f(A, s): the same pattern with other values."""
    result = op.return_type
    if matrix.rows is None:
        return MatrixStore(result, matrix.nrows, matrix.ncols, None)
    positional = bool(op.reads & {"i", "j", "k"}) and op.is_positional
    rows = _apply(op, matrix.rows, matrix.dtype, left, scalar, scalar_type)
    columns = rows if matrix.symmetric and not positional else None
    return MatrixStore(result, matrix.nrows, matrix.ncols, rows, columns)


def _apply(op: TypedOp, rows: Rows, dtype: DataType, left: bool, scalar: Any, scalar_type: DataType) -> Rows:
    prelude, reads = _prelude(op, dtype, rows.wide, rows.iso, left, scalar_type, False)
    iso = rows.iso and not reads & {"row", "col"}
    count = 1 if iso else rows.nvals
    values = allocate(rows.values.placement, count, op.return_type.np_type)
    _launch(prelude, rows, count, scalar_type.np_type.type(scalar), values.pointer, 0)
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, iso)


def select(op: TypedOp, matrix: MatrixStore, thunk: Any, thunk_type: DataType) -> MatrixStore:
    """The entries for which the operator is true."""
    empty = MatrixStore(matrix.dtype, matrix.nrows, matrix.ncols, None)
    rows = matrix.rows
    if rows is None:
        return empty
    gpu = device.current()
    xp = gpu.xp
    nwords = -(-rows.nvals // 32)
    bits = xp.empty(nwords, np.uint32)
    prelude, reads = _prelude(op, matrix.dtype, rows.wide, rows.iso, False, thunk_type, True)
    _launch(prelude, rows, rows.nvals, thunk_type.np_type.type(thunk), 0, bits)
    before = xp.zeros(nwords + 1, np.int64)
    types = typedefs(Id="u64" if rows.wide else "u32", A=matrix.dtype)
    counts = xp.empty(nwords, np.int64)
    _compact(types, "popcounts", nwords, (np.uint64(nwords), bits, counts))
    xp.cumsum(counts, out=before[1:])
    kept = int(before[-1])
    if kept == 0:
        return empty
    indices = allocate(rows.indices.placement, kept, rows.indices.dtype)
    values = rows.values if rows.iso else allocate(rows.values.placement, kept, rows.values.dtype)
    indptr = xp.empty(rows.nrows + 1, np.int64)
    pointers = (np.uint64(b.pointer) for b in (rows.indices, rows.values, indices))
    moved_values = np.uint64(0 if rows.iso else values.pointer)
    _compact(types, "move", rows.nvals, (np.uint64(rows.nvals), bits, before, *pointers, moved_values))
    _compact(
        types,
        "offsets",
        rows.nrows + 1,
        (np.uint64(rows.nrows), rows.indptr, np.uint64(rows.nvals), bits, before, indptr),
    )
    gpu.synchronize()  # the host may read the result's pages now
    picked = Rows(rows.nrows, rows.ncols, kept, indptr, indices, values, rows.iso)
    symmetric = matrix.symmetric and not reads & {"row", "col"}
    return MatrixStore(matrix.dtype, matrix.nrows, matrix.ncols, picked, picked if symmetric else None)


def transposed(rows: Rows) -> Rows | None:
    """The CSR of the transpose, or None where sorting it does not fit the budget."""
    gpu = device.current()
    xp = gpu.xp
    working = rows.nvals * (4 * 8 + 2 * rows.values.dtype.itemsize)  # ids, their order twice, rows, values
    if working > budget.available():
        return None
    ids = _on_device(rows.indices)
    order = xp.argsort(ids, kind="stable")  # entries come by row, so equal columns stay in row order
    indptr = xp.searchsorted(ids[order], xp.arange(rows.ncols + 1, dtype=np.uint64)).astype(np.int64)
    entry_rows = xp.searchsorted(rows.indptr, order, side="right") - 1
    placement = rows.indices.placement
    indices = allocate(placement, rows.nvals, index_dtype(rows.nrows, placement))
    indices.write(0, entry_rows.astype(indices.dtype))
    values = rows.values
    if not rows.iso:
        values = allocate(placement, rows.nvals, rows.values.dtype)
        values.write(0, _on_device(rows.values)[order])
    return Rows(rows.ncols, rows.nrows, rows.nvals, indptr, indices, values, rows.iso)


def _on_device(buffer: Any) -> Any:
    return buffer.array if isinstance(buffer, DeviceBuffer) else device.current().xp.asarray(buffer.read())


def _compact(types: str, name: str, work: int, arguments: tuple[Any, ...]) -> None:
    gpu = device.current()
    specialise.kernel(gpu, "compact.cu", types, name)(launch.blocks(gpu, work), launch.THREADS, arguments)


def _launch(prelude: str, rows: Rows, nvals: int, scalar: Any, out: int, bits: Any) -> None:
    gpu = device.current()
    kernel = specialise.kernel(gpu, "entries.cu", prelude, "entries")
    pointers = np.uint64(rows.indices.pointer), np.uint64(rows.values.pointer)
    arguments = (np.uint64(nvals), np.uint64(rows.nrows), rows.indptr, *pointers, scalar, np.uint64(out), bits)
    kernel(launch.blocks(gpu, nvals), launch.THREADS, arguments)
    gpu.synchronize()  # the host may read the result's pages now


@cache
def _prelude(
    op: TypedOp, dtype: DataType, wide: bool, iso: bool, left: bool, scalar_type: DataType, keep: bool
) -> tuple[str, frozenset[str]]:
    """The prelude of entries.cu, and which of "value", "row", "col" the operator reads."""
    x, y = ("s", "a") if left else ("a", "s")
    text = evaluate(op, elementwise=True, x=x, y=y, i="row", j="col", k="col")
    body = text.split(";", 1)[1]
    reads = frozenset(word for word in ("row", "col") if f"(i64)({word})" in body)
    reads_value = "(a)" in body
    prelude = "\n".join(
        (
            typedefs(Id="u64" if wide else "u32", A=dtype, S=scalar_type, Z=op.return_type),
            flags(
                READS_VALUES=reads_value, READS_ROWS="row" in reads, READS_COLUMNS="col" in reads, ISO=iso, KEEP=keep
            ),
            function("Z", "compute", "A a, S s, u64 row, u64 col", text),
        )
    )
    return prelude, reads | ({"value"} if reads_value else set())
