"""Products that make a number for each vertex: the column at which a vector is largest, and counts of corners."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic, operand
from sparsezc.engines.cpu.label_loops import compiled
from sparsezc.engines.cpu.row_arrays import RowArrays, borrowed
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host

__all__ = ["best_column", "count_corners"]

_ALONE = 1 << 14  # entries of the mask that a thread does in the time that a second one takes to start, times ten
_FEW = 1 << 17  # entries of the mask: three sums over fewer take less time than the loop takes to load, half a second
_PARTS = 16  # for each thread, as rows differ in the products of an entry


def best_column(x: Expression) -> Any:
    """Make python-graphblas's Vector of the columns; of equal entries of the vector the first counts."""
    A, v = x.operands
    gb = native.gb
    at, values = v._store.to_coo()
    order = at.size - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    rank = np.empty(at.size, np.int64)
    rank[order] = np.arange(at.size)
    ranks = acyclic(gb.Vector.from_coo(at, rank, gb.dtypes.INT64, size=v.size))
    if 0 in A._shape or not at.size:
        return acyclic(gb.Vector(gb.dtypes.INT64, x.shape[0]))
    rows, least = acyclic(operand(A).mxv(ranks, gb.semiring.min_second[gb.dtypes.INT64]).new()).to_coo()
    columns = at[order[least]].astype(np.int64)
    return acyclic(gb.Vector.from_coo(rows, columns, gb.dtypes.INT64, size=x.shape[0]))


def count_corners(x: Expression) -> Any:
    """Make python-graphblas's Vector of the counts, by a loop that numba compiles; of few, or without it, by sums."""
    A, B, M = x.operands
    gb, n = native.gb, x.shape[0]
    require_host(8 * n, f"count_corners: counts of {n:,} vertices")
    if not all(y._store._nvals for y in x.operands):
        return acyclic(gb.Vector.from_dense(np.zeros(n, np.int64)))
    loop = _loop() if M._store._nvals >= _FEW or _loop.cache_info().currsize else None
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
    """Return the counts; of B the arrays are those of its transpose."""
    rows = np.arange(n) if m.ids is None else m.ids
    rows = rows[np.diff(m.indptr) > 0]
    mask, left, right = ((*y.ends(at), y.indices) for y, at in ((m, rows), (a, rows), (b, np.arange(n))))
    work = np.cumsum(mask[1] - mask[0])
    threads = processors(16) if int(work[-1]) >= _ALONE else 1
    require_host(16 * n * threads, f"count_corners: counts and marks of {n:,} vertices in {threads} threads")
    free: list[Any] = []

    def part(first: int, last: int) -> None:
        try:
            room = free.pop()
        except IndexError:
            room = np.full(n, -1), np.zeros(n, np.int64)
        some = slice(first, last)
        loop(rows[some], (mask[0][some], mask[1][some], mask[2]), (left[0][some], left[1][some], left[2]), right, *room)
        free.append(room)

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
def _loop() -> Any:
    """Return the loop in machine code; None without numba."""
    try:
        return compiled(import_module("numba"), _corners)
    except ImportError:
        return None


def _corners(rows, mask, left, right, mark, counts):  # type: ignore[no-untyped-def]
    """Count the corners of some rows; `mark`: the last row that had each column, of those that this thread did."""
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
