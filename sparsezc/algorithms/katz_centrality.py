"""Katz centrality."""

from __future__ import annotations

import math

import numpy as np

from sparsezc.algorithms import _check, _iterate
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def katz_centrality(
    A: Matrix,
    alpha: float = 0.1,
    beta: float | Vector = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Vector | None = None,
    normalized: bool = True,
    *,
    weighted: bool = False,
) -> Vector:
    """Count the walks that end at each vertex, a walk of k edges with weight alpha^k beta.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    alpha : float
        The factor for each edge of a walk; below 1 / (largest eigenvalue of `A`).
    beta : float, or Vector of size n
        The weight of a walk without edges; a Vector has one for each start of walks, 0 where it has no entry.
    max_iter : int
        Most iterations to run, at least 1.
    tol : float
        Stop when an iteration changes the scores by at most ``n * tol`` in all (the sum of absolute changes).
    nstart : Vector of size n, optional
        The initial scores, by default 0.
    normalized : bool
        Scale the scores to Euclidean length 1.
    weighted : bool
        Edges count by their values; else equally.

    Returns
    -------
    Vector of FP64, size n
        The scores, an entry for every vertex.

    Raises
    ------
    ConvergenceFailure
        The change was still above ``n * tol`` after `max_iter` iterations, or the scores grew beyond FP64: `alpha` may
        be too large.
    InvalidValue
        `alpha`, `beta`, `tol`, `max_iter` or an entry of `nstart` is outside its range.
    DimensionMismatch
        `A` is not square, or a vector has another size.

    Notes
    -----
    ::

        x = alpha A' x + beta

    Source: L. Katz, A new status index derived from sociometric analysis, Psychometrika 18, 1953,
    doi:10.1007/BF02289026. The rule for stopping is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    >>> gb.algorithms.katz_centrality(A, alpha=0.5, normalized=False).to_dense().tolist()
    [1.0, 1.5, 1.75]
    """
    n = _check.adjacency(A)
    tol, max_iter = _iterate.options(tol, max_iter)
    alpha = _check.number(alpha, "alpha")
    if isinstance(beta, Vector):
        base = _check.full(beta, n, "beta")
    else:
        base = Vector.from_scalar(_check.number(beta, "beta"), n, datatypes.FP64)
    x = Vector.from_scalar(0.0, n, datatypes.FP64) if nstart is None else _check.full(nstart, n, "nstart")
    if n == 0:
        return x
    found = _iterate.by_loop(A, x, lambda: (0.0, float(alpha), base.to_dense()), n * tol, max_iter, weighted)
    if found is not None:
        if normalized:
            with np.errstate(over="ignore"):  # _length refuses infinity
                length = _length(float(found @ found))
            found = found / length if length > 0 else found
        return engine_loops.vector(found)
    turned = forms.turned(A)
    before, sent = Vector(datatypes.FP64, n), Vector(datatypes.FP64, n)
    for _ in steps(range(max_iter), "rounds", at_most=True):
        # x = alpha A' x + beta
        before << x
        sent << x.apply(binary.times, right=alpha)
        x << base
        x(binary.plus) << turned.mxv(sent, _iterate.multiply(weighted))
        change = _iterate.moved(x, before)
        if change <= n * tol:
            return _unit(x) if normalized else x
        if not change < float("inf"):
            break
    raise _iterate.failure("the scores", max_iter, change, n * tol)


def _unit(x: Vector) -> Vector:
    """Divide x by |x| in place, unless it is 0; return x."""
    length = _length(x.ewise_mult(x, binary.times).new().reduce(monoid.plus).new().get())
    if length > 0:
        x << x.apply(binary.truediv, right=length)
    return x


def _length(squares: float) -> float:
    """Return the Euclidean norm of scores whose squares sum to `squares`; refuse an infinite one."""
    length = math.sqrt(squares)
    if not length < math.inf:
        raise InvalidValue("the scores are too large for FP64; a smaller alpha or beta is needed")
    return length
