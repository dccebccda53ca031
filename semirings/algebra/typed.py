"""An operator for one type of operands: ``Operator.__getitem__`` (operators.py) makes it on first use."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import getitem
from typing import TYPE_CHECKING, Any, overload

from sparsezc.process.first_use import provided
from sparsezc.semirings.algebra.user_operators import applied
from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.expr.expression import Expression
    from sparsezc.expr.infix import Infix, K
    from sparsezc.semirings.algebra.operators import Operator

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_READABLE = frozenset("xyijk")


@lru_cache(maxsize=4096)  # expressions: more than the built-in operators have; users' operators are unbounded
def reads_of(expression: str) -> frozenset[str]:
    """Return the names among x, y, i, j, k that a CUDA expression reads.

    >>> from sparsezc.semirings.algebra.operators import reads_of
    >>> sorted(reads_of("lesser(x, Z(k))"))
    ['k', 'x']
    """
    return _READABLE.intersection(_IDENTIFIER.findall(expression))


class Called:
    """The base of typed and untyped operators, which are called with objects."""

    __slots__ = ()

    @overload
    def __call__(self, operand: Infix[K], /, *args: Any, **kwargs: Any) -> Expression[K]: ...
    @overload
    def __call__(self, left: Any, right: Infix[K], /) -> Expression[K]: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to objects: ``op(A | B)``, ``op(A, 1)``; see :func:`call`."""
        return call(self, args, kwargs)


class TypedOp(Called):
    """An operator for one operand type.

    Attributes
    ----------
    op : Operator
        The untyped operator.
    name : str
        Its name.
    type : DataType
        The type that operands are converted to.
    return_type : DataType
        The type of the result.
    cuda : str
        The CUDA expression: ``x`` and ``y`` are operands of ``type``, ``i``, ``k``, ``j`` positions; its value is
        converted to ``return_type`` by the kernel, ``Z(...)``.
    reads : frozenset of str
        Those of ``"x" "y" "i" "j" "k"`` that the expression reads.
    type2 : DataType
        The type of the second operand: different from ``type`` only if one of the two is user-defined.
    of_users : bool
        One of the operands' types is user-defined; then there is no CUDA expression.
    native : Any
        The CPU engine's operator, once made; kept here so that both are freed together.
    """

    __slots__ = ("cuda", "name", "native", "of_users", "op", "reads", "return_type", "type", "type2")

    def __init__(self, op: Operator, type_: DataType, return_type: DataType, type2: DataType | None = None) -> None:
        self.op = op
        self.native: Any = None
        self.name = op.name
        self.type = type_
        self.type2 = type_ if type2 is None else type2
        self.return_type = return_type
        self.of_users = type_.is_udt or self.type2.is_udt
        self.cuda = "" if self.of_users else op.cuda if op.user_function is None else op.user_function[type_].cuda
        self.reads = reads_of(self.cuda)

    def keep_native(self, native: Any) -> None:
        """Keep the CPU engine's operator of the same meaning."""
        self.native = native

    @property
    def thunk_type(self) -> DataType:
        """The type of an index-unary operator's scalar: INT64 for positional ones, ``type2`` for all others."""
        return datatypes.INT64 if self.op.is_positional and self.op.user_function is None else self.type2

    @property
    def parent(self) -> Operator:
        """The untyped operator: ``op`` by python-graphblas's name."""
        return self.op

    @property
    def opclass(self) -> str:
        """``"UnaryOp"``, ``"BinaryOp"`` ..."""
        return self.op.opclass

    @property
    def orig_func(self) -> Any:
        """The Python function it was made from, or None."""
        return self.op.orig_func

    @property
    def is_positional(self) -> bool:
        """True if the result depends on positions instead of values."""
        return self.op.is_positional

    @property
    def elementwise(self) -> str:
        """The CUDA expression for operands at the same position (i, j), as in ewise_mult and apply."""
        return self.op.elementwise if self.op.user_function is None else self.cuda

    @property
    def is_commutative(self) -> bool:
        """True if its operands may be exchanged."""
        return bool(getattr(self.op, "is_commutative", False))

    @property
    def commutes_to(self) -> TypedOp | None:
        """The typed operator that returns the same with its operands exchanged, or None."""
        other = getattr(self.op, "commutes_to", None)
        if other is None:
            return None
        found: TypedOp = other[(self.type2, self.type) if self.of_users else self.type]
        return found

    def numpy(self, *operands: Any) -> Any:
        """Apply to arrays: values are converted to ``type`` first, the result to ``return_type``.

        Operators of values take ``(x)`` or ``(x, y)``; positional binary ones ``(i, k, j)``, positional unary ones
        ``(i, j)``, index-unary and select operators ``(x, i, j, thunk)``.
        """
        if self.of_users:
            return applied(self, operands)
        return self.op._run_numpy(self, operands)

    def __repr__(self) -> str:
        return f"{self.op!r}[{self.type.name}{'' if self.type2 is self.type else f', {self.type2.name}'}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return (getitem, (self.op, (self.type, self.type2))) if self.of_users else (_typed, (self.op, self.type))


class TypedBinaryOp(TypedOp):
    """A binary operator for one type of operands."""

    __slots__ = ()

    @property
    def monoid(self) -> Any:
        """Its monoid for this type, or None."""
        monoid = getattr(self.op, "monoid", None)
        return None if monoid is None or self.type not in monoid else monoid[self.type]


def _typed(op: Operator, operand: DataType) -> TypedOp:
    """Return the typed operator that computes with a type, which need not be one of its inputs (``ldexp``)."""
    return op[next(t for t in op.types if op[t].type is operand)]


def call(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Let the first argument that has ``_call_operator`` decide the meaning of ``op(A | B)`` or ``op(A, 1)``.

    Numbers alone are Scalars: ``unary.cos(0)``, ``binary.plus(5, 2)``.

    Raises
    ------
    TypeError
        An argument is none of these.
    """
    for arg in args:
        hook = getattr(arg, "_call_operator", None)
        if hook is not None:
            return hook(op, args, kwargs)
    if args:
        try:
            first = provided("scalar")(args[0])
        except TypeError:
            pass
        else:
            return first._call_operator(op, (first, *args[1:]), kwargs)
    raise TypeError(
        f"{op!r} takes numbers, matrices, vectors or their infix expressions; got {', '.join(map(repr, args))}"
    )
