"""The loops of labels.py: compiled by numba and kept on disk where that is possible; NumPy's sorts without numba."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.row_arrays import spread
from sparsezc.expr.turns import turn_of

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

    def some(self, places: NDArray[np.int64]) -> Spans:
        """Return some of the rows, by their places."""
        return self._replace(begin=self.begin[places], end=self.end[places])

    def part(self, first: int, last: int) -> Spans:
        """Return the rows from one on and before another."""
        return self._replace(begin=self.begin[first:last], end=self.end[first:last])


class Scratch:
    """Room for sums by label and for the labels of a row, a pair a thread, which are used again."""

    def __init__(self, size: int) -> None:
        self._size, self._free = size, list[tuple[NDArray[np.float64], NDArray[np.int64]]]()

    def take(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return zeros, and room; :meth:`give` must get both back, the zeros restored."""
        try:
            return self._free.pop()
        except IndexError:
            return np.zeros(self._size), np.empty(self._size, np.int64)

    def give(self, pair: tuple[NDArray[np.float64], NDArray[np.int64]]) -> None:
        self._free.append(pair)


class Joins(NamedTuple):
    """The conditions under which rows join a label: ops/communities.py, join_labels.

    Attributes
    ----------
    cut : ndarray of float64
        What each label has to the rest of its group.
    whole : ndarray of float64
        The sums of groups.
    alone : ndarray of bool
    a, b : uint64
    turn : int
    """

    cut: NDArray[np.float64]
    whole: NDArray[np.float64]
    alone: NDArray[np.bool_]
    a: np.uint64
    b: np.uint64
    turn: int


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
        self._list, self._wake, self._retotal, self._cuts = map(compiled, (_list, _wake, _retotal, _cuts))
        self._sums = compiled(_sums)

    def best_label(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], rule: _Rule, best: NDArray[np.int64],
        *, scratch: Scratch | None = None, joins: Joins | None = None,
    ) -> None:  # fmt: skip
        """Write the best label of each of these rows; ops/labels.py says which that is."""
        values = spans.values
        within, penalty, scale, stays = rule
        weights = (_NONE[1], _NONE[1]) if penalty is None else penalty
        given = values is not None, within is not None, penalty is not None, stays, joins is not None
        groups = _NONE[0] if within is None else within
        read = _NONE[1] if values is None else values
        room = Scratch(label.size) if scratch is None else scratch
        pair, given_joins = room.take(), _NO_JOINS if joins is None else joins
        self._best((*spans[:3], read), rows, label, groups, (*weights, scale), given, pair, tuple(given_joins), best)
        room.give(pair)

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

    def sums(
        self, spans: Spans, ends: NDArray[np.int64], label: NDArray[np.int64], width: int, most: int, kind: Any
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Return the entries by label of the rows of some labels: ids, sums, and how many each label has.

        `ends`: where the rows of each label end among these. `most`: entries of the result, at most.
        """
        into = np.empty(most, np.int64), np.empty(most, kind), np.zeros(ends.size - 1, np.int64)
        read = _NONE[1] if spans.values is None else spans.values
        scratch = np.zeros(width), np.empty(width, np.int64)
        written = self._sums((*spans[:3], read), ends, label, spans.values is not None, scratch, into)
        return into[0][:written].copy(), into[1][:written].copy(), into[2]

    def list_turn(
        self, active: NDArray[np.bool_], a: np.uint64, b: np.uint64, turn: int, *, clears: bool
    ) -> NDArray[np.int64]:
        """Return the active rows that have a turn, which may end their being active."""
        listed = np.empty(active.size, np.int64)
        return listed[: self._list(active, a, b, turn, clears, listed)]

    def wake(self, spans: Spans, rows: NDArray[np.int64], active: NDArray[np.bool_]) -> None:
        """Make the neighbours of rows active."""
        self._wake(*spans[:3], rows, active)

    def retotal(
        self, rows: NDArray[np.int64], to: NDArray[np.int64], label: NDArray[np.int64], shares: NDArray[Any],
        totals: NDArray[Any],
    ) -> None:  # fmt: skip
        """Move what rows have from the totals of their labels to those of others."""
        self._retotal(rows, to, label, shares, totals)

    def join_cuts(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], within: NDArray[np.int64],
        inside: NDArray[np.float64], joins: Joins,
    ) -> None:  # fmt: skip
        """Bring what labels have to the rest of their group up to date after rows have joined them."""
        values = spans.values
        read = _NONE[1] if values is None else values
        self._cuts((*spans[:3], read), rows, label, within, inside, values is not None, tuple(joins))


_NO_JOINS = Joins(_NONE[1], _NONE[1], np.zeros(1, np.bool_), np.uint64(0), np.uint64(0), 0)


def _best(spans, rows, label, within, penalty, given, scratch, joins, best):  # type: ignore[no-untyped-def]
    """`given`: whether there are values, `within`, a penalty; whether rows stay; whether joins have conditions.

    `scratch`: zeros, and room for labels.
    """
    cut, whole, alone, a, b, turn = joins
    begin, end, indices, values = spans
    shares, sums, scale = penalty
    total, seen = scratch
    weighs, bounded, penalised, stays, joining = given
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
                if joining:
                    if alone[c]:
                        h = np.uint64(c) * a
                        if (((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)) == np.uint64(turn):
                            continue
                    if cut[c] - (whole[within[i]] - sums[c]) * sums[c] * scale < 0.0:
                        continue
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


def _sums(spans, ends, label, weighs, scratch, into):  # type: ignore[no-untyped-def]
    """Write the rows of some labels one after another; `ends`: of the rows of each label among `spans`."""
    begin, end, indices, values = spans
    total, seen = scratch
    ids, sums, counts = into
    width = total.size
    written = 0
    for c in range(ends.size - 1):
        count = 0
        for r in range(ends[c], ends[c + 1]):
            for at in range(begin[r], end[r]):
                d = label[indices[at]]
                if d < width:
                    w = values[at] if weighs else 1.0
                    if total[d] == 0.0 and w != 0.0:
                        seen[count] = d
                        count += 1
                    total[d] += w
        if count > width // 8:  # reading all places costs less than sorting
            for d in range(width):
                if total[d] != 0.0:
                    ids[written] = d
                    sums[written] = total[d]
                    written += 1
                    total[d] = 0.0
                    counts[c] += 1
            continue
        seen[:count].sort()
        for t in range(count):
            d = seen[t]
            if total[d] != 0.0:
                ids[written] = d
                sums[written] = total[d]
                written += 1
                total[d] = 0.0
                counts[c] += 1
    return written


def _list(active, a, b, turn, clears, listed):  # type: ignore[no-untyped-def]
    count = 0
    for i in range(active.size):
        if active[i]:
            h = np.uint64(i) * a
            if (((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)) == np.uint64(turn):
                listed[count] = i
                count += 1
                if clears:
                    active[i] = False
    return count


def _wake(begin, end, indices, rows, active):  # type: ignore[no-untyped-def]
    for r in range(rows.size):
        for at in range(begin[r], end[r]):
            if indices[at] != rows[r]:
                active[indices[at]] = True


def _retotal(rows, to, label, shares, totals):  # type: ignore[no-untyped-def]
    for r in range(rows.size):
        i = rows[r]
        totals[label[i]] -= shares[i]
        totals[to[r]] += shares[i]


def _cuts(spans, rows, label, within, inside, weighs, joins):  # type: ignore[no-untyped-def]
    begin, end, indices, values = spans
    cut, _, _, a, b, turn = joins
    for r in range(rows.size):
        i = rows[r]
        joined = label[i]
        total = 0.0
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j != i and within[j] == within[i] and label[j] == joined:
                w = values[at] if weighs else 1.0
                if j != joined:
                    h = np.uint64(j) * a
                    if (((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)) == np.uint64(turn):
                        total += w  # it came in this turn, as a row has only one
                        continue
                total += 2.0 * w
        cut[joined] += inside[i] - total


class Sorting:
    """The same by NumPy, at about a tenth of the speed."""

    def best_label(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], rule: _Rule, best: NDArray[np.int64],
        *, scratch: Scratch | None = None, joins: Joins | None = None,
    ) -> None:  # fmt: skip
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
            if joins is not None:
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
        own: NDArray[np.int64],
        found: NDArray[Any],
    ) -> None:
        """Write what each of these rows has within its label."""
        at, i, j, w = _entries(spans, rows)
        kept = (i != j) & (own[i] == label[j])
        found[:] = np.bincount(at[kept], w[kept], rows.size)


    def sums(
        self, spans: Spans, ends: NDArray[np.int64], label: NDArray[np.int64], width: int, most: int, kind: Any
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Return the entries by label of the rows of some labels: ids, sums, and how many each label has."""
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
        """Return the active rows that have a turn, which may end their being active."""
        at = np.flatnonzero(active)
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
        """Move what rows have from the totals of their labels to those of others."""
        np.subtract.at(totals, label[rows], shares[rows])
        np.add.at(totals, to, shares[rows])

    def join_cuts(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], within: NDArray[np.int64],
        inside: NDArray[np.float64], joins: Joins,
    ) -> None:  # fmt: skip
        """Bring what labels have to the rest of their group up to date after rows have joined them."""
        at, i, j, w = _entries(spans, rows)
        kept = (i != j) & (within[i] == within[j]) & (label[i] == label[j])
        at, j, w = at[kept], j[kept], w[kept]
        came = (label[j] != j) & (turn_of(j, joins.a, joins.b) == joins.turn)
        total = np.bincount(at, np.where(came, w, 2 * w), rows.size)
        np.add.at(joins.cut, label[rows], inside[rows] - total)


def _entries(spans: Spans, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the place in `rows`, the row, the column and the value of each entry of some rows."""
    begin, end, indices, values = spans
    at, entry = spread(np.arange(rows.size), begin, end - begin)
    w = np.ones(entry.size) if values is None else values[entry]
    return at, rows[at], indices[entry], w
