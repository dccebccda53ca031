"""Moves of matrices of few rows between partitions by columns and by searches, and copies of a matrix on every rank.

By columns a rank has its vertices of all searches, by searches all vertices of its searches. On the GPU engine such a
matrix is a panel, in which the values of a vertex are adjacent: another rank gets a range of the panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.distributed.parts import block_exchange, column_exchange, matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import array_module
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.expr import engines
from sparsezc.memory import allocate, budget, wrap
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import BEYOND, FILES, HOST, HOSTS, RECORDS
from sparsezc.semirings import binary

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.store_methods import Keeper

__all__ = ["Batches", "Memory", "by_columns", "by_search", "fits", "memory_of", "pattern"]

_PART = 1 << 24  # ids that a rank sends at once
_SHARE = 0.5  # share of the free memory that the whole matrix may take


class Batches:
    """Form: the batches of searches in a matrix so far, and the matrix's pattern if every rank has all of it.

    Attributes
    ----------
    saved : float
        Seconds that the batches so far would have saved if cut by searches.
    whole : Matrix or None
        The pattern of the whole matrix, on the local engine; all ranks have it, or no rank has.
    """

    def __init__(self) -> None:
        self.drop()

    def drop(self) -> None:
        self.saved, self.whole = 0.0, None
        self._memory: tuple[Memory | None] | None = None

    def rows_moved(self, engine: Keeper) -> None:
        """Keep everything, as the whole matrix is the same."""

    def get_or_find_memory(self, engine: DistributedEngine, store: Store) -> Memory | None:
        """Return the memory of the matrix's ids; None: no rank gets all of it. A collective, at first use."""
        if self._memory is None:
            self._memory = (memory_of(engine, store),)
        return self._memory[0]

    def count(self, seconds: float) -> None:
        """Add the seconds that one more batch would have saved."""
        self.saved += seconds

    def gather(self, engine: DistributedEngine, store: Store, *, symmetric: bool) -> bool:
        """Give every rank the pattern of all of the matrix, if it fits; return whether it does. A collective."""
        memory = self.get_or_find_memory(engine, store)
        if memory is None or not fits(engine, store, memory):
            self._memory = (None,)
            return False
        self.whole = pattern(engine, store, memory, symmetric=symmetric)
        return True


@dataclass(frozen=True)
class Memory:
    """The memory of a matrix's ids on all ranks: the placement, whether it is device memory, and bytes of an id."""

    placement: str
    resident: bool
    id_bytes: int


def memory_of(engine: DistributedEngine, store: Store) -> Memory | None:
    """Return the memory of a matrix's ids; None if ranks differ, cards share it, or it has none. A collective."""
    mine = _placement(store.local) if not store.is_empty_range and store.local.nvals else None
    told = {each for each in engine.transport.objects(mine) if each is not None}
    if len(told) != 1:
        return None
    (placement,) = told
    if RECORDS[placement].spread:  # the ids are in the memory of all cards already
        return None
    return Memory(placement, RECORDS[placement].resident, index_dtype(store.ncols, placement).itemsize)


def _placement(matrix: Any) -> str:
    """Return the placement that the whole of a local matrix would have."""
    engine, kept = matrix._kept()
    stored = engines.capability(engine, "storage")(kept)
    found: str = HOST if stored is None or stored[1] is None else stored[1]
    return BEYOND if found in FILES else found


def fits(engine: DistributedEngine, store: Store, memory: Memory) -> bool:
    """Return whether the pattern of a whole matrix fits in every rank's memory. A collective."""
    entries = int(engine.counts(store).sum())
    nbytes = entries * memory.id_bytes + 8 * (store.nrows + 1)
    if memory.resident:
        good = nbytes <= _SHARE * budget.available()
    else:
        space = budget.host_available()  # shared by a machine's ranks and, on processors, copies of their parts
        copied = 0 if engine.on_device else entries * (memory.id_bytes + store.dtype.np_type.itemsize)
        good = space is None or nbytes * engine.size + copied <= _SHARE * space
    return bool(engine.transport.numbers(good)[:, 0].all())


def pattern(engine: DistributedEngine, store: Store, memory: Memory, *, symmetric: bool) -> Any:
    """Return the pattern of all of a matrix on every rank, on the local engine, in its placement. A collective."""
    counts, dtype = engine.counts(store), index_dtype(store.ncols, memory.placement)
    csr = store.local._to_csr()
    indptr = np.zeros(store.nrows + 1, np.int64)
    np.cumsum(engine.transport.gather(np.diff(csr.indptr), store.partition.sizes), out=indptr[1:])
    xp = cuda.current().xp if engine.on_device else np  # cards read each other's memory faster than host arrays travel
    made, begins = allocate(memory.placement, int(counts.sum()), dtype), np.cumsum(counts) - counts
    for first in range(0, int(counts.max()), _PART):
        sizes = np.clip(counts - first, 0, _PART)
        begin, end = np.minimum([first, first + _PART], counts[engine.rank]).tolist()
        ids = xp.empty(0, dtype)
        if end > begin:
            ids = csr.indices.load(begin, end) if engine.on_device else csr.indices.read(begin, end)
        arrived, at = engine.transport.gather(ids.astype(dtype, copy=False), sizes), 0
        arrived = on_host(arrived) if memory.placement in HOSTS else arrived
        for start, size in zip((begins + first).tolist(), sizes.tolist(), strict=True):
            if size:
                made.write(start, arrived[at : at + size])
            at += size
    one = allocate(memory.placement, 1, store.dtype.np_type)
    one.write(0, np.ones(1, store.dtype.np_type))
    whole = Csr(store.nrows, store.ncols, indptr, made, one, store.dtype, made.count != 1, symmetric=symmetric)
    return engine.local.matrix_of(whole, symmetric=symmetric)


def by_search(engine: DistributedEngine, store: Store) -> None:
    """Give each rank some rows of a matrix of few rows and few entries. A collective."""
    partition = engine.partitions.by_search(store.nrows)
    csr = matrix_exchange.whole_csr(engine, store)
    first, last = (int(csr.indptr[at]) for at in (partition.lo, partition.hi))
    ids, values = on_host(csr.indices.read())[first:last].copy(), on_host(csr.values.read())
    values = np.repeat(values[:1], last - first) if csr.iso else values[first:last].copy()
    rows = Csr.from_arrays(
        csr.indptr[partition.lo : partition.hi + 1] - first, ids, values, store.ncols, dtype=store.dtype
    )
    counts = np.diff(csr.indptr[partition.bounds])
    here = engine.local.matrix_of(rows) if ids.size else engine.local.matrix(store.dtype, (rows.nrows, store.ncols))
    store.replace(here, partition, counts)


def by_columns(engine: DistributedEngine, store: Store) -> None:
    """Give each rank its columns of a matrix of which it has some rows. A collective."""
    partition, held, shape, dtype = engine.partitions.of(store.shape), store.partition, store.shape, store.dtype
    if engine.on_device and block_exchange.has_panels(engine):
        made = _panels(engine, store, partition)
    else:
        mine = None
        if not store.is_empty_range:
            indptr, ids, values = matrix_exchange.host_csr(store.local)
            offsets = np.zeros(shape[0] + 1, np.int64)
            offsets[held.lo : held.hi + 1], offsets[held.hi + 1 :] = indptr, indptr[-1]
            mine = engine.local.matrix_of(Csr(shape[0], shape[1], offsets, wrap(ids), wrap(values), dtype, False))
        made = column_exchange.at_owners(engine, mine, partition, binary.second[dtype], shape, dtype, reads=True)
    store.replace(made, partition)


def _panels(engine: DistributedEngine, store: Store, partition: Any) -> Any:
    """Send ranges of panels to the owners of their vertices, which join the searches of all ranks in one panel."""
    local, dtype, rows, here = engine.local, store.dtype, store.partition.sizes, partition.hi - partition.lo
    width = int(rows[engine.rank])
    words, values = engine.zeros(0, np.uint32), engine.zeros(0, dtype.np_type)
    if width:
        words, values = local.arrays(block_exchange.vector_of_rows(engine, store.local), "words")
    sent, received = (partition.sizes * width, here * rows)
    in_words = [-(-each // 32) for each in (sent, received)]  # ranges begin at whole words
    words, values = engine.transport.scatter_both(words, values, (in_words[0], sent), (in_words[1], received))
    if not here:
        return local.matrix(dtype, partition.local_shape(store.shape))
    xp, bits, entries = array_module(words), [], []
    ends = np.cumsum(in_words[1]), np.cumsum(received)
    for k, last, end in zip(rows.tolist(), *(each.tolist() for each in ends), strict=True):
        begin = last - -(-here * k // 32)
        each = xp.unpackbits(words[begin:last].view(np.uint8), bitorder="little")
        bits.append(each[: here * k].reshape(here, k))
        entries.append(values[end - here * k : end].reshape(here, k))
    packed = xp.packbits(xp.concatenate(bits, axis=1).reshape(-1), bitorder="little")
    whole = xp.zeros(-(-here * store.nrows // 32) * 4, np.uint8)
    whole[: packed.size] = packed
    arrays = whole.view(np.uint32), xp.concatenate(entries, axis=1).reshape(-1)
    vector = local.from_arrays("words", arrays, dtype, here * store.nrows)
    return block_exchange.rows_of_vector(engine, vector, store.nrows)
