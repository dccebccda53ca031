"""Reductions of entries by a monoid: all of them, or those of each row or column."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import InvalidValue
from sparsezc.expr.expression import Expression, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.aggregate import aggregate, aggregator
from sparsezc.semirings.algebra.aggregators import TypedAggregator

__all__ = ["reduce", "reduce_columnwise", "reduce_rowwise"]


def reduce(u: Any, op: Any, allow_empty: bool = True) -> Expression:
    """Fold all entries into one value.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    op : monoid, binary operator of one, aggregator, or a name
    allow_empty : bool
        The result is an empty Scalar if u has no entries; if False, it is then the monoid's identity.

    Returns
    -------
    Expression
        Makes a Scalar.

    Raises
    ------
    TypeError
        The operator is neither a monoid nor an aggregator.
    InvalidValue
        `allow_empty` is False, and the aggregator has no identity; or it finds a position, in a matrix.
    """
    u = stored(u, "reduce: the operand", 1, 2)
    op = aggregator(op, u.dtype) or op
    if isinstance(op, TypedAggregator):
        if not allow_empty:
            raise InvalidValue(
                f"reduce: allow_empty=False not allowed when using Aggregators: it needs an identity, and {op!r} has"
                " none"
            )
        return aggregate(u, op, ())
    typed: Any = resolve("monoid", op, "reduce: op", u.dtype)
    identity = None if allow_empty else typed.identity if typed.of_users else typed.identity.item()
    return Expression("reduce", (u,), typed, typed.return_type, (), None, identity)


def reduce_rowwise(A: Any, op: Any) -> Expression:
    """Fold each row's entries into one; rows without entries give no entry.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, nrows x ncols
    op : monoid, binary operator of one, aggregator, or a name

    Returns
    -------
    Expression
        Makes a Vector of size nrows.

    Raises
    ------
    TypeError
        The operator is neither a monoid nor an aggregator.
    """
    return _by_rows(stored(A, "reduce_rowwise: the operand", 2), op, "reduce_rowwise: op")


def reduce_columnwise(A: Any, op: Any) -> Expression:
    """Fold each column's entries into one: :func:`reduce_rowwise` of the transpose, which is not formed.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, nrows x ncols
    op : monoid, binary operator of one, aggregator, or a name

    Returns
    -------
    Expression
        Makes a Vector of size ncols.
    """
    return _by_rows(stored(A, "reduce_columnwise: the operand", 2).T, op, "reduce_columnwise: op")


def _by_rows(A: Any, op: Any, where: str) -> Expression:
    op = aggregator(op, A.dtype) or op
    if isinstance(op, TypedAggregator):
        return aggregate(A, op, A.shape[:1])
    typed = resolve("monoid", op, where, A.dtype)
    return Expression("reduce_rowwise", (A,), typed, typed.return_type, A.shape[:1])
