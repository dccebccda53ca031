"""The k-truss: edges that lie in many triangles."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.matrix import Matrix
from sparsezc.semirings import binary, select, semiring, types


def k_truss(A: Matrix, k: Any) -> Matrix:
    """The largest subgraph each of whose edges lies in at least k - 2 of its triangles.

    An edge joins its ends once, whichever way it points; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    k : int
        At least 0.

    Returns
    -------
    Matrix of INT64, shape (n, n)
        The edges that are left, in both directions, each with the number of triangles of the subgraph that it lies in.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is negative.

    Notes
    -----
    With C the undirected simple graph at first::

        T<C> = C C'          over (plus, pair): the triangles at each edge
        C = T where T >= k - 2       until no edge goes

    Source: J. Cohen, Trusses: cohesive subgraphs for social network analysis, NSA technical report, 2008;
    T. Davis, Graph algorithms via SuiteSparse:GraphBLAS: triangle counting and K-truss, HPEC 2018,
    doi:10.1109/HPEC.2018.8547538.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.k_truss(A, 3).nvals
    6
    """
    _check.adjacency(A)
    least = _check.count(k, "k") - 2
    # every edge with 0, so that one without triangles has an entry too
    C: Matrix = simple(A).apply(binary.times[types.INT64], right=0).new()
    T = Matrix(types.INT64, *C.shape)
    while True:
        before = C.nvals
        # T<C> = C C'
        T << C.apply(binary.times, right=0)
        T(C.S, binary.plus) << C.mxm(C.T, semiring.plus_pair[types.INT64])
        # C = T where T >= k - 2
        C << T.select(select.valuege, least)
        if C.nvals == before:
            return C
