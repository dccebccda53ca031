"""Products with vectors; and each row's best column, colour and corners."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import DimensionMismatch, DomainMismatch
from sparsezc.expr.expression import Expression, says, stored
from sparsezc.expr.resolve import resolve
from sparsezc.semirings.types.datatypes import INT64

__all__ = ["best_column", "color_rows", "count_corners", "inner", "mxv", "outer", "vxm"]


def mxv(A: Any, v: Any, op: Any) -> Expression:
    """Compute ``w = A @ v``: ``w(i)`` is the sum over k of ``A(i, k) * v(k)`` in the semiring `op`.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, nrows x ncols
    v : Vector, size ncols
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Vector of size nrows.

    Raises
    ------
    DimensionMismatch
        v's size is not A's number of columns.
    """
    A = stored(A, "mxv: the matrix", 2)
    v = stored(v, "mxv: other", 1)
    typed = resolve("semiring", op, "mxv: op", A.dtype, v.dtype)
    nrows, ncols = A._shape
    if v._shape[0] != ncols:
        raise DimensionMismatch(
            f"mxv: {says(A)} has {ncols} columns; other is {says(v)}, and a size of {ncols} is needed"
        )
    return Expression("mxv", (A, v), typed, typed.return_type, (nrows,))


def vxm(v: Any, A: Any, op: Any) -> Expression:
    """Compute ``w = v @ A``: ``w(j)`` is the sum over k of ``v(k) * A(k, j)`` in the semiring `op`.

    Parameters
    ----------
    v : Vector, size nrows
    A : Matrix or TransposedMatrix, nrows x ncols
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Vector of size ncols.

    Raises
    ------
    DimensionMismatch
        v's size is not A's number of rows.
    """
    v = stored(v, "vxm: the vector", 1)
    A = stored(A, "vxm: other", 2)
    typed = resolve("semiring", op, "vxm: op", v.dtype, A.dtype)
    nrows, ncols = A._shape
    if v._shape[0] != nrows:
        raise DimensionMismatch(f"vxm: {says(v)} must have size {nrows}, as other, {says(A)}, has {nrows} rows")
    return Expression("vxm", (v, A), typed, typed.return_type, (ncols,))


def best_column(A: Any, v: Any) -> Expression:
    """Compute ``w(i) = argmax over j of v(j)``, over the columns j of row i's entries that v has.

    Parameters
    ----------
    A : Matrix or TransposedMatrix, m x n
        Its values are not read.
    v : Vector, size n, of a real type without NaN

    Returns
    -------
    Expression
        Makes a Vector of INT64, size m; of equal entries the smallest j counts. A row has no entry if v has
        none at its columns.

    Raises
    ------
    DimensionMismatch
        v is not as long as A has columns.
    DomainMismatch
        v's type has no order.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1, 1, 1], nrows=3, ncols=3)
    >>> ops.best_column(A, gb.Vector.from_dense([3, 9, 9])).new().to_coo()
    (array([0, 1], dtype=uint64), array([1, 0]))
    """
    A, v = stored(A, "best_column: the matrix", 2), stored(v, "best_column: other", 1)
    if A.ncols != v.size:
        raise DimensionMismatch(f"best_column: {says(A)} has {A.ncols} columns and other, {says(v)}, {v.size} entries")
    if v.dtype.is_complex or v.dtype.is_udt:
        raise DomainMismatch(f"best_column: {says(v)} is of a type without an order")
    return Expression("best_column", (A, v), None, INT64, (A.nrows,))


def color_rows(A: Any, order: Any) -> Expression:
    """Give each row the smallest colour, from 0 on, that no neighbour coloured before it has.

    Parameters
    ----------
    A : Matrix, n x n
        Symmetric. Its values and diagonal are not read.
    order : Vector of INT64, size n
        A number for every row: rows are coloured in descending order of it, of equal ones the first.

    Returns
    -------
    Expression
        Makes a Vector of INT64, an entry for every row.

    Raises
    ------
    DimensionMismatch
        A is not square, or `order` has another size.
    TypeError
        An operand is of another kind or type.

    Notes
    -----
    Source: M. Jones, P. Plassmann, A parallel graph coloring heuristic, SIAM J. Sci. Comput. 14, 1993,
    doi:10.1137/0914041, which gives the colours of the sequential loop.

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> ops.color_rows(A, gb.Vector.from_dense([1, 2, 1])).new().to_dense()
    array([1, 0, 1])
    """
    A, order = stored(A, "color_rows: the matrix", 2), stored(order, "color_rows: order", 1)
    if A._transposed:
        raise TypeError(f"Bad type for argument: color_rows: the matrix must be a Matrix; {A.name}.new() makes one")
    if order.dtype is not INT64:
        raise TypeError(f"color_rows: order is {says(order)} of {order.dtype}; INT64 is needed")
    if not A.nrows == A.ncols == order.size:
        raise DimensionMismatch(
            f"color_rows: {says(A)} is {A.nrows} x {A.ncols} and order, {says(order)}, has {order.size}"
        )
    return Expression("color_rows", (A, order), None, INT64, (A.nrows,))


def count_corners(A: Any, B: Any, M: Any) -> Expression:
    """Count at each vertex the triples of which it is a corner: an entry of M that entries of A and B close.

    A triple is i, j, k with entries ``M(i, j)``, ``A(i, k)`` and ``B(k, j)``. It counts once at each of its positions,
    so a vertex at two of them counts twice.

    Parameters
    ----------
    A, B, M : Matrix or TransposedMatrix, n x n
        Values are not read.

    Returns
    -------
    Expression
        Makes a Vector of INT64, size n, with an entry everywhere.

    Raises
    ------
    DimensionMismatch
        One of them is not square, or they are of different sizes.

    Notes
    -----
    The sums of these masked products, none of which is stored::

        C<M> = A B           over (plus, pair)
        D<A> = M B'          over (plus, pair)
        w = C 1 + C' 1 + D' 1

    Examples
    --------
    >>> import sparsezc as gb
    >>> from sparsezc import ops
    >>> U = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> ops.count_corners(U, U.T, U.T).new().to_dense().tolist()
    [1, 1, 1, 0]
    """
    A, B, M = (stored(x, f"count_corners: {name}", 2) for x, name in ((A, "A"), (B, "B"), (M, "M")))
    n = A.nrows
    for x in (A, B, M):
        if x._shape != (n, n):
            raise DimensionMismatch(f"count_corners: {says(x)} is {x.nrows} x {x.ncols}; {n} x {n} is needed")
    return Expression("count_corners", (A, B, M), None, INT64, (n,))


def inner(u: Any, v: Any, op: Any) -> Expression:
    """Compute ``s = u @ v``: the sum over k of ``u(k) * v(k)``; empty if no position is in both.

    Parameters
    ----------
    u, v : Vector, of one size
    op : semiring or its name

    Returns
    -------
    Expression
        Makes a Scalar.

    Raises
    ------
    DimensionMismatch
        The sizes differ.
    """
    u, v = stored(u, "inner: the vector", 1), stored(v, "inner: other", 1)
    typed = resolve("semiring", op, "inner: op", u.dtype, v.dtype)
    if u.size != v.size:
        raise DimensionMismatch(f"inner: {says(u)} and other, {says(v)}, must have the same size")
    return Expression("inner", (u, v), typed, typed.return_type, ())


def outer(u: Any, v: Any, op: Any) -> Expression:
    """Combine every entry of u with every entry of v: ``C(i, j) = op(u(i), v(j))``.

    Parameters
    ----------
    u, v : Vector
    op : binary operator, monoid or a name

    Returns
    -------
    Expression
        Makes a Matrix, ``u.size x v.size``.
    """
    u, v = stored(u, "outer: the vector", 1), stored(v, "outer: other", 1)
    typed = resolve("binary", op, "outer: op", u.dtype, v.dtype)
    return Expression("outer", (u, v), typed, typed.return_type, (u.size, v.size))
