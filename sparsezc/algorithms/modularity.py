"""Modularity: the density within communities compared with a random graph."""

from __future__ import annotations

import math

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_SQUARES = 1e-150, 1e150  # the square of a sum between them is a normal FP64 number


def modularity(A: Matrix, communities: Vector, resolution: float = 1.0, *, weighted: bool = False) -> float:
    """Compute the share of the edges within communities, less the expected share in a random graph.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j. An undirected graph has each edge in both directions.
    communities : Vector of integers, size n
        The community of each vertex, an entry for every vertex; any integers.
    resolution : float
        The weight of the expected share: above 1 it favours small communities, below 1 large ones.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    InvalidValue
        There are no edges, a vertex has no community, `resolution` is negative, NaN or infinite, or a weight is, or
        the sum of the weights is infinite.
    DimensionMismatch
        `A` is not square, or `communities` has another size.

    Notes
    -----
    With C the matrix with C(i, c(i)) = 1, m the number of edges, and k and k' the rows' and columns' sums::

        B = C' A C           the edges between communities
        trace(B) / m - resolution k . k' / m^2

    A loop is one entry and counts once; Newman and NetworkX count it twice in an undirected graph, as
    `weighted` values of 2 on the diagonal, beside ones elsewhere, do here.

    Source: M. Newman, Networks, 2011, equation 7.58; E. Leicht, M. Newman, Community structure in directed networks,
    2008, doi:10.1103/PhysRevLett.100.118703.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    >>> gb.algorithms.modularity(A, gb.Vector.from_dense([0, 0, 1, 1]))
    0.5
    """
    n = _check.adjacency(A)
    scale = _check.resolution(resolution)
    if not isinstance(communities, Vector):
        raise DomainMismatch(f"communities is a {type(communities).__name__}; a Vector is needed")
    if communities.size != n:
        raise DimensionMismatch(f"communities has size {communities.size}; the graph has {n} vertices")
    if communities.nvals < n:
        raise InvalidValue(f"communities: {n - communities.nvals} of {n} vertices have none")
    if weighted:
        _check.weights(A)
    W = flows(A, weighted)
    if not W.reduce_scalar(monoid.plus).new().get(0) > 0:
        raise InvalidValue("A has no edges, or none of a weight above 0: modularity is not defined")
    _, numbers = np.unique(communities.to_coo()[1], return_inverse=True)
    return quality(contract(W, membership(numbers)), scale)


def flows(A: Matrix, weighted: bool) -> Matrix:
    """Return the weights of the edges, FP64: the values, or ones."""
    return A.dup(datatypes.FP64) if weighted else A.apply(binary.pair[datatypes.FP64], right=1.0).new()


def membership(community: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Matrix:
    """Make the square matrix with C(i, c(i)) = 1."""
    n = community.size
    return Matrix.from_coo(np.arange(n), community, 1.0, nrows=n, ncols=n)


def contract(W: Matrix, C: Matrix) -> Matrix:
    """Compute C' W C: each community becomes a vertex."""
    B: Matrix = C.T.mxm(W, semiring.plus_second[datatypes.FP64]).new()
    B << B.mxm(C, semiring.plus_first[datatypes.FP64])
    return B


def quality(B: Matrix, resolution: float) -> float:
    """Compute the modularity when each vertex of B is a community."""
    m = B.reduce_scalar(monoid.plus).new().get(0.0)
    inside = B.select(select.diag).new().reduce_scalar(monoid.plus).new().get(0.0)
    share = inside / m
    out, into = B.reduce_rowwise(monoid.plus).new(), B.reduce_columnwise(monoid.plus).new()
    if not _SQUARES[0] < m < _SQUARES[1]:
        for factor in _towards_one(m):  # powers of two, which change no bit that matters
            out << out.apply(binary.times, right=factor)
            into << into.apply(binary.times, right=factor)
            m *= factor
    # k . k'
    chance = out.ewise_mult(into, binary.times).new()
    return float(share - resolution * chance.reduce(monoid.plus).new().get(0.0) / m**2)


def _towards_one(m: float) -> tuple[float, float]:
    """Return two factors that bring m near 1; the one that would do might not be finite."""
    e = math.frexp(m)[1]
    return math.ldexp(1.0, -(e // 2)), math.ldexp(1.0, e // 2 - e)
