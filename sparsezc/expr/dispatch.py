"""The unrun expression, the write target, and the one dispatch to an engine.

``w(mask, accum, replace=True) << A.mxv(v, op)``: the call makes a ``Target`` (updater.py), the method (through
``ops/``) an ``Expression`` (expression.py), and ``<<`` hands both to :func:`write`, which finds the engine
and runs it. Nothing else runs.

What ``engine.run(expression, out, mask, accum, replace)`` receives
-------------------------------------------------------------------
Everything was checked before. Every operand, the output and the mask's parent are on the engine (``x._store`` is its
store). ``A``, ``B`` are Matrix or TransposedMatrix (``A._transposed``; its ``_store`` is that of the matrix behind it,
``A.T``). ``u``, ``v`` are Vectors; an ``x`` is any of these. ``s``, ``t`` are Scalars, which have no store: read
``s.value`` (None where it is empty, which happens in assign only) and ``s.dtype``. ``I``, ``J`` are
:class:`~sparsezc.expr.expression.IndexList`.

==============  ================  ==========  =================================================
operation       operands          op          makes
==============  ================  ==========  =================================================
mxv             A, v              semiring    Vector
vxm             v, A              semiring    Vector
mxm             A, B              semiring    Matrix
inner           u, v              semiring    Scalar
outer           u, v              binary      Matrix: op(u(i), v(j))
kronecker       A, B              binary      Matrix: each entry of A with all of B
power           A, s              semiring    Matrix: A times itself, s.value times
ewise_add       x, y              binary      like x and y: union of the patterns
ewise_mult      x, y              binary      like x and y: intersection
ewise_union     x, s, y, t        binary      union; s stands in for x, t for y
apply           x                 unary       like x
apply_left      s, x              binary      like x: op(s, x)
apply_right     x, s              binary      like x: op(x, s)
apply_index     x, s              indexunary  like x; s is the thunk; may be a select operator
select          x, s              select      like x; s is the thunk; may be an indexunary one
reduce          x                 monoid      Scalar
reduce_rowwise  A                 monoid      Vector; by columns where A is transposed
transpose       A                 None        Matrix: the transpose of A
assign          x or s, I [, J]   None        into out[I] or out[I, J]
subassign       x or s, I [, J]   None        the same; the mask has the region's shape
extract         x, I [, J]        None        Scalar, Vector or Matrix
diag            x, s              None        Matrix from a Vector, Vector from a Matrix; s is k
reposition      x, s [, t]        None        like x, of the expression's shape: moved by s (and t)
select_mask     x, y, M           None        like x: what the mask of y allows; M is a MaskKind
==============  ================  ==========  =================================================

An ``aggregate`` (x, steps; op an aggregator) never gets to an engine: its steps run here, the last one in its place.

``op`` is a TypedOp. ``mask`` is None or a :class:`~sparsezc.expr.mask.Mask`; `accum` is None or the TypedOp of a
binary operator, whose operands are ``out`` and the result; `replace` is False without a mask. Types: operands are
converted to ``op.type``, the result is of ``expression.dtype`` and is converted to ``out.dtype`` (with `accum`: both to
``accum.type``). The output may also be an operand or the mask: its old content counts until all is computed.

* **ewise_add, ewise_mult, ewise_union** of a Matrix and a Vector make a Matrix: a vector on the right stands for every
  row, one on the left for every column. Of two Scalars they make a Scalar, as apply and select of one do; these have no
  store anywhere and run on the CPU engine.
* **reduce, inner, and extract of one element**: ``out`` is a Scalar. The engine calls
  ``out._receive(expression, value, accum)`` with the value, or with None where there was no entry.
* **assign**: the shape of x fits the index lists that are no single positions (``I.kind == "one"``); an empty Scalar
  deletes. The mask has the shape of ``out``; or, where ``out`` is a Matrix and one of I, J a single position, that of
  the one row or column (``mask.parent.ndim == 1``), and then nothing outside of it is written, by `replace` either.
  ``w << v`` and ``w << 3`` arrive as assign with ``I.kind == "all"``.
* **extract**: both lists single positions make a Scalar; one, a Vector; none, a Matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.errors import DimensionMismatch
from sparsezc.expr import engines
from sparsezc.expr.expression import Expression, Operand, Unrun, ready, says_shape
from sparsezc.expr.mask import Mask
from sparsezc.locks import take
from sparsezc.semirings.algebra.operators import TypedOp

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["replace", "write"]


class _Replace:
    """The token of ``w(mask, replace) << ...``: the same as ``replace=True``."""

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = _Replace()


def write(
    out: Any,
    value: Any,
    mask: Mask | None,
    accum: TypedOp | None,
    replace: bool,
    keys: Any = None,
    *,
    parsed: bool = True,
    submask: bool = False,
) -> None:
    """Run an expression into an output: the one place where anything runs, with the locks of all that take part.

    Parameters
    ----------
    out : Matrix, Vector or Scalar
    value : Any
        An expression, or what `out` makes one of.
    mask, accum, replace
        How it is written.
    keys : optional
        Where in `out` the value is assigned: index lists, or as a user gave them if not `parsed`.
    submask : bool
        Whether the mask is of the region's shape.

    Raises
    ------
    TypeError
        `value` is nothing that can be written to `out`, or the mask has the wrong number of dimensions.
    DimensionMismatch
        The result, or the mask, has another shape than `out`.
    InvalidValue
        Two matrices lie on different engines.
    """
    if type(value) is Expression:
        parts = value.operands
    elif isinstance(value, Unrun):
        parts = value._parts
    elif isinstance(value, Operand):
        parts = (value,)
    else:
        value, parts = ready(value), ()
    last = out._lock
    last.acquire()  # a call within a call, which has locks, has this one or is the only one to know the output
    held = [last]
    try:
        alone = out._lock is last  # else it has moved to an engine with a lock of its own
        if mask is not None and mask.parent._lock is not last:
            parts = (mask.parent, *parts)
        for x in parts:
            lock = x._lock
            if lock is last or lock is None:
                continue
            if not lock.acquire(False):
                alone = False
                break
            held.append(lock)
            alone = alone and x._lock is lock
            last = lock
        if not alone:
            while held:
                held.pop().release()
            take(held, (out, *parts))
        if keys is not None:
            value = out._assignment(keys if parsed else out._indexed(keys), value, mask, submask)
        elif type(value) is not Expression or not value.shape:
            value = _expressed(out, value, accum)
            if value is None:
                return
        if value.shape != out._shape or (mask is not None and mask.parent._shape != value.mask_shape):
            raise _misfit(out, value, mask)
        if value.operation == "aggregate":
            last = value.operands[1].run()
            if not value.shape:
                out._receive(value, last, accum)
                return
            value = last
        if out._engine is None and mask is None and accum is None and out._postpone(value):
            return
        _place(out, value, mask).run(value, out, mask, accum, replace)
        if out.ndim == 2:
            out._changed()
    finally:
        for lock in held:
            lock.release()


def _expressed(out: Any, value: Any, accum: TypedOp | None) -> Any:
    """The expression that writes a value, or None where a Scalar has taken it."""
    if type(value) is not Expression and isinstance(value, Unrun):
        element = accum is not None and not out.ndim  # python-graphblas takes no unread element into an accumulator
        value = value.operand("an accumulated element") if element else value.expression
    if type(value) is Expression:
        return value if value.shape or not out.ndim else out._express(value.operand("a Scalar as a value"))
    if out.ndim:
        return out._express(value)
    return out._take(value, accum)


def _misfit(out: Any, value: Expression, mask: Mask | None) -> Exception:
    """The error of a result, or else of a mask, that has another shape than is needed."""
    if value.shape != out.shape:
        text = f"{out.name} is a {says_shape(out.shape)}; {value.operation} makes a {says_shape(value.shape)}"
        return (TypeError if len(value.shape) != out.ndim else DimensionMismatch)(text)
    assert mask is not None
    text = f"mask {mask.name} is of a {says_shape(mask.parent.shape)}; writing to {out.name} here needs that of a "
    if mask.parent.ndim > out.ndim:
        text = f"Mask object must be type Vector: {text}"
    wrong = TypeError if mask.parent.ndim != len(value.mask_shape) else DimensionMismatch
    return wrong(text + says_shape(value.mask_shape))


def _place(out: Any, expression: Expression, mask: Mask | None) -> Engine:
    """The engine that a statement runs on, with every participant's store there."""
    engine = out._engine
    for x in expression.operands:
        if x._stored:
            other = x._engine
            if other is None or (engine is not None and other is not engine):
                return _gather(out, expression, mask)
            engine = other
    if engine is None or (mask is not None and mask.parent._engine is not engine):
        return _gather(out, expression, mask)
    if out._engine is None and out._stored:
        out._settle(engine)
    return engine  # type: ignore[no-any-return]


def _gather(out: Any, expression: Expression, mask: Mask | None) -> Engine:
    """Choose an engine and bring everybody there.

    Matrices decide, for they are large; without one, vectors do. Among either the GPU wins over the CPU. What was never
    filled follows.
    """
    participants = [x for x in (out, *expression.operands) if x._stored]
    if mask is not None:
        participants.append(mask.parent)
    engine: Engine | None = None
    for ndim in (2, 1):
        for x in participants:
            if x.ndim == ndim and x._engine is not None and (engine is None or engine.name == "cpu"):
                engine = x._engine
        if engine is not None:
            break
    if engine is None:
        engine = engines.get("cpu")
    for x in participants:
        if x._engine is not engine:
            x._settle(engine)
    return engine
