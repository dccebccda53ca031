"""Rows whose columns have labels: each row's best label, and the sum of its entries with its own label (ops/labels.py).

SuiteSparse has no such operation: its product with an indicator stores every sum. So loops that numba compiles
(numba_loops.py) read the rows in SuiteSparse's memory, on as many threads as there are processors; without numba, NumPy
sorts instead.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.engines.cpu.labels.arrays import Choosing, Scratch, Spans
from sparsezc.engines.cpu.labels.numba_loops import loops
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed, borrowed_values
from sparsezc.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from sparsezc.expr.dispatch import Write
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask
from sparsezc.memory.budget import require_host

__all__ = ["best_label", "label_weight", "run"]

_ALONE = 1 << 17  # entries that a thread reads in ten times the time in which a second one starts


def run(
    compute: Callable[..., Any], x: Expression, out: Any, write: Write[Mask | None], assign: Callable[[Any], None]
) -> None:
    """Compute the entries that the mask allows, and write them; `assign`: writes a vector by the write rule."""
    n = x.shape[0]
    given = {id(u._store): u for u in x.operands if u.ndim}
    for u in given.values():
        if u._shape != (n,) * u.ndim:
            raise DimensionMismatch(f"{x.operation}: {u.name} was resized to {u._shape} since the expression was made")
        if u.ndim == 1 and u._store._nvals != n:
            raise InvalidValue(f"{x.operation}: {u.name} has {u._store.nvals} entries; {n} are needed, one everywhere")
    rows = _rows(x, write.mask, n)
    with ExitStack() as stack:  # an operand that is given twice is lent once
        lend: dict[int, Any] = {1: borrowed_values, 2: borrowed}
        arrays = {key: stack.enter_context(lend[u.ndim](u._store)) for key, u in given.items()}
        operands = [arrays[id(u._store)] if u.ndim else u.value for u in x.operands]
        at, found = compute(x, operands, rows)
    content = {"indices": at.view(np.uint64), "values": found, "sorted_index": True, "take_ownership": True}
    if write.accum is None and (write.mask is None or write.replace) and out.dtype is x.dtype:
        out._store.ss.pack_sparse(**content)
    else:
        made = native.gb.Vector.ss.import_sparse(size=n, dtype=native.type_of(x.dtype), **content)
        assign(acyclic(made))


def best_label(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows whose best label is not their own, and these labels."""
    matrix, given, stays = operands
    spans, label = spans_of(x, matrix, rows), checked_labels(x, given)
    best = choose(spans, rows, Choosing(label, Scratch(label.size), stays))
    moves = best != label[rows]
    return rows[moves], best[moves]


def label_weight(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all given rows, and the sums of their entries with their own labels."""
    return rows, sums_within(spans_of(x, operands[0], rows), rows, checked_labels(x, operands[1]))


def choose(spans: Spans, rows: NDArray[np.int64], how: Choosing) -> NDArray[np.int64]:
    """Return the best label of each of some rows."""
    best = np.empty(rows.size, np.int64)

    def part(first: int, last: int) -> None:
        loops().best_label(spans.part(first, last), rows[first:last], how, best[first:last])

    in_threads(part, even_parts(np.cumsum(spans.end - spans.begin)))
    return best


def sums_within(spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of each row's entries with its own label."""
    sums = np.empty(rows.size)

    def part(first: int, last: int) -> None:
        loops().label_weight(spans.part(first, last), rows[first:last], label, sums[first:last])

    in_threads(part, even_parts(np.cumsum(spans.end - spans.begin)))
    return sums


def even_parts(work: NDArray[np.int64]) -> list[int]:
    """Return cuts into parts of about equally many entries; `work`: the entries up to the end of each row."""
    entries = int(work[-1]) if work.size else 0
    threads = processors(16)
    if entries < _ALONE or threads == 1:
        return [0, work.size]
    cuts = np.searchsorted(work, np.arange(1, threads) * entries // threads)
    return [0, *cuts.tolist(), work.size]


def in_threads(part: Callable[[int, int], Any], cuts: list[int]) -> list[Any]:
    """Run the parts between cuts, each in a thread; return their results."""
    if len(cuts) == 2:
        return [part(*cuts)]
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        return list(pool.map(part, cuts[:-1], cuts[1:]))


def _rows(x: Expression, mask: Any, n: int) -> NDArray[np.int64]:
    """Return the rows that a mask allows, ascending, if the arrays for them fit in memory."""
    most = n if mask is None or mask.complement else mask.parent._store.nvals
    # labels and sums by label; a row's number, beginning, end and result
    require_host(16 * n + 32 * most, f"{x.operation}: work on {most:,} rows with {n:,} labels")
    if mask is None:
        return np.arange(n)
    at, values = mask.parent._store.to_coo(values=not mask.structure)
    at = at.view(np.int64)
    if not mask.structure:
        at = at[values.astype(np.bool_)]
    if not mask.complement:
        return at  # type: ignore[no-any-return]
    allowed = np.ones(n, np.bool_)
    allowed[at] = False
    return np.flatnonzero(allowed)


def spans_of(x: Expression, matrix: RowArrays, rows: NDArray[np.int64]) -> Spans:
    """Return the spans of some rows, with FP64 values, or with None if each entry counts as 1."""
    values = None
    if "x" in x.op.reads:  # type: ignore[union-attr]
        values = matrix.values.astype(np.float64, copy=False)
        values = np.broadcast_to(values, matrix.indices.shape) if matrix.iso else values
    return Spans(*matrix.ends(rows), matrix.indices, values)


def checked_labels(x: Expression, label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels, checked to be positions, by which loops index arrays."""
    if label.size and not (label.min() >= 0 and label.max() < label.size):
        raise IndexOutOfBound(
            f"{x.operation}: label has {label.min()} .. {label.max()}; 0 .. {label.size - 1} are needed"
        )
    return np.ascontiguousarray(label)
