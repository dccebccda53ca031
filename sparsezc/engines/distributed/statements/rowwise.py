"""Statements in which a row of the result depends on the same row of some operands, and on the whole of others.

Operands that ranks need whole are small: vectors, panels, the smaller of two tables. Each rank computes its own rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.engines.distributed.parts.local_objects import new, put
from sparsezc.engines.distributed.parts.partition import COLUMNS, ROWS
from sparsezc.engines.distributed.statements import entries, padded_rows
from sparsezc.engines.distributed.statements.elementwise import ROW_SHIFTS
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.expression import Expression, IndexList, Inner

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.parts.partition import Partition

__all__ = ["by_rows", "labels", "own_rows", "selectk", "whole"]

#: The role of each operand of an operation: cut as the result's rows are (R), whole on every rank (W), with steps that
#: number rows by the whole (-), or equal on every rank (=).
ROLES = {"solve": "RR", "distances": "RW", "best_column": "RW", "sampled_mxm": "RRWW-", "outer": "RW"}
ROLES |= {"map_rows": "="}  # after any number of matrices


def whole(engine: DistributedEngine, x: Any) -> Any:
    """Return all of an operand, on the local engine."""
    store = x._store
    if x.ndim == 1:
        return vector_exchange.whole_vector(engine, store)
    made = matrix_exchange.whole_matrix(engine, store)
    return made.T if x._transposed else made


def by_rows(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run a statement of `ROLES` for this rank's rows."""
    result, partition = out._store, out._store.partition
    roles = ROLES[e.operation].rjust(len(e.operands), "R")
    if e.op is not None and (e.op.is_positional or (e.operation == "outer" and e.dtype.is_udt)):
        return False
    if partition.along is COLUMNS:  # few rows, whole; the columns are rows of the second operand
        if e.operation not in ("outer", "distances"):
            return False
        roles = "WR"
    elif partition.is_whole and engine.size > 1:
        roles = roles.replace("R", "W")
    elif any(x.ndim == 2 and x._store.partition.along is COLUMNS and not x._transposed
             for x, role in zip(e.operands, roles, strict=True) if role == "R"):  # fmt: skip
        return False
    inner = None if roles[-1] != "-" else _shifted(engine, e.operands[-1], partition)
    if roles[-1] == "-" and inner is None:
        return False
    operands = [
        inner if role == "-" else x if role == "=" else whole(engine, x) if role == "W" else _rows(engine, x)
        for x, role in zip(e.operands, roles, strict=True)
    ]
    if not result.is_empty_range:
        shape = partition.local_shape(e.shape)
        put(result, new(Expression(e.operation, tuple(operands), e.op, e.dtype, shape), engine.local), write)
    result.changed()
    return None


def _shifted(engine: DistributedEngine, inner: Inner, partition: Partition) -> Inner | None:
    """Return the steps of sampled_mxm with rows counted from this rank's first; None: a step cannot be shifted."""
    if partition.is_whole or engine.size == 1:
        return inner
    weights = []
    for each in inner.weights:
        steps = []
        for step in each.steps:
            if step.op.is_positional:
                if step.op.name not in ROW_SHIFTS or step.op.op.user_function is not None:
                    return None
                step = step._replace(right=int(step.right) + ROW_SHIFTS[step.op.name] * partition.lo)
            steps.append(step)
        weights.append(each._replace(steps=tuple(steps)))
    return Inner(inner.op, tuple(weights))


def _rows(engine: DistributedEngine, x: Any) -> Any:
    if x.ndim == 1:
        return x._store.local
    if x._transposed and not engine.known_symmetric(x):
        return matrix_exchange.turned(engine, x._store).local if engine.size > 1 else x._store.local.T
    return x._store.local


def _apart(engine: DistributedEngine, e: Any, out: Any) -> bool:
    """Return whether the first operand and the result are cut by rows."""
    return engine.size > 1 and e.operands[0]._store.partition.along is ROWS and out._store.partition.along is ROWS


def labels(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Run best_label or label_weight: each rank computes its rows that the mask allows, with all labels."""
    if not _apart(engine, e, out):
        return False
    A, label, *more = e.operands
    result = out._store
    operands = padded_rows.widened(engine, A._store), whole(engine, label), *more
    made = engine.local.vector(e.dtype, e.shape[0])
    step = Expression(e.operation, operands, e.op, e.dtype, e.shape)
    mask = padded_rows.widened_mask(engine, write.mask)
    if not result.is_empty_range:
        update(made, step, Write(mask, None, mask is not None))
    put(result, entries.part_of_vector(engine, made, result.partition), write)
    result.changed()
    return None


def selectk(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Pick entries of rows: the picks of a row depend on its number in the result and on no other row."""
    A, index, pick = e.operands
    result, store = out._store, A._store
    if engine.size == 1 or e.dtype.is_udt:
        return False
    if A._transposed and not engine.known_symmetric(A):
        store = matrix_exchange.turned(engine, store)
    if store.partition.along is not ROWS:
        return False
    picked = new(
        Expression("selectk", (padded_rows.widened(engine, store), index, pick), None, e.dtype, e.shape), engine.local
    )
    if index.kind == "all":
        put(result, own_rows(engine, picked, result), write)
    else:  # rows that other ranks have are empty here
        indptr, ids, values = matrix_exchange.host_csr(picked)
        rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        made = entries.matrix_of(engine, rows, ids.astype(np.int64), values, e.shape, e.dtype)
        put(result, made, write)
    result.changed()
    return None


def own_rows(engine: DistributedEngine, made: Any, result: Any) -> Any:
    """Return this rank's rows of a local matrix of the whole's shape."""
    partition = result.partition
    here = partition.hi - partition.lo
    shape = (here, made.shape[1])
    if not here or not shape[1]:
        return engine.local.matrix(made.dtype, shape)
    keys = IndexList("range", range(partition.lo, partition.hi), here), IndexList("all", None, shape[1])
    return new(Expression("extract", (made, *keys), None, made.dtype, shape), engine.local)
