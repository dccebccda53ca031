"""The choice between push and pull, by the bytes that each would read.

If both orientations of a matrix exist, w = A v can be computed by a push from v's entries along the columns of A, or by
a pull of each wanted entry of w along its row. Both read over the same link, so the one that reads fewer bytes is
chosen (Beamer, Asanovic, Patterson, SC 2012, doi:10.1109/SC.2012.50, with bytes instead of their tuned edge counts).
"""

from __future__ import annotations

from dataclasses import dataclass

_TRIFLE = 2048  # a push of less than this fraction of all entries is chosen without counting a pull's reads
_SLICE = 32  # entries that a warp reads at once, the least that it reads of a row


@dataclass(frozen=True)
class Work:
    """The numbers of rows and entries of the frontier, and of the rows that the mask allows."""

    frontier_rows: int
    frontier_entries: int
    wanted_rows: int
    wanted_first: int  # the sum of min(entries, 32): entries in the rows' first slices
    wanted_entries: int
    nvals: int  # entries of the matrix


def is_small(frontier_rows: int, frontier_entries: int, nvals: int) -> bool:
    """Return whether a push costs less than counting the reads of a pull would.

    >>> is_small(1, 40, 10**6), is_small(1, 10**5, 10**6)
    (True, False)
    """
    return (frontier_rows + frontier_entries) * _TRIFLE < nvals


def pull_entries(work: Work, *, stops: bool, heads: int = 0) -> float:
    """Estimate the entries that a pull reads: all of the wanted rows or, with early exit, up to the first hit.

    The probability that an entry hits the frontier is the frontier's share of all edges. A row is read in slices: the
    expected number until a hit, at least one and at most all. With `heads` cached ids of each row, a row is read only
    if none of them hits.

    >>> pull_entries(Work(10, 500, 100, 2000, 3000, 1000), stops=False)
    3000
    >>> pull_entries(Work(10, 500, 100, 2000, 3000, 1000), stops=True)
    2000.0
    >>> pull_entries(Work(1, 10, 100, 2000, 6400, 640), stops=True)
    4000.0
    >>> pull_entries(Work(10, 500, 100, 2000, 3000, 1000), stops=True, heads=8)
    7.8125
    """
    if not stops or work.frontier_entries == 0:
        return work.wanted_entries
    hit = work.frontier_entries / work.nvals
    missed = (1 - min(hit, 1)) ** heads
    return missed * min(work.wanted_entries, work.wanted_first * max(1 / hit / _SLICE, 1))


def prefers_pull(
    work: Work, *, stops: bool, entry_bytes: float, offset_bytes: float, atomic_bytes: float = 0.0, heads: int = 0
) -> bool:
    """Return whether a pull costs fewer bytes than a push.

    Parameters
    ----------
    stops : bool
        The monoid has a terminal value that products reach.
    entry_bytes : float
        The bytes of an entry: its id, and its value if the multiply reads that.
    offset_bytes : float
        The cost of looking up a row's offsets, in bytes over the link.
    atomic_bytes : float
        The cost of an atomic of a push, less that of a pull's read of the vector, in bytes over the link.
    heads : int
        The number of ids of each row that a pull reads first from device memory (head_cache.py).

    Examples
    --------
    >>> every = Work(50, 1000, 100, 900, 1000, 1000)  # the frontier has all edges, and half of the rows
    >>> prefers_pull(every, stops=False, entry_bytes=4, offset_bytes=1.0)
    False
    >>> prefers_pull(every, stops=False, entry_bytes=4, offset_bytes=1.0, atomic_bytes=0.1)
    True
    """
    push = work.frontier_entries * (entry_bytes + atomic_bytes) + work.frontier_rows * offset_bytes
    pull = pull_entries(work, stops=stops, heads=heads) * entry_bytes + work.wanted_rows * offset_bytes
    return pull < push
