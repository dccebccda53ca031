"""Monoids made by users, and the registration of users' monoids and semirings in their namespaces."""

from __future__ import annotations

from typing import Any

from sparsezc.semirings.algebra.operators import BinaryOp, TypeNotSupported
from sparsezc.semirings.algebra.registering import Parameterized, enter, parameterize
from sparsezc.semirings.algebra.structures import Monoid, register_anonymous, takes_users
from sparsezc.semirings.types import datatypes

__all__ = ["register_monoid", "register_new_monoid", "register_new_semiring"]


def register_monoid(
    binaryop: BinaryOp, identity: Any, name: str | None = None, *, terminal: Any = None, is_idempotent: bool = False
) -> Any:
    """Make a monoid without a name in a namespace.

    Parameters
    ----------
    binaryop : BinaryOp
        An operator that is associative and commutative, which is not checked. A parameterized one makes a
        parameterized monoid.
    identity : number or dict
        The value e with f(e, x) = x: one for all types, or one by type, which are then the only types it works with.
    name : str, optional
        Its name; by default the operator's.
    terminal : number or dict, optional
        The value t with f(t, x) = t, for all types or by type.
    is_idempotent : bool
        Whether f(x, x) = x.

    Raises
    ------
    exceptions.DomainMismatch
        The operator returns its operands' type for no type.

    >>> from sparsezc.semirings import binary, monoid
    >>> absmax = binary.register_anonymous(lambda x, y: max(abs(x), abs(y)), "absmax")
    >>> monoid.register_anonymous(absmax, 0)["INT8"].numpy(-7, 5)
    np.int8(7)
    """
    if not isinstance(binaryop, BinaryOp):
        raise TypeError(f"a monoid is made of a BinaryOp; got {binaryop!r}")
    if isinstance(binaryop, Parameterized):
        options: Any = {"terminal": terminal, "is_idempotent": is_idempotent}
        called = name or binaryop.name
        return parameterize(
            Monoid, lambda *a, **k: register_monoid(binaryop(*a, **k), identity, called, **options), called
        )
    inputs = {datatypes.lookup(t) for t in identity} if isinstance(identity, dict) else set(datatypes.ALL)
    domain = {t: (a, z) for t, (a, z) in binaryop._domain.items() if t is a is z and t in inputs}
    if not domain and not takes_users(binaryop):
        raise TypeNotSupported(f"{binaryop!r} returns its operands' type for no type, so it is no monoid")
    return Monoid(
        binaryop,
        identity=_by_type(identity),
        terminal=None if terminal is None else _by_type(terminal),
        domain=domain,
        is_idempotent=is_idempotent,
        name=name,
    )


def _by_type(value: Any) -> Any:
    if not isinstance(value, dict):
        return lambda dtype: datatypes.cast(value, dtype)
    table = {datatypes.lookup(t): datatypes.cast(x, datatypes.lookup(t)) for t, x in value.items()}
    return lambda dtype: table[dtype]


def register_new_monoid(
    name: str,
    binaryop: BinaryOp,
    identity: Any,
    *,
    terminal: Any = None,
    is_idempotent: bool = False,
    lazy: bool = False,  # noqa: ARG001  -- for programs written for python-graphblas
) -> Any:
    """Make a monoid as ``register_anonymous`` does, and put it into its namespace under `name`."""
    made = register_monoid(binaryop, identity, name, terminal=terminal, is_idempotent=is_idempotent)
    return enter("monoid", name, made)


def register_new_semiring(
    name: str,
    monoid: Monoid | BinaryOp,
    binaryop: BinaryOp,
    *,
    lazy: bool = False,  # noqa: ARG001  -- as above
) -> Any:
    """Make a semiring as :func:`register_anonymous` does, and put it into its namespace under `name`."""
    return enter("semiring", name, register_anonymous(monoid, binaryop, name))
