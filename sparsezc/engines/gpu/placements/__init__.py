"""The reading of a matrix's entries by products, in each placement.

A launch takes a launch part, :class:`Part`: some rows, and the addresses of their entries. In most placements one
launch takes all rows and reads the entries in place. Placements whose record (memory/placement.py) names a file in
``serves`` divide a product into launch parts:

* ``hybrid.py``: some *segments* of the entries stay resident (``segment_cache.py``); the rest is read in place, copied
  in ranges (``copy_ranges.py``) or gathered by the host (``gather_rows.py``), whichever costs the least
  (``transfer_cost.py``);
* ``baselines/``: published systems, for comparison, as thin files over the same mechanisms.

Each yields launch parts for the wanted rows. Kernels depend on placements in no other way, and algorithms in none. The
arrays are in host memory that kernels can read, so operations without launch parts read that memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from sparsezc.engines.gpu.runtime import groups
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import Buffer
from sparsezc.memory.placement import RECORDS

__all__ = [
    "Entries", "Part", "SegmentTables", "Wanted", "in_device_memory", "listed", "moves", "part", "parts", "serves",
    "whole",
]  # fmt: skip


class Wanted(NamedTuple):
    """The rows that a product reads, as presence words XOR `flip`; None for all rows.

    Attributes
    ----------
    entries : float or None
        The number of entries that the product reads of these rows, if counted or estimated.
    most : int
        The most entries that the product is expected to read of a row, as it may exit early.
    """

    words: Any
    flip: int = 0
    entries: float | None = None
    most: int = 2**62


class Entries(NamedTuple):
    """The arrays that a product reads: ids (or packed values), and values; None for one that is not read."""

    ids: Buffer | None
    values: Buffer | None

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(buffer for buffer in self if buffer is not None)

    @property
    def key(self) -> tuple[bool, bool]:
        """Return whether ids, and whether values, are not read: a key for caches."""
        return self.ids is None, self.values is None

    @property
    def nbytes(self) -> int:
        """Return the bytes of an entry that are read."""
        return sum(buffer.dtype.itemsize for buffer in self.buffers)


_NOTHING = Entries(None, None)


class Part(NamedTuple):
    """A launch part: ``arguments`` are the first of a kernel that is specialised by ``partial`` and ``bits``.

    Attributes
    ----------
    partial : bool
        The launch takes only some of the rows.
    bits : int
        The number of bits of an entry's position in its segment; 0 if there are no segments.
    near : bool
        The entries are in device memory, permanently or as a copy.
    nwords, nchunks : int
        The numbers of presence words of rows and of row chunks that the launch takes.
    """

    arguments: groups.RowsPart
    partial: bool
    bits: int
    near: bool
    nwords: int
    nchunks: int


class SegmentTables(NamedTuple):
    """The address of each segment's ids and values, u64 on the device; a segment has 2**`bits` entries.

    Null if the array has one address; `bits` 0 if there are no segments.
    """

    ids: Any = groups.NULL
    values: Any = groups.NULL
    bits: int = 0


_NO_SEGMENTS = SegmentTables()


def part(
    rows: Rows,
    pointers: tuple[Any, Any],
    *,
    which: tuple[int, int] | None = None,
    chunks: tuple[int, int] | None = None,
    indptr: Any = None,
    segments: SegmentTables = _NO_SEGMENTS,
    subset: Any = None,
    near: bool = False,
) -> Part:
    """Return a launch part of some rows.

    Parameters
    ----------
    pointers : (ids, values)
        The addresses that entry 0, as `indptr` counts, has or would have; numpy.uint64.
    which, chunks : (first, end), optional
        The range of rows, of which long ones are skipped, and the range of row chunks; by default all.
    indptr : array of int64 on the device, optional
        Offsets that replace the rows' own.
    segments : SegmentTables, optional
    subset : presence words of rows, optional
        The launch takes only these rows.
    """
    first, end = which or (0, rows.nrows)
    if end == rows.nrows:  # the part with the last row also writes the rest of that row's presence word
        end = -(-end // 32) * 32
    first_chunk, end_chunk = chunks or (0, rows.chunks.count)
    offsets = rows.indptr if indptr is None else indptr
    words = groups.NULL if subset is None else subset
    # NumPy integers, as parts are kept and Python integers would be converted at each launch.
    bounds = np.uint64(first), np.uint64(end), np.uint64(first_chunk), np.uint64(end_chunk)
    arguments = groups.RowsPart(
        np.uint64(rows.nrows), offsets, *pointers, segments.ids, segments.values, words, *bounds, *rows.chunks.arguments
    )
    partial = which is not None or chunks is not None or subset is not None
    return Part(arguments, partial, segments.bits, near, -(-end // 32) - first // 32, end_chunk - first_chunk)


def serves(rows: Rows) -> bool:
    """Return whether the placement divides products into launch parts; recorded launches always read in place."""
    own = RECORDS[rows.indices.placement].serves is not None
    return own and not rows.compressed and ENGINE_STATE.pool is None and rows.nvals > 0


def moves(rows: Rows) -> bool:
    """Return whether a product copies whole rows, so that early exit saves nothing."""
    return RECORDS[rows.indices.placement].buffers is not None


def in_device_memory(rows: Rows) -> bool:
    """Return whether the entries are in device memory, or migrate to it when they are read."""
    return RECORDS[rows.indices.placement].near


class Wholes(dict[bool, Part]):
    """Layout: the launch parts of all rows, with ids and values apart (key True) or packed (key False)."""

    nbytes = 0  # parts hold no device memory beside the rows

    def drop(self) -> None:
        self.clear()


def whole(rows: Rows, words: Buffer | None) -> Part:
    """Return the launch part of all rows, read in place; `words`: packed values to read instead of the ids."""
    wholes = rows.layouts[Wholes]
    made = wholes.get(words is None)
    if made is None:
        _, _, ids, values = rows.arguments
        pointers = ids if words is None else words.pointer, values
        made = wholes[words is None] = part(rows, pointers, near=in_device_memory(rows))
    return made


def parts(rows: Rows, words: Buffer | None, wanted: Wanted, *, ids: bool, values: bool) -> Iterable[Part]:
    """Return the launch parts of a product, in order; the memory of one is valid until the next is requested.

    `ids`, `values`: whether the product reads them; `words`: packed values to read instead.
    """
    if not serves(rows):
        return (whole(rows, words),)
    own = rows.values if values and not rows.iso and words is None else None
    entries = Entries(rows.indices if ids and words is None else words, own)
    if entries == _NOTHING:
        return (whole(rows, words),)
    serves_it: Any = RECORDS[rows.indices.placement].serves
    made: Iterable[Part] = (serves_it if callable(serves_it) else _module(serves_it).parts)(rows, entries, wanted)
    return made


def listed(rows: Rows, wanted: Wanted, *, ids: bool, values: bool) -> Iterable[Part]:
    """Return the launch parts of a product that takes the wanted rows only; otherwise as :func:`parts`."""
    if wanted.words is None or serves(rows):
        return parts(rows, None, wanted, ids=ids, values=values)
    _, _, first, second = rows.arguments
    return (part(rows, (first, second), subset=wanted.words, near=in_device_memory(rows)),)


@cache
def _module(name: str) -> Any:
    """Return the module that a placement's record names, such as ``baselines.stream``."""
    return import_module(f"{__name__}.{name}")
