"""The fused lasso on a graph: values that are close to what was measured and mostly equal along edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import ConvergenceFailure
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

_LOOK = 20  # iterations between two looks at the gap, each of which costs one iteration more


class _Edges(NamedTuple):
    """The edges of a graph as rows of B, with 1 at one end and -1 at the other; B'; and the step at each."""

    B: Matrix
    T: Matrix
    step: Vector


def fused_lasso(
    A: Matrix, y: Any, lambda1: float, lambda2: float = 0.0, tol: float = 1e-6, *, max_iter: Any = 100_000
) -> tuple[Vector, float]:
    """Smooth values at the vertices of a graph into regions of equal values: total variation denoising.

    An edge joins its ends once, whichever way it points and also if it points both ways; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    y : Vector or array of n numbers
        What was measured.
    lambda1 : float
        Weight of the differences along edges, >= 0.
    lambda2 : float
        Weight of the absolute values, >= 0: small ones become 0.
    tol : float
        Stop when the duality gap is at most this share of the minimum; above 0.
    max_iter : int
        Most iterations, at least 1.

    Returns
    -------
    x : Vector of FP64, size n
        An entry for every vertex.
    gap : float
        What the sum below may exceed its minimum by.

    Raises
    ------
    ConvergenceFailure
        The gap was still larger after `max_iter` iterations.
    InvalidValue
        `lambda1`, `lambda2`, `tol` or `max_iter` lies outside its range, or `y` has values that are NaN or infinite.
    DimensionMismatch
        `A` is not square, or `y` has not a number for each vertex.

    Notes
    -----
    With B the edges, a row each with 1 and -1 at its ends, x minimises::

        |x - y|^2 / 2 + lambda1 |B x|_1 + lambda2 |x|_1

    The dual has a number u in -lambda1..lambda1 for each edge. Gradient steps with momentum, of a length for
    each edge, as B B' is at most the diagonal matrix of the degrees d(i) + d(j) of its ends::

        x = y - B'v
        u = min(max(v + B x / (d(i) + d(j)), -lambda1), lambda1)
        v = u + (k - 1) / (k + 2) (u - u_before)          k begins anew where the gap has risen

    lambda2 is a soft threshold at the end, and the gap is ``lambda1 |B x|_1 - u'B x``.

    Source: A. Beck, M. Teboulle, Fast gradient-based algorithms for constrained total variation image denoising and
    deblurring problems, IEEE Trans. Image Processing 18, 2009, section IV, doi:10.1109/TIP.2009.2028250; restarts:
    B. O'Donoghue, E. Candes, Adaptive restart for accelerated gradient schemes, 2015, doi:10.1007/s10208-013-9150-3;
    the threshold: J. Friedman, T. Hastie, H. Höfling, R. Tibshirani, Pathwise coordinate optimization, Annals of
    Applied Statistics 1, 2007, section 3, doi:10.1214/07-AOAS131.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 4)], nrows=5, ncols=5)
    >>> x, gap = gb.applications.fused_lasso(A, [1.0, 1.2, 0.9, 5.1, 4.9], lambda1=0.5)
    >>> x.to_dense().round(3).tolist(), gap < 1e-5
    ([1.2, 1.2, 1.2, 4.75, 4.75], True)
    """
    n = graphs.adjacency(A)
    measured = Vector.from_dense(_check.values(y, "y", n), dtype=datatypes.FP64)
    lambda1, lambda2 = _check.between(lambda1, "lambda1", 0), _check.between(lambda2, "lambda2", 0)
    tol, most = _check.above(tol, "tol", 0), graphs.count(max_iter, "max_iter", 1)
    edges = _edges(simple(A))
    u = Vector.from_scalar(0.0, edges.B.nrows, datatypes.FP64)
    v, before, k, last = u.dup(), u.dup(), 1, float("inf")
    for iteration in range(most + 1):
        if iteration % _LOOK == 0 or iteration == most:
            x, gap, value = _primal(edges, measured, u, lambda1, lambda2)
            if gap <= tol * value:
                return x, gap
            k, last = (1 if gap > last else k), gap
        u, before = before, u
        _descend(edges, measured, v, u, lambda1)
        # v = u + (k - 1) / (k + 2) (u - u_before)
        v << u.ewise_mult(before, binary.minus)
        v << v.apply(binary.times, right=(k - 1) / (k + 2))
        v(binary.plus) << u
        k += 1
    raise ConvergenceFailure(
        f"after max_iter = {most} iterations the duality gap is {gap:.3g}, {gap / value:.3g} of the minimum; "
        f"at most tol = {tol:g} of it is needed"
    )


def _edges(S: Matrix) -> _Edges:
    """Return the edges of an undirected simple graph."""
    i, j, _ = S.select(select.triu).new().to_coo(values=False)
    rows, n = np.arange(i.size), S.nrows
    degree = Vector.from_scalar(0.0, n, datatypes.FP64)
    degree(binary.plus) << out_degree(S)
    B = Matrix.from_coo(
        np.r_[rows, rows], np.r_[i, j], np.repeat([1.0, -1.0], i.size), datatypes.FP64, nrows=i.size, ncols=n
    )
    # 1 / (d(i) + d(j))
    step = B.apply(unary.abs).new().mxv(degree, semiring.plus_times).new()
    step << step.apply(unary.minv)
    return _Edges(B, B.T.new(), step)


def _descend(edges: _Edges, y: Vector, v: Vector, u: Vector, lambda1: float) -> None:
    """Put one step from v into u."""
    # x = y - B'v
    x = y.dup()
    x(binary.minus) << edges.T.mxv(v, semiring.plus_times[datatypes.FP64])
    # u = min(max(v + B x / (d(i) + d(j)), -lambda1), lambda1)
    u << edges.B.mxv(x, semiring.plus_times[datatypes.FP64])
    u << u.ewise_mult(edges.step, binary.times)
    u(binary.plus) << v
    u << u.apply(binary.max, right=-lambda1)
    u << u.apply(binary.min, right=lambda1)


def _primal(edges: _Edges, y: Vector, u: Vector, lambda1: float, lambda2: float) -> tuple[Vector, float, float]:
    """Return the x of a dual point, the duality gap, and the sum that x minimises."""
    x = y.dup()
    x(binary.minus) << edges.T.mxv(u, semiring.plus_times[datatypes.FP64])
    if lambda2:
        # x = sign(x) max(|x| - lambda2, 0)
        kept = x.apply(unary.abs).new().apply(binary.minus, right=lambda2).new().apply(binary.max, right=0.0).new()
        x << kept.ewise_mult(x, binary.copysign)
    along = edges.B.mxv(x, semiring.plus_times[datatypes.FP64]).new()
    variation, size = _sum(along.apply(unary.abs).new()), _sum(x.apply(unary.abs).new())
    gap = lambda1 * variation - _sum(along.ewise_mult(u, binary.times).new())
    off = x.ewise_mult(y, binary.minus).new()
    value = _sum(off.ewise_mult(off, binary.times).new()) / 2 + lambda1 * variation + lambda2 * size
    return x, max(gap, 0.0), value


def _sum(v: Vector) -> float:
    return float(v.reduce(monoid.plus).new().get(0.0))
