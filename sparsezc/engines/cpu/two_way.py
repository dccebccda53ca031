"""Products of matrices of one pattern, and of their transposes, by a column each, on the CPU engine."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.dense import full_or_not
from sparsezc.engines.cpu.expressions import acyclic, operand, operator
from sparsezc.engines.cpu.row_arrays import borrowed_table
from sparsezc.errors import DimensionMismatch
from sparsezc.expr.expression import Expression
from sparsezc.semirings import binary, monoid
from sparsezc.semirings.types.datatypes import FP64

__all__ = ["two_way_mxm"]

_MONOIDS = [monoid.plus, monoid.min, monoid.max]
_MULTIPLIES = [binary.plus, binary.minus, binary.rminus, binary.times, binary.first, binary.second]


def two_way_mxm(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the products: in one loop over the entries where numba has it compiled."""
    A, values, X = x.operands
    n, k = A.nrows, values.ncols
    if A.shape != (n, n) or values.shape != (A.nvals, k) or X.shape != (n, 2 * k) or x.shape != X.shape:
        shapes = ", ".join(f"{M.name} is {M.nrows} x {M.ncols}" for M in (A, values, X))
        raise DimensionMismatch(f"two_way_mxm: {shapes}: one has other entries than when the expression was made")
    made, has = np.zeros(x.shape, x.dtype.np_type), np.zeros(x.shape, np.bool_)
    if A.nvals:
        store = acyclic(A._store.T.new()) if A._transposed else A._store
        loop = _loop() if _has_loop(x) else None
        if loop is None:
            _by_columns(store.ss.export("csr", sort=True), x, made, has)
        else:
            _by_entries(store.ss.export("csr", sort=True), x, loop, made, has)
    return full_or_not(made, has, x)


def _by_columns(parts: Any, x: Expression, made: NDArray[Any], has: NDArray[np.bool_]) -> None:
    """Compute two products a column, of one matrix whose values are replaced."""
    _, values, X = x.operands
    n, k = X.nrows, values.ncols
    costs = np.ascontiguousarray((values._store.T.new() if values._transposed else values._store).to_dense().T)
    W, op = acyclic(native.gb.Matrix(native.type_of(values.dtype), n, n)), operator(x.op)
    for c in range(k):
        parts.update(values=costs[c].copy(), is_iso=False)
        W.ss.pack_any(**parts, take_ownership=True)
        for column, of, matrix in ((c, k + c, W), (k + c, c, W.T)):
            v = acyclic(matrix.mxv(acyclic(operand(X)[:, of].new()), op).new())
            found = v.ss.export("bitmap")
            made[:, column], has[:, column] = found["values"], found["bitmap"]
        parts = W.ss.unpack("csr")


def _has_loop(x: Expression) -> bool:
    """Return whether the loop below computes it: sums, minima or maxima of FP64, of matrices with every entry."""
    _, values, X = x.operands
    op: Any = x.op
    alike = {op.type, op.type2, op.return_type, values.dtype, X.dtype} == {FP64}
    ours = op.op.monoid in _MONOIDS and op.op.binaryop in _MULTIPLIES
    return alike and ours and not (values._transposed or X._transposed) and X._store.nvals == X.nrows * X.ncols


def _by_entries(parts: Any, x: Expression, loop: Any, made: NDArray[Any], has: NDArray[np.bool_]) -> None:
    """Compute all columns of an entry at a time."""
    A, values, X = x.operands
    op: Any = x.op
    k, indptr, ids = values.ncols, parts["indptr"].view(np.int64), parts["col_indices"].view(np.int64)
    columns = np.zeros(A.ncols, np.bool_)
    columns[ids] = True
    has[:, :k], has[:, k:] = (np.diff(indptr) > 0)[:, None], columns[:, None]
    code = _MONOIDS.index(op.op.monoid), _MULTIPLIES.index(op.op.binaryop)
    if code[0]:
        made[:] = np.nan  # numbers are preferred to it
    with borrowed_table(values._store) as table, borrowed_table(X._store) as panel:
        loop(indptr, ids, table, panel, made, *code)


@cache
def _loop() -> Any:
    """Return the loop, compiled by numba and kept on disk where that is possible; None without numba."""
    try:
        numba = import_module("numba")
    except ImportError:
        return None
    try:
        return numba.njit(nogil=True, cache=True)(_multiply)
    except RuntimeError:  # no folder that numba may write to
        return numba.njit(nogil=True)(_multiply)


def _multiply(indptr: Any, ids: Any, values: Any, x: Any, y: Any, monoid: int, multiply: int) -> None:
    k = values.shape[1]
    z = np.empty(2 * k)
    for i in range(indptr.size - 1):
        for at in range(indptr[i], indptr[i + 1]):
            j, w, left, right = ids[at], values[at], x[i, :k], x[ids[at], k:]
            # one loop for each operator, so that each is of vector instructions
            if multiply == 0:
                for c in range(k):
                    z[c], z[k + c] = w[c] + right[c], w[c] + left[c]
            elif multiply == 1:
                for c in range(k):
                    z[c], z[k + c] = w[c] - right[c], w[c] - left[c]
            elif multiply == 2:
                for c in range(k):
                    z[c], z[k + c] = right[c] - w[c], left[c] - w[c]
            elif multiply == 3:
                for c in range(k):
                    z[c], z[k + c] = w[c] * right[c], w[c] * left[c]
            elif multiply == 4:
                for c in range(k):
                    z[c], z[k + c] = w[c], w[c]
            else:
                for c in range(k):
                    z[c], z[k + c] = right[c], left[c]
            to_left, to_right = y[i, :k], y[j, k:]
            if monoid == 0:
                for c in range(k):
                    to_left[c] += z[c]
                    to_right[c] += z[k + c]
            elif monoid == 1:
                for c in range(k):
                    to_left[c] = z[c] if z[c] < to_left[c] or to_left[c] != to_left[c] else to_left[c]
                    to_right[c] = z[k + c] if z[k + c] < to_right[c] or to_right[c] != to_right[c] else to_right[c]
            else:
                for c in range(k):
                    to_left[c] = z[c] if z[c] > to_left[c] or to_left[c] != to_left[c] else to_left[c]
                    to_right[c] = z[k + c] if z[k + c] > to_right[c] or to_right[c] != to_right[c] else to_right[c]
