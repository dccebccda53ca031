"""Matrix stores: made from and read into a Csr, cast, resized; and the way to the CPU engine and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import device, engines
from sparsezc.config import config
from sparsezc.csr import Csr, index_dtype
from sparsezc.engines.gpu import entries
from sparsezc.engines.gpu.stores import MatrixStore, Rows, VectorStore, rows_of
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.semirings.types import DataType
from sparsezc.semirings.types import cast as cast_values

_PART = 1 << 24  # entries that are converted at a time


def store_of(csr: Csr) -> MatrixStore:
    """A store over the buffers of a Csr that lie where kernels can read them."""
    if csr.nvals == 0:
        return MatrixStore(csr.dtype, csr.nrows, csr.ncols, None)
    rows = rows_of(csr)
    return MatrixStore(csr.dtype, csr.nrows, csr.ncols, rows, rows if csr.symmetric else None)


def csr_of(store: MatrixStore) -> Csr:
    """The rows of a store, in the buffers that they lie in; the offsets come to the host."""
    if store.rows is None:
        return Csr.from_arrays(
            np.zeros(store.nrows + 1, np.int64), np.empty(0, np.uint64), np.empty(0, store.dtype.np_type), store.ncols,
            dtype=store.dtype,
        )  # fmt: skip
    rows, gpu = store.rows, device.current()
    indptr = gpu.asnumpy(rows.indptr)
    return Csr(store.nrows, store.ncols, indptr, rows.indices, rows.values, store.dtype, rows.iso, store.symmetric)


def transpose(store: MatrixStore) -> MatrixStore | None:
    """The transpose; None where making it does not fit on the device. Both orientations are kept: they are there."""
    if store.rows is None:
        return MatrixStore(store.dtype, store.ncols, store.nrows, None)
    if not add_columns(store):
        return None
    return MatrixStore(store.dtype, store.ncols, store.nrows, store.columns, store.rows)


def add_columns(store: MatrixStore) -> bool:
    """Make the other orientation too, so that push and pull are both possible; False where that does not fit."""
    if store.columns is None and store.rows is not None:
        store.columns = entries.transposed(store.rows)
    return store.columns is not None or store.rows is None


def keep_transpose(store: MatrixStore) -> None:
    """The same whatever the size: on the host where the device has no room to sort."""
    if add_columns(store) or store.rows is None:
        return
    from scipy import sparse  # a tenth of a second to import, for what is rarely needed

    csr = csr_of(store)
    ids, values = csr.indices.read(), csr.values.read()
    # SciPy moves the entries by a counting sort; with an iso-valued matrix their order is not needed.
    moved = values if not csr.iso else np.ones(csr.nvals, np.bool_)
    flipped = sparse.csr_array((moved, ids, csr.indptr), shape=(csr.nrows, csr.ncols)).tocsc()
    moved = values if csr.iso else flipped.data
    made = Csr.from_arrays(flipped.indptr, flipped.indices, moved, csr.nrows, dtype=csr.dtype)
    store.columns = rows_of(made.place(store.placement))


def become(store: MatrixStore, other: MatrixStore) -> None:
    """Take over another store's content."""
    store.rows, store.columns = other.rows, other.columns


def cast(store: MatrixStore, dtype: DataType) -> MatrixStore:
    """A copy with its values in another type, in the same placement; ids are shared, for nobody changes them."""
    if store.rows is None:
        return MatrixStore(dtype, store.nrows, store.ncols, None)
    rows = _cast_rows(store.rows, store.dtype, dtype)
    columns = store.columns
    if columns is store.rows:
        columns = rows
    elif columns is not None:
        columns = _cast_rows(columns, store.dtype, dtype)
    return MatrixStore(dtype, store.nrows, store.ncols, rows, columns)


def _cast_rows(rows: Rows, before: DataType, after: DataType) -> Rows:
    values: Buffer = rows.values
    if before is not after:
        values = allocate(rows.values.placement, rows.values.count, after.np_type)
        for start in range(0, values.count, _PART):
            part = rows.values.read(start, min(start + _PART, values.count))
            values.write(start, cast_values(part, after))
    return Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, rows.iso)


def resize(store: MatrixStore, nrows: int, ncols: int) -> None:
    """Change the shape; entries outside are dropped (through the host)."""
    if store.rows is not None:
        store.rows = _resized(csr_of(store), nrows, ncols)
        store.columns = None
    store.nrows, store.ncols = nrows, ncols


def _resized(csr: Csr, nrows: int, ncols: int) -> Rows | None:
    placement = csr.indices.placement
    keep = csr.indices.read() < ncols
    row = np.repeat(np.arange(csr.nrows), np.diff(csr.indptr))
    keep &= row < nrows
    indptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(np.bincount(row[keep], minlength=nrows)[:nrows], out=indptr[1:])
    values = csr.values.read() if csr.iso else csr.values.read()[keep]
    changed = Csr.from_arrays(indptr, csr.indices.read()[keep], values, ncols, dtype=csr.dtype)
    changed = changed.place(placement, ids=index_dtype(ncols, placement))
    return rows_of(changed) if changed.nvals else None


def on_cpu(expression: Any, out: Any, mask: Any, accum: Any, replace: bool) -> None:
    """Run an expression on the CPU engine: its operands are copied there, its output comes back."""
    cpu = engines.get("cpu")

    def moved(x: Any) -> Any:
        if not getattr(x, "ndim", 0):
            return x
        return x.T.to("cpu").T if x._transposed else x.to("cpu")

    there = expression.with_operands(moved)
    if mask is not None:
        mask = type(mask)(moved(mask.parent), mask.structure, mask.complement)
    if out.ndim == 0:
        cpu.run(there, out, mask, accum, replace)
        return
    copy = out.to("cpu")
    cpu.run(there, copy, mask, accum, replace)
    if out.ndim == 1:
        replace_vector(out._store, *cpu.vector_to_coo(copy._store))
    else:
        replace_matrix(out._store, cpu.matrix_to_csr(copy._store))


def replace_vector(store: VectorStore, indices: Any, values: Any) -> None:
    """Give a vector other entries."""
    fresh = engines.get("gpu").vector_from_coo(indices, values, store.dtype, store.size)
    store.set(fresh.values, fresh.bits, fresh.count)


def replace_matrix(store: MatrixStore, csr: Csr) -> None:
    """Give a matrix other entries, in the placement that it had or, if it had none, the configured one."""
    placement = store.placement
    if store.rows is None:
        placement = budget.resolve(config.placement, csr.placed_nbytes, csr.nrows)
    fresh = store_of(csr.place(placement))
    store.rows, store.columns = fresh.rows, fresh.columns
