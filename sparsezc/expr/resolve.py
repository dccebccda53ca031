"""Resolution of a user's operator, which is an object, a typed object, a name or a symbol, to a typed operator.

The operands' types select the type of the computation, by python-graphblas's rule. Results are cached, so that a loop
pays for the search once.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from sparsezc.exceptions import GraphblasException
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.algebra.registering import namespace
from sparsezc.semirings.algebra.structures import Monoid
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["resolve"]

_remembered: dict[Any, TypedOp] = {}


def resolve(kind: str, op: Any, where: str, left: DataType, right: DataType | None = None) -> TypedOp:
    """Return the typed operator that `op` denotes, as a `kind`, for operands of these types.

    Parameters
    ----------
    kind : {"unary", "binary", "indexunary", "select", "monoid", "semiring"}
        The required kind. A monoid counts as its binary operator, and a binary operator as the monoid of its name.
    op : Operator, TypedOp, str or a Python function
    where : str
        The argument's name in messages, such as ``"mxv: op"``.
    left, right : DataType
        The types of the operands; `right` is None if there is one operand.

    Raises
    ------
    TypeError
        `op` is not an operator, or is of another kind.
    InvalidValue
        No operator of this kind has that name.
    DomainMismatch
        The operator does not work with these types (also a KeyError, as in python-graphblas).
    """
    key = (kind, op, id(left), id(right))  # types are singletons that are never freed
    try:
        return _remembered[key]
    except (KeyError, TypeError):
        pass
    if isinstance(op, FunctionType) and kind in ("unary", "binary", "indexunary", "select"):
        made: Any = namespace(kind)
        op = made.register_anonymous(op, is_udt=left.is_udt or (right is not None and right.is_udt))
        return op[left if right is None or kind != "binary" else (left, right)]  # type: ignore[no-any-return]
    try:
        types = left if right is None else (left, right)
        if kind == "binary" and isinstance(op, Monoid):
            typed: TypedOp = op[types].binaryop  # only for the types that the monoid has
        else:
            found = names.lookup(kind, op)
            typed = found if isinstance(found, TypedOp) else found[types]
    except (TypeError, GraphblasException) as error:
        raise type(error)(f"{where}: {error}{_expected(kind, op, error)}") from None
    return typed if _is_of_function(op) else _remembered.setdefault(key, typed)


def _is_of_function(op: Any) -> bool:
    """Return whether an operator has a user's function: such operators are not cached, so they can be freed."""
    if isinstance(op, str):
        return False
    untyped: Any = op.op if isinstance(op, TypedOp) else op
    kind = getattr(untyped, "kind", None)
    if kind == "semiring" and _is_of_function(untyped.monoid):
        return True
    part = untyped.binaryop if kind in ("semiring", "monoid") else untyped
    return getattr(part, "user_function", None) is not None


_CLASSES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp, Monoid",
    "indexunary": "IndexUnaryOp",
    "select": "SelectOp, IndexUnaryOp",
    "monoid": "Monoid",
    "semiring": "Semiring",
}


def _expected(kind: str, op: Any, error: Exception) -> str:
    """Return the end of a message about an operator of a wrong kind: the kind needed, and how to get it."""
    if kind == "monoid" and isinstance(op, TypedOp) and op.op.kind == "binary":
        return f" (Expected type: Monoid; {op!r} is not part of a Monoid for {op.type} datatype)"
    if type(error) is not TypeError:
        return ""
    expected = f" (Expected type: {_CLASSES[kind]}"
    untyped = op.op if isinstance(op, TypedOp) else op
    part = {"binary": "binaryop", "monoid": "monoid"}.get(kind)
    if getattr(untyped, "kind", None) == "semiring" and part:
        return f"{expected}; use {untyped!r}.{part} to get the {_CLASSES[kind].split(', ')[0]})"
    return f"{expected})"
