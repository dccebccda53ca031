"""Maximum flows and minimum cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._frontier_loops import rounds
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

_LARGE = 1 << 10  # ratio of capacity to flow; beyond it the flow loses more than 10 of its 53 bits


def maximum_flow(A: Matrix, s: Any, t: Any) -> tuple[Any, Matrix]:
    """Find the largest flow from one vertex to another that the capacities of the edges allow.

    Parameters
    ----------
    A : Matrix, shape (n, n), any real dtype
        Adjacency matrix: the value of an entry (i, j) is the capacity of the edge from i to j, >= 0; it may be
        infinite. Loops carry no flow.
    s, t : int
        Source and sink, two vertices in 0..n-1.

    Returns
    -------
    value : int or float
        The flow that arrives at `t`.
    flow : Matrix of INT64 or FP64, shape (n, n)
        The flow of each edge, entries > 0 only; FP64 if the capacities are floating-point numbers. Of two opposite
        edges at most one has flow.

    Raises
    ------
    InvalidValue
        `s` is `t`, a capacity is negative or NaN, a path of infinite capacity leads from `s` to `t`, flows may not fit
        INT64, or sums of floating-point capacities may not fit FP64.
    DomainMismatch
        `A` is complex.
    IndexOutOfBound
        `s` or `t` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With R the capacities, and 0 at edges of which A has only the opposite, ``ops.net_flow`` computes N, the flow of
    each edge less that of its opposite; then ``F = N where N > 0``.

    It uses push-relabel: vertices with excess, at first those next to s, push it over edges with remaining capacity to
    vertices one hop nearer to t, or are relabelled, higher, if there are none; now and then searches from t correct the
    heights. Excess that cannot reach t flows back to s in the same way. On a GPU all vertices with excess push at once,
    in rounds, and a vertex adds up what it receives in the order of its entries, so that results do not depend on
    timing.

    Floating-point capacities far above the flow are first lowered to twice the flow, which changes no minimum cut. The
    flows into and out of a vertex then agree to about 1e-12 of the total flow.

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
    value, _, N = _sent(*_network(A, s, t))
    # F = N where N > 0
    F: Matrix = N.select(select.valuegt, 0).new()
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
        True for the vertices on the side of `s`; the others have no entry. Of several minimum cuts it is the one
        nearest to `t`.

    Raises
    ------
    InvalidValue, DomainMismatch, IndexOutOfBound, DimensionMismatch
        As of :func:`maximum_flow`.

    Notes
    -----
    The side of t consists of the vertices that reach t over edges with R > N, the net flow of :func:`maximum_flow`.

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
    value, R, N = _sent(C, s, t)
    open: Matrix = R.ewise_mult(N, binary.gt).new()
    reached = _hops(open.select(select.valueeq, True).new().T.new(), t)
    side = Vector(datatypes.BOOL, C.nrows)
    side(~reached.S) << True
    return value, side


def _sent(C: Matrix, s: int, t: int) -> tuple[Any, Matrix, Matrix]:
    """Return the flow into t, the capacities with entries in both directions, and the net flows, in both directions.

    Beside a capacity far above the flow, FP64 would round the flow away. Therefore such capacities are lowered to twice
    the flow, which no edge carries, so that the minimum cuts stay the same.
    """
    while True:
        R = C
        if not facts.is_symmetric(C):
            # R = C, and 0 at edges of which C has only the opposite
            R = C.T.apply(binary.times, right=0).new()
            R(binary.plus) << C
        N: Matrix = ops.net_flow(R, s, t).new()
        value = C.dtype.np_type.type(N[t, :].new().apply(unary.ainv).new().reduce(monoid.plus).new().get(0)).item()
        if C.dtype is datatypes.INT64 or value == 0 or _most(C) <= _LARGE * value:
            return value, R, N
        C = C.apply(binary.min, right=2 * value).new()


def _most(C: Matrix) -> float:
    return float(C.reduce_scalar(monoid.max).new().get(0))


def _network(A: Matrix, s: Any, t: Any) -> tuple[Matrix, int, int]:
    """Check the arguments; return the capacities, INT64 or FP64, infinite ones made finite."""
    n = _check.adjacency(A)
    if A.dtype.is_complex:
        raise DomainMismatch(f"A is of {A.dtype}; real capacities are needed")
    s, t = _check.vertex(s, n, "s"), _check.vertex(t, n, "t")
    if s == t:
        raise InvalidValue(f"s and t are both {s}; two different vertices are needed")
    whole = A.dtype.is_integer or A.dtype is datatypes.BOOL
    least = lengths_of(A).least if whole else A.reduce_scalar(monoid.min).new().get(0)
    if least < 0:
        found = _check.first_of(A, A.apply(binary.lt, right=0).new())
        raise InvalidValue(f"A has a capacity of {found}; capacities >= 0 are needed")
    if whole:
        most = int(lengths_of(A).most)
        if most * min(2 * A.nvals, 2 + 2 * A[s, :].new().nvals) >= 2**63:
            raise InvalidValue(f"A has capacities up to {most}: flows may not fit INT64")
        C = A if A.dtype is datatypes.INT64 else A.dup(datatypes.INT64)
    else:
        if (is_nan := A.apply(unary.isnan).new()).reduce_scalar(monoid.lor).new().get(False):
            raise InvalidValue(f"A has a capacity of {_check.first_of(A, is_nan)}; numbers >= 0 are needed")
        C = _finite(A.select(select.offdiag).new().dup(datatypes.FP64), s, t)
    return C, s, t


def _finite(C: Matrix, s: int, t: int) -> Matrix:
    """Lower capacities, also infinite ones, to at most twice a bound of the flow."""
    bounded = C.select(select.valuelt, np.inf).new()
    endless: Matrix = C.select(select.valueeq, np.inf).new()
    if endless.nvals and _hops(endless, s).get(t) is not None:
        raise InvalidValue(f"a path of infinite capacity leads from s = {s} to t = {t}; its flow has no maximum")
    # bounds: the capacities out of s, and into t; if both are infinite, all finite capacities together
    ends = C[s, :].new(), C[:, t].new()
    most = min(float(v.reduce(monoid.plus).new().get(0.0)) for v in ends)
    if most == np.inf:
        most = float(bounded.reduce_scalar(monoid.plus).new().get(0.0))
    if not 4 * most < np.inf:
        largest = bounded.reduce_scalar(monoid.max).new().get(0.0)
        raise InvalidValue(f"A has capacities up to {largest:g}: sums of them may not fit FP64; divide them")
    # if no flow is possible, any positive number suffices
    made: Matrix = C.apply(binary.min, right=2 * most or 1.0).new()
    return made


def _hops(A: Matrix, source: int) -> Vector:
    """Count the hops from a vertex to every vertex reachable from it."""
    h, q = forms.vector_beside(A, datatypes.INT64), forms.vector_beside(A, datatypes.BOOL)
    q[source] = True
    for depth in rounds(q):
        # h<q> = d
        h(q.S) << depth
        # q<!h> = q'A
        q(~h.S, replace=True) << q.vxm(A, semiring.any_pair[datatypes.BOOL])
    return h
