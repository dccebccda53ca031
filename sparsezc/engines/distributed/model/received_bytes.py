"""The bytes that a rank receives for a product of a matrix and a vector, and the forms in which vectors travel.

All ranks know the numbers by which a form is chosen; parts/vector_exchange.py sends in the forms that are chosen here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DENSE", "FEW", "WORD", "as_positions", "entries_at", "folded", "gathered", "id_bytes", "pads"]

WORD = 32  # positions of a presence word, of 4 bytes
FEW = 62  # integers in which a rank may send results: with their count they fit in the ranks' mailbox
DENSE = 16  # positions an entry: in a denser vector entries are not counted one by one

Ints = NDArray[np.int64]


def id_bytes(n: int) -> int:
    """Return the bytes of a position below n."""
    return 4 if n < 1 << 32 else 8


def as_positions(total: int, n: int, value: int, packing: int) -> bool:
    """Return whether `total` entries at n positions travel as positions and values, given the bytes of a value.

    Otherwise they travel as presence words and a value for each position. Positions must save `packing` bytes.
    """
    return total * (id_bytes(n) + value) + packing < n // 8 + n * value


def pads(most: Ints, longest: int, n: int, value: int, packing: int) -> bool:
    """Return whether messages padded to the most positions that a rank may send take fewer bytes than words."""
    padded = int(np.minimum(most, longest).sum()) + most.size
    return padded * (id_bytes(n) + value) + packing < longest * most.size * value + n // 8


def gathered(counts: Ints, sizes: Ints, rank: int, value: int, packing: int) -> int:
    """Return the bytes that a rank receives of a vector; rank r has ``sizes[r]`` positions, ``counts[r]`` entries."""
    n, total = int(sizes.sum()), int(counts.sum())
    others = np.arange(sizes.size) != rank
    if not total:
        return 0
    if total == n:
        return value * int(counts[others].sum())
    if as_positions(total, n, value, packing):
        return (id_bytes(n) + value) * int(counts[others].sum())
    return int((4 * -(-sizes // WORD) + value * sizes)[others].sum())


def entries_at(at: Ints, degrees: Ints, bounds: Ints, *, on_device: bool) -> Ints:
    """Return how many entries each rank counts in its rows at some positions; processors may count an upper bound.

    Parameters
    ----------
    at : ndarray of int64
        Ascending.
    degrees : ndarray of int64, shape (n,)
        Entries of each row.
    bounds : ndarray of int64, shape (ranks + 1,)
    """
    made = np.zeros(bounds.size - 1, np.int64)
    cuts = np.searchsorted(at, bounds)
    for rank in range(made.size):
        here, mine = at[cuts[rank] : cuts[rank + 1]], degrees[bounds[rank] : bounds[rank + 1]]
        longest = int(mine.max(initial=0))
        if on_device or not here.size:
            made[rank] = degrees[here].sum()
        elif here.size * DENSE > mine.size:
            made[rank] = mine.sum()
        else:
            made[rank] = here.size * longest if here.size * longest <= FEW else degrees[here].sum()
    return made


def folded(most: Ints, sizes: Ints, rank: int, value: int, packing: int, *, tells: bool) -> int:
    """Return the bytes that the owner of ``sizes[rank]`` positions receives; rank r sends at most ``most[r]`` results.

    Parameters
    ----------
    value : int
        Bytes of a value; 0: all are equal, and none travels.
    tells : bool
        Ranks send few results among numbers, whose bytes are not counted.
    """
    n, longest, here = int(sizes.sum()), int(sizes.max()), int(sizes[rank])
    if tells and int(most.max()) * (1 + -(-value // 8)) <= FEW:
        return 0
    if pads(most, longest, n, value, packing):
        lengths = np.delete(np.minimum(most, longest), rank)
        return int((id_bytes(n) * (lengths + 1) + value * lengths).sum())
    return (sizes.size - 1) * (4 * -(-here // WORD) + value * here)
