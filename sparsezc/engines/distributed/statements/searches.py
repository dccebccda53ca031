"""A step of many searches on GPUs: their frontier is the rows of a panel, one bit for each search and vertex.

All ranks count what the step would read. From the sums each decides alike which searches push and which pull, as one
GPU does (engines/gpu/products/multi_source_bfs.py). Pulls get the vertices of the frontier, with a word of bits each;
what pushes reach goes to its owners in the same form. Where the bits of all vertices take few more bytes, these travel:
cards read them from each other in less time than one makes lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import pieces
from sparsezc.engines.distributed.parts.exchange import id_type, listing
from sparsezc.engines.distributed.parts.layout import COLUMNS
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.expr import engines

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.layout import Layout
    from sparsezc.engines.distributed.parts.stores import Store

__all__ = ["step"]

_WORD = 8  # bytes of the bits of a vertex in a list
_BITS = 32  # of a presence word


def step(engine: DistributedEngine, e: Any, result: Store, write: Any) -> bool:
    """Run mxm of a matrix of few rows, cut by columns, if all entries of the result are equal; else return False."""
    A, B = e.operands
    frontier, matrix = A._store, B._store
    if A._transposed or frontier.layout.along != COLUMNS or result.layout.along != COLUMNS:
        return False
    stored = (A, B) if write.mask is None else (A, B, write.mask.parent)
    if any(x.dtype.is_udt for x in stored):
        return False
    other = matrix if engine.known_symmetric(B) else matrix.turned
    push, pull = (other, matrix) if B._transposed else (matrix, other)
    parts = [None if x is None else engine.local.settled(x.local)._store for x in (frontier, push, pull)]
    mask = write.mask
    if mask is not None:
        mask = type(mask)(engine.local.settled(mask.parent._store.local), mask.structure, mask.complement)
    part = engines.capability(engine.local.engine, "shared_step")(e.op, *parts, mask)
    if part is None:
        return False
    told = engine.balancer.numbers(*part.work())
    pushes, pulls = part.divide(told, pushes=push is not None, pulls=pull is not None)
    here = result.layout.hi - result.layout.lo
    reached = _at_owners(engine, part, result.layout) if pushes else part.bits(here)
    if pulls:
        part.pulled(_whole(engine, part, frontier, told[:, 0]), frontier.ncols, reached)
    if here:
        made = engine.local.vector(e.dtype, here * part.width, part.result(reached, here))
        put(result, pieces.rows_of_vector(engine, made, part.width), write)
    return True


def _lists(engine: DistributedEngine, entries: int, receivers: int, n: int, width: int) -> bool:
    """Return whether so many listed vertices take fewer bytes than the bits of n vertices for each receiver."""
    return entries * (id_type(n).itemsize + _WORD) + listing(engine) < receivers * n * width // 8


def _whole(engine: DistributedEngine, part: Any, frontier: Store, counts: NDArray[np.int64]) -> Any:
    """Return the bits of all vertices of the frontier."""
    layout, n = frontier.layout, frontier.ncols
    if not _lists(engine, int(counts.sum()), 1, n, part.width):
        return engine.transport.gather(part.frontier_bits(), _words(layout, part.width))
    at, words = part.frontier(layout.lo, id_type(n).itemsize == 8)
    at, words = engine.transport.gather_both(at, words, counts, counts)
    bits = part.bits(n)
    part.put(at, words, 0, bits)
    return bits


def _at_owners(engine: DistributedEngine, part: Any, layout: Layout) -> Any:
    """Push, and return the bits of this rank's vertices that are reached from any rank."""
    n, size, rank = int(layout.bounds[-1]), engine.size, engine.rank
    bits, lengths = part.pushed(n), _words(layout, part.width)
    first, length = int(lengths[:rank].sum()), int(lengths[rank])
    mine = bits[first : first + length].copy()
    if layout.local_bounds is None:
        layout.local_bounds = engine.as_local(layout.bounds)
    sent = part.counted(bits, n, layout.local_bounds, rank)
    told = engine.transport.numbers(*sent.tolist())
    if _lists(engine, int(told.sum()), size - 1, n, part.width):
        received = told[:, rank].copy()
        at, words = part.listed(bits, n, sent, (layout.local_bounds, rank), id_type(n).itemsize == 8)
        at, words = engine.transport.scatter_both(at, words, (sent, sent), (received, received))
        part.put(at, words, layout.lo, mine)
        return mine
    arrived = engine.transport.scatter(bits, lengths, np.full(size, length))
    for r in range(size):
        mine |= arrived[r * length : (r + 1) * length]
    return mine


def _words(layout: Layout, width: int) -> NDArray[np.int64]:
    """Return the words of 32 bits that each rank's vertices take; ranges begin at whole words."""
    return -(-layout.sizes * width // _BITS)
