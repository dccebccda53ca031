"""Memory and times of each placement from sizes alone, for ``sparsezc plan`` and ``sparsezc info --placements``.

Bytes are those of :func:`sparsezc.memory.budget.needs`, which placing a matrix asks, too. Times are rates times bytes:

    a pass in place     = ids / link
    a pass in `hybrid`  = from max((ids - most) / link, edges * d0) to (ids - fewest) / link + resident edges * d1
    a search            = a share of a pass in place

with d0 to d1 seconds an edge in device memory. The most bytes that can be resident are those that the vectors leave,
the fewest those that the row heads leave of them. All rates below are of one NVIDIA H200 on PCIe 5 x16, in the
published results that `SOURCES` names: of two graphs at least, so each is a range.
"""

from __future__ import annotations

from typing import NamedTuple

from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.placement import FITS, RECORDS, Placement

__all__ = ["LINK", "SOURCES", "Range", "Sizes", "Times", "heads", "needs", "predicted", "searches_at_once", "together"]

Range = tuple[float, float]

LINK = 49.3e9  # bytes a second that kernels read of host memory: PageRank of 150 GiB of ids, 0.92 of a copy's rate
_COPY = 1.06  # the rate of copies through two buffers over the link's: kron:24 and urand:24
_NEAR_PASS = (5.3e-12, 24e-12)  # s an edge of a PageRank iteration in device memory: kron:24, 115 M vertices
_NEAR_SEARCH = (1.6e-12, 2.1e-12)  # s an edge of a search there: the same
# A search, as shares of a pass in place over all ids: 150 GiB, kron:24 and urand:24; with eight heads also 64 GiB
_SEARCH = (0.08, 0.27)
_WITH_HEADS = (0.007, 0.12)
# 64 searches at once, as shares of a pass: kron:24, urand:24
_TOGETHER, _TOGETHER_WITH_HEADS = (1.0, 2.3), (0.4, 0.86)
TOGETHER = 64
_SOURCE_BYTES = 5  # of each vertex for each search of several at once

#: The published results that rates are from, by the files' names in benchmarks/published/.
SOURCES = {
    "link, searches in place": "memory/h200-beyond_the_card.json",
    "searches with heads": "memory/h200-beyond_the_card-64.json, algorithms/h200-bfs64.json",
    "device memory": "algorithms/h200-gap.json, memory/h200-beyond_the_card-64.json",
    "passes by copies": "memory/h200-out_of_memory.json",
    "64 searches at once": "algorithms/h200-bfs64.json, algorithms/h200-bfs64-no-heads.json",
}


class Sizes(NamedTuple):
    """The sizes of a matrix.

    Attributes
    ----------
    nrows, ncols, nvals : int
    values : int
        Bytes of all values; 1 if every edge counts the same.
    most : bool
        There are so many entries at most, as of a random graph before its duplicates are dropped.
    current : str, optional
        The placement of a file that can be mapped.
    packed : (int, int), optional
        The bytes of compressed ids, and of their headers.
    """

    nrows: int
    ncols: int
    nvals: int
    values: int
    most: bool = False
    current: str | None = None
    packed: tuple[int, int] | None = None

    @property
    def ids(self) -> int:
        """Return the bytes of ids where kernels read them."""
        return self.nvals * index_dtype(self.ncols, FITS).itemsize

    @property
    def nbytes(self) -> int:
        """Return the bytes of ids and values that "auto" compares: of a file with compressed ids, of these."""
        return (self.ids if self.packed is None or self.current is None else sum(self.packed)) + self.values


class Times(NamedTuple):
    """Predicted seconds, each from the least to the most; None: not measured.

    Attributes
    ----------
    whole : (float, float)
        A pass over all ids, such as a PageRank iteration.
    weighted : (float, float)
        A pass over ids and values.
    search : (float, float)
        A breadth-first search without row heads.
    with_heads : (float, float)
        With as many heads as there is room for.
    """

    whole: Range | None = None
    weighted: Range | None = None
    search: Range | None = None
    with_heads: Range | None = None


def needs(sizes: Sizes, cards: int | None = None) -> dict[str, dict[str, int]]:
    """Return the bytes of device and host memory that a matrix and an algorithm's vectors take in each placement.

    Caches, which use free memory, are not counted; the row-head cache, which is built once it pays, has a line of its
    own, and so have compressed ids, if they are known.
    """
    vectors, values, narrow = budget.working_bytes(sizes.nrows), sizes.values, sizes.ids + sizes.values
    wide = sizes.nvals * index_dtype(sizes.ncols, "host").itemsize + values + vectors
    needed = {
        name: budget.needs(record, narrow, sizes.nrows, sizes.nvals, wide, cards) for name, record in RECORDS.items()
    }
    if sizes.packed is not None:
        body, headers = sizes.packed
        needed["device, compressed"] = vectors + headers + body + values, 0
        needed["zerocopy, compressed"] = vectors + headers, body + values
    needed["zerocopy with row heads"] = vectors + budget.head_bytes(sizes.nrows), narrow
    return {name: {"device": card, "host": host} for name, (card, host) in needed.items()}


def heads(sizes: Sizes, space: int) -> int:
    """Return the ids of each row that a row-head cache would keep, of the device memory that may be used."""
    slot = index_dtype(sizes.ncols, FITS).itemsize
    may = budget.heads_space(budget.head_bytes(sizes.nrows), max(0, space - budget.working_bytes(sizes.nrows)))
    return min(may // (slot * max(sizes.nrows, 1)), budget.MOST_HEADS)


def searches_at_once(sizes: Sizes, space: int) -> int:
    """Return the number of searches whose vectors fit beside the matrix's offsets, 64 at most."""
    left = max(0, space - budget.working_bytes(sizes.nrows) - (sizes.nbytes if _is_near(sizes, space) else 0))
    return min(TOGETHER, left // (_SOURCE_BYTES * max(sizes.nrows, 1)))


def together(sizes: Sizes, space: int, link: float) -> Range:
    """Return the seconds of 64 searches at once over the link."""
    return _times(_TOGETHER_WITH_HEADS if _all_heads(sizes, space) else _TOGETHER, sizes.ids / link)


def predicted(record: Placement, sizes: Sizes, space: int, link: float) -> Times:
    """Return the seconds in a placement, with so much device memory and such a rate of reading host memory.

    Examples
    --------
    >>> sizes = Sizes(2**28, 2**28, 40_258_023_816, 1)  # 150 GiB of ids; on a card of 140 GiB 3.27 s were measured
    >>> round(predicted(RECORDS["zerocopy"], sizes, 126 << 30, LINK).whole[0], 2)
    3.27
    """
    if not record.kernels or not sizes.nvals or (record.near and record.baseline):  # pages' migration is not predicted
        return Times()
    if record.near:
        near = _times(_NEAR_PASS, sizes.nvals)
        return Times(near, near, _times(_NEAR_SEARCH, sizes.nvals))
    in_place, every = sizes.ids / link, sizes.ids + sizes.values
    if record.file and sizes.packed is not None:  # compressed ids are read in place, and no part of them is resident
        body = sizes.packed[0]
        return Times((body / link,) * 2, ((body + sizes.values) / link,) * 2)
    if record.serves is None or record.buffers is not None:  # all that is read comes over the link
        faster = 1 if record.buffers is None else _COPY
        whole, weighted = ((nbytes / link / faster,) * 2 for nbytes in (sizes.ids, every))
    else:
        whole, weighted = (_resident(sizes, nbytes, space, link) for nbytes in (sizes.ids, every))
    if record.baseline:  # their searches differ by ten times, and `auto` never takes one
        return Times(whole, weighted)
    search, fast = _times(_SEARCH, in_place), _times(_WITH_HEADS, in_place)
    if not _all_heads(sizes, space):
        fast = (fast[0], search[1])  # between none and all of them
    return Times(whole, weighted, search, fast if heads(sizes, space) else None)


def _resident(sizes: Sizes, nbytes: int, space: int, link: float) -> Range:
    """Return the seconds of a pass that reads a part in device memory and the rest over the link."""
    left = max(0, space - budget.working_bytes(sizes.nrows))
    most, fewest = left, left - heads(sizes, space) * sizes.nrows * index_dtype(sizes.ncols, FITS).itemsize
    fast, slow = _times(_NEAR_PASS, sizes.nvals)
    return max(max(0, nbytes - most) / link, fast), max(0, nbytes - fewest) / link + slow * min(1, fewest / nbytes)


def _is_near(sizes: Sizes, space: int) -> bool:
    return RECORDS[budget.automatic(sizes.nbytes, sizes.nrows, space)].resident


def _all_heads(sizes: Sizes, space: int) -> bool:
    return heads(sizes, space) * index_dtype(sizes.ncols, FITS).itemsize >= budget.HEAD_BYTES


def _times(rates: Range, count: float) -> Range:
    return rates[0] * count, rates[1] * count
