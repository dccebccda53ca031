"""Exchanges of matrices of few rows, as CSR arrays: to the owners of their columns, or to all ranks.

Columns ascend within each row, and those of a rank are below those of the next, so nothing is sorted. The numbers of
entries of each row and rank are exchanged first, then the columns and the values, in one message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts.matrix_exchange import host_csr
from sparsezc.engines.distributed.parts.row_exchange import folded
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["at_owners", "whole"]


def whole(engine: Keeper, store: Store, *, reads: bool) -> Any:
    """Return a matrix of few rows, cut by columns, with the entries of all ranks; values are 1 unless `reads`."""
    partition, (k, n), dtype = store.partition, store.shape, store.dtype
    counts = engine.counts(store)
    total = int(counts.sum())
    if not total:
        return engine.local.matrix(dtype, (k, n))
    indptr, ids, values = host_csr(store.local)
    lengths = engine.transport.numbers(*np.diff(indptr).tolist())  # by rank and row
    ids = ids.astype(_id_type(partition))
    if reads:
        values, ids = engine.transport.gather_both(np.ascontiguousarray(values), ids, counts, counts)
        entries = np.empty(total, dtype.np_type)
    else:
        ids, entries = engine.transport.gather(ids, counts), np.ones(1, dtype.np_type)
    offsets = np.concatenate([[0], np.cumsum(lengths.sum(axis=0))]).astype(np.int64)
    columns, end = np.empty(total, np.uint64), 0
    for first, begins, each in zip(partition.bounds, np.cumsum(lengths, axis=0) - lengths, lengths, strict=False):
        for at, length in zip((offsets[:-1] + begins).tolist(), each.tolist(), strict=True):
            begin, end = end, end + length
            columns[at : at + length] = ids[begin:end]
            columns[at : at + length] += np.uint64(first)
            if reads:
                entries[at : at + length] = values[begin:end]
    return engine.local.matrix_of(Csr(k, n, offsets, wrap(columns), wrap(entries), dtype, not reads and total != 1))


def at_owners(
    engine: DistributedEngine,
    mine: Any,
    partition: Partition,
    op: Any,
    shape: tuple[int, ...],
    dtype: DataType,
    *,
    reads: bool,
) -> Any:
    """Fold partial results at the owners of columns; ``block_exchange.fold_matrix_at_owners`` is for any partition.

    `mine` has the whole's `shape`, of few rows; the result has this rank's columns.
    """
    k, size, here = shape[0], engine.size, partition.hi - partition.lo
    ids, values = np.empty(0, np.uint64), np.empty(0, dtype.np_type)
    cuts = np.zeros((k, size + 1), np.int64)
    if mine is not None:
        indptr, ids, values = host_csr(mine)
        for row in range(k):
            first, last = indptr[row], indptr[row + 1]
            cuts[row] = first + np.searchsorted(ids[first:last], partition.bounds.astype(np.uint64))
    sent = np.diff(cuts, axis=1).T  # by owner and row
    told = engine.transport.numbers(*sent.ravel().tolist()).reshape(size, size, k)
    got = told[:, engine.rank]  # by sender and row
    item = dtype.np_type.itemsize if reads else 0
    id_type = _id_type(partition)
    nbytes = item + id_type.itemsize
    message = [_part(ids, values if reads else None, cuts, r, (int(partition.bounds[r]), id_type)) for r in range(size)]
    arrived = engine.transport.scatter(
        np.concatenate([piece for part in message for piece in part]),
        sent.sum(axis=1) * nbytes, got.sum(axis=1) * nbytes,
    )  # fmt: skip
    if not here:
        return engine.local.matrix(dtype, (k, here))
    parts: list[Any] = []
    end = 0
    for counts in got:
        total = int(counts.sum())
        begin, middle, end = end, end + total * item, end + total * nbytes
        if not total:
            continue
        columns = arrived[middle:end].copy().view(id_type).astype(np.uint64)
        entries = arrived[begin:middle].copy().view(dtype.np_type) if reads else np.ones(1, dtype.np_type)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        iso = not reads and total != 1
        parts.append(engine.local.matrix_of(Csr(k, here, offsets, wrap(columns), wrap(entries), dtype, iso)))
    return folded(engine, parts, op, dtype, (k, here))


def _id_type(partition: Partition) -> np.dtype[Any]:
    """Return the type of column ids that are relative to their owner's first column."""
    return np.dtype(np.uint32 if partition.longest < 1 << 32 else np.uint64)


def _part(
    ids: NDArray[Any], values: NDArray[Any] | None, cuts: NDArray[np.int64], owner: int,
    counted: tuple[int, np.dtype[Any]],
) -> list[NDArray[np.uint8]]:  # fmt: skip
    """Return the bytes that an owner gets: values, then columns, by rows."""
    first, id_type = counted
    ranges = [slice(int(row[owner]), int(row[owner + 1])) for row in cuts]
    found = [] if values is None else [values[each].view(np.uint8) for each in ranges]
    return found + [(ids[each] - np.uint64(first)).astype(id_type).view(np.uint8) for each in ranges]
