"""Matrices larger than the device, a block of rows at a time.

Rows are cut so that a block fits, or entries wherever rows begin; assembly.py makes a matrix of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.memory import budget

#: first, last, and of a row that is cut which part of it this is.
Block = tuple[int, ...]
#: cut(row, limit): the parts of a row, in their order, each of at most so many entries.
Cut = Callable[[int, int], Sequence[tuple[int, ...]]]


def blocks(offsets: Sequence[Any], entry_bytes: int, *, cut: Cut | None = None) -> list[Block]:
    """Cut rows into ranges whose entries together take at most half of the device memory that may be used.

    Parameters
    ----------
    offsets : arrays of int64 on the device, shape (nrows + 1,)
        Of every matrix that takes part.
    entry_bytes : int
        Device memory that an entry takes while it is worked on.
    cut : callable, optional
        Cuts a row that is too long by itself; without it such a row is one block.
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
    long = {end - 1 for end, size in zip(before, sizes, strict=True) if size > limit}  # each a block of its own
    ranges: list[Block] = []
    for first, last in pairwise(sorted({0, nrows, *before, *long})):
        if cut is not None and first in long:
            ranges += [(first, last, *part) for part in cut(first, limit)]
        else:
            ranges.append((first, last))
    return ranges


def evenly(offsets: Any) -> Cut:
    """Cut rows that begin at these offsets by the number of entries: a part is where it starts and stops."""

    def cut(row: int, limit: int) -> list[tuple[int, int]]:
        start, stop = cuda.current().asnumpy(offsets[row : row + 2]).tolist()
        return [(at, min(at + limit, stop)) for at in range(start, stop, limit)]

    return cut


def between(indptr: Any, row: int, start: int, stop: int) -> Any:
    """Offsets by which a row begins and ends where this part of it does."""
    made = indptr.copy()
    made[row], made[row + 1] = start, stop
    return made


def pieces(nvals: int, entry_bytes: int, *, multiple: int = 1) -> list[tuple[int, int]]:
    """Cut entries, wherever rows begin, into ranges that take at most half of the device memory that may be used.

    Parameters
    ----------
    nvals : int
        Entries in all.
    entry_bytes : int
        Device memory that an entry takes while it is worked on.
    multiple : int
        Of which every range but the last holds a multiple.
    """
    size = max(1, budget.available() // 2 // entry_bytes // multiple) * multiple
    return [(start, min(start + size, nvals)) for start in range(0, nvals, size)]
