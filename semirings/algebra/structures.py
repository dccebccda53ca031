"""Monoids and semirings, made of binary operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsezc.semirings.algebra.operators import BinaryOp, Operator, TypedOp, TypeNotSupported
from sparsezc.semirings.algebra.registering import Parameterized, parameterize
from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import DataType
from sparsezc.semirings.types.domains import Domain

Constant = float | Callable[[DataType], Any]


class TypedMonoid(TypedOp):
    """A monoid for one type.

    Attributes
    ----------
    binaryop : TypedOp
        The binary operator, whose ``cuda`` and ``numpy`` the monoid has.
    identity : NumPy scalar
        The value e with f(e, x) = x.
    terminal : NumPy scalar or None
        The value t with f(t, x) = t, at which a fold may stop.
    stops_anywhere : bool
        Every value is terminal (``any``): a fold may stop at its first entry.
    is_idempotent : bool
        f(x, x) = x.
    """

    __slots__ = ("binaryop", "identity", "is_idempotent", "stops_anywhere", "terminal")

    def __init__(self, op: Monoid, type_: DataType, return_type: DataType, type2: DataType | None = None) -> None:
        super().__init__(op, type_, return_type, type2)
        self.binaryop: TypedOp = op.binaryop[type_]
        self.identity = op.identity(type_)
        self.terminal = op.terminal(type_)
        self.stops_anywhere = op.stops_anywhere
        self.is_idempotent = op.is_idempotent


class Monoid(Operator):
    """An associative, commutative binary operator with an identity.

    Parameters
    ----------
    binaryop : BinaryOp
        The operator; the monoid has its name.
    identity : number or callable
        The identity, or a function of the type that gives it.
    terminal : number or callable, optional
        The value that no other can change, or a function of the type that returns it.
    domain : Domain
        The types that it is a monoid for.
    stops_anywhere : bool
        The first value is a valid result, whatever follows.
    is_idempotent : bool
        f(x, x) = x.
    """

    kind = "monoid"
    typed_class = TypedMonoid

    def __init__(
        self,
        binaryop: BinaryOp,
        *,
        identity: Constant,
        terminal: Constant | None = None,
        domain: Domain,
        stops_anywhere: bool = False,
        is_idempotent: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name or binaryop.name, numpy=binaryop._function, cuda=binaryop.cuda, domain=domain)
        self.binaryop = binaryop
        self.user_function = binaryop.user_function
        self.stops_anywhere = stops_anywhere
        self.is_idempotent = is_idempotent
        self._identity = identity
        self._terminal = terminal
        binaryop._become_part_of(self)

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> TypedMonoid: ...

    def _constant(self, dtype: Any, value: Constant) -> Any:
        dtype = datatypes.lookup(dtype)
        operand = self._domain[dtype][0] if dtype in self._domain else dtype
        if operand.is_udt:
            return datatypes.cast(value(operand) if callable(value) else value, operand)
        return operand.np_type.type(value(operand) if callable(value) else value)

    def identity(self, dtype: Any) -> Any:
        """Return the identity, as a NumPy scalar of the type that the monoid computes with.

        >>> from sparsezc.semirings import monoid
        >>> int(monoid.min.identity("INT8")), float(monoid.min.identity("FP64"))
        (127, inf)
        """
        return self._constant(dtype, self._identity)

    def terminal(self, dtype: Any) -> Any:
        """Return the terminal value for a type, or None if there is none.

        >>> from sparsezc.semirings import monoid
        >>> int(monoid.times.terminal("INT8")), monoid.times.terminal("FP64"), monoid.plus.terminal("INT8")
        (0, None, None)
        """
        if self._terminal is None:
            return None
        value = self._terminal
        if callable(value) and value(datatypes.lookup(dtype)) is None:
            return None
        return self._constant(dtype, value)

    @property
    def identities(self) -> dict[DataType, Any]:
        """``{input type: identity}``."""
        return {t: self.identity(t) for t in self._domain}

    @property
    def is_commutative(self) -> bool:
        """True: GraphBLAS requires it of a monoid."""
        return True

    @property
    def commutes_to(self) -> Monoid:
        """The monoid itself."""
        return self


class TypedSemiring(TypedOp):
    """A semiring for one operand type: ``binaryop`` multiplies, ``monoid`` (of the product's type) adds."""

    __slots__ = ("binaryop", "monoid")

    def __init__(self, op: Semiring, type_: DataType, return_type: DataType, type2: DataType | None = None) -> None:
        super().__init__(op, type_, return_type, type2)
        self.binaryop: TypedOp = op.binaryop[(type_, self.type2) if self.of_users else type_]
        self.monoid = op.monoid[self.binaryop.return_type]


class Semiring(Operator):
    """A monoid that adds and a binary operator that multiplies.

    Parameters
    ----------
    monoid : Monoid
        The additive monoid.
    binaryop : BinaryOp
        The multiplicative operator; its results must be of a type that the monoid has.
    domain : Domain, optional
        The input types, with their operand types. By default those of the binary operator whose products the monoid
        can add.

    ``cuda``, ``reads`` and ``numpy`` are those of the multiplication.
    """

    kind = "semiring"
    typed_class = TypedSemiring

    def __init__(
        self, monoid: Monoid, binaryop: BinaryOp, *, domain: Domain | None = None, name: str | None = None
    ) -> None:
        super().__init__(
            name or f"{monoid.name}_{binaryop.name}",
            numpy=binaryop._function,
            cuda=binaryop.cuda,
            domain=binaryop._domain if domain is None else domain,
            elementwise=binaryop.elementwise,
        )
        self.monoid = monoid
        self.binaryop = binaryop
        self.user_function = binaryop.user_function
        self._restricted = False

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> TypedSemiring: ...

    def _restrict(self) -> None:
        """Keep the inputs whose product the monoid can add without conversion."""
        adds = {t for t, (operand, _) in self.monoid._domain.items() if operand is t}
        products = self.binaryop._domain
        self._domain = {
            t: (operand, products[operand][1])
            for t, (operand, _) in self._domain.items()
            if operand in products and products[operand][1] in adds
        }
        self._restricted = True

    @property
    def types(self) -> dict[DataType, DataType]:
        """``{input type: result type}``."""
        if not self._restricted:
            self._restrict()
        return super().types

    def _find(self, key: Any) -> TypedOp:
        if not self._restricted:
            self._restrict()
        return super()._find(key)

    def _meet(self, left: DataType, right: DataType) -> DataType:
        return self.binaryop._meet(left, right)

    @property
    def commutes_to(self) -> Semiring | None:
        """The semiring g for which B'A' over g is the transpose of AB over this one, or None."""
        from sparsezc.semirings.algebra.names import semiring_of

        other = self.binaryop.transposes_to
        if other is None:
            return None
        return self if other is self.binaryop else semiring_of(self.monoid, other)

    @property
    def is_commutative(self) -> bool:
        """True if the multiplication is commutative."""
        return self.binaryop.is_commutative


def takes_users(op: Operator) -> bool:
    """Return whether an operator is a function of user-defined types, which need not work with any built-in type."""
    return op.user_function is not None and op.user_function.is_udt


def register_anonymous(monoid: Monoid | BinaryOp, binaryop: BinaryOp, name: str | None = None) -> Any:
    """Make a semiring without a name in a namespace.

    Parameters
    ----------
    monoid : Monoid or BinaryOp
        The addition; an operator means its monoid.
    binaryop : BinaryOp
        The multiplication. A parameterized operator makes a parameterized semiring.
    name : str, optional
        Its name; by default ``{monoid}_{binaryop}``.

    Raises
    ------
    exceptions.DomainMismatch
        The monoid has no type that the operator returns.

    >>> from sparsezc.semirings import binary, monoid, semiring
    >>> semiring.register_anonymous(monoid.max, binary.hypot)["INT8"].return_type
    FP32
    """
    adds: Any = monoid.monoid if isinstance(monoid, BinaryOp) else monoid
    if not isinstance(adds, Monoid) or not isinstance(binaryop, BinaryOp):
        raise TypeError(f"a semiring is made of a Monoid and a BinaryOp; got {monoid!r} and {binaryop!r}")
    if isinstance(binaryop, Parameterized):
        called = name or f"{adds.name}_{binaryop.name}"
        return parameterize(Semiring, lambda *a, **k: register_anonymous(adds, binaryop(*a, **k), called), called)
    semiring = Semiring(adds, binaryop, name=name)
    if not semiring.types and not (takes_users(adds) or takes_users(binaryop)):
        raise TypeNotSupported(f"{monoid!r} has no type that {binaryop!r} returns")
    return semiring
