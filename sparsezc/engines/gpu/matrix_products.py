"""Products of matrices with a sparse result: SpGEMM, sampled products (SDDMM), sampled products times a matrix."""

from __future__ import annotations

from typing import Any

from sparsezc.engines.gpu import matrix_conversions
from sparsezc.engines.gpu.elementwise import matrix_map, matrix_merge
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows, Region
from sparsezc.engines.gpu.products import sddmm, spgemm
from sparsezc.engines.gpu.storage.assembly import rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.expr.dispatch import Write
from sparsezc.semirings import binary, select
from sparsezc.semirings.types.datatypes import INT64


def mxm(op: Any, a: Any, b: Any, mask: MaskRows | None) -> tuple[MatrixStore, bool]:
    """Return the product A B, and whether the mask allows all of its entries.

    The product of two full panels is computed at the entries of a structural mask only. Other products may use a mask
    to save work and still have entries that it does not allow, which the write rule removes.
    """
    if mask is not None and not (mask.complement or mask.values):
        panels = sddmm.sides(op, a, b)
        if panels is not None:
            return sddmm.at_entries(panels, mask), True
    return spgemm.mxm(op, matrix_conversions.operand(a), b._store, b._transposed, mask)


def sampled_mxm(e: Any) -> MatrixStore:
    """Return the product of a sampled product, which is computed first and stored, and a matrix."""
    A, X, flipped, Z, inner = e.operands
    pattern, then = matrix_conversions.operand(A), matrix_conversions.operand(Z)
    mask = MaskRows(rows_of(pattern), A.dtype, False, False)
    W, allowed = mxm(inner.op, X, flipped, mask)
    if not allowed:
        empty = MatrixStore(W.dtype, W.nrows, W.ncols, None)
        W = matrix_merge.write(empty, W, Write(mask, None, False), Region())
    if not inner.weights:
        return spgemm.mxm(e.op, W, then, False, None)[0]
    made, start = MatrixStore(e.dtype, e.shape[0], e.shape[1], None), 0
    for stop, steps in inner.weights:
        columns = matrix_map.select(select.colgt[then.dtype], then, start - 1, INT64) if start else then
        columns = matrix_map.select(select.colle[then.dtype], columns, stop - 1, INT64)
        some = spgemm.mxm(e.op, _weighed(W, pattern, steps), columns, False, None)[0]
        made = matrix_merge.ewise("ewise_add", binary.any[e.dtype], made, some)
        start = stop
    return made


def _weighed(W: MatrixStore, pattern: MatrixStore, steps: Any) -> MatrixStore:
    """Apply the elementwise steps that turn the values of a sampled product into weights; return the result."""
    for step in steps:
        if step.kind == "ewise_mult":
            W = matrix_merge.ewise("ewise_mult", step.op, pattern, W)
        elif step.kind == "select":
            W = matrix_map.select(step.op, W, step.right, step.right_type)
        else:
            given = {} if step.kind == "apply" else {"scalar": step.right, "scalar_type": step.right_type}
            W = matrix_map.apply(step.op, W, **given)
    return W
