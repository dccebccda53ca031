"""Matrices on their way between ranks: whole on every rank, or transposed by an all-to-all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.layout import COLUMNS
from sparsezc.engines.distributed.row_pieces import Rows, are_on_device, folded, on_host, rows_of, sent_to_owners
from sparsezc.engines.distributed.stores import Store
from sparsezc.memory import budget, wrap
from sparsezc.memory.csr import Csr
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.store_methods import Keeper

__all__ = ["count_frontier", "on_host", "turned", "whole_csr", "whole_matrix"]

_DENSE = 16  # a vector of more than one entry in so many positions is not looked at entry by entry


def count_frontier(engine: Keeper, store: Store, matrix: Store) -> tuple[int, int]:
    """Return a vector's entries on this rank, and how many of a matrix's rows are at them, or more."""
    if store.is_empty_range:
        return 0, 0
    entries = engine.local.frontier_entries(store.local, matrix.local)
    nvals = int(store.local.nvals)
    if entries is not None:
        return nvals, entries
    if not nvals:
        return 0, 0
    if nvals * _DENSE > store.layout.hi - store.layout.lo or matrix.layout.along == COLUMNS:
        return nvals, int(matrix.local.nvals)
    ids = engine.local.arrays(store.local, "ids")[0]
    if matrix._degrees is None:
        matrix._degrees = engine.as_local(np.diff(host_csr(matrix.local)[0]))
    return nvals, int(matrix._degrees[ids.astype(np.int64)].sum())


def host_csr(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[Any]]:
    """Return offsets, columns and values (one, if it stands for all) of a local matrix as arrays in host memory."""
    csr = matrix._to_csr()
    ids, values = csr.indices.read(), csr.values.read()
    ids, values = on_host(ids), on_host(values)
    values = np.repeat(values[:1], csr.nvals) if csr.iso else values
    return csr.indptr, ids.astype(np.uint64, copy=False), values


def _made(indptr: Any, ids: Any, values: Any, ncols: int, dtype: Any) -> Csr:
    return Csr(indptr.size - 1, ncols, indptr, wrap(ids), wrap(np.ascontiguousarray(values)), dtype)


def whole_csr(engine: Keeper, store: Store) -> Csr:
    """Return all of a matrix on every rank.

    Raises
    ------
    OutOfMemory
        It does not fit this machine's memory.
    """
    if store.layout.is_whole or engine.size == 1:
        csr: Csr = store.local._to_csr()
        return csr
    counts = engine.counts(store)
    total = int(counts.sum())
    budget.require_host(
        8 * (store.nrows + 1) + total * (8 + store.dtype.np_type.itemsize),
        f"the whole of a {store.nrows} x {store.ncols} matrix",
    )
    by_columns = store.layout.along is COLUMNS
    indptr, ids, values = host_csr(store.local)
    if by_columns:
        ids = ids + np.uint64(store.layout.lo)
    lengths = np.full(engine.size, store.nrows, np.int64) if by_columns else store.layout.sizes
    transport = engine.transport
    degrees = transport.gather(np.diff(indptr), lengths)
    ids = transport.gather(ids, counts)
    values = _gathered_values(engine, values, counts, store.dtype)
    if not by_columns:
        return _made(np.concatenate([[0], np.cumsum(degrees)]), ids, values, store.ncols, store.dtype)
    rows = np.repeat(np.tile(np.arange(store.nrows), engine.size), degrees)
    return by_rows(rows, ids, values, store.shape, store.dtype)


def _gathered_values(engine: Keeper, values: Any, counts: NDArray[np.int64], dtype: Any) -> Any:
    if dtype.is_udt:
        return np.concatenate(engine.transport.objects(values))
    return engine.transport.gather(values, counts)


def by_rows(rows: Any, columns: Any, values: Any, shape: tuple[int, ...], dtype: Any) -> Csr:
    """Return a Csr of entries whose columns ascend among those of each row."""
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int64)
    return _made(indptr, columns[order], values[order], shape[1], dtype)


def whole_matrix(engine: Keeper, store: Store) -> Any:
    """Return all of a matrix on every rank, on the local engine."""
    if store.layout.is_whole or engine.size == 1:
        return store.local
    return engine.local.matrix_of(whole_csr(engine, store), symmetric=store.symmetric)


def turned(engine: Keeper, store: Store) -> Store:
    """Return the transpose of a matrix by an all-to-all; the matrix keeps it until it changes."""
    if store.symmetric:
        return store
    if store.turned is None:
        store.turned = _turned(engine, store)
        store.turned.turned = None
    return store.turned


def _turned(engine: Keeper, store: Store) -> Store:
    shape = store.shape[::-1]
    layout, held = engine.layouts.of(shape), store.layout
    if held.is_whole or engine.size == 1 or (held.along is COLUMNS and layout.bounds is held.bounds):
        made = engine.local.settled(store.local.T.new())
        return Store(made, layout, shape)
    if held.along is COLUMNS:
        return engine.parts_of(engine.local.matrix_of(whole_csr(engine, store)).T.new()._to_csr())
    if layout.along is COLUMNS and layout.bounds is held.bounds:
        return Store(engine.local.settled(store.local.T.new()), layout, shape)
    if layout.along is COLUMNS or layout.is_whole:
        return engine.parts_of(whole_matrix(engine, store).T.new()._to_csr())
    if not store.dtype.is_udt:
        mine = store.local.T.new()
        indptr, ids, values, on_device = rows_of(mine, are_on_device(engine, mine))
        given = Rows(indptr, ids + ids.dtype.type(held.lo), values, on_device)
        parts = sent_to_owners(engine, given, layout, shape[1], store.dtype, reads=True)
        local = folded(engine, parts, binary.second[store.dtype], store.dtype, layout.local_shape(shape))
        return Store(local, layout, shape)
    indptr, ids, values = host_csr(store.local)
    rows = np.repeat(np.arange(held.lo, held.hi, dtype=np.uint64), np.diff(indptr))
    order = np.argsort(ids, kind="stable")
    ids, rows, values = ids[order], rows[order], values[order]
    csr = exchanged(engine, ids, rows, values, layout, shape, store.dtype)
    return Store(engine.local.matrix_of(csr), layout, shape)


def exchanged(
    engine: Keeper, rows: Any, columns: Any, values: Any, layout: Any, shape: tuple[int, ...], dtype: Any
) -> Csr:
    """Send entries to the owners of their rows, which ascend; return the rows of this rank.

    Columns ascend within each row, and those of a lower rank are lower.
    """
    sent = np.diff(np.searchsorted(rows, layout.bounds))
    received = engine.transport.numbers(*sent.tolist())[:, engine.rank].copy()
    scatter = engine.transport.scatter
    rows = scatter(rows.astype(np.int64), sent, received) - layout.lo
    columns = scatter(columns.astype(np.uint64), sent, received)
    if dtype.is_udt:
        pieces = engine.transport.objects(np.split(values, np.cumsum(sent)[:-1]))
        values = np.concatenate([piece[engine.rank] for piece in pieces])
    else:
        values = scatter(np.ascontiguousarray(values), sent, received)
    return by_rows(rows, columns, values, (layout.hi - layout.lo, shape[1]), dtype)
