"""Strongly connected components."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms._communities import positions
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import transposed
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.loops import connectivity
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, indexunary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def strongly_connected_components(A: Matrix) -> Vector:
    """Label every vertex with the smallest vertex of its strongly connected component.

    Two vertices are in the same component if each reaches the other along edges.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex: the smallest vertex number in its component.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Vertices without an edge from or to the remaining vertices are components of their own, and are trimmed. The
    component of a vertex of largest degree is the intersection of the vertices that it reaches and those that reach it.
    The other vertices are coloured, each by the smallest vertex that reaches it. A vertex of its own colour is a root,
    and its component consists of the vertices of its colour that reach it::

        t = q'A              over (min, first): colours spread along edges
        c<t < c> = t
        t = A q              over (max, second): no colour across an out-edge is larger, so the largest is equal
        q = t where t == c   or t has no entry

    The transpose is formed once. A long path takes as many rounds as it has edges. If `A` is known to be symmetric, the
    result is that of :func:`connected_components`.

    Source: G. Slota, S. Rajamanickam, K. Madduri, BFS and coloring-based parallel algorithms for strongly connected
    components and related problems, IPDPS 2014, doi:10.1109/IPDPS.2014.64 (Multistep).

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(3, 1), (1, 4), (4, 3), (4, 0)], nrows=5, ncols=5)
    >>> gb.algorithms.strongly_connected_components(A).to_dense().tolist()
    [0, 1, 2, 1, 1]
    """
    n = _check.adjacency(A)
    if facts.is_symmetric(A):
        return connected_components(A)
    if (found := engine_loops.run_loop(connectivity.strong_components, A)) is not None:
        return engine_loops.vector(found)
    label = positions(A)
    live = Vector.from_scalar(True, n, datatypes.BOOL)
    B = transposed(A)
    _trim(A, B, live)
    if live.nvals:
        _giant(A, B, live, label)
    colour, q, t = (Vector(datatypes.INT64, n) for _ in range(3))
    chosen = Vector(datatypes.BOOL, n)
    while live.nvals:
        # q = c = 0, 1, ..., n-1, but -1 for finished vertices
        colour << -1
        q << live.apply(indexunary.rowindex)
        colour(q.S) << q
        while q.nvals > 0:
            # t = q'A
            t << q.vxm(A, semiring.min_first)
            # q<t < c> = t
            chosen << t.ewise_mult(colour, binary.lt)
            q(chosen.V, replace=True) << t
            # c<q> = q
            colour(q.S) << q
        # q = c at vertices of their own colour
        t << live.apply(indexunary.rowindex)
        chosen << t.ewise_mult(colour, binary.eq)
        q(chosen.V, replace=True) << t
        while q.nvals > 0:
            label(q.S) << q
            colour(q.S) << -1
            # t = A q
            t << q.vxm(B, semiring.max_first)
            # q<t == c> = t
            chosen << t.ewise_mult(colour, binary.eq)
            q(chosen.V, replace=True) << t
        # c<c >= 0> is live
        q << colour.select(select.valuege, 0)
        live(q.S, replace=True) << live
        _trim(A, B, live)
    return label


def _trim(A: Matrix, B: Matrix, live: Vector) -> None:
    """Remove from `live` vertices without an edge from or without one to a live vertex, until none such is left."""
    before = -1
    while live.nvals != before:
        before = live.nvals
        # p<p> = p'A;  p<p> = A p
        for edges in (A, B):
            live(live.S, replace=True) << live.vxm(edges, semiring.any_pair[datatypes.BOOL])


def _giant(A: Matrix, B: Matrix, live: Vector, label: Vector) -> None:
    """Label the component of a live vertex of largest degree and remove it from `live`."""
    degree = out_degree(A).dup(mask=live.S)
    largest = degree.reduce(monoid.max).new().value
    pivot = int(degree.select(select.valueeq, largest).new().to_coo()[0][0])
    component = _reach(B, pivot, _reach(A, pivot, live))
    label(component.S) << component.apply(indexunary.rowindex).new(datatypes.INT64).reduce(monoid.min).new().value
    live(~component.S, replace=True) << live


def _reach(A: Matrix, start: int, within: Vector) -> Vector:
    """Find the vertices of `within` that are reachable from `start` by paths inside `within`."""
    met = Vector(datatypes.BOOL, within.size)
    met(~within.S) << False
    q = Vector(datatypes.BOOL, within.size)
    q[start] = True
    while q.nvals:
        # p<q> = true
        met(q.S) << True
        # q<!p> = q'A
        q(~met.S, replace=True) << q.vxm(A, semiring.any_pair[datatypes.BOOL])
    met << met.select(select.valueeq, True)
    return met
