"""Rich clubs: how densely the vertices of high degree are joined."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import select, semiring
from sparsezc.semirings.types import datatypes


def rich_club_coefficient(A: Matrix) -> Vector:
    """Compute for each degree k the share of the possible edges that the vertices of higher degree have.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of an undirected graph, each edge in both directions; values and loops are ignored.

    Returns
    -------
    Vector of FP64, size the largest degree + 1
        Entry k, for the degrees above which there are at least two vertices.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With N(k) vertices of degree above k, and the smaller degree of an edge's ends found by one product::

        e(i, j) = min(d(i), d(j))     over the pattern of A
        phi(k) = 2 |e > k| / (N(k) (N(k) - 1))

    Source: J. McAuley, L. da Fontoura Costa, T. Caetano, The rich-club phenomenon across complex network hierarchies,
    2007, doi:10.1063/1.2773951.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.rich_club_coefficient(gb.io.read("path:4")).to_dict()
    {0: 0.5, 1: 1.0}
    """
    n = _check.adjacency(A)
    S = simple(A)
    degree = out_degree(S).to_dense(0)
    most = int(degree.max(initial=0))
    above = n - np.cumsum(np.bincount(degree, minlength=most + 1))
    D = Vector.from_dense(degree).diag()
    # e = the smaller degree of the ends, in whichever row it stands
    E = D.mxm(S, semiring.any_first[datatypes.INT64]).new()
    E << E.ewise_mult(S.mxm(D, semiring.any_second[datatypes.INT64]).new(), "min")
    least = E.select(select.triu).new()._whole("rich_club_coefficient").to_coo()[2]
    edges = least.size - np.cumsum(np.bincount(least, minlength=most + 1))
    k = np.flatnonzero(above > 1)
    share = 2 * edges[k] / (above[k] * (above[k] - 1))
    return Vector.from_coo(k, share, datatypes.FP64, size=most + 1)
