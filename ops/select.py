"""Selection of the entries that an operator accepts, or of up to k in each row; and the order of a vector's values."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Deferred, Expression, IndexList, MaskKind, Operand, says, stored
from sparsezc.expr.mask import Mask, to_mask
from sparsezc.expr.resolve import resolve
from sparsezc.ops import indices
from sparsezc.ops.apply import by_place
from sparsezc.ops.checks import scalar, whole_number
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import INT64

__all__ = ["argsort", "random_seed", "select", "selectk"]

_HOW = ("random", "random_weighted", "first", "last", "largest", "smallest")
_MOST_DRAWS = 2**31  # of a row: two draws share a block, whose number has 32 bits


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
    if isinstance(op, Mask | Operand | Deferred):
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
    if isinstance(mask, Deferred) and mask.ndim == u.ndim:
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


def selectk(
    A: Any, how: str, k: int, rows: Any = None, *, replace: bool = False, seed: int | None = None
) -> Expression:
    """Pick up to k entries of each row, or of each row that `rows` lists.

    Parameters
    ----------
    A : Matrix or TransposedMatrix
    how : {"random", "random_weighted", "first", "last", "largest", "smallest"}
        Drawn with equal probability; drawn in proportion to the values; by column; by value, of equal values the one
        of the smallest column, and NaN last.
    k : int
        A row of fewer entries gives all; drawn by weight, all that weigh more than 0.
    rows : list or array of int, optional
        Row r of the result comes from row ``rows[r]``; a row may be listed often, and is drawn from anew each time. By
        default every row.
    replace : bool
        Draw each of the k entries from all: values are then how often an entry was drawn, INT64, and add up to k.
    seed : int, optional
        Of draws, from 0 to 2**64 - 1. The same seed gives the same entries on every engine, in every placement. By
        default a random one.

    Returns
    -------
    Expression
        Makes a Matrix of as many rows as are requested, of A's columns and, without `replace`, type.

    Raises
    ------
    InvalidValue
        `how` or `seed` is none of these, k is negative, or `replace` is given where nothing is drawn. When it runs: a
        weight is negative, NaN or infinite.
    DomainMismatch
        Values of A's type have no order, or are no weights.
    IndexOutOfBound
        A row is not one of A's.

    Notes
    -----
    Reads offsets, which are on the card, and the entries that are picked; by value or weight, the rows' values.
    Sources: J. Bentley, B. Floyd, A sample of brilliance, CACM 30(9), 1987, doi:10.1145/30401.315746; P. Efraimidis,
    P. Spirakis, Weighted random sampling with a reservoir, IPL 97(5), 2006, doi:10.1016/j.ipl.2005.11.003.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 0, 0, 1], [1, 4, 5, 2], [7, 9, 9, 1], nrows=2, ncols=6)
    >>> ops.selectk(A, "largest", 2).new().to_coo()[1].tolist()
    [4, 5, 2]
    >>> ops.selectk(A, "random", 5, [0, 0], seed=1, replace=True).new().reduce_rowwise("plus").new().to_coo()[1]
    array([5, 5])
    """
    A = stored(A, "selectk: the matrix", 2)
    if how not in _HOW:
        raise InvalidValue(f"selectk: how is {how!r}; one of {', '.join(map(repr, _HOW))} is needed")
    count = whole_number(k, "selectk: k")
    if replace and not how.startswith("random"):
        raise InvalidValue(f"selectk: replace is given with how={how!r}; only draws can be with replacement")
    if how in ("largest", "smallest", "random_weighted") and (A.dtype.is_complex or A.dtype.is_udt):
        needed = "weights" if how == "random_weighted" else "values with an order"
        raise DomainMismatch(f"selectk: how={how!r} needs {needed}; {A.name} is of type {A.dtype}")
    if replace and count > _MOST_DRAWS:
        raise InvalidValue(f"selectk: k is {count} with replacement; at most {_MOST_DRAWS} is possible")
    count = min(count, max(A.ncols, _MOST_DRAWS))
    if rows is None:
        index = IndexList("all", None, A.nrows)
    else:
        index = indices.parse((rows, slice(None)), A.shape, f"selectk: rows of {A.name}")[0]
        if index.kind == "one":
            index = IndexList("list", index.positions(), 1)
    from sparsezc.expr.sampling import Pick

    pick = Pick(how, count, replace, random_seed(seed, "selectk"))
    return Expression("selectk", (A, index, pick), None, INT64 if replace else A.dtype, (index.size, A.ncols))


def argsort(u: Any, k: Any = None) -> Expression:
    """List the positions of a vector's entries by value.

    Parameters
    ----------
    u : Vector, of a real type
    k : int, optional
        The most positions to list, those of the smallest values; by default all.

    Returns
    -------
    Expression
        Makes a Vector of INT64 whose size is their number: entry i is the position in u of the value that i others
        precede. Of equal values the one of the smallest position comes first; NaN comes last.

    Raises
    ------
    TypeError
        k is no integer.
    InvalidValue
        k is negative.
    DomainMismatch
        u's type has no order.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> u = gb.Vector.from_coo([1, 2, 4, 5], [7, 3, 9, 3], size=6)
    >>> ops.argsort(u).new().to_dense(), ops.argsort(u, 2).new().to_dense()
    (array([2, 5, 1, 4]), array([2, 5]))
    """
    u = stored(u, "argsort: the vector", 1)
    if u.dtype.is_complex or u.dtype.is_udt:
        raise DomainMismatch(f"argsort: {says(u)} is of a type without an order")
    size: int = u.nvals
    return Expression("argsort", (u,), None, INT64, (size if k is None else min(size, whole_number(k, "argsort: k")),))


def random_seed(seed: Any, where: str) -> int:
    """Return a checked seed, or a random one for None.

    Raises
    ------
    TypeError
        It is no integer.
    InvalidValue
        It is not from 0 to 2**64 - 1.
    """
    if seed is None:
        from sparsezc.expr.sampling import fresh_seed

        return fresh_seed()
    number = whole_number(seed, f"{where}: seed", least=None)
    if not 0 <= number < 2**64:
        raise InvalidValue(f"{where}: seed is {number}; from 0 to 2**64 - 1 is possible")
    return number
