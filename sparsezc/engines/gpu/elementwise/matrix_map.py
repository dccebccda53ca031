"""Operations on the entries of one matrix: apply, select and casts (matrix_map.cu, filter.cu).

A result has the placement of its operand, or is in host memory if it does not fit in device memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, DataType

_PICKED_BYTES = 1  # bytes of an entry: its presence bit and its share of the counts; ids and values are read in place


def apply(
    op: TypedOp, matrix: MatrixStore, *, left: bool = False, scalar: Any = 0, scalar_type: DataType = BOOL
) -> MatrixStore:
    """Return f(A), f(A, s) or, with `left`, f(s, A): the same pattern with other values."""
    result = op.return_type
    positional = bool(op.reads & {"i", "j", "k"}) and op.is_positional
    held = (matrix.held() if positional else matrix.in_stored_order())[0]
    if held is None:
        return MatrixStore(result, matrix.nrows, matrix.ncols, None)
    rows = _apply(op, held, matrix.dtype, left, scalar, scalar_type)
    columns = rows if matrix.symmetric and not positional else None
    return MatrixStore(result, matrix.nrows, matrix.ncols, rows, columns)


def _apply(op: TypedOp, rows: Rows, dtype: DataType, left: bool, scalar: Any, scalar_type: DataType) -> Rows:
    prelude, reads = _prelude(op, dtype, rows.wide, rows.iso, left, scalar_type, False)
    iso = (rows.iso or "value" not in reads) and not reads & {"row", "col"}
    count = 1 if iso else rows.nvals
    kind = op.return_type.np_type
    values = allocate(budget.fitting(rows.indices.placement, count * kind.itemsize), count, kind)
    read = rows.plain() if "col" in reads else rows
    _launch(prelude, read, count, scalar_type.np_type.type(scalar), values.pointer, 0)
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, iso, rows.order)


def select(op: TypedOp, matrix: MatrixStore, thunk: Any, thunk_type: DataType) -> MatrixStore:
    """Return the entries for which the operator is true."""
    shape, rows = (matrix.dtype, matrix.nrows, matrix.ncols), matrix.rows
    empty = MatrixStore(*shape, None)
    if rows is None:
        return empty
    prelude, reads = _prelude(op, matrix.dtype, rows.wide, rows.iso, False, thunk_type, True)
    picked = _pick(rows, matrix.dtype, prelude, thunk_type.np_type.type(thunk))
    symmetric = matrix.symmetric and not reads & {"row", "col"}
    return empty if picked is None else MatrixStore(*shape, picked, picked if symmetric else None)


def _pick(rows: Rows, dtype: DataType, prelude: str, thunk: Any) -> Rows | None:
    """Return the entries that the kernel keeps; each of several pieces is computed twice."""
    gpu = cuda.current()
    pieces = row_blocks.pieces(rows.nvals, _PICKED_BYTES, multiple=32)

    def look(start: int, stop: int) -> Kept:
        bits = gpu.xp.empty(-(-(stop - start) // 32), np.uint32)
        _launch(prelude, rows, stop - start, thunk, 0, bits, first=start)
        return Kept.of(stop - start, bits)

    indptr, counts = 0, [0]
    for start, stop in pieces:
        kept = look(start, stop)
        indptr += kept.offsets(rows.indptr.clip(start, stop) - start)
        counts.append(kept.count())
    count, ends = sum(counts), np.cumsum(counts).tolist()
    if count == 0:
        return None
    entry_bytes = rows.indices.dtype.itemsize + (0 if rows.iso else rows.values.dtype.itemsize)
    placement = budget.fitting(rows.indices.placement, count * entry_bytes)
    indices = allocate(placement, count, rows.indices.dtype)
    values = rows.values if rows.iso else allocate(placement, count, rows.values.dtype)
    for (start, stop), to in zip(pieces, ends, strict=False):
        kept = kept if len(pieces) == 1 else look(start, stop)
        old, new = (0, 0) if rows.iso else (entry(rows.values, start), entry(values, to))
        kept.move(entry(rows.indices, start), old, entry(indices, to), new, rows.wide, dtype)
    gpu.synchronize()  # the host may read the result's pages now
    return Rows(rows.nrows, rows.ncols, count, indptr, indices, values, rows.iso)


def entry(buffer: Buffer, start: int) -> np.uint64:
    """Return the address of element `start` of a buffer."""
    return np.uint64(buffer.pointer + start * buffer.dtype.itemsize)


def cast(rows: Rows, before: DataType, after: DataType) -> Rows:
    """Return the same rows with values of another type; ids are shared, as no statement changes them in place."""
    if before is after:
        return rows
    prelude = "\n".join(
        (
            typedefs(Id="u64" if rows.wide else "u32", A=before, S=BOOL, Z=after),
            flags(READS_VALUES=True, READS_ROWS=False, READS_COLUMNS=False, ISO=rows.iso, KEEP=False),
            function("Z", "compute", "A a, S s, u64 row, u64 col", "return szc::cast<Z>(a);"),
        )
    )
    count = rows.values.count
    values = allocate(budget.fitting(rows.values.placement, count * after.np_type.itemsize), count, after.np_type)
    _launch(prelude, rows, rows.values.count, False, values.pointer, 0)
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, rows.iso, rows.order)


def _launch(prelude: str, rows: Rows, nvals: int, scalar: Any, out: int, bits: Any, *, first: int = 0) -> None:
    gpu = cuda.current()
    kernel = codegen.kernel(gpu, "matrix_map.cu", prelude, "matrix_map")
    kernel.launch(
        launch.blocks(gpu, nvals),
        first=first, nvals=nvals, nrows=rows.nrows, indptr=rows.indptr, indices=entry(rows.indices, first),
        values=entry(rows.values, 0 if rows.iso else first), s=scalar, out=out, bits=bits,
    )  # fmt: skip
    gpu.synchronize()  # the host may read the result's pages now


@lru_cache(maxsize=256)
def _prelude(
    op: TypedOp, dtype: DataType, wide: bool, iso: bool, left: bool, scalar_type: DataType, keep: bool
) -> tuple[str, frozenset[str]]:
    """Return the prelude of matrix_map.cu, and which of "value", "row", "col" the operator reads."""
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
