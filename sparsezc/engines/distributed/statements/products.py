"""Products of a matrix with a vector: a pull gathers the vector, a push sends results to their owners.

A pull needs the matrix cut as the result is, a push as the vector is; a matrix that equals its transpose, or keeps it,
allows both. The direction is chosen by the matrix entries that are read: a push reads the rows at the vector's entries,
a pull at worst all.

The *halo* of a rank's rows are the positions in other ranks' ranges that they read. Once each rank has requested its
halo from the owners, only those values travel; the lists are kept until the matrix changes. Packing takes time, so a
halo is used if all ranks together request less than a share of the values that they would receive otherwise, which the
transport gives (``packs_below``): 0 where other ranks' memory is read faster than values are packed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts import long_rows, matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put, shifted, write_local
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.engines.distributed.parts.stores import Built, Store
from sparsezc.expr.expression import Expression

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition

__all__ = ["MOVABLE", "ONES", "Halo", "one_in", "product"]

#: A pull is chosen if a push would read more than one matrix entry in so many. A pull with early exit reads few entries
#: (Beamer's alpha); any other reads all, but a GPU writes its results in order. A processor's caches hold the results
#: of a push, so there a pull pays only if it gathers presence words alone.
STOPPING, READING, NEVER = 15, 2, 1
#: Monoids whose result shifts with its operands, so that positions may be relative to this rank's first.
MOVABLE = {"any", "min", "max"}
#: Monoids whose result is 1 if all operands are 1.
ONES = {"any", "min", "max", "times", "land", "lor", "band", "bor"}
_PART = 1 << 24  # ids that are read at a time


class Halo(NamedTuple):
    """The positions whose values ranks request from each other.

    Attributes
    ----------
    asked : array of int64
        Positions of the whole that this rank's rows read, ascending, none of them its own; in the engine's memory.
    given : array of int64
        Positions of this rank's range that the others read, by rank.
    sent, received : ndarray of int64, shape (ranks,)
        How many of `given` each rank reads, and how many of `asked` it owns.
    partition : Partition
        The partition of the vectors.
    """

    asked: Any
    given: Any
    sent: NDArray[np.int64]
    received: NDArray[np.int64]
    partition: Partition


def product(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run mxv or vxm."""
    left = e.operation == "vxm"
    v, A = e.operands if left else e.operands[::-1]
    store, x, result = A._store, v._store, out._store
    if engine.size == 1 or store.partition.is_whole:
        write_local(result, _times(e, _operand(store, A._transposed), x.local, e.shape[0]), write)
        result.changed()
        return None
    if e.op.reads & {"i", "j", "k"} and e.op.monoid.name not in MOVABLE:
        return False
    # The matrix is cut along the result's dimension, or else along the vector's.
    by_result = (A._transposed == left) != (store.partition.along == COLUMNS)
    other = store if engine.known_symmetric(A) else store.forms[matrix_exchange.Transpose].current(engine)
    pulled, pushed = (store, other) if by_result else (other, store)
    if x.partition.is_whole:  # the transpose of a narrow matrix is cut along the same dimension
        pushed = None
    elif result.partition.is_whole:
        pulled = None
    reads = e.op.of_users or ("x" if left else "y") in e.op.reads
    most = None
    if pulled is None or (pushed is not None and not x.is_full):
        most = _edges(engine, x, pushed)
    if pulled is not None and (most is None or pushed is None or _pulls(engine, e.op, most, pushed, reads)):
        asked = _halo_of(engine, pulled, x.partition) if reads and not x.dtype.is_udt else None
        whole = engine.local.by_position(vector_exchange.whole_vector(engine, x, reads=reads, halo=asked))
        _pull(engine, e, pulled, A._transposed != (not by_result), whole, result, write)
        result.expect_rows(pulled)
    else:
        assert pushed is not None
        assert most is not None
        _push(engine, e, pushed, A._transposed != by_result, x, result, write, most)
        result.expect_rows(pushed)
    return None


def _operand(store: Store, transposed: bool) -> Any:
    return store.local.T if transposed else store.local


def _edges(engine: DistributedEngine, x: Store, matrix: Store) -> NDArray[np.int64]:
    """Return the most entries that a push would read on each rank."""
    if x.edges is None or x.rows is not matrix:
        if x.is_full and matrix.counts is not None:
            return matrix.counts
        both = engine.balancer.numbers(*matrix_exchange.count_frontier(engine, x, matrix))
        x.counted(both[:, 0].copy(), both[:, 1].copy(), matrix)
    assert x.edges is not None
    return x.edges


def _pulls(engine: DistributedEngine, op: Any, most: NDArray[np.int64], matrix: Store, reads: bool) -> bool:
    return int(most.sum()) * one_in(engine, op, reads) > engine.nvals(matrix)


def one_in(engine: DistributedEngine, op: Any, reads: bool) -> int:
    """Return k: a pull is chosen if a push would read over one entry in k; `reads`: products read vector values."""
    if op.monoid.stops_anywhere or op.monoid.name == "lor":
        return STOPPING
    return READING if engine.on_device or not reads else NEVER


def _times(e: Any, M: Any, x: Any, size: int) -> Expression:
    return Expression(e.operation, (x, M) if e.operation == "vxm" else (M, x), e.op, e.dtype, (size,))


def _pull(
    engine: DistributedEngine, e: Any, matrix: Store, flipped: bool, whole: Any, result: Store, write: Any
) -> None:
    partition = result.partition
    expression = _times(e, _operand(matrix, flipped), whole, partition.hi - partition.lo)
    if matrix.long is not None:

        def here() -> Any:
            if result.is_empty_range:
                return engine.local.vector(e.dtype, partition.hi - partition.lo)
            return new(expression, engine.local)

        made = engine.balancer.timed(matrix, here)
        long_rows.add_results(engine, e, matrix.long, flipped, whole, made, result)
        put(result, made, write)
        result.changed()
        return
    if not _counts_part(e, pull=True):
        engine.balancer.timed(matrix, lambda: write_local(result, expression, write))
    elif not result.is_empty_range:
        put(result, shifted(new(expression, engine.local), partition.lo), write)
    result.changed()


def _push(
    engine: DistributedEngine, e: Any, matrix: Store, flipped: bool, x: Store, result: Store, write: Any,
    most: NDArray[np.int64],
) -> None:  # fmt: skip
    M = _operand(matrix, flipped)

    def here() -> Any:
        if x.is_empty_range or not most[engine.rank]:
            return None
        return new(_times(e, M, x.local, e.shape[0]), engine.local)

    mine = engine.balancer.timed(matrix, here)
    if mine is not None and _counts_part(e, pull=False):
        mine = shifted(mine, x.partition.lo)
    if matrix.long is not None:
        mine = long_rows.add_partial_results(engine, e, matrix.long, flipped, x, mine)
        most = most + matrix.long.counts
    ones = e.op.binaryop.name == "pair" and e.op.monoid.name in ONES
    merged = vector_exchange.fold_vector_at_owners(
        engine, mine, result.partition, e.op.monoid.binaryop, most, reads=not ones
    )
    put(result, merged, write)
    result.changed()


def _counts_part(e: Any, *, pull: bool) -> bool:
    """Return whether a positional multiply returns positions along the dimension that ranks divide.

    In a pull these are the result's, ``i`` of mxv and ``j`` of vxm; in a push the vector's, ``k``.
    """
    wanted = ({"i"} if e.operation == "mxv" else {"j"}) if pull else {"k"}
    return bool(e.op.reads & wanted)


def _halo_of(engine: DistributedEngine, matrix: Store, vector: Partition) -> Halo | None:
    """Return the halo of a matrix's rows; None if the whole vector should travel. A collective, at first use."""
    if not engine.transport.packs_below or matrix.partition.along != ROWS or vector.along != ROWS:
        return None
    return matrix.forms[HaloOfRows].get_or_build(engine, matrix, vector)


class HaloOfRows(Built["tuple[Partition, Halo | None]"]):
    """Form: the partition of a vector, and the halo of the matrix's rows in it; None if the whole should travel."""

    def get_or_build(self, engine: DistributedEngine, matrix: Store, vector: Partition) -> Halo | None:
        """Return the halo in vectors of a partition. A collective, at first use."""
        if self.built is None or self.built[0] is not vector:
            self.built = vector, _asked_for(engine, matrix, vector)
        return self.built[1]


def _asked_for(engine: DistributedEngine, matrix: Store, vector: Partition) -> Halo | None:
    n, size = int(vector.bounds[-1]), engine.size
    read = engine.as_local(np.zeros(n, np.bool_))
    parts = [matrix.local] if matrix.long is None else [matrix.local, matrix.long.local]
    for part in parts if not matrix.is_empty_range else parts[1:]:
        ids = part._to_csr().indices
        for first in range(0, ids.count, _PART):
            read[engine.as_local(ids.read(first, min(first + _PART, ids.count))).astype(np.int64)] = True
    read[vector.lo : vector.hi] = False
    asked = read.nonzero()[0]
    table = engine.transport.numbers(*(int(read[lo:hi].sum()) for lo, hi in pairwise(vector.bounds.tolist())))
    if int(table.sum()) >= engine.transport.packs_below * n * (size - 1):
        return None
    received, sent = table[engine.rank].copy(), table[:, engine.rank].copy()
    given = engine.transport.scatter(asked.astype(np.int64), received, sent) - vector.lo
    return Halo(asked, given, sent, received, vector)
