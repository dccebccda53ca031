"""Small dense computations by rows: systems of equations, by CuPy, and distances between rows (distances.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import panel, panel_parts, vector_map
from sparsezc.engines.gpu.elementwise.panel import ArrivingVector, Panel
from sparsezc.engines.gpu.products.sddmm import dense, has_blas
from sparsezc.engines.gpu.runtime import boolean_reductions, codegen, launch, presence_words
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.exceptions import InvalidValue
from sparsezc.expr.dispatch import Write
from sparsezc.memory import budget
from sparsezc.semirings import monoid
from sparsezc.semirings.types.datatypes import BOOL, FP64, DataType

NOT_SOLVED = "solve: a row's matrix is singular in FP64; each must have one solution"
_SQUARES = 6  # matrices of a row in device memory at a time: its own, its factors, and CuPy's copies
_PART = 1 << 19  # least rows of a launch while later rows cross the link: it then takes 0.3 ms
_ROWS = 4  # rows whose distances from one row of Y a thread computes


def solve(e: Any) -> MatrixStore | None:
    """Solve each row's system of equations; None if the operands are no panels or CuPy has no cuBLAS."""
    G, B = (_along(x) for x in e.operands)
    if G is None or B is None or not has_blas():
        return None
    xp = cuda.current().xp
    (m, k), upper = e.shape, np.triu_indices(e.shape[1])
    place = np.empty((k, k), np.int64)
    place[upper] = place.T[upper] = np.arange(upper[0].size)
    place = xp.asarray(place.ravel())
    packed, right = (_filled(each.vector).reshape(m, each.width) for each in (G, B))
    found = xp.empty((m, k))
    size = max(1, budget.available() // (8 * _SQUARES * k * k))
    for first in range(0, m, size):
        some = slice(first, first + size)
        square = packed[some][:, place].reshape(-1, k, k)
        empty = ~(square != 0).any(axis=(1, 2))  # rows without a matrix, which get no solution
        square = xp.where(empty[:, None, None], xp.eye(k), square)
        try:
            found[some] = xp.linalg.solve(square, right[some][:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise InvalidValue(NOT_SOLVED) from None
    if not boolean_reductions.all_true(xp.isfinite(found)):
        raise InvalidValue(NOT_SOLVED)
    made = VectorStore(FP64, m * k)
    made.set(found.ravel(), presence_words.full(m * k), m * k)
    if not B.vector.is_full:
        made = _of_complete_rows(made, B)
    return panel.put_panel(MatrixStore(FP64, m, k, None), Panel(k, False, made))


def _along(x: Any) -> Panel | None:
    """Return a matrix as a panel with its rows along the vector; None if it does not fit or is transposed."""
    store: MatrixStore = x._store
    if x._transposed or not panel.fits(store.nrows * store.ncols, FP64, store.dtype):
        return None
    narrow = panel.shape_of(store.nrows, store.ncols) == (store.ncols, False)
    found = (panel.get_or_build if narrow else panel.build)(store, store.ncols, False)
    found.vector.nvals()
    return found


def _filled(v: VectorStore) -> Any:
    """Return a vector's values in FP64, 0 where it has no entry."""
    xp = cuda.current().xp
    if v.bits is None:
        return xp.zeros(v.size)
    if v.is_full:
        return v.values.astype(np.float64, copy=False)
    there = xp.unpackbits(v.bits.view(np.uint8), bitorder="little")[: v.size].astype(np.bool_)
    return xp.where(there, v.values, v.values.dtype.type(0)).astype(np.float64)


def _of_complete_rows(made: VectorStore, given: Panel) -> VectorStore:
    """Return the entries of `made` in the rows that have all entries in `given`, a panel of the same shape."""
    marks = VectorStore(BOOL, made.size)
    bits = given.vector.bits if given.vector.bits is not None else cuda.current().xp.zeros(marks.nwords, np.uint32)
    there = cuda.current().xp.unpackbits(bits.view(np.uint8), bitorder="little")[: made.size].astype(np.bool_)
    marks.set(there, presence_words.full(made.size), made.size)
    complete = panel_parts.fold(monoid.land[BOOL], Panel(given.width, False, marks), True)
    at = cuda.current().xp.flatnonzero(complete.values)
    rows = VectorStore(BOOL, given.length)
    rows.put(at, complete.values[at])
    kept = panel_parts.spread(rows, given, True)
    out = VectorStore(FP64, made.size)
    vector_map.write_vector(made, out, Write(MaskBits(kept.bits), None, True))
    return out


def distances(e: Any) -> MatrixStore | None:
    """Return the distances of each row of X from each of Y, as a panel if narrow; None if X is no full panel."""
    X, Y = e.operands
    x, few = _along(X), Y._store
    if x is None or not x.vector.is_full or few.nvals != few.nrows * few.ncols:
        return None
    gpu, (m, n) = cuda.current(), e.shape
    y = dense(few)
    y = gpu.xp.ascontiguousarray((y if Y._transposed else y.T).astype(np.float64))
    made = VectorStore(FP64, m * n)
    made.set(gpu.xp.empty(m * n), presence_words.full(m * n), m * n)
    kernel, first = codegen.kernel(gpu, "distances.cu", _prelude(x.vector.dtype), "distances"), 0
    given = x.vector
    for part in given.parts(_PART * x.width) if isinstance(given, ArrivingVector) else (given.values,):
        rows = part.size // x.width
        kernel.launch(
            launch.blocks(gpu, -(-rows // _ROWS) * n), nrows=rows, x=part, y=y, inner=x.width, few=n,
            out=made.values[first * n :],
        )  # fmt: skip
        first += rows
    return panel.put_panel(MatrixStore(FP64, m, n, None), Panel(n, False, made))


def _prelude(x: DataType) -> str:
    return f"{codegen.typedefs(X=x)}\nconstexpr u32 ROWS = {_ROWS};"
