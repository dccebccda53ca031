"""Exchanges of parts of matrices: partial results to their owners, and blocks of rows round a ring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import column_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import array_module
from sparsezc.engines.distributed.parts.matrix_exchange import by_rows, host_csr, whole_matrix
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS, Partition
from sparsezc.engines.distributed.parts.row_exchange import (
    Rows,
    are_on_device,
    folded,
    matrix_of,
    on_host,
    rows_of,
    sent_to_owners,
)
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr import engines
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.semirings.types.datatypes import DataType

__all__ = [
    "fold_matrix_at_owners", "has_panels", "ring", "rows_at_owners", "rows_of_vector", "vector_of_rows", "whole_panel",
]  # fmt: skip


def fold_matrix_at_owners(
    engine: DistributedEngine, mine: Any, result: Store, op: Any, dtype: DataType, *, reads: bool
) -> Any:
    """Send this rank's partial results to the owners of their rows or columns, which fold all in rank order.

    Parameters
    ----------
    engine : DistributedEngine
    mine : Matrix or None
        A local matrix of the whole's shape; None: this rank has no entry.
    result : Store
        Its partition gives the owners.
    op : TypedOp
        The binary operator that folds.
    dtype : DataType
        The type of the result.
    reads : bool
        The values differ; otherwise all are 1 and none travel.

    Returns
    -------
    Matrix
        A local matrix of this rank's part.
    """
    partition, shape = result.partition, result.shape
    if partition.along == COLUMNS and has_panels(engine):
        return _panel_at_owners(engine, mine, result, op, dtype, reads=reads)
    if partition.along == COLUMNS:
        return column_exchange.at_owners(engine, mine, partition, op, shape, dtype, reads=reads)
    if partition.along == ROWS:
        if mine is None:
            mine = engine.local.matrix(dtype, shape)
        rows = rows_of(mine, are_on_device(engine, mine))
        parts = sent_to_owners(engine, rows, partition, shape[1], dtype, reads=reads)
        return folded(engine, parts, op, dtype, partition.local_shape(shape))
    return _on_every_rank(engine, mine, op, shape, dtype, reads=reads)


def _on_every_rank(
    engine: DistributedEngine, mine: Any, op: Any, shape: tuple[int, ...], dtype: DataType, *, reads: bool
) -> Any:
    """Fold a small matrix on every rank."""
    rows, ids, values = _entries(mine, dtype)
    counts = engine.transport.numbers(rows.size)[:, 0].copy()
    places = engine.transport.gather(rows * shape[1] + ids, counts)
    values = engine.transport.gather(values, counts) if reads else np.ones(places.size, dtype.np_type)
    ends, parts = np.cumsum(counts), []
    for first, last in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        at = places[first:last]
        csr = by_rows(at // shape[1], (at % shape[1]).astype(np.uint64), values[first:last], shape, dtype)
        parts.append(engine.local.matrix_of(csr) if at.size else None)
    return folded(engine, parts, op, dtype, shape)


# On the GPU engine a matrix of k rows is one dense vector, in which the k values of a column are adjacent: a range of
# columns is a range of the vector, which is exchanged as vectors are and never leaves the device.


def has_panels(engine: DistributedEngine) -> bool:
    """Return whether the local engine stores matrices of few rows as dense vectors."""
    return engines.can(engine.local.engine, "rows_of_vector")


def vector_of_rows(engine: DistributedEngine, matrix: Any) -> Any:
    """Return a local matrix of few rows as a vector in which the values of a column are adjacent."""
    store = engines.capability(engine.local.engine, "vector_of_rows")(engine.local.settled(matrix)._store)
    return engine.local.vector(matrix.dtype, matrix.shape[0] * matrix.shape[1], store)


def rows_of_vector(engine: DistributedEngine, vector: Any, k: int) -> Any:
    """Return a local vector in which the k values of a column are adjacent as a matrix of k rows."""
    store = engines.capability(engine.local.engine, "rows_of_vector")(engine.local.settled(vector)._store, k)
    return engine.local.matrix(vector.dtype, (k, vector.size // k), store)


def _panel_at_owners(
    engine: DistributedEngine, mine: Any, result: Store, op: Any, dtype: DataType, *, reads: bool
) -> Any:
    k = result.shape[0]
    partition = Partition(0, result.partition.bounds * k, engine.rank)
    given = None if mine is None else vector_of_rows(engine, mine)
    most = result.partition.sizes * k
    if reads:
        most = engine.transport.numbers(0 if given is None else given.nvals)[:, 0]
    merged = vector_exchange.fold_vector_at_owners(engine, given, partition, op, most, reads=reads)
    if result.is_empty_range:
        return engine.local.matrix(dtype, result.partition.local_shape(result.shape))
    return rows_of_vector(engine, merged, k)


def whole_panel(engine: DistributedEngine, store: Store, *, reads: bool) -> Any:
    """Return a matrix of few rows, cut by columns, with the entries of all ranks; values are 1 unless `reads`."""
    if store.partition.along != COLUMNS or store.dtype.is_udt:
        return whole_matrix(engine, store)
    if not has_panels(engine):
        return column_exchange.whole(engine, store, reads=reads)
    k, n = store.shape
    counts = engine.counts(store)
    if not int(counts.sum()):
        return engine.local.matrix(store.dtype, store.shape)
    partition = Partition(0, store.partition.bounds * k, engine.rank)
    held = engine.local.vector(store.dtype, 0)
    if not store.is_empty_range:
        held = vector_of_rows(engine, store.local)
    vector = Store(held, partition, (k * n,), counts=counts)
    return rows_of_vector(engine, vector_exchange.whole_vector(engine, vector, reads=reads), k)


def _entries(mine: Any, dtype: DataType) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    if mine is None:
        none = np.empty(0, np.int64)
        return none, none, np.empty(0, dtype.np_type)
    indptr, ids, values = host_csr(mine)
    return np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), ids.astype(np.int64), values


def ring(engine: DistributedEngine, store: Store) -> Iterator[Any]:
    """Yield the rows of each rank, this one's first: local matrices of the whole's shape, None for no entries.

    At any time a rank has one block beside its own.
    """
    partition, size, dtype = store.partition, engine.size, store.dtype
    counts = engine.counts(store)
    indptr, ids, values, on_device = rows_of(store.local, are_on_device(engine, store.local))
    item, wide, xp = dtype.np_type.itemsize, ids.dtype.itemsize, array_module(ids)
    degrees = engine.as_local(np.diff(indptr)) if on_device else np.diff(indptr)
    mine = xp.concatenate([array.view(np.uint8) for array in map(xp.ascontiguousarray, (values, ids, degrees))])
    for step in range(size):
        owner = (engine.rank + step) % size
        count, rows = int(counts[owner]), int(partition.sizes[owner])
        if step:
            mine = engine.transport.shift(mine, count * (item + wide) + rows * 8)
        if not count:
            yield None
            continue
        ends = count * item, count * (item + wide)
        offsets = np.zeros(store.nrows + 1, np.int64)
        lo, hi = int(partition.bounds[owner]), int(partition.bounds[owner + 1])
        offsets[lo + 1 : hi + 1] = on_host(mine[ends[1] :].copy()).view(np.int64)
        np.cumsum(offsets, out=offsets)
        parts = (mine[: ends[0]].copy().view(dtype.np_type), mine[ends[0] : ends[1]].copy().view(ids.dtype))
        yield matrix_of(engine, Rows(offsets, parts[1], parts[0], on_device), store.ncols, dtype)


def rows_at_owners(engine: DistributedEngine, part: Any, places: NDArray[np.int64], shape: tuple[int, int]) -> Store:
    """Make a distributed matrix of rows in any places: row r of `part`, a local matrix, becomes row ``places[r]``.

    `places` ascend, and no two ranks have the same.
    """
    partition, transport, dtype = engine.partitions.of(shape), engine.transport, part.dtype
    if partition.along == ROWS:
        indptr, ids, values, on_device = rows_of(part, are_on_device(engine, part))
        offsets = indptr[np.searchsorted(places, np.arange(shape[0] + 1))]
        given = Rows(offsets, ids, values, on_device)
        parts = sent_to_owners(engine, given, partition, shape[1], dtype, reads=True)
        local = folded(engine, parts, binary.second[dtype], dtype, partition.local_shape(shape))
        return Store(local, partition, shape)
    indptr, ids, values = host_csr(part)
    rows = np.repeat(places, np.diff(indptr))
    counts = transport.numbers(ids.size)[:, 0].copy()
    rows, ids, values = (transport.gather(array, counts) for array in (rows, ids, values))
    return engine.parts_of(by_rows(rows, ids, values, shape, dtype))
