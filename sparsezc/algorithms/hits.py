"""Hubs and authorities."""

from __future__ import annotations

from sparsezc.algorithms import _check, _iterate
from sparsezc.matrix import Matrix, TransposedMatrix
from sparsezc.semirings import binary, monoid, types
from sparsezc.vector import Vector


def hits(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Vector | None = None,
    *,
    weighted: bool = False,
) -> tuple[Vector, Vector]:
    """How well each vertex points to authorities, and how well hubs point to it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    max_iter : int
        Most iterations to run, at least 1.
    tol : float
        Stop when an iteration changes the hubs' scores by at most this in all (the sum of absolute changes).
    nstart : Vector of size n, optional
        The hubs' scores to begin with: entries >= 0 with a sum > 0; by default all alike.
    weighted : bool
        Edges count by their values, which must be >= 0; else all alike.

    Returns
    -------
    hubs, authorities : Vector of FP64, size n
        An entry for every vertex; each sums to 1. Without edges all are as good as any other.

    Raises
    ------
    ConvergenceFailure
        The change was still above `tol` after `max_iter` iterations.
    InvalidValue
        `tol`, `max_iter`, a start or a weight lies outside its range.
    DimensionMismatch
        `A` is not square, or `nstart` has another size.

    Notes
    -----
    The power method for the largest singular value::

        a = A' h / sum
        h = A a / sum

    Source: J. Kleinberg, Authoritative sources in a hyperlinked environment, JACM 46, 1999,
    doi:10.1145/324133.324140.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (1, 2)], nrows=3, ncols=3)
    >>> hubs, authorities = gb.algorithms.hits(A)
    >>> hubs.to_dense().tolist(), authorities.to_dense().tolist()
    ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0])
    """
    n = _check.adjacency(A)
    _iterate.options(tol, max_iter)
    if weighted:
        _check.weights(A)
    if n == 0:
        return Vector(types.FP64, 0), Vector(types.FP64, 0)
    uniform = Vector.from_scalar(1.0 / n, n, types.FP64)
    hubs = uniform.dup() if nstart is None else _check.distribution(nstart, n, "nstart")
    authorities, before = Vector(types.FP64, n), Vector(types.FP64, n)
    turned = A._turned()
    for _ in range(max_iter):
        before << hubs
        # a = A' h / sum;  h = A a / sum
        if not (_score(authorities, turned, hubs, weighted) and _score(hubs, A, authorities, weighted)):
            return uniform.dup(), uniform
        change = _iterate.moved(hubs, before)
        if change <= tol:
            return hubs, authorities
    raise _iterate.failure("the hubs' scores", max_iter, change, tol)


def _score(y: Vector, B: Matrix | TransposedMatrix, x: Vector, weighted: bool) -> bool:
    """y = B x / sum; False where the sum is 0."""
    y << 0.0
    y(binary.plus) << B.mxv(x, _iterate.multiply(weighted))
    total = y.reduce(monoid.plus).new().value
    if total > 0:
        y << y.apply(binary.truediv, right=total)
    return bool(total > 0)
