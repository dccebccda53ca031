"""Eigenvector centrality."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check, _iterate
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def eigenvector_centrality(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Vector | None = None,
    *,
    weighted: bool = False,
) -> Vector:
    """Score vertices in proportion to the sum of the scores of the vertices that point to each.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    max_iter : int
        Most iterations to run, at least 1.
    tol : float
        Stop when an iteration changes the scores by at most ``n * tol`` in all (the sum of absolute changes).
    nstart : Vector of size n, optional
        The initial scores: entries >= 0 with a sum > 0; by default all equal.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    Vector of FP64, size n
        The scores, an entry for every vertex, of Euclidean length 1. They are unique only if the graph is strongly
        connected.

    Raises
    ------
    ConvergenceFailure
        The change was still above ``n * tol`` after `max_iter` iterations.
    InvalidValue
        `tol`, `max_iter`, a start or a weight is outside its range.
    DimensionMismatch
        `A` is not square, or `nstart` has another size.

    Notes
    -----
    The power method on A' + I, whose eigenvectors are those of A' but whose largest eigenvalue is dominant on bipartite
    graphs too::

        x = (x + A' x) / |x + A' x|

    Source: P. Bonacich, Power and centrality: a family of measures, American Journal of Sociology 92, 1987,
    doi:10.1086/228631. The rule for stopping is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> [round(score, 4) for score in gb.algorithms.eigenvector_centrality(A).to_dense().tolist()]
    [0.5, 0.7071, 0.5]
    """
    n = _check.adjacency(A)
    _iterate.options(tol, max_iter)
    if weighted:
        _check.weights(A)
    if n == 0:
        return Vector(datatypes.FP64, 0)
    x = Vector.from_scalar(1.0 / n, n, datatypes.FP64) if nstart is None else _check.distribution(nstart, n, "nstart")
    terms = 1.0, 1.0, np.empty(0)
    if (found := _iterate.by_loop(A, x, lambda: terms, n * tol, max_iter, weighted)) is not None:
        return found
    turned, before = A._turned(), Vector(datatypes.FP64, n)
    for _ in steps(range(max_iter), "rounds", at_most=True):
        # x = (x + A' x) / |x + A' x|
        before << x
        x(binary.plus) << turned.mxv(before, _iterate.multiply(weighted))
        length = x.ewise_mult(x, binary.times).new().reduce(monoid.plus).new().get() ** 0.5
        x << x.apply(binary.truediv, right=length)
        change = _iterate.moved(x, before)
        if change <= n * tol:
            return x
        if not change < float("inf"):
            break
    raise _iterate.failure("the scores", max_iter, change, n * tol)
