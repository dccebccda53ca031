"""New bounds of ranks' rows from measured times: when they pay, and where they are.

Each rank measures the time of its products. A rank's time is spread over its rows by their work, so that rows of a
slow rank cost more: its entries may be far from its processor, or its rows may be read more often. New bounds divide
that cost evenly. All ranks compute them from the same numbers, so all have the same bounds.

Source: Z. Jia, Y. Kwon, G. Shipman, P. McCormick, M. Erez, A. Aiken, A distributed multi-GPU system for fast graph
processing (Lux), PVLDB 11(3), 2017, section 5, doi:10.14778/3157794.3157799.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Balance", "imbalance", "moved", "new_bounds", "predicted"]

LIMIT = 1.10  # the slowest rank's time over the mean: iterations differ by up to as much
PATIENCE = 3  # iterations beyond the limit before rows move: one slow iteration may have other causes
_DAMPING = 0.5  # share of the way to the new bounds, if the last move overshot

Numbers = NDArray[np.float64]
Bounds = NDArray[np.int64]


def imbalance(times: Numbers) -> float:
    """Return the slowest rank's time over the mean of all.

    >>> imbalance(np.array([1.0, 1.0, 4.0]))
    2.0
    """
    mean = float(np.mean(times))
    return float(np.max(times)) / mean if mean > 0 else 1.0


def _spread(work: Numbers, positions: Bounds, bounds: Bounds, times: Numbers) -> Numbers:
    """Return the cumulative cost before each position: a rank's time is spread over its rows by their work."""
    steps = np.diff(work)
    rank = np.clip(np.searchsorted(bounds, positions[:-1], side="right") - 1, 0, times.size - 1)
    own = np.bincount(rank, steps, times.size)
    rate = np.divide(times, own, out=np.zeros(times.size), where=own > 0)
    known = own > 0
    if known.any():  # a rank without rows has no rate of its own: rows that it gets cost the mean
        rate[~known] = times[known].sum() / own.sum()
    cost: Numbers = np.concatenate([[0.0], np.cumsum(steps * rate[rank])])
    return cost


def new_bounds(work: Numbers, positions: Bounds, bounds: Bounds, times: Numbers) -> Bounds:
    """Return bounds that divide the measured cost evenly.

    Parameters
    ----------
    work : ndarray, shape (k,)
        The work of all rows before each of `positions`, ascending: entries, plus a few units for each row. A few
        thousand positions are enough.
    positions : ndarray of int64, shape (k,)
        Rows at which bounds may be: multiples of 64, from 0 to the number of rows.
    bounds : ndarray of int64, shape (ranks + 1,)
        The bounds with which times were measured.
    times : ndarray, shape (ranks,)

    Returns
    -------
    ndarray of int64, shape (ranks + 1,)

    Raises
    ------
    ValueError
        The positions do not reach from 0 to the last bound.

    Examples
    --------
    The second rank takes three times as long for the same work, so half of the cost is before row 683 of 1,024:

    >>> rows = np.arange(0, 1025, 64)
    >>> new_bounds(rows * 8.0, rows, np.array([0, 512, 1024]), np.array([1.0, 3.0]))
    array([   0,  704, 1024])
    """
    if not positions.size or positions[0] != 0 or positions[-1] != bounds[-1]:
        raise ValueError(f"positions reach from {positions[:1]} to {positions[-1:]}; 0 to {bounds[-1]} are needed")
    fine = np.union1d(positions, bounds)  # a position within a rank's rows belongs to that rank alone
    cost = _spread(np.interp(fine, positions, work), fine, bounds, times)
    at = np.interp(positions, fine, cost)
    goals = at[-1] * np.arange(1, times.size) / times.size
    after = np.searchsorted(at, goals)
    before = np.maximum(after - 1, 0)
    nearer = np.where(goals - at[before] <= at[after] - goals, before, after)
    made: Bounds = np.concatenate([[0], positions[np.maximum.accumulate(nearer)], bounds[-1:]]).astype(np.int64)
    return made


def predicted(work: Numbers, positions: Bounds, bounds: Bounds, times: Numbers, new: Bounds) -> Numbers:
    """Return each rank's time with new bounds, if rows keep their cost.

    >>> rows = np.arange(0, 1025, 64)
    >>> old, new = np.array([0, 512, 1024]), np.array([0, 704, 1024])
    >>> predicted(rows * 8.0, rows, old, np.array([1.0, 3.0]), new)
    array([2.125, 1.875])
    """
    fine = np.union1d(positions, np.union1d(bounds, new))
    cost = _spread(np.interp(fine, positions, work), fine, bounds, times)
    found: Numbers = np.diff(np.interp(new, fine, cost))
    return found


def moved(bounds: Bounds, new: Bounds) -> NDArray[np.int64]:
    """Return how many rows each rank gets from others.

    >>> moved(np.array([0, 512, 1024]), np.array([0, 704, 1024])).tolist()
    [192, 0]
    """
    kept = np.minimum(bounds[1:], new[1:]) - np.maximum(bounds[:-1], new[:-1])
    gained: NDArray[np.int64] = np.diff(new) - np.maximum(kept, 0)
    return gained


@dataclass
class Balance:
    """The measured times of a loop's iterations, and the decision to move rows.

    Parameters
    ----------
    work, positions : ndarray
        As :func:`new_bounds` takes them.
    bounds : ndarray of int64, shape (ranks + 1,)
    row_seconds : float
        The time to move one row with its entries and its vectors' positions; 0 where ranks share a host segment, in
        which only offsets move.
    fixed_seconds : float
        The time that a move takes whatever its size.

    Attributes
    ----------
    over : int
        Consecutive iterations beyond the limit.
    """

    work: Numbers
    positions: Bounds
    bounds: Bounds
    row_seconds: float = 0.0
    fixed_seconds: float = 0.0
    over: int = 0
    _count: int = 0  # iterations since the last move
    _sum: Numbers = field(default_factory=lambda: np.zeros(0))
    _last: float = 0.0  # the imbalance before the last move

    def measure_move(self, *, row_seconds: float | None = None, fixed_seconds: float | None = None) -> None:
        """Set the cost of a move, as measured or as expected."""
        self.row_seconds = self.row_seconds if row_seconds is None else row_seconds
        self.fixed_seconds = self.fixed_seconds if fixed_seconds is None else fixed_seconds

    def after(self, times: Numbers, iterations_left: int) -> Bounds | None:
        """Record the times of an iteration; return new bounds if rows are to move now.

        Rows move after three consecutive iterations of an imbalance above 1.10, if the iterations that are left gain
        more than the move costs. The gain and the new bounds are computed from the mean times of all iterations since
        the last move: one rank may have had a search's whole frontier in the last three. `times` are the same on all
        ranks, so the decision is, too.

        Parameters
        ----------
        times : ndarray, shape (ranks,)
            Seconds of each rank's products, without waits for other ranks.
        iterations_left : int
            An estimate, such as the number of iterations so far.

        Examples
        --------
        >>> rows = np.arange(0, 1025, 64)
        >>> balance = Balance(rows * 8.0, rows, np.array([0, 512, 1024]))
        >>> [balance.after(np.array([1.0, 3.0]), 10) is None for _ in range(2)]
        [True, True]
        >>> balance.after(np.array([1.0, 3.0]), 10)
        array([   0,  704, 1024])
        """
        times = np.asarray(times, float)
        self._sum = times if self._count == 0 else self._sum + times
        self._count += 1
        self.over = self.over + 1 if imbalance(times) > LIMIT else 0
        mean = self._sum / self._count
        if self.over < PATIENCE or imbalance(mean) <= LIMIT:
            return None
        if float(mean.max() - mean.mean()) * iterations_left <= self.fixed_seconds:
            return None  # no bounds gain more than this, and computing bounds takes longer than a short product
        new = new_bounds(self.work, self.positions, self.bounds, mean)
        if self._last and imbalance(mean) >= self._last:  # the last move did not help: move bounds half of the way
            step = self.bounds + _DAMPING * (new - self.bounds)
            new = self.positions[np.searchsorted(self.positions, step)].astype(np.int64)
        if not self.pays(mean, new, iterations_left):
            return None
        self.over = self._count = 0
        self._last, self.bounds = imbalance(mean), new
        return new

    def pays(self, times: Numbers, new: Bounds, iterations_left: int) -> bool:
        """Return whether the iterations that are left gain more than the move costs."""
        then = float(predicted(self.work, self.positions, self.bounds, times, new).max())
        gain = (float(times.max()) - then) * iterations_left
        return gain > self.fixed_seconds + self.row_seconds * float(moved(self.bounds, new).max())
