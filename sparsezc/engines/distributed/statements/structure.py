"""Statements that move entries to other positions, by one exchange of entries between their owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.engines.distributed.statements import entries, rowwise
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["argsort", "diag", "kronecker", "power", "reposition", "stack", "values_of", "with_values"]

Ints = NDArray[np.int64]


def _write(engine: DistributedEngine, e: Any, out: Any, write: Any, parts: tuple[Any, Any, Any]) -> None:
    """Write a matrix made of entries of any positions on each rank."""
    put(out._store, entries.matrix_of(engine, *parts, e.shape, e.dtype), write)
    out._store.changed()


def _positions(engine: DistributedEngine, x: Any) -> tuple[Ints, NDArray[Any]]:
    """Return positions and values of a vector's entries on this rank; on rank 0 only if every rank has all."""
    store = x._store
    if store.is_empty_range or (store.partition.is_whole and engine.rank):
        return np.empty(0, np.int64), np.empty(0, store.dtype.np_type)
    ids, values = engine.local.engine.vector_to_coo(store.local._need()[1])
    return ids.astype(np.int64) + (0 if store.partition.is_whole else store.partition.lo), values


def _vector_at_owners(engine: DistributedEngine, e: Any, result: Store, at: Ints, values: NDArray[Any]) -> Any:
    """Return this rank's part of a vector made of entries of any positions on each rank."""
    size = e.shape[0]
    mine = None
    if at.size:
        order = np.argsort(at, kind="stable")
        made = engine.local.engine.vector_from_coo(at[order].astype(np.uint64), values[order], e.dtype, size)
        mine = engine.local.vector(e.dtype, size, made)
    most = engine.transport.numbers(at.size)[:, 0].copy()
    return vector_exchange.fold_vector_at_owners(engine, mine, result.partition, binary.second[e.dtype], most)


def diag(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Make a diagonal matrix of a vector, or a vector of a diagonal."""
    if engine.size == 1:
        return False
    x, k = e.operands[0], int(e.operands[1].value)
    down, right = max(-k, 0), max(k, 0)
    if x.ndim == 1:
        at, values = _positions(engine, x)
        _write(engine, e, out, write, (at + down, at + right, values))
        return None
    rows, columns, values = entries.triples(engine, x)
    on = columns - rows == k
    put(out._store, _vector_at_owners(engine, e, out._store, rows[on] - down, values[on]), write)
    out._store.changed()
    return None


def reposition(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Shift all entries by some positions; write only the positions that shifted positions can reach."""
    if engine.size == 1:
        return False
    x, *offsets = e.operands
    by = [int(offset.value) for offset in offsets]
    region = [
        range(max(k, 0), max(min(old + k, size), max(k, 0))) for k, old, size in zip(by, x.shape, e.shape, strict=True)
    ]
    result, partition = out._store, out._store.partition
    if x.ndim == 1:
        at, values = _positions(engine, x)
        at = at + by[0]
        kept = (at >= 0) & (at < e.shape[0])
        made = _vector_at_owners(engine, e, result, at[kept], values[kept])
    else:
        rows, columns, values = entries.triples(engine, x)
        rows, columns = rows + by[0], columns + by[1]
        kept = (rows >= 0) & (rows < e.shape[0]) & (columns >= 0) & (columns < e.shape[1])
        made = entries.matrix_of(engine, rows[kept], columns[kept], values[kept], e.shape, e.dtype)
    if not partition.is_whole:
        cut = 1 if partition.along is COLUMNS else 0
        low, high = max(region[cut].start, partition.lo), min(region[cut].stop, partition.hi)
        region[cut] = range(low - partition.lo, max(high, low) - partition.lo)
    keys = tuple(IndexList("range", each, len(each)) for each in region)
    sizes = tuple(key.size for key in keys)
    if not result.is_empty_range and (all(sizes) or write.replace):
        part = engine.local.vector(e.dtype, *sizes) if x.ndim == 1 else engine.local.matrix(e.dtype, sizes)
        if all(sizes):
            part = new(Expression("extract", (made, *keys), None, e.dtype, sizes), engine.local)
        write_local(result, Expression("assign", (part, *keys), None, e.dtype, result.local.shape), write)
    result.changed()
    return None


def stack(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Concatenate the rows of matrices."""
    if engine.size == 1:
        return False
    parts, first = [], 0
    for x in e.operands:
        rows, columns, values = entries.triples(engine, x)
        parts.append((rows + first, columns, values))
        first += x.nrows
    rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    _write(engine, e, out, write, (rows, columns, values))
    return None


def kronecker(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Combine this rank's entries of the operand with more entries with the whole of the other."""
    A, B = e.operands
    if engine.size == 1 or e.op.is_positional or e.op.of_users:
        return False
    cut_second = engine.nvals(B._store) > engine.nvals(A._store)
    apart, other = (B, A) if cut_second else (A, B)
    i, j, x = entries.triples(engine, apart)
    shape = (int(np.unique(i).size), apart.shape[1])
    at, row = np.unique(i, return_inverse=True)  # rows without entries make none
    part = _local(engine, row, j, x, shape, apart.dtype)
    whole = rowwise.whole(engine, other)
    operands = (whole, part) if cut_second else (part, whole)
    inner = B.shape[0]
    p = shape[0] if cut_second else inner
    local = (operands[0].shape[0] * operands[1].shape[0], e.shape[1])
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, e.dtype.np_type)
    rows, columns, values = none
    if local[0] and local[1]:
        made = new(Expression("kronecker", operands, e.op, e.dtype, local), engine.local)
        indptr, ids, values = matrix_exchange.host_csr(made)
        rows, columns = np.repeat(np.arange(local[0]), np.diff(indptr)), ids.astype(np.int64)
        high, low = rows // p, rows % p
        rows = high * inner + at[low] if cut_second else at[high] * inner + low
    _write(engine, e, out, write, (rows, columns, values))
    return None


def _local(engine: DistributedEngine, rows: Ints, columns: Ints, values: Any, shape: Any, dtype: Any) -> Any:
    """Make a local matrix of entries."""
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int64)
    ids, values = columns[order].astype(np.uint64), np.ascontiguousarray(values[order])
    return engine.local.matrix_of(Csr(shape[0], shape[1], indptr, wrap(ids), wrap(values), dtype))


def power(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Compute a power by repeated squaring, in products of distributed matrices."""
    A, n = e.operands[0], int(e.operands[1].value)
    if engine.size == 1 or n < 1 or out._store.partition.is_whole or e.op.is_positional:
        return False
    factor = A.dup() if not A._transposed else A.new()
    made = None
    while n:
        if n & 1:
            made = factor if made is None else made.mxm(factor, e.op).new(e.dtype)
        n >>= 1
        if n:
            factor = factor.mxm(factor, e.op).new(e.dtype)
    put(out._store, made._store.local, write)  # type: ignore[union-attr]
    out._store.changed()
    return None


def values_of(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Write the values of a matrix's entries, in their order, to a vector."""
    store, result = e.operands[0]._store, out._store
    if e.operands[0]._transposed or store.partition.along is not ROWS or result.partition.is_whole or e.dtype.is_udt:
        return False
    held = np.concatenate([[0], np.cumsum(engine.counts(store))]).astype(np.int64)
    values = matrix_exchange.host_csr(store.local)[2]
    mine = entries.recut(engine, values, held, result.partition.bounds)
    put(result, engine.local.from_arrays("full", (engine.as_local(mine),), e.dtype, mine.size), write)
    result.changed()
    return None


def with_values(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Replace the values of a matrix's entries, in their order, by those of a vector."""
    A, v = e.operands
    store = A._store
    if (
        engine.size == 1
        or A._transposed
        or store.partition.along is COLUMNS
        or store.partition.is_whole
        or e.dtype.is_udt
    ):
        return False
    wanted = np.concatenate([[0], np.cumsum(engine.counts(store))]).astype(np.int64)
    if v._store.partition.is_whole:
        values = rowwise.whole(engine, v).to_dense()[wanted[engine.rank] : wanted[engine.rank + 1]]
    else:
        mine = v._store.local.to_dense() if not v._store.is_empty_range else np.empty(0, v.dtype.np_type)
        values = entries.recut(engine, mine, v._store.partition.bounds, wanted)
    if not out._store.is_empty_range:
        csr = store.local._to_csr()
        made = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, wrap(np.ascontiguousarray(values)), e.dtype)
        put(out._store, engine.local.matrix_of(made), write)
    out._store.changed()
    return None


def argsort(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Sort the positions of the smallest values: each rank selects among its own, then all sort the selected ones."""
    store, count = e.operands[0]._store, e.shape[0]
    if engine.size == 1 or store.partition.is_whole:
        return False
    held = engine.local.vector(store.dtype, store.partition.hi - store.partition.lo)
    most = min(count, store.local.nvals)
    if most:
        first = new(Expression("argsort", (store.local,), None, e.dtype, (most,)), engine.local)
        at = np.sort(first.to_dense())
        key = entries.listed(at)
        kept = new(Expression("extract", (store.local, key), None, store.dtype, (most,)), engine.local)
        values = kept.to_coo()[1]
        size = store.partition.hi - store.partition.lo
        made = engine.local.engine.vector_from_coo(at.astype(np.uint64), values, store.dtype, size)
        held = engine.local.vector(store.dtype, size, made)
    among = vector_exchange.whole_vector(engine, Store(held, store.partition, store.shape))
    whole = new(Expression("argsort", (among,), None, e.dtype, e.shape), engine.local)
    put(out._store, entries.part_of_vector(engine, whole, out._store.partition), write)
    out._store.changed()
    return None
