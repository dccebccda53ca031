"""The CPU engine's operations: each line says to python-graphblas what an expression of ours says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sparsezc.engines.cpu import native
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask
from sparsezc.semirings import binary
from sparsezc.semirings.types.datatypes import BOOL

# Operations: each makes python-graphblas's unrun expression


def _nothing(x: Expression) -> Any:
    """A product over a dimension of 0.

    SuiteSparse 9.4.5 takes an object of no entries that has one value for all for full, says that sizes differ where
    the output is full, and has no memory for many rows.
    """
    empty = native.gb.Vector if len(x.shape) == 1 else native.gb.Matrix
    return empty(native.type_of(x.dtype), *x.shape).apply(native.gb.unary.identity)


def _mxv(x: Expression) -> Any:
    A, v = x.operands
    if 0 in A.shape:
        return _nothing(x)
    return native.operand(A).mxv(native.operand(v), native.operator(x.op))


def _vxm(x: Expression) -> Any:
    v, A = x.operands
    if 0 in A.shape:
        return _nothing(x)
    return native.operand(v).vxm(native.operand(A), native.operator(x.op))


def _mxm(x: Expression) -> Any:
    A, B = x.operands
    if 0 in A.shape:
        return _nothing(x)
    return native.operand(A).mxm(native.operand(B), native.operator(x.op))


def _outer(x: Expression) -> Any:
    u, v = x.operands
    return _multiplied(x, u._store.outer, v._store)


def _kronecker(x: Expression) -> Any:
    A, B = x.operands
    return native.operand(A).kronecker(native.operand(B), native.operator(x.op))


def _power(x: Expression) -> Any:
    A, n = x.operands
    return native.operand(A).power(n.value, native.operator(x.op))


def _reposition(x: Expression) -> Any:
    u, *offsets = x.operands
    sizes = dict(zip(("size",) if u.ndim == 1 else ("nrows", "ncols"), x.shape, strict=True))
    return native.operand(u).reposition(*(offset.value for offset in offsets), **sizes)


def _select_mask(x: Expression) -> Any:
    u, parent, kind = x.operands
    return native.operand(u).select(native.mask(Mask(parent, kind.structure, kind.complement)))


def _ewise_add(x: Expression) -> Any:
    u, v = x.operands
    return native.operand(u).ewise_add(native.operand(v), native.operator(x.op))


def _ewise_mult(x: Expression) -> Any:
    u, v = x.operands
    if u.ndim != v.ndim:
        return _multiplied(x, native.operand(u).ewise_mult, native.operand(v))
    return native.operand(u).ewise_mult(native.operand(v), native.operator(x.op))


def _multiplied(x: Expression, multiply: Callable[[Any, Any], Any], other: Any) -> Any:
    """What python-graphblas writes as a product: without a semiring for it, both operands spread out and then met."""
    op = native.operator(x.op)
    if native.is_multiply(op):
        return multiply(other, op)
    u, v = x.operands
    left, right = (native.operator(pick) for pick in (binary.first[u.dtype], binary.second[v.dtype]))
    return multiply(other, left).new().ewise_mult(multiply(other, right).new(), op)


def _ewise_union(x: Expression) -> Any:
    u, left, v, right = x.operands
    return native.operand(u).ewise_union(
        native.operand(v), native.operator(x.op), native.scalar(left), native.scalar(right)
    )


def _apply(x: Expression) -> Any:
    return native.operand(x.operands[0]).apply(native.operator(x.op))


def _apply_left(x: Expression) -> Any:
    s, u = x.operands
    return native.operand(u).apply(native.operator(x.op), left=native.scalar(s))


def _apply_right(x: Expression) -> Any:
    u, s = x.operands
    return native.operand(u).apply(native.operator(x.op), right=native.scalar(s))


def _apply_index(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    return native.operand(u).apply(_index_operator(op), right=native.thunk(s, op))


def _index_operator(op: Any) -> Any:
    """python-graphblas compares user-defined values by its binary operators only: valueeq is eq, valuene is ne."""
    return native.operator(getattr(binary, op.name[-2:])[op.type] if _compares_users(op) else op)


def _compares_users(op: Any) -> bool:
    return bool(op.of_users and op.op.of_users is not None)


def _select(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    if (op.is_positional or op.type is u.dtype) and not _compares_users(op):
        return native.operand(u).select(native.operator(op), native.thunk(s, op))
    # SuiteSparse compares rightly in the operand's own type only; apply converts as it should.
    true = _apply_index(x).new().select(native.gb.select.valuene["BOOL"], False).new()
    second = binary.second[(BOOL, u.dtype) if u.dtype.is_udt else u.dtype]
    return true.ewise_mult(native.operand(u), native.operator(second))


def _reduce_rowwise(x: Expression) -> Any:
    if 0 in x.operands[0].shape:
        return _nothing(x)
    return native.operand(x.operands[0]).reduce_rowwise(native.operator(x.op))


def _transpose(x: Expression) -> Any:
    A = x.operands[0]
    return A.T._store if A._transposed else A._store.T


def _extract(x: Expression) -> Any:
    u, *keys = x.operands
    return native.operand(u)[native.index(tuple(keys))]


def _diag(x: Expression) -> Any:
    u, k = x.operands
    return native.operand(u).diag(k.value)


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


def _is_full(native: Any) -> bool:
    """Whether every position has an entry."""
    return bool(native.nvals == math.prod(native.shape))


def _adds_under(mask: Any, accum: Any) -> bool:
    """Whether entries are added to the output's under a mask that is no complement.

    There SuiteSparse 9.4.5 reads and writes beyond arrays, which ends the process, if one of the mask and of what is
    added is in its full format and the other has few entries. With a bitmap for the full one it does not.
    """
    return mask is not None and accum is not None and not mask.complement


def _not_full(native: Any) -> Any:
    """The same operand, but never in SuiteSparse's full format."""
    if not _is_full(native):
        return native
    copy = native.dup()
    copy.ss.config["sparsity_control"] = "bitmap"
    return copy


def _native_mask(mask: Any, accum: Any) -> Any:
    """The store's own mask for a statement."""
    return native.mask(mask, _not_full(mask.parent._store) if _adds_under(mask, accum) else None)


def assign(x: Expression, out: Any, mask: Any, accum: Any, replace: bool) -> None:
    """An assignment, which python-graphblas writes as a statement and not as an expression; `accum` is its own."""
    value, *keys = x.operands
    store, index = out._store, native.index(tuple(keys))
    if value.ndim:
        given = native.operand(value)
        if _adds_under(mask, accum):
            given = _not_full(given)
    elif value.value is None:
        given = native.gb.Scalar(native.type_of(value.dtype), is_cscalar=False)
    else:
        given = native.scalar(value)
    mask = _native_mask(mask, accum)
    if x.operation == "subassign":
        store[index](mask=mask, accum=accum, replace=replace) << given
    elif mask is None and accum is None:
        store[index] = given
    else:
        store(mask=mask, accum=accum, replace=replace)[index] = given


def read(x: Expression) -> Any:
    """The value of an expression that makes a Scalar; None where there is none."""
    if x.operation == "extract":
        u, *keys = x.operands
        return native.operand(u).get(*(key.key for key in keys))
    if x.operation == "inner":
        u, v = x.operands
        return native.operand(u).inner(native.operand(v), native.operator(x.op)).new().value
    if x.operation != "reduce":
        return _of_scalars(x)
    u = x.operands[0]
    reduce = u._store.reduce if u.ndim == 1 else u._store.reduce_scalar
    return reduce(native.operator(x.op)).new().value


def _of_scalars(x: Expression) -> Any:
    """ewise, apply and select of Scalars: the operators' own NumPy functions."""
    op: Any = x.op
    values = [s.value for s in x.operands]
    if x.operation == "ewise_union":
        s, left, t, right = values
        if s is None and t is None:
            return None
        return op.numpy(left if s is None else s, right if t is None else t)
    if x.operation == "ewise_add" and None in values:
        return next((s for s in values if s is not None), None)
    if None in values:
        return None
    if x.operation == "select":
        return values[0] if op.numpy(values[0], 0, 0, values[1]) else None
    return op.numpy(values[0], 0, 0, values[1]) if x.operation == "apply_index" else op.numpy(*values)


def write_all(x: Expression, out: Any) -> None:
    """``out << expression``."""
    made = EXPRESSIONS[x.operation](x)
    if x.operation in _MEETING and out._store.ss.is_iso and _is_full(out._store):
        # SuiteSparse 9.4.5 writes all values of two full operands to an output that has room for the one value it had
        # everywhere, as after `w << 1`, and goes on to take the first of them for all.
        made = made.new()
    out._store << made


_MEETING = {"ewise_add", "ewise_mult", "ewise_union", "outer", "select"}  # entry by entry, of two operands


def write(x: Expression, out: Any, mask: Any, accum: Any, replace: bool) -> None:
    """``out(mask, accum, replace) << expression``; `accum` is python-graphblas's own."""
    options, native_mask, made = _options(x, mask), _native_mask(mask, accum), EXPRESSIONS[x.operation](x)
    meets_itself = _meets_itself(x, mask)
    if (
        _adds_under(mask, accum)
        or (accum is not None and _formed_first(x))
        or _shares_rows(x, out, mask)
        or meets_itself
    ):
        made = made.new(mask=None if meets_itself else native_mask, **options)
        options = {}
        if mask is not None:
            made = _not_full(made)
    out._store(mask=native_mask, accum=accum, replace=replace, **options) << made


def _formed_first(x: Expression) -> bool:
    """Whether what is to be accumulated must be formed before that.

    A selection by a mask is an assignment under that mask to python-graphblas, in which SuiteSparse 9.4.5 ends the
    process as :func:`_adds_under` says. And it adds a product ``w(plus) << A.mxv(u)`` to a full w at once, and reads
    the bits of A's or u's values without the conversion where they are of another type than the semiring's.
    """
    if x.operation == "select_mask":
        return True
    if x.op is None or x.operation not in ("mxv", "vxm", "mxm"):
        return False
    of = x.op.type
    return any(u.dtype is not of for u in x.operands)


def _shares_rows(x: Expression, out: Any, mask: Any) -> bool:
    """Whether entries that meet would be written under the output itself as the mask.

    Where all are hypersparse, SuiteSparse 9.4.5 gives the result the mask's list of rows without a copy, and frees it
    with the output's old entries: row ids are read from memory that is no longer theirs.
    """
    return mask is not None and x.operation in _MEETING and mask.parent._store is out._store


def _meets_itself(x: Expression, mask: Any) -> bool:
    """Whether an object meets itself and is the mask: then SuiteSparse 9.4.5 leaves out the values of ``second``."""
    if mask is None or x.operation not in ("ewise_add", "ewise_union"):
        return False
    return all(u._store is mask.parent._store for u in x.operands if u.ndim)


def _options(x: Expression, mask: Any) -> dict[str, str]:
    """Keep SuiteSparse from a hash table in a product whose mask is dense and no complement.

    It counts no work for what such a mask meets in rows of more than 256 entries and sizes the table by the work; one
    that is full is searched for ever (9.4.5, in either mode, with any number of threads). What is asked for instead
    takes as much memory as a row of the mask. A mask that is not dense counts, and the choice is SuiteSparse's own.
    """
    if mask is None or mask.complement or not _is_dense(mask.parent._store):
        return {}
    if x.operation in ("vxm", "mxv"):
        by_rows = x.operation == "vxm"
        return {"axb_method": "gustavson" if x.operands[by_rows]._transposed != by_rows else "dot"}
    if x.operation == "mxm":
        A, B = x.operands
        return {"axb_method": "dot" if B._transposed and not A._transposed else "gustavson"}
    if x.operation == "power" or (x.operation == "ewise_mult" and x.operands[0].ndim != x.operands[1].ndim):
        return {"axb_method": "gustavson"}  # products inside python-graphblas
    return {}


def _is_dense(native: Any) -> bool:
    """Whether SuiteSparse holds it with a place for each position, or could."""
    return native.ss.format.startswith(("bitmap", "full")) or _is_full(native)
