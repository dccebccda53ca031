"""A maximal independent set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops.orders import first_set
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, semiring
from sparsezc.semirings.types import datatypes


def maximal_independent_set(A: Matrix, nodes: Iterable[Any] | None = None, seed: int | None = None) -> Vector:
    """Find a set of vertices, no two of which are neighbours, to which no vertex can be added.

    The direction of edges is ignored; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    nodes : iterable of int, optional
        Vertices that must belong to the set.
    seed : int, optional
        Chooses among the many sets; the same seed gives the same set on every engine. Random by default.

    Returns
    -------
    Vector of BOOL, size n
        True for each member; other vertices have no entry.

    Raises
    ------
    InvalidValue
        Two of `nodes` are neighbours, or `seed` is not from 0 to 2**64 - 1.
    IndexOutOfBound
        One of `nodes` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the undirected simple graph, and q random numbers, each unique, of the vertices that are neither members nor
    neighbours of members::

        t<q> = q'S           over (max, first): the largest number of the neighbours
        m = q where q > t    or where t has no entry: these vertices become members
        q<!m, !m'S> = q

    The set is that of the greedy algorithm that visits vertices by descending number, in O(log^2 n) rounds.

    Source: M. Luby, A simple parallel algorithm for the maximal independent set problem, 1986,
    doi:10.1137/0215074; G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and matching are
    parallel on average, SPAA 2012, doi:10.1145/2312005.2312058.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (0, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.maximal_independent_set(A, nodes=[1]).to_dict()
    {1: True, 2: True, 3: True}
    """
    n = _check.adjacency(A)
    S = simple(A)
    order = random_order(n, seed, "maximal_independent_set")
    chosen = Vector(datatypes.BOOL, n)
    if nodes is not None:
        for v in _check.vertices(nodes, n, "nodes").tolist():
            chosen[v] = True
        beside = chosen.vxm(S, semiring.any_pair[datatypes.BOOL]).new()
        if (clash := beside.ewise_mult(chosen, binary.land).new()).nvals:
            raise InvalidValue(f"nodes: {clash.to_coo()[0][0]} has a neighbour among them; an independent set has none")
        order(~beside.S, replace=True) << order
        order(~chosen.S, replace=True) << order
    chosen(first_independent_set(S, order).S) << True
    return chosen


def random_order(n: int, seed: int | None, where: str) -> Vector:
    """Draw a random permutation of 0..n-1: a unique number for each vertex, INT64."""
    return Vector.from_dense(_check.generator(seed, where).permutation(n).astype(np.int64))


def first_independent_set(S: Matrix, order: Vector) -> Vector:
    """Find the set of the greedy algorithm that visits vertices by descending number in `order`; S is symmetric.

    The entries of `order` are different numbers in 0..n-1. Vertices without an entry are left out.
    """

    def visited() -> NDArray[np.int64]:
        at, numbers = order.to_coo()
        descending = np.full(order.size, -1)
        descending[order.size - 1 - numbers] = at
        return descending[descending >= 0]

    members = Vector(datatypes.BOOL, order.size)
    if (found := engine_loops.run_loop(first_set, S, visited)) is not None:
        members[np.flatnonzero(found)] = True
        return members
    q = order.dup()
    around, won = Vector(datatypes.INT64, order.size), Vector(datatypes.INT64, order.size)
    lost = Vector(datatypes.BOOL, order.size)
    while q.nvals:
        # t<q> = q'S
        around(q.S, replace=True) << q.vxm(S, semiring.max_first)
        # m = q where not q < t
        lost << q.ewise_mult(around, binary.lt)
        won(~lost.V, replace=True) << q
        members(won.S) << True
        # q<!m, !m'S> = q
        q(lost.V, replace=True) << q
        lost << won.vxm(S, semiring.any_pair[datatypes.BOOL])
        q(~lost.S, replace=True) << q
    return members
