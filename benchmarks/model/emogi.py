"""Requests of EMOGI's three ways of reading a row: naive, merged, merged and aligned.

One thread or warp reads a row by itself (Min et al., VLDB 2021, sections 3.3 and 4.3), so a round's requests are the
sum over its active rows, and each row's requests can be counted beforehand. Naive is one thread a row, which makes a
request of 32 bytes whenever it enters a new sector; merged and aligned are one warp a row, which loads 32 entries at a
time, from the row's first entry on, or from the line of that entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.model.requests import LANES, LINE, SIZES, Requests

PATTERNS = ("naive", "merged", "aligned")


def per_row(begin: Any, end: Any, itemsize: int, pattern: str, xp: Any = np) -> Any:
    """Return the requests of each row by size.

    Parameters
    ----------
    begin, end : array of int64, shape (n,)
        A row's entries are begin .. end-1; it may have none.
    itemsize : int
        Bytes of an entry; the array begins at a line.
    pattern : {"naive", "merged", "aligned"}
    xp : module
        NumPy or CuPy, the module of the arrays.

    Returns
    -------
    array of int32, shape (n, 4)
        Requests of 32, 64, 96 and 128 bytes.

    Examples
    --------
    >>> row = np.array([8]), np.array([40])  # 32 ids of 4 bytes that begin 32 bytes past a line
    >>> [per_row(*row, 4, pattern).tolist() for pattern in PATTERNS]
    [[[4, 0, 0, 0]], [[1, 0, 1, 0]], [[1, 0, 1, 0]]]
    """
    counts = xp.zeros((begin.size, 4), np.int32)
    some = begin < end
    if pattern == "naive":
        counts[:, 0] = xp.where(some, (end * itemsize - 1) // 32 - begin * itemsize // 32 + 1, 0)
    elif pattern == "merged":
        _merged(counts, begin, end, itemsize, xp)
    else:
        _aligned(counts, begin, end, itemsize, xp)
    return counts


def _runs_of(begin: Any, end: Any, itemsize: int) -> Any:
    """Return the size of the request for entries begin .. end-1 of one line: 0 to 3 for 32 to 128 bytes."""
    return (end * itemsize - 1) // 32 - begin * itemsize // 32


def _add(counts: Any, chosen: Any, size: Any) -> None:
    """Add to each chosen row one request, of the row's `size`."""
    for k in range(4):
        counts[:, k] += (chosen & (size == k)).astype(np.int32)


def _aligned(counts: Any, begin: Any, end: Any, itemsize: int, xp: Any) -> None:
    """Count aligned requests of each row: a head up to a boundary, whole requests, and a tail."""
    per = min(LANES, LINE // itemsize)  # entries of the largest request
    first, last = begin // per, (end - 1) // per
    counts[:, per * itemsize // 32 - 1] += xp.maximum(end // per - -(-begin // per), 0).astype(np.int32)
    stop = xp.minimum(end, (first + 1) * per)
    _add(counts, (begin < end) & (stop - begin < per), _runs_of(begin, stop, itemsize))
    _add(counts, (last > first) & (end < (last + 1) * per), _runs_of(last * per, end, itemsize))


def _merged(counts: Any, begin: Any, end: Any, itemsize: int, xp: Any) -> None:
    """Count loads of 32 entries, each divided at line boundaries."""
    line = LINE // itemsize
    full, rest = xp.divmod(end - begin, LANES)
    cuts = max(1, itemsize // 4) + 1  # lines that a load may touch
    for times, start, length in _loads(begin, full, rest, line):
        low = start % line
        for k in range(cuts):
            a, b = xp.maximum(low, k * line), xp.minimum(low + length, (k + 1) * line)
            size = _runs_of(a, b, itemsize)
            for size_index in range(4):
                counts[:, size_index] += (times * ((a < b) & (size == size_index))).astype(np.int32)


def _loads(begin: Any, full: Any, rest: Any, line: int) -> Any:
    """Yield loads as (number of equal ones, first entry of one, entries), the full loads and then the last."""
    period = max(1, line // LANES)  # loads after which a narrow type is at the same offset in a line again
    for phase in range(period):
        yield (full - phase + period - 1) // period, begin + LANES * phase, LANES
    yield 1, begin + LANES * full, rest


def of_rows(counts: Any, lengths: Any, active: Any, itemsize: int) -> Requests:
    """Return the requests of the active rows together; `counts` as :func:`per_row` made them.

    >>> counts = per_row(np.array([0, 8]), np.array([8, 8]), 4, "aligned")
    >>> of_rows(counts, np.array([8, 0]), np.array([True, True]), 4)
    Requests(by_size=(1, 0, 0, 0), useful_bytes=32)
    """
    a, b, c, d = (int(counts[:, k][active].sum(dtype=np.int64)) for k in range(len(SIZES)))
    return Requests((a, b, c, d), int(lengths[active].sum()) * itemsize)
