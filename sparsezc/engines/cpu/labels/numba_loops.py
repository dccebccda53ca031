"""The loops of weights.py and moves.py: compiled by numba and kept on disk where that is possible.

Without numba, numpy_loops.py computes the same.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.labels.arrays import Choosing, Joins, Spans
from sparsezc.engines.cpu.labels.numpy_loops import Sorting
from sparsezc.engines.cpu.suitesparse.machine_code import compiled

__all__ = ["Compiled", "loops"]

# Entries of a row, at most, whose labels are compared one by one, in a cache line or two, not in random reads.
_FEW = 16
# Stand-ins, by type, for arguments that are not given.
_NONE = np.zeros(1, np.int64), np.zeros(1)
_NO_JOINS = Joins(_NONE[1], _NONE[1], np.zeros(1, np.bool_), np.uint64(0), np.uint64(0), 0)


@cache
def loops() -> Compiled | Sorting:
    """Return the loops of this process: compiled ones, or NumPy's without numba."""
    try:
        return Compiled(import_module("numba"))
    except ImportError:
        return Sorting()


class Compiled:
    """Loops in machine code, compiled at their first use."""

    def __init__(self, numba: Any) -> None:
        made = partial(compiled, numba)
        self._best, self._weight, self._sums = map(made, (_best, _weight, _sums))
        self._list, self._wake, self._retotal, self._cuts = map(made, (_list, _wake, _retotal, _cuts))
        self._colors = made(_colors)

    def best_label(self, spans: Spans, rows: NDArray[np.int64], how: Choosing, best: NDArray[np.int64]) -> None:
        """Write the best label of each row, as ops/labels.py defines it, to `best`."""
        penalty = (_NONE[1], _NONE[1]) if how.penalty is None else how.penalty
        within = _NONE[0] if how.within is None else how.within
        joins = _NO_JOINS if how.joins is None else how.joins
        given = *(x is not None for x in (spans.values, how.within, how.penalty, how.joins)), how.stays
        scratch = how.scratch.take()
        self._best(_all(spans), rows, how.label, (within, *penalty, how.scale), given, scratch, tuple(joins), best)
        how.scratch.give(scratch)

    def label_weight(
        self,
        spans: Spans,
        rows: NDArray[np.int64],
        label: NDArray[np.int64],
        found: NDArray[Any],
    ) -> None:
        """Write the sum of each row's entries within its label to `found`."""
        self._weight(_all(spans), rows, label, spans.values is not None, found)

    def sums(
        self, spans: Spans, ends: NDArray[np.int64], label: NDArray[np.int64], width: int, most: int, kind: Any
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Return the sums between some labels and all: ids of labels, sums, and how many sums each label has.

        `ends`: the ends of each label's rows among these. `most`: entries of the result, at most.
        """
        into = np.empty(most, np.int64), np.empty(most, kind), np.zeros(ends.size - 1, np.int64)
        scratch = np.zeros(width), np.empty(width, np.int64)
        written = self._sums(_all(spans), ends, label, spans.values is not None, scratch, into)
        return into[0][:written].copy(), into[1][:written].copy(), into[2]

    def list_turn(
        self, active: NDArray[np.bool_], a: np.uint64, b: np.uint64, turn: int, *, clears: bool
    ) -> NDArray[np.int64]:
        """Return the active rows of a label turn; `clears`: they become inactive."""
        listed = np.empty(active.size, np.int64)
        return listed[: self._list(active, a, b, turn, clears, listed)]

    def wake(self, spans: Spans, rows: NDArray[np.int64], active: NDArray[np.bool_]) -> None:
        """Make the neighbours of rows active."""
        self._wake(*spans[:3], rows, active)

    def retotal(
        self, rows: NDArray[np.int64], to: NDArray[np.int64], label: NDArray[np.int64], shares: NDArray[Any],
        totals: NDArray[Any],
    ) -> None:  # fmt: skip
        """Move rows' shares from the totals of their labels to those of their new labels."""
        self._retotal(rows, to, label, shares, totals)

    def join_cuts(
        self, spans: Spans, rows: NDArray[np.int64], label: NDArray[np.int64], within: NDArray[np.int64],
        inside: NDArray[np.float64], joins: Joins,
    ) -> None:  # fmt: skip
        """Update the sums from labels to the rest of their groups after rows have joined them."""
        self._cuts(_all(spans), rows, label, within, inside, spans.values is not None, tuple(joins))

    def colors(self, spans: Spans, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the smallest colour of each row that no preceding neighbour has; `rows`: all, in order."""
        color = np.full(rows.size, -1)
        most = int((spans.end - spans.begin).max(initial=0)) + 1
        self._colors(*spans[:3], rows, np.full(most + 1, -1), color)
        return color


def _all(spans: Spans) -> tuple[Any, ...]:
    return *spans[:3], _NONE[1] if spans.values is None else spans.values


def _best(spans, rows, label, penalty, given, scratch, joins, best):  # type: ignore[no-untyped-def]
    """Write the best label of each row to `best`.

    `given`: flags of values, groups, a penalty, joins, and of own labels that win ties. `scratch`: zeros, any values.
    """
    cut, whole, alone, a, b, turn = joins
    begin, end, indices, values = spans
    within, shares, sums, scale = penalty
    total, seen = scratch
    weighs, bounded, penalised, joining, stays = given
    sums_of_few = np.empty(_FEW)
    for r in range(rows.size):
        i = rows[r]
        own = label[i]
        few = end[r] - begin[r] <= _FEW
        count = 0
        staying = 0.0
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j == i or (bounded and within[j] != within[i]):
                continue
            c = label[j]
            w = values[at] if weighs else 1.0
            if c == own:
                staying += w
            elif few:
                t = 0
                while t < count and seen[t] != c:
                    t += 1
                if t == count:
                    seen[t] = c
                    sums_of_few[t] = 0.0
                    count += 1
                sums_of_few[t] += w
            else:
                if total[c] == 0.0:  # a label of weight 0 may be listed again, but no row has more entries than columns
                    seen[count] = c
                    count += 1
                total[c] += w
        share = scale * shares[i] if penalised else 0.0
        choice = own
        most = staying - share * (sums[own] - shares[i]) if penalised else staying
        for t in range(count):
            c = seen[t]
            if joining:
                if alone[c]:
                    h = np.uint64(c) * a
                    if (((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)) == np.uint64(turn):
                        continue
                if cut[c] - (whole[within[i]] - sums[c]) * sums[c] * scale < 0.0:
                    continue
            weight = sums_of_few[t] if few else total[c]
            score = weight - share * sums[c] if penalised else weight
            ties = score == most and c < choice and not (stays and choice == own)
            if score > most or ties:
                most = score
                choice = c
        if not few:
            for t in range(count):
                total[seen[t]] = 0.0
        best[r] = choice


def _weight(spans, rows, label, weighs, found):  # type: ignore[no-untyped-def]
    begin, end, indices, values = spans
    for r in range(rows.size):
        i = rows[r]
        total = 0.0
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j != i and label[j] == label[i]:
                total += values[at] if weighs else 1.0
        found[r] = total


def _sums(spans, ends, label, weighs, scratch, into):  # type: ignore[no-untyped-def]
    """Write the sums of some labels one after another; `ends`: the ends of each label's rows among `spans`."""
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
            count = 0
            for d in range(width):
                if total[d] != 0.0:
                    seen[count] = d
                    count += 1
        else:
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
                        total += w  # row j joined in this turn, as a row has only one
                        continue
                total += 2.0 * w
        cut[joined] += inside[i] - total


def _colors(begin, end, indices, rows, seen, color):  # type: ignore[no-untyped-def]
    """Write the colours of rows. `seen`: of each colour the last row that has a neighbour of it."""
    for r in range(rows.size):
        i = rows[r]
        for at in range(begin[r], end[r]):
            j = indices[at]
            if j != i and color[j] >= 0:
                seen[color[j]] = i
        c = 0
        while seen[c] == i:
            c += 1
        color[i] = c
