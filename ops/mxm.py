"""Matrix times matrix, powers, Kronecker products; and of dense rows: systems of equations, distances."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sparsezc.errors import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.expr.expression import Expression, Inner, Step, Weights, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.arrays import MAX_SIZE
from sparsezc.ops.checks import scalar
from sparsezc.semirings.types.datatypes import FP64, DataType

__all__ = ["distances", "kronecker", "mxm", "power", "sampled_mxm", "solve"]


def mxm(A: Any, B: Any, op: Any) -> Expression:
    """Compute ``C = A @ B``: ``C(i, j)`` is the sum over k of ``A(i, k) * B(k, j)`` in the semiring `op`.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
    B : Matrix or TransposedMatrix, n x p
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Matrix, m x p.

    Raises
    ------
    DimensionMismatch
        The number of A's columns is not that of B's rows.
    """
    A, B = stored(A, "mxm: the matrix", 2), stored(B, "mxm: other", 2)
    typed = resolve("semiring", op, "mxm: op", A.dtype, B.dtype)
    if A.ncols != B.nrows:
        raise DimensionMismatch(f"mxm: {says(A)} has {A.ncols} columns and other, {says(B)}, {B.nrows} rows")
    return Expression("mxm", (A, B), typed, typed.return_type, (A.nrows, B.ncols))


def sampled_mxm(A: Any, X: Any, Y: Any, Z: Any, op: Any, then: Any, weights: Sequence[Any] = ()) -> Expression:
    """Compute ``C = W @ Z`` for the W with ``W(A.S) << X.mxm(Y.T, op)``, which is never stored.

    On the GPU this is one pass over A, if X and Y have few columns and all entries; else, and on the CPU engine, W is
    made first. Source: M. Rahman, M. Sujon, A. Azad, FusedMM, IPDPS 2021, doi:10.1109/IPDPS49936.2021.00034.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
        Its values are read in steps that say so only.
    X : Matrix, m x k
    Y : Matrix, n x k
    Z : Matrix or TransposedMatrix, n x p
    op : semiring or its name
        Of the inner product, ``X @ Y.T``.
    then : semiring or its name
        Of the product with Z.
    weights : sequence of (int, steps), optional
        How W weighs the columns of Z: up to the first number after the first steps, from there up to the second after
        the second, and so on; by default it weighs all as it is. A step is a unary operator, which is applied to W;
        (binary operator, number), the number on the right; (select operator, number), which drops entries; or a binary
        operator, for ``A.ewise_mult(W, op)``. All of them return one type in the end.

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
    weighed, dtype = _weighed(weights, A.dtype, first.return_type)
    typed = resolve("semiring", then, "sampled_mxm: then", dtype, Z.dtype)
    for fits, needed in (
        (X.nrows == A.nrows, f"X, {says(X)}, must have {A.nrows} rows"),
        (Y.nrows == A.ncols, f"Y, {says(Y)}, must have {A.ncols} rows"),
        (X.ncols == Y.ncols, f"X, {says(X)}, and Y, {says(Y)}, must have as many columns"),
        (Z.nrows == A.ncols, f"Z, {says(Z)}, must have {A.ncols} rows"),
        (
            not weighed or all(a < b for a, b in pairwise((0, *(each.stop for each in weighed)))),
            f"weights must be of columns that ascend from 1; they are of {[each.stop for each in weighed]}",
        ),
        (not weighed or weighed[-1].stop == Z.ncols, f"weights must end with the {Z.ncols} columns of Z, {says(Z)}"),
    ):
        if not fits:
            raise DimensionMismatch(f"sampled_mxm: {needed}")
    operands = A, X, Y.T, Z, Inner(first, weighed)
    return Expression("sampled_mxm", operands, typed, typed.return_type, (A.nrows, Z.ncols))


def _weighed(weights: Sequence[Any], own: DataType, dtype: DataType) -> tuple[tuple[Weights, ...], DataType]:
    """Return weights with typed operators, and the type that they end in; `own` is that of the matrix."""
    found, last = [], dtype
    for number, (stop, steps) in enumerate(weights):
        at, typed = dtype, []
        for step in steps:
            typed.append(_step(step, own, at))
            at = at if typed[-1].kind == "select" else typed[-1].return_type
        if number and at is not last:
            raise DomainMismatch(f"sampled_mxm: weights {number - 1} are of {last}, weights {number} of {at}")
        last = at
        found.append(Weights(int(stop), tuple(typed)))
    return tuple(found), last


def _step(step: Any, own: DataType, dtype: DataType) -> Step:
    """Return a step with its operator typed, for a product of type `dtype` at the entries of a matrix of type `own`."""
    where = "sampled_mxm: weights"
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


def power(A: Any, n: Any, op: Any) -> Expression:
    """Compute ``A @ A @ ... @ A``, n times; n = 0 gives the identity of the multiplication on the diagonal.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, square
    n : int
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Matrix like A.

    Raises
    ------
    DimensionMismatch
        A is not square.
    TypeError
        n is no integer.
    InvalidValue
        n is negative; or it is 0 and the multiplication has no identity.
    """
    A = stored(A, "power: the matrix", 2)
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"power only works for square matrices; {says(A)} is not square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"power: n must be a nonnegative integer; got bad type: {says(n)}") from None
    if n < 0:
        raise InvalidValue(f"power: n must be a nonnegative integer; got: {n}")
    typed: Any = resolve("semiring", op, "power: op", A.dtype)
    if n == 0:
        try:
            resolve("monoid", typed.op.binaryop, "power: op", A.dtype)
        except (TypeError, InvalidValue):
            text = f"power: for n=0 the binaryop must be associated with a monoid; {typed.op.binaryop!r} has none"
            raise InvalidValue(text) from None
    return Expression("power", (A, scalar(n, "power: n")), typed, A.dtype, A.shape)


def kronecker(A: Any, B: Any, op: Any) -> Expression:
    """Combine each entry of A with all of B: ``C(i * p + k, j * q + l) = op(A(i, j), B(k, l))`` for a B of p x q.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
    B : Matrix or TransposedMatrix, p x q
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        Makes a Matrix, m p x n q.

    Raises
    ------
    InvalidValue
        The product would have more than 2**60 rows or columns.
    """
    A, B = stored(A, "kronecker: the matrix", 2), stored(B, "kronecker: other", 2)
    typed = resolve("binary", op, "kronecker: op", A.dtype, B.dtype)
    shape = A.nrows * B.nrows, A.ncols * B.ncols
    if max(shape) > MAX_SIZE:
        raise InvalidValue(f"kronecker: {says(A)} and {says(B)} make {shape[0]} x {shape[1]}; 2**60 is the most")
    return Expression("kronecker", (A, B), typed, typed.return_type, shape)


def solve(G: Any, B: Any) -> Expression:
    """Solve a symmetric system for each row: row i of the result is the x with ``G_i x = b_i``.

    Parameters
    ----------
    G : Matrix, m x k (k + 1) / 2, any real dtype
        Row i has the upper triangle of G_i, a k x k matrix, by rows.
    B : Matrix, m x k, any real dtype
        Row i is b_i.

    Returns
    -------
    Expression
        Makes a Matrix of FP64, m x k: a row for each one that is complete in B; in G what is absent is 0.

    Raises
    ------
    DimensionMismatch
        Shapes do not fit as above.
    DomainMismatch
        Values are complex, or of a user's type.
    InvalidValue
        A system has no single solution in FP64 (when the expression runs).

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> G, B = gb.Matrix.from_dense([[2, 1, 2], [4, 0, 1]]), gb.Matrix.from_dense([[3, 3], [8, 5]])
    >>> ops.solve(G, B).new().to_dense()
    array([[1., 1.],
           [2., 5.]])
    """
    G, B = stored(G, "solve: G", 2), stored(B, "solve: B", 2)
    _real("solve", G, B)
    k = B.ncols
    if (G.nrows, G.ncols) != (B.nrows, k * (k + 1) // 2):
        raise DimensionMismatch(f"solve: G, {says(G)}, must be {B.nrows} x {k * (k + 1) // 2} for B, {says(B)}")
    return Expression("solve", (G, B), None, FP64, B.shape)


def distances(X: Any, Y: Any) -> Expression:
    """Compute Euclidean distances: ``D(i, j)`` is the length of ``X(i, :) - Y(j, :)``; what is absent is 0.

    Parameters
    ----------
    X : Matrix, m x k, any real dtype
    Y : Matrix, n x k, any real dtype
        Few rows: each is compared with all of X.

    Returns
    -------
    Expression
        Makes a Matrix of FP64, m x n, with every entry.

    Raises
    ------
    DimensionMismatch
        The numbers of columns differ.
    DomainMismatch
        Values are complex, or of a user's type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> X, Y = gb.Matrix.from_dense([[0, 0], [3, 4]]), gb.Matrix.from_dense([[0, 0], [0, 4]])
    >>> ops.distances(X, Y).new().to_dense()
    array([[0., 4.],
           [5., 3.]])
    """
    X, Y = stored(X, "distances: X", 2), stored(Y, "distances: Y", 2)
    _real("distances", X, Y)
    if X.ncols != Y.ncols:
        raise DimensionMismatch(f"distances: {says(X)} has {X.ncols} columns and Y, {says(Y)}, {Y.ncols}")
    return Expression("distances", (X, Y), None, FP64, (X.nrows, Y.nrows))


def _real(where: str, *matrices: Any) -> None:
    for M in matrices:
        if M.dtype.is_complex or M.dtype.is_udt:
            raise DomainMismatch(f"{where}: {says(M)} is of {M.dtype}; real numbers are needed")
