"""Products of a matrix with a vector: a pull gathers the vector, a push sends results to their owners.

A pull needs the matrix by rows of the result, a push by rows of the vector; a matrix that equals its transpose, or keeps
it, allows both. The one rule of the direction counts entries of the matrix: a push reads those of the vector's rows, a
pull at worst all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.engines.distributed import exchange, moves
from sparsezc.engines.distributed.layout import COLUMNS
from sparsezc.engines.distributed.local_objects import new, put, shifted, write_local
from sparsezc.expr.expression import Expression

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.stores import Store

__all__ = ["product"]

_PULL = 15  # a pull is chosen if a push would read one entry of the matrix in so many (Beamer's alpha)
#: Monoids whose result moves with its operands, so that positions can be counted from this rank's first.
_MOVABLE = {"any", "min", "max"}
#: Monoids that make 1 of ones.
_ONES = {"any", "min", "max", "times", "land", "lor", "band", "bor"}


def product(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run mxv or vxm."""
    left = e.operation == "vxm"
    v, A = e.operands if left else e.operands[::-1]
    store, x, result = A._store, v._store, out._store
    if engine.size == 1:
        M = store.local.T if A._transposed else store.local
        write_local(result, _times(e, M, x.local, left, e.shape[0]), write)
        result.changed()
        return None
    by_columns = store.layout.along == COLUMNS
    by_result = (A._transposed == left) != by_columns  # the dimension that is cut is the result's
    other = store if engine.known_symmetric(A) else store.turned
    pulled, pushed = (store, other) if by_result else (other, store)
    places = e.op.reads & {"i", "j", "k"}
    if places:
        if e.op.monoid.name not in _MOVABLE:
            return False
    reads = e.op.of_users or ("x" if left else "y") in e.op.reads
    most = None
    if pulled is None or (pushed is not None and not x.is_full):
        most = _edges(engine, x, pushed)
    if pulled is not None and (most is None or pushed is None or _pulls(engine, most, pushed)):
        _pull(engine, e, pulled, x, result, write, reads)
    else:
        assert pushed is not None
        assert most is not None
        _push(engine, e, pushed, x, result, write, most)
    return None


def _edges(engine: DistributedEngine, x: Store, matrix: Store) -> NDArray[np.int64]:
    """Return how many entries a push would read on each rank, at most."""
    if x.edges is None or x.rows is not matrix:
        if x.is_full and matrix.counts is not None:
            return matrix.counts
        mine = x.local.nvals
        both = engine.transport.numbers(mine, moves.row_entries(engine, x, matrix, mine))
        x.counts, x.edges, x.rows = both[:, 0].copy(), both[:, 1].copy(), matrix
    assert x.edges is not None
    return x.edges


def _pulls(engine: DistributedEngine, most: NDArray[np.int64], matrix: Store) -> bool:
    return int(most.sum()) * _PULL > engine.nvals(matrix)


def _times(e: Any, M: Any, x: Any, left: bool, size: int) -> Expression:
    return Expression(e.operation, (x, M) if left else (M, x), e.op, e.dtype, (size,))


def _pull(engine: DistributedEngine, e: Any, rows: Store, x: Store, result: Store, write: Any, reads: bool) -> None:
    left = e.operation == "vxm"
    places = e.op.reads & {"i", "j", "k"}
    whole = exchange.whole_vector(engine, x, reads=reads)
    M = rows.local.T if left else rows.local
    expression = _times(e, M, whole, left, rows.layout.hi - rows.layout.lo)
    if not places:
        write_local(result, expression, write)
    elif not result.is_empty_range:
        made = new(expression, engine.local)
        put(result, shifted(made, rows.layout.lo) if _counts_rows(e, pull=True) else made, write)
    result.changed()
    result.rows = rows


def _push(
    engine: DistributedEngine, e: Any, rows: Store, x: Store, result: Store, write: Any, most: NDArray[np.int64]
) -> None:
    left = e.operation == "vxm"
    mine = None
    if not rows.is_empty_range and most[engine.rank]:
        M = rows.local if left else rows.local.T
        mine = new(_times(e, M, x.local, left, e.shape[0]), engine.local)
        if _counts_rows(e, pull=False):
            mine = shifted(mine, rows.layout.lo)
    op = e.op.monoid.binaryop
    ones = e.op.op.binaryop.name == "pair" and e.op.monoid.name in _ONES
    merged = exchange.fold_at_owners(engine, mine, result.layout, op, most, reads=not ones)
    put(result, merged, write)
    result.changed()
    result.rows = rows


def _counts_rows(e: Any, *, pull: bool) -> bool:
    """Return whether a positional multiply counts the rows of the stored matrix, of which this rank has some.

    In a pull these are the result's, ``i`` of mxv and ``j`` of vxm; in a push the vector's, ``k``.
    """
    wanted = ({"i"} if e.operation == "mxv" else {"j"}) if pull else {"k"}
    return bool(e.op.reads & wanted)
