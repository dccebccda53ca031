"""A rank's rows of a stored matrix, read into a placement or left in the file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, warn_slow
from sparsezc.io.build import csr_builder, stored_csr
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts
from sparsezc.io.build.stored_ranges import StoredRanges
from sparsezc.io.build.weights import Weights
from sparsezc.io.hdf5 import csr_file
from sparsezc.io.hdf5.aligned_file import MappableFile
from sparsezc.io.hdf5.file_rows import FileRows
from sparsezc.io.hdf5.ranges import Ranges
from sparsezc.io.ranks import row_bounds
from sparsezc.io.ranks.agreement import Communicator, same, together
from sparsezc.io.ranks.rank_rows import RankRows
from sparsezc.memory import Buffer, allocate
from sparsezc.memory.budget import on_device, placement_beside, resolve
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.mapped import MappedBuffer, check_rows
from sparsezc.memory.placement import BY_ADDRESS, FILES, HOST, HOSTS, OPENED
from sparsezc.semirings.types.datatypes import BOOL, DataType

_PART = 1 << 22  # entries that are read at a time: 64 MiB of ids and values of 8 bytes each


class Rows(Protocol):
    """A stored matrix of which ranges of rows and entries can be read; entries are numbered in the whole matrix.

    `kept_in_file`: placement "mapped" leaves ids and values in the file.
    """

    path: Path
    nrows: int
    ncols: int
    nvals: int
    dtype: DataType
    iso: bool
    symmetric: bool
    kept_in_file: bool

    def offsets(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the offsets of the rows ``first:last``; the offset of row `nrows` is `nvals`."""
        ...

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """Return the ids of the entries ``start:stop``."""
        ...

    def values(self, start: int, stop: int) -> NDArray[Any]:
        """Return the values of the entries ``start:stop``, or the one value of an iso-valued matrix."""
        ...

    def placed_ids(self, start: int, stop: int, placement: str) -> Buffer | None:
        """Return ids that are left in the file, or compressed in a placement; None if the caller must read them."""
        ...

    def mapped_values(self, start: int, stop: int) -> MappedBuffer:
        """Return the values of the entries ``start:stop``, left in the file."""
        ...


@contextmanager
def opened(path: Path, comm: Communicator) -> Iterator[FileRows]:
    """Open a .h5 file on all ranks.

    Raises
    ------
    FileFormatError
        The file has no checksums, as sparsezc did not write it, or is damaged.
    InvalidObject
        The ranks opened different files: the file was changed meanwhile, or machines have different files of its name.
    """

    def find() -> MappableFile:
        mappable = csr_file.find(path)
        if mappable is None or not csr_file.can_be_mapped(mappable):
            raise FileFormatError(
                f"{path} has no checksums, so ranks cannot read parts of it; gb.io.convert writes a .h5 that has them"
            )
        return mappable

    mappable = together(comm, find)
    same(comm, f"{path} is not the same file for all ranks", _identity(mappable))
    with Ranges(mappable) as ranges:

        def rows() -> FileRows:
            with csr_file.damage(path):
                return FileRows(mappable, ranges)

        yield together(comm, rows)


def _identity(mappable: MappableFile) -> tuple[str, str]:
    """Return the size of a file, and a checksum of its descriptor and its checksums, which identify its content."""
    crc = zlib.crc32(json.dumps(mappable.descriptor, sort_keys=True).encode())
    for name in mappable.places:
        crc = zlib.crc32(mappable.sums(name).data, crc)
    return f"{mappable.path.stat().st_size:,} bytes", f"the checksum {crc:08x}"


def bounds(rows: Rows | StoredRanges, comm: Communicator) -> NDArray[np.int64]:
    """Return bounds that give each rank rows of equal work; every rank finds its first row by bisection."""
    mine = together(comm, lambda: row_bounds.first_row(rows.offsets, rows.nrows, rows.nvals, comm.rank, comm.size))
    found = np.append(comm.numbers(mine)[:, 0], rows.nrows)
    return np.maximum.accumulate(found)  # of few rows, a cut moved to an aligned entry may have passed another


def load(rows: Rows, cuts: NDArray[np.int64], comm: Communicator, weights: Weights, placement: str | None) -> RankRows:
    """Return this rank's rows with the requested weights.

    Raises
    ------
    FileFormatError, InvalidValue, OutOfMemory
        As for :func:`sparsezc.io.read`; on all ranks, with the number of the first rank that failed.
    """
    return RankRows(together(comm, lambda: load_rows(rows, cuts, comm.rank, weights, placement)), cuts, rows.nvals)


def load_rows(rows: Rows, cuts: NDArray[np.int64], rank: int, weights: Weights, placement: str | None) -> Csr:
    """Return the rows of a rank, without communication."""
    first, last = int(cuts[rank]), int(cuts[rank + 1])
    indptr = rows.offsets(first, last + 1)
    start, stop = int(indptr[0]), int(indptr[-1])
    indptr = indptr - start
    dtype, iso = _value_type(rows, weights)
    where = _where(rows, last - first, stop - start, dtype, iso, placement)
    indices = rows.placed_ids(start, stop, where)
    if indices is None and where in FILES and on_device():
        warn_slow(f"{rows.path}: the compressed ids of rank {rank} begin within a block; they are decoded into memory")
        where = BY_ADDRESS
    if indices is None:
        indices = _ids(rows, start, stop, where)
    values, iso = _values(rows, indptr, dtype, (first, start), weights, where)
    made = Csr(last - first, rows.ncols, indptr, indices, values, dtype, iso, rows.symmetric)
    return check_rows(rows.path, made) if where in HOSTS else made


def _value_type(rows: Rows, weights: Weights) -> tuple[DataType, bool]:
    if weights.kind == "none":
        return BOOL, True
    return weights.dtype or rows.dtype, rows.iso and weights.kind == "file"


def _where(rows: Rows, nrows: int, nvals: int, dtype: DataType, iso: bool, placement: str | None) -> str:
    if not rows.kept_in_file:
        return csr_builder.place(placement, nrows, rows.ncols, nvals, dtype, iso)
    value = 0 if iso else dtype.np_type.itemsize
    narrow, wide = (index_dtype(rows.ncols, name).itemsize for name in ("device", "host"))
    sizes = nvals * (narrow + value), nrows, nvals
    return resolve(placement, *sizes, host_nbytes=nvals * (wide + value), current=OPENED)


def _ids(rows: Rows, start: int, stop: int, where: str) -> Buffer:
    target = allocate(placement_beside(where), stop - start, index_dtype(rows.ncols, where))
    for at in range(start, stop, _PART):
        target.write(at - start, rows.ids(at, min(at + _PART, stop)))
    return target


def _values(
    rows: Rows, indptr: NDArray[np.int64], dtype: DataType, begin: tuple[int, int], weights: Weights, where: str
) -> tuple[Buffer, bool]:
    """Return the values of the rows with the offsets `indptr`; `begin`: the first row, and its first entry."""
    (first, start), count = begin, int(indptr[-1])
    if weights.kind == "none":
        one = allocate(HOST if where in FILES else where, 1, np.bool_)
        one.write(0, np.ones(1, np.bool_))
        return (MappedBuffer.of(one.read()) if where in FILES else one), True
    if weights.kind == "file" and where in FILES and dtype is rows.dtype:
        return rows.mapped_values(start, start + count), rows.iso
    values = stored_csr.Values(placement_beside(where), count, dtype)
    for at in range(0, count, _PART):
        stop = min(at + _PART, count)
        if weights.kind == "hash":
            entries = np.arange(at, stop)
            own = np.searchsorted(indptr, entries, side="right") - 1 + first
            values.write(at, weighting.hashed(own, rows.ids(start + at, start + stop), weights))
            continue
        part = rows.values(start + at, start + stop)
        if weights.dtype is not None:
            weighting.check_fit(part, weights.dtype)
        values.write(at, np.broadcast_to(part, stop - at))
    return values.finish()


def edge_chunks(rows: Rows | StoredRanges, cuts: NDArray[np.int64], rank: int, dtype: DataType | None) -> EdgeChunks:
    """Return this rank's entries chunk by chunk as edges, for a matrix that must be sorted or mirrored.

    `dtype`: the type of the values; None if there are none.
    """

    def chunks() -> Chunks:
        for first in range(int(cuts[rank]), int(cuts[rank + 1]), stored_csr.CHUNK):
            last = min(first + stored_csr.CHUNK, int(cuts[rank + 1]))
            indptr = rows.offsets(first, last + 1)
            for at in range(int(indptr[0]), int(indptr[-1]), _PART):
                stop = min(at + _PART, int(indptr[-1]))
                own = np.searchsorted(indptr, np.arange(at, stop), side="right") - 1 + first
                values = rows.values(at, stop)
                yield own, rows.ids(at, stop), None if values is None else np.broadcast_to(values, stop - at)
        return EdgeFacts(rows.nrows, rows.ncols, dtype)

    return EdgeChunks(chunks(), undirected=rows.symmetric, mirrored=rows.symmetric)
