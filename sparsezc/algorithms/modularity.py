"""Modularity: the share of edges within communities, compared with a random graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms.loops.connectivity import inside
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes

_SQUARES = 1e-150, 1e150  # the square of a sum between these is a normal FP64 number


def modularity(A: Matrix, communities: Vector, resolution: float = 1.0, *, weighted: bool = False) -> float:
    """Compute the modularity: the share of edges within communities, less the expected share in a random graph.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j. An undirected graph has each edge in both directions.
    communities : Vector of integers, size n
        The community of each vertex, an entry for every vertex. Communities are named by any integers.
    resolution : float
        The weight of the expected share: above 1 it favours small communities, below 1 large ones.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    float
        The modularity, at most 1.

    Raises
    ------
    InvalidValue
        There are no edges, a vertex has no community, `resolution` or a weight is negative, NaN or infinite, or the sum
        of the weights is infinite.
    DimensionMismatch
        `A` is not square, or `communities` has another size.

    Notes
    -----
    With C(i, c(i)) = 1, m the number of edges, and K and K' the sums of the rows and of the columns of each community::

        B = C' A C           the number of edges between communities
        trace(B) / m - resolution K . K' / m^2

    Only the trace of B is computed (``ops.label_weight``).

    A loop is one entry and counts once. Newman and NetworkX count it twice in an undirected graph; to do so here, use
    `weighted` with values of 2 on the diagonal and of 1 elsewhere.

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
    scale = _check.number(resolution, "resolution", 0)
    if not isinstance(communities, Vector):
        raise DomainMismatch(f"communities is a {type(communities).__name__}; a Vector is needed")
    if communities.size != n:
        raise DimensionMismatch(f"communities has size {communities.size}; the graph has {n} vertices")
    if communities.nvals < n:
        raise InvalidValue(f"communities: {n - communities.nvals} of {n} vertices have none")
    if weighted:
        _check.weights(A)
    weigh = semiring.plus_first if weighted else semiring.plus_pair
    m = A.reduce_scalar(monoid.plus[datatypes.FP64]).new().get(0.0) if weighted else float(A.nvals)
    if not m > 0:
        raise InvalidValue("A has no edges, or none of a weight above 0; modularity is not defined")
    if not weighted and engine_loops.runs_loops(A):
        found = engine_loops.run_loop(
            inside, A, _numbered(communities.to_dense()).view(np.uint64), facts.is_symmetric(A)
        )
        if found is not None:
            return float(found[0] / m - scale * found[1] / m**2)
    label = _positions(communities)
    loops = A.diag().apply(unary.identity if weighted else unary.one).new(datatypes.FP64)
    # trace(B)
    within = ops.label_weight(A, label, weigh).new().reduce(monoid.plus).new().get(0.0)
    within += loops.reduce(monoid.plus).new().get(0.0)
    # K = C' A 1, K' = C' A' 1
    ones, P = Vector.from_scalar(1.0, n, datatypes.FP64), forms.pointers(label)
    K = A.mxv(ones, weigh).new(datatypes.FP64).vxm(P, semiring.plus_first).new()
    back = (
        K
        if facts.is_symmetric(A)
        else ones.vxm(A, _backwards(weigh)).new(datatypes.FP64).vxm(P, semiring.plus_first).new()
    )
    share = within / m
    if not _SQUARES[0] < m < _SQUARES[1]:
        for factor in towards_one(m):  # powers of two, which round nothing
            K = K.apply(binary.times, right=factor).new()
            back = back.apply(binary.times, right=factor).new()
            m *= factor
    chance = K.inner(back, semiring.plus_times).new().get(0.0)
    return float(share - scale * chance / m**2)


def _backwards(weigh: Any) -> Any:
    """Return the semiring that counts the entries of a right operand as `weigh` does those of a left operand."""
    return semiring.plus_second if weigh is semiring.plus_first else weigh


def _positions(communities: Vector) -> Vector:
    """Return the partition with labels in 0..n-1, INT64, as a Vector."""
    n = communities.size
    least, most = (communities.reduce(op).new().get(0) for op in (monoid.min, monoid.max))
    if least >= 0 and most < n:
        return communities.dup(datatypes.INT64)
    return Vector.from_coo(np.arange(n), _numbered(communities.to_dense()), datatypes.INT64, size=n)


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the partition with labels in 0..n-1, as an array."""
    numbers = labels.astype(np.int64, copy=False)
    if numbers.view(np.uint64).max() < labels.size:  # negative labels are large as unsigned numbers
        return numbers
    return np.unique(labels, return_inverse=True)[1].astype(np.int64, copy=False)


def towards_one(m: float) -> tuple[float, float]:
    """Return two powers of two whose product scales m to near 1, as one factor might not be finite."""
    e = math.frexp(m)[1]
    return math.ldexp(1.0, -(e // 2)), math.ldexp(1.0, e // 2 - e)
