"""Kronecker and outer products, and a vector repeated as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import matrix_index, vector_map
from sparsezc.engines.gpu.runtime import gather_scatter
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import DataType

_PAIR_BYTES = 224  # bytes of a pair of entries in work: positions, ids and values of both and of the result


def kronecker(op: TypedOp, a: MatrixStore, b: MatrixStore) -> MatrixStore:
    """Return C(i p + k, j q + l) = op(A(i, j), B(k, l)), where B is p x q; the operator must not read positions."""
    shape = a.nrows * b.nrows, a.ncols * b.ncols
    a_rows, b_rows = a.rows, b.rows
    if a_rows is None or b_rows is None:
        return MatrixStore(op.return_type, shape[0], shape[1], None)
    xp = cuda.current().xp
    a_lengths, b_lengths = (rows.indptr[1:] - rows.indptr[:-1] for rows in (a_rows, b_rows))
    lengths = (a_lengths[:, None] * b_lengths[None, :]).reshape(-1)
    offsets = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])

    def make(first: int, last: int, whole: bool, *part: int) -> tuple[Any, Any, Any]:
        start, stop = part or (int(offsets[first]), int(offsets[last]))
        local = offsets[first : last + 1].clip(start, stop) - start
        if not whole:
            return local, None, None
        pair = xp.arange(start, stop, dtype=np.int64)
        row = xp.searchsorted(offsets[first : last + 1], pair, side="right") - 1 + first
        i, k = row // b.nrows, row % b.nrows
        at = pair - offsets[row]
        at_a, at_b = a_rows.indptr[i] + at // b_lengths[k], b_rows.indptr[k] + at % b_lengths[k]
        ids = gather_scatter.gather(a_rows.indices, at_a).astype(np.uint64) * np.uint64(b.ncols)
        ids += gather_scatter.gather(b_rows.indices, at_b).astype(np.uint64)
        return local, ids, _combine(op, _values(a_rows, at_a), a.dtype, _values(b_rows, at_b), b.dtype)

    ranges = row_blocks.blocks([offsets], _PAIR_BYTES, cut=row_blocks.evenly(offsets))
    return assembly.assemble(ranges, make, shape, op.return_type, assembly.placement_of(a, b))


def outer(op: TypedOp, u: VectorStore, v: VectorStore) -> MatrixStore:
    """Return C(i, j) = op(u(i), v(j))."""
    return kronecker(op, matrix_index.line(u, row=False), matrix_index.line(v, row=True))


def _values(rows: Rows, at: Any) -> Any:
    return gather_scatter.gather(rows.values, at * 0 if rows.iso else at)


def _combine(op: TypedOp, x: Any, x_type: DataType, y: Any, y_type: DataType) -> Any:
    """Return op(x, y) of two arrays, computed as the elementwise product of full vectors."""
    u, v, made = VectorStore(x_type, x.size), VectorStore(y_type, y.size), VectorStore(op.return_type, x.size)
    if x.size == 0:
        return cuda.current().xp.empty(0, op.return_type.np_type)
    for vector, values in ((u, x), (v, y)):
        vector.make()
        vector.set(values, vector.bits, values.size)
    vector_map.ewise("ewise_mult", op, u, v, made, ALL)
    return made.values


def repeated(v: VectorStore, shape: tuple[int, int], as_rows: bool) -> MatrixStore:
    """Return the matrix whose rows (or, without `as_rows`, columns) all equal v."""
    xp = cuda.current().xp
    line = matrix_index.line(v, row=as_rows)
    if line.rows is None:
        return MatrixStore(v.dtype, shape[0], shape[1], None)
    zeros = xp.zeros(shape[0 if as_rows else 1], np.int64)
    return matrix_index.extract(line.rows, v.dtype, zeros if as_rows else None, None if as_rows else zeros)
