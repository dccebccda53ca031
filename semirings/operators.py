"""What an operator is: its name, its NumPy function and its CUDA expression, and the typed form of each.

An operator such as ``binary.plus`` is untyped; ``binary.plus["INT64"]`` is its :class:`TypedOp`, made on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np

from sparsezc.errors import DomainMismatch
from sparsezc.semirings import types
from sparsezc.semirings.domains import EVERY, Domain
from sparsezc.semirings.types import DataType

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_READABLE = frozenset("xyijk")


class TypeNotSupported(DomainMismatch, KeyError):
    """An operator was asked for a type that it does not have. Also a KeyError, as in python-graphblas."""

    def __str__(self) -> str:
        return Exception.__str__(self)


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
        self.cuda = op.cuda
        self.reads = reads_of(op.cuda)

    @property
    def type2(self) -> DataType:
        """The type of the second operand; the same as ``type`` for every built-in operator."""
        return self.type

    @property
    def thunk_type(self) -> DataType:
        """The type of an index-unary operator's scalar: INT64 for those of positions, ``type`` for those of values."""
        return types.INT64 if self.op.is_positional else self.type

    @property
    def is_positional(self) -> bool:
        """Whether the result depends on positions instead of values."""
        return self.op.is_positional

    @property
    def elementwise(self) -> str:
        """The CUDA expression where both operands lie at one position (i, j), as in ewise_mult and apply."""
        return self.op.elementwise

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


def _typed(op: Operator, operand: DataType) -> TypedOp:
    """The typed operator that computes with a type, which need not be among its inputs (``ldexp``)."""
    return op[next(t for t in op.types if op[t].type is operand)]


def call(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``op(A | B)``, ``op(A, 1)``: the first argument that knows ``_call_operator`` decides what that means."""
    for arg in args:
        hook = getattr(arg, "_call_operator", None)
        if hook is not None:
            return hook(op, args, kwargs)
    raise TypeError(f"{op!r} takes matrices, vectors or their infix expressions; got {', '.join(map(repr, args))}")


class Operator:
    """Base of every operator: a name, a table of types, and typed forms on demand."""

    kind: ClassVar[str]
    typed_class: ClassVar[type[TypedOp]] = TypedOp
    name: str
    cuda: str
    elementwise: str
    is_positional: bool
    _domain: Domain
    _function: Callable[..., Any]

    def __init__(
        self,
        name: str,
        *,
        numpy: Callable[..., Any],
        cuda: str,
        domain: Domain = EVERY,
        elementwise: str | None = None,
    ) -> None:
        self.name = name
        self.cuda = cuda
        self.elementwise = cuda if elementwise is None else elementwise
        self.is_positional = not reads_of(cuda).isdisjoint("ijk")
        self._domain = domain
        self._function = numpy
        self._typed: dict[Any, TypedOp] = {}
        self._types: dict[DataType, DataType] | None = None

    @property
    def types(self) -> dict[DataType, DataType]:
        """``{input type: result type}``."""
        if self._types is None:
            self._types = {t: result for t, (_, result) in self._domain.items()}
        return self._types

    def __getitem__(self, key: Any) -> TypedOp:
        try:
            return self._typed[key]
        except (KeyError, TypeError):
            pass
        return self._find(key)

    def _find(self, key: Any) -> TypedOp:
        dtype = self._meet(*key) if type(key) is tuple else types.lookup(key)
        pair = self._domain.get(dtype)
        if pair is None:
            if not self.is_positional:
                known = ", ".join(t.name for t in self._domain)
                raise TypeNotSupported(f"{self!r} does not work with {dtype}; it works with {known}")
            pair = next(reversed(self._domain.values()))  # positions do not depend on the values' type
            pair = self._domain.get(types.INT64, pair)
        # Inputs that are converted to one operand type share one typed operator.
        shared = ("shared", *pair)  # no key that a user gives: (FP32, FP64) means two operands' types
        typed = self._typed.get(shared)
        if typed is None:
            typed = self._typed[shared] = self._make(*pair)
        return self._typed.setdefault(key, typed)

    def _make(self, operand: DataType, result: DataType) -> TypedOp:
        return self.typed_class(self, operand, result)

    def _meet(self, left: Any, right: Any) -> DataType:
        return types.unify(types.lookup(left), types.lookup(right))

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except (KeyError, TypeError):
            return False
        return True

    def _run_numpy(self, typed: TypedOp, operands: tuple[Any, ...]) -> Any:
        if self.is_positional:
            values: list[Any] = [np.asarray(v, np.int64) for v in operands]
        else:
            values = [types.cast(v, typed.type) for v in operands]
        with np.errstate(all="ignore"):
            return types.cast(self._function(*values), typed.return_type)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """``op(A | B)``, ``op(A, 1)``; see :func:`call`."""
        return call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        from sparsezc.semirings.names import lookup, names_of

        known = lookup(self.kind, self.name) if self.name in names_of(self.kind) else None
        return (lookup, (self.kind, self.name)) if known is self else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_typed": {}}  # made again when asked for


class UnaryOp(Operator):
    """``z = f(x)``."""

    kind = "unary"


class BinaryOp(Operator):
    """``z = f(x, y)``.

    Parameters
    ----------
    commutes_to : str, optional
        The name of the operator that gives the same with its operands exchanged: its own where f(x, y) = f(y, x).
    transposes_to : str, optional
        The same for a multiplication of matrices, where exchanging A(i, k) and B(k, j) also exchanges i and j; only
        positional operators need another name here.
    mixed : DataType, optional
        The type for operands of two types, where it is not the one that they meet in.
    """

    kind = "binary"

    def __init__(
        self,
        name: str,
        *,
        numpy: Callable[..., Any],
        cuda: str,
        domain: Domain = EVERY,
        elementwise: str | None = None,
        commutes_to: str | None = None,
        transposes_to: str | None = None,
        mixed: DataType | None = None,
    ) -> None:
        super().__init__(name, numpy=numpy, cuda=cuda, domain=domain, elementwise=elementwise)
        self._commutes_to = commutes_to
        self._transposes_to = commutes_to if transposes_to is None else transposes_to
        self._mixed = mixed

    def _meet(self, left: Any, right: Any) -> DataType:
        return self._mixed if self._mixed is not None else super()._meet(left, right)

    @property
    def is_commutative(self) -> bool:
        """Whether f(x, y) = f(y, x)."""
        return self._commutes_to == self.name

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator g with g(y, x) = f(x, y), or None."""
        from sparsezc.semirings.names import lookup

        return None if self._commutes_to is None else lookup("binary", self._commutes_to)

    @property
    def transposes_to(self) -> BinaryOp | None:
        """The operator g for which B'A' with g is the transpose of AB with f, or None."""
        from sparsezc.semirings.names import lookup

        return None if self._transposes_to is None else lookup("binary", self._transposes_to)


class IndexUnaryOp(Operator):
    """``z = f(x, i, j, thunk)``; the thunk is ``y`` in CUDA."""

    kind = "indexunary"

    def _run_numpy(self, typed: TypedOp, operands: tuple[Any, ...]) -> Any:
        x, i, j, thunk = operands
        i, j = np.asarray(i, np.int64), np.asarray(j, np.int64)
        thunk = types.cast(thunk, typed.thunk_type)
        with np.errstate(all="ignore"):
            z = self._function(x if self.is_positional else types.cast(x, typed.type), i, j, thunk)
            return types.cast(z, typed.return_type)


class SelectOp(IndexUnaryOp):
    """An index-unary operator that says whether to keep an entry."""

    kind = "select"

    @classmethod
    def of(cls, op: IndexUnaryOp) -> SelectOp:
        """The select operator that keeps where ``op`` is true."""
        return cls(op.name, numpy=op._function, cuda=op.cuda, domain=op._domain)
