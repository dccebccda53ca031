"""Core numbers and k-cores."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops.orders import cores
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

#: Larger than any degree: marks removed vertices.
GONE = 2**61


def core_number(A: Matrix) -> Vector:
    """Compute each vertex's core number: the largest k for which the vertex belongs to the k-core.

    The k-core is the largest subgraph in which every vertex has at least k neighbours. The direction of edges is
    ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    Vector of INT64, size n
        The core numbers, an entry for every vertex; 0 for vertices without neighbours.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Each step peels off all vertices of too small a degree at once. With d the degrees in the remaining graph, and q the
    vertices whose degree is at most k::

        core<q> = k;  d<q> = gone
        t = q'S              over (plus, pair)
        d = d - t
        q = d<t> where d <= k

    NetworkX counts a pair of opposite edges of a directed graph twice, this function once.

    Source: S. Seidman, Network structure and minimum degree, 1983, doi:10.1016/0378-8733(83)90028-X;
    N. Dasari, D. Ranjan, M. Zubair, ParK, IEEE Big Data 2014, doi:10.1109/BigData.2014.7004366.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    >>> gb.algorithms.core_number(A).to_dense().tolist()
    [2, 2, 2, 1, 0]
    """
    n = _check.adjacency(A)
    S = simple(A)
    if (found := engine_loops.run_loop(cores, S)) is not None:
        return engine_loops.vector(found)
    core = Vector.from_scalar(0, n, datatypes.INT64)
    # d: 0 without neighbours, and larger than any degree once a vertex is removed
    degree = core.dup()
    degree(binary.plus) << out_degree(S)
    peeled, lost = Vector(datatypes.INT64, n), Vector(datatypes.INT64, n)
    while n:
        k = degree.reduce(monoid.min).new().get()
        if k >= GONE:
            break
        # q = d where d <= k
        peeled << degree.select(select.valuele, k)
        while peeled.nvals:
            # core<q> = k;  d<q> = gone
            core(peeled.S) << k
            degree(peeled.S) << 2 * GONE
            # t = q'S;  d -= t
            lost << peeled.vxm(S, semiring.plus_pair[datatypes.INT64])
            degree(binary.minus) << lost
            # q = d<t> where d <= k
            lost << lost.ewise_mult(degree, binary.second)
            peeled << lost.select(select.valuele, k)
    return core


def k_core(A: Matrix, k: Any = None) -> Vector:
    """Find the vertices of the k-core, with their core numbers.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`core_number` takes it.
    k : int, optional
        By default the largest core number in the graph.

    Returns
    -------
    Vector of INT64, size n
        An entry for each vertex of the k-core: its core number, at least `k`.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is negative.

    Notes
    -----
    With c the core numbers::

        c<c >= k>

    Source: S. Seidman, Network structure and minimum degree, 1983, doi:10.1016/0378-8733(83)90028-X.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    >>> gb.algorithms.k_core(A, 2).to_dict()
    {0: 2, 1: 2, 2: 2}
    """
    core = core_number(A)
    k = core.reduce(monoid.max).new().get(0) if k is None else _check.count(k, "k")
    core << core.select(select.valuege, k)
    return core
