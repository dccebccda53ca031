"""Products by loops over entries on the CPU engine: two-way products, and counts of triangles at their corners.

A two-way product multiplies several matrices of one pattern, and their transposes, each with a column of its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.engines.cpu.dense import full_or_not
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic, operand, operator
from sparsezc.engines.cpu.suitesparse.machine_code import compiled
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed, borrowed_table
from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host
from sparsezc.semirings import binary, monoid
from sparsezc.semirings.types.datatypes import FP64

__all__ = ["count_corners", "two_way_mxm"]

_MONOIDS = [monoid.plus, monoid.min, monoid.max]
_MULTIPLIES = [binary.plus, binary.minus, binary.rminus, binary.times, binary.first, binary.second]
_ALONE = 1 << 14  # entries of the mask that a thread processes in ten times the time in which a second one starts
_FEW = 1 << 17  # entries of the mask: three sums over fewer take less time than the loop takes to load, half a second
_PARTS = 16  # parts for each thread, as rows differ in products an entry


def two_way_mxm(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the products, in one loop over the entries if numba compiles it."""
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
    """Compute two products a column, of one matrix whose values are replaced for each column."""
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
    """Return whether the loop below computes an expression: FP64 sums, minima or maxima, of full matrices."""
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
        made[:] = np.nan  # the loop replaces NaN by any number
    with borrowed_table(values._store) as table, borrowed_table(X._store) as panel:
        loop(indptr, ids, table, panel, made, *code)


@cache
def _loop() -> Any:
    """Return the loop, compiled by numba and kept on disk where that is possible; None without numba."""
    try:
        return compiled(import_module("numba"), _multiply)
    except ImportError:
        return None


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


def count_corners(x: Expression) -> Any:
    """Make python-graphblas's Vector of the counts: by a loop that numba compiles, or, for few entries, by products."""
    A, B, M = x.operands
    gb, n = native.gb, x.shape[0]
    require_host(8 * n, f"count_corners: counts of {n:,} vertices")
    if not all(y._store._nvals for y in x.operands):
        return acyclic(gb.Vector.from_dense(np.zeros(n, np.int64)))
    loop = _corner_loop() if M._store._nvals >= _FEW or _corner_loop.cache_info().currsize else None
    if loop is None:
        return _by_sums(operand(A), operand(B), operand(M), n)
    stores = [y._store if y._transposed == turned else acyclic(operand(y).T.new() if turned else operand(y).new())
              for y, turned in ((A, False), (B, True), (M, False))]  # fmt: skip
    with ExitStack() as stack:  # a store that is given twice is lent once
        arrays = {id(store): stack.enter_context(borrowed(store)) for store in {id(s): s for s in stores}.values()}
        a, b, m = (arrays[id(store)] for store in stores)
        counts = _counted(loop, a, b, m, n)
    return acyclic(gb.Vector.ss.import_full(counts, take_ownership=True))


def _by_sums(A: Any, B: Any, M: Any, n: int) -> Any:
    """Add up the products at the mask's entries, by rows and columns, and at A's, by columns."""
    gb = native.gb
    pairs, plus = gb.semiring.plus_pair[gb.dtypes.INT64], gb.binary.plus
    counts = acyclic(gb.Vector.from_dense(np.zeros(n, np.int64)))
    A, M = (acyclic(y.new()) if type(y) is not gb.Matrix else y for y in (A, M))
    C = acyclic(A.mxm(B, pairs).new(mask=M.S))
    counts(plus) << C.reduce_rowwise(gb.monoid.plus)
    counts(plus) << C.reduce_columnwise(gb.monoid.plus)
    D = acyclic(M.mxm(B.T, pairs).new(mask=A.S))
    counts(plus) << D.reduce_columnwise(gb.monoid.plus)
    return counts


def _counted(loop: Any, a: RowArrays, b: RowArrays, m: RowArrays, n: int) -> NDArray[np.int64]:
    """Return the counts; `b` has the arrays of B's transpose."""
    rows = np.arange(n) if m.ids is None else m.ids
    rows = rows[np.diff(m.indptr) > 0]
    mask, left, right = ((*y.ends(at), y.indices) for y, at in ((m, rows), (a, rows), (b, np.arange(n))))
    work = np.cumsum(mask[1] - mask[0])
    threads = processors(16) if int(work[-1]) >= _ALONE else 1
    require_host(16 * n * threads, f"count_corners: counts and marks of {n:,} vertices in {threads} threads")
    free: list[Any] = []

    def part(first: int, last: int) -> None:
        try:
            scratch = free.pop()
        except IndexError:
            scratch = np.full(n, -1), np.zeros(n, np.int64)
        some = slice(first, last)
        loop(
            rows[some],
            (mask[0][some], mask[1][some], mask[2]),
            (left[0][some], left[1][some], left[2]),
            right,
            *scratch,
        )
        free.append(scratch)

    pieces = _PARTS * threads if threads > 1 else 1
    cuts = [0, *np.searchsorted(work, np.arange(1, pieces) * int(work[-1]) // pieces).tolist(), rows.size]
    if threads == 1:
        part(0, rows.size)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, cuts[:-1], cuts[1:]))
    counts: NDArray[np.int64] = free[0][1]
    for _, more in free[1:]:
        counts += more
    return counts


@cache
def _corner_loop() -> Any:
    """Return the loop in machine code; None without numba."""
    try:
        return compiled(import_module("numba"), _corners)
    except ImportError:
        return None


def _corners(rows, mask, left, right, mark, counts):  # type: ignore[no-untyped-def]
    """Count the corners of some rows; `mark`: of each column the last row of this thread that had it."""
    m_begin, m_end, m_ids = mask
    a_begin, a_end, a_ids = left
    b_begin, b_end, b_ids = right
    for r in range(rows.size):
        i = rows[r]
        for at in range(a_begin[r], a_end[r]):
            mark[a_ids[at]] = i
        whole = 0
        for entry in range(m_begin[r], m_end[r]):
            j = m_ids[entry]
            total = 0
            for at in range(b_begin[j], b_end[j]):
                k = b_ids[at]
                if mark[k] == i:
                    counts[k] += 1
                    total += 1
            counts[j] += total
            whole += total
        counts[i] += whole
