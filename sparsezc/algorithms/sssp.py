"""Single-source shortest paths."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._lengths import distances_of, refuse_overflow
from sparsezc.errors import InvalidValue
from sparsezc.matrix import Matrix
from sparsezc.semirings import binary, monoid, select, semiring, types
from sparsezc.vector import Vector


def sssp(A: Matrix, source: Any) -> Vector:
    """Length of a shortest path from one vertex to every vertex that it reaches.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j and its value the edge's length. Lengths may be
        negative as long as no cycle that the source reaches has a negative sum. A length of infinity is an edge that
        cannot be used; integers have none.
    source : int
        Where the paths start, in 0..n-1.

    Returns
    -------
    Vector, size n
        The distances, 0 at the source; vertices that are not reached have no entry. INT64 for BOOL and integer
        lengths, else the matrix's own type (FP32 or FP64).

    Raises
    ------
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.
    InvalidValue
        A length is NaN, a cycle of negative length is reached, or distances do not fit INT64.

    Notes
    -----
    Bellman-Ford over the vertices whose distance fell in the round before, q::

        t = q'A              over (min, plus)
        q<t < d> = t
        d<q> = q

    Source: M. Kumar, J. Moreira, P. Pattnaik, GraphBLAS: handling performance concerns in large graph analytics,
    CF 2018, doi:10.1145/3203217.3205342; R. Bellman, On a routing problem, 1958, doi:10.1090/qam/102435.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)], [1, 7, 2], nrows=4, ncols=4)
    >>> gb.algorithms.sssp(A, 0).to_dict()
    {0: 0, 1: 1, 2: 3}
    """
    n = _check.adjacency(A)
    source = _check.vertex(source, n)
    dtype, infinity = distances_of(A)
    distance = Vector.from_scalar(infinity, n, dtype)
    distance[source] = 0
    frontier = Vector(dtype, n)
    frontier[source] = 0
    reached = Vector(dtype, n)
    better = Vector(types.BOOL, n)
    rounds = 0
    while frontier.nvals and rounds < n:
        # t = q'A
        reached << frontier.vxm(A, semiring.min_plus[dtype])
        # q<t < d> = t
        better << reached.ewise_mult(distance, binary.lt)
        frontier(better.V, replace=True) << reached
        # d<q> = q
        distance(frontier.S) << frontier
        rounds += 1
    if dtype is types.INT64:
        refuse_overflow(A, distance.reduce(monoid.min).value)
    if frontier.nvals:
        vertex = int(frontier.to_coo()[0][0])
        raise InvalidValue(
            f"the distance of vertex {vertex} still falls after {n} rounds: A has a cycle of negative length"
        )
    # absent where d is infinite
    frontier << distance.select(select.valuene[dtype], infinity)
    return frontier
