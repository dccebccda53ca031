"""Neighbourhoods: the vertices within a few hops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._searches import are_several
from sparsezc.algorithms.bfs import near, reached
from sparsezc.algorithms.loops.searches import induced
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, semiring
from sparsezc.semirings.types import datatypes


def k_hop(A: Matrix, source: Any, radius: Any = 1, *, center: bool = True, undirected: bool = False) -> Vector:
    """Find the vertices within `radius` hops of a centre, or of the nearest of several, with their distances.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    source : int, or iterable of int
        The centre, in 0..n-1, or several; :func:`bfs` of several has the hops from each.
    radius : int
        The most hops, at least 0.
    center : bool
        The result includes the centres.
    undirected : bool
        Follow edges in both directions.

    Returns
    -------
    Vector of INT32, size n
        Hops from the nearest centre; vertices farther than `radius` have no entry.

    Raises
    ------
    IndexOutOfBound
        `source`, or one of several, is not a vertex of the graph.
    InvalidValue
        `radius` is negative.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    A breadth-first search that ends after `radius` levels. With q the vertices first met at depth d::

        level<q> = d
        q<!level> = q'A  or  A q      over (any, pair)

    Source: J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, chapter 2, SIAM 2011,
    doi:10.1137/1.9780898719918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.k_hop(A, 1, radius=1, undirected=True).to_dict()
    {0: 1, 1: 0, 2: 1}
    >>> gb.algorithms.k_hop(A, [0, 2]).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 1}
    """
    sources, radius = _checked(A, source, radius)
    level = near(A, sources, radius) if facts.is_symmetric(A) or not undirected else None
    if level is None:
        level = _levels(A, sources, radius, undirected)
    if not center:
        del level[sources]
    return level


def ego_graph(A: Matrix, source: Any, radius: Any = 1, *, center: bool = True, undirected: bool = False) -> Matrix:
    """Return the edges between the vertices within `radius` hops of a centre, or of the nearest of several.

    For one centre this is NetworkX's ``ego_graph``.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    source : int, or iterable of int
        The centre, in 0..n-1, or several.
    radius : int
        The most hops, at least 0.
    center : bool
        The result includes the edges of the centres.
    undirected : bool
        Follow edges in both directions.

    Returns
    -------
    Matrix, shape (n, n), of the type of `A`
        The entries of `A` between the vertices that :func:`k_hop` finds, in their rows and columns of `A`.

    Raises
    ------
    IndexOutOfBound
        `source`, or one of several, is not a vertex of the graph.
    InvalidValue
        `radius` is negative.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With D the diagonal matrix of these vertices::

        D A D                over (any, second), (any, first)

    Source: J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM 2011,
    doi:10.1137/1.9780898719918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 1), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.ego_graph(A, 1, radius=1).to_edgelist(values=False)[0].tolist()
    [[1, 2], [2, 1]]
    """
    sources, hops = _checked(A, source, radius)
    can_run = not A.dtype.is_udt and (facts.is_symmetric(A) or not undirected)
    if can_run and (found := reached(A, sources, hops)) is not None:
        _, met, queue, count = found
        rows = np.sort(queue[0 if center else sources.size : count])
        met[queue[:count]] = False
        between = engine_loops.run_loop(induced, A, rows, lambda: met, values=A.dtype.np_type)
        if between is not None:
            begin, ids, values = between
            return engine_loops.matrix_of_rows(rows, begin, ids, values, A.nrows)
    D = k_hop(A, source, radius, center=center, undirected=undirected).diag()
    # D A D
    E: Matrix = D.mxm(A, semiring.any_second[A.dtype]).new()
    E << E.mxm(D, semiring.any_first[A.dtype])
    return E


def _checked(A: Matrix, source: Any, radius: Any) -> tuple[NDArray[np.int64], int]:
    """Check the arguments; return the sources, each once, and the radius, at most the number of vertices."""
    n = _check.adjacency(A)
    if are_several(source):
        sources = np.unique(_check.vertices(source, n, "source"))
    else:
        sources = np.array([_check.vertex(source, n)])
    return sources, min(_check.count(radius, "radius"), n)


def _levels(A: Matrix, sources: NDArray[np.int64], radius: int, undirected: bool) -> Vector:
    """Count hops from the nearest source to the vertices within `radius`, by statements."""
    level = Vector(datatypes.INT32, A.nrows)
    q: Vector = Vector.from_coo(sources, True, size=A.nrows)
    for depth in range(radius + 1):
        # level<q> = d
        level(q.S) << depth
        if depth == radius or q.nvals == 0:
            break
        # q<!level> = q'A  or  A q
        met = q.vxm(A, semiring.any_pair[datatypes.BOOL]).new(mask=~level.S)
        if undirected and not facts.is_symmetric(A):
            met(~level.S, binary.lor) << A.mxv(q, semiring.any_pair[datatypes.BOOL])
        q = met
    return level
