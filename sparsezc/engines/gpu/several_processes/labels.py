"""Moves of rows between labels on several processes: each has its part of the rows, and all labels (label_moves.py).

After each label turn the processes exchange the moves of their rows. Sums by label are exact for whole numbers; other
sums may differ between processes in their last bits. The labels are equal on all processes.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.products import labels
from sparsezc.engines.gpu.products.label_moves import COUNTS, LabelRows, Turn, network_of
from sparsezc.engines.gpu.runtime import groups, launch
from sparsezc.engines.gpu.storage.assembly import rows_of
from sparsezc.expr import label_turns

_NEVER = 2**62  # more rows than move


class SharedMoves:
    """The labels of all rows, and the moves of this process's rows.

    Parameters
    ----------
    e : Expression
        A statement whose first operand is a matrix in which only this process's rows have entries.
    first, last : int
        This process has the rows first .. last-1.
    start : ndarray of int64
        The labels of all rows at the start or, for joins, their groups.
    shares : ndarray of float64, or None
        The share of each row.
    scale : float
    joins : bool
        Whether rows join labels within their groups; otherwise they move between labels.
    """

    def __init__(
        self, e: Any, first: int, last: int, start: NDArray[np.int64], shares: NDArray[np.float64] | None,
        scale: float, *, joins: bool,
    ) -> None:  # fmt: skip
        A, xp = e.operands[0], cuda.current().xp
        self._own, self._shares = slice(first, last), None if shares is None else xp.asarray(shares)
        self._rows = LabelRows(e.op, rows_of(A._store), A.dtype, self._shares, joins=joins)
        given, n, key = xp.asarray(start), start.size, self._rows.key
        self._active = xp.zeros(n, np.uint8)
        if joins:
            self.inside = labels.sums_within(e, A, given, self._rows.rows)[self._own]
            own = xp.arange(n)
            self._network = network_of(own.astype(key), given.astype(key), self._shares, own, scale)
        else:
            self._network = network_of(given.astype(key), 0, self._shares, given, scale)
            self.wake_all()
            if self._shares is not None:
                self._active &= self._shares > 0
        self._turn = Turn(0, groups.NULL, groups.NULL, 0, None)

    @property
    def label(self) -> Any:
        """The labels of this process's rows, int64."""
        return self._network.label[self._own].astype(np.int64)

    @launch.locked
    def choose(self, given: Any, a: Any, b: Any, turn: int) -> tuple[Any, Any]:
        """Move this process's rows of a label turn; return the rows that moved, and their labels (int64)."""
        xp = cuda.current().xp
        self._turn = Turn(given, a, b, turn, xp.zeros(COUNTS, np.uint64))
        candidates = self._active
        if self._rows.joins:
            candidates = xp.zeros_like(self._active)
            candidates[self._own] = self._network.alone[self._own]
        self._rows.move(self._network, self._turn, candidates)
        rows = self._rows.moved_rows(self._turn)
        return rows.astype(np.int64), self._network.label[rows].astype(np.int64)

    @launch.locked
    def take(self, rows: Any, to: Any) -> None:
        """Apply the moves of all processes; this process's rows have moved already."""
        xp, net = cuda.current().xp, self._network
        others = (rows < self._own.start) | (rows >= self._own.stop)
        rows, to = rows[others], to[others]
        if self._shares is not None and rows.size:
            n, shares = net.label.size, self._shares[rows]
            net.totals[:] += xp.bincount(to, shares, n) - xp.bincount(net.label[rows].astype(np.int64), shares, n)
        net.label[rows] = to.astype(net.label.dtype)
        if self._rows.joins:
            net.alone[rows] = 0
            net.alone[to] = 0

    def rounds(self, seed: int, given: NDArray[np.int64] | None) -> tuple[Any, int, Any]:
        """Return the multipliers of each round, its number of turns, and the given turns of rows, or 0 (null)."""
        if given is None:
            return label_turns.multipliers(seed), label_turns.TURNS, 0
        count = int(given.max(initial=-1)) + 1
        return repeat((groups.NULL, groups.NULL), label_turns.LAST), count, cuda.current().xp.asarray(given)

    def wake_all(self) -> None:
        """Mark all of this process's rows as active: they may move."""
        self._active[self._own] = 1

    def wake(self, at: Any) -> None:
        """Mark the rows `at` as active."""
        self._active[at] = 1

    @launch.locked
    def woken(self) -> Any:
        """Mark the neighbours of moved rows as active; return those of other processes (int64, ascending)."""
        xp = cuda.current().xp
        found = xp.zeros_like(self._active)
        self._rows.wake(self._turn, found, _NEVER)
        self._active[self._own] |= found[self._own]
        found[self._own] = 0
        return xp.flatnonzero(found)

    # Joins

    @launch.locked
    def begin_joins(self, inside: Any) -> None:
        """Store the sums of all rows within their groups, and mark the rows that may join labels."""
        xp, net, n = cuda.current().xp, self._network, inside.size
        within = net.within.astype(np.int64)
        whole = xp.bincount(within, self._shares, n)
        rest = (whole[within] - self._shares) * self._shares * net.scale
        may = ((inside > 0) & (inside - rest >= 0)).astype(np.uint8)
        self.inside = inside
        self._network = net._replace(cut=inside.copy(), whole=whole, alone=may)

    @launch.locked
    def cuts(self) -> tuple[Any, Any]:
        """Return the labels that this process's rows joined in the turn, and the changes of these labels' cuts."""
        xp = cuda.current().xp
        more = xp.zeros(self.inside.size)
        self._rows.join_cuts(self._network._replace(cut=more), self._turn, self.inside)
        at = xp.unique(self._network.label[self._rows.moved_rows(self._turn)].astype(np.int64))
        return at, more[at]

    def add_cuts(self, at: Any, changes: Any) -> None:
        """Add changes to the cuts of labels, each listed once."""
        self._network.cut[at] += changes
