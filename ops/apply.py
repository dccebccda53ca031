"""Apply an operator to every entry."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import InvalidValue
from sparsezc.expr.expression import Expression, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.checks import scalar
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import INT64

__all__ = ["apply", "by_place"]


def apply(u: Any, op: Any, right: Any = None, left: Any = None) -> Expression:
    """Apply ``op(x)``, ``op(x, right)`` or ``op(left, x)`` to every entry x; the pattern does not change.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    op : operator or its name
        Unary; binary with `left` or `right`; or index-unary, whose scalar (thunk) is `right`, False without one.
    right, left : number or Scalar, optional
        At most one of them.

    Returns
    -------
    Expression
        The expression makes an object of u's kind.

    Raises
    ------
    TypeError
        Both scalars are given, or the operator is of a wrong kind.
    EmptyObject
        The scalar is empty.
    """
    u = stored(u, "apply: the operand", 0, 1, 2)
    if left is not None and right is not None:
        raise TypeError("apply: Cannot provide both left and right; one of them is the entry")
    kind = _kind(op, left is None and right is None)
    if kind in ("semiring", "monoid" if left is None and right is None else ""):
        raise TypeError(
            f"apply only accepts UnaryOp with no scalars or BinaryOp with a scalar: op: {op!r} is neither a unary nor"
            " a binary operator"
        )
    if kind in ("indexunary", "select"):
        like = INT64 if by_place(kind, op) else u.dtype
        if left is not None:
            raise TypeError(f"apply: {op!r} is an index-unary operator, whose scalar is given as right, not left")
        thunk = scalar(False if right is None else right, "apply: right", like=like)
        typed = resolve(kind, op, "apply: op", u.dtype, thunk.dtype)
        return Expression("apply_index", (u, thunk), typed, typed.return_type, u.shape)
    if right is not None:
        thunk = scalar(right, "apply: right", like=u.dtype)
        typed = resolve("binary", op, "apply: op", u.dtype, thunk.dtype)
        return Expression("apply_right", (u, thunk), typed, typed.return_type, u.shape)
    if left is not None:
        thunk = scalar(left, "apply: left", like=u.dtype)
        typed = resolve("binary", op, "apply: op", thunk.dtype, u.dtype)
        return Expression("apply_left", (thunk, u), typed, typed.return_type, u.shape)
    typed = resolve("unary", op, "apply: op", u.dtype)
    return Expression("apply", (u,), typed, typed.return_type, u.shape)


def by_place(kind: str, op: Any) -> bool:
    """Return whether an index-unary or select operator reads positions only, so that its thunk is a position, too."""
    try:
        found = names.lookup(kind, op)
    except (TypeError, InvalidValue):
        return False  # a Python function, or no operator
    untyped = found.op if isinstance(found, TypedOp) else found
    return bool(untyped.is_positional and untyped.written is None)


def _kind(op: Any, alone: bool) -> str:
    """Return the kind of operator that a user means: for a name, the first that has it."""
    if isinstance(op, TypedOp):
        return op.op.kind
    if isinstance(op, Operator):
        return op.kind
    if isinstance(op, str):
        for kind in ("unary" if alone else "binary", "indexunary", "select"):
            try:
                names.from_string(kind, op)
            except InvalidValue:
                continue
            return kind
    return "unary"
