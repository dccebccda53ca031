"""How products read the entries of a matrix, by placement.

Kernels take a :class:`Part`: some rows, and the addresses of their entries. In most placements one launch takes all
rows and reads the entries in place. Placements whose record (memory/placement.py) names a file in ``serves`` have
their own way:

* ``hybrid.py``: some *segments* of the entries stay resident (``segment_cache.py``); the rest is read in place, copied
  in ranges (``copy_ranges.py``) or gathered (``gather_rows.py``), whichever is the cheapest (``transfer_cost.py``);
* ``baselines/``: published systems, for comparison, as thin files over the same mechanisms.

Each yields parts for the wanted rows; kernels know nothing else of placements, and algorithms nothing at all. Their
arrays are in host memory that kernels can read, so operations without parts read that memory.
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
    "Entries", "Part", "SegmentTables", "Wanted", "lie_near", "listed", "moves", "part", "parts", "serves", "whole",
]  # fmt: skip


class Wanted(NamedTuple):
    """The rows that a product reads: the bits of `words` (each flipped by `flip`); None: all rows.

    Attributes
    ----------
    entries : float or None
        The number of entries that it reads of them, if counted or estimated.
    most : int
        The most entries that it is expected to read of a row, as it may stop early.
    """

    words: Any
    flip: int = 0
    entries: float | None = None
    most: int = 2**62


class Entries(NamedTuple):
    """The arrays that a product reads: ids (or ids and values in one word), and values. None: not read."""

    ids: Buffer | None
    values: Buffer | None

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(buffer for buffer in self if buffer is not None)

    @property
    def key(self) -> tuple[bool, bool]:
        """Return which of the arrays are read."""
        return self.ids is None, self.values is None

    @property
    def nbytes(self) -> int:
        """Return the bytes of one entry."""
        return sum(buffer.dtype.itemsize for buffer in self.buffers)


_NOTHING = Entries(None, None)


class Part(NamedTuple):
    """The input of one launch: ``arguments`` are the kernel's first; it is specialised for ``partial`` and ``bits``.

    Attributes
    ----------
    partial : bool
        It takes only some of the rows.
    bits : int
        The bits of an entry's position in its segment; 0: no segments.
    near : bool
        The entries are in device memory, permanently or as a copy.
    nwords, nchunks : int
        The presence words of rows, and the chunks of long rows, that it takes.
    """

    arguments: groups.RowsPart
    partial: bool
    bits: int
    near: bool
    nwords: int
    nchunks: int


class SegmentTables(NamedTuple):
    """Addresses by segment, u64 on the device: of ids and of values, in segments of 2**`bits` entries.

    Null where one address serves all; `bits` 0: no segments.
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
    """Return a part of some rows.

    Parameters
    ----------
    pointers : (ids, values)
        Addresses of entry 0, counted as `indptr` counts; numpy.uint64.
    which, chunks : (first, end), optional
        The range of rows that are not long, and the range of chunks of long rows; all if left out.
    indptr : array of int64 on the device, optional
        Other offsets than the rows' own.
    segments : SegmentTables, optional
    subset : presence words of rows, optional
        Only these rows.
    """
    first, end = which or (0, rows.nrows)
    if end == rows.nrows:  # the part with the last row writes the rest of its presence word
        end = -(-end // 32) * 32
    first_chunk, end_chunk = chunks or (0, rows.chunks.count)
    offsets = rows.indptr if indptr is None else indptr
    words = groups.NULL if subset is None else subset
    # Parts are kept, and a device would convert Python's integers at each launch.
    bounds = np.uint64(first), np.uint64(end), np.uint64(first_chunk), np.uint64(end_chunk)
    arguments = groups.RowsPart(
        np.uint64(rows.nrows), offsets, *pointers, segments.ids, segments.values, words, *bounds, *rows.chunks.arguments
    )
    partial = which is not None or chunks is not None or subset is not None
    return Part(arguments, partial, segments.bits, near, -(-end // 32) - first // 32, end_chunk - first_chunk)


def serves(rows: Rows) -> bool:
    """Return whether the placement supplies the parts of products now; recorded launches read in place."""
    own = RECORDS[rows.indices.placement].serves is not None
    return own and not rows.compressed and ENGINE_STATE.pool is None and rows.nvals > 0


def moves(rows: Rows) -> bool:
    """Return whether a product copies whole rows, so that early exit saves nothing."""
    return RECORDS[rows.indices.placement].buffers is not None


def lie_near(rows: Rows) -> bool:
    """Return whether the entries are in device memory, or migrate there when they are read."""
    return RECORDS[rows.indices.placement].near


class Wholes(dict[bool, Part]):
    """The parts of one launch over all rows, with separate ids and values (True) or in one word (False)."""

    nbytes = 0  # they hold no memory beside the rows

    def drop(self) -> None:
        self.clear()


def whole(rows: Rows, words: Buffer | None) -> Part:
    """Return the part of all rows, read in place; `words`: ids and values in one word, instead of the ids."""
    wholes = rows.layouts[Wholes]
    made = wholes.get(words is None)
    if made is None:
        _, _, ids, values = rows.arguments
        pointers = ids if words is None else words.pointer, values
        made = wholes[words is None] = part(rows, pointers, near=lie_near(rows))
    return made


def parts(rows: Rows, words: Buffer | None, wanted: Wanted, *, ids: bool, values: bool) -> Iterable[Part]:
    """Return the launches that serve a product, in order: a part's memory is valid until the next part is requested.

    `ids`, `values`: whether the product reads them; `words`: ids and values in one word.
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
    """Return the launches that serve a product which reads the wanted rows alone, as :func:`parts` does."""
    if wanted.words is None or serves(rows):
        return parts(rows, None, wanted, ids=ids, values=values)
    _, _, first, second = rows.arguments
    return (part(rows, (first, second), subset=wanted.words, near=lie_near(rows)),)


@cache
def _module(name: str) -> Any:
    """Return a file of this folder by the name that records have for it, as ``baselines.stream``."""
    return import_module(f"{__name__}.{name}")
