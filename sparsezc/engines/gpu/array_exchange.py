"""Device arrays of other libraries as stores, and stores as such arrays, without a copy through the host.

Arrays are shared, not copied, wherever their types allow it. Ids are handed out as signed integers of the same bits
(int32 where an id takes 4 bytes). A program that shares a matrix's arrays must not change them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu import matrix_conversions
from sparsezc.engines.gpu.runtime import boolean_reductions, launch, presence_words
from sparsezc.engines.gpu.storage import vector_store
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.exceptions import IndexOutOfBound, InvalidObject, InvalidValue, OutOfMemory
from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

_CUDA = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged


def is_here(x: Any) -> bool:
    """Return whether an object is an array on a GPU, by DLPack or by ``__cuda_array_interface__``."""
    where = getattr(x, "__dlpack_device__", None)
    return where()[0] in _CUDA if where is not None else hasattr(x, "__cuda_array_interface__")


def array(x: Any) -> Any:
    """Return an object as an array of the device's module: shared where it is on the device, else copied there."""
    xp = cuda.current().xp
    if isinstance(x, xp.ndarray):
        return x
    if is_here(x):  # DLPack first: it orders the two libraries' streams
        return xp.from_dlpack(x) if hasattr(x, "__dlpack__") else xp.asarray(x)
    return xp.asarray(np.asarray(x))


@launch.locked
def ids(given: Any, where: str, bound: int) -> Any:
    """Return ids after a check: integers in one dimension, not negative and below `bound`.

    Raises
    ------
    InvalidValue, IndexOutOfBound
    """
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InvalidValue(f"{where} must be integers, a row of them; got {given.dtype} of shape {given.shape}")
    if given.size and (int(given.min()) < 0 or int(given.max()) >= bound):
        bad = int(given.min()) if int(given.min()) < 0 else int(given.max())
        raise IndexOutOfBound(f"{where} has the id {bad}; there are {bound} positions, from 0 on")
    return given


@launch.locked
def matrix_from_csr(
    indptr: Any, indices: Any, values: Any, ncols: int, dtype: DataType, *, copy: bool, symmetric: bool, where: str
) -> MatrixStore:
    """Return a store of device arrays in CSR form; rows whose ids do not ascend are sorted.

    Raises
    ------
    InvalidValue
        The offsets do not end at the number of ids.
    InvalidObject
        The offsets do not start at 0, or descend, or an id is twice in a row.
    IndexOutOfBound
        An id is `ncols` or more.
    """
    xp = cuda.current().xp
    offsets = xp.ascontiguousarray(ids(indptr, f"{where}: indptr", 2**63).astype(np.int64, copy=False))
    offsets = vector_store.own(offsets, indptr, copy)
    columns = ids(indices, f"{where}: indices", ncols)
    if offsets.size == 0 or int(offsets[-1]) != columns.size:
        end = int(offsets[-1]) if offsets.size else "nowhere"
        raise InvalidValue(f"{where}: indptr ends at {end}; indices has {columns.size} entries")
    if int(offsets[0]) != 0 or boolean_reductions.any_true(offsets[1:] < offsets[:-1]):
        raise InvalidObject(f"{where}: indptr must start at 0 and not descend")
    order = _unsorted(offsets, columns, where)
    if order is not None:
        columns, values = columns[order], values[order] if values.ndim else values
    own = copy and (order is None or not values.ndim)
    return _store(offsets, columns, values, ncols, dtype, copy=own, symmetric=symmetric)


def _store(
    offsets: Any, columns: Any, values: Any, ncols: int, dtype: DataType, *, copy: bool, symmetric: bool
) -> MatrixStore:
    """Return a store of a CSR that was checked."""
    xp = cuda.current().xp
    nrows, nvals = offsets.size - 1, columns.size
    if nvals == 0:
        return MatrixStore(dtype, nrows, ncols, None)
    wanted = index_dtype(ncols, "device")
    unsigned = np.dtype(columns.dtype.str.replace("i", "u"))
    narrowed = vector_store.own(xp.ascontiguousarray(columns).view(unsigned).astype(wanted, copy=False), columns, copy)
    kept = vector_store.values_of(values.reshape(-1), dtype, copy)
    rows = Rows(
        nrows, ncols, nvals, offsets, DeviceBuffer(narrowed), DeviceBuffer(kept), iso=kept.size == 1 and nvals != 1
    )
    return MatrixStore(dtype, nrows, ncols, rows, rows if symmetric else None)


def _unsorted(offsets: Any, columns: Any, where: str) -> Any:
    """Return the order that sorts the ids of each row; None where they already ascend."""
    xp = cuda.current().xp
    after = xp.flatnonzero(columns[1:] <= columns[:-1]) + 1  # an id may not ascend only where a row starts
    inside = after[offsets[xp.searchsorted(offsets, after)] != after]
    if inside.size == 0:
        return None
    rows = row_ids(offsets, columns.size)
    order = xp.argsort(columns, kind="stable")
    order = order[xp.argsort(rows[order], kind="stable")]
    twice = (columns[order][1:] == columns[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    if boolean_reductions.any_true(twice):
        at = int(order[int(xp.argmax(twice))])
        raise InvalidObject(f"{where}: indices has {int(columns[at])} twice in row {int(rows[at])}")
    return order


@launch.locked
def row_ids(offsets: Any, nvals: int) -> Any:
    """Return the row of each entry, int64."""
    xp = cuda.current().xp
    return xp.searchsorted(offsets, xp.arange(nvals, dtype=np.int64), side="right") - 1


@launch.locked
def matrix_from_sorted(
    rows: Any, columns: Any, values: Any, shape: tuple[int, int], dtype: DataType, *, copy: bool
) -> MatrixStore:
    """Return a store of distinct entries that are sorted by row, then column."""
    xp = cuda.current().xp
    offsets = xp.searchsorted(rows.astype(np.int64), xp.arange(shape[0] + 1, dtype=np.int64), side="left")
    return _store(offsets, columns, values, shape[1], dtype, copy=copy, symmetric=False)


@launch.locked
def matrix_to_csr(store: MatrixStore, *, by_columns: bool = False) -> tuple[Any, Any, Any]:
    """Return `indptr` (int64), ids and values of the matrix or of its transpose, on the device; views where possible.

    Raises
    ------
    OutOfMemory
        The matrix is in host memory and does not fit the device.
    """
    xp = cuda.current().xp
    store = matrix_conversions.transpose(store) if by_columns else store
    rows = store.rows
    if rows is None:
        return xp.zeros(store.nrows + 1, np.int64), xp.empty(0, np.int32), xp.empty(0, store.dtype.np_type)
    needed = 0 if RECORDS[store.placement].resident else rows.indices.nbytes + rows.values.nbytes
    if needed > (space := budget.make_available(needed)):
        raise OutOfMemory(f"the arrays need {needed:,} bytes of device memory and {space:,} may be used")
    values = rows.values.load()
    return rows.indptr, _signed(rows), xp.repeat(values, rows.nvals) if rows.iso else values


def _signed(rows: Rows) -> Any:
    """Return ids as signed integers: a view of the same bits where no id becomes negative."""
    loaded = rows.indices.load()
    return (
        loaded.view(np.int64 if rows.wide else np.int32)
        if rows.wide or rows.ncols <= 2**31
        else loaded.astype(np.int64)
    )


@launch.locked
def vector_from_coo(at: Any, values: Any, dtype: DataType, size: int, where: str) -> VectorStore:
    """Return a vector of positions (in any order) and values; both are copied.

    Raises
    ------
    InvalidValue
        A position occurs twice.
    IndexOutOfBound
        A position is `size` or more.
    """
    store = VectorStore(dtype, size)
    store.put(ids(at, f"{where}: indices", size), vector_store.values_of(values, dtype, False))
    if store.bits is not None and presence_words.count(store.bits) != at.size:
        raise InvalidValue(f"{where}: Duplicate indices found: a position is there twice")
    return store


@launch.locked
def matrix_from_dense(values: Any, dtype: DataType, *, copy: bool) -> MatrixStore:
    """Return a matrix that has every entry of a two-dimensional array."""
    xp = cuda.current().xp
    nrows, ncols = values.shape
    offsets = xp.arange(nrows + 1, dtype=np.int64) * ncols
    columns = xp.tile(xp.arange(ncols, dtype=index_dtype(ncols, "device")), nrows)
    flat = xp.ascontiguousarray(values).reshape(-1)
    return _store(offsets, columns, flat, ncols, dtype, copy=copy, symmetric=False)


@launch.locked
def matrix_to_dense(store: MatrixStore, fill: Any, dtype: DataType) -> Any:
    """Return the matrix as a two-dimensional array on the device; one copy."""
    xp = cuda.current().xp
    offsets, columns, values = matrix_to_csr(store)
    made = xp.full((store.nrows, store.ncols), fill, dtype.np_type)
    made[row_ids(offsets, columns.size), columns] = values
    return made
