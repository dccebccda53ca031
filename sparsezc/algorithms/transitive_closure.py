"""Transitive closure and reduction: all reachable pairs, and the fewest edges that imply them."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms.topological_sort import topological_generations
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def transitive_closure(A: Matrix, reflexive: bool | None = False) -> Matrix:
    """Add an edge from each vertex to every vertex that it reaches.

    The result has up to n * n entries, so the graph must be small, or its vertices must reach few others.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    reflexive : bool or None
        The loops of the result: True for all vertices; False for vertices on a cycle; None for the vertices that have
        loops in `A`.

    Returns
    -------
    Matrix of BOOL, shape (n, n)
        True for each pair (i, j) of which i reaches j.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Each round doubles the number of edges of paths::

        C = C or C C         over (any, pair)

    Source: P. Purdom, A transitive closure algorithm, BIT 10, 1970, doi:10.1007/BF01940892; J. Kepner, J. Gilbert
    (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM 2011, doi:10.1137/1.9780898719918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    >>> gb.algorithms.transitive_closure(A).to_edgelist(values=False)[0].tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    n = _check.adjacency(A)
    C: Matrix = A.apply(binary.pair[datatypes.BOOL], right=True).new()
    before = -1
    while C.nvals != before:
        before = C.nvals
        # C = C or C C
        C(binary.lor) << C.mxm(C, semiring.any_pair[datatypes.BOOL])
    if reflexive is None:
        C << C.select(select.offdiag)
        C(A.select(select.diag).new().S) << True
    elif reflexive:
        C(binary.lor) << Vector.from_scalar(True, n, datatypes.BOOL).diag()
    return C


def transitive_reduction(A: Matrix) -> Matrix:
    """Find the fewest edges of a graph without cycles that have the same transitive closure.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph without cycles: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    Matrix, shape (n, n), of the type of `A`
        The entries of `A` except those that a longer path replaces.

    Raises
    ------
    InvalidValue
        The graph has a cycle; a loop is one.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With C the transitive closure::

        M<A> = A C           over (any, pair): edges that a longer path replaces
        R<!M> = A

    Source: A. Aho, M. Garey, J. Ullman, The transitive reduction of a directed graph, 1972, doi:10.1137/0201008.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (0, 2)], nrows=3, ncols=3)
    >>> gb.algorithms.transitive_reduction(A).to_edgelist(values=False)[0].tolist()
    [[0, 1], [1, 2]]
    """
    topological_generations(A)  # raises an error for a cycle
    M = A.mxm(transitive_closure(A), semiring.any_pair[datatypes.BOOL]).new(mask=A.S)
    return A.dup(mask=~M.S)
