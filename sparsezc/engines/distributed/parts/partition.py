"""Partitions: the rows or columns that each rank has, contiguous ranges that begin at multiples of 64.

Objects of one shape have the same partition, so that a rank has the same range of all operands of a statement. Small
objects (vectors of at most 64 positions, matrices of at most 64 rows and columns) are whole on every rank. Other
matrices of at most 64 rows, such as batches of searches, are cut by columns; all others by rows. A matrix of few rows
may also be cut *by searches*: each rank has some rows, while statements can run so (statements/search_batches.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sparsezc.engines.distributed.store_methods import Keeper

__all__ = ["ALIGN", "ROW", "Partition", "cut_evenly", "cut_rows"]

#: Ranges begin at multiples of this, so that each presence word belongs to one rank.
ALIGN = 64
#: The work of a row besides its entries, in entries: its offset, its result, its position in vectors.
ROW = 4

WHOLE, ROWS, COLUMNS = None, 0, 1


class Partition:
    """A partition: the range of rows, columns or positions that each rank has.

    Attributes
    ----------
    along : {0, 1, None}
        The dimension that is cut: rows (the positions of a vector), columns, or none.
    bounds : ndarray of int64, shape (ranks + 1,)
        Rank r has ``bounds[r]:bounds[r + 1]`` of that dimension.
    sizes : ndarray of int64, shape (ranks,)
    longest : int
        The largest of `sizes`.
    lo, hi : int
        This rank's range.
    by_search : bool
        The ranges are rows (searches) of a matrix of few rows.
    """

    __slots__ = ("_local_bounds", "along", "bounds", "by_search", "hi", "lo", "longest", "sizes")

    def __init__(self, along: int | None, bounds: NDArray[np.int64], rank: int, *, by_search: bool = False) -> None:
        self.along, self.bounds, self.sizes, self.by_search = along, bounds, np.diff(bounds), by_search
        self.longest = int(self.sizes.max())
        self._local_bounds: Any = None
        self.lo, self.hi = (0, int(bounds[-1])) if along is WHOLE else map(int, bounds[rank : rank + 2])

    @property
    def is_whole(self) -> bool:
        """Return whether every rank has the whole object."""
        return self.along is WHOLE

    def local_bounds(self, engine: Keeper) -> Any:
        """Return `bounds` in the local engine's memory, copied there at first use."""
        if self._local_bounds is None:
            self._local_bounds = engine.as_local(self.bounds)
        return self._local_bounds

    def local_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of this rank's part."""
        here = self.hi - self.lo
        if self.along is ROWS:
            return (here, *shape[1:])
        return shape if self.along is WHOLE else (shape[0], here)

    def __repr__(self) -> str:
        what = {WHOLE: "whole", ROWS: "rows", COLUMNS: "columns"}[self.along]
        return f"<{what} {self.bounds.tolist()}>"


class Partitions:
    """The partitions in use: one list of bounds for each length, which all objects of that length have."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._made: dict[tuple[int | None, int], Partition] = {}
        self._by_search: dict[int, Partition] = {}

    def of(self, shape: tuple[int, ...]) -> Partition:
        """Return the partition of objects of a shape."""
        along: int | None = ROWS
        if shape[0] <= ALIGN and self.size > 1:
            along = WHOLE if len(shape) == 1 or shape[1] <= ALIGN else COLUMNS
        length = shape[1] if along is COLUMNS else shape[0]
        found = self._made.get((along, length))
        if found is None:
            other = self._made.get((ROWS if along is COLUMNS else COLUMNS, length))
            bounds = cut_evenly(length, self.size) if other is None else other.bounds
            found = self._made[along, length] = Partition(along, bounds, self.rank)
        return found

    def by_search(self, searches: int) -> Partition:
        """Return the partition by searches of matrices of `searches` rows."""
        found = self._by_search.get(searches)
        if found is None:
            bounds = np.arange(self.size + 1, dtype=np.int64) * searches // self.size
            found = self._by_search[searches] = Partition(ROWS, bounds, self.rank, by_search=True)
        return found

    def is_cut(self, length: int) -> bool:
        """Return whether a length has bounds already."""
        return (ROWS, length) in self._made

    def cut(self, bounds: NDArray[np.int64]) -> None:
        """Set the bounds of a length; objects with other bounds move when a statement uses them."""
        length = int(bounds[-1])
        for along in (ROWS, COLUMNS):
            old = self._made.get((along, length))
            if old is None or not np.array_equal(old.bounds, bounds):
                self._made[along, length] = Partition(along, bounds, self.rank)


def cut_evenly(length: int, ranks: int) -> NDArray[np.int64]:
    """Return bounds of ranges of one length, a multiple of 64; the last may be shorter or empty."""
    step = -(-length // ranks)
    step = -(-step // ALIGN) * ALIGN
    return np.minimum(np.arange(ranks + 1, dtype=np.int64) * step, length)


def cut_rows(indptr: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """Return bounds of ranges of equal work, by the offsets of a matrix's rows.

    >>> cut_rows(np.arange(0, 257 * 8, 8), 2)
    array([  0, 128, 256])
    """
    n = indptr.size - 1
    work = indptr + ROW * np.arange(n + 1, dtype=np.int64)
    shares = int(work[-1]) * np.arange(1, ranks) // ranks
    cuts = (np.searchsorted(work, shares) + ALIGN // 2) // ALIGN * ALIGN
    return np.concatenate([[0], np.minimum(cuts, n), [n]]).astype(np.int64)
