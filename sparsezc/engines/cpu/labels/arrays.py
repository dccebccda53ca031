"""The groups of arguments that loops over rows with labels take, and their scratch arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Choosing", "Joins", "Scratch", "Spans"]


class Spans(NamedTuple):
    """Some rows of a matrix: the range of each in the matrix's ids, and in its values, if it has any.

    Attributes
    ----------
    begin, end : ndarray of int64, one of each a row
    indices : ndarray of int64
    values : ndarray of float64, or None
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64] | None

    def some(self, places: NDArray[np.int64]) -> Spans:
        """Return some of the rows, by their places among these."""
        return self._replace(begin=self.begin[places], end=self.end[places])

    def part(self, first: int, last: int) -> Spans:
        """Return rows ``first:last`` of these."""
        return self._replace(begin=self.begin[first:last], end=self.end[first:last])


class Scratch:
    """Scratch arrays for the sums by label and for the labels of a row: a pair for each thread, reused."""

    def __init__(self, size: int) -> None:
        self._size, self._free = size, list[tuple[NDArray[np.float64], NDArray[np.int64]]]()

    def take(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return an array of zeros and a scratch array; :meth:`give` must get both back, the zeros restored."""
        try:
            return self._free.pop()
        except IndexError:
            return np.zeros(self._size), np.empty(self._size, np.int64)

    def give(self, pair: tuple[NDArray[np.float64], NDArray[np.int64]]) -> None:
        self._free.append(pair)


class Joins(NamedTuple):
    """The conditions under which rows join a label: ops/labels.py, join_labels.

    Attributes
    ----------
    cut : ndarray of float64
        The sum of the entries from each label to the rest of its group.
    whole : ndarray of float64
        The sum of the rows' shares in each group.
    alone : ndarray of bool
        The rows that may join: alone in their label, and well connected within their group.
    a, b : uint64
        Multipliers of the hash that assigns rows to label turns.
    turn : int
        The current label turn.
    """

    cut: NDArray[np.float64]
    whole: NDArray[np.float64]
    alone: NDArray[np.bool_]
    a: np.uint64
    b: np.uint64
    turn: int


class Choosing(NamedTuple):
    """The rules by which rows choose labels.

    Attributes
    ----------
    label : ndarray of int64
    scratch : Scratch
    stays : bool
        Whether a row's own label wins ties.
    penalty : (ndarray of float64, ndarray of float64), or None
        The share of each row, and the sums of shares by label.
    scale : float
        The factor of penalties.
    within : ndarray of int64, or None
        The group of each row; only entries within a group count.
    joins : Joins, or None
    """

    label: NDArray[np.int64]
    scratch: Scratch
    stays: bool = True
    penalty: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    scale: float = 0.0
    within: NDArray[np.int64] | None = None
    joins: Joins | None = None
