"""The elementwise product of a matrix and a vector that is repeated as each row or each column (broadcast.cu)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.elementwise.matrix_map import entry
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory import allocate, budget
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import DataType

#: compute(start, stop, out, bits): writes values of entries start .. stop-1, and sets the bits of those that meet an
#: entry of the vector.
_Compute = Callable[[int, int, int, Any], None]


def multiply(op: TypedOp, matrix: MatrixStore, v: VectorStore, left: bool) -> MatrixStore:
    """Return C(i, j) = op(A(i, j), v(j)) or, from the left, op(v(i), A(i, j)), where both have an entry."""
    result, rows = op.return_type, matrix.rows
    if rows is None or v.bits is None:
        return MatrixStore(result, matrix.nrows, matrix.ncols, None)
    gpu = cuda.current()
    xp = gpu.xp
    v.nvals()  # counts the entries: if the vector is full, no kernel reads its presence words
    x = groups.Vector(*v.operands())
    prelude = _prelude(op, matrix.dtype, v.dtype, rows.wide, rows.iso, left, rows.chunks.length)
    kernel = codegen.kernel(gpu, "broadcast.cu", prelude, "broadcast")
    grid = launch.blocks(gpu, 32 * max(-(-rows.nrows // 32), rows.chunks.count))

    def compute(start: int, stop: int, out: int, bits: Any) -> None:
        counters = xp.zeros(2, np.uint64)
        kernel.launch(
            grid, rows.arguments, rows.chunks.all, x, first=start, stop=stop, out=out, bits=bits, counters=counters
        )

    made = _whole(rows, result, compute) if v.is_full else _where_both_are(rows, result, compute)
    gpu.synchronize()  # the host may read the result's pages now
    return MatrixStore(result, matrix.nrows, matrix.ncols, made)


def _whole(rows: Rows, result: DataType, compute: _Compute) -> Rows:
    """Return the product with a full vector: the matrix's pattern with a new value for each entry."""
    placement = budget.fitting(rows.indices.placement, rows.nvals * result.np_type.itemsize)
    out = allocate(placement, rows.nvals, result.np_type)
    compute(0, rows.nvals, out.pointer, 0)
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, out, False)


def _where_both_are(rows: Rows, result: DataType, compute: _Compute) -> Rows | None:
    """Return the product without the entries that meet no vector entry; each of several pieces is computed twice."""
    gpu = cuda.current()
    xp = gpu.xp
    pieces = row_blocks.pieces(rows.nvals, 2 * result.np_type.itemsize + 1, multiple=32)

    def look(start: int, stop: int) -> tuple[Kept, Any]:
        some, bits = xp.empty(stop - start, result.np_type), xp.zeros(-(-(stop - start) // 32), np.uint32)
        compute(start, stop, gpu.pointer(some), bits)
        return Kept.of(stop - start, bits), some

    indptr, counts = 0, [0]
    for start, stop in pieces:
        kept, some = look(start, stop)
        indptr += kept.offsets(rows.indptr.clip(start, stop) - start)
        counts.append(kept.count())
    count, ends = sum(counts), np.cumsum(counts).tolist()
    if count == 0:
        return None
    placement = budget.fitting(rows.indices.placement, count * (rows.indices.dtype.itemsize + result.np_type.itemsize))
    indices, out = allocate(placement, count, rows.indices.dtype), allocate(placement, count, result.np_type)
    for (start, stop), to in zip(pieces, ends, strict=False):
        if len(pieces) > 1:  # a single piece is still in memory
            kept, some = look(start, stop)
        ids, new_ids = entry(rows.indices, start), entry(indices, to)
        kept.move(ids, some, new_ids, entry(out, to), rows.wide, result)
        gpu.synchronize()  # before this piece's values are freed
    return Rows(rows.nrows, rows.ncols, count, indptr, indices, out, False)


@lru_cache(maxsize=256)
def _prelude(op: TypedOp, a: DataType, v: DataType, wide: bool, iso: bool, left: bool, long: int) -> str:
    x, y = ("v", "a") if left else ("a", "v")
    text = evaluate(op, elementwise=True, x=x, y=y, i="row", j="col", k="col")
    body = text.split(";", 1)[1]
    return "\n".join(
        (
            typedefs(Id="u64" if wide else "u32", A=a, X=v, Z=op.return_type),
            flags(READS_IDS="(col)" in body, READS_VALUES="(a)" in body, READS_VECTOR="(v)" in body),
            flags(ISO=iso, COLUMNS=not left, COMPRESSED=False),
            f"constexpr u64 LONG = {long};\nconstexpr u32 ROWS_PER_WARP = 32;",
            function("Z", "compute", "A a, X v, u64 row, u64 col", text),
        )
    )
