"""The number and sizes of the requests that warps make for parts of an array in host memory.

The rules are the load unit's: the lanes of one load instruction request 32-byte sectors, and each run of neighbouring
sectors within a 128-byte line is one request, of 32, 64, 96 or 128 bytes (Min et al., EMOGI, VLDB 2021, section 3.3).
No cache serves a later load. Arrays begin at a line; positions are in entries, not bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

SIZES = (32, 64, 96, 128)
LANES = 32
LINE = 128


@dataclass(frozen=True)
class Requests:
    """Requests by size, and the bytes that lanes loaded.

    Attributes
    ----------
    by_size : tuple of int
        Requests of 32, 64, 96 and 128 bytes.
    useful_bytes : int
        Bytes that the lanes loaded; the rest of :attr:`nbytes` was transferred in vain.
    """

    by_size: tuple[int, int, int, int] = (0, 0, 0, 0)
    useful_bytes: int = 0

    def __add__(self, other: Requests) -> Requests:
        a, b, c, d = (one + two for one, two in zip(self.by_size, other.by_size, strict=True))
        return Requests((a, b, c, d), self.useful_bytes + other.useful_bytes)

    @property
    def count(self) -> int:
        return sum(self.by_size)

    @property
    def nbytes(self) -> int:
        """The bytes over the link."""
        return sum(size * number for size, number in zip(SIZES, self.by_size, strict=True))

    def share(self, size: int) -> float:
        """Return the share of the requests that are of a size, as in EMOGI's figure 5.

        >>> Requests((1, 0, 0, 3), 400).share(128), Requests().share(128)
        (0.75, 0.0)
        """
        return self.by_size[SIZES.index(size)] / self.count if self.count else 0.0


def _made(counts: NDArray[Any], useful: int) -> Requests:
    a, b, c, d = (int(count) for count in counts)
    return Requests((a, b, c, d), int(useful))


def _runs(mask: int) -> list[int]:
    """Return the runs of 1, 2, 3 and 4 neighbouring sectors in a line's mask: 0b1011 has one of two and one of one.

    >>> _runs(0b1011), _runs(0b1111)
    ([1, 1, 0, 0], [0, 0, 0, 1])
    """
    lengths = [len(run) for run in f"{mask:04b}".split("0") if run]
    return [lengths.count(length) for length in (1, 2, 3, 4)]


_OF_MASK = np.array([_runs(mask) for mask in range(16)])  # sectors of a line -> requests by size


def _of_masks(masks: NDArray[np.uint8], starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return requests by size of parts, sorted so that the parts of one load and line are consecutive.

    `starts` marks the first part of each load and line, whose masks are joined.
    """
    if masks.size == 0:
        return np.zeros(4, np.int64)
    joined = np.bitwise_or.reduceat(masks, np.flatnonzero(starts))
    found: NDArray[np.int64] = np.bincount(joined, minlength=16) @ _OF_MASK
    return found


def _unit(itemsize: int) -> int:
    """Return the bytes of the largest request of one load: 32 entries, or a line."""
    return min(LANES * itemsize, LINE)


def _changes(*keys: Integers) -> NDArray[np.bool_]:
    """Return the positions, as bools, where any key differs from the one before it; the first is True."""
    changed = np.ones(keys[0].size, np.bool_)
    changed[1:] = False
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    return changed


def of_spans(begin: Integers, end: Integers, group: Integers, itemsize: int) -> Requests:
    """Return requests for spans of entries, in slices of 32 entries from multiples of 32, each read once a group.

    Parameters
    ----------
    begin, end : ndarray of int64
        Spans begin .. end-1, none of them empty; ascending and disjoint within a group.
    group : ndarray of int64
        Number of the warp that streams the span: spans of one group are consecutive and share requests.
    itemsize : int
        Bytes of an entry: 1, 2, 4 or 8.

    Examples
    --------
    >>> two = np.array([0, 32]), np.array([16, 64])
    >>> of_spans(*two, np.array([0, 0]), 4)
    Requests(by_size=(0, 1, 0, 1), useful_bytes=192)
    """
    per = _unit(itemsize) // itemsize  # entries of the largest request
    first, last = begin // per, (end - 1) // per
    whole = np.maximum(end // per - -(-begin // per), 0)  # requests that a span fills alone
    counts = np.zeros(4, np.int64)
    counts[_unit(itemsize) // 32 - 1] = whole.sum()
    # The rest of each span: a head and a tail, each a part of one request, which a neighbour may share.
    at = np.stack([first, last], 1)
    low = np.stack([begin - first * per, np.zeros_like(begin)], 1)
    high = np.stack([np.minimum(end - first * per, per), end - last * per], 1)
    partly = (high - low) < per
    partly[:, 1] &= last > first
    at, low, high = at[partly], low[partly], high[partly]
    lowest, highest = low * itemsize // 32, (high * itemsize - 1) // 32
    masks = ((2 << highest) - (1 << lowest)).astype(np.uint8)
    counts += _of_masks(masks, _changes(at, np.repeat(group, partly.sum(1))))
    return _made(counts, itemsize * (end - begin).sum())


def of_entries(at: Integers, group: Integers, itemsize: int) -> Requests:
    """Return requests for single entries, ascending within a group, such as values that lanes load after the ids.

    >>> of_entries(np.array([0, 1, 40, 63]), np.zeros(4, np.int64), 4)
    Requests(by_size=(3, 0, 0, 0), useful_bytes=16)
    """
    sector = at * itemsize // 32
    masks = (1 << (sector % 4)).astype(np.uint8)
    return _made(_of_masks(masks, _changes(at * itemsize // _unit(itemsize), group)), itemsize * at.size)


def positions(begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Return the entries of spans, one after another, and the number of each entry's span.

    >>> positions(np.array([3, 9]), np.array([5, 10]))
    (array([3, 4, 9]), array([0, 0, 1]))
    """
    lengths = end - begin
    span = np.repeat(np.arange(begin.size), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(span.size) - before[span] + begin[span], span
