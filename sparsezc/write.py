"""The unrun expression, the write target, and the one dispatch to an engine.

``w(mask, accum, replace=True) << A.mxv(v, op)``: the call makes a :class:`Target`, the method (through ``ops/``) an
:class:`~sparsezc.expression.Expression`, and ``<<`` hands both to :func:`write`, which finds the engine and runs it.
Nothing else runs.

What ``engine.run(expression, out, mask, accum, replace)`` receives
-------------------------------------------------------------------
Everything was checked before. Every operand, the output and the mask's parent are on the engine (``x._store`` is its
store). ``A``, ``B`` are Matrix or TransposedMatrix (``A._transposed``; its ``_store`` is that of the matrix behind it,
``A.T``). ``u``, ``v`` are Vectors; an ``x`` is any of these. ``s``, ``t`` are Scalars, which have no store: read
``s.value`` (None where it is empty, which happens in assign only) and ``s.dtype``. ``I``, ``J`` are
:class:`~sparsezc.expression.IndexList`.

==============  ================  ==========  =================================================
operation       operands          op          makes
==============  ================  ==========  =================================================
mxv             A, v              semiring    Vector
vxm             v, A              semiring    Vector
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
==============  ================  ==========  =================================================

An ``aggregate`` (x, steps; op an aggregator) never gets to an engine: its steps run here, the last one in its place.

``op`` is a TypedOp. ``mask`` is None or a :class:`~sparsezc.expression.Mask`; `accum` is None or the TypedOp of a
binary operator, whose operands are ``out`` and the result; `replace` is False without a mask. Types: operands are
converted to ``op.type``, the result is of ``expression.dtype`` and is converted to ``out.dtype`` (with `accum`: both to
``accum.type``). The output may also be an operand or the mask: its old content counts until all is computed.

* **reduce, and extract of one element**: ``out`` is a Scalar. The engine calls
  ``out._receive(expression, value, accum)`` with the value, or with None where there was no entry.
* **assign**: the shape of x fits the index lists that are no single positions (``I.kind == "one"``); an empty Scalar
  deletes. The mask has the shape of ``out``; or, where ``out`` is a Matrix and one of I, J a single position, that of
  the one row or column (``mask.parent.ndim == 1``), and then nothing outside of it is written, by `replace` either.
  ``w << v`` and ``w << 3`` arrive as assign with ``I.kind == "all"``.
* **extract**: both lists single positions make a Scalar; one, a Vector; none, a Matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc import engines
from sparsezc.errors import DimensionMismatch
from sparsezc.expression import Expression, IndexList, Mask, Operand, as_mask, says_shape
from sparsezc.resolve import resolve
from sparsezc.semirings.operators import Operator, TypedOp
from sparsezc.semirings.types import DataType

if TYPE_CHECKING:
    from sparsezc.engines import Engine

__all__ = ["Position", "Target", "Writable", "replace", "write"]


class _Replace:
    """The token of ``w(mask, replace) << ...``: the same as ``replace=True``."""

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = _Replace()


class Writable(Operand):
    """What can be written to: Matrix, Vector and Scalar."""

    __slots__ = ("__weakref__", "_engine", "_store", "dtype", "name")

    def __init_subclass__(cls) -> None:
        Operand._kinds[cls.ndim] = cls

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Any:
        raise NotImplementedError

    def _fill(self, expression: Expression, mask: Mask | None) -> None:
        """Run an expression into this new object."""
        write(self, expression, mask, None, False)

    def _settle(self, engine: Engine) -> None:
        """Make sure that there is a store on `engine`, moving the content if it may move."""
        raise NotImplementedError

    def _changed(self) -> None:
        """Forget what was known of the content."""

    def _express(self, value: Any) -> Expression:
        """The expression that ``self << value`` means, where `value` is none yet."""
        raise NotImplementedError

    def _take(self, value: Any, accum: TypedOp | None) -> None:
        """``s << value`` and ``s(accum) << value``, where `value` is no expression; for a Scalar only."""
        raise NotImplementedError

    def _indexed(self, keys: Any) -> tuple[IndexList, ...]:
        raise NotImplementedError

    def _assignment(self, keys: tuple[IndexList, ...], value: Any, mask: Mask | None, submask: bool) -> Expression:
        raise NotImplementedError

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression:
        raise NotImplementedError

    def _deletion(self) -> Any:
        raise NotImplementedError

    def __call__(self, *args: Any, mask: Any = None, accum: Any = None, replace: bool = False) -> Target:
        """A target to write to: ``w(mask, accum, replace=True) << expression``.

        Parameters
        ----------
        mask : Mask, optional
            ``x.S``, ``x.V``, ``~x.S``, ``~x.V``; or a BOOL object, which counts by its values.
        accum : binary operator or its name, optional
            ``w = accum(w, result)`` where both are present.
        replace : bool
            Delete what the mask does not allow.
        """
        for arg in args:
            if arg is _replace_token:
                replace = True
            elif isinstance(arg, Mask | Operand | Expression):
                if mask is not None:
                    raise TypeError(f"{self.name}(...): two masks were given")
                mask = arg
            elif accum is not None:
                raise TypeError(f"{self.name}(...): two accumulators were given")
            elif isinstance(arg, str | TypedOp | Operator):
                accum = arg
            else:
                raise TypeError(f"{self.name}(...): {arg!r} is neither a mask, nor an accumulator, nor replace")
        if accum is not None:
            accum = resolve("binary", accum, f"{self.name}(...): accum", self.dtype)
        if mask is not None:
            if not self.ndim:
                raise TypeError(f"{self.name}(...): a Scalar takes no mask")
            mask = as_mask(mask, self)
        elif replace:
            raise TypeError(f"{self.name}(...): replace=True needs a mask")
        return Target(self, mask, accum, bool(replace))

    def __lshift__(self, value: Any) -> None:
        write(self, value, None, None, False)

    def update(self, value: Any) -> None:
        """The same as ``self << value``."""
        write(self, value, None, None, False)

    def __getitem__(self, keys: Any) -> Position:
        return Position(self, self._indexed(keys))

    def __setitem__(self, keys: Any, value: Any) -> None:
        write(self, self._assignment(self._indexed(keys), value, None, False), None, None, False)

    def __delitem__(self, keys: Any) -> None:
        write(self, self._assignment(self._indexed(keys), self._deletion(), None, False), None, None, False)


_replace_token = replace


class Target:
    """``w(mask, accum, replace)``: an output and how to write to it. ``<<`` runs."""

    __slots__ = ("accum", "mask", "out", "replace")

    def __init__(self, out: Writable, mask: Mask | None, accum: TypedOp | None, replace: bool) -> None:
        self.out = out
        self.mask = mask
        self.accum = accum
        self.replace = replace

    def __lshift__(self, value: Any) -> None:
        write(self.out, value, self.mask, self.accum, self.replace)

    update = __lshift__

    def __getitem__(self, keys: Any) -> Position:
        return Position(self.out, self.out._indexed(keys), self)

    def __setitem__(self, keys: Any, value: Any) -> None:
        Position(self.out, self.out._indexed(keys), self) << value

    def __delitem__(self, keys: Any) -> None:
        Position(self.out, self.out._indexed(keys), self) << self.out._deletion()


class Position:
    """``w[I]`` or ``A[I, J]``: a place to read (``.new()``, ``.value``) or to write (``<<``)."""

    __slots__ = ("_value", "keys", "parent", "submask", "target")

    def __init__(
        self, parent: Any, keys: tuple[IndexList, ...], target: Target | None = None, submask: bool = False
    ) -> None:
        self.parent = parent
        self.keys = keys
        self.target = target
        self.submask = submask
        self._value: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Position:
        """``w[I](mask) << x``: here the mask has the shape of the region, not of ``w``."""
        if self.target is not None:
            raise TypeError(f"{self!r}: the mask and the accumulator were given already")
        target = self.parent(*args, **kwargs)
        return Position(self.parent, self.keys, target, target.mask is not None)

    def __lshift__(self, value: Any) -> None:
        if self.parent._transposed:
            raise TypeError(f"{self!r}: a transposed matrix is not written to; write to the matrix itself")
        target = self.target or Target(self.parent, None, None, False)
        expression = self.parent._assignment(self.keys, value, target.mask, self.submask)
        write(self.parent, expression, target.mask, target.accum, target.replace)

    update = __lshift__

    @property
    def expression(self) -> Expression:
        """The extraction that this place means when it is read."""
        if self.target is not None:
            raise TypeError(f"{self!r} with a mask or an accumulator is written to, not read")
        found: Expression = self.parent._extraction(self.keys)
        return found

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Any:
        """What lies there, as a new Scalar, Vector or Matrix; arguments as in :meth:`Expression.new`."""
        return self.expression.new(dtype, mask=mask, name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Position has no attribute {name!r}")
        if self._value is None:
            self._value = self.new()
        return getattr(self._value, name)

    def __repr__(self) -> str:
        return f"<{self.parent.name}[{', '.join(map(repr, self.keys))}]>"


def write(out: Any, value: Any, mask: Mask | None, accum: TypedOp | None, replace: bool) -> None:
    """Run an expression into an output: the one place where anything runs.

    Raises
    ------
    TypeError
        `value` is nothing that can be written to `out`, or the mask has the wrong number of dimensions.
    DimensionMismatch
        The result, or the mask, has another shape than `out`.
    InvalidValue
        Two matrices lie on different engines.
    """
    if type(value) is Position:
        value = value.expression
    if type(value) is not Expression:
        if not out.ndim:
            out._take(value, accum)
            return
        value = out._express(value)
    elif not value.shape and out.ndim:
        value = out._express(value.new())
    if value.shape != out.shape:
        text = f"{out.name} is a {says_shape(out.shape)}; {value.operation} makes a {says_shape(value.shape)}"
        raise (TypeError if len(value.shape) != out.ndim else DimensionMismatch)(text)
    if mask is not None and mask.parent.shape != value.mask_shape:
        text = f"mask {mask.name} is of a {says_shape(mask.parent.shape)}; writing to {out.name} here needs that of a "
        wrong = TypeError if mask.parent.ndim != len(value.mask_shape) else DimensionMismatch
        raise wrong(text + says_shape(value.mask_shape))
    if value.operation == "aggregate":
        last = value.operands[1].run()
        if not value.shape:
            out._receive(value, last, accum)
            return
        value = last
    _place(out, value, mask).run(value, out, mask, accum, replace)
    if out.ndim == 2:
        out._changed()


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
