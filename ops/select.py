"""Keep the entries that an operator accepts."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DomainMismatch
from sparsezc.expression import Expression
from sparsezc.ops.checks import scalar, stored
from sparsezc.resolve import resolve
from sparsezc.semirings.operators import Operator, TypedOp

__all__ = ["select"]


def select(u: Any, op: Any, thunk: Any = None) -> Expression:
    """The entries for which ``op(x, i, j, thunk)`` is true, with their values.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    op : select operator, index-unary operator that returns a truth value, or a name or symbol (``"tril"``, ``">="``)
    thunk : number or Scalar, optional
        What the operator compares with; False (zero) without one.

    Returns
    -------
    Expression
        Makes what u is, of u's type.

    Raises
    ------
    DomainMismatch
        The operator returns no truth value, or does not work with u's type.
    EmptyObject
        The thunk is empty.
    """
    u = stored(u, "select: the operand", 1, 2)
    given = scalar(False if thunk is None else thunk, "select: thunk")
    kind = op.op.kind if isinstance(op, TypedOp) else op.kind if isinstance(op, Operator) else "select"
    typed = resolve("indexunary" if kind == "indexunary" else "select", op, "select: op", u.dtype, given.dtype)
    if not typed.return_type.is_bool:
        raise DomainMismatch(f"select: op must return BOOL; {typed!r} returns {typed.return_type}")
    return Expression("select", (u, given), typed, u.dtype, u.shape)
