"""A statement: the write options of an output, the target that waits for ``<<``, and the one dispatch to an engine.

``w(mask, accum, replace=True) << A.mxv(v, op)``: the call (writable.py) makes a :class:`Target`, which holds a
:class:`Write`; the method, through ``ops/``, makes an ``Expression``; and ``<<`` passes both to :func:`update`, which
chooses the engine that runs the expression. expr/engines/protocol.py lists the arguments that an engine receives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr import engines
from sparsezc.expr.expression import Deferred, Expression, IndexList, Operand, ready, says_shape
from sparsezc.expr.mask import Mask
from sparsezc.process.locks import acquire_locks
from sparsezc.semirings.algebra.operators import TypedOp

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["PLAIN", "Assigner", "Target", "Write", "update"]

M = TypeVar("M")


class Write(NamedTuple, Generic[M]):
    """The write options of a statement.

    Attributes
    ----------
    mask : Mask, optional
        The positions that may be written. Inside an engine, the mask in that engine's form.
    accum : TypedOp, optional
        The binary operator that combines old and new value, where both are present.
    replace : bool
        Entries outside the mask are deleted; False without a mask.
    """

    mask: M
    accum: TypedOp | None
    replace: bool


#: The options of ``w << x``: every result is written, over the old content.
PLAIN: Write[Mask | None] = Write(None, None, False)


class Target:
    """An output and its write options: ``w(mask, accum, replace)``; ``<<`` runs the statement."""

    __slots__ = ("__weakref__", "out", "write")

    def __init__(self, out: Any, write: Write[Mask | None]) -> None:
        self.out = out
        self.write = write

    def __lshift__(self, value: Any) -> None:
        update(self.out, value, self.write)

    update = __lshift__

    def __getitem__(self, keys: Any) -> Assigner:
        return self._at(keys)

    def __setitem__(self, keys: Any, value: Any) -> None:
        self._at(keys) << value

    def __delitem__(self, keys: Any) -> None:
        self._at(keys) << self.out._deletion()

    def _at(self, keys: Any) -> Assigner:
        return Assigner(self, self.out._indexed(keys), False)

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"__eq__ is not defined for {self.out.name}(...), which is only a target of <<")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"__bool__ is not defined for {self.out.name}(...), which is only a target of <<")


class Assigner:
    """Positions of an output that ``<<`` assigns to: ``w(mask, accum)[I]`` or ``w[I](mask, accum)``."""

    __slots__ = ("__weakref__", "keys", "submask", "target")

    def __init__(self, target: Target, keys: tuple[IndexList, ...], submask: bool) -> None:
        self.target = target
        self.keys = keys
        self.submask = submask

    def __lshift__(self, value: Any) -> None:
        update(self.target.out, value, self.target.write, self.keys, submask=self.submask)

    update = __lshift__

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"__eq__ is not defined for {self!r}, which is only a target of <<")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"__bool__ is not defined for {self!r}, which is only a target of <<")

    def __repr__(self) -> str:
        return f"<{self.target.out.name}(...)[{', '.join(map(repr, self.keys))}]>"


def update(
    out: Any,
    value: Any,
    write: Write[Mask | None],
    keys: Any = None,
    *,
    parsed: bool = True,
    submask: bool = False,
) -> None:
    """Run an expression and write its result to `out`, holding the locks of all objects that take part.

    Parameters
    ----------
    out : Matrix, Vector or Scalar
    value : Any
        An expression, or a value that `out` turns into one.
    write : Write
        The write options.
    keys : optional
        The positions of `out` that are assigned: index lists, or the user's indices if not `parsed`.
    submask : bool
        The mask has the shape of the assigned positions, not of `out`.

    Raises
    ------
    TypeError
        `value` cannot be written to `out`, or the mask has the wrong number of dimensions.
    DimensionMismatch
        The result, or the mask, has another shape than `out`.
    InvalidValue
        Two matrices are on different engines.
    """
    is_ready = type(value) is Expression  # needs no conversion
    if is_ready:
        parts = value.operands
    elif isinstance(value, Deferred):
        parts = value._parts
    elif isinstance(value, Operand):
        parts = (value,)
    else:
        value, parts = ready(value), ()
    mask, accum, _ = write
    last = out._lock
    # A nested call already holds this lock, or its output is unknown to other threads: it cannot deadlock here.
    last.acquire()
    held = [last]
    try:
        alone = out._lock is last  # otherwise `out` has moved to an engine with its own lock
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
            if x._lock is not lock:
                alone = False
                break
            last = lock
        if not alone:
            while held:
                held.pop().release()
            acquire_locks(held, (out, *parts))
        if keys is not None:
            value = out._assignment(keys if parsed else out._indexed(keys), value, mask, submask)
        elif not is_ready or not value.shape:
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
        engine: Any = _place(out, value, mask)
        if wrappers := engines.WRAPPERS.get():  # engines.in_use, inlined: every statement runs it
            engine = wrappers.get(id(engine), engine)
        engine.run(value, out, write)
        if out.ndim == 2:
            out._changed()
    finally:
        for lock in held:
            lock.release()


def _expressed(out: Any, value: Any, accum: TypedOp | None) -> Any:
    """Return the expression that writes a value, or None if `out` is a Scalar and has stored the value."""
    if type(value) is not Expression and isinstance(value, Deferred):
        element = accum is not None and not out.ndim  # as in python-graphblas, it must be computed first
        value = value.operand("an accumulated element") if element else value.expression
    if type(value) is Expression:
        return value if value.shape or not out.ndim else out._express(value.operand("a Scalar as a value"))
    if out.ndim:
        return out._express(value)
    return out._take(value, accum)


def _misfit(out: Any, value: Expression, mask: Mask | None) -> Exception:
    """Return the error for a result of the wrong shape, or else for a mask of the wrong shape."""
    if value.shape != out.shape:
        text = f"{out.name} is a {says_shape(out.shape)}; {value.operation} makes a {says_shape(value.shape)}"
        return (TypeError if len(value.shape) != out.ndim else DimensionMismatch)(text)
    assert mask is not None
    text = f"mask {mask.name} is of a {says_shape(mask.parent.shape)}; writing to {out.name} here needs one of a "
    if mask.parent.ndim > out.ndim:
        text = f"Mask object must be type Vector: {text}"
    wrong = TypeError if mask.parent.ndim != len(value.mask_shape) else DimensionMismatch
    return wrong(text + says_shape(value.mask_shape))


def _place(out: Any, expression: Expression, mask: Mask | None) -> Engine:
    """Return the engine that runs a statement, after moving every participant there if necessary."""
    engine = out._engine
    for x in expression.operands:
        if x._stored:
            other = x._engine
            if other is None or (other is not engine and engine is not None):
                return _move_together(out, expression, mask)
            engine = other
    if engine is None or (mask is not None and mask.parent._engine is not engine):
        return _move_together(out, expression, mask)
    if out._engine is None and out._stored:
        if engines.can(engine, "load"):  # an engine with `load` runs no statements
            return _move_together(out, expression, mask)
        out._settle(engine)
    return engine  # type: ignore[no-any-return]


def _move_together(out: Any, expression: Expression, mask: Mask | None) -> Engine:
    """Choose an engine and move every participant there.

    A matrix's engine is chosen, as matrices are large; without a matrix, a vector's. Of several, any other engine is
    preferred to the CPU engine. Objects without a store follow.
    """
    participants = [x for x in (out, *expression.operands) if x._stored]
    if mask is not None:
        participants.append(mask.parent)
    for x in participants:
        if x._engine is not None:
            engines.capability(x._engine, "load")(x)
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
            if x._engine is not None:
                engines.capability(engine, "require_compatible")(x._engine)
            x._settle(engine)
    return engine
