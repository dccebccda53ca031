"""Elementwise operations on two vectors or two matrices: union, intersection, and union with defaults."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DimensionMismatch
from sparsezc.expression import Expression
from sparsezc.ops.checks import says, scalar, stored
from sparsezc.resolve import resolve
from sparsezc.semirings.types import unify

__all__ = ["ewise_add", "ewise_mult", "ewise_union"]


def _pair(u: Any, v: Any, where: str) -> tuple[Any, Any]:
    u = stored(u, f"{where}: the left operand", 1, 2)
    v = stored(v, f"{where}: other", u.ndim)
    if u.shape != v.shape:
        raise DimensionMismatch(f"{where}: {says(u)} and other, {says(v)}, must have the same shape")
    return u, v


def ewise_add(u: Any, v: Any, op: Any) -> Expression:
    """``op(u, v)`` where both have an entry; the one entry where only one has.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        Makes what the operands are; its pattern is the union of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    """
    u, v = _pair(u, v, "ewise_add")
    typed = resolve("binary", op, "ewise_add: op", u.dtype, v.dtype)
    return Expression("ewise_add", (u, v), typed, typed.return_type, u.shape)


def ewise_mult(u: Any, v: Any, op: Any) -> Expression:
    """``op(u, v)`` where both have an entry.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        Makes what the operands are; its pattern is the intersection of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    """
    u, v = _pair(u, v, "ewise_mult")
    typed = resolve("binary", op, "ewise_mult: op", u.dtype, v.dtype)
    return Expression("ewise_mult", (u, v), typed, typed.return_type, u.shape)


def ewise_union(u: Any, v: Any, op: Any, left_default: Any, right_default: Any) -> Expression:
    """``op(u, v)`` where either has an entry, with a default in the other's place.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape
    op : binary operator, monoid or a name
    left_default, right_default : number or Scalar
        Stand in for a missing entry of u and of v.

    Returns
    -------
    Expression
        Makes what the operands are; its pattern is the union of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    EmptyObject
        A default is an empty Scalar.
    """
    u, v = _pair(u, v, "ewise_union")
    left = scalar(left_default, "ewise_union: left_default")
    right = scalar(right_default, "ewise_union: right_default")
    typed = resolve("binary", op, "ewise_union: op", u.dtype, right.dtype)
    other = resolve("binary", op, "ewise_union: op", left.dtype, v.dtype)
    if typed is not other:
        typed = resolve("binary", op, "ewise_union: op", unify(typed.type, other.type))
    return Expression("ewise_union", (u, left, v, right), typed, typed.return_type, u.shape)
