"""Elementwise operations on two vectors, two matrices or one of each: union, intersection, and union with defaults."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import Expression, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.checks import scalar, stored_scalar
from sparsezc.semirings.types.datatypes import unify

__all__ = ["broadcast", "ewise_add", "ewise_mult", "ewise_union"]


def broadcast(u: Any, v: Any, where: str) -> tuple[int, ...]:
    """Return the common shape of two operands: their own, or a matrix's if a vector is repeated along it.

    A vector is repeated as each row on the right of a matrix, as each column on its left.

    Raises
    ------
    DimensionMismatch
        The shapes do not fit.
    """
    a, b = tuple(u.shape), tuple(v.shape)
    if len(a) == len(b):
        if a != b:
            raise DimensionMismatch(f"{where}: the operands have shapes {a} and {b}; they must have the same shape")
        return a
    matrix, vector, along = (a, b, 1) if len(a) == 2 else (b, a, 0)
    if matrix[along] != vector[0]:
        side = ("left", "rows") if along == 0 else ("right", "columns")
        raise DimensionMismatch(
            f"{where}: Dimensions not compatible for broadcasting Vector from the {side[0]}: it has size {vector[0]},"
            f" and the Matrix {matrix[along]} {side[1]}"
        )
    return matrix


def _pair(u: Any, v: Any, where: str) -> tuple[Any, Any, tuple[int, ...]]:
    """Check both operands and return them with the result's shape; a number or Scalar combines only with a Scalar."""
    if not getattr(u, "ndim", 0):
        u, v = scalar(u, f"{where}: the left operand", may_be_empty=True), stored_scalar(v, f"{where}: other")
        return u, v, ()
    u = stored(u, f"{where}: the left operand", 1, 2)
    v = stored(v, f"{where}: other", 1, 2)
    return u, v, broadcast(u, v, where)


def ewise_add(u: Any, v: Any, op: Any) -> Expression:
    """Apply `op` on the union of two patterns: ``op(u, v)`` where both have an entry, else the one entry.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape; or one of each, see :func:`broadcast`; or two Scalars
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        The expression makes an object of the operands' kind; its pattern is the union of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    """
    u, v, shape = _pair(u, v, "ewise_add")
    typed = resolve("binary", op, "ewise_add: op", u.dtype, v.dtype)
    return Expression("ewise_add", (u, v), typed, typed.return_type, shape)


def ewise_mult(u: Any, v: Any, op: Any) -> Expression:
    """Apply `op` on the intersection of two patterns: ``op(u, v)`` where both have an entry.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape; or one of each, see :func:`broadcast`; or two Scalars
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        The expression makes an object of the operands' kind; its pattern is the intersection of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    """
    u, v, shape = _pair(u, v, "ewise_mult")
    typed = resolve("binary", op, "ewise_mult: op", u.dtype, v.dtype)
    return Expression("ewise_mult", (u, v), typed, typed.return_type, shape)


def ewise_union(u: Any, v: Any, op: Any, left_default: Any, right_default: Any) -> Expression:
    """Apply `op` on the union of two patterns, with a default instead of a missing entry.

    Parameters
    ----------
    u, v : Vector or Matrix, of one shape; or one of each, see :func:`broadcast`; or two Scalars
    op : binary operator, monoid or a name
    left_default, right_default : number or Scalar
        The values for missing entries of u and of v.

    Returns
    -------
    Expression
        The expression makes an object of the operands' kind; its pattern is the union of theirs.

    Raises
    ------
    DimensionMismatch
        The shapes differ.
    EmptyObject
        A default is an empty Scalar.
    """
    u, v, shape = _pair(u, v, "ewise_union")
    left = scalar(left_default, "ewise_union: left_default", like=u.dtype)
    right = scalar(right_default, "ewise_union: right_default", like=v.dtype)
    typed = resolve("binary", op, "ewise_union: op", u.dtype, right.dtype)
    other = resolve("binary", op, "ewise_union: op", left.dtype, v.dtype)
    if typed is not other:
        typed = resolve("binary", op, "ewise_union: op", unify(typed.type, other.type))
    return Expression("ewise_union", (u, left, v, right), typed, typed.return_type, shape)
