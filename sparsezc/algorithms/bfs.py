"""Breadth-first search: levels and parents."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._rounds import rounds
from sparsezc.matrix import Matrix
from sparsezc.semirings import semiring, types
from sparsezc.vector import Vector


def bfs(A: Matrix, source: Any) -> Vector:
    """Number of hops from one vertex to every vertex that it reaches.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    source : int
        Where the search starts, in 0..n-1.

    Returns
    -------
    Vector of INT32, size n
        The length of a shortest path, 0 at the source; vertices that are not reached have no entry.

    Raises
    ------
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q the vertices first met at depth d::

        level<q> = d
        q<!level> = q'A      over (any, pair): a product stops at the first edge that it finds

    Source: J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, chapter 2, SIAM 2011,
    doi:10.1137/1.9780898719918. Direction: S. Beamer, K. Asanovic, D. Patterson, SC 2012, doi:10.1109/SC.2012.50.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 3)], nrows=5, ncols=5)
    >>> gb.algorithms.bfs(A, 0).to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    """
    n = _check.adjacency(A)
    source = _check.vertex(source, n)
    level, frontier = A._vector(types.INT32), A._vector(types.BOOL)
    frontier[source] = True
    for depth in rounds(frontier):
        # level<q> = d
        level(frontier.S) << depth
        # q<!level> = q'A
        frontier(~level.S, replace=True) << frontier.vxm(A, semiring.any_pair[types.BOOL])
    return level


def bfs_parents(A: Matrix, source: Any) -> Vector:
    """A breadth-first tree: for each vertex that is reached, the one before it on a shortest path.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    source : int
        The root of the tree, in 0..n-1.

    Returns
    -------
    Vector of INT64, size n
        The parent of each vertex; the source is its own. Vertices that are not reached have no entry. A vertex
        with several neighbours one level nearer to the source gets any of them.

    Raises
    ------
    IndexOutOfBound
        `source` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q the vertices of one depth, each holding its parent::

        parent<q> = q
        q<!parent> = q'A     over (any, secondi): the product is the number of the vertex that the edge leaves

    Source: A. Buluc, T. Mattson, S. McMillan, J. Moreira, C. Yang, Design of the GraphBLAS API for C, IPDPSW 2017,
    doi:10.1109/IPDPSW.2017.117. Encoding of the answer: S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark
    Suite, arXiv:1508.03619, section 2.1.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 3)], nrows=5, ncols=5)
    >>> gb.algorithms.bfs_parents(A, 0).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 1}
    """
    n = _check.adjacency(A)
    source = _check.vertex(source, n)
    parent, frontier = A._vector(types.INT64), A._vector(types.INT64)
    frontier[source] = source
    for _ in rounds(frontier):
        # parent<q> = q
        parent(frontier.S) << frontier
        # q<!parent> = q'A
        frontier(~parent.S, replace=True) << frontier.vxm(A, semiring.any_secondi)
    return parent
