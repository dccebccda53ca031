"""Triangles: their number in a graph and at each vertex, and the transitivity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._orientation import by_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops import triangles as loop
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types import datatypes


def triangle_count(A: Matrix) -> int:
    """Count the triangles of a graph.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    int
        The number of triangles.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With the vertices of the undirected simple graph in the order of their degrees, L each vertex's edges to earlier
    vertices and U its edges to later ones::

        C<L> = U U'          over (plus, pair): for each edge, the later vertices that form a triangle with it
        sum C

    Source: M. Wolf et al., Fast linear algebra-based triangle counting with KokkosKernels, HPEC 2017,
    doi:10.1109/HPEC.2017.8091043; A. Azad, A. Buluc, J. Gilbert, Parallel triangle counting and enumeration using
    matrix algebra, IPDPSW 2015, doi:10.1109/IPDPSW.2015.75.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.triangle_count(gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4))
    1
    """
    _check.adjacency(A)
    S = simple(A)
    if (found := by_loop(S)) is not None:
        return int(found[0].sum()) // 3
    return _closed(S)


def _closed(S: Matrix) -> int:
    """Count the triangles of an undirected simple graph, each once."""
    L, U = by_degree(S)
    # C<L> = U U'
    C = U.mxm(U.T, semiring.plus_pair[datatypes.INT64]).new(mask=L.S)
    return int(C.reduce_scalar(monoid.plus).new().get(0))


def triangles(A: Matrix) -> Vector:
    """Count the triangles at each vertex.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`triangle_count` takes it.

    Returns
    -------
    Vector of INT64, size n
        The numbers of triangles, an entry for every vertex.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With L and U as in :func:`triangle_count`, each term of C<L> = U U' is a triangle, which counts once at each of its
    corners: the row, the column and the vertex that is later than both::

        t(i), t(j), t(k) += L(i, j) U(i, k) U(j, k)

    Source: that of :func:`triangle_count`; A. Azad, A. Buluc, J. Gilbert, IPDPSW 2015, doi:10.1109/IPDPSW.2015.75.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.triangles(A).to_dense().tolist()
    [1, 1, 1, 0]
    """
    _check.adjacency(A)
    return corners(simple(A))


def transitivity(A: Matrix) -> float:
    """Compute the share of pairs of edges with a common end that a third edge closes to a triangle.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix, as :func:`triangle_count` takes it.

    Returns
    -------
    float
        The share, in 0..1; 0 if there are no such pairs.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With t the number of triangles at each vertex and d the degrees::

        sum 2 t / sum d (d - 1)

    Source: M. Newman, D. Watts, S. Strogatz, Random graph models of social networks, PNAS 99, 2002,
    doi:10.1073/pnas.012582999.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.transitivity(gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=4, ncols=4))
    0.6
    """
    _check.adjacency(A)
    S = simple(A)
    if (found := by_loop(S)) is not None:
        total = int(found[1].sum())
        return float(2 * int(found[0].sum()) / total) if total else 0.0
    closed = 6 * _closed(S)  # each triangle closes two ordered pairs at each of its corners
    pairs = ordered_pairs(out_degree(S)).reduce(monoid.plus).new().get(0)
    return float(closed / pairs) if pairs else 0.0


def corners(S: Matrix) -> Vector:
    """Count the triangles at each vertex of an undirected simple graph."""
    if (found := by_loop(S)) is not None:
        return engine_loops.vector(found[0])
    L, U = by_degree(S)
    t = Vector(datatypes.INT64, S.nrows)
    # t(i), t(j), t(k) += L(i, j) U(i, k) U'(k, j)
    t << ops.count_corners(U, U.T, L)
    return t


def by_loop(S: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return each vertex's triangles and ordered pairs of neighbours, as numbers; None if the engine runs no loop."""
    found: tuple[NDArray[np.int64], NDArray[np.int64]] | None = engine_loops.run_loop(loop.corners, S)
    return found


def ordered_pairs(degree: Vector) -> Vector:
    """Return d (d - 1), the number of ordered pairs of neighbours."""
    pairs: Vector = degree.apply(binary.minus, right=1).new()
    pairs << pairs.ewise_mult(degree, binary.times)
    return pairs
