"""Matrices larger than the device, a row block at a time.

An operation that makes a matrix says how to make a block of its rows from device arrays; :func:`assemble` cuts the rows
so that a block fits, and builds the result in its placement. Where one block is enough, nothing is computed twice.
Otherwise a first round counts entries, so that no second copy of the result ever exists, and a second one makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.memory.csr import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import FITS, RECORDS
from sparsezc.semirings.types.datatypes import DataType

#: make(first, last, whole, *part): rows first .. last-1 of the result as (offsets from 0, one more than rows; ids;
#: values). Where `whole` is false only the offsets are needed. `part`: the part of the row, where one row is cut.
Make = Callable[..., tuple[Any, Any, Any]]
#: first, last, and the part of the row, where one row is cut.
Block = tuple[int, ...]
#: cut(row, limit): the parts of a row in order, each of at most `limit` entries.
Cut = Callable[[int, int], Sequence[tuple[int, ...]]]


def blocks(offsets: Sequence[Any], entry_bytes: int, *, cut: Cut | None = None) -> list[Block]:
    """Cut rows into ranges whose entries together take at most half of the device memory that may be used.

    Parameters
    ----------
    offsets : arrays of int64 on the device, shape (nrows + 1,)
        The offsets of every matrix that takes part.
    entry_bytes : int
        The device memory for each entry while it is processed.
    cut : callable, optional
        Cuts a row that exceeds the limit; without it such a row is one block.
    """
    gpu = cuda.current()
    nrows = offsets[0].size - 1
    total: Any = sum(offsets[1:], offsets[0])
    entries = int(total[-1])
    limit = max(1, budget.available() // 2 // entry_bytes)
    if entries <= limit:
        return [(0, nrows)]
    ends = gpu.xp.unique(gpu.xp.searchsorted(total, gpu.xp.arange(1, -(-entries // limit), dtype=np.int64) * limit))
    ends = ends[ends > 0]
    sizes = total[ends] - total[ends - 1]
    before, sizes = (gpu.asnumpy(x).tolist() for x in (ends, sizes))
    long = {end - 1 for end, size in zip(before, sizes, strict=True) if size > limit}  # each a block of its own
    ranges: list[Block] = []
    for first, last in pairwise(sorted({0, nrows, *before, *long})):
        if cut is not None and first in long:
            ranges += [(first, last, *part) for part in cut(first, limit)]
        else:
            ranges.append((first, last))
    return ranges


def evenly(offsets: Any) -> Cut:
    """Return a cut of rows with these offsets by the number of entries: a part is its first and last entry."""

    def cut(row: int, limit: int) -> list[tuple[int, int]]:
        start, stop = cuda.current().asnumpy(offsets[row : row + 2]).tolist()
        return [(at, min(at + limit, stop)) for at in range(start, stop, limit)]

    return cut


def between(indptr: Any, row: int, start: int, stop: int) -> Any:
    """Return the offsets of a block in which one row has only the entries start .. stop-1."""
    made = indptr.copy()
    made[row], made[row + 1] = start, stop
    return made


def pieces(nvals: int, entry_bytes: int, *, multiple: int = 1) -> list[tuple[int, int]]:
    """Cut entries, regardless of rows, into ranges that take at most half of the device memory that may be used.

    Parameters
    ----------
    nvals : int
        The number of entries.
    entry_bytes : int
        The device memory for each entry while it is processed.
    multiple : int
        Every range but the last holds a multiple of this.
    """
    size = max(1, budget.available() // 2 // entry_bytes // multiple) * multiple
    return [(start, min(start + size, nvals)) for start in range(0, nvals, size)]


def assemble(
    ranges: Sequence[Block],
    make: Make,
    shape: tuple[int, int],
    dtype: DataType,
    placement: str,
    iso: Buffer | None = None,
) -> MatrixStore:
    """Return a matrix made of its row blocks; `iso`: the one value of all entries.

    A result that does not fit the device is put in host memory, whatever `placement` says.
    """
    xp = cuda.current().xp
    nrows, ncols = shape
    single = len(ranges) == 1
    made = [make(first, last, single, *part) for first, last, *part in ranges]
    counts = [int(offsets[-1]) for offsets, _, _ in made]
    nvals = sum(counts)
    if nvals == 0:
        return MatrixStore(dtype, nrows, ncols, None)
    starts = np.cumsum([0, *counts])
    begins = [
        True,
        *(this[0] != before[0] for before, this in pairwise(ranges)),
    ]  # of a cut row only the first part
    parts = [
        offsets[:-1] + start
        for (offsets, _, _), start, first in zip(made, starts.tolist(), begins, strict=False)
        if first
    ]
    indptr = xp.concatenate([*parts, xp.asarray(starts[-1:])])
    kind = index_dtype(ncols, placement)
    if not single:
        placement = budget.fitting(placement, nvals * (kind.itemsize + (0 if iso else dtype.np_type.itemsize)))
    if single and placement == DeviceBuffer.placement:
        _, ids, values = made[0]
        indices: Buffer = DeviceBuffer(ids.astype(kind, copy=False))
        return _store(nrows, ncols, nvals, indptr, indices, DeviceBuffer(values) if iso is None else iso, dtype, iso)
    indices = allocate(placement, nvals, kind)
    target = allocate(placement, nvals, dtype.np_type) if iso is None else iso
    for number, (first, last, *part) in enumerate(ranges):
        _, ids, values = made[0] if single else make(first, last, True, *part)
        indices.write(int(starts[number]), ids)
        if iso is None:
            target.write(int(starts[number]), values)
    return _store(nrows, ncols, nvals, indptr, indices, target, dtype, iso)


def _store(
    nrows: int, ncols: int, nvals: int, indptr: Any, indices: Buffer, values: Buffer, dtype: DataType, iso: Any
) -> MatrixStore:
    return MatrixStore(dtype, nrows, ncols, Rows(nrows, ncols, nvals, indptr, indices, values, iso is not None))


def rows_of(store: MatrixStore) -> Rows:
    """Return the rows of a store, or rows without entries where it has none, for kernels that always read rows."""
    if store.rows is not None:
        return store.rows
    xp = cuda.current().xp
    ids, values = xp.empty(0, index_dtype(store.ncols, "device")), xp.empty(0, store.dtype.np_type)
    offsets = xp.zeros(store.nrows + 1, np.int64)
    return Rows(store.nrows, store.ncols, 0, offsets, DeviceBuffer(ids), DeviceBuffer(values), False)


def near(rows: Rows, *, values: bool) -> Rows:
    """Return the same rows in device memory if they fit, for kernels that read entries repeatedly or at random.

    `values`: these are read too.
    """
    if (
        RECORDS[rows.indices.placement].resident
        or rows.indices.nbytes + rows.values.nbytes * values > budget.available() // 4
    ):
        return rows
    indices = DeviceBuffer(rows.indices.load())
    copy = DeviceBuffer(rows.values.load()) if values else rows.values
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, indices, copy, rows.iso)


def placement_of(*stores: MatrixStore) -> str:
    """Return the placement of a result of these: host memory if one of them is in host memory, as it is then large."""
    return next((s.placement for s in stores if s.rows is not None and not RECORDS[s.placement].resident), FITS)
