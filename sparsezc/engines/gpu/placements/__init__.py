"""How a product gets at the entries of a matrix, by the placement that they lie in.

Kernels take a :class:`Part`: some rows, and where their entries lie. In most placements one launch takes all rows and reads
the entries where they are (``device``, ``zerocopy``, ``mapped``, ``uvm``). The others serve a product in their own way:

* ``stream.py``: ranges of rows, one after another, through two buffers on the card;
* ``gather.py``: the rows that the product wants, put together by the host's threads and copied;
* ``resident.py``: some *segments* of the entries stay on the card (``cached``, ``hybrid``).

Each gives parts for what is wanted; the kernels know nothing else of placements, and algorithms nothing at all. Their
arrays lie in host memory that kernels can read, so every operation that has no use for parts reads that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sparsezc.engines.gpu import launch
from sparsezc.engines.gpu.stores import Rows
from sparsezc.memory import Buffer

__all__ = ["Entries", "Part", "Wanted", "moves", "parts"]

_MOVED = {"stream": "stream", "gather": "gather", "cached": "resident", "hybrid": "resident"}


@dataclass(frozen=True)
class Wanted:
    """The rows that a product asks for: the bits of `words` (each flipped by `flip`); None: all rows.

    Attributes
    ----------
    entries : float, optional
        How many entries it will read of them, where somebody has counted or estimated.
    most : int
        It reads at most so many of a row, as it may stop early; mind that this is an estimate.
    """

    words: Any
    flip: int = 0
    entries: float | None = None
    most: int = 2**62


@dataclass(frozen=True)
class Entries:
    """The arrays that a product reads: ids (or ids and values in one word), and values. None: it does not read them."""

    ids: Buffer | None
    values: Buffer | None

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(buffer for buffer in (self.ids, self.values) if buffer is not None)

    @property
    def nbytes(self) -> int:
        """Bytes of one entry."""
        return sum(buffer.dtype.itemsize for buffer in self.buffers)


@dataclass(frozen=True)
class Part:
    """What one launch reads.

    Attributes
    ----------
    rows, chunks : (first, end)
        Of the rows that are not long; of the chunks of those that are.
    pointers : (ids, values)
        Addresses of entry 0, by `indptr`; numpy.uint64.
    indptr : array of int64 on the device
    segments : (ids, values)
        Addresses by segment, u64 arrays on the device; 0 where one address serves all.
    bits : int
        Of an entry's position in its segment; 0: no segments.
    subset : presence words of rows, or 0
        Only these.
    """

    rows: tuple[int, int]
    chunks: tuple[int, int]
    pointers: tuple[Any, Any]
    indptr: Any
    segments: tuple[Any, Any] = (0, 0)
    bits: int = 0
    subset: Any = 0
    partial: bool = True

    def flags(self) -> tuple[bool, int]:
        """What the kernel is specialised for: PARTIAL and SEGMENT_BITS."""
        return self.partial, self.bits

    def arguments(self, rows: Rows) -> tuple[Any, ...]:
        """What kernels take of it."""
        return (
            rows.arguments[0], self.indptr, *self.pointers, *self.segments, self.subset,
            *map(np.uint64, (*self.rows, *self.chunks)), *rows.chunks.arguments,
        )  # fmt: skip


def moves(rows: Rows) -> bool:
    """Whether a product moves the rows that it wants as wholes: then nothing is won by leaving a row early."""
    return rows.indices.placement in ("stream", "gather")


def whole(rows: Rows, entries: Entries) -> Part:
    """All rows, where they lie."""
    ids, values = entries.ids or rows.indices, entries.values or rows.values
    pointers = np.uint64(ids.pointer), np.uint64(values.pointer)
    return Part((0, rows.nrows), (0, rows.chunks.count), pointers, rows.indptr, partial=False)


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterable[Part]:
    """The launches that serve a product, one after another: a part's memory is good until the next one is asked for.

    What is recorded, to run unattended, reads the entries where they lie.
    """
    module = _MOVED.get(rows.indices.placement)
    if module is None or not entries.buffers or not launch.is_attended():
        return (whole(rows, entries),)
    serve: Any = import_module(f"sparsezc.engines.gpu.placements.{module}")
    made: Iterable[Part] = serve.parts(rows, entries, wanted)
    return made
