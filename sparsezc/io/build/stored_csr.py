"""A CSR stored in a file, streamed into its placement without a second copy of its arrays.

A format's reader supplies the offsets and a function that returns the next entries; chunks of whole rows are checked,
sorted where necessary, and written to the final buffers in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, Edges
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.source import InputFile
from sparsezc.memory import Buffer, allocate
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes

CHUNK = 1 << 16  # entries of a chunk; a chunk and the arrays derived from it take about 3 MB

Take = Callable[[int], tuple[NDArray[Any], NDArray[Any] | None]]


class Disorder(Exception):
    """The error for entries that cannot be streamed: a position occurs twice, or a very long row is not sorted."""


@dataclass
class StoredCsr:
    """A CSR in a file: its sizes, its offsets, and a way to read its entries.

    ``with stored.entries() as take`` opens them at their start; ``take(count)`` then returns the next ids and values.
    `dtype` is the type of the values, None if there are none.
    """

    path: Path
    nrows: int
    ncols: int
    indptr: NDArray[np.int64]
    entries: Callable[[], AbstractContextManager[Take]]
    dtype: datatypes.DataType | None
    symmetric: bool = False


def load(stored: StoredCsr, weights: Weights, placement: str | None, direct: bool) -> Csr | Edges:
    """Return the stored matrix in its placement if `direct`, else (or if it is out of order) as edges."""
    _check_offsets(stored)
    if direct:
        try:
            return _stream(stored, weights, placement)
        except Disorder:
            pass
    return _collect(stored)


def read_exactly(stream: InputFile, count: int, dtype: Any, what: str) -> NDArray[Any]:
    """Return the next `count` numbers of a binary file.

    Raises
    ------
    FileFormatError
        The file ends too early.
    """
    kind = np.dtype(dtype)
    need = count * kind.itemsize
    parts = [stream.read(need)]
    got = len(parts[0])
    while got < need and parts[-1]:
        parts.append(stream.read(need - got))
        got += len(parts[-1])
    if got < need:
        raise FileFormatError(f"{stream.path} is truncated in its {what}: {need:,} bytes are needed, {got:,} are there")
    return np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), kind)


def read_offsets(stream: InputFile, count: int, dtype: Any) -> NDArray[np.int64]:
    """Return offsets, read chunk by chunk, so that no second copy of them exists."""
    if count * np.dtype(dtype).itemsize > stream.limit:
        raise FileFormatError(f"{stream.path} is truncated: its header says {count - 1:,} rows, more than it can hold")
    indptr = csr_builder.offsets(count - 1)
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        indptr[start:stop] = read_exactly(stream, stop - start, dtype, "offsets")
    return indptr


def _check_offsets(stored: StoredCsr) -> None:
    indptr = stored.indptr
    edge_list.check_sizes(stored.nrows, stored.ncols)
    if indptr.size != stored.nrows + 1:
        raise FileFormatError(
            f"{stored.path}: {indptr.size} offsets for {stored.nrows} rows; one more than rows is needed"
        )
    if indptr[0] != 0:
        raise FileFormatError(f"{stored.path}: the first offset is {indptr[0]}; it must be 0")
    for start in range(0, indptr.size - 1, CHUNK):
        falls = np.flatnonzero(
            indptr[start + 1 : start + CHUNK + 1] < indptr[start : start + CHUNK][: indptr.size - 1 - start]
        )
        if falls.size:
            row = start + int(falls[0])
            raise FileFormatError(
                f"{stored.path}: the offsets fall from {indptr[row]} to {indptr[row + 1]} after row {row}"
            )


def _chunks(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (first row, last row + 1, first entry, last entry + 1) of chunks of whole rows or parts of a huge row."""
    row, nrows = 0, indptr.size - 1
    while row < nrows:
        start = int(indptr[row])
        stop_row = max(int(np.searchsorted(indptr, start + CHUNK, side="right")) - 1, row + 1)
        stop = int(indptr[stop_row])
        for at in range(start, stop, CHUNK) if stop - start > CHUNK else (start,):
            yield row, stop_row, at, min(at + CHUNK, stop) if stop - start > CHUNK else stop
        row = stop_row


def _stream(stored: StoredCsr, weights: Weights, placement: str | None) -> Csr:
    nvals = int(stored.indptr[-1])
    read_values = stored.dtype is not None and weights.kind == "file"
    if weights.kind == "hash":
        dtype = weights.dtype
    else:
        dtype = weights.dtype or stored.dtype or datatypes.BOOL
    assert dtype is not None
    iso = weights.kind == "none" or (weights.kind == "file" and stored.dtype is None)
    placement = csr_builder.place(placement, stored.nrows, stored.ncols, nvals, dtype, iso)
    indices = allocate(placement, nvals, index_dtype(stored.ncols, placement))
    values = Values(placement, nvals, dtype)
    last = -1
    with stored.entries() as take:
        for row, stop_row, start, stop in _chunks(stored.indptr):
            if stop == start:
                continue
            ids, part = take(stop - start)
            _check_range(stored, ids, start)
            heads = stored.indptr[row:stop_row] - start
            ids, part = _ordered(ids, part if read_values else None, heads, last if start > stored.indptr[row] else -1)
            last = int(ids[-1])
            indices.write(start, ids)
            if part is not None:
                if weights.dtype is not None:
                    weighting.check_fit(part, weights.dtype)
                values.write(start, part)
            elif weights.kind == "hash":
                rows = np.repeat(np.arange(row, stop_row), _lengths(heads, stop - start))
                values.write(start, weighting.hashed(rows, ids, weights))
    buffer, iso = values.finish()
    return Csr(stored.nrows, stored.ncols, stored.indptr, indices, buffer, dtype, iso, stored.symmetric)


class Values:
    """The values' buffer, allocated once two values differ; if none do, the matrix is iso-valued."""

    def __init__(self, placement: str, nvals: int, dtype: datatypes.DataType) -> None:
        self._placement, self._nvals, self._dtype = placement, nvals, dtype
        self._only: Any = None
        self._buffer: Buffer | None = None

    def write(self, start: int, part: NDArray[Any]) -> None:
        """Write the values from entry `start` on; parts must be written in order."""
        part = datatypes.cast(part, self._dtype)
        if self._buffer is None:
            self._only = part[0] if start == 0 else self._only
            if bool((part == self._only).all()) and self._nvals > 1:
                return
            self._buffer = allocate(self._placement, self._nvals, self._dtype.np_type)
            for at in range(0, start, CHUNK):
                self._buffer.write(at, np.full(min(CHUNK, start - at), self._only))
        self._buffer.write(start, part)

    def finish(self) -> tuple[Buffer, bool]:
        """Return the buffer, and whether it holds one value for all; True if there were no values."""
        if self._buffer is not None:
            return self._buffer, False
        one = allocate(self._placement, 1, self._dtype.np_type)
        one.write(0, np.full(1, True if self._only is None else self._only, self._dtype.np_type))
        return one, True


def _lengths(heads: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the row lengths of a chunk of `size` entries; rows start at `heads` (a huge row's chunk: before 0)."""
    return np.diff(np.append(np.clip(heads, 0, size), size))


def _ordered(
    ids: NDArray[Any], values: NDArray[Any] | None, heads: NDArray[np.int64], last: int
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the chunk with ascending ids in each row; `last` is the id before the chunk in the same row, or -1."""
    rises = np.empty(ids.size, np.bool_)
    np.greater(ids[1:], ids[:-1], out=rises[1:])
    rises[0] = int(ids[0]) > last
    rises[heads[(heads > 0) & (heads < ids.size)]] = True
    if rises.all():
        return ids, values
    if heads.size == 1:  # may be a part of a huge row
        raise Disorder
    keys = np.repeat(np.arange(heads.size, dtype=np.uint64), _lengths(heads, ids.size)) << np.uint64(32)
    if int(ids.max()) >= 2**32:
        raise Disorder
    keys |= ids.astype(np.uint64)
    order = np.argsort(keys)
    keys = keys[order]
    if (keys[1:] == keys[:-1]).any():
        raise Disorder
    return ids[order], None if values is None else values[order]


def _check_range(stored: StoredCsr, ids: NDArray[Any], start: int) -> None:
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= stored.ncols:
        at = int(np.flatnonzero((ids < 0) | (ids >= stored.ncols))[0])
        raise FileFormatError(
            f"{stored.path}: entry {start + at} has the column id {ids[at]}; 0 to {stored.ncols - 1} are needed"
        )


def edge_chunks(stored: StoredCsr) -> EdgeChunks:
    """Return the entries chunk by chunk, as edges."""
    _check_offsets(stored)

    def chunks() -> Chunks:
        with stored.entries() as take:
            for row, stop_row, start, stop in _chunks(stored.indptr):
                if stop > start:
                    ids, values = take(stop - start)
                    _check_range(stored, ids, start)
                    lengths = _lengths(stored.indptr[row:stop_row] - start, stop - start)
                    rows = np.repeat(np.arange(row, stop_row), lengths)
                    yield rows, ids, values
        return EdgeFacts(stored.nrows, stored.ncols, stored.dtype)

    return EdgeChunks(chunks(), undirected=stored.symmetric, mirrored=stored.symmetric)


def _collect(stored: StoredCsr) -> Edges:
    """Read the whole matrix as edges."""
    nvals = int(stored.indptr[-1])
    ids: NDArray[Any] = np.empty(nvals, np.uint32 if stored.ncols <= 2**32 else np.int64)
    values = None if stored.dtype is None else np.empty(nvals, stored.dtype.np_type)
    with stored.entries() as take:
        for start in range(0, nvals, CHUNK):
            stop = min(start + CHUNK, nvals)
            part, found = take(stop - start)
            _check_range(stored, part, start)
            ids[start:stop] = part
            if values is not None and found is not None:
                values[start:stop] = found
    kind = np.uint32 if stored.nrows <= 2**32 else np.int64
    rows = np.repeat(np.arange(stored.nrows, dtype=kind), np.diff(stored.indptr))
    both = stored.symmetric
    return Edges(stored.nrows, stored.ncols, rows, ids, values, both, both, stored.dtype)
