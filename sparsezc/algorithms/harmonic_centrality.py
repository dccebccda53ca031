"""Harmonic centrality."""

from __future__ import annotations

from typing import Any

from sparsezc.algorithms import _check
from sparsezc.algorithms._sweeps import popcount, sample, sweeps
from sparsezc.matrix import Matrix
from sparsezc.semirings import binary, types
from sparsezc.vector import Vector


def harmonic_centrality(A: Matrix, *, k: Any = None, seed: int | None = None) -> Vector:
    """Sum of one over the distance from each other vertex, where those that do not lead here add nothing.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j. Distances are hops.
    k : int, optional
        Estimate from distances that begin at this many vertices, chosen by chance; by default at all of them.
    seed : int, optional
        Chooses the `k` vertices; by default by chance.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex.

    Raises
    ------
    InvalidValue
        `k` is less than 1.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the vertices where distances begin, by default all::

        harmonic(v) = (n - 1) / |S - v|  *  sum_(s != v) 1 / d(s, v)

    One pass over the matrix a level serves 64 searches.

    Source: P. Boldi, S. Vigna, Axioms for centrality, Internet Mathematics 10, 2014,
    doi:10.1080/15427951.2013.865686.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=4, ncols=4)
    >>> gb.algorithms.harmonic_centrality(A).to_dense().tolist()
    [0.0, 1.0, 1.5, 0.0]
    """
    n = _check.adjacency(A)
    sources = sample(n, k, seed)
    harmonic = Vector.from_scalar(0.0, n, types.FP64)
    for depth, bits in sweeps(A, sources):
        if depth:
            harmonic(binary.plus) << popcount(bits).apply(binary.truediv, right=float(depth))
    if sources.size < n:
        # a vertex of S is not asked about itself
        inside = Vector.from_coo(sources, True, types.BOOL, size=n)
        for mask, others in ((~inside.S, sources.size), (inside.S, max(sources.size - 1, 1))):
            harmonic(mask) << harmonic.apply(binary.times, right=(n - 1) / others)
    return harmonic
