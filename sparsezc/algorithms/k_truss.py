"""The k-truss: the subgraph of edges that are in many triangles."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.core.matrix import Matrix
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def k_truss(A: Matrix, k: Any) -> Matrix:
    """Find the k-truss: the largest subgraph in which every edge is in at least k - 2 triangles.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    k : int
        The order of the truss, at least 0.

    Returns
    -------
    Matrix of INT64, shape (n, n)
        The edges of the truss, in both directions, each with its number of triangles in the truss.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is negative.

    Notes
    -----
    C begins with the edges of the undirected simple graph; its values are the numbers of triangles at each edge. With R
    the edges that are removed in a round::

        C<C> = C C                   over (plus, pair)
        R = C where C < k - 2;  C = C where C >= k - 2
        C<C> = C - R (C + R) - C R   over (plus, pair), until no edge is removed

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
    op = semiring.plus_pair[datatypes.INT64]
    # C<C> = C C, with 0 where there is no triangle
    S = simple(A)
    C: Matrix = S.apply(binary.times[datatypes.INT64], right=0).new()
    C(C.S, binary.plus) << S.mxm(S, op)
    while True:
        # R = C where C < k - 2;  C = C where C >= k - 2
        both, R = C.dup(), C.select(select.valuelt, least).new()
        if R.nvals == 0:
            return C
        C << C.select(select.valuege, least)
        # C<C> = C - R (C + R) - C R
        C(C.S, binary.minus) << R.mxm(both, op)
        C(C.S, binary.minus) << C.mxm(R, op)
