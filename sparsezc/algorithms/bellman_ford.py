"""Shortest paths over edges of negative length, and detection of negative cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._lengths import distances_of, refuse_long, refuse_overflow, refuse_reaching_infinity
from sparsezc.algorithms.loops import relaxation
from sparsezc.algorithms.sssp import nearest
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, indexunary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def bellman_ford(A: Matrix, source: Any) -> tuple[Vector, Vector]:
    """Compute the shortest paths from one vertex: each vertex's distance, and its predecessor on a shortest path.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j and its value the edge's length, which may be negative.
        An edge of infinite length cannot be used; integers have no infinity.
    source : int
        The vertex at which paths start, in 0..n-1.

    Returns
    -------
    distance : Vector, size n
        INT64 for BOOL and integer lengths, else the matrix's own type; vertices that are not reached have no entry.
    parent : Vector of INT64, size n
        The predecessor of each reached vertex on a shortest path; the source is its own.

    Raises
    ------
    InvalidValue
        The source reaches a cycle of negative length, which the message names; a length is NaN, or distances do not
        fit INT64.
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q the distances lowered in the round before, d all distances and p the parents::

        E = diag(q) A        over (any, plus): the lengths of paths with one more edge
        t = min of each column of E
        q<t < d> = t;  d<q> = q
        p<q> = the i of an entry of E diag(q), over (any, eq), that is true

    A cycle of parents has negative length, and one exists as soon as a distance falls in round n; the parents are
    checked for cycles in rounds 1, 2, 4, ... and from round n on. :func:`sssp`, which computes no parents, takes half
    the time.

    Source: R. Bellman, On a routing problem, 1958, doi:10.1090/qam/102435; B. Cherkassky, A. Goldberg, Negative-cycle
    detection algorithms, 1999, doi:10.1007/s101070050058.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (2, 1)], [4, 5, -3], nrows=3, ncols=3)
    >>> distance, parent = gb.algorithms.bellman_ford(A, 0)
    >>> distance.to_dict(), parent.to_dict()
    ({0: 0, 1: 2, 2: 5}, {0: 0, 1: 2, 2: 0})
    """
    n = _check.adjacency(A)
    source = _check.vertex(source, n)
    dtype, infinity = distances_of(A)
    refuse_long(A, dtype)
    if (found := nearest(A, np.array([source]), tree=True)) is not None:
        reached = found[0] < infinity
        return engine_loops.vector(found[0], reached), engine_loops.vector(found[1], reached.copy())
    distance, parent, cycle = _relaxed(A, np.array([source]))
    if cycle.size:
        said = [*cycle, cycle[0]] if cycle.size < 10 else [*cycle[:9], "..."]
        raise InvalidValue(f"A has a cycle of negative length: {' -> '.join(map(str, said))}")
    distance << distance.select(select.valuene[dtype], infinity)
    parent[source] = source
    return distance, parent


def find_negative_cycle(A: Matrix, source: Any = None) -> Vector:
    """Find a cycle whose lengths have a negative sum.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`bellman_ford` takes it.
    source : int, optional
        The search is limited to cycles that this vertex reaches; by default it is not.

    Returns
    -------
    Vector of INT64
        The vertices of a cycle in their order, each once; of size 0 if no such cycle exists.

    Raises
    ------
    InvalidValue
        A length is NaN, or distances do not fit INT64.
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    A cycle of parents, as :func:`bellman_ford` finds it. Source: B. Cherkassky, A. Goldberg, Negative-cycle detection
    algorithms, 1999, doi:10.1007/s101070050058.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 1)], [1, 2, -3], nrows=3, ncols=3)
    >>> sorted(gb.algorithms.find_negative_cycle(A).to_dense().tolist())
    [1, 2]
    """
    n = _check.adjacency(A)
    refuse_long(A, distances_of(A)[0])
    return Vector.from_dense(_relaxed(A, np.arange(n) if source is None else np.array([_check.vertex(source, n)]))[2])


def _relaxed(A: Matrix, sources: NDArray[np.int64]) -> tuple[Vector, Vector, NDArray[np.int64]]:
    """Return distances from the nearest source, infinity if unreachable, parents, and a cycle of parents or nothing.

    If a cycle of parents, which has negative length, was found, the distances are not final. A source has no parent
    unless a cycle leads back to it.
    """
    n, (dtype, never) = A.nrows, distances_of(A)
    kind = dtype.np_type.type
    found = engine_loops.run_loop(
        relaxation.relaxed, A, lambda: np.full(n, never, kind), lambda: np.full(n, -1), sources, values=kind
    )
    if found is None:
        distance, parent = Vector.from_scalar(never, n, dtype), Vector(datatypes.INT64, n)
        q = Vector.from_coo(sources, 0, dtype, size=n)
        distance(q.S) << q
        cycle = _relax(A, distance, parent, q)
    else:
        lengths, before, at = found
        distance, parent = engine_loops.vector(lengths), engine_loops.vector(before, before >= 0)
        cycle = np.empty(0, np.int64) if at < 0 else _around(before, at)
    if n and dtype is datatypes.INT64:
        refuse_overflow(A, distance.reduce(monoid.min).new().value)
        if not cycle.size:
            refuse_reaching_infinity(A, distance)
    return distance, parent, cycle


def _relax(A: Matrix, distance: Vector, parent: Vector, q: Vector) -> NDArray[np.int64]:
    """Lower distances until none changes or until parents form a cycle; return this cycle, or an empty array."""
    n, dtype = distance.size, distance.dtype
    t, better = Vector(dtype, n), Vector(datatypes.BOOL, n)
    cycle, rounds = np.empty(0, np.int64), 0
    while q.nvals and not cycle.size:
        # E = diag(q) A
        E = q.diag().mxm(A, semiring.any_plus[dtype]).new()
        # t = min of each column of E
        t << E.reduce_columnwise(monoid.min)
        # q<t < d> = t;  d<q> = q
        better << t.ewise_mult(distance, binary.lt)
        q(better.V, replace=True) << t
        distance(q.S) << q
        # p<q> = the i of an entry of E diag(q) that is true
        tight = E.mxm(q.diag(), semiring.any_eq).new()
        tight << tight.select(select.valueeq, True)
        parent(q.S) << Vector.from_scalar(True, n, datatypes.BOOL).vxm(tight, semiring.ss.any_secondi)
        rounds += 1
        if rounds & (rounds - 1) == 0 or rounds >= n:
            cycle = _cycle(parent)
    return cycle


def _cycle(parent: Vector) -> NDArray[np.int64]:
    """Return a cycle of parents in the order of its edges; an empty array if there is none."""
    # u = p, or the vertex itself without a parent;  u = u(u): after n steps u is without a parent or on a cycle
    up = Vector.from_scalar(0, parent.size, datatypes.INT64)
    up << up.apply(indexunary.rowindex)
    up(parent.S) << parent
    for _ in range(parent.size.bit_length()):
        up << up[up.to_coo()[1]]
    ends = np.unique(up.to_coo()[1])
    parents = parent.to_dense(fill_value=-1)
    on = ends[parents[ends] >= 0]
    return _around(parents, int(on[0])) if on.size else np.empty(0, np.int64)


def _around(parents: NDArray[np.int64], vertex: int) -> NDArray[np.int64]:
    """Return the cycle of parents that contains a vertex, in the order of its edges."""
    back = [vertex]
    while (v := int(parents[back[-1]])) != back[0]:
        back.append(v)
    return np.array(back[::-1], np.int64)
