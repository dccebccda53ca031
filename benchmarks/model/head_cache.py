"""The row-head cache in NumPy: the ids of each row in device memory, and the rows that a pull need not read.

head_cache.cu keeps the k neighbours of each row that have most neighbours themselves, and none of a row that is cut
into row chunks. A row of at most k entries is kept whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.model.requests import Integers, positions
from sparsezc.device import cuda

Bits = NDArray[np.bool_]


@dataclass(eq=False)
class Heads:
    """The k ids of each row; slots without an id (of short rows, of rows in chunks) have a number that is no column."""

    ids: NDArray[Any]  # shape (nrows, k)
    ncols: int

    @property
    def k(self) -> int:
        return int(self.ids.shape[1])

    def answered(self, block: slice, present: Bits | None, lengths: Integers) -> Bits:
        """Return the rows of a block that a pull need not read: a cached id is present, or all ids are cached.

        `present` has a bool for each column; None if all are present.
        """
        found = lengths <= self.k
        if present is None:
            found |= self.ids[block, 0] < self.ncols
            return found
        at = self.ids[block]
        found |= (present[np.minimum(at, self.ncols - 1)] & (at < self.ncols)).any(1)
        return found


def of_engine(kept: Any, nrows: int, ncols: int) -> Heads:
    """Return the heads that the GPU engine has built: slot j of row r of word w is at (w * k + j) * 32 + r."""
    ids = cuda.current().asnumpy(kept.ids).reshape(-1, kept.k, 32).transpose(0, 2, 1).reshape(-1, kept.k)
    return Heads(ids[:nrows], ncols)


def fill(
    heads: Heads, block: slice, indptr: Integers, indices: NDArray[Any], degree: Integers | None, long: int
) -> None:
    """Choose the heads of a block of rows: the neighbours of largest degree, or the first if degrees are unknown.

    >>> heads = Heads(np.full((2, 2), 9), 9)
    >>> fill(heads, slice(0, 2), np.array([0, 3, 4]), np.array([0, 1, 2, 1]), np.array([5, 1, 8]), 100)
    >>> heads.ids.tolist()
    [[2, 0], [1, 9]]
    """
    begin, end = indptr[block.start : block.stop], indptr[block.start + 1 : block.stop + 1]
    rows = np.flatnonzero((begin < end) & (end - begin <= long))
    at, span = positions(begin[rows], end[rows])
    ids = indices[at]
    if degree is not None:
        order = np.lexsort((-degree[ids], span))
        ids = ids[order]
    lengths = (end - begin)[rows]
    slot = np.arange(span.size) - (np.cumsum(lengths) - lengths)[span]
    kept = slot < heads.k
    heads.ids[block.start + rows[span[kept]], slot[kept]] = ids[kept]
