"""Bounds that divide rows into ranges of equal work, one for each rank, found without reading all offsets.

A row's work is its entries and four more, for its offset and its entries of vectors: the rule of the distributed
engine. A bound is a multiple of 64 rows. Among the bounds near the best one, one is chosen whose first entry is at a
multiple of 32: then requests for ids stay aligned, and a range of compressed ids begins with a block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sparsezc.memory.id_blocks import SIZE

ALIGN = 64  # rows: two presence words, so that vectors are cut between words
ROW = 4  # entries whose work equals that of an empty row
_NEAR = 256  # cuts on either side that are tried: of 512, one is almost surely aligned; they take 256 KiB of offsets
_SHIFT = 32  # divisor of a rank's work, of which an aligned cut may move 1/32 (3%); 10% are tolerated

#: Returns the offsets of the rows ``first:last``.
Offsets = Callable[[int, int], NDArray[np.int64]]


def first_row(offsets: Offsets, nrows: int, nvals: int, rank: int, size: int) -> int:
    """Return the first row of a rank.

    Parameters
    ----------
    offsets : callable
        Returns the offsets of a range of rows; that of row `nrows` is `nvals`.
    rank : int
        0 to `size`; the rows of a rank end at the first row of the next.

    Examples
    --------
    >>> indptr = np.arange(1001) * 4
    >>> [first_row(lambda first, last: indptr[first:last], 1000, 4000, rank, 3) for rank in range(4)]
    [0, 320, 640, 1000]
    """
    if rank <= 0 or rank >= size:
        return 0 if rank <= 0 else nrows
    total = nvals + ROW * nrows
    goal = total * rank // size
    low, high = 0, -(-nrows // ALIGN)  # words: the first whose work reaches the goal is in low..high
    while low < high:
        middle = (low + high) // 2
        at = min(middle * ALIGN, nrows)
        if int(offsets(at, at + 1)[0]) + ROW * at < goal:
            low = middle + 1
        else:
            high = middle
    first = max(low - _NEAR, 0)
    last = min(low + _NEAR, nrows // ALIGN)
    rows = np.arange(first, last + 1) * ALIGN
    found = offsets(int(rows[0]), int(rows[-1]) + 1)[::ALIGN]
    off = np.abs(found + ROW * rows - goal)
    best = int(off.argmin())
    close = (found % SIZE == 0) & (off <= off[best] + total // size // _SHIFT)
    if close.any():
        best = int(np.flatnonzero(close)[off[close].argmin()])
    return int(rows[best])


def from_buckets(work: NDArray[np.int64], size: int, width: int, nrows: int) -> NDArray[np.int64]:
    """Return bounds for rows whose work is known by buckets of `width` rows, a multiple of 64.

    Parameters
    ----------
    work : array of int64, shape (buckets,)
        The number of entries of each bucket.

    Returns
    -------
    ndarray of int64, shape (size + 1,)

    Examples
    --------
    >>> from_buckets(np.array([300, 100, 100, 100]), 2, 64, 256)
    array([  0, 128, 256])
    """
    rows = np.minimum(np.arange(work.size + 1) * width, nrows)
    done = np.concatenate([[0], np.cumsum(work)]) + ROW * rows
    goals = done[-1] * np.arange(1, size) // size
    after = np.searchsorted(done, goals)
    nearer = np.where((after > 0) & (goals - done[after - 1] <= done[after] - goals), after - 1, after)
    return np.concatenate([[0], np.maximum.accumulate(rows[nearer]), [nrows]]).astype(np.int64)
