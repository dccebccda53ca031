"""The loops of labels.py: compiled by numba and kept on disk where that is possible; NumPy's sorts without numba."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.row_arrays import spread

__all__ = ["Compiled", "Sorting", "Spans", "loops"]

_Rule = tuple[Any, Any, float, bool]  # within or None; (k, s) or None; scale; whether a row's own label wins ties
_NONE = np.zeros(1, np.int64), np.zeros(1)  # of the types of what is not given


class Spans(NamedTuple):
    """Some rows of a matrix: where each begins and ends among all ids, and values, or None.

    Attributes
    ----------
    begin, end : ndarray of int64, one each a row
    indices : ndarray of int64
    values : ndarray of float64, or None
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64] | None

    def part(self, first: int, last: int) -> Spans:
        """Return the rows from one on and before another."""
        return self._replace(begin=self.begin[first:last], end=self.end[first:last])


@cache
def loops() -> Compiled | Sorting:
    """Return the loops of this process."""
    try:
        return Compiled(import_module("numba"))
    except ImportError:
        return Sorting()


class Compiled:
    """Loops in machine code, compiled at their first use."""

    def __init__(self, numba: Any) -> None:
        def compiled(function: Any) -> Any:
            try:
                return numba.njit(nogil=True, cache=True)(function)
            except RuntimeError:  # no folder that numba may write to
                return numba.njit(nogil=True)(function)

        self._best, self._weight = compiled(_best), compiled(_weight)

    def best_label(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], rule: _Rule, best: NDArray[np.int64]
    ) -> None:
        """Write the best label of each of these rows; ops/labels.py says which that is."""
        values = spans.values
        within, penalty, scale, stays = rule
        weights = (_NONE[1], _NONE[1]) if penalty is None else penalty
        given = values is not None, within is not None, penalty is not None, stays
        groups = _NONE[0] if within is None else within
        read = _NONE[1] if values is None else values
        scratch = np.zeros(label.size), np.empty(label.size, np.int64)
        self._best((*spans[:3], read), rows, label, groups, (*weights, scale), given, scratch, best)

    def label_weight(
        self,
        spans: Spans,
        rows: NDArray[np.int64],
        label: NDArray[np.int64],
        own: NDArray[np.int64],
        found: NDArray[Any],
    ) -> None:
        """Write what each of these rows has within its label."""
        values = spans.values
        read = _NONE[1] if values is None else values
        self._weight((*spans[:3], read), rows, label, own, values is not None, found)


def _best(spans, rows, label, within, penalty, given, scratch, best):  # type: ignore[no-untyped-def]
    """`given`: whether there are values, `within`, a penalty; whether rows stay. `scratch`: zeros, room for labels."""
    begin, end, indices, values = spans
    shares, sums, scale = penalty
    total, seen = scratch
    weighs, bounded, penalised, stays = given
    for r in range(rows.size):
        i = rows[r]
        own = label[i]
        count = 0
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j == i or (bounded and within[j] != within[i]):
                continue
            c = label[j]
            w = values[at] if weighs else 1.0
            if total[c] == 0.0:  # a label of weight 0 may be listed again, but no row has more entries than columns
                seen[count] = c
                count += 1
            total[c] += w
        share = scale * shares[i] if penalised else 0.0
        choice = own
        most = total[own] - share * (sums[own] - shares[i]) if penalised else total[own]
        for t in range(count):
            c = seen[t]
            if c != own:
                score = total[c] - share * sums[c] if penalised else total[c]
                ties = score == most and c < choice and not (stays and choice == own)
                if score > most or ties:
                    most = score
                    choice = c
        for t in range(count):
            total[seen[t]] = 0.0
        best[r] = choice


def _weight(spans, rows, label, own, weighs, found):  # type: ignore[no-untyped-def]
    begin, end, indices, values = spans
    for r in range(rows.size):
        i = rows[r]
        total = 0.0
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j != i and label[j] == own[i]:
                total += values[at] if weighs else 1.0
        found[r] = total


class Sorting:
    """The same by NumPy, at about a tenth of the speed."""

    def best_label(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], rule: _Rule, best: NDArray[np.int64]
    ) -> None:
        """Write the best label of each of these rows; ops/labels.py says which that is."""
        within, penalty, scale, stays = rule
        at, i, j, w = _entries(spans, rows)
        kept = i != j if within is None else (i != j) & (within[i] == within[j])
        # an entry of weight 0 for staying
        row = np.concatenate([at[kept], np.arange(rows.size)])
        c = np.concatenate([label[j[kept]], label[rows]])
        total = np.concatenate([w[kept], np.zeros(rows.size)])
        order = np.lexsort((c, row))
        row, c = row[order], c[order]
        first = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (c[1:] != c[:-1])][: row.size])
        score = np.add.reduceat(total[order], first) if first.size else total
        row, c = row[first], c[first]
        own = c == label[rows[row]]
        if penalty is not None:
            k = penalty[0][rows[row]]
            score = score - scale * k * np.where(own, penalty[1][c] - k, penalty[1][c])
        # the largest score last; of equal ones the row's own, then the smallest label
        order = np.lexsort((-c, own & stays, score, row))
        last = np.flatnonzero(np.r_[row[1:] != row[:-1], True][: row.size])
        best[:] = c[order][last]

    def label_weight(
        self,
        spans: Spans,
        rows: NDArray[np.int64],
        label: NDArray[np.int64],
        own: NDArray[np.int64],
        found: NDArray[Any],
    ) -> None:
        """Write what each of these rows has within its label."""
        at, i, j, w = _entries(spans, rows)
        kept = (i != j) & (own[i] == label[j])
        found[:] = np.bincount(at[kept], w[kept], rows.size)


def _entries(spans: Spans, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the place in `rows`, the row, the column and the value of each entry of some rows."""
    begin, end, indices, values = spans
    at, entry = spread(np.arange(rows.size), begin, end - begin)
    w = np.ones(entry.size) if values is None else values[entry]
    return at, rows[at], indices[entry], w
