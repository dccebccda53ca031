"""Row blocks: consecutive rows of a matrix that are computed together, because not all rows fit in device memory.

Entries can also be cut into pieces regardless of rows. assembly.py assembles a matrix from its row blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.memory import budget

#: Rows first and last (exclusive) and, if a single row is cut, its part.
Block = tuple[int, ...]
#: cut(row, limit): the parts of a row, in order, each of at most `limit` entries.
Cut = Callable[[int, int], Sequence[tuple[int, ...]]]


def blocks(offsets: Sequence[Any], entry_bytes: int, *, cut: Cut | None = None) -> list[Block]:
    """Cut rows into row blocks whose entries take at most half of the device memory that may be used.

    Parameters
    ----------
    offsets : arrays of int64 on the device, shape (nrows + 1,)
        The offsets of every matrix that takes part.
    entry_bytes : int
        The bytes of device memory for each entry while it is processed.
    cut : callable, optional
        Cuts a row that exceeds the limit; without it such a row is one block.
    """
    gpu = cuda.current()
    nrows = offsets[0].size - 1
    total: Any = sum(offsets[1:], offsets[0])
    entries = int(total[-1])
    limit = max(1, budget.available() // 2 // entry_bytes)
    if entries <= limit:
        return [(0, nrows)]
    ends = gpu.xp.unique(gpu.xp.searchsorted(total, gpu.xp.arange(1, -(-entries // limit), dtype=np.int64) * limit))
    ends = ends[ends > 0]
    sizes = total[ends] - total[ends - 1]
    before, sizes = (gpu.asnumpy(x).tolist() for x in (ends, sizes))
    long = {end - 1 for end, size in zip(before, sizes, strict=True) if size > limit}  # each is a block of its own
    ranges: list[Block] = []
    for first, last in pairwise(sorted({0, nrows, *before, *long})):
        if cut is not None and first in long:
            ranges += [(first, last, *part) for part in cut(first, limit)]
        else:
            ranges.append((first, last))
    return ranges


def evenly(offsets: Any) -> Cut:
    """Return a cut of rows with these offsets into parts of equal size; a part is (start, stop) of its entries."""

    def cut(row: int, limit: int) -> list[tuple[int, int]]:
        start, stop = cuda.current().asnumpy(offsets[row : row + 2]).tolist()
        return [(at, min(at + limit, stop)) for at in range(start, stop, limit)]

    return cut


def between(indptr: Any, row: int, start: int, stop: int) -> Any:
    """Return a copy of the offsets in which one row has only the entries start .. stop-1."""
    made = indptr.copy()
    made[row], made[row + 1] = start, stop
    return made


def pieces(nvals: int, entry_bytes: int, *, multiple: int = 1) -> list[tuple[int, int]]:
    """Cut entries, regardless of rows, into pieces that take at most half of the device memory that may be used.

    Parameters
    ----------
    nvals : int
        The number of entries.
    entry_bytes : int
        The bytes of device memory for each entry while it is processed.
    multiple : int
        The size of each piece but the last is a multiple of this.
    """
    size = max(1, budget.available() // 2 // entry_bytes // multiple) * multiple
    return [(start, min(start + size, nvals)) for start in range(0, nvals, size)]
