"""Reciprocity: the share of edges with an opposite edge."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.algorithms.loops.connectivity import opposites
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, select
from sparsezc.semirings.types import datatypes


def reciprocity(A: Matrix) -> Vector:
    """Compute the share of each vertex's edges that have an opposite edge.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. A loop is its own opposite.

    Returns
    -------
    Vector of FP64, size n
        Shares in 0..1; vertices without edges have no entry.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With A .* A' the elementwise product, and each entry counting 1::

        2 (A .* A') 1 / (A 1 + A' 1)

    Source: D. Garlaschelli, M. Loffredo, Patterns of link reciprocity in directed networks, 2004,
    doi:10.1103/PhysRevLett.93.268701. The definition is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)], nrows=4, ncols=4)
    >>> {v: round(share, 4) for v, share in gb.algorithms.reciprocity(A).to_dict().items()}
    {0: 1.0, 1: 0.6667, 2: 0.0}
    """
    _check.adjacency(A)
    # k = A 1 + A' 1
    degree = out_degree(A)
    degree(binary.plus) << in_degree(A)
    # 2 (A .* A') 1, with entries of 0 at vertices whose edges have no opposite
    pairs = degree.apply(binary.times, right=0).new()
    pairs(binary.plus) << out_degree(_pairs(A))
    pairs << pairs.apply(binary.times, right=2)
    share: Vector = pairs.ewise_mult(degree, binary.truediv).new(datatypes.FP64)
    return share


def overall_reciprocity(A: Matrix) -> float:
    """Compute the share of a graph's edges that have an opposite edge.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. As in NetworkX, a loop counts
        here as an edge without an opposite.

    Returns
    -------
    float
        The share, in 0..1.

    Raises
    ------
    InvalidValue
        The graph has no edges.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With A .* A' the elementwise product, and numbers of entries::

        |offdiag(A .* A')| / |A|

    Source: M. Newman, S. Forrest, J. Balthrop, Email networks and the spread of computer viruses, 2002,
    doi:10.1103/PhysRevE.66.035101.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.overall_reciprocity(gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 0)]))
    0.5
    """
    _check.adjacency(A)
    if A.nvals == 0:
        raise InvalidValue("A has no entries; the reciprocity of a graph without edges is not defined")
    if (found := engine_loops.run_loop(opposites, A)) is not None:
        return float(found / A.nvals)
    return float(_pairs(A).select(select.offdiag).new().nvals / A.nvals)


def _pairs(A: Matrix) -> Matrix:
    """Return A .* A': the edges with an opposite edge."""
    if facts.is_symmetric(A):
        return A
    both: Matrix = A.ewise_mult(A.T, binary.pair).new()
    return both
