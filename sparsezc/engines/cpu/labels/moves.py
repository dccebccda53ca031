"""Moves of rows between labels by label turns (ops/labels.py), and sums between labels, in loops of numba_loops.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.labels.arrays import Choosing, Joins, Scratch, Spans
from sparsezc.engines.cpu.labels.numba_loops import loops
from sparsezc.engines.cpu.labels.weights import checked_labels, choose, even_parts, in_threads, spans_of, sums_within
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed, borrowed_values
from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr import label_turns
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host

__all__ = ["color_rows", "given_rounds", "join_labels", "move_labels", "rounds", "sum_by_labels", "totals", "watched"]


def move_labels(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of rows once few rows still move."""
    matrix, given, k, turn, scale, seed, least = operands
    label = checked_labels(x, given).copy()
    penalty = None if k is None else (k, totals(label, k))
    how = Choosing(label, Scratch(label.size), penalty=penalty, scale=scale)
    active = np.ones(label.size, np.bool_) if k is None else k > 0
    size = int(active.sum())
    for round_of in rounds(active, seed) if turn is None else given_rounds(active, checked_labels(x, turn)):
        count = 0
        for listed in round_of:
            if not listed.size:
                continue
            spans, moved = _move(x, matrix, how, listed)
            count += moved.size
            if moved.size > size // label_turns.MANY:
                active[:] = True
            elif moved.size:
                loops().wake(spans, moved, active)
        if count <= least * size if turn is None else not count:
            break
    return rows, label[rows]


def rounds(active: NDArray[np.bool_], seed: int) -> Iterator[Iterator[NDArray[np.int64]]]:
    """Yield, for each round, the active rows of each turn; random numbers assign rows to turns, anew in each round."""
    for a, b in label_turns.multipliers(seed):
        yield (loops().list_turn(active, a, b, turn, clears=True) for turn in range(label_turns.TURNS))


def given_rounds(active: NDArray[np.bool_], turn: NDArray[np.int64]) -> Iterator[Iterator[NDArray[np.int64]]]:
    """Yield, for each round, the active rows of each turn; `turn` has the turn of each row, the same in all rounds."""
    members = np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn))[:-1])

    def looking(mine: NDArray[np.int64]) -> NDArray[np.int64]:
        listed = mine[active[mine]]
        active[listed] = False
        return listed

    for _ in range(label_turns.LAST):
        yield map(looking, members)


def join_labels(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of rows after each had its label turn."""
    matrix, group, k, scale, seed = operands
    n = group.size
    everything, within = np.arange(n), checked_labels(x, group)
    inside = sums_within(spans_of(x, matrix, everything), everything, within)
    whole, cut, label = totals(within, k), inside.copy(), everything.copy()
    alone = (inside > 0) & (inside - (whole[within] - k) * k * scale >= 0)
    a, b = label_turns.multipliers(seed, 1)[0]
    how = Choosing(label, Scratch(n), penalty=(k, k.copy()), scale=scale, within=within)
    for turn in range(label_turns.TURNS):
        listed = loops().list_turn(alone, a, b, turn, clears=False)
        joins = Joins(cut, whole, alone, a, b, turn)
        spans, moved = _move(x, matrix, how._replace(joins=joins), listed)
        alone[moved] = alone[label[moved]] = False
        if moved.size:
            loops().join_cuts(spans, moved, label, within, inside, joins)
    return rows, label[rows]


def color_rows(_: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the colours of rows, which choose them by descending `order`."""
    matrix, order = operands
    every = np.argsort(~order, kind="stable")  # -order would wrap around for the smallest number
    begin, end = matrix.ends(every)
    color = loops().colors(Spans(begin, end, matrix.indices, None), every)
    return rows, color[rows]


def sum_by_labels(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the sums between labels."""
    A, given = x.operands
    width = x.shape[0]
    if A._shape != given._shape * 2:
        raise DimensionMismatch(f"sum_by_labels: {A.name} was resized since the expression was made")
    with borrowed(A._store) as matrix, borrowed_values(given._store) as values:
        label = checked_labels(x, values)
        rows = np.argsort(label, kind="stable")
        spans, ends = spans_of(x, matrix, rows), np.searchsorted(label[rows], np.arange(width + 1))
        entries = np.cumsum(spans.end - spans.begin)
        each = np.diff(np.concatenate([[0], entries])[ends])
        most = np.minimum(each, width)
        require_host(16 * int(most.sum()), f"sum_by_labels: the sums of {width:,} labels")
        parts = even_parts(np.cumsum(each))

        def part(first: int, last: int) -> Any:
            some, bounds = spans.part(ends[first], ends[last]), ends[first : last + 1] - ends[first]
            return loops().sums(some, bounds, label, width, int(most[first:last].sum()), x.dtype.np_type)

        ids, sums, counts = zip(*in_threads(part, parts), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    made = native.gb.Matrix.ss.import_csr(
        nrows=width, ncols=width, indptr=indptr.astype(np.uint64), col_indices=np.concatenate(ids).view(np.uint64),
        values=np.concatenate(sums), sorted_cols=True, take_ownership=True, dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


@contextmanager
def watched(watcher: Callable[[Choosing, NDArray[np.int64]], None]) -> Iterator[None]:
    """Call a function before each label turn within the context: with the rules, and the rows that may move."""
    global _watcher
    before, _watcher = _watcher, watcher
    try:
        yield
    finally:
        _watcher = before


_watcher: Callable[[Choosing, NDArray[np.int64]], None] | None = None


def _move(
    x: Expression, matrix: RowArrays, how: Choosing, listed: NDArray[np.int64]
) -> tuple[Spans, NDArray[np.int64]]:
    """Move listed rows to their best labels; return the rows that moved."""
    if _watcher is not None:
        _watcher(how, listed)
    spans = spans_of(x, matrix, listed)
    best = choose(spans, listed, how)
    places = np.flatnonzero(best != how.label[listed])
    moved = listed[places]
    if how.penalty is not None and moved.size:
        loops().retotal(moved, best[places], how.label, *how.penalty)
    how.label[moved] = best[places]
    return spans.some(places), moved


def totals(label: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of rows' shares by label."""
    return np.bincount(label, shares, label.size).astype(np.float64, copy=False)
