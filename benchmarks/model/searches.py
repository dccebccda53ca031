"""The reads of one step of many searches: multi_source_bfs_push.cu and multi_source_bfs_pull.cu in NumPy.

Searches are divided between both kernels as in multi_source_bfs.py.

The searches that push read the rows of all vertices in their frontiers. The others pull: a row that some of them want
is looked up in the row heads, then read up to the end of the slice in which the last of them finds a neighbour.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.model.head_cache import Bits, Heads
from benchmarks.model.reads import Reading, Rows, Spans, push, streamed
from benchmarks.model.requests import Integers, of_spans, positions
from sparsezc.engines.gpu.products import multi_source_bfs

Words = NDArray[np.uint64]  # shape (vertices, words): a bit for each search


def pack(bits: Bits) -> Words:
    """Pack bools of searches into words of 64 searches.

    >>> pack(np.array([[True, False, True], [False, False, False]])).tolist()
    [[5], [0]]
    """
    padded = np.zeros((bits.shape[0], -(-bits.shape[1] // 64) * 64), np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def work(rows: Rows, columns: Rows, x: Bits, wanted: Bits) -> multi_source_bfs.Work:
    """Return the counts of multi_source_bfs_work.cu."""
    out, into = np.diff(columns.indptr), np.diff(rows.indptr)[wanted.any(1)]
    vertex, search = np.nonzero(x)
    each = np.bincount(search, out[vertex], x.shape[1]).astype(np.int64)
    first = int(np.minimum(into, 32).sum())
    return multi_source_bfs.Work(int(out[x.any(1)].sum()), into.size, first, int(into.sum()), each, columns.nvals)


def step(
    rows: Rows | None, columns: Rows | None, x: Bits, wanted: Bits, *, slots: int, placement: str, direction: str
) -> tuple[str, Reading]:
    """Return the direction of a step, and its reads.

    Parameters
    ----------
    rows, columns : Rows, optional
        The matrices that pulls and pushes read: at least one.
    x, wanted : ndarray of bool, shape (vertices, searches)
        The frontiers, and the results that the mask allows.
    slots : int
        Ids of each row that a pull reads first, in the row-head cache.
    direction : {"choose", "push", "pull"}
        With "choose" the GPU engine's choice, search by search.
    """
    there = x.any(0)
    if rows is None or (columns is not None and direction == "push"):
        pushing, pulling = there, ~there & there
    elif columns is None or direction == "pull":
        pushing, pulling = ~there & there, there
    else:
        pushing, pulling = multi_source_bfs.divide(
            work(rows, columns, x, wanted), multi_source_bfs.push_cost(placement), slots
        )
    ways, reading = [], Reading()
    if columns is not None and pushing.any():
        ways, reading = ["push"], push(columns, x[:, pushing].any(1), None, reads_values=False)
    if rows is not None and pulling.any():
        near = rows.heads(slots, columns) if slots else None
        ways, reading = [*ways, "pull"], reading.plus(pull(rows, pack(x & pulling), pack(wanted & pulling), near))
    return " and ".join(ways) or "none", reading


def pull(rows: Rows, x: Words, wanted: Words, heads: Heads | None) -> Reading:
    """Return the reads of multi_source_bfs_pull.cu: each wanted row until all its searches have found a neighbour."""

    def at_hand(which: Integers) -> Words:
        """Return the searches, as words, that find a neighbour in the heads of rows."""
        found = np.zeros((which.size, x.shape[1]), np.uint64)
        for ids in heads.ids[which].T if heads is not None else ():
            found |= np.where((ids < rows.ncols)[:, None], x[np.minimum(ids, rows.ncols - 1)], np.uint64(0))
        return found & wanted[which]

    def answered(block: slice, lengths: Integers) -> Bits:
        which = np.arange(block.start, block.stop)
        done: Bits = (at_hand(which) == wanted[which]).all(1)
        return done if heads is None else done | (lengths <= heads.k)

    def of(spans: Spans) -> Reading:
        which = np.searchsorted(rows.indptr, spans.begin, side="right") - 1
        found, end = at_hand(which), spans.begin.copy()
        going = np.arange(which.size)
        while going.size:  # reads one slice of each unfinished row
            stop = np.minimum((end[going] // 32 + 1) * 32, spans.end[going])
            at, _ = positions(end[going], stop)
            before = np.cumsum(stop - end[going]) - (stop - end[going])
            found[going] |= np.bitwise_or.reduceat(x[rows.indices[at]], before) & wanted[which[going]]
            end[going] = stop
            going = going[(stop < spans.end[going]) & (found[going] != wanted[which[going]]).any(1)]
        return Reading(of_spans(spans.begin, end, spans.warp, rows.id_bytes))

    return streamed(rows, wanted.any(1), of, answered)
