"""The loops of numba_loops.py by NumPy's sorts, for machines without numba: at about a tenth of the speed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.labels.arrays import Choosing, Joins, Spans
from sparsezc.engines.cpu.suitesparse.row_arrays import spread
from sparsezc.expr.label_turns import turn_of

__all__ = ["Sorting"]


class Sorting:
    """The methods of :class:`~sparsezc.engines.cpu.labels.numba_loops.Compiled`."""

    def best_label(self, spans: Spans, rows: NDArray[np.int64], how: Choosing, best: NDArray[np.int64]) -> None:
        """Write the best label of each row, as ops/labels.py defines it, to `best`."""
        label, _, stays, penalty, scale, within, joins = how
        at, i, j, w = _entries(spans, rows)
        kept = i != j if within is None else (i != j) & (within[i] == within[j])
        # each row also has an entry of weight 0 to its own label
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
            if joins is not None and within is not None:
                s, into = penalty[1][c], joins.whole[within[rows[row]]]
                barred = joins.cut[c] - (into - s) * s * scale < 0
                barred |= joins.alone[c] & (turn_of(c, joins.a, joins.b) == joins.turn)
                score = np.where(barred & ~own, -np.inf, score)
        # the largest score last; of equal ones the row's own, then the smallest label
        order = np.lexsort((-c, own & stays, score, row))
        last = np.flatnonzero(np.r_[row[1:] != row[:-1], True][: row.size])
        best[:] = c[order][last]

    def label_weight(
        self,
        spans: Spans,
        rows: NDArray[np.int64],
        label: NDArray[np.int64],
        found: NDArray[Any],
    ) -> None:
        """Write the sum of each row's entries within its label to `found`."""
        at, i, j, w = _entries(spans, rows)
        kept = (i != j) & (label[i] == label[j])
        found[:] = np.bincount(at[kept], w[kept], rows.size)

    def sums(
        self, spans: Spans, ends: NDArray[np.int64], label: NDArray[np.int64], width: int, most: int, kind: Any
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Return, for each listed label, its sums of weights to other labels: ids, sums, and their number."""
        at, _, j, w = _entries(spans, np.arange(spans.begin.size))
        row, into = np.searchsorted(ends, at, side="right") - 1, label[j]
        kept = into < width
        pairs, place = np.unique(row[kept] * width + into[kept], return_inverse=True)
        sums = np.bincount(place, w[kept], pairs.size)
        pairs, sums = pairs[sums != 0], sums[sums != 0]
        return pairs % width, sums.astype(kind), np.bincount(pairs // width, minlength=ends.size - 1)

    def list_turn(
        self, active: NDArray[np.bool_], a: np.uint64, b: np.uint64, turn: int, *, clears: bool
    ) -> NDArray[np.int64]:
        """Return the active rows of a label turn; `clears`: they become inactive."""
        at: NDArray[np.int64] = np.flatnonzero(active)
        at = at[turn_of(at, a, b) == turn]
        if clears:
            active[at] = False
        return at

    def wake(self, spans: Spans, rows: NDArray[np.int64], active: NDArray[np.bool_]) -> None:
        """Make the neighbours of rows active."""
        _, i, j, _ = _entries(spans, rows)
        active[j[i != j]] = True

    def retotal(
        self, rows: NDArray[np.int64], to: NDArray[np.int64], label: NDArray[np.int64], shares: NDArray[Any],
        totals: NDArray[Any],
    ) -> None:  # fmt: skip
        """Move rows' shares from the totals of their labels to those of their new labels."""
        np.subtract.at(totals, label[rows], shares[rows])
        np.add.at(totals, to, shares[rows])

    def join_cuts(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], within: NDArray[np.int64],
        inside: NDArray[np.float64], joins: Joins,
    ) -> None:  # fmt: skip
        """Update the sums from labels to the rest of their groups after rows have joined them."""
        at, i, j, w = _entries(spans, rows)
        kept = (i != j) & (within[i] == within[j]) & (label[i] == label[j])
        at, j, w = at[kept], j[kept], w[kept]
        came = (label[j] != j) & (turn_of(j, joins.a, joins.b) == joins.turn)
        total = np.bincount(at, np.where(came, w, 2 * w), rows.size)
        np.add.at(joins.cut, label[rows], inside[rows] - total)

    def colors(self, spans: Spans, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the smallest colour of each row that no preceding neighbour has; `rows`: all, in order."""
        rank, color = np.empty(rows.size, np.int64), np.full(rows.size, -1)
        rank[rows] = np.arange(rows.size)
        _, i, j, _ = _entries(spans, rows)
        before = rank[j] < rank[i]
        i, j = i[before], j[before]
        left = rows
        while left.size:
            # rows that wait for no neighbour; each lists the colours around it, and -1
            waits = np.zeros(rows.size, np.bool_)
            waits[i[color[j] < 0]] = True
            ready, left = left[~waits[left]], left[waits[left]]
            mine = ~waits[i]
            row, around = np.r_[i[mine], ready], np.r_[color[j[mine]], np.full(ready.size, -1)]
            i, j = i[~mine], j[~mine]
            row, around = np.unique(np.c_[row, around], axis=0).T
            # the colours of a row are -1, 0, 1 ... up to the first gap
            first = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
            in_line = around == np.arange(row.size) - np.repeat(first, np.diff(np.r_[first, row.size])) - 1
            # beyond a gap none is in line, as colours ascend
            color[row[first]] = np.add.reduceat(in_line.astype(np.int64), first) - 1
        return color


def _entries(spans: Spans, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the place in `rows`, the row, the column and the value of each entry of some rows."""
    begin, end, indices, values = spans
    at, entry = spread(np.arange(rows.size), begin, end - begin)
    w = np.ones(entry.size) if values is None else values[entry]
    return at, rows[at], indices[entry], w
