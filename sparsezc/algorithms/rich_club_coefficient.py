"""Rich clubs: the density of edges among the vertices of high degree."""

from __future__ import annotations

import math

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.double_edge_swap import double_edge_swap
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def rich_club_coefficient(A: Matrix, normalized: bool = False, Q: float = 100.0, seed: int | None = None) -> Vector:
    """Compute for each degree k the share of possible edges among the vertices of higher degree that exist.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of an undirected graph, each edge in both directions; values and loops are ignored.
    normalized : bool
        Divide by the share in a random graph with the same degrees, made of `A` by :func:`double_edge_swap`.
    Q : float
        Exchanges per edge that make the random graph, on average.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the random graph. Random by default.

    Returns
    -------
    Vector of FP64, size the largest degree + 1
        Entry k is the coefficient of degree k. A degree has no entry if fewer than two vertices have a higher degree
        or, if `normalized`, no edge of the random graph joins two of them.

    Raises
    ------
    InvalidValue
        `Q` is negative, NaN or infinite, `seed` is out of bounds, or `normalized` and there are fewer than two edges.
    ConvergenceFailure
        Too few exchanges were found; a complete graph, for example, has none.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With d the degrees, e the smaller degree of each edge's ends, and N(k) the number of vertices of degree above k::

        e(i, j) = min(d(i), d(j))     over the pattern of A
        phi(k) = 2 |e > k| / (N(k) (N(k) - 1))

    If `normalized`, phi(k) is divided by that of the random graph.

    Source: J. McAuley, L. da Fontoura Costa, T. Caetano, The rich-club phenomenon across complex network hierarchies,
    2007, doi:10.1063/1.2773951.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.rich_club_coefficient(gb.io.read("path:4")).to_dict()
    {0: 0.5, 1: 1.0}
    """
    n = _check.adjacency(A)
    Q = _check.number(Q, "Q", 0)
    _check.seed(seed, "rich_club_coefficient")
    S = simple(A)
    degree = out_degree(S).to_dense(0)
    most = int(degree.max(initial=0))
    above = n - np.cumsum(np.bincount(degree, minlength=most + 1))
    D = Vector.from_dense(degree).diag()
    # e = the smaller degree of the ends: the minimum of D S and S D
    E = D.mxm(S, semiring.any_first[datatypes.INT64]).new()
    E << E.ewise_mult(S.mxm(D, semiring.any_second[datatypes.INT64]).new(), "min")
    least = forms.whole(E.select(select.triu).new(), "rich_club_coefficient").to_coo()[2]
    edges = least.size - np.cumsum(np.bincount(least, minlength=most + 1))
    k = np.flatnonzero(above > 1)
    share = 2 * edges[k] / (above[k] * (above[k] - 1))
    found: Vector = Vector.from_coo(k, share, datatypes.FP64, size=most + 1)
    if normalized:
        R = double_edge_swap(S, math.ceil(Q * (S.nvals // 2)), seed=seed)
        at_random = rich_club_coefficient(R)
        found << found.ewise_mult(at_random.select(select.valuegt, 0).new(), binary.truediv)
    return found
