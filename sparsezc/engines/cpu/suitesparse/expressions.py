"""The operations of the CPU engine: each line translates one of our expressions to python-graphblas's.

The result is python-graphblas's own expression, which has not run either; ``cpu_engine.py`` writes it to an output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from weakref import proxy

import numpy as np

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.expr.expression import Expression, IndexList
from sparsezc.expr.mask import Mask
from sparsezc.semirings import binary
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, cast

__all__ = ["EXPRESSIONS", "index", "mask", "operand", "operator", "scalar", "stack"]

# Parts of expressions


def operator(op: TypedOp | None) -> Any:
    """Return python-graphblas's operator of the same name and type, looked up once; None for None."""
    if op is None:
        return None
    made = op.native
    return native.operator(op) if made is None else made


def acyclic(store: Any) -> Any:
    """Make a new store free its memory with the last reference to it.

    A Matrix or Vector of python-graphblas and its ``ss`` refer to each other, so its arrays would remain until
    Python's collector runs, which counts objects and not bytes. Here ``ss`` refers weakly to the store.
    """
    ss = store.ss  # a property of the class, in Python
    ss._parent = ss.config._parent = proxy(store)
    return store


def operand(x: Any) -> Any:
    """Return python-graphblas's object behind a Matrix, its transpose or a Vector.

    If a dimension is 0, an empty object stands in: SuiteSparse 9.4.5 takes an object without entries whose one value
    stands for all as full, and so multiplies and reduces over a dimension of 0 to that value. The same holds for a
    matrix without entries: if it lists a row, as after ``A.clear(); A[0, :] = nothing``, SuiteSparse reads the row's
    first entry.
    """
    shape, store = x._shape, x._store
    # _nvals is nvals in a quarter of the time, as it notifies no Recorder
    if 0 in shape or (x.ndim == 2 and not store._nvals):
        store = acyclic(store.dup(clear=True))
    return store.T if x._transposed else store


@cache
def is_multiply(op: Any) -> bool:
    """Return whether python-graphblas has a semiring for an operator, as its outer products and broadcasts need."""
    try:
        native.gb.core.operator.get_semiring(native.gb.monoid.any, op)
    except KeyError:
        return False
    return True


# Python numbers that python-graphblas reads as these types.
_PLAIN = {"BOOL": bool, "INT64": int, "FP64": float, "FC64": complex}


def scalar(s: Any) -> Any:
    """Return a Scalar's value, in its type."""
    value = s.value
    if _PLAIN.get(s.dtype.name) is type(value):
        return value
    return native.gb.Scalar.from_value(value, native.type_of(s.dtype), is_cscalar=True)


def thunk(s: Any, op: TypedOp) -> Any:
    """Return the thunk in the operator's own type: with another, python-graphblas compares with undefined bits."""
    if s.dtype is op.thunk_type or op.of_users:
        return scalar(s)
    return native.gb.Scalar.from_value(cast(s.value, op.thunk_type).item(), op.thunk_type.name, is_cscalar=True)


def index(keys: Sequence[IndexList]) -> Any:
    """Return the index in the form that python-graphblas's brackets take."""
    return _one_index(keys[0]) if len(keys) == 1 else tuple(map(_one_index, keys))


def _one_index(key: IndexList) -> Any:
    if key.kind == "all":
        return slice(None)
    if key.kind == "range":
        steps = key.key
        if not len(steps):
            return np.empty(0, np.uint64)
        return slice(steps.start, None if steps.stop < 0 else steps.stop, steps.step)
    return key.key


def mask(mask: Mask | None, store: Any = None) -> Any:
    """Return python-graphblas's mask; `store`: an object with the same entries to use instead of the mask's."""
    if mask is None:
        return None
    store = mask.parent._store if store is None else store
    made = store.S if mask.structure else store.V
    return ~made if mask.complement else made


# Operations


def _nothing(x: Expression) -> Any:
    """Return a product over a dimension of 0, which has no entries.

    SuiteSparse 9.4.5 takes an object without entries whose one value stands for all as full, raises a size error if the
    output is full, and runs out of memory for many rows.
    """
    empty = native.gb.Vector if len(x.shape) == 1 else native.gb.Matrix
    return empty(native.type_of(x.dtype), *x.shape).apply(native.gb.unary.identity)


def _mxv(x: Expression) -> Any:
    A, v = x.operands
    if 0 in A._shape:
        return _nothing(x)
    return operand(A).mxv(v._store, operator(x.op))


def _vxm(x: Expression) -> Any:
    v, A = x.operands
    if 0 in A._shape:
        return _nothing(x)
    return v._store.vxm(operand(A), operator(x.op))


def _mxm(x: Expression) -> Any:
    A, B = x.operands
    if 0 in A._shape:
        return _nothing(x)
    return operand(A).mxm(operand(B), operator(x.op))


def _outer(x: Expression) -> Any:
    u, v = x.operands
    return _multiplied(x, u._store.outer, v._store)


def _kronecker(x: Expression) -> Any:
    A, B = x.operands
    return operand(A).kronecker(operand(B), operator(x.op))


def _power(x: Expression) -> Any:
    A, n = x.operands
    return operand(A).power(n.value, operator(x.op))


def _reposition(x: Expression) -> Any:
    u, *offsets = x.operands
    sizes = dict(zip(("size",) if u.ndim == 1 else ("nrows", "ncols"), x.shape, strict=True))
    return operand(u).reposition(*(offset.value for offset in offsets), **sizes)


def _select_mask(x: Expression) -> Any:
    u, parent, kind = x.operands
    return operand(u).select(mask(Mask(parent, kind.structure, kind.complement)))


def _ewise_add(x: Expression) -> Any:
    u, v = x.operands
    return operand(u).ewise_add(operand(v), operator(x.op))


def _ewise_mult(x: Expression) -> Any:
    u, v = x.operands
    if u.ndim != v.ndim:
        return _multiplied(x, operand(u).ewise_mult, operand(v))
    return operand(u).ewise_mult(operand(v), operator(x.op))


def _multiplied(x: Expression, multiply: Callable[[Any, Any], Any], other: Any) -> Any:
    """Return python-graphblas's expression of a product; without a semiring for it, operands are broadcast first."""
    op = operator(x.op)
    if is_multiply(op):
        return multiply(other, op)
    u, v = x.operands
    left, right = (operator(pick) for pick in (binary.first[u.dtype], binary.second[v.dtype]))
    both = (acyclic(multiply(other, side).new()) for side in (left, right))
    return next(both).ewise_mult(next(both), op)


def _ewise_union(x: Expression) -> Any:
    u, left, v, right = x.operands
    return operand(u).ewise_union(operand(v), operator(x.op), scalar(left), scalar(right))


def _apply(x: Expression) -> Any:
    return operand(x.operands[0]).apply(operator(x.op))


def _apply_left(x: Expression) -> Any:
    s, u = x.operands
    return operand(u).apply(operator(x.op), left=scalar(s))


def _apply_right(x: Expression) -> Any:
    u, s = x.operands
    return operand(u).apply(operator(x.op), right=scalar(s))


def _apply_index(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    return operand(u).apply(_index_operator(op), right=thunk(s, op))


def _index_operator(op: Any) -> Any:
    """Return the select operator; python-graphblas compares user-defined values by binary operators: valueeq is eq."""
    return operator(getattr(binary, op.name[-2:])[op.type] if _compares_users(op) else op)


def _compares_users(op: Any) -> bool:
    return bool(op.of_users and op.op.of_users is not None)


def _select(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    if (op.is_positional or op.type is u.dtype) and not _compares_users(op):
        return operand(u).select(operator(op), thunk(s, op))
    # SuiteSparse compares correctly in the operand's own type only; apply converts as required.
    values = acyclic(_apply_index(x).new())
    true = acyclic(values.select(native.gb.select.valuene["BOOL"], False).new())
    second = binary.second[(BOOL, u.dtype) if u.dtype.is_udt else u.dtype]
    return true.ewise_mult(operand(u), operator(second))


def _reduce_rowwise(x: Expression) -> Any:
    if 0 in x.operands[0]._shape:
        return _nothing(x)
    return operand(x.operands[0]).reduce_rowwise(operator(x.op))


def _transpose(x: Expression) -> Any:
    A = x.operands[0]
    return A.T._store if A._transposed else A._store.T


def _extract(x: Expression) -> Any:
    u, *keys = x.operands
    return operand(u)[index(keys)]


def _diag(x: Expression) -> Any:
    u, k = x.operands
    return operand(u).diag(k.value)


def stack(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the concatenated rows of several matrices."""
    kind = native.type_of(x.dtype)
    if 0 in x.shape:
        return acyclic(native.gb.Matrix(kind, *x.shape))
    return acyclic(native.gb.ss.concat([[operand(A)] for A in x.operands if A._shape[0]], kind))


EXPRESSIONS: dict[str, Callable[[Expression], Any]] = {
    "mxv": _mxv,
    "vxm": _vxm,
    "mxm": _mxm,
    "outer": _outer,
    "kronecker": _kronecker,
    "power": _power,
    "reposition": _reposition,
    "select_mask": _select_mask,
    "ewise_add": _ewise_add,
    "ewise_mult": _ewise_mult,
    "ewise_union": _ewise_union,
    "apply": _apply,
    "apply_left": _apply_left,
    "apply_right": _apply_right,
    "apply_index": _apply_index,
    "select": _select,
    "reduce_rowwise": _reduce_rowwise,
    "transpose": _transpose,
    "extract": _extract,
    "diag": _diag,
}
