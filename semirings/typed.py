"""An operator for one type of operands, which :class:`~sparsezc.semirings.operators.Operator` makes on first use."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from sparsezc.semirings import types
from sparsezc.semirings.types import DataType

if TYPE_CHECKING:
    from sparsezc.semirings.operators import Operator

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_READABLE = frozenset("xyijk")


@cache
def reads_of(expression: str) -> frozenset[str]:
    """Which of x, y, i, j, k a CUDA expression reads.

    >>> from sparsezc.semirings.operators import reads_of
    >>> sorted(reads_of("lesser(x, Z(k))"))
    ['k', 'x']
    """
    return _READABLE.intersection(_IDENTIFIER.findall(expression))


class TypedOp:
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
        Which of ``"x" "y" "i" "j" "k"`` that expression reads.
    """

    __slots__ = ("cuda", "name", "op", "reads", "return_type", "type")

    def __init__(self, op: Operator, type_: DataType, return_type: DataType) -> None:
        self.op = op
        self.name = op.name
        self.type = type_
        self.return_type = return_type
        self.cuda = op.cuda if op.written is None else op.written[type_].cuda
        self.reads = reads_of(self.cuda)

    @property
    def type2(self) -> DataType:
        """The type of the second operand; the same as ``type`` for every built-in operator."""
        return self.type

    @property
    def thunk_type(self) -> DataType:
        """The type of an index-unary operator's scalar: INT64 for those of positions, ``type`` for all others."""
        return types.INT64 if self.op.is_positional and self.op.written is None else self.type

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
        """The Python function that it was made of, or None."""
        return self.op.orig_func

    @property
    def is_positional(self) -> bool:
        """Whether the result depends on positions instead of values."""
        return self.op.is_positional

    @property
    def elementwise(self) -> str:
        """The CUDA expression where both operands lie at one position (i, j), as in ewise_mult and apply."""
        return self.op.elementwise if self.op.written is None else self.cuda

    @property
    def is_commutative(self) -> bool:
        """Whether its operands may be exchanged."""
        return bool(getattr(self.op, "is_commutative", False))

    @property
    def commutes_to(self) -> TypedOp | None:
        """The typed operator that gives the same with its operands exchanged, or None."""
        other = getattr(self.op, "commutes_to", None)
        return None if other is None else other[self.type]

    def numpy(self, *operands: Any) -> Any:
        """Apply to arrays: values are converted to ``type`` first, the result to ``return_type``.

        Operators of values take ``(x)`` or ``(x, y)``; positional binary ones ``(i, k, j)``, positional unary ones
        ``(i, j)``, index-unary and select operators ``(x, i, j, thunk)``.
        """
        return self.op._run_numpy(self, operands)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """``op(A | B)``, ``op(A, 1)``; see :func:`call`."""
        return call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"{self.op!r}[{self.type.name}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _typed, (self.op, self.type)


class TypedBinaryOp(TypedOp):
    """A binary operator for one type of operands."""

    __slots__ = ()

    @property
    def monoid(self) -> Any:
        """Its monoid for this type, or None."""
        monoid = getattr(self.op, "monoid", None)
        return None if monoid is None or self.type not in monoid else monoid[self.type]


def _typed(op: Operator, operand: DataType) -> TypedOp:
    """The typed operator that computes with a type, which need not be among its inputs (``ldexp``)."""
    return op[next(t for t in op.types if op[t].type is operand)]


def call(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``op(A | B)``, ``op(A, 1)``: the first argument that knows ``_call_operator`` decides what that means.

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
        from sparsezc.scalar import Scalar

        try:
            first: Any = Scalar.from_value(args[0])
        except TypeError:
            pass
        else:
            return first._call_operator(op, (first, *args[1:]), kwargs)
    raise TypeError(
        f"{op!r} takes numbers, matrices, vectors or their infix expressions; got {', '.join(map(repr, args))}"
    )
