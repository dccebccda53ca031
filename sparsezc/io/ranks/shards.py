"""One rank's part of a checkpoint: a file with checksums, with the arrays of every object under ``NUMBER.NAME``.

A matrix has the arrays indptr, indices and values, a vector positions and values; positions and rows count from the
first row of the rank that wrote them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.hdf5 import csr_file
from sparsezc.io.hdf5.aligned_file import Writer
from sparsezc.io.hdf5.ranges import Ranges
from sparsezc.memory import Buffer
from sparsezc.memory.csr import Csr
from sparsezc.memory.mapped import MappedBuffer
from sparsezc.semirings.types.datatypes import DataType, lookup

_PART = 1 << 22  # entries that are written at a time


class VectorPart(NamedTuple):
    """A rank's entries of a vector: positions, ascending and counted from the rank's first, and values."""

    positions: NDArray[Any]
    values: NDArray[Any]


class Kind(NamedTuple):
    """An object of a checkpoint, as its manifest describes it.

    Attributes
    ----------
    name, kind, dtype : str
        `kind` is "matrix" or "vector".
    shape : list of int
    bounds, counts : list of int
        The first row or position of each rank that wrote the object, and the number of entries that each had.
    iso, symmetric : bool
    """

    name: str
    kind: str
    dtype: str
    shape: list[int]
    bounds: list[int]
    counts: list[int]
    iso: bool = False
    symmetric: bool = False

    @property
    def type(self) -> DataType:
        """Return the type of the object's values."""
        return lookup(self.dtype)


def write(path: Path, parts: Mapping[int, Csr | VectorPart], iso: Mapping[int, bool]) -> None:
    """Write this rank's parts of all objects, by their numbers; `iso`: all entries on all ranks have one value."""
    with Writer(path) as writer:
        for number, part in parts.items():
            if isinstance(part, VectorPart):
                writer.array(f"{number}.positions", part.positions.size, np.int64).write(
                    part.positions.astype(np.int64, copy=False)
                )
                writer.array(f"{number}.values", part.values.size, part.values.dtype).write(part.values)
                continue
            writer.array(f"{number}.indptr", part.indptr.size, np.int64).write(part.indptr)
            _copy(writer, f"{number}.indices", part.indices, part.nvals)
            count = part.values.count if iso[number] or not part.iso else part.nvals
            _copy(writer, f"{number}.values", part.values, count)
        writer.finish({"version": "0.1.0", "format": "sparsezc shard"}, symmetric=False)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _copy(writer: Writer, name: str, buffer: Buffer, count: int) -> None:
    """Write `count` entries of a buffer; one that holds a single value repeats it."""
    target = writer.array(name, count, buffer.dtype)
    for at in range(0, count, _PART):
        stop = min(at + _PART, count)
        target.write(buffer.read(at, stop) if buffer.count == count else np.repeat(buffer.read(0, 1), stop - at))


class Shards:
    """The files of all ranks that wrote a checkpoint, opened when they are first needed; used in a ``with`` block."""

    def __init__(self, paths: list[Path], sums: list[list[int]]) -> None:
        self._paths, self._sums = paths, sums
        self._stack = ExitStack()
        self._open: dict[int, Ranges] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def read(self, shard: int, name: str, start: int, stop: int) -> NDArray[Any]:
        """Return the entries ``start:stop`` of an array of a shard, compared with their checksums.

        Raises
        ------
        FileFormatError
            The shard is missing, damaged, or not the one of this checkpoint.
        """
        if shard not in self._open:
            path = self._paths[shard]
            mappable = csr_file.find(path)
            if mappable is None or identity(path) != self._sums[shard]:
                raise FileFormatError(f"{path} is not the shard that the checkpoint's manifest names")
            self._open[shard] = self._stack.enter_context(Ranges(mappable))
        ranges = self._open[shard]
        if name not in ranges.mappable.places:
            raise FileFormatError(f"{self._paths[shard]} has no array {name!r}")
        return ranges.read(name, start, stop)


def identity(path: Path) -> list[int]:
    """Return the size of a shard in bytes, and the checksum of its seal."""
    with path.open("rb") as file:
        size = file.seek(-4, os.SEEK_END) + 4
        return [size, int.from_bytes(file.read(4), "little")]


class ShardedRows:
    """The rows of a matrix in shards, with the interface of the rows in one file (file_rows.py)."""

    kept_in_file = False

    def __init__(self, path: Path, number: int, found: Kind, shards: Shards) -> None:
        self.path, self.dtype, self.iso, self.symmetric = path, found.type, found.iso, found.symmetric
        self.nrows, self.ncols = found.shape
        self._bounds = np.array(found.bounds, np.int64)
        self._ends = np.concatenate([[0], np.cumsum(found.counts)]).astype(np.int64)
        self.nvals = int(self._ends[-1])
        self._number, self._shards = number, shards

    def offsets(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the offsets of the rows ``first:last`` in the whole matrix."""
        parts = [
            self._shards.read(shard, f"{self._number}.indptr", start, stop) + self._ends[shard]
            for shard, start, stop in _overlaps(self._bounds, first, min(last, self.nrows))
        ]
        found = np.concatenate([np.empty(0, np.int64), *parts])
        return np.append(found, self.nvals) if last > self.nrows else found

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """Return the ids of the entries ``start:stop`` of the whole matrix."""
        return self._entries("indices", start, stop)

    def values(self, start: int, stop: int) -> NDArray[Any]:
        """Return the values of the entries ``start:stop``, or the one value of an iso-valued matrix."""
        if self.iso:
            shard = int(np.argmax(np.diff(self._ends) > 0))
            return self._typed(self._shards.read(shard, f"{self._number}.values", 0, self._width()))
        width = self._width()
        return self._typed(self._entries("values", start, stop, width))

    def placed_ids(self, start: int, stop: int, placement: str) -> Buffer | None:
        """Return None, as ids of shards are always read."""
        return None

    def mapped_values(self, start: int, stop: int) -> MappedBuffer:
        """Raise an error, as shards are not mapped."""
        raise NotImplementedError

    def _entries(self, name: str, start: int, stop: int, width: int = 1) -> NDArray[Any]:
        parts = [
            self._shards.read(shard, f"{self._number}.{name}", width * low, width * high)
            for shard, low, high in _overlaps(self._ends, start, stop)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.uint32)

    def _width(self) -> int:
        return 2 if self.dtype.is_complex else 1

    def _typed(self, values: NDArray[Any]) -> NDArray[Any]:
        return values.view(self.dtype.np_type)


def _overlaps(bounds: NDArray[np.int64], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each range that overlaps ``first:last``, and the overlap, counted from the range's start."""
    for number in range(bounds.size - 1):
        low, high = max(first, int(bounds[number])), min(last, int(bounds[number + 1]))
        if low < high:
            yield number, low - int(bounds[number]), high - int(bounds[number])
