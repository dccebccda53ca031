"""Vertex orders in which vertices that are read together have near numbers; ``A.reorder`` applies them.

Every function takes an adjacency matrix and returns a permutation, an array `order`: vertex ``order[k]`` becomes vertex
k. The best order depends on the graph; often it is the file's own.

>>> import sparsezc as gb
>>> gb.orders.degree(gb.io.read("star:5"))
array([0, 1, 2, 3, 4])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check, cdlp, harmonic_centrality
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import InvalidValue

__all__ = ["communities", "degree", "harmonic", "inverse", "reverse_cuthill_mckee"]

_SCIPY_ENTRIES = 2**31  # entries: SciPy's function counts them in 32 bits


def degree(A: Matrix) -> NDArray[np.int64]:
    """Order vertices by descending number of edges; of equal ones the lowest vertex number first.

    The most frequent ids in rows become small, so they pack into few bits, and the vector entries that products
    read most often share cache lines.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Edges in both directions count.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Source: Y. Zhang et al., Making caches work for graph analytics, IEEE Big Data 2017,
    doi:10.1109/BigData.2017.8257937.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(2, 0), (2, 1), (2, 3), (3, 1)], nrows=4, ncols=4)
    >>> gb.orders.degree(A).tolist()
    [2, 1, 3, 0]
    """
    _check.adjacency(A)
    return np.argsort(-_degrees(A), kind="stable")


def reverse_cuthill_mckee(A: Matrix) -> NDArray[np.int64]:
    """Order for a narrow band: breadth-first from a vertex of low degree, neighbours by ascending degree, all reversed.

    It suits meshes and road networks, whose neighbours get near numbers. SciPy computes it, on one core.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Directions of edges do not count. The pattern is copied to the host.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        There are 2**31 entries or more, or as many vertices.

    Notes
    -----
    Source: E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, ACM 1969,
    doi:10.1145/800195.805928; A. George, J. Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 3), (3, 1), (1, 2)], nrows=4, ncols=4)
    >>> gb.orders.reverse_cuthill_mckee(A).tolist() in ([0, 3, 1, 2], [2, 1, 3, 0])
    True
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee as order_of

    n = _check.adjacency(A)
    if max(A.nvals, n) >= _SCIPY_ENTRIES:
        raise InvalidValue(f"A has {n:,} vertices and {A.nvals:,} entries; SciPy orders fewer than 2^31")
    if not n:
        return np.empty(0, np.int64)
    csr = A._to_csr()
    ids = csr.indices.read().astype(np.int32)
    pattern = csr_array((np.ones(ids.size, np.int8), ids, csr.indptr.astype(np.int32)), shape=(n, n))
    return np.asarray(order_of(pattern, symmetric_mode=csr.symmetric), np.int64)


def harmonic(A: Matrix, k: int = 64, seed: int | None = 0) -> NDArray[np.int64]:
    """Order by estimated harmonic centrality, highest first: vertices that a search reaches together are close.

    This is the idea of HALO for traversals of graphs in unified memory. Vertices that no search reaches come last, in
    their own order. It suits graphs of a small diameter, as searches run level by level: for a road network use
    :func:`reverse_cuthill_mckee`.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
    k : int
        The number of searches for the estimate; 64 run at once.
    seed : int, optional
        The seed for the choice of their sources, among vertices with out-edges, with probability by degree.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is less than 1.

    Notes
    -----
    With S the sources of the searches::

        h(v) = sum_(s in S, s != v) 1 / d(s, v)

    Source: P. Gera, H. Kim, P. Sao, H. Kim, D. Bader, Traversing large graphs on GPUs with unified memory, PVLDB 13(7),
    2020, doi:10.14778/3384345.3384358.

    Examples
    --------
    >>> import sparsezc as gb
    >>> int(gb.orders.harmonic(gb.io.read("star:6"), k=3)[0])
    0
    """
    _check.adjacency(A)
    count = _check.count(k, "k", 1)
    edges = out_degree(A).to_dense(0)
    some = np.flatnonzero(edges)
    if not some.size:
        return np.arange(A.nrows)
    chance = edges[some] / edges[some].sum()
    sources = np.random.default_rng(seed).choice(some, min(count, some.size), replace=False, p=chance)
    # Floating-point sums depend on their order; they are rounded, so that equal ones are equal on every engine.
    near = harmonic_centrality(A, sources=sources).to_dense(0).round(9)
    return np.argsort(-near, kind="stable")


def communities(A: Matrix, max_iter: int = 10) -> NDArray[np.int64]:
    """Order by communities of label propagation: the largest community first, and in each its hubs first.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        The edges are copied to the host.
    max_iter : int
        Rounds of label propagation.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `max_iter` is negative.

    Notes
    -----
    Source: P. Boldi, M. Rosa, M. Santini, S. Vigna, Layered label propagation: a multiresolution coordinate-free
    ordering for compressing social networks, WWW 2011, doi:10.1145/1963405.1963488, of which this is one layer.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)], nrows=6, ncols=6)
    >>> gb.orders.communities(A).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    _check.adjacency(A)
    label = cdlp(A, max_iter).to_dense()
    # Communities of one vertex come last: no other vertex is near them.
    _, at, sizes = np.unique(label, return_inverse=True, return_counts=True)
    return np.lexsort((-_degrees(A), label, -sizes[at])).astype(np.int64)


def inverse(order: Any) -> NDArray[np.int64]:
    """Invert an order into the number that each vertex gets: ``inverse(order)[order[k]] == k``.

    >>> inverse([2, 0, 1])
    array([1, 2, 0])
    """
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _degrees(A: Matrix) -> NDArray[np.int64]:
    """Return the number of edges of each vertex in both directions; edges of a symmetric matrix count once."""
    degrees: NDArray[np.int64] = out_degree(A).to_dense(0)
    return degrees if A._symmetric else degrees + in_degree(A).to_dense(0)


def __dir__() -> list[str]:
    return sorted(__all__)
