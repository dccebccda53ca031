"""The elementwise product of a matrix and a vector that is repeated along it (along.cu)."""

from __future__ import annotations

from functools import cache

import numpy as np

from sparsezc import device
from sparsezc.engines.gpu import launch, specialise
from sparsezc.engines.gpu.compact import Kept
from sparsezc.engines.gpu.specialise import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.stores import MatrixStore, Rows, VectorStore
from sparsezc.memory import allocate
from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import DataType


def multiply(op: TypedOp, matrix: MatrixStore, v: VectorStore, left: bool) -> MatrixStore:
    """C(i, j) = op(A(i, j), v(j)) or, from the left, op(v(i), A(i, j)), where both have an entry."""
    result, rows = op.return_type, matrix.rows
    if rows is None or v.bits is None:
        return MatrixStore(result, matrix.nrows, matrix.ncols, None)
    gpu = device.current()
    xp = gpu.xp
    v.nvals()  # where it is full, nobody looks at its presence words, and the pattern stays
    values, x_bits = v.operands()
    placement, chunks = rows.indices.placement, rows.chunks
    out = allocate(placement, rows.nvals, result.np_type)
    bits = 0 if v.is_full else xp.zeros(-(-rows.nvals // 32), np.uint32)
    prelude = _prelude(op, matrix.dtype, v.dtype, rows.wide, rows.iso, left, chunks.length)
    specialise.kernel(gpu, "along.cu", prelude, "along")(
        launch.blocks(gpu, 32 * max(-(-rows.nrows // 32), chunks.count)),
        launch.THREADS,
        (
            *rows.arguments, values, x_bits, np.uint64(out.pointer), bits, xp.zeros(2, np.uint64), *chunks.all,
        ),
    )  # fmt: skip
    indptr, indices = rows.indptr, rows.indices
    if not v.is_full:
        kept = Kept.of(rows.nvals, bits)
        count = kept.count()
        if count == 0:
            return MatrixStore(result, matrix.nrows, matrix.ncols, None)
        indptr, indices = kept.offsets(indptr), allocate(placement, count, rows.indices.dtype)
        made, out = out, allocate(placement, count, result.np_type)
        old_ids, old, ids, new = (np.uint64(b.pointer) for b in (rows.indices, made, indices, out))
        kept.move(old_ids, old, ids, new, rows.wide, result)
    gpu.synchronize()  # the host may read the result's pages now
    merged = Rows(rows.nrows, rows.ncols, indices.count, indptr, indices, out, False)
    return MatrixStore(result, matrix.nrows, matrix.ncols, merged)


@cache
def _prelude(op: TypedOp, a: DataType, v: DataType, wide: bool, iso: bool, left: bool, long: int) -> str:
    x, y = ("v", "a") if left else ("a", "v")
    text = evaluate(op, elementwise=True, x=x, y=y, i="row", j="col", k="col")
    body = text.split(";", 1)[1]
    return "\n".join(
        (
            typedefs(Id="u64" if wide else "u32", A=a, X=v, Z=op.return_type),
            flags(READS_IDS="(col)" in body, READS_VALUES="(a)" in body, READS_VECTOR="(v)" in body),
            flags(ISO=iso, COLUMNS=not left, COMPRESSED=False),
            f"constexpr u64 LONG = {long};",
            function("Z", "compute", "A a, X v, u64 row, u64 col", text),
        )
    )
