"""Breadth-first search, from one vertex or from several at once: levels and parents."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._frontier_loops import rounds, searched
from sparsezc.algorithms._searches import are_several, empty, rows, start, vector
from sparsezc.algorithms.loops import searches
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import semiring
from sparsezc.semirings.types import datatypes


@overload
def bfs(A: Matrix, source: Iterable[Any]) -> Matrix: ...
@overload
def bfs(A: Matrix, source: Any) -> Vector: ...
def bfs(A: Matrix, source: Any) -> Any:
    """Count the hops from one vertex, or from each of several, to every vertex reachable from it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    source : int, or iterable of int
        The start of the search, in 0..n-1. Each of several vertices starts its own search, and the searches run
        together; a vertex may occur twice. For hops from the nearest of several vertices see
        :func:`multi_source_shortest_paths`.

    Returns
    -------
    Vector of INT32, size n
        The number of hops, 0 at the source; vertices that are not reached have no entry.
    Matrix of INT32, shape (k, n)
        For k sources: row i is the result of the search from the i-th source. The matrix has up to k * n entries.

    Raises
    ------
    IndexOutOfBound
        `source`, or one of several, is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q the vertices first met at depth d::

        level<q> = d
        q<!level> = q'A      over (any, pair): a dot product ends at the first edge found

    Several searches are the rows of a matrix Q in the same two statements.

    Source: J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, chapter 2, SIAM 2011,
    doi:10.1137/1.9780898719918. Direction: S. Beamer, K. Asanovic, D. Patterson, SC 2012, doi:10.1109/SC.2012.50.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 3)], nrows=5, ncols=5)
    >>> gb.algorithms.bfs(A, 0).to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    >>> gb.algorithms.bfs(A, [1, 0]).to_dicts()
    {0: {1: 0, 3: 1}, 1: {0: 0, 1: 1, 2: 1, 3: 2}}
    """
    n = _check.adjacency(A)
    if not are_several(source):
        root = _check.vertex(source, n)
        found = engine_loops.search(A, root)
        if found is None:
            found = near(A, np.array([root]), n)
        if found is not None:
            return found
        return levels(A, start(A, root, n, datatypes.BOOL, True))
    sources = _check.vertices(source, n)
    if (levels_of_all := engine_loops.searches(A, sources)) is not None:
        return levels_of_all
    return levels(A, rows(sources, n, datatypes.BOOL, True))


def near(A: Matrix, sources: NDArray[np.int64], radius: int) -> Vector | None:
    """Count hops from the nearest of `sources`, up to `radius`, by a loop; None if the engine runs no loop."""
    found = reached(A, sources, radius)
    return None if found is None else vector(*found)


def reached(A: Matrix, sources: NDArray[np.int64], radius: int) -> Any:
    """Run :func:`~sparsezc.algorithms.loops.searches.levels`; return None if the engine runs no loop."""
    n = A.shape[0]
    level, met = partial(np.empty, n, np.int32), partial(np.zeros, n, np.bool_)
    return engine_loops.run_loop(searches.levels, A, level, met, sources, radius)


def levels(A: Matrix, frontier: Any) -> Any:
    """Count the hops from `frontier`, a Vector, or a Matrix with a row for each search; `frontier` is overwritten."""
    if (found := searched(A, frontier)) is not None:
        return found
    level = empty(frontier, datatypes.INT32)
    product = frontier.mxm if frontier.ndim == 2 else frontier.vxm
    for depth in rounds(frontier):
        # level<q> = d
        level(frontier.S) << depth
        # q<!level> = q'A
        frontier(~level.S, replace=True) << product(A, semiring.any_pair[datatypes.BOOL])
    return level


@overload
def bfs_parents(A: Matrix, source: Iterable[Any]) -> Matrix: ...
@overload
def bfs_parents(A: Matrix, source: Any) -> Vector: ...
def bfs_parents(A: Matrix, source: Any) -> Any:
    """Build breadth-first trees: for each vertex reached, its predecessor on a shortest path.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    source : int, or iterable of int
        The root of the tree, in 0..n-1, or the roots of several trees.

    Returns
    -------
    Vector of INT64, size n
        The parent of each vertex; the source is its own. Vertices that are not reached have no entry. If a vertex has
        several neighbours one level nearer to the source, any of them is its parent.
    Matrix of INT64, shape (k, n)
        For k sources: row i is the tree of the i-th source.

    Raises
    ------
    IndexOutOfBound
        `source`, or one of several, is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With q the vertices of one depth, whose values are their parents::

        parent<q> = q
        q<!parent> = q'A     over (any, secondi): the product is the number of the edge's start

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
    if not are_several(source):
        root = _check.vertex(source, n)
        if (found := engine_loops.search(A, root, parents=True)) is not None:
            return found
        tree, met = partial(np.empty, n, np.int64), partial(np.zeros, n, np.bool_)
        looped = engine_loops.run_loop(searches.parents, A, tree, met, root)
        if looped is not None:
            return vector(*looped)
    frontier = start(A, source, n, datatypes.INT64)
    if (found := searched(A, frontier, parents=True)) is not None:
        return found
    parent = empty(frontier, datatypes.INT64)
    product = frontier.mxm if frontier.ndim == 2 else frontier.vxm
    for _ in rounds(frontier):
        # parent<q> = q
        parent(frontier.S) << frontier
        # q<!parent> = q'A
        frontier(~parent.S, replace=True) << product(A, semiring.ss.any_secondi)
    return parent
