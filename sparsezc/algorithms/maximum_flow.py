"""Maximum flows and minimum cuts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._rounds import rounds
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DomainMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_LARGE = 1 << 10  # times the flow: capacities above cost it more than 10 of its 53 bits


def maximum_flow(A: Matrix, s: Any, t: Any) -> tuple[Any, Matrix]:
    """Send as much as the capacities of the edges allow from one vertex to another.

    Parameters
    ----------
    A : Matrix, shape (n, n), any real dtype
        Adjacency matrix: the value of an entry (i, j) is the capacity of the edge from i to j, >= 0; it may be
        infinite. Loops carry nothing.
    s, t : int
        Source and sink, two vertices in 0..n-1.

    Returns
    -------
    value : int or float
        What arrives at `t`.
    flow : Matrix of INT64 or FP64, shape (n, n)
        What each edge carries, entries > 0 only: FP64 where the capacities are floating-point numbers. Of two opposite
        edges at most one carries anything.

    Raises
    ------
    InvalidValue
        `s` is `t`, a capacity is negative or NaN, a path of infinite capacity joins `s` to `t`, or capacities do not
        fit INT64, nor their sums FP64.
    DomainMismatch
        `A` is complex.
    IndexOutOfBound
        `s` or `t` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Push-relabel in waves. With R the residual capacities, e the excess of each vertex, at first what the edges of s
    can carry, and h the hops to t over edges with R > 0, found by a breadth-first search from t, a wave is::

        L = R where R > 0 and h(i) = h(j) + 1
        for each distance from t, from the largest on:
            F = what e fills of the rows of L at this distance, in the order of their entries
            e = e - F 1 + F' 1
        R = R - F + F'                     with F all that the wave has pushed

    Farthest vertices come first, so each has received all that it will when it pushes: once a wave. The wave itself
    runs on the host over the entries of L, as a distance holds few of them in graphs that have many distances.

    A vertex that keeps excess has filled its rows of L, so the next search finds it farther from t: heights only rise,
    and when no vertex with excess reaches t the cut is found. What excess there is goes back to s in the same way.
    Rows are filled edge by edge, never in proportion, so that floating-point flows end too. Floating-point capacities
    far above the flow are first lowered to twice what a cut lets through, which changes no least cut: what a vertex
    receives and what it sends then agree to about 1e-12 of the flow.

    Source: A. Goldberg, R. Tarjan, A new approach to the maximum-flow problem, JACM 35, 1988, section 3,
    doi:10.1145/48014.61051; global relabelling: B. Cherkassky, A. Goldberg, On implementing the push-relabel method
    for the maximum flow problem, Algorithmica 19, 1997, section 3, doi:10.1007/PL00009180.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], [4, 1, 2, 1, 5], nrows=4, ncols=4)
    >>> value, flow = gb.algorithms.maximum_flow(A, 0, 3)
    >>> value, flow.get(0, 1), flow.get(2, 3)
    (4, 3, 3)
    """
    C, s, t = _network(A, s, t)
    C, R, e, value, _ = _preflow(C, s, t)
    # what is left goes back to s
    _drain(R, e, s)
    # F = C - R where that is more than 0
    F: Matrix = C.ewise_mult(R, binary.minus).new()
    F << F.select(select.valuegt, 0)
    return value, F


def minimum_cut(A: Matrix, s: Any, t: Any) -> tuple[Any, Vector]:
    """Find the edges of least capacity whose removal leaves no path from one vertex to another.

    Parameters
    ----------
    A : Matrix, shape (n, n), any real dtype
        Adjacency matrix with capacities, as :func:`maximum_flow` takes it.
    s, t : int
        Source and sink, two vertices in 0..n-1.

    Returns
    -------
    value : int or float
        The sum of the capacities of the edges that lead from the side of `s` to the side of `t`.
    side : Vector of BOOL, size n
        True at the vertices on the side of `s`, no entry at the others. Of several minimum cuts it is the one nearest
        to `t`.

    Raises
    ------
    InvalidValue, DomainMismatch, IndexOutOfBound, DimensionMismatch
        As of :func:`maximum_flow`.

    Notes
    -----
    The first half of :func:`maximum_flow`: the side of t are the vertices that still reach it over edges with R > 0.

    Source: L. Ford, D. Fulkerson, Maximal flow through a network, 1956, doi:10.4153/CJM-1956-045-5.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], [4, 1, 2, 1, 5], nrows=4, ncols=4)
    >>> value, side = gb.algorithms.minimum_cut(A, 0, 3)
    >>> value, side.to_dict()
    (4, {0: True, 1: True})
    """
    C, s, t = _network(A, s, t)
    C, _, _, value, h = _preflow(C, s, t)
    side = Vector(datatypes.BOOL, C.nrows)
    side(~h.S) << True
    return value, side


def _preflow(C: Matrix, s: int, t: int) -> tuple[Matrix, Matrix, Vector, Any, Vector]:
    """Send what t can receive; return the capacities, the residual ones, the excess, what arrived, and the hops to t.

    Beside a capacity far above the flow, FP64 would round the flow away. So such capacities are lowered, to twice what
    a cut lets through: no edge carries that much, and the least cuts stay the same.
    """
    while True:
        R, e = _saturated(C, s)
        value, h = _drain(R, e, t)
        if C.dtype is datatypes.INT64:
            return C, R, e, value, h
        into = C.mxv(h, semiring.plus_first[C.dtype]).new(mask=~h.S)
        cut = float(into.reduce(monoid.plus).new().get(0.0))
        most = float(C.reduce_scalar(monoid.max).new().get(0.0))
        if cut == 0 or most <= _LARGE * cut:
            return C, R, e, value, h
        C = C.apply(binary.min, right=2 * cut).new()


def _network(A: Matrix, s: Any, t: Any) -> tuple[Matrix, int, int]:
    """Check the arguments; return the capacities above 0 without loops, INT64 or FP64, infinite ones made finite."""
    n = _check.adjacency(A)
    if A.dtype.is_complex:
        raise DomainMismatch(f"A is of {A.dtype}; real capacities are needed")
    s, t = _check.vertex(s, n, "s"), _check.vertex(t, n, "t")
    if s == t:
        raise InvalidValue(f"s and t are both {s}; two different vertices are needed")
    if A.nvals and (least := A.reduce_scalar(monoid.min).new().get()) < 0:
        raise InvalidValue(f"A has a capacity of {least}; capacities >= 0 are needed")
    if A.dtype.is_integer or A.dtype is datatypes.BOOL:
        most = int(A.reduce_scalar(monoid.max).new().get(0))
        if most * min(2 * A.nvals, 2 + 2 * A[s, :].new().nvals) >= 2**63:
            raise InvalidValue(f"A has capacities up to {most}: flows may not fit INT64")
        C = A.select(select.offdiag).new().dup(datatypes.INT64)
    else:
        if A.apply("isnan").new().reduce_scalar(monoid.lor).new().get(False):
            raise InvalidValue("A has capacities that are NaN; numbers >= 0 are needed")
        C = _finite(A.select(select.offdiag).new().dup(datatypes.FP64), s, t)
    positive: Matrix = C.select(select.valuegt, 0).new()
    return positive, s, t


def _finite(C: Matrix, s: int, t: int) -> Matrix:
    """Lower capacities, infinite ones too, to twice a sum that no flow exceeds."""
    bounded = C.select(select.valuelt, np.inf).new()
    endless: Matrix = C.select(select.valueeq, np.inf).new()
    if endless.nvals and _hops(endless, s).get(t) is not None:
        raise InvalidValue(f"a path of infinite capacity leads from s = {s} to t = {t}; its flow has no maximum")
    # what leaves s and what enters t; where both are infinite, some of all others stop the flow
    ends = C[s, :].new(), C[:, t].new()
    most = min(float(v.reduce(monoid.plus).new().get(0.0)) for v in ends)
    if most == np.inf:
        most = float(bounded.reduce_scalar(monoid.plus).new().get(0.0))
    if not 4 * most < np.inf:
        largest = bounded.reduce_scalar(monoid.max).new().get(0.0)
        raise InvalidValue(f"A has capacities up to {largest:g}: sums of them may not fit FP64; divide them")
    # without a flow any number will do
    made: Matrix = C.apply(binary.min, right=2 * most or 1.0).new()
    return made


def _hops(A: Matrix, source: int) -> Vector:
    """Count the hops from a vertex."""
    h, q = A._vector(datatypes.INT64), A._vector(datatypes.BOOL)
    q[source] = True
    for depth in rounds(q):
        # h<q> = d
        h(q.S) << depth
        # q<!h> = q'A
        q(~h.S, replace=True) << q.vxm(A, semiring.any_pair[datatypes.BOOL])
    return h


def _saturated(C: Matrix, s: int) -> tuple[Matrix, Vector]:
    """Fill the edges of s; return the residual capacities, with an entry both ways, and the excess at their ends."""
    # R = C, and 0 at edges that C has the other way only
    R: Matrix = C.T.apply(binary.times, right=0).new()
    R(binary.plus) << C
    e: Vector = C[s, :].new()
    # the row of s alone
    F: Matrix = C.select(select.rowle, s).new().select(select.rowgt, s - 1).new()
    _push(R, F)
    return R, e


def _push(R: Matrix, F: Matrix) -> None:
    """Push a flow through residual capacities."""
    # R = R - F + F'
    R(binary.minus) << F
    R(binary.plus) << F.T


def _drain(R: Matrix, e: Vector, target: int) -> tuple[Any, Vector]:
    """Push excess to a vertex in waves until none that is left reaches it.

    Returns
    -------
    arrived : number
        What the vertex received.
    h : Vector
        Hops to it over edges with capacity left; no entry at vertices that do not reach it.
    """
    arrived = e.get(target, 0)
    del e[target]
    while True:
        open = R.select(select.valuegt, 0).new()
        h = _hops(open.T.new(), target)
        q = e.dup(mask=h.S)
        if q.nvals == 0:
            return arrived, h
        # L = R where R > 0 and h(i) = h(j) + 1
        ends = open.ewise_mult(h, binary.second[datatypes.INT64]).new()
        step = h.ewise_mult(ends, binary.minus).new().select(select.valueeq, 1).new()
        F, left = _wave(open.dup(mask=step.S), h, e)
        arrived += left[target].item()
        left[target] = 0
        some = np.flatnonzero(left)
        e << Vector.from_coo(some, left[some], e.dtype, size=e.size)
        # R = R - F + F'
        _push(R, F)


def _wave(L: Matrix, h: Vector, e: Vector) -> tuple[Matrix, NDArray[Any]]:
    """Push excess along the entries of L, the farthest vertices first.

    Returns
    -------
    F : Matrix
        What each entry gets, where it gets anything.
    left : array
        The excess of every vertex afterwards: exactly 0 where not all entries of its row are filled, though a sum
        would leave a rounding error.
    """
    height, excess = h.to_dense(0), e.to_dense(0)
    i, j, c = L.to_coo()
    order = np.argsort(-height[i], kind="stable")  # entries of a row stay together
    i, j, c = i[order].astype(np.int64), j[order].astype(np.int64), c[order]
    # what the entries up to each of a row take: sums within rows, of 1, 2, 4 ... entries
    through, step = c.copy(), 1
    with np.errstate(over="ignore"):  # a sum that is infinite is more than a row has, which is all that matters
        while (same := i[step:] == i[:-step]).any():
            through[step:] += np.where(same, through[:-step], 0)
            step *= 2
    before = through - c
    is_last = np.r_[i[1:] != i[:-1], True]
    distances = np.flatnonzero(np.r_[True, np.diff(height[i]) != 0, True])
    spent = np.zeros_like(c)
    for first, last in pairwise(distances.tolist()):
        part = slice(first, last)
        have = excess[i[part]]
        if have.any():
            spent[part] = np.clip(have - before[part], 0, c[part])
            at = is_last[part]
            excess[i[part][at]] = np.maximum(have - through[part], 0)[at]
            np.add.at(excess, j[part], spent[part])
    given = np.empty_like(spent)
    given[order] = spent
    # on the engine of L
    F: Matrix = ops.with_values(L, Vector.from_dense(given)).new()
    F << F.select(select.valuegt, 0)
    return F, excess
