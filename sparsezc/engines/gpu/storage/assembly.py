"""Matrices assembled from row blocks (row_blocks.py), each written directly to its placement.

An operation whose result is a matrix supplies a function that computes one row block as device arrays. If one block
suffices, the function runs once. Otherwise it runs twice for each block: first to count entries, so that the result is
allocated once, and then to compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.row_blocks import Block, pieces
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import FITS, RECORDS
from sparsezc.semirings.types.datatypes import DataType

#: make(first, last, whole, *part): rows first .. last-1 of the result as (offsets from 0, one more than rows; ids;
#: values). Only offsets are needed if `whole` is false. `part`: the part of the row, if a single row is cut.
Make = Callable[..., tuple[Any, Any, Any]]


def assemble(
    ranges: Sequence[Block],
    make: Make,
    shape: tuple[int, int],
    dtype: DataType,
    placement: str,
    iso: Buffer | None = None,
) -> MatrixStore:
    """Return a matrix assembled from its row blocks; `iso`: the one value of all entries.

    A result that does not fit in device memory beside a block is put in host memory, whatever `placement` is.
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
    ]  # only the first part of a cut row
    parts = [
        offsets[:-1] + start
        for (offsets, _, _), start, first in zip(made, starts.tolist(), begins, strict=False)
        if first
    ]
    indptr = xp.concatenate([*parts, xp.asarray(starts[-1:])])
    kind = index_dtype(ncols, placement)
    if not single:
        # a block takes up to half of the memory (row_blocks.py), so the result may take the other half
        placement = budget.fitting(placement, 2 * nvals * (kind.itemsize + (0 if iso else dtype.np_type.itemsize)))
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


def stack(stores: Sequence[MatrixStore], shape: tuple[int, int], dtype: DataType) -> MatrixStore:
    """Return the concatenated rows of several matrices of one type."""
    xp = cuda.current().xp
    held = [rows_of(store) for store in stores]
    nvals = sum(rows.nvals for rows in held)
    if nvals == 0:
        return MatrixStore(dtype, *shape, None)
    held = [rows for rows in held if rows.nrows]
    starts = np.cumsum([0, *(rows.nvals for rows in held)]).tolist()
    ends = [rows.indptr[1:] + start for rows, start in zip(held, starts, strict=False)]
    indptr = xp.concatenate([xp.zeros(1, np.int64), *ends])
    iso = _common_value([rows for rows in held if rows.nvals])
    placement = placement_of(*stores)
    kind = index_dtype(shape[1], placement)
    value_bytes = 0 if iso else dtype.np_type.itemsize
    placement = budget.fitting(placement, nvals * (kind.itemsize + value_bytes))
    indices = allocate(placement, nvals, kind)
    values = iso or allocate(placement, nvals, dtype.np_type)
    for rows, begin in zip(held, starts, strict=False):
        for start, stop in pieces(rows.nvals, 2 * (kind.itemsize + value_bytes)):
            indices.write(begin + start, rows.indices.load(start, stop))
            if iso is None:
                given = rows.values.load() if rows.iso else rows.values.load(start, stop)
                values.write(begin + start, xp.repeat(given, stop - start) if rows.iso else given)
    return _store(*shape, nvals, indptr, indices, values, dtype, iso)


def _common_value(held: Sequence[Rows]) -> Buffer | None:
    """Return the value that all entries of all rows have, or None."""
    if not all(rows.iso for rows in held):
        return None
    return held[0].values if len({rows.values.read(0, 1).tobytes() for rows in held}) == 1 else None


def rows_of(store: MatrixStore) -> Rows:
    """Return the rows of a store, without entries if it has none, for kernels that always read rows."""
    if store.rows is not None:
        return store.rows
    xp = cuda.current().xp
    ids, values = xp.empty(0, index_dtype(store.ncols, "device")), xp.empty(0, store.dtype.np_type)
    offsets = xp.zeros(store.nrows + 1, np.int64)
    return Rows(store.nrows, store.ncols, 0, offsets, DeviceBuffer(ids), DeviceBuffer(values), False)


def near(rows: Rows, *, values: bool, times: int = 4) -> Rows:
    """Return the same rows in device memory if they fit, for kernels that read entries repeatedly or at random.

    `values`: kernels also read values. `times`: as many copies must fit, to leave memory for the result.
    """
    if (
        RECORDS[rows.indices.placement].resident
        or rows.indices.nbytes + rows.values.nbytes * values > budget.available() // times
    ):
        return rows
    indices = DeviceBuffer(rows.indices.load())
    copy = DeviceBuffer(rows.values.load()) if values else rows.values
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, indices, copy, rows.iso)


def placement_of(*stores: MatrixStore) -> str:
    """Return the placement of a result of these stores: host memory if one is in host memory, as that is large."""
    return next((s.placement for s in stores if s.rows is not None and not RECORDS[s.placement].resident), FITS)
