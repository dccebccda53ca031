"""Keep the entries that an operator accepts."""

from __future__ import annotations

from typing import Any

from sparsezc.errors import DimensionMismatch, DomainMismatch
from sparsezc.expr.expression import Expression, MaskKind, Operand, Unrun, says, stored
from sparsezc.expr.mask import Mask, to_mask
from sparsezc.expr.resolve import resolve
from sparsezc.ops.apply import by_place
from sparsezc.ops.checks import scalar
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import INT64

__all__ = ["select"]


def select(u: Any, op: Any, thunk: Any = None) -> Expression:
    """Keep the entries for which ``op(x, i, j, thunk)`` is true, with their values.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    op : select operator, index-unary operator that returns a truth value, or a name or symbol (``"tril"``, ``">="``)
        Or a mask of u's shape (``M.S``, ``~M.V``, a BOOL object, ``A > 3``): the entries that it allows are kept.
    thunk : number or Scalar, optional
        The value that the operator compares with; by default False (zero).

    Returns
    -------
    Expression
        The expression makes an object of u's kind and type.

    Raises
    ------
    DomainMismatch
        The operator does not return BOOL, or does not work with u's type.
    EmptyObject
        The thunk is empty.
    """
    u = stored(u, "select: the operand", 0, 1, 2)
    if isinstance(op, Mask | Operand | Unrun):
        if thunk is not None:
            raise TypeError(f"select: thunk is given, and op is the mask {op!r}, which takes none")
        return _by_mask(u, op)
    kind = op.op.kind if isinstance(op, TypedOp) else op.kind if isinstance(op, Operator) else "select"
    kind = "indexunary" if kind == "indexunary" else "select"
    like = INT64 if by_place(kind, op) else u.dtype
    given = scalar(False if thunk is None else thunk, "select: thunk", like=like)
    typed = resolve(kind, op, "select: op", u.dtype, given.dtype)
    if not typed.return_type.is_bool:
        raise DomainMismatch(f"select: op must return BOOL; {typed!r} returns {typed.return_type}")
    return Expression("select", (u, given), typed, u.dtype, u.shape)


def _by_mask(u: Any, mask: Any) -> Expression:
    if isinstance(mask, Unrun) and mask.ndim == u.ndim:
        mask = mask.new()
    checked = to_mask(mask, "select: op")
    if checked.parent.ndim != u.ndim:
        raise TypeError(
            f"select: the mask {checked.name} is of {says(checked.parent)}; {says(u)} needs one of its own kind"
        )
    if checked.parent.shape != u.shape:
        raise DimensionMismatch(
            f"select: the mask {checked.name} is of {says(checked.parent)}, which must fit {says(u)}"
        )
    kind = MaskKind(checked.structure, checked.complement)
    return Expression("select_mask", (u, checked.parent, kind), None, u.dtype, u.shape)
