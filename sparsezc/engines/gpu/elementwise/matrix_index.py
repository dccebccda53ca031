"""Parts of matrices: extract, the matrix that assign merges, rows and columns as vectors, diagonals.

Positions are arrays of int64 on the device, or None for all. Entries are moved by array code and by one gather kernel
that reads host memory directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.transpose import transposed
from sparsezc.engines.gpu.elementwise.vector_index import positions_of
from sparsezc.engines.gpu.runtime import boolean_reductions, gather_scatter
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory import allocate, budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

_ENTRY_BYTES = 128  # bytes of an entry, while entries are matched and gathered
_SORTED_BYTES = 256  # bytes of an entry, while entries are sorted as well
_RENUMBERED_BYTES = 32  # bytes of an entry, while its id is renumbered
_FILLED_BYTES = 8  # bytes of an entry for each byte of its id, while ids are repeated


def positions(index: Any) -> Any:
    """Return an IndexList's positions; None for all."""
    if index.kind == "all":
        return None
    if index.kind == "one":
        return cuda.current().xp.asarray(np.array([index.key], np.int64))
    return positions_of(index).astype(np.int64)


def extract(rows: Rows, dtype: DataType, i: Any, j: Any) -> MatrixStore:
    """Return A(i, j); positions may repeat and come in any order."""
    xp = cuda.current().xp
    starts, ends = (rows.indptr[:-1], rows.indptr[1:]) if i is None else (rows.indptr[i], rows.indptr[i + 1])
    lengths = ends - starts
    offsets = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
    shape = lengths.size, rows.ncols if j is None else j.size
    columns = None if j is None else _Columns(j)

    near = RECORDS[rows.indices.placement].near

    ascending = columns is None or columns.ascending
    entry_bytes = _ENTRY_BYTES if columns is None or ascending else _SORTED_BYTES * columns.most
    if not ascending and lengths.size and int(lengths.max()) * entry_bytes > budget.available():
        return _by_columns(rows, dtype, i, j)

    def make(first: int, last: int, whole: bool, *part: int) -> tuple[Any, Any, Any]:
        start, stop = part or (int(offsets[first]), int(offsets[last]))
        local = offsets[first : last + 1].clip(start, stop) - start
        if columns is None and not whole:
            return local, None, None
        entry = xp.arange(start, stop, dtype=np.int64)
        row = xp.searchsorted(offsets[first : last + 1], entry, side="right") - 1
        source = starts[first:last][row] + entry - offsets[first:last][row]
        if columns is None:
            ids = gather_scatter.gather(rows.indices, source, near=near)
        else:
            read = gather_scatter.gather(rows.indices, source, near=near)
            row, source, ids = columns.match(row, source, read.astype(np.int64))
            local = xp.searchsorted(row, xp.arange(last - first + 1, dtype=np.int64))
        if not whole:
            return local, None, None
        return local, ids, None if rows.iso else gather_scatter.gather(rows.values, source, near=near)

    # A row may be cut only if its entries stay in order: parts follow each other in the result.
    ranges = row_blocks.blocks([offsets], entry_bytes, cut=row_blocks.evenly(offsets) if ascending else None)
    iso = rows.values if rows.iso else None
    return assembly.assemble(ranges, make, shape, dtype, rows.indices.placement, iso)


def row_range(rows: Rows, dtype: DataType, first: int, last: int) -> MatrixStore | None:
    """Return rows first .. last-1 as views of the entries; None if those are compressed or not in device memory."""
    if rows.compressed or not RECORDS[rows.indices.placement].resident:
        return None
    start, stop = rows.ends(first, last)
    offsets = rows.indptr[first : last + 1] - start
    ids = DeviceBuffer(rows.indices.load(start, stop))
    values = rows.values if rows.iso else DeviceBuffer(rows.values.load(start, stop))
    made = Rows(last - first, rows.ncols, stop - start, offsets, ids, values, rows.iso) if stop > start else None
    return MatrixStore(dtype, last - first, rows.ncols, made)


def first_columns(store: MatrixStore, ncols: int) -> MatrixStore:
    """Return the first `ncols` columns of a matrix that has no entries in the others; ids and values are shared."""
    rows = None if store.rows is None else replace(store.rows, ncols=ncols)
    return MatrixStore(store.dtype, store.nrows, ncols, rows)


def widened(store: MatrixStore, offsets: Sequence[int], shape: tuple[int, int]) -> MatrixStore | None:
    """Return a matrix extended by empty rows before and after it and empty columns after it; entries are shared.

    None if entries would be dropped or need other ids.
    """
    before, left = offsets
    after = shape[0] - before - store.nrows
    rows = store.rows
    if rows is None or left or before < 0 or after < 0 or store.ncols > shape[1]:
        return None
    if index_dtype(shape[1], rows.indices.placement).itemsize > rows.indices.dtype.itemsize or rows.compressed:
        return None
    xp = cuda.current().xp
    ends = xp.zeros(before, np.int64), rows.indptr, xp.full(after, rows.nvals, np.int64)
    made = Rows(*shape, rows.nvals, xp.concatenate(ends), rows.indices, rows.values, rows.iso)
    return MatrixStore(store.dtype, *shape, made)


def values_of(store: MatrixStore) -> VectorStore:
    """Return the values of all entries as a full vector, in the order of rows, then columns."""
    rows = store.rows
    made = VectorStore(store.dtype, 0 if rows is None else rows.nvals)
    if rows is not None:
        values = rows.values.load()
        made.put(
            cuda.current().xp.arange(rows.nvals), cuda.current().xp.repeat(values, rows.nvals) if rows.iso else values
        )
    return made


def with_values(store: MatrixStore, v: VectorStore) -> MatrixStore:
    """Return a matrix of the same pattern with the values of a full vector, which are copied."""
    rows = store.rows
    if rows is None:
        return MatrixStore(v.dtype, store.nrows, store.ncols, None)
    made = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, DeviceBuffer(v.values.copy()), False)
    return MatrixStore(v.dtype, store.nrows, store.ncols, made)


def _by_columns(rows: Rows, dtype: DataType, i: Any, j: Any) -> MatrixStore:
    """Return A(i, j) by way of the transpose, for rows of A that do not fit in a row block."""
    nrows = rows.nrows if i is None else int(i.size)
    picked = rows if i is None else extract(rows, dtype, i, None).rows
    if picked is not None:
        picked = extract(transposed(picked), dtype, j, None).rows
    return MatrixStore(dtype, nrows, int(j.size), None if picked is None else transposed(picked))


class _Columns:
    """The columns that an extraction selects, in ascending order of their ids."""

    def __init__(self, j: Any) -> None:
        xp = cuda.current().xp
        self.order = xp.argsort(j, kind="stable")
        self.sorted = j[self.order]
        self.ascending = j.size < 2 or boolean_reductions.all_true(j[1:] > j[:-1])
        ends = (xp.searchsorted(self.sorted, self.sorted, side=side) for side in ("right", "left"))
        self.most = 1 if self.ascending else int((next(ends) - next(ends)).max())  # most selections of one column

    def match(self, row: Any, source: Any, ids: Any) -> tuple[Any, Any, Any]:
        """Return row, source and new id of each entry in a selected column, once per selection, by row and new id."""
        xp = cuda.current().xp
        left = xp.searchsorted(self.sorted, ids, side="left")
        if self.ascending:
            right = xp.searchsorted(self.sorted, ids, side="right")
            hit = xp.flatnonzero(right > left)
            return row[hit], source[hit], left[hit]
        ends = xp.cumsum(xp.searchsorted(self.sorted, ids, side="right") - left)
        copy = xp.arange(int(ends[-1]) if ends.size else 0, dtype=np.int64)
        entry = xp.searchsorted(ends, copy, side="right")
        first = left[entry] + copy - xp.where(entry > 0, ends[entry - 1], 0) if copy.size else copy
        row, source, new = row[entry], source[entry], self.order[first]
        order = xp.argsort(new, kind="stable")
        order = order[xp.argsort(row[order], kind="stable")]
        return row[order], source[order], new[order]


def spread(store: MatrixStore, i: Any, j: Any, shape: tuple[int, int]) -> MatrixStore:
    """Return T with T(i, j) = B and no other entries, for assign to merge; of equal positions the last counts."""
    if store.rows is None:
        return MatrixStore(store.dtype, *shape, None)
    take_i, i = _distinct(i)
    take_j, j = _distinct(j)
    if take_i is not None or take_j is not None:
        store = extract(store.rows, store.dtype, take_i, take_j)
        if store.rows is None:
            return MatrixStore(store.dtype, *shape, None)
    rows = store.rows
    assert rows is not None
    xp = cuda.current().xp
    indptr, indices = rows.indptr, rows.indices
    if i is not None:
        lengths = xp.zeros(shape[0] + 1, np.int64)
        lengths[i + 1] = indptr[1:] - indptr[:-1]
        indptr = xp.cumsum(lengths)
    if j is not None:
        indices = allocate(rows.indices.placement, rows.nvals, index_dtype(shape[1], rows.indices.placement))
        for start, stop in row_blocks.pieces(rows.nvals, _RENUMBERED_BYTES):
            ids = rows.indices.load(start, stop)
            indices.write(start, j[ids.astype(np.int64)].astype(indices.dtype))
    return MatrixStore(store.dtype, *shape, Rows(*shape, rows.nvals, indptr, indices, rows.values, rows.iso))


def _distinct(at: Any) -> tuple[Any, Any]:
    """Return the selection that makes positions distinct and ascending (None if they are), and the result."""
    if at is None or at.size < 2 or boolean_reductions.all_true(at[1:] > at[:-1]):
        return None, at
    xp = cuda.current().xp
    order = xp.argsort(at, kind="stable")
    ascending = at[order]
    last = xp.concatenate([ascending[1:] > ascending[:-1], xp.ones(1, np.bool_)])
    return order[last], ascending[last]


def filled(value: Any, dtype: DataType, i: Any, j: Any, shape: tuple[int, int]) -> MatrixStore:
    """Return the iso-valued T with `value` at each of the positions (i, j), and no other entries."""
    xp = cuda.current().xp
    sizes = [n if at is None else int(xp.unique(at).size) for at, n in ((i, shape[0]), (j, shape[1]))]
    count = sizes[0] * sizes[1]
    if count == 0:
        return MatrixStore(dtype, *shape, None)
    kind = index_dtype(shape[1], "device")
    placement = budget.fitting("device", 2 * count * kind.itemsize)
    if not RECORDS[placement].resident:
        what = f"assign: a scalar at {sizes[0]:,} x {sizes[1]:,} positions makes {count:,} entries, which"
        budget.require_host(count * kind.itemsize, what)
    line = xp.arange(shape[1], dtype=kind) if j is None else xp.unique(j).astype(kind)
    ids = allocate(placement, count, kind)
    for start, stop in row_blocks.pieces(count, _FILLED_BYTES * kind.itemsize):
        ids.write(start, line[xp.arange(start, stop, dtype=np.int64) % line.size])
    lengths = xp.zeros(shape[0] + 1, np.int64)
    lengths[slice(1, None) if i is None else i + 1] = sizes[1]
    values = DeviceBuffer(xp.full(1, value, dtype.np_type))
    return MatrixStore(dtype, *shape, Rows(*shape, count, xp.cumsum(lengths), ids, values, True))


# Conversions between vectors and matrices of one row, of one column or of one diagonal.


def line(u: VectorStore, row: bool) -> MatrixStore:
    """Return a vector as a matrix of one row, or of one column."""
    at, values = u.entries()
    shape = (1, u.size) if row else (u.size, 1)
    if at.size == 0:
        return MatrixStore(u.dtype, *shape, None)
    return _from_entries(at * 0 if row else at, at if row else at * 0, values, u.dtype, shape)


def as_vector(store: MatrixStore, row: bool) -> VectorStore:
    """Return a matrix of one row, or of one column, as a vector."""
    made = VectorStore(store.dtype, store.ncols if row else store.nrows)
    if store.rows is not None:
        made.put(store.rows.indices.load() if row else _row_numbers(store.rows), _values(store.rows))
    return made


def diagonal(store: MatrixStore, k: int, size: int) -> VectorStore:
    """Return diagonal k of a matrix that has no entries elsewhere."""
    made = VectorStore(store.dtype, size)
    if store.rows is not None:
        made.put(_row_numbers(store.rows) - max(0, -k), _values(store.rows))
    return made


def on_diagonal(u: VectorStore, k: int, shape: tuple[int, int]) -> MatrixStore:
    """Return a matrix with a vector on diagonal k."""
    at, values = u.entries()
    if at.size == 0:
        return MatrixStore(u.dtype, *shape, None)
    return _from_entries(at + max(0, -k), at + max(0, k), values, u.dtype, shape)


def _row_numbers(rows: Rows) -> Any:
    """Return the row of each entry of a matrix that has at most one entry in a row."""
    return cuda.current().xp.flatnonzero(rows.indptr[1:] > rows.indptr[:-1])


def _values(rows: Rows) -> Any:
    values = rows.values.load()
    return cuda.current().xp.full(rows.nvals, values[0]) if rows.iso else values


def _from_entries(i: Any, j: Any, values: Any, dtype: DataType, shape: tuple[int, int]) -> MatrixStore:
    """Return a matrix on the device with these entries, sorted by row, then column."""
    xp = cuda.current().xp
    indptr = xp.searchsorted(i, xp.arange(shape[0] + 1, dtype=np.int64))
    buffers = DeviceBuffer(j.astype(index_dtype(shape[1], "device"))), DeviceBuffer(values)
    return MatrixStore(dtype, *shape, Rows(*shape, int(i.size), indptr.astype(np.int64), *buffers, False))


def element(rows: Rows | None, i: int, j: int) -> Any:
    """Return A(i, j) as a NumPy scalar, or None if there is no entry. Reads the ids of one row."""
    if rows is None:
        return None
    start, stop = cuda.current().asnumpy(rows.indptr[i : i + 2]).tolist()
    ids = rows.indices.read(start, stop)
    k = int(np.searchsorted(ids, ids.dtype.type(j)))
    if k == ids.size or ids[k] != j:
        return None
    return rows.values.read(0, 1)[0] if rows.iso else rows.values.read(start + k, start + k + 1)[0]
