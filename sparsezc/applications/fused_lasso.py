"""The fused lasso on a graph: values that are close to given ones and mostly equal along edges."""

from __future__ import annotations

from typing import Any, NamedTuple

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._communities import positions
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.applications import _check
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure, InvalidValue
from sparsezc.memory.budget import require_host
from sparsezc.semirings import binary, indexunary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_TIMES = semiring.plus_times[datatypes.FP64]
_LOOK = 20  # iterations between two computations of the gap, which cost one iteration each
_EDGE_BYTES = 144  # bytes for each edge: two entries each of B, B' and the steps, and the vectors over edges
_SPARSE = 8  # regions are formed again after 1 / 8 more iterations, as this costs as much as some 10 iterations


class _Edges(NamedTuple):
    """The edges of a graph as rows of B, 1 at one end and -1 at the other; B'; and B times the edges' steps."""

    B: Matrix
    T: Matrix
    stepped: Matrix


class _Point(NamedTuple):
    """A primal point: x, a bound of the excess of its objective over the minimum, and the objective."""

    x: Vector
    gap: float
    value: float


def fused_lasso(
    A: Matrix, y: Any, lambda1: float, lambda2: float = 0.0, tol: float = 1e-6, *, max_iter: Any = 100_000
) -> tuple[Vector, float]:
    """Smooth values at the vertices of a graph into regions of equal values: total variation denoising.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    y : Vector or array of n numbers
        The values to smooth.
    lambda1 : float
        The weight of the differences along edges, >= 0.
    lambda2 : float
        The weight of the absolute values, >= 0: small values become 0.
    tol : float
        Stop when the duality gap is at most `tol` times the objective; above 0.
    max_iter : int
        Most iterations, at least 1.

    Returns
    -------
    x : Vector of FP64, size n
        The smoothed values, an entry for every vertex.
    gap : float
        The duality gap: the objective of `x`, defined in Notes, exceeds its minimum by at most this.

    Raises
    ------
    ConvergenceFailure
        The gap was still larger after `max_iter` iterations.
    InvalidValue
        `lambda1`, `lambda2`, `tol` or `max_iter` is outside its range, or `y` has values that are NaN or infinite.
    DimensionMismatch
        `A` is not square, or `y` does not have `n` numbers.
    OutOfMemory
        The matrix of edges needs more memory than may be used; the message has the size.

    Notes
    -----
    With B the matrix of edges, a row for each with 1 and -1 at its ends, x minimises the objective::

        |x - y|^2 / 2 + lambda1 |B x|_1 + lambda2 |x|_1

    The dual has a number u in -lambda1..lambda1 for each edge. Gradient steps with momentum have a length for each
    edge, as B B' is at most the diagonal matrix of d(i) + d(j), the degrees of the ends::

        x = y - B'v
        u = min(max(v + B x / (d(i) + d(j)), -lambda1), lambda1)
        v = u + (k - 1) / (k + 2) (u - u_before)          k restarts at 1 if the last step led uphill

    Edges with -lambda1 < u < lambda1 join equal values. So x is the mean of y - B'u over each set of vertices that such
    edges connect, whose objective depends on an error of u in second order, while that of y - B'u itself depends on it
    in first order. lambda2 is a soft threshold at the end. With z the result of this threshold on y - B'u, the gap of
    any x is the sum of three terms >= 0::

        |x - z|^2 / 2  +  (lambda1 |B x|_1 - u'B x)  +  (lambda2 |x|_1 - (y - B'u - z)'x)

    Source: A. Beck, M. Teboulle, Fast gradient-based algorithms for constrained total variation image denoising and
    deblurring problems, IEEE Trans. Image Processing 18, 2009, section IV, doi:10.1109/TIP.2009.2028250; restarts:
    B. O'Donoghue, E. Candes, Adaptive restart for accelerated gradient schemes, 2015, doi:10.1007/s10208-013-9150-3;
    regions: L. Landrieu, G. Obozinski, Cut pursuit: fast algorithms to learn piecewise constant functions on general
    weighted graphs, SIAM J. Imaging Sciences 10, 2017, section 2, doi:10.1137/17M1113436; the threshold: J. Friedman,
    T. Hastie, H. Höfling, R. Tibshirani, Pathwise coordinate optimization, Annals of Applied Statistics 1, 2007,
    section 3, doi:10.1214/07-AOAS131.

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
    v, before, k, next_regions = u.dup(), u.dup(), 1, 0
    for iteration in steps(range(most + 1), "rounds", at_most=True):
        if iteration % _LOOK == 0 or iteration == most:
            x = _primal(edges, measured, u)
            at = _bounded(edges, measured, u, x, x, (lambda1, lambda2))
            if not at.value < float("inf"):
                raise InvalidValue(
                    f"lambda1 = {lambda1:g} and lambda2 = {lambda2:g} give a sum beyond FP64; smaller ones are needed"
                )
            # in the error of u, the gap of x is of first order, that of means over regions of second
            if at.gap > tol * at.value and at.gap <= tol**0.5 * at.value and iteration >= next_regions:
                next_regions = iteration + iteration // _SPARSE
                means = _means(edges, x, u.apply(unary.abs).new().select(select.valuelt, lambda1).new())
                at = min(at, _bounded(edges, measured, u, x, means, (lambda1, lambda2)), key=lambda found: found.gap)
            if at.gap <= tol * at.value:
                return at.x, at.gap
            # (B x)'(u - u_before) < 0: the last step led uphill
            if _dot(edges.B.mxv(x, _TIMES).new(), u.ewise_mult(before, binary.minus).new()) < 0:
                k = 1
        u, before = before, u
        _descend(edges, measured, v, u, lambda1)
        # v = (1 + b) u - b u_before
        b = (k - 1) / (k + 2)
        v << u.apply(binary.times, right=1 + b)
        v(binary.minus) << before.apply(binary.times, right=b)
        k += 1
    raise ConvergenceFailure(
        f"after max_iter = {most} iterations the duality gap is {at.gap:.3g}, {at.gap / at.value:.3g} of the minimum; "
        f"at most tol = {tol:g} of it is needed"
    )


def _edges(S: Matrix) -> _Edges:
    """Return B, B' and the steps of an undirected simple graph."""
    U = S.select(select.triu).new()
    require_host(_EDGE_BYTES * U.nvals, f"fused_lasso: rows of {U.nvals:,} edges")
    degree = Vector.from_scalar(0.0, S.nrows, datatypes.FP64)
    degree(binary.plus) << out_degree(S)
    B = _ends(U, indexunary.rowindex, 1.0)
    B(binary.plus) << _ends(U, indexunary.colindex, -1.0)
    # 1 / (d(i) + d(j))
    step = B.apply(unary.abs).new().mxv(degree, _TIMES).new()
    step << step.apply(unary.minv)
    return _Edges(B, B.T.new(), step.ewise_mult(B, binary.times).new())


def _ends(U: Matrix, index: Any, sign: float) -> Matrix:
    """Return a row for each entry of U, with `sign` at the column that `index` returns: the entry's row or column."""
    m, n = U.nvals, U.nrows
    at = ops.values_of(U.apply(index).new()).new()
    at.resize(max(m, n))  # square, as pointers() requires
    P: Matrix = forms.pointers(at).apply(binary.second[datatypes.FP64], right=sign).new()
    P.resize(m, n)
    return P


def _descend(edges: _Edges, y: Vector, v: Vector, u: Vector, lambda1: float) -> None:
    """Write the result of one step from v to u; v is overwritten with the result before its bounds are applied."""
    x = _primal(edges, y, v)
    # u = min(max(v + B x / (d(i) + d(j)), -lambda1), lambda1)
    v(binary.plus) << edges.stepped.mxv(x, _TIMES)
    u << v.apply(binary.max, right=-lambda1)
    u << u.apply(binary.min, right=lambda1)


def _primal(edges: _Edges, y: Vector, u: Vector) -> Vector:
    """Return the primal point of a dual point u, for a lambda2 of 0."""
    # x = y - B'u
    x = y.dup()
    x(binary.minus) << edges.T.mxv(u, _TIMES)
    return x


def _means(edges: _Edges, x: Vector, joined: Vector) -> Vector:
    """Return for each vertex the mean of x over the vertices connected to it by the edges `joined`."""
    region = positions(x)
    P = forms.pointers(region)
    while True:
        before = region.dup()
        # the least region across a joined edge: t = |B'| |B| f
        t = edges.B.mxv(region, semiring.min_second).new(mask=joined.S)
        t = edges.T.mxv(t, semiring.min_second).new()
        # f(f) = min(f(f), t), f = min(f, t), f = f(f)
        region(binary.min) << t.vxm(P, semiring.min_first)
        region(binary.min) << t
        region << forms.pointers(region).mxv(region, semiring.min_second)
        P = forms.pointers(region)
        if region.isequal(before):
            break
    mean = x.vxm(P, semiring.plus_first).new()
    size = Vector.from_scalar(1.0, x.size, datatypes.FP64).vxm(P, semiring.plus_first).new()
    mean << mean.ewise_mult(size, binary.truediv)
    means: Vector = P.mxv(mean, semiring.any_second).new()
    return means


def _bounded(edges: _Edges, y: Vector, u: Vector, dual: Vector, x: Vector, weights: tuple[float, float]) -> _Point:
    """Return x after the threshold, the gap that u proves, and the objective; `dual` is y - B'u."""
    lambda1, lambda2 = weights
    x, z = _threshold(x, lambda2), _threshold(dual, lambda2)
    along, off = edges.B.mxv(x, _TIMES).new(), x.ewise_mult(y, binary.minus).new()
    rest, apart = dual.ewise_mult(z, binary.minus).new(), x.ewise_mult(z, binary.minus).new()
    variation, size = _sum(along.apply(unary.abs).new()), _sum(x.apply(unary.abs).new())
    gap = _dot(apart, apart) / 2 + lambda1 * variation - _dot(along, u) + lambda2 * size - _dot(rest, x)
    return _Point(x, max(gap, 0.0), _dot(off, off) / 2 + lambda1 * variation + lambda2 * size)


def _threshold(x: Vector, most: float) -> Vector:
    """Return the soft threshold of x: values moved towards 0 by `most`, but not beyond 0."""
    if not most:
        return x
    # sign(x) max(|x| - lambda2, 0)
    kept = x.apply(unary.abs).new().apply(binary.minus, right=most).new().apply(binary.max, right=0.0).new()
    moved: Vector = kept.ewise_mult(x, binary.copysign).new()
    return moved


def _sum(v: Vector) -> float:
    return float(v.reduce(monoid.plus).new().get(0.0))


def _dot(u: Vector, v: Vector) -> float:
    return float(u.inner(v, _TIMES).new().get(0.0))
