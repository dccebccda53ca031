"""Methods of the distributed engine that make, read and change stores.

Arguments that are arrays are equal on every rank, and each rank takes its part; arrays returned are whole on every
rank. So ``nvals``, ``to_coo`` and the like are collectives: all ranks must call them.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.distributed.parts import long_rows, matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS, Partition, cut_rows
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.engines.distributed.transports.agreement import refuse_difference
from sparsezc.expr import engines
from sparsezc.expr.operand import Operand
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types.datatypes import BOOL, DataType

if TYPE_CHECKING:
    from sparsezc.engines.distributed.balancer import Balancer
    from sparsezc.engines.distributed.parts.local_objects import Locals
    from sparsezc.engines.distributed.parts.partition import Partitions
    from sparsezc.engines.distributed.transports.protocol import Transport

__all__ = ["Keeper"]


class Keeper:
    """The methods of the engine protocol that do not compute; see :class:`sparsezc.expr.engines.Engine`."""

    partitions: Partitions
    local: Locals
    rank: int
    size: int
    latest: Any
    forced: bool
    on_device: bool
    balancer: Balancer

    @property
    def transport(self) -> Transport:
        """Return the transport."""
        raise NotImplementedError

    def as_local(self, array: Any) -> Any:
        """Return a NumPy array in the local engine's memory."""
        return cuda.current().xp.asarray(array) if self.on_device else array

    def zeros(self, count: int, dtype: Any) -> Any:
        """Return zeros in the local engine's memory."""
        return (cuda.current().xp if self.on_device else np).zeros(count, dtype)

    def counts(self, store: Store) -> NDArray[np.int64]:
        """Return the number of entries of each rank's part; a collective if they are not known."""
        if store.counts is None:
            self._count(store)
        counts: NDArray[np.int64] = store.counts  # type: ignore[assignment]
        return counts

    def _count(self, store: Store) -> None:
        """Collect the entries of each rank, and for a vector those of the matrix rows that it will likely read."""
        if store.partition.is_whole or self.size == 1:
            counts = np.full(self.size, store.local.nvals, np.int64)
            if store.partition.is_whole and self.size > 1:
                counts[1:] = 0  # every rank has all entries: they are counted once
            store.counted(counts)
            return
        rows = self.likely_rows(store)
        if rows is None:
            store.counted(self.balancer.numbers(store.local.nvals)[:, 0].copy())
            return
        both = self.balancer.numbers(*matrix_exchange.count_frontier(self, store, rows))
        store.counted(both[:, 0].copy(), both[:, 1].copy(), rows)

    def likely_rows(self, store: Store) -> Store | None:
        """Return the matrix that a vector will likely be multiplied with next; None if none is known."""
        if len(store.shape) != 1:
            return None
        found: Store | None = store.rows or self.latest.get(store.shape[0])
        return found if found is not None and found.partition.bounds is store.partition.bounds else None

    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Store:
        partition = self.partitions.of((nrows, ncols))
        local = self.local.matrix(dtype, partition.local_shape((nrows, ncols)))
        return Store(local, partition, (nrows, ncols), counts=np.zeros(self.size, np.int64))

    def new_vector(self, dtype: DataType, size: int) -> Store:
        partition = self.partitions.of((size,))
        local = self.local.vector(dtype, partition.hi - partition.lo)
        return Store(local, partition, (size,), counts=np.zeros(self.size, np.int64))

    def _refuse_other(self, what: str, *told: Any) -> None:
        """Raise an error on all ranks if they give different objects and ``config.check`` is on."""
        if config.check:
            refuse_difference(
                self.transport, what, told, ("its shape", "its type", "its number of entries", "its content")
            )

    def matrix_from_csr(self, csr: Csr) -> Store:
        content = (csr.indptr, on_host(csr.indices.read()), on_host(csr.values.read())) if config.check else ()
        self._refuse_other(
            "a matrix that ranks distribute", (csr.nrows, csr.ncols), csr.dtype.name, csr.nvals, _sum(*content)
        )
        return self.parts_of(csr, split=True)

    def parts_of(self, csr: Csr, *, split: bool = False) -> Store:
        """Make the store of a matrix that all ranks have; `split`: each rank gets a part of long rows."""
        shape = (csr.nrows, csr.ncols)
        placement = csr.indices.placement
        lengthy, long, degrees = long_rows.long_rows(csr.indptr, self.size), None, np.diff(csr.indptr)
        if split and lengthy.size and self.partitions.of(shape).along == ROWS and not csr.dtype.is_udt:
            csr, long = long_rows.split(self, csr, lengthy)
        if not self.partitions.is_cut(csr.nrows):
            self.partitions.cut(cut_rows(csr.indptr, self.size))
        partition = self.partitions.of(shape)
        if partition.along is COLUMNS:
            return Store(self._columns_of(csr, partition), partition, shape)
        rows = matrix_exchange.placed(rows_of(csr, partition.lo, partition.hi), placement)
        rows.known_symmetric(csr.symmetric)  # of use for one rank only, which searches as the plain engine does
        counts = (
            None if partition.is_whole else np.diff(csr.indptr[partition.bounds]) + (0 if long is None else long.counts)
        )
        made = self.of_rows(rows, partition, shape, csr.symmetric, counts=counts, long=long)
        self.set_column_degrees(made, degrees)
        return made

    def _columns_of(self, csr: Csr, partition: Partition) -> Any:
        ids, values = csr.indices.read().astype(np.int64), csr.values.read()
        here = (ids >= partition.lo) & (ids < partition.hi)
        kept = np.concatenate([[0], np.cumsum(here)])[csr.indptr]
        values = values if csr.iso else values[here]
        ids = (ids[here] - partition.lo).astype(np.uint64)
        iso = csr.iso and ids.size != 1
        made = Csr(csr.nrows, partition.hi - partition.lo, kept, wrap(ids), wrap(values), csr.dtype, iso)
        return self.local.matrix_of(made)

    def of_rows(
        self, csr: Csr, partition: Partition, shape: tuple[int, int], symmetric: bool, *,
        counts: NDArray[Any] | None = None, long: long_rows.LongRows | None = None,
    ) -> Store:  # fmt: skip
        """Make the store of a matrix of this rank's rows, whose ids are columns of the whole."""
        csr.known_symmetric(csr.symmetric and csr.nrows == csr.ncols)  # some rows of a matrix are not symmetric
        made = Store(self.local.matrix_of(csr), partition, shape, symmetric=symmetric, counts=counts, long=long)
        if shape[0] == shape[1] and not partition.is_whole:
            self.latest[shape[0]] = made
        return made

    def set_column_degrees(self, store: Store, degrees: NDArray[np.int64]) -> None:
        """Pass the degrees of all rows of a symmetric matrix to the local engine, which has some rows only."""
        if self.on_device and store.symmetric and not store.partition.is_whole:
            engines.capability(self.local.engine, "set_column_degrees")(store.local._need()[1], degrees)

    def matrix_to_csr(self, store: Store) -> Csr:
        long_rows.join(self, store)
        return matrix_exchange.whole_csr(self, store).known_symmetric(store.symmetric)

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Store:
        told = size, dtype.name, indices.size, _sum(indices, values) if config.check else 0
        self._refuse_other("a vector that ranks distribute", *told)
        partition = self.partitions.of((size,))
        first, last = np.searchsorted(indices, [partition.lo, partition.hi])
        at = np.asarray(indices[first:last], np.uint64) - np.uint64(partition.lo)
        vals = np.asarray(values)
        vals = vals if vals.ndim == 0 or vals.size != indices.size else vals[first:last]
        engine, here = self.local.engine, partition.hi - partition.lo
        local = self.local.vector(dtype, here, engine.vector_from_coo(at, vals, dtype, here) if here else None)
        counts = None if partition.is_whole else np.diff(np.searchsorted(indices, partition.bounds))
        return Store(local, partition, (size,), counts=counts)

    def vector_to_coo(self, store: Store) -> tuple[NDArray[Any], NDArray[Any]]:
        whole = vector_exchange.whole_vector(self, store)
        found: tuple[NDArray[Any], NDArray[Any]] = self.local.engine.vector_to_coo(self.local.settled(whole)._store)
        return found

    def dup(self, store: Store, dtype: DataType) -> Store:
        long_rows.join(self, store)
        local = self.local.settled(store.local.dup(dtype))
        made = Store(local, store.partition, store.shape, symmetric=store.symmetric)
        made.counted(store.counts, store.edges, store.rows)
        return made

    def nvals(self, store: Store) -> int:
        return int(self.counts(store).sum())

    def clear(self, store: Store) -> None:
        store.local.clear()
        store.changed(np.zeros(self.size, np.int64))
        store.lose_symmetry()

    def resize(self, store: Store, *shape: int) -> None:
        if len(shape) == 1:
            ids, values = self.vector_to_coo(store)
            kept = ids < shape[0]
            made = self.vector_from_coo(ids[kept], values[kept], store.dtype, shape[0])
        else:
            long_rows.join(self, store)
            whole = matrix_exchange.whole_matrix(self, store)
            whole.resize(*shape)
            made = self.parts_of(whole._to_csr())
        store.take(made)

    def wait(self, store: Store) -> None:
        store.local.wait()

    # Methods that only some engines have; see :class:`sparsezc.expr.engines.Capabilities`
    def communicator(self) -> Transport:
        return self.transport

    def summary(self, store: Store) -> str:
        """Return a summary of this rank's part: counting all entries would need the other ranks."""
        partition = store.partition
        if partition.is_whole:
            return f"{store.local.nvals:,} entries (whole on each of {self.size} ranks)"
        what = "columns" if partition.along is COLUMNS else "positions" if len(store.shape) == 1 else "rows"
        return (
            f"{store.local.nvals:,} entries in {what} {partition.lo}:{partition.hi} (rank {self.rank} of {self.size})"
        )

    def distributed(self, matrix: Any) -> Any:
        """Return a distributed matrix of a matrix that all ranks have."""
        if matrix._engine is self or (self.size == 1 and not self.forced):
            return matrix
        self.refuse_different(matrix, "distribute")
        csr = matrix._to_csr()
        store = self.matrix_from_csr(csr)
        made = Operand._kinds[2]._from_store(self, store, csr.dtype, (csr.nrows, csr.ncols), matrix.name)
        return made._known_symmetric(csr.symmetric)

    def refuse_different(self, given: Any, method: str) -> None:
        """Raise an error on all ranks if they give matrices or vectors of other sizes or types."""
        told = (*given.shape, given.nvals, given.dtype.name, given.ndim == 2 and bool(given._symmetric))
        sizes = ("nrows", "ncols") if given.ndim == 2 else ("size",)
        refuse_difference(self.transport, f"{given.name}.{method}", told, (*sizes, "nvals", "dtype", "symmetric"))

    def agreed(self, *found: Any) -> tuple[Any, ...]:
        """Return rank 0's arrays on every rank, in place of those that each rank computed."""
        made = []
        for mine in map(np.asarray, found):
            counts = np.zeros(self.size, np.int64)
            counts[0] = mine.size
            given = mine.ravel() if self.rank == 0 else np.empty(0, mine.dtype)
            made.append(self.transport.gather(given, counts).reshape(mine.shape))
        return tuple(made)

    def afford_transpose(self, store: Store) -> None:
        """Build the transpose, so that products with it gather the vector as those with the matrix do."""
        if self.size > 1 and not store.symmetric:
            long_rows.join(self, store)
            matrix_exchange.turned(self, store)

    def keep_transpose(self, store: Store) -> None:
        self.afford_transpose(store)

    def pointers(self, store: Store) -> Store | None:
        n = store.shape[0]
        partition = self.partitions.of((n, n))
        if store.partition.bounds is not partition.bounds:
            return None
        ids, values = self.local.engine.vector_to_coo(store.local._need()[1])
        here = partition.hi - partition.lo
        indptr = np.searchsorted(ids, np.arange(here + 1, dtype=np.uint64))
        csr = Csr.from_arrays(indptr, values.astype(np.uint64), np.ones(1, np.bool_), n, dtype=BOOL)
        return Store(self.local.matrix_of(csr), partition, (n, n), counts=store.counts)

    def id_bytes(self, store: Store) -> int | None:
        mine = engines.capability(self.local.engine, "id_bytes")(store.local._need()[1])
        return None if mine is None else int(self.transport.numbers(mine).sum())


def _sum(*arrays: Any) -> int:
    """Return the CRC-32 of the bytes of arrays."""
    crc = 0
    for array in arrays:
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, crc)
    return crc


def rows_of(csr: Csr, lo: int, hi: int) -> Csr:
    """Return rows ``lo:hi`` of a matrix, with arrays of their own."""
    first, last = int(csr.indptr[lo]), int(csr.indptr[hi])
    ids = csr.indices.read(first, last)
    values = csr.values.read() if csr.iso else csr.values.read(first, last)
    values, iso = (np.repeat(values, last - first), False) if csr.iso and last - first == 1 else (values, csr.iso)
    return Csr(
        hi - lo, csr.ncols, csr.indptr[lo : hi + 1] - first, wrap(np.array(ids)), wrap(np.array(values)), csr.dtype, iso
    )
