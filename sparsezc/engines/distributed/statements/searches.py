"""A step of many searches on GPUs: their frontier is a panel of one bit for each search and vertex.

Each rank counts the entries that the step would read. From the sums all decide alike which searches push and which
pull, as one GPU does (engines/gpu/products/multi_source_bfs.py). For pulls, ranks exchange lists of the frontier's
vertices, with a word of bits each; vertices that pushes reach are sent to their owners in the same form. If the bits of
all vertices take few more bytes, these travel: cards read them from each other faster than one builds lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import block_exchange, long_rows, matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.engines.distributed.parts.partition import COLUMNS
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.engines.distributed.parts.vector_exchange import id_type, listing
from sparsezc.engines.distributed.statements import search_batches
from sparsezc.expr import engines
from sparsezc.semirings.types.datatypes import INT32

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition

__all__ = ["levels", "step"]

_WORD = 8  # bytes of the bits of a vertex in a list
_BITS = 32  # of a presence word


def step(engine: DistributedEngine, e: Any, result: Store, write: Any) -> bool:
    """Run mxm of a matrix of few rows, cut by columns, if all entries of the result are equal; else return False."""
    A, B = e.operands
    frontier, matrix = A._store, B._store
    if A._transposed or frontier.partition.along != COLUMNS or result.partition.along != COLUMNS:
        return False
    stored = (A, B) if write.mask is None else (A, B, write.mask.parent)
    if any(x.dtype.is_udt for x in stored):
        return False
    other = matrix if engine.known_symmetric(B) else matrix.forms[matrix_exchange.Transpose].current(engine)
    push, pull = (other, matrix) if B._transposed else (matrix, other)
    parts = _local(engine, frontier, push, pull)
    mask = write.mask
    if mask is not None:
        mask = type(mask)(engine.local.settled(mask.parent._store.local), mask.structure, mask.complement)
    part = engines.capability(engine.local.engine, "shared_step")(e.op, *parts, mask)
    if part is None:
        return False
    reached = _reached(engine, part, (push, pull), result.partition)
    here = result.partition.hi - result.partition.lo
    if here:
        reached = part.bits(here) if reached is None else reached
        made = engine.local.vector(e.dtype, here * part.width, part.result(reached, here))
        put(result, block_exchange.rows_of_vector(engine, made, part.width), write)
    return True


def levels(engine: DistributedEngine, matrix: Store, sources: NDArray[np.int64]) -> Store | None:
    """Run all steps of searches, without a statement between; None, on all ranks, where statements run them."""
    shape = sources.size, matrix.shape[0]
    if engine.size == 1 or not engine.on_device or matrix.partition.is_whole or matrix.dtype.is_udt or not sources.size:
        return None
    engine.balancer.apply()
    long_rows.join(engine, matrix)
    if matrix.partition is not engine.partitions.of(matrix.shape):
        engine.move(matrix)
    partition = engine.partitions.of(shape)
    if partition.along != COLUMNS or search_batches.gain(engine, matrix, shape[0]) > 0:
        return None
    mine = np.flatnonzero((sources >= partition.lo) & (sources < partition.hi))
    starts = (sources[mine] - partition.lo) * shape[0] + mine
    push, pull = matrix, matrix if matrix.symmetric else matrix.forms[matrix_exchange.Transpose].current(engine)
    rows = _local(engine, push, pull)
    here = partition.hi - partition.lo
    part = engines.capability(engine.local.engine, "shared_searches")(starts, (shape[0], here), *rows)
    told = engine.transport.numbers(part is not None, *([0] * 3 if part is None else part.rows()))
    if not told[:, 0].all():
        return None
    window, heard = part.memory(partition.bounds)
    shared = engine.transport.shared(window, heard, partition.bounds.tobytes(), matrix) if window else None
    if shared is None:
        part.begin()
        while (reached := _reached(engine, part.step(), (push, pull), partition)) is not None:
            part.turn(reached)
    else:
        cards = shared.arrays, engine.rank, partition.bounds, shared.told.view(np.uint64), shared.wait, shared.left
        came, left = part.run_on_cards(cards, told[:, 1:], pulls=pull is not None)
        shared.count_received(came)
        shared.leave(left)
    local = engine.local.matrix(INT32, (shape[0], here))
    if here:
        vector = engine.local.vector(INT32, here * shape[0], part.levels())
        local = block_exchange.rows_of_vector(engine, vector, shape[0])
    return Store(local, partition, shape)


def _local(engine: DistributedEngine, *stores: Store | None) -> list[Any]:
    return [None if x is None else engine.local.settled(x.local)._store for x in stores]


def _reached(engine: DistributedEngine, part: Any, rows: tuple[Any, Any], partition: Partition) -> Any:
    """Run a step by the rows to push and to pull (or None); return this rank's reached bits, None without frontier."""
    told = engine.balancer.numbers(*part.work())
    if not told[:, 0].any():
        return None
    pushes, pulls = part.divide(told, pushes=rows[0] is not None, pulls=rows[1] is not None)
    reached = _at_owners(engine, part, partition) if pushes else part.bits(partition.hi - partition.lo)
    if pulls:
        part.pulled(_whole(engine, part, partition, told[:, 0]), int(partition.bounds[-1]), reached)
    return reached


def _lists(engine: DistributedEngine, entries: int, receivers: int, n: int, width: int) -> bool:
    """Return whether lists of `entries` vertices take fewer bytes than the bits of n vertices for each receiver."""
    return entries * (id_type(n).itemsize + _WORD) + listing(engine) < receivers * n * width // 8


def _whole(engine: DistributedEngine, part: Any, partition: Partition, counts: NDArray[np.int64]) -> Any:
    """Return the bits of all vertices of the frontier."""
    n = int(partition.bounds[-1])
    if not _lists(engine, int(counts.sum()), 1, n, part.width):
        return engine.transport.gather(part.frontier_bits(), _words(partition, part.width))
    at, words = part.frontier(partition.lo, id_type(n).itemsize == 8)
    at, words = engine.transport.gather_both(at, words, counts, counts)
    bits = part.bits(n)
    part.put(at, words, 0, bits)
    return bits


def _at_owners(engine: DistributedEngine, part: Any, partition: Partition) -> Any:
    """Push, and return the bits of this rank's vertices that are reached from any rank."""
    n, size, rank = int(partition.bounds[-1]), engine.size, engine.rank
    bits, lengths = part.bits(n), _words(partition, part.width)
    part.pushed(bits)
    length = int(lengths[rank])
    if _lists(engine, 0, size - 1, n, part.width):  # lists of few vertices would save bytes
        sent = part.counted(bits, n, partition.local_bounds(engine), rank)
        told = engine.transport.numbers(*sent.tolist())
        if _lists(engine, int(told.sum()), size - 1, n, part.width):
            received = told[:, rank].copy()
            at, words = part.listed(bits, n, sent, (partition.local_bounds(engine), rank), id_type(n).itemsize == 8)
            at, words = engine.transport.scatter_both(at, words, (sent, sent), (received, received))
            first = int(lengths[:rank].sum())
            mine = bits[first : first + length].copy()
            part.put(at, words, partition.lo, mine)
            return mine
    arrived = engine.transport.scatter(bits, lengths, np.full(size, length))
    mine = arrived[:length]
    for r in range(1, size):
        mine |= arrived[r * length : (r + 1) * length]
    return mine


def _words(partition: Partition, width: int) -> NDArray[np.int64]:
    """Return the 32-bit words that the bits of each rank's vertices take; ranges begin at whole words."""
    return -(-partition.sizes * width // _BITS)
