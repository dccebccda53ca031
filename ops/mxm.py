"""Products of matrices, powers, Kronecker products; systems of equations and distances of dense rows; maximum flows."""

from __future__ import annotations

import operator
from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.ops.arrays import MAX_SIZE
from sparsezc.ops.checks import scalar, whole_number
from sparsezc.semirings.types.datatypes import FP64, INT64

__all__ = ["distances", "kronecker", "mxm", "net_flow", "power", "solve"]


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
        Makes a Matrix of FP64, m x k: a row for each row of B that has all its entries; missing entries of G count
        as 0.

    Raises
    ------
    DimensionMismatch
        Shapes do not fit as above.
    DomainMismatch
        Values are complex, or of a user's type.
    InvalidValue
        A system has no unique solution in FP64 (when the expression runs).

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
    """Compute Euclidean distances: ``D(i, j)`` is the length of ``X(i, :) - Y(j, :)``; missing entries count as 0.

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


def net_flow(R: Any, source: Any, target: Any) -> Expression:
    """Compute a maximum flow from one vertex to another: the flow of each entry minus that of the opposite entry.

    Parameters
    ----------
    R : Matrix of INT64 or FP64, n x n
        Capacities >= 0, finite, with an entry (j, i) for each entry (i, j), of value 0 where there is no edge.
    source, target : int
        Two vertices in 0..n-1.

    Returns
    -------
    Expression
        Makes a Matrix of R's type with R's entries, ``F(i, j) = -F(j, i) <= R(i, j)``, whose rows add up to 0 but for
        those of `source` and `target`.

    Raises
    ------
    DimensionMismatch
        R is not square.
    TypeError
        R is a transpose, or of another type; a vertex is no integer.
    IndexOutOfBound
        A vertex is outside.
    InvalidValue
        The vertices are the same; or (when the expression runs) an entry has no opposite one.

    Notes
    -----
    Capacities below 0, and sums beyond the type, are not checked for. Of several maximum flows an engine always
    computes the same one, and engines may compute different ones.

    Source: A. Goldberg, R. Tarjan, A new approach to the maximum-flow problem, JACM 35, 1988, doi:10.1145/48014.61051.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> R = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [3, 0, 2, 0])
    >>> ops.net_flow(R, 0, 2).new().to_coo()[2].tolist()
    [2, -2, 2, -2]
    """
    R = stored(R, "net_flow: the matrix", 2)
    if R._transposed:
        raise TypeError(f"Bad type for argument: net_flow: the matrix must be a Matrix; {R.name}.new() makes one")
    if R.dtype not in (INT64, FP64):
        raise TypeError(f"net_flow: {says(R)} is of {R.dtype}; INT64 or FP64 is needed")
    if R.nrows != R.ncols:
        raise DimensionMismatch(f"net_flow: {says(R)} is {R.nrows} x {R.ncols}; a square matrix is needed")
    ends = []
    for v, name in ((source, "source"), (target, "target")):
        end = whole_number(v, f"net_flow: {name}", least=None)
        if not 0 <= end < R.nrows:
            raise IndexOutOfBound(f"net_flow: {name} is {end}; 0 .. {R.nrows - 1} is needed")
        ends.append(end)
    if ends[0] == ends[1]:
        raise InvalidValue(f"net_flow: source and target are both {ends[0]}; two different vertices are needed")
    return Expression("net_flow", (R, *(scalar(end, "net_flow") for end in ends)), None, R.dtype, R.shape)


def _real(where: str, *matrices: Any) -> None:
    for M in matrices:
        if M.dtype.is_complex or M.dtype.is_udt:
            raise DomainMismatch(f"{where}: {says(M)} is of {M.dtype}; real numbers are needed")
