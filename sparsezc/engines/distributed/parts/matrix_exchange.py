"""Exchanges of matrices: the whole on every rank, transposes by an all-to-all, and rows that move to other ranks."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.engines.distributed.model.received_bytes import DENSE, FEW
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.engines.distributed.parts.row_exchange import (
    Rows,
    are_on_device,
    folded,
    on_host,
    rows_of,
    sent_to_owners,
)
from sparsezc.engines.distributed.parts.stores import Built, Store
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import budget, wrap
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.mapped import MappedBuffer
from sparsezc.memory.placement import BEYOND, FILES, HOSTS
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.store_methods import Keeper

__all__ = [
    "Degrees", "Transpose", "count_frontier", "move_rows", "moves_by_rows", "offsets", "placed", "require_on_all",
    "turned", "whole_csr", "whole_matrix",
]  # fmt: skip

_SMALL = 1 << 20  # bytes: less fits on every rank, so no collective checks it


class Degrees(Built[tuple[Any, int]]):
    """Form: the lengths of this rank's rows, in the local engine's memory, and the largest."""

    def get_or_build(self, engine: Keeper, matrix: Store) -> tuple[Any, int]:
        if self.built is None:
            degrees = np.diff(host_csr(matrix.local)[0])
            self.built = engine.as_local(degrees), int(degrees.max(initial=0))
        return self.built


class Transpose(Built[Store]):
    """Form: the transpose, cut by its own rows."""

    def get_or_build(self, engine: Keeper, store: Store) -> Store:
        """Return the transpose, built by an all-to-all at first use."""
        made = self.current(engine)
        if made is None:
            made = self.built = _transposed(engine, store)
        return made

    def current(self, engine: Keeper) -> Store | None:
        """Return the transpose, if built, in its shape's partition; a collective if that has changed."""
        if self.built is not None and self.built.partition is not engine.partitions.of(self.built.shape):
            if moves_by_rows(engine, self.built):
                move_rows(engine, self.built)
            else:
                self.drop()
        return self.built

    def rows_moved(self, engine: Keeper) -> None:
        """Move the transpose's rows, too, if its partition has changed."""
        self.current(engine)


def count_frontier(engine: Keeper, store: Store, matrix: Store) -> tuple[int, int]:
    """Return the number of a vector's entries on this rank, and of entries in the matrix rows at them, or more."""
    if store.is_empty_range:
        return 0, 0
    entries = engine.local.frontier_entries(store.local, matrix.local)
    nvals = int(store.local.nvals)
    if entries is not None:
        return nvals, entries
    if not nvals:
        return 0, 0
    if nvals * DENSE > store.partition.hi - store.partition.lo or matrix.partition.along == COLUMNS:
        return nvals, int(matrix.local.nvals)
    degrees, longest = matrix.forms[Degrees].get_or_build(engine, matrix)
    if nvals * longest <= FEW:
        return nvals, nvals * longest
    ids = engine.local.arrays(store.local, "ids")[0]
    return nvals, int(degrees[ids.astype(np.int64)].sum())


def host_csr(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[Any]]:
    """Return offsets, columns and values (one for each entry) of a local matrix as arrays in host memory."""
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
        The matrix does not fit a machine's memory.
    """
    if store.partition.is_whole or engine.size == 1:
        csr: Csr = store.local._to_csr()
        return csr
    counts = engine.counts(store)
    total = int(counts.sum())
    nbytes = 8 * (store.nrows + 1) + total * (8 + store.dtype.np_type.itemsize)
    require_on_all(engine, nbytes, f"the whole of a {store.nrows} x {store.ncols} matrix")
    by_columns = store.partition.along is COLUMNS
    indptr, ids, values = host_csr(store.local)
    if by_columns:
        ids = ids + np.uint64(store.partition.lo)
    lengths = np.full(engine.size, store.nrows, np.int64) if by_columns else store.partition.sizes
    transport = engine.transport
    degrees = transport.gather(np.diff(indptr), lengths)
    ids = transport.gather(ids, counts)
    values = _gathered_values(engine, values, counts, store.dtype)
    if not by_columns:
        return _made(np.concatenate([[0], np.cumsum(degrees)]), ids, values, store.ncols, store.dtype)
    rows = np.repeat(np.tile(np.arange(store.nrows), engine.size), degrees)
    return by_rows(rows, ids, values, store.shape, store.dtype)


def require_on_all(engine: Keeper, nbytes: int, what: str) -> None:
    """Raise OutOfMemory on every rank if a machine lacks `nbytes` of host memory for each of its ranks.

    Raises
    ------
    OutOfMemory
        The message names the machine.
    """
    if nbytes < _SMALL:
        return
    mine = platform.node(), budget.host_available(), config.host_budget is not None
    told = engine.transport.objects(mine)
    for rank, (machine, space, is_set) in enumerate(told):
        ranks = 1 if is_set else sum(other[0] == machine for other in told)  # config.host_budget limits one process
        if space is not None and nbytes * ranks > space:
            each = f" for each of {ranks} ranks" if ranks > 1 else ""
            raise OutOfMemory(
                f"{what} needs {nbytes:,} bytes of host memory{each}, and {space:,} may be used by rank {rank} of"
                f" {engine.size}, on {machine}"
            )


def _gathered_values(engine: Keeper, values: Any, counts: NDArray[np.int64], dtype: Any) -> Any:
    if dtype.is_udt:
        return np.concatenate(engine.transport.objects(values))
    return engine.transport.gather(values, counts)


def by_rows(rows: Any, columns: Any, values: Any, shape: tuple[int, ...], dtype: Any) -> Csr:
    """Return a Csr of entries in any order of rows, whose columns ascend within each row."""
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int64)
    return _made(indptr, columns[order], values[order], shape[1], dtype)


def whole_matrix(engine: Keeper, store: Store) -> Any:
    """Return all of a matrix on every rank, on the local engine."""
    if store.partition.is_whole or engine.size == 1:
        return store.local
    return engine.local.matrix_of(whole_csr(engine, store), symmetric=store.symmetric)


def offsets(matrix: Any) -> NDArray[np.int64]:
    """Return the offsets of a local matrix's rows."""
    found: NDArray[np.int64] = matrix._to_csr().indptr
    return found


def moves_by_rows(engine: Keeper, store: Store) -> bool:
    """Return whether a store is a matrix cut by rows, which :func:`move_rows` moves to its new partition."""
    by_rows = len(store.shape) == 2 and store.partition.along == engine.partitions.of(store.shape).along == ROWS
    return by_rows and not store.dtype.is_udt


def move_rows(engine: Keeper, store: Store) -> None:
    """Move the rows of a matrix, and of its transpose, to their owners by the current bounds: an all-to-all.

    Long rows do not move, as each rank has a part of each.
    """
    old, new, rank = store.partition, engine.partitions.of(store.shape), engine.rank
    csr = store.local._to_csr()
    cuts = np.clip(new.bounds, old.lo, old.hi) - old.lo
    ends = np.minimum(old.bounds[1:], new.bounds[rank + 1]) - np.maximum(old.bounds[:-1], new.bounds[rank])
    moved = engine.transport.numbers(*np.diff(csr.indptr[cuts]).tolist())
    degrees = engine.transport.scatter(np.diff(csr.indptr), np.diff(cuts), np.maximum(ends, 0))
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    made = _others_of_file(engine, store, csr, indptr, moved)
    if made is None:
        made = _sent(engine, store, csr, indptr, moved)
    store.move_rows(engine, made, new, moved.sum(axis=0) + (0 if store.long is None else store.long.counts))
    if engine.on_device and store.symmetric:
        engine.set_column_degrees(store, engine.transport.gather(degrees, new.sizes))
    store.forms.rows_moved(engine)


def _others_of_file(engine: Keeper, store: Store, csr: Csr, indptr: Any, moved: NDArray[np.int64]) -> Csr | None:
    """Return this rank's new rows, mapped from a file that all ranks have mapped; None, on all ranks, if there is none.

    Only offsets are exchanged: a rank maps other pages of the file, which its kernels read in its machine's page cache.
    """
    rank, before = engine.rank, engine.counts(store)
    first = int(before[:rank].sum())

    def is_of_file(buffer: Any) -> bool:
        return isinstance(buffer, MappedBuffer) and buffer.elsewhere is not None and buffer.part.first == first

    ready = csr.nvals > 0 and is_of_file(csr.indices) and (csr.iso or is_of_file(csr.values))
    if not engine.transport.numbers(ready)[:, 0].all():
        return None
    assert isinstance(csr.indices, MappedBuffer)
    assert csr.indices.elsewhere is not None
    after = moved.sum(axis=0)
    start = int(after[:rank].sum())
    stop = start + int(after[rank])
    values: Any = csr.values
    if not csr.iso:
        values = values.elsewhere(start, stop)
    ids, iso = csr.indices.elsewhere(start, stop), csr.iso and stop - start != 1
    return Csr(indptr.size - 1, store.ncols, indptr, ids, values, store.dtype, iso)


def _sent(engine: Keeper, store: Store, csr: Csr, indptr: Any, moved: NDArray[np.int64]) -> Csr:
    """Send rows to their new owners; return this rank's new rows."""
    ids, values = on_host(csr.indices.read()), on_host(csr.values.read())
    mine = (csr.indices.placement, values[0].tobytes() if csr.iso else None) if csr.nvals else None
    told = {each for each in engine.transport.objects(mine) if each is not None} or {(csr.indices.placement, None)}
    placement, same = min(told, key=str)
    iso = len(told) == 1 and same is not None  # one value stands for all on all ranks that have entries
    if csr.iso and not iso:
        values = np.repeat(values[:1], csr.nvals)
    sent, received, scatter = moved[engine.rank], moved[:, engine.rank].copy(), engine.transport.scatter
    ids = scatter(ids.astype(index_dtype(store.ncols, placement), copy=False), sent, received)
    if iso:
        values = np.frombuffer(same, store.dtype.np_type).copy()
    else:
        values = scatter(np.ascontiguousarray(values), sent, received)
    nrows = indptr.size - 1
    made = Csr(nrows, store.ncols, indptr, wrap(ids), wrap(values), store.dtype, iso and ids.size != 1)
    return placed(made, placement) if made.nvals else made


def placed(csr: Csr, placement: str) -> Csr:
    """Return a part in the placement of the whole; a part of a file is copied to host memory that kernels read."""
    if placement in HOSTS:
        return csr
    return csr.place(BEYOND if placement in FILES else placement)


def turned(engine: Keeper, store: Store) -> Store:
    """Return the transpose of a matrix, kept until the matrix changes; a collective, at first use."""
    return store if store.symmetric else store.forms[Transpose].get_or_build(engine, store)


def _transposed(engine: Keeper, store: Store) -> Store:
    shape = store.shape[::-1]
    partition, held = engine.partitions.of(shape), store.partition
    if held.is_whole or engine.size == 1 or (held.along is COLUMNS and partition.bounds is held.bounds):
        made = engine.local.settled(store.local.T.new())
        return Store(made, partition, shape)
    if held.along is COLUMNS:
        return engine.parts_of(engine.local.matrix_of(whole_csr(engine, store)).T.new()._to_csr())
    if partition.along is COLUMNS and partition.bounds is held.bounds:
        return Store(engine.local.settled(store.local.T.new()), partition, shape)
    if partition.along is COLUMNS or partition.is_whole:
        return engine.parts_of(whole_matrix(engine, store).T.new()._to_csr())
    if not store.dtype.is_udt:
        mine = store.local.T.new()
        indptr, ids, values, on_device = rows_of(mine, are_on_device(engine, mine))
        given = Rows(indptr, ids + ids.dtype.type(held.lo), values, on_device)
        parts = sent_to_owners(engine, given, partition, shape[1], store.dtype, reads=True)
        local = folded(engine, parts, binary.second[store.dtype], store.dtype, partition.local_shape(shape))
        return Store(local, partition, shape)
    indptr, ids, values = host_csr(store.local)
    rows = np.repeat(np.arange(held.lo, held.hi, dtype=np.uint64), np.diff(indptr))
    order = np.argsort(ids, kind="stable")
    ids, rows, values = ids[order], rows[order], values[order]
    csr = exchanged(engine, ids, rows, values, partition, shape, store.dtype)
    return Store(engine.local.matrix_of(csr), partition, shape)


def exchanged(
    engine: Keeper, rows: Any, columns: Any, values: Any, partition: Any, shape: tuple[int, ...], dtype: Any
) -> Csr:
    """Send entries, in ascending order of rows, to the owners of the rows; return this rank's rows.

    Columns ascend within each row, and lower ranks send lower columns.
    """
    sent = np.diff(np.searchsorted(rows, partition.bounds))
    received = engine.transport.numbers(*sent.tolist())[:, engine.rank].copy()
    scatter = engine.transport.scatter
    rows = scatter(rows.astype(np.int64), sent, received) - partition.lo
    columns = scatter(columns.astype(np.uint64), sent, received)
    if dtype.is_udt:
        pieces = engine.transport.objects(np.split(values, np.cumsum(sent)[:-1]))
        values = np.concatenate([piece[engine.rank] for piece in pieces])
    else:
        values = scatter(np.ascontiguousarray(values), sent, received)
    return by_rows(rows, columns, values, (partition.hi - partition.lo, shape[1]), dtype)
