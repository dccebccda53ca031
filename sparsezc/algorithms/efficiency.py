"""Efficiency: the mean reciprocal distance between two vertices."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.harmonic_centrality import harmonic_centrality
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import monoid
from sparsezc.terminal.progress import steps


def global_efficiency(A: Matrix) -> float:
    """Compute the mean reciprocal distance, in hops, over all ordered pairs of different vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.

    Returns
    -------
    float
        The efficiency, in 0..1; a pair without a path counts as 0. It is 0 with fewer than two vertices.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With h the sums of :func:`harmonic_centrality`::

        sum of h / (n (n - 1))

    Source: V. Latora, M. Marchiori, Efficient behavior of small-world networks, 2001,
    doi:10.1103/PhysRevLett.87.198701.

    Examples
    --------
    >>> import sparsezc as gb
    >>> round(gb.algorithms.global_efficiency(gb.io.read("path:3")), 4)
    0.8333
    """
    n = _check.adjacency(A)
    if n < 2:
        return 0.0
    return float(harmonic_centrality(A).reduce(monoid.plus).new().get(0.0) / (n * (n - 1)))


def local_efficiency(A: Matrix) -> Vector:
    """Compute for each vertex the global efficiency of the subgraph of its neighbours.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of an undirected graph, each edge in both directions; values and loops are ignored.

    Returns
    -------
    Vector of FP64, size n
        The efficiencies; 0 for a vertex with fewer than two neighbours. Their mean is NetworkX's ``local_efficiency``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With N(v) the neighbours of v, whose edges among themselves are a submatrix::

        e(v) = global_efficiency(A[N(v), N(v)])

    Source: V. Latora, M. Marchiori, Efficient behavior of small-world networks, 2001,
    doi:10.1103/PhysRevLett.87.198701.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)])
    >>> gb.algorithms.local_efficiency(A).to_dense().tolist()
    [1.0, 1.0, 1.0]
    """
    n = _check.adjacency(A)
    S = simple(A)
    indptr, indices, _ = forms.whole(S, "local_efficiency").to_csr()
    found = np.zeros(n)
    for v in steps(np.flatnonzero(np.diff(indptr) > 1).tolist(), "vertices"):
        near = indices[indptr[v] : indptr[v + 1]]
        found[v] = global_efficiency(facts.known_symmetric(S[near, near].new()))
    return Vector.from_dense(found)
