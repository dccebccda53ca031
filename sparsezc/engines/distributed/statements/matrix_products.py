"""Products of matrices, by the dimension along which each operand is cut: C(i, j) is the sum over k of A(i, k) B(k, j).

=========  =========  ==================================================================================================
A          B          a rank
=========  =========  ==================================================================================================
i, whole   whole, j   multiplies its parts
k          k          multiplies its parts, and sends results to their owners, which fold them: a push
k          j          gathers A, which has few rows, and multiplies its columns of B: a pull
i          k, j       gathers B if that is no larger than a rank's share of A; else the parts of B travel round a ring
=========  =========  ==================================================================================================

A matrix that equals its transpose counts as cut along both dimensions. On GPUs, steps of many searches (products whose
entries are all equal) push some searches and pull others (searches.py). If every rank has all of B, a batch of searches
may be cut by searches (search_batches.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.distributed.parts import block_exchange, matrix_exchange
from sparsezc.engines.distributed.parts.local_objects import here, new, put, shifted, write_local
from sparsezc.engines.distributed.parts.partition import ALIGN, COLUMNS
from sparsezc.engines.distributed.statements import search_batches, searches
from sparsezc.engines.distributed.statements.products import MOVABLE, ONES, one_in
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.expression import Expression

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["product"]


def product(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run mxm."""
    A, B = e.operands
    result = out._store
    places = e.op.reads & {"i", "j", "k"}
    if engine.size > 1 and (e.dtype.is_udt or e.op.of_users or (places and e.op.monoid.name not in MOVABLE)):
        return False
    a, b = (None if engine.size == 1 else _cut(x) for x in (A, B))
    if (a, b) == (None, None) or (a, b) in (("rows", None), (None, "columns")):
        offset = _offset(places, a, b, A, B)
        _write(engine, e, (_part(A), _part(B)), result, write, offset)
    elif result.partition.by_search or (a == "columns" and search_batches.begins(engine, e, out, write)):
        offset = result.partition.lo if "i" in places else 0
        _write(engine, e, (A._store.local, search_batches.whole(B)), result, write, offset)
    elif a == "columns" and e.shape[0] <= ALIGN and searches.step(engine, e, result, write):
        pass
    elif a == "columns":
        few, both = e.shape[0] <= ALIGN, engine.known_symmetric(B)
        if few and (_pulls(engine, e.op, A._store, B._store) if both else b == "columns"):
            _pull(engine, e, result, write, _part(B, flip=b == "rows"))
        elif few or (b == "rows" and int(np.prod(e.shape)) <= engine.nvals(A._store) + engine.nvals(B._store)):
            _push(engine, e, result, write, _part(B, flip=b == "columns"))
        else:
            _by_rows(engine, e, matrix_exchange.turned(engine, A._store).local, result, write)
    elif a == "rows":
        _by_rows(engine, e, _part(A), result, write)
    else:
        return False
    result.changed()
    return None


def _cut(x: Any) -> str | None:
    """Return the dimension along which an operand, as the product reads it, is cut; None: it is whole."""
    partition = x._store.partition
    if partition.is_whole:
        return None
    return "columns" if (partition.along == COLUMNS) != x._transposed else "rows"


def _part(x: Any, *, flip: bool = False) -> Any:
    """Return this rank's part of an operand; `flip`: of its transpose, which it equals."""
    return x._store.local.T if x._transposed != flip else x._store.local


def _offset(places: Any, a: str | None, b: str | None, A: Any, B: Any) -> int:
    if a == "rows" and "i" in places:
        return int(A._store.partition.lo)
    return int(B._store.partition.lo) if b == "columns" and "j" in places else 0


def _write(engine: DistributedEngine, e: Any, parts: tuple[Any, Any], result: Any, write: Any, offset: int) -> None:
    """Multiply parts whose product is this rank's part of the result."""
    if result.is_empty_range:
        return
    expression = Expression("mxm", parts, e.op, e.dtype, (parts[0].shape[0], parts[1].shape[1]))
    if e.op.is_positional:
        put(result, shifted(new(expression, engine.local), offset), write)
    else:
        write_local(result, expression, write)


def _pulls(engine: DistributedEngine, op: Any, frontier: Any, matrix: Any) -> bool:
    """Return whether searches pull: the rule of products.py, with the mean length of the matrix's rows."""
    return bool(engine.nvals(frontier) * one_in(engine, op, "x" in op.reads) > frontier.shape[0] * matrix.shape[0])


def _pull(engine: DistributedEngine, e: Any, result: Any, write: Any, part: Any) -> None:
    A = e.operands[0]
    whole = block_exchange.whole_panel(engine, A._store, reads="x" in e.op.reads)
    offset = result.partition.lo if "j" in e.op.reads else 0
    _write(engine, e, (whole.T if A._transposed else whole, part), result, write, offset)


def _push(engine: DistributedEngine, e: Any, result: Any, write: Any, part: Any) -> None:
    A = e.operands[0]
    mine = None
    if not A._store.is_empty_range:
        expression = Expression("mxm", (_part(A), part), e.op, e.dtype, e.shape)
        mine = new(expression, engine.local)
        if "k" in e.op.reads:
            mine = shifted(mine, A._store.partition.lo)
    ones = e.op.binaryop.name == "pair" and e.op.monoid.name in ONES
    put(
        result,
        block_exchange.fold_matrix_at_owners(engine, mine, result, e.op.monoid.binaryop, e.dtype, reads=not ones),
        write,
    )


def _by_rows(engine: DistributedEngine, e: Any, part: Any, result: Any, write: Any) -> None:
    """Multiply this rank's rows of A with all of B."""
    A, B = e.operands
    store = B._store
    offset = result.partition.lo if "i" in e.op.reads else 0
    if engine.nvals(store) * engine.size <= engine.nvals(A._store):
        whole = matrix_exchange.whole_matrix(engine, store)
        _write(engine, e, (part, whole.T if B._transposed else whole), result, write, offset)
        return
    if store.partition.along == COLUMNS:
        store, flipped = matrix_exchange.turned(engine, store), not B._transposed
    else:
        flipped = B._transposed
    local = result.local
    total = engine.local.matrix(e.dtype, local.shape)
    mask = here(write.mask)
    for block in block_exchange.ring(engine, store):
        if result.is_empty_range or block is None:
            continue
        step = Expression("mxm", (part, block.T if flipped else block), e.op, e.dtype, local.shape)
        update(total, step, Write(mask, e.op.monoid.binaryop, False))
    put(result, shifted(total, offset) if offset else total, write)
