"""Products of panels at a matrix's entries, and of a matrix and its transpose with panels, each in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Expression, Inner, Step, Weights, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.checks import scalar
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["sampled_mxm", "two_way_mxm", "two_way_sampled_mxm", "weights_of"]


def sampled_mxm(A: Any, X: Any, Y: Any, Z: Any, op: Any, then: Any, weights: Sequence[Any] = ()) -> Expression:
    """Compute ``C = W @ Z`` for the W with ``W(A.S) << X.mxm(Y.T, op)``, which is never stored.

    On the GPU this is one pass over A, if X and Y have few columns and all entries; else, and on the CPU engine, W is
    made first. Source: M. Rahman, M. Sujon, A. Azad, FusedMM, IPDPS 2021, doi:10.1109/IPDPS49936.2021.00034.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
        Only steps with a binary operator for ``A.ewise_mult(W, op)`` read its values.
    X : Matrix, m x k
    Y : Matrix, n x k
    Z : Matrix or TransposedMatrix, n x p
    op : semiring or its name
        Of the inner product, ``X @ Y.T``.
    then : semiring or its name
        Of the product with Z.
    weights : sequence of (int, steps), optional
        The steps that W passes before it multiplies columns of Z: the first ones for the columns below the first
        number, the second ones for those from there to below the second, and so on; by default none. A step is a unary
        operator, which is applied to W; (binary operator, number), the number on the right; (select operator, number),
        which drops entries; or a binary operator, for ``A.ewise_mult(W, op)``. All must end in one type.

    Returns
    -------
    Expression
        Makes a Matrix, m x p.

    Raises
    ------
    DimensionMismatch
        Shapes do not fit as above, or the numbers do not ascend to p.
    DomainMismatch
        Weights end in different types.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0], 1)
    >>> X = gb.Matrix.from_dense([[1, 2], [3, 4]])
    >>> ops.sampled_mxm(A, X, X, X, "plus_times", "plus_times").new().to_dense()
    array([[33, 44],
           [11, 22]])
    >>> halves = [(1, [(gb.binary.times, 2)]), (2, [gb.binary.minus])]  # 2 W for one column, A - W for the other
    >>> ops.sampled_mxm(A, X, X, X, "plus_times", "plus_times", halves).new().to_dense()
    array([[ 66, -40],
           [ 22, -20]])
    """
    A, X, Y = (stored(M, f"sampled_mxm: {name}", 2) for M, name in ((A, "A"), (X, "X"), (Y, "Y")))
    Z = stored(Z, "sampled_mxm: Z", 2)
    first: Any = resolve("semiring", op, "sampled_mxm: op", X.dtype, Y.dtype)
    weighed, dtype = weights_of("sampled_mxm", weights, A.dtype, first.return_type, Z)
    typed = resolve("semiring", then, "sampled_mxm: then", dtype, Z.dtype)
    for fits, needed in (
        (X.nrows == A.nrows, f"X, {says(X)}, must have {A.nrows} rows"),
        (Y.nrows == A.ncols, f"Y, {says(Y)}, must have {A.ncols} rows"),
        (X.ncols == Y.ncols, f"X, {says(X)}, and Y, {says(Y)}, must have as many columns"),
        (Z.nrows == A.ncols, f"Z, {says(Z)}, must have {A.ncols} rows"),
    ):
        if not fits:
            raise DimensionMismatch(f"sampled_mxm: {needed}")
    operands = A, X, Y.T, Z, Inner(first, weighed)
    return Expression("sampled_mxm", operands, typed, typed.return_type, (A.nrows, Z.ncols))


def two_way_mxm(A: Any, values: Any, X: Any, op: Any) -> Expression:
    """Multiply matrices of one pattern, and their transposes, by a column each.

    With W_c the matrix of A's entries that has column c of `values`, column c of the result is ``W_c @ X(:, k + c)``,
    and column k + c is ``W_c.T @ X(:, c)``. On the GPU this is one pass over ids and values, if X has every entry.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, n x n
        Its values are not read.
    values : Matrix, A.nvals x k, with every entry
        A row for each entry, in the order of rows and columns.
    X : Matrix, n x 2k
    op : semiring or its name
        Its multiplication must not read positions.

    Returns
    -------
    Expression
        Makes a Matrix, n x 2k. Sums of floats differ in their last bits from run to run on the GPU.

    Raises
    ------
    DimensionMismatch
        Shapes do not fit as above.
    InvalidValue
        `values` lacks entries.
    DomainMismatch
        The semiring's multiplication reads positions.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    >>> costs = gb.Matrix.from_dense([[5], [7]])
    >>> X = gb.Matrix.from_dense([[10, 20], [30, 40], [50, 60]])
    >>> ops.two_way_mxm(A, costs, X, "max_plus").new().to_dense(fill_value=0)  # along edges, and against them
    array([[45,  0],
           [67, 15],
           [ 0, 37]])
    """
    A, values, X = (stored(M, f"two_way_mxm: {name}", 2) for M, name in ((A, "A"), (values, "values"), (X, "X")))
    typed = _typed("two_way_mxm: op", op, values.dtype, X.dtype)
    for fits, needed in (
        (A.nrows == A.ncols, f"A, {says(A)}, must be square"),
        (values.nrows == A.nvals, f"values, {says(values)}, must have {A.nvals} rows, one for each entry of A"),
        (X.shape == (A.nrows, 2 * values.ncols), f"X, {says(X)}, must be {A.nrows} x {2 * values.ncols}"),
    ):
        if not fits:
            raise DimensionMismatch(f"two_way_mxm: {needed}")
    if values.nvals != values.nrows * values.ncols:
        raise InvalidValue(f"two_way_mxm: values, {says(values)}, has {values.nvals} entries; all are needed")
    return Expression("two_way_mxm", (A, values, X), typed, typed.return_type, X.shape)


def two_way_sampled_mxm(A: Any, X: Any, op: Any, then: Any, weights: Sequence[Any] = ()) -> Expression:
    """Multiply products of panels at A's entries, and their transpose, by the panels themselves.

    Of an A of m x n, the first m rows of X belong to its rows and the others to its columns. With
    ``W(A.S) << X[:m, :] @ X[m:, :].T``, which is never stored, the first m rows of the result are ``W @ X[m:, :]`` and
    the others ``W.T @ X[:m, :]``. On the GPU this is one pass over A, if X has every entry.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
        Only steps with a binary operator for ``A.ewise_mult(W, op)`` read its values.
    X : Matrix, (m + n) x k
    op : semiring or its name
        Of the inner product.
    then : semiring or its name
        Of the products with X; not of positions.
    weights : sequence of (int, steps), optional
        The elementwise steps of W for some of the columns, as for :func:`sampled_mxm`.

    Returns
    -------
    Expression
        Makes a Matrix, (m + n) x k. Sums of floats differ in their last bits from run to run on the GPU.

    Raises
    ------
    DimensionMismatch
        X has not m + n rows, or the numbers of `weights` do not ascend to k.
    DomainMismatch
        Weights end in different types, or `then` is of positions.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> R = gb.Matrix.from_coo([0, 1], [1, 0], [10, 20])
    >>> X = gb.Matrix.from_dense([[1, 0], [0, 1], [2, 3], [4, 5]])
    >>> error = [(2, [gb.binary.minus])]  # R - W
    >>> ops.two_way_sampled_mxm(R, X, "plus_times", "plus_times", error).new().to_dense()
    array([[24, 30],
           [34, 51],
           [ 0, 17],
           [ 6,  0]])
    """
    A, X = (stored(M, f"two_way_sampled_mxm: {name}", 2) for M, name in ((A, "A"), (X, "X")))
    first: Any = resolve("semiring", op, "two_way_sampled_mxm: op", X.dtype, X.dtype)
    found, dtype = weights_of("two_way_sampled_mxm", weights, A.dtype, first.return_type, X)
    typed = _typed("two_way_sampled_mxm: then", then, dtype, X.dtype)
    if X.nrows != A.nrows + A.ncols:
        needed = f"X, {says(X)}, must have {A.nrows} + {A.ncols} rows, those of {says(A)} and its columns"
        raise DimensionMismatch(f"two_way_sampled_mxm: {needed}")
    return Expression("two_way_sampled_mxm", (A, X, Inner(first, found)), typed, typed.return_type, X.shape)


def _typed(where: str, op: Any, *dtypes: Any) -> Any:
    """Return a typed semiring whose multiplication does not depend on positions."""
    typed: Any = resolve("semiring", op, where, *dtypes)
    if typed.op.is_positional or typed.reads & set("ijk"):
        raise DomainMismatch(f"{where}: {typed.name} multiplies positions; one of values is needed")
    return typed


def weights_of(
    where: str, weights: Sequence[Any], own: DataType, dtype: DataType, Z: Any
) -> tuple[tuple[Weights, ...], DataType]:
    """Check the weights of the columns of Z; return them with typed operators, and the type that they end in.

    `dtype`: the type of the product that the steps begin with; `own`: that of the matrix at whose entries it is made.
    """
    found, last = [], dtype
    for number, (stop, steps) in enumerate(weights):
        at, typed = dtype, []
        for step in steps:
            typed.append(_step(f"{where}: weights", step, own, at))
            at = at if typed[-1].kind == "select" else typed[-1].return_type
        if number and at is not last:
            raise DomainMismatch(f"{where}: weights {number - 1} are of {last}, weights {number} of {at}")
        last = at
        found.append(Weights(int(stop), tuple(typed)))
    stops = [each.stop for each in found]
    if any(a >= b for a, b in pairwise((0, *stops))):
        raise DimensionMismatch(f"{where}: weights must be for columns that ascend from 1; they are for {stops}")
    if stops and stops[-1] != Z.ncols:
        raise DimensionMismatch(f"{where}: weights must end with the {Z.ncols} columns of Z, {says(Z)}")
    return tuple(found), last


def _step(where: str, step: Any, own: DataType, dtype: DataType) -> Step:
    """Return a step with its operator typed, for a product of type `dtype` at the entries of a matrix of type `own`."""
    op, *right = step if isinstance(step, tuple) else (step,)
    kind = getattr(getattr(op, "op", op), "kind", "unary")
    if not right:
        if kind == "unary":
            return Step("apply", resolve("unary", op, where, dtype))
        return Step("ewise_mult", resolve("binary", op, where, own, dtype))
    number = scalar(right[0], where)
    if kind in ("select", "indexunary"):
        return Step("select", resolve(kind, op, where, dtype, number.dtype), number.value, number.dtype)
    return Step("apply_right", resolve("binary", op, where, dtype, number.dtype), number.value, number.dtype)
