"""The edges of a graph: whole in memory, or in chunks as readers yield them.

A format that lists edges has a function ``edge_chunks(path)``; a format that stores rows has ``stored(path)``
(:mod:`sparsezc.io.build.stored_csr`), from which :func:`sparsezc.io.build.stored_csr.edge_chunks` makes edges.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import DimensionMismatch, FileFormatError, OutOfMemory
from sparsezc.io.files.source import InputFile
from sparsezc.memory.budget import require_host
from sparsezc.semirings.types.datatypes import DataType

BLOCK = 1 << 20  # edges processed at a time

#: Rows, columns, and a value for each or None: as in :class:`Edges`, but ids of any integer type.
Chunk = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]


@dataclass
class Edges:
    """Edges as a file lists them: 0-based ids below the sizes, and one value each or None.

    Attributes
    ----------
    rows, cols : arrays of uint32 or int64
    undirected : bool
        By the format, each edge counts in both directions.
    mirrored : bool
        The arrays have both directions already.
    dtype : DataType or None
        The type that the file states for its values.
    """

    nrows: int
    ncols: int
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None = None
    undirected: bool = False
    mirrored: bool = False
    dtype: DataType | None = None

    def transposed(self) -> Edges:
        """Return the edges with their ends exchanged; the arrays are the same."""
        return replace(self, nrows=self.ncols, ncols=self.nrows, rows=self.cols, cols=self.rows)

    def take_values(self) -> NDArray[Any] | None:
        """Return the values and drop the reference to them, so that the caller can free them."""
        values, self.values = self.values, None
        return values

    def take_ids(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return rows and columns and drop the references to them, so that the caller can free them."""
        rows, cols = self.rows, self.cols
        self.rows = self.cols = np.empty(0, np.uint32)
        return rows, cols


@dataclass(frozen=True)
class EdgeFacts:
    """The facts about edges that are known once all were read.

    Attributes
    ----------
    nrows, ncols, dtype
        As in :class:`Edges`.
    listed, promised : int, int or None
        The number of edges that were read, and the number in the whole file by its head.
    """

    nrows: int = 0
    ncols: int = 0
    dtype: DataType | None = None
    listed: int = 0
    promised: int | None = None


#: A reader's generator: yields edges, and at the end returns the facts about all of them.
Chunks = Generator[Chunk, None, EdgeFacts]


class EdgeChunks:
    """Edges that are read in chunks, once.

    Attributes
    ----------
    chunks : iterator of Chunk
    undirected, mirrored : bool
        As in :class:`Edges`, and known before the first chunk is read.
    distinct : bool
        A position that occurs twice means a damaged file.
    facts : EdgeFacts
        Set once the last chunk was read.
    """

    facts: EdgeFacts

    def __init__(
        self, chunks: Chunks, *, undirected: bool = False, mirrored: bool = False, distinct: bool = False
    ) -> None:
        self.undirected, self.mirrored, self.distinct = undirected, mirrored, distinct
        self.chunks = self._read(chunks)

    def _read(self, chunks: Chunks) -> Iterator[Chunk]:
        self.facts = yield from chunks

    @classmethod
    def of(cls, edges: Edges) -> EdgeChunks:
        """Return edges that are in memory as chunks."""

        def chunks() -> Chunks:
            for at in range(0, edges.rows.size, BLOCK):
                part = slice(at, at + BLOCK)
                yield edges.rows[part], edges.cols[part], None if edges.values is None else edges.values[part]
            return EdgeFacts(edges.nrows, edges.ncols, edges.dtype)

        return cls(chunks(), undirected=edges.undirected, mirrored=edges.mirrored)

    def pass_through(self, step: Callable[[Iterator[Chunk]], Iterator[Chunk]]) -> None:
        """Apply a step, which may change or check chunks, to all chunks that are left."""
        self.chunks = step(self.chunks)


def without_values(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield edges without their values, a step for :meth:`EdgeChunks.pass_through`."""
    return ((rows, cols, None) for rows, cols, _ in chunks)


def chained(edges_of: Callable[[Path], EdgeChunks], paths: Iterable[Path]) -> EdgeChunks:
    """Return the edges of several files, one after the other, as those of one graph."""

    def chunks() -> Chunks:
        facts = EdgeFacts()
        for path in paths:
            part = edges_of(path)
            yield from part.chunks
            nrows, ncols = max(facts.nrows, part.facts.nrows), max(facts.ncols, part.facts.ncols)
            facts = EdgeFacts(nrows, ncols, part.facts.dtype if facts.dtype is None else facts.dtype)
        return facts

    return EdgeChunks(chunks())


def collect(found: EdgeChunks) -> Edges:
    """Read all chunks, and return their edges in memory."""
    rows, cols, values = (_joined(column) for column in _columns(found.chunks))
    rows, cols = (np.empty(0, np.uint32) if part is None else part for part in (rows, cols))
    facts = found.facts
    return Edges(facts.nrows, facts.ncols, rows, cols, values, found.undirected, found.mirrored, facts.dtype)


def _columns(chunks: Iterable[Chunk]) -> tuple[list[Any], list[Any], list[Any]]:
    columns: tuple[list[Any], list[Any], list[Any]] = [], [], []
    count = checked = 0
    for rows, cols, values in chunks:
        for column, part in zip(columns, (narrow_ids(rows), narrow_ids(cols), values), strict=True):
            column.append(part)
        count += rows.size
        if count - checked >= BLOCK:
            require_sorting(count, values, mirrored=False)
            checked = count
    return columns


def _joined(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return all parts as one array, and free them; None if all parts are None."""
    some = [part for part in parts if part is not None]
    parts.clear()
    if not some:
        return None
    kind = value_type(part.dtype for part in some)
    return np.concatenate([retyped(part, kind) for part in some])


def value_type(kinds: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type that holds values of all types; uint64 for int64 and uint64, where NumPy chooses a float.

    >>> value_type([np.dtype("i8"), np.dtype("u8")])
    dtype('uint64')
    """
    found = set(kinds)
    return np.dtype(np.uint64) if found == {np.dtype(np.int64), np.dtype(np.uint64)} else np.result_type(*found)


def retyped(values: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return the values in a type of :func:`value_type`.

    Raises
    ------
    FileFormatError
        A value is negative, and others of the same graph are 2^63 or more.
    """
    if kind == np.uint64 and values.dtype.kind == "i" and values.size and int(values.min()) < 0:
        raise FileFormatError(
            f"found the weight {values.min()} and others of 2^63 or more; no integer type of 64 bits holds both"
        )
    return values.astype(kind, copy=False)


def narrow_ids(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids below 2^63 as uint32 if all fit, else as int64.

    NumPy would combine a column of uint64 and one of int64 as floats.
    """
    if ids.dtype == np.uint32 or not ids.size:
        return ids
    return ids.astype(np.int64 if int(ids.max()) >= 2**32 else np.uint32, copy=False)


def relabel(edges: Edges) -> tuple[Edges, NDArray[np.int64]]:
    """Return the same edges over the ids that occur, numbered from 0 in ascending order, and those ids."""
    if max(edges.nrows, edges.ncols) <= 8 * edges.rows.size + BLOCK:  # a table of all ids is small enough
        occurs = np.zeros(max(edges.nrows, edges.ncols), np.bool_)
        occurs[edges.rows] = occurs[edges.cols] = True
        ids = np.flatnonzero(occurs)
        number = np.cumsum(occurs, dtype=np.int64) - 1
        rows, cols = (narrow_ids(number[part]) for part in (edges.rows, edges.cols))
    else:
        ids = np.union1d(np.unique(edges.rows), np.unique(edges.cols))
        rows, cols = (narrow_ids(np.searchsorted(ids, part)) for part in (edges.rows, edges.cols))
    n = ids.size
    made = Edges(n, n, rows, cols, edges.values, edges.undirected, edges.mirrored, edges.dtype)
    return made, ids.astype(np.int64)


def mirror(edges: Edges) -> None:
    """Append (j, i) for each edge (i, j) off the diagonal."""
    off = edges.rows != edges.cols
    rows = np.concatenate([edges.rows, edges.cols[off]])
    edges.cols = np.concatenate([edges.cols, edges.rows[off]])
    edges.rows = rows
    if edges.values is not None:
        edges.values = np.concatenate([edges.values, edges.values[off]])


def require_sorting(count: int, values: NDArray[Any] | None, *, mirrored: bool) -> None:
    """Raise OutOfMemory if there is no memory for sorting edges: keys and their copies beside the lists."""
    each = 12 if values is None else 16 + values.itemsize
    require_host(count * (each + 4 * mirrored), f"sorting {count:,} edges")


def check_sizes(nrows: int, ncols: int) -> None:
    """Raise OutOfMemory for a matrix whose offsets alone would not fit in any machine's memory."""
    only = "with relabel=True only the ids that occur are numbered"
    if ncols >= 2**60:
        raise OutOfMemory(f"ids reach {ncols - 1:,}; the largest possible id is 2^60 - 1, and {only}")
    if nrows >= 2**36:
        raise OutOfMemory(
            f"ids reach {nrows - 1:,}, so the offsets of {nrows:,} rows need {8 * (nrows + 1):,} bytes; {only}"
        )


def check_square(nrows: int, ncols: int) -> None:
    """Raise DimensionMismatch for a matrix that is not square, whose edges cannot count in both directions."""
    if nrows != ncols:
        raise DimensionMismatch(f"edges count in both directions only in a square matrix, not {nrows} x {ncols}")


def check_count(path: Path, entries: int, width: int, *, whole: bool) -> None:
    """Raise FileFormatError if a header states more entries, each of at least `width` bytes, than the file can hold.

    With `whole`, raise OutOfMemory if all entries do not fit in memory.
    """
    with InputFile(path) as file:
        if entries * width > file.limit + width:
            raise FileFormatError(f"{path} is truncated: its header says {entries:,} entries, more than it can hold")
    if whole:
        require_host(8 * entries, f"{path} with its {entries:,} entries, 8 bytes each at the least,")
