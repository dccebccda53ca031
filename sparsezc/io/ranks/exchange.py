"""Edges sent to the ranks that own their rows, and sorted there on disk; no rank has more than a few MiB in memory.

Each rank sends every other at most a fixed number of edges a round, so that none receives more than it has memory for,
whatever the order of the file is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build import edge_list
from sparsezc.io.build.edge_list import Chunk
from sparsezc.io.build.external_sort import Run, Sorter
from sparsezc.io.ranks.agreement import Communicator, together
from sparsezc.io.ranks.edge_spool import EdgeSpool

_ROUND = 1 << 21  # edges that a rank receives in a round at most, besides its own: 32 MiB with values of 8 bytes
_ORDERED = ("first", "second", "any")  # merges of duplicates that depend on the file's order


class Sorters:
    """This rank's sorters of what it receives: one, or one a sender where the order of edges counts."""

    def __init__(self, folder: Path, space: int, size: int, dup_op: str, *, valued: bool) -> None:
        self._each = size if dup_op in _ORDERED else 1
        self._made: list[Sorter] = []
        for number in range(self._each):
            place = folder / str(number)
            place.mkdir(parents=True)
            self._made.append(Sorter(place, space // self._each, valued=valued, mirror=False, dup_op=dup_op))

    def add(self, sender: int, chunk: Chunk) -> None:
        """Add the edges that a rank sent."""
        if chunk[0].size:
            self._made[sender % self._each].add(*chunk)

    def finish(self) -> list[Run]:
        """Return the sorted runs, in the file's order."""
        return [run for sorter in self._made for run in sorter.finish()]


def send(
    spool: EdgeSpool,
    bounds: NDArray[np.int64],
    kind: np.dtype[Any] | None,
    comm: Communicator,
    sorters: Sorters,
    *,
    mirrored: bool,
) -> None:
    """Send all edges, or all reversed edges off the diagonal, to the owners of their rows.

    Parameters
    ----------
    bounds : ndarray of int64, shape (size + 1,)
    kind : dtype or None
        The type of values that holds those of all ranks.
    """
    ids: Any = np.uint32 if comm.numbers(spool.most)[:, 0].max() < 2**32 else np.int64
    types = [np.dtype(ids), np.dtype(ids)] + ([] if kind is None else [kind])
    sender = _Sender(_chunks(spool, kind, mirrored=mirrored), bounds, types, comm)
    while comm.numbers(together(comm, sender.fill))[:, 0].any():
        columns, received = sender.exchange()
        together(comm, partial(sender.keep, sorters, columns, received))


class _Sender:
    """A chunk of edges at a time, divided by the ranks that wait for them."""

    def __init__(
        self, source: Iterator[Chunk], bounds: NDArray[np.int64], types: list[np.dtype[Any]], comm: Communicator
    ) -> None:
        self._source, self._bounds, self._types, self._comm = source, bounds, types, comm
        self._most = max(_ROUND // comm.size, 1)
        self._waiting: list[list[NDArray[Any]]] = [[np.empty(0, kind) for kind in types] for _ in range(comm.size)]

    def fill(self) -> bool:
        """Take the next chunk if all edges of the one before are sent; return whether there are edges to send."""
        if any(part[0].size for part in self._waiting):
            return True
        chunk = next(self._source, None)
        if chunk is None:
            return False
        rows, cols, values = chunk
        columns = (rows, cols) if values is None else (rows, cols, values)
        owner = np.searchsorted(self._bounds, rows, side="right") - 1
        order = np.argsort(owner, kind="stable")  # of one owner in the order in which they are
        cuts = np.searchsorted(owner[order], np.arange(self._comm.size + 1))
        for rank in range(self._comm.size):
            chosen = order[cuts[rank] : cuts[rank + 1]]
            self._waiting[rank] = [
                part[chosen].astype(kind, copy=False) for part, kind in zip(columns, self._types, strict=True)
            ]
        return True

    def exchange(self) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
        """Send each other rank as many edges as a round may have; return what comes, and how many of each rank."""
        comm = self._comm
        sent = np.array([min(part[0].size, self._most) for part in self._waiting], np.int64)
        sent[comm.rank] = 0
        received = comm.numbers(*sent.tolist())[:, comm.rank].copy()
        columns = []
        for number in range(len(self._types)):
            given = [part[number][:count] for part, count in zip(self._waiting, sent, strict=True)]
            columns.append(comm.scatter(np.concatenate(given), sent, received))
        for rank, count in enumerate(sent):
            if rank != comm.rank:
                self._waiting[rank] = [column[count:] for column in self._waiting[rank]]
        return columns, received

    def keep(self, sorters: Sorters, columns: list[NDArray[Any]], received: NDArray[np.int64]) -> None:
        """Add the edges of a round to the sorters, by senders; this rank's own among them."""
        ends = np.cumsum(received)
        for sender, (start, stop) in enumerate(zip(ends - received, ends, strict=True)):
            part = [column[start:stop].copy() for column in columns]
            if sender == self._comm.rank:
                part, self._waiting[sender] = self._waiting[sender], part
            sorters.add(sender, (part[0], part[1], part[2] if len(part) > 2 else None))


def _chunks(spool: EdgeSpool, kind: np.dtype[Any] | None, *, mirrored: bool) -> Iterator[Chunk]:
    for rows, cols, values in spool.chunks():
        values = None if values is None or kind is None else edge_list.retyped(values, kind)
        if mirrored:
            off = rows != cols
            rows, cols, values = cols[off], rows[off], None if values is None else values[off]
        yield rows, cols, values
