"""Application of an operator to every entry, or of a function to every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.checks import scalar
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import FP64, INT64

if TYPE_CHECKING:
    from sparsezc.semirings.udf.rows import RowFunction

__all__ = ["apply", "by_place", "map_rows", "row_function"]

_MOST = 4  # matrices of map_rows


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
    return bool(untyped.is_positional and untyped.user_function is None)


def _kind(op: Any, alone: bool) -> str:
    """Return the kind of a user's operator; for a name, the first kind that has it."""
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


def row_function(function: Callable[..., Any]) -> RowFunction:
    """Translate a function of numbers that returns a tuple of numbers, for :func:`map_rows`.

    Parameters
    ----------
    function : callable
        Written in Python, with the constructs that user-defined operators may have (docs/operators.md). Variables of
        the enclosing scope keep their present values.

    Raises
    ------
    UdfParseError
        The function has a construct that cannot be translated.
    TypeError
        It is no Python function.
    """
    from sparsezc.semirings.udf.rows import RowFunction  # imports the translator, which few programs need

    return RowFunction(function)


def map_rows(function: RowFunction, *matrices: Any) -> Expression:
    """Compute ``C(i, :) = function(*A(i, :), *B(i, :), ...)``; missing entries count as 0.

    This suits matrices of few columns with many entries: each is read once, where every statement of an elementwise
    chain reads one or two and writes one. Rows in which a mask allows no entry are not computed.

    Parameters
    ----------
    function : RowFunction
        The result of :func:`row_function`; it has a parameter for each column of the matrices.
    *matrices : Matrix, n x k each
        One to four, of any real type; numbers are computed in FP64.

    Returns
    -------
    Expression
        Makes a Matrix of FP64, n x the numbers that the function returns, with every entry.

    Raises
    ------
    DimensionMismatch
        Matrices have different numbers of rows, or not as many columns together as the function has parameters.
    DomainMismatch
        A matrix is of a complex or user-defined type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> turned = ops.row_function(lambda x, y, by: (x - by * y, y + by * x))
    >>> X, by = gb.Matrix.from_dense([[1, 2], [3, 4]]), gb.Matrix.from_dense([[1], [10]])
    >>> ops.map_rows(turned, X, by).new().to_dense()
    array([[ -1.,   3.],
           [-37.,  34.]])
    """
    if not hasattr(function, "outputs"):
        raise DomainMismatch(f"map_rows: function is a {type(function).__name__}; a result of row_function is needed")
    given = [stored(A, f"map_rows: matrix {k}", 2) for k, A in enumerate(matrices)]
    if not 1 <= len(given) <= _MOST:
        raise DimensionMismatch(f"map_rows: there are {len(given)} matrices; 1 to {_MOST} are possible")
    for A in given:
        if A.dtype.is_complex or A.dtype.is_udt:
            raise DomainMismatch(f"map_rows: {says(A)} is of {A.dtype}; a real type is needed")
        if A.nrows != given[0].nrows:
            raise DimensionMismatch(
                f"map_rows: {says(given[0])} has {given[0].nrows} rows and {says(A)} {A.nrows}; as many are needed"
            )
    if (columns := sum(A.ncols for A in given)) != function.inputs:
        raise DimensionMismatch(
            f"map_rows: the matrices have {columns} columns; {function!r} has {function.inputs} parameters"
        )
    return Expression("map_rows", (*given, function), None, FP64, (given[0].nrows, function.outputs))
