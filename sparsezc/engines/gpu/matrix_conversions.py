"""Conversions of matrix stores: to a Csr, transpose, cast, resize, compression, another vertex order."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import matrix_map
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.elementwise.transpose import transposed
from sparsezc.engines.gpu.storage import assembly
from sparsezc.engines.gpu.storage import permute_matrix as permute
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.engines.gpu.storage.vertex_order import Order
from sparsezc.memory import budget
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings import select
from sparsezc.semirings.types.datatypes import BOOL, INT64, DataType

_MIN_FREE = 4  # times the bytes of a matrix in device memory: with less free memory, no product builds the transpose


def csr_of(store: MatrixStore) -> Csr:
    """Return a store as a Csr over the same buffers; only the offsets are copied to the host."""
    rows, gpu = store.in_stored_order()[0], cuda.current()
    if rows is not None and rows.order is not None:
        rows = rows.plain()
    if rows is None:
        return Csr.from_arrays(
            np.zeros(store.nrows + 1, np.int64), np.empty(0, np.uint64), np.empty(0, store.dtype.np_type), store.ncols,
            dtype=store.dtype,
        )  # fmt: skip
    indptr = gpu.asnumpy(rows.indptr)
    return Csr(store.nrows, store.ncols, indptr, rows.indices, rows.values, store.dtype, rows.iso, store.symmetric)


class LentRows(NamedTuple):
    """The rows of a matrix whose ids the host can read in place; the offsets are in device memory."""

    indices: NDArray[Any]
    indptr: Any

    def ends(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions at which each of these rows begins and ends. Waits for the device."""
        gpu, both = cuda.current(), np.stack((rows, rows + 1))  # a call takes as long as many rows
        begin, end = gpu.asnumpy(self.indptr.take(gpu.xp.asarray(both)))
        return begin, end


def lend_rows(store: MatrixStore) -> Any:
    """Return a context that lends the rows of a store to the host; None if the host cannot read them in place.

    The caller calls :meth:`LentRows.ends` before it reads ids, as only that waits for kernels that write them. The ids
    of a file are not lent: each is checked when it is read, so lending would check all.
    """
    rows = store.in_stored_order()[0]
    if rows is None or rows.compressed or rows.order is not None:
        return None
    record = RECORDS[rows.indices.placement]
    return nullcontext(LentRows(rows.indices.read(), rows.indptr)) if record.in_place and not record.file else None


def transpose(store: MatrixStore) -> MatrixStore:
    """Return the transpose as a store that shares both orientations, building the second one if necessary."""
    rows, columns = store.in_stored_order()
    if columns is None and rows is not None:
        columns = _transposed(rows)
    return MatrixStore(store.dtype, store.ncols, store.nrows, columns, rows)


def operand(matrix: Any) -> MatrixStore:
    """Return the store of a Matrix or, if it is a transpose, a store of the transpose."""
    store: MatrixStore = matrix._store
    return transpose(store) if matrix._transposed else store


def _transposed(rows: Rows) -> Rows:
    """Return the rows of the transpose, in the same vertex order and compressed if the given rows are."""
    made = transposed(rows)
    if rows.order is not None:
        made = dataclasses.replace(made, order=rows.order)
    return made.compress() if rows.compressed else made


def keep_transpose(store: MatrixStore) -> None:
    """Build the other orientation if it does not exist, so that both push and pull are possible."""
    rows, columns = store.in_stored_order()
    if columns is None and rows is not None:
        store.keep_columns(_transposed(rows))


def afford_transpose(store: MatrixStore) -> bool:
    """Build the other orientation if memory suffices; return whether it exists now."""
    rows, columns = store.in_stored_order()
    if columns is None and rows is not None:
        nbytes = rows.indices.nbytes + rows.values.nbytes
        if RECORDS[store.placement].resident and _MIN_FREE * nbytes > budget.available():
            return False
        try:
            keep_transpose(store)
        except MemoryError:  # less memory is free than the driver reported
            return False
    return True


def resident(store: MatrixStore, times: int) -> MatrixStore | None:
    """Return a copy in device memory; None if `times` copies do not fit, or if it is there, compressed or reordered."""
    rows, columns = store.in_stored_order()
    if rows is None or rows.compressed or rows.order is not None:
        return None
    near = assembly.near(rows, values=True, times=times)
    if near is rows:
        return None
    return MatrixStore(store.dtype, store.nrows, store.ncols, near, near if columns is rows else None)


def compress(store: MatrixStore, order: str) -> MatrixStore:
    """Return the matrix with the ids of both orientations compressed; values, which never change, are shared.

    `order`: "natural", "degree", or "auto" for the order with fewer bytes.
    """
    rows, columns = store.in_stored_order()
    if rows is None:
        return MatrixStore(store.dtype, store.nrows, store.ncols, None)
    by = None
    if order != "natural" and permute.can_be(rows):
        by = permute.by_degree(rows, columns) if order == "degree" else permute.better(rows, columns)
    if by is not None:
        rows, columns = permute.both(rows, columns, by)
    made = rows.compress()
    other = made if columns is rows else None if columns is None else columns.compress()
    return MatrixStore(store.dtype, store.nrows, store.ncols, made, other)


def reorder(store: MatrixStore, vertices: NDArray[Any]) -> MatrixStore:
    """Return the matrix stored in this vertex order; statements still take and return the users' numbers."""
    rows, columns = store.in_stored_order()
    if rows is None:
        return MatrixStore(store.dtype, store.nrows, store.ncols, None)
    symmetric, rows = columns is rows, rows.plain()
    columns = rows if symmetric else None if columns is None else columns.plain()
    made = permute.both(rows, columns, Order.of(cuda.current().xp.asarray(vertices)))
    return MatrixStore(store.dtype, store.nrows, store.ncols, *made)


def pointers(store: VectorStore) -> MatrixStore:
    """Return the square matrix in device memory with an entry (i, v(i)) for each entry of a vector of positions."""
    xp, n = cuda.current().xp, store.size
    store.arrange(None)
    if not (count := store.nvals()):
        return MatrixStore(BOOL, n, n, None)
    indptr, ids = xp.arange(n + 1, dtype=np.int64), store.values.astype(index_dtype(n, "device"))
    if count < n:
        kept, moved = Kept.of(n, store.bits), xp.empty(count, ids.dtype)
        kept.move(ids, 0, moved, 0, ids.dtype.itemsize == 8, BOOL)
        indptr, ids = kept.offsets(indptr), moved
    return MatrixStore(
        BOOL, n, n, Rows(n, n, count, indptr, DeviceBuffer(ids), DeviceBuffer(xp.ones(1, np.bool_)), True)
    )


def cast(store: MatrixStore, dtype: DataType) -> MatrixStore:
    """Return a copy with values of another type in the same placement; ids, which never change, are shared."""
    if store.is_panel:
        copy = MatrixStore(dtype, store.nrows, store.ncols, None)
        copy.hold(store.panel.cast(dtype))
        return copy
    held, columns = store.in_stored_order()
    if held is None:
        return MatrixStore(dtype, store.nrows, store.ncols, None)
    rows = matrix_map.cast(held, store.dtype, dtype)
    if columns is held:
        columns = rows
    elif columns is not None:
        columns = matrix_map.cast(columns, store.dtype, dtype)
    return MatrixStore(dtype, store.nrows, store.ncols, rows, columns)


def resize(store: MatrixStore, nrows: int, ncols: int) -> None:
    """Change the shape of a matrix; entries outside the new shape are dropped."""
    kept = store
    for op, before, after in ((select.rowle, store.nrows, nrows), (select.colle, store.ncols, ncols)):
        if after < before:
            kept = matrix_map.select(op[store.dtype], kept, after - 1, INT64)
    rows, xp = kept.rows, cuda.current().xp
    if rows is not None:
        indptr = rows.indptr[: nrows + 1]
        more = xp.full(nrows + 1 - indptr.size, rows.nvals, np.int64)
        indptr = xp.concatenate([indptr, more])
        rows = Rows(nrows, ncols, rows.nvals, indptr, rows.indices, rows.values, rows.iso)
    store.replace(rows, shape=(nrows, ncols))
