"""Operators: the name, its NumPy function and its CUDA expression, and the typed form of each.

An operator such as ``binary.plus`` is untyped; ``binary.plus["INT64"]`` is its :class:`TypedOp`, made on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparsezc.exceptions import DomainMismatch
from sparsezc.semirings.algebra import user_operators
from sparsezc.semirings.algebra.registering import FromFunction
from sparsezc.semirings.algebra.typed import Called, TypedBinaryOp, TypedOp, reads_of
from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import DataType
from sparsezc.semirings.types.domains import EVERY, Domain

if TYPE_CHECKING:
    from sparsezc.semirings.algebra.structures import Monoid
    from sparsezc.semirings.algebra.user_operators import Rule
    from sparsezc.semirings.udf.functions import UserFunction

__all__ = [
    "BinaryOp", "IndexUnaryOp", "Operator", "SelectOp", "TypeNotSupported", "TypedBinaryOp", "TypedOp", "UnaryOp",
    "reads_of",
]  # fmt: skip


class TypeNotSupported(DomainMismatch, KeyError):
    """The operator does not exist for the requested type. Also a KeyError, as in python-graphblas."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class Operator(Called):
    """Base of every operator: a name, a table of types, and typed forms on demand."""

    kind: ClassVar[str]
    typed_class: ClassVar[type[TypedOp]] = TypedOp
    name: str
    cuda: str
    elementwise: str
    is_positional: bool
    #: The user's Python function that it was made from, translated for each type; None for a built-in operator.
    user_function: UserFunction | None = None
    #: The parameterized operator that made it, and the parameters.
    parameters: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None
    #: The rule for user-defined types, if it is built in and accepts them.
    of_users: Rule | None = None
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

    def _extend(self, domain: Domain) -> None:
        """Accept further types."""
        self._domain = {**self._domain, **domain}

    def _follow(self, rule: Rule) -> None:
        """Accept user-defined types by a rule."""
        self.of_users = rule

    def _made_of(self, user_function: UserFunction) -> None:
        """Record the Python function that it was made from."""
        self.user_function = user_function

    def _made_with(self, maker: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record the parameterized operator that made it, and the parameters."""
        self.parameters = (maker, args, kwargs)

    @classmethod
    def from_string(cls, text: str) -> Any:
        """Find the operator of this kind that a string names, typed if the string ends in a type.

        Parameters
        ----------
        text : str
            A name or a sign, perhaps with a type: ``"plus"``, ``"+[int]"``, ``"min.plus"`` for a semiring.

        Raises
        ------
        exceptions.InvalidValue
            No operator of this kind has that name.

        >>> from sparsezc.semirings import binary, semiring
        >>> binary.from_string("+[int]"), semiring.from_string("min.plus")
        (binary.plus[INT64], semiring.min_plus)
        """
        from sparsezc.semirings.algebra.names import from_string

        return from_string(cls.kind, text)

    @property
    def orig_func(self) -> Callable[..., Any] | None:
        """The Python function it was made from, or None."""
        return None if self.user_function is None else self.user_function.function

    @property
    def types(self) -> dict[DataType, DataType]:
        """``{input type: result type}``."""
        if self._types is None:
            self._types = {t: result for t, (_, result) in self._domain.items()}
        return self._types

    @property
    def coercions(self) -> dict[DataType, DataType]:
        """``{input type: operand type}`` of the inputs that are converted first."""
        return {t: operand for t, (operand, _) in self._domain.items() if operand is not t}

    @property
    def opclass(self) -> str:
        """``"UnaryOp"``, ``"BinaryOp"`` ..."""
        return type(self).__name__

    def __getitem__(self, key: Any) -> TypedOp:
        try:
            return self._typed[key]
        except (KeyError, TypeError):
            pass
        return self._find(key)

    def _find(self, key: Any) -> TypedOp:
        given = tuple(datatypes.lookup(t) for t in (key if type(key) is tuple else (key,)))
        if any(t.is_udt for t in given):
            return self._typed.setdefault(key, self._find_for_users(given[0], given[-1]))
        dtype = self._meet(*given) if len(given) == 2 else given[0]
        pair = self._domain.get(dtype)
        if pair is None:
            if not self.is_positional or self.user_function is not None:
                known = ", ".join(t.name for t in self._domain)
                raise TypeNotSupported(f"{self!r} does not work with {dtype}; it works with {known}")
            pair = next(reversed(self._domain.values()))  # positions do not depend on the type of values
            pair = self._domain.get(datatypes.INT64, pair)
        # Inputs converted to one operand type share one typed operator.
        shared = ("shared", *pair)  # no user's key equals this one: (FP32, FP64) means two operands' types
        typed = self._typed.get(shared)
        if typed is None:
            typed = self._typed[shared] = self._make(*pair)
        return self._typed.setdefault(key, typed)

    def _make(self, operand: DataType, result: DataType) -> TypedOp:
        return self.typed_class(self, operand, result)

    def _find_for_users(self, left: DataType, right: DataType) -> TypedOp:
        """Find the typed operator when one of the types is user-defined."""
        if self.is_positional and self.user_function is None:
            return self[datatypes.INT64]  # positions do not depend on the type of values
        if self.kind in ("unary", "agg"):
            right = left
        shared = ("users", left, right)
        typed = self._typed.get(shared)
        if typed is None:
            result = user_operators.result(self, left, right)
            if result is None:
                given = left if left is right else f"{left} and {right}"
                raise TypeNotSupported(f"{self!r} does not work with {given}{self._why_not()}")
            typed = self._typed[shared] = self.typed_class(self, left, result, right)
        return typed

    def _why_not(self) -> str:
        if self.user_function is None:
            return ""
        if not self.user_function.is_udt:
            return "; functions take user-defined types where they are made with is_udt=True"
        return "; numba cannot compile it, or a value is a sub-array, of which there are no functions"

    def _meet(self, left: DataType, right: DataType) -> DataType:
        return datatypes.unify(left, right)

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
            values = [datatypes.cast(v, typed.type) for v in operands]
        with np.errstate(all="ignore"):
            return datatypes.cast(self._function_of(typed.type)(*values), typed.return_type)

    def _function_of(self, operand: DataType) -> Callable[..., Any]:
        return self._function if self.user_function is None else self.user_function[operand].numpy

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        from sparsezc.semirings.algebra.names import lookup, names_of

        if names_of(self.kind).get(self.name) is self:
            return lookup, (self.kind, self.name)
        if self.parameters is not None:
            return _with_parameters, self.parameters
        if self.user_function is not None and isinstance(self, FromFunction):
            made = type(self).register_anonymous
            return partial(made, is_udt=self.user_function.is_udt), (self.user_function.function, self.name)
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_typed": {}}  # typed operators are made again on demand


def _with_parameters(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return op(*args, **kwargs)


class UnaryOp(FromFunction, Operator):
    """A unary operator, ``z = f(x)``."""

    kind = "unary"


class BinaryOp(FromFunction, Operator):
    """A binary operator, ``z = f(x, y)``.

    Parameters
    ----------
    commutes_to : str, optional
        The name of the operator that returns the same with its operands exchanged: its own if f(x, y) = f(y, x).
    transposes_to : str, optional
        The same for a multiplication of matrices, where exchanging A(i, k) and B(k, j) also exchanges i and j; only
        positional operators need another name here.
    mixed : DataType, optional
        The type for operands of two types, if it is not their common type.
    """

    kind = "binary"
    typed_class = TypedBinaryOp

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
        self._monoid: Monoid | None = None

    def _commute(self) -> None:
        """Declare that it returns the same with its operands exchanged."""
        self._commutes_to = self._transposes_to = self.name

    def _become_part_of(self, monoid: Monoid) -> None:
        """Record a monoid that is made of it, unless it has one already."""
        if self._monoid is None:
            self._monoid = monoid

    def _meet(self, left: DataType, right: DataType) -> DataType:
        return self._mixed if self._mixed is not None else super()._meet(left, right)

    @property
    def monoid(self) -> Monoid | None:
        """The monoid whose operator this is, or None."""
        return self._monoid

    @property
    def is_commutative(self) -> bool:
        """True if f(x, y) = f(y, x)."""
        return self._commutes_to == self.name

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator g with g(y, x) = f(x, y), or None."""
        return self._other(self._commutes_to)

    @property
    def transposes_to(self) -> BinaryOp | None:
        """The operator g for which B'A' with g is the transpose of AB with f, or None."""
        return self._other(self._transposes_to)

    def _other(self, name: str | None) -> BinaryOp | None:
        from sparsezc.semirings.algebra.names import lookup

        if name is None or name == self.name:
            return None if name is None else self
        found: BinaryOp = lookup("binary", name)
        return found


class IndexUnaryOp(FromFunction, Operator):
    """An index-unary operator, ``z = f(x, i, j, thunk)``; the thunk is ``y`` in CUDA."""

    kind = "indexunary"

    def _run_numpy(self, typed: TypedOp, operands: tuple[Any, ...]) -> Any:
        x, i, j, thunk = operands
        i, j = np.asarray(i, np.int64), np.asarray(j, np.int64)
        thunk = datatypes.cast(thunk, typed.thunk_type)
        with np.errstate(all="ignore"):
            by_place = self.is_positional and self.user_function is None  # the value of x does not matter
            z = self._function_of(typed.type)(x if by_place else datatypes.cast(x, typed.type), i, j, thunk)
            return datatypes.cast(z, typed.return_type)


class SelectOp(IndexUnaryOp):
    """An index-unary operator that decides whether to keep an entry."""

    kind = "select"

    @classmethod
    def of(cls, op: IndexUnaryOp) -> SelectOp:
        """Make the select operator that keeps where ``op`` is true."""
        return cls(op.name, numpy=op._function, cuda=op.cuda, domain=op._domain)
