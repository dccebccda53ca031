"""Entries of matrices by their positions in the whole, and rows or entries requested from their owners.

All arrays here are in host memory, whatever the local engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr

if TYPE_CHECKING:
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["answered", "asked_rows", "asked_vector", "listed", "matrix_of", "part_of_vector", "recut", "triples"]

Ints = NDArray[np.int64]


def listed(at: Ints) -> IndexList:
    """Return a list of positions as an index."""
    return IndexList("list", at.astype(np.uint64), int(at.size))


def triples(engine: Keeper, x: Any) -> tuple[Ints, Ints, NDArray[Any]]:
    """Return rows, columns and values of an operand's entries on this rank; on rank 0 only if every rank has all."""
    store = x._store
    partition = store.partition
    if partition.is_whole and engine.rank:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, store.dtype.np_type)
    indptr, ids, values = matrix_exchange.host_csr(store.local)
    rows, columns = np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), ids.astype(np.int64)
    if partition.along is ROWS:
        rows = rows + partition.lo
    elif partition.along is COLUMNS:
        columns = columns + partition.lo
    return (columns, rows, values) if x._transposed else (rows, columns, values)


def matrix_of(
    engine: Keeper, rows: Ints, columns: Ints, values: NDArray[Any], shape: tuple[int, ...], dtype: DataType
) -> Any:
    """Make this rank's part of a matrix from entries of any positions on each rank, each on one rank only."""
    partition, transport = engine.partitions.of(shape), engine.transport
    if partition.is_whole or engine.size == 1:
        counts = transport.numbers(rows.size)[:, 0].copy()
        rows, columns, values = (transport.gather(np.ascontiguousarray(x), counts) for x in (rows, columns, values))
    else:
        owner = np.searchsorted(partition.bounds, columns if partition.along is COLUMNS else rows, side="right") - 1
        order = np.argsort(owner, kind="stable")
        sent = np.bincount(owner, minlength=engine.size)
        received = transport.numbers(*sent.tolist())[:, engine.rank].copy()
        rows, columns, values = (transport.scatter(x[order], sent, received) for x in (rows, columns, values))
        rows, columns = (rows, columns - partition.lo) if partition.along is COLUMNS else (rows - partition.lo, columns)
    here = partition.local_shape(shape)
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=here[0]))]).astype(np.int64)
    ids, values = columns[order].astype(np.uint64), np.ascontiguousarray(values[order])
    return engine.local.matrix_of(Csr(here[0], here[1], indptr, wrap(ids), wrap(values), dtype))


def part_of_vector(engine: Keeper, whole: Any, partition: Partition) -> Any:
    """Return this rank's range of a local vector of all positions."""
    here = partition.hi - partition.lo
    if partition.is_whole or engine.size == 1:
        return whole
    if not here:
        return engine.local.vector(whole.dtype, 0)
    key = IndexList("range", range(partition.lo, partition.hi), here)
    return new(Expression("extract", (whole, key), None, whole.dtype, (here,)), engine.local)


def recut(engine: Keeper, values: NDArray[Any], held: Ints, wanted: Ints) -> NDArray[Any]:
    """Move consecutive values from bounds `held`, where rank r has ``held[r]:held[r + 1]``, to bounds `wanted`."""

    def shared(a: Ints, b: Ints) -> Ints:
        found: Ints = np.maximum(np.minimum(a[1:], b[1]) - np.maximum(a[:-1], b[0]), 0)
        return found

    r = engine.rank
    found: NDArray[Any] = engine.transport.scatter(
        np.ascontiguousarray(values), shared(wanted, held[r : r + 2]), shared(held, wanted[r : r + 2])
    )
    return found


# Requests: each rank lists positions, and their owners answer.


def _asked(engine: Keeper, at: Ints, partition: Partition) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the order by owners, the positions requested of this rank, and the requests to and from each rank."""
    owner = np.searchsorted(partition.bounds, at, side="right") - 1
    order = np.argsort(owner, kind="stable")
    sent = np.bincount(owner, minlength=engine.size)
    received = engine.transport.numbers(*sent.tolist())[:, engine.rank].copy()
    asked = engine.transport.scatter(at[order], sent, received) - partition.lo
    return order, asked, sent, received


def answered(engine: Keeper, at: Ints, partition: Partition, answer: Any, *more: NDArray[Any]) -> NDArray[Any]:
    """Return ``answer(positions, *more)`` of the owner of each position, with positions relative to its first one.

    Parameters
    ----------
    at : ndarray of int64
        Positions of the whole.
    partition : Partition
        The owners.
    answer : callable
        Takes the requested positions and the arrays that came with them; returns an array of a value for each.
    *more : ndarray
        Arrays of an element for each request, which is sent with it.
    """
    order, asked, sent, received = _asked(engine, at, partition)
    scatter = engine.transport.scatter
    given = answer(asked, *(scatter(x[order], sent, received) for x in more))
    arrived = scatter(np.ascontiguousarray(given), received, sent)
    found: NDArray[Any] = np.empty_like(arrived)
    found[order] = arrived
    return found


def asked_rows(engine: Keeper, store: Store, rows: Ints) -> Any:
    """Return some rows of a matrix as a local matrix, row k of which is ``rows[k]``; each rank gives a list of its own.

    Columns are those of the whole. A matrix that is not cut by rows has few rows: every rank gathers the whole.
    """
    shape = (int(rows.size), store.shape[1])
    partition = store.partition
    if partition.along is not ROWS or engine.size == 1:
        whole = matrix_exchange.whole_matrix(engine, store)
        if not rows.size or not shape[1]:
            return engine.local.matrix(store.dtype, shape)
        key = (listed(rows), IndexList("all", None, shape[1]))
        return new(Expression("extract", (whole, *key), None, store.dtype, shape), engine.local)
    scatter = engine.transport.scatter
    order, asked, sent, received = _asked(engine, rows, partition)
    part = engine.local.matrix(store.dtype, (int(asked.size), shape[1]))
    if asked.size and shape[1]:
        key = (listed(asked), IndexList("all", None, shape[1]))
        part = new(Expression("extract", (store.local, *key), None, store.dtype, part.shape), engine.local)
    indptr, ids, values = matrix_exchange.host_csr(part)
    degrees = scatter(np.diff(indptr), received, sent)
    entries_sent = np.diff(indptr[np.concatenate([[0], np.cumsum(received)])])
    entries = np.diff(np.concatenate([[0], np.cumsum(degrees)])[np.concatenate([[0], np.cumsum(sent)])])
    ids, values = (scatter(np.ascontiguousarray(x), entries_sent, entries) for x in (ids, values))
    # restore the order of the requests
    row = np.repeat(order, degrees)
    back = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows.size))]).astype(np.int64)
    return engine.local.matrix_of(Csr(shape[0], shape[1], indptr, wrap(ids[back]), wrap(values[back]), store.dtype))


def asked_vector(engine: Keeper, store: Store, at: Ints) -> Any:
    """Return a vector's entries at some positions as a local vector; each rank gives a list of its own."""
    size = int(at.size)
    if store.partition.is_whole or engine.size == 1 or store.dtype.is_udt:
        whole = vector_exchange.whole_vector(engine, store)
        if not size:
            return engine.local.vector(store.dtype, 0)
        return new(Expression("extract", (whole, listed(at)), None, store.dtype, (size,)), engine.local)
    here = store.partition.hi - store.partition.lo
    has, dense = np.zeros(here, np.bool_), np.zeros(here, store.dtype.np_type)
    if here:
        ids, values = engine.local.engine.vector_to_coo(store.local._need()[1])
        has[ids.astype(np.int64)], dense[ids.astype(np.int64)] = True, values
    kind = np.dtype([("has", np.bool_), ("value", store.dtype.np_type)])

    def answer(asked: Ints) -> NDArray[Any]:
        given = np.empty(asked.size, kind)
        given["has"], given["value"] = has[asked], dense[asked]
        return given

    found = answered(engine, at, store.partition, answer)
    places = np.flatnonzero(found["has"])
    if not size:
        return engine.local.vector(store.dtype, 0)
    values = np.ascontiguousarray(found["value"][places])
    made = engine.local.engine.vector_from_coo(places.astype(np.uint64), values, store.dtype, size)
    return engine.local.vector(store.dtype, size, made)
