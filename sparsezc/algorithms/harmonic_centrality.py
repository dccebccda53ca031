"""Harmonic centrality."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._distances import from_each, usable
from sparsezc.algorithms._multi_source_bfs import counts, popcount, sample, sweeps
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, unary
from sparsezc.semirings.types import datatypes


def harmonic_centrality(
    A: Matrix,
    *,
    weighted: bool = False,
    k: Any = None,
    seed: int | None = None,
    sources: Iterable[Any] | None = None,
) -> Vector:
    """Sum for each vertex the reciprocal distances from all other vertices that reach it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    weighted : bool
        Values are edge lengths >= 0, and an edge of infinite length cannot be used; else distances are hops.
    k : int, optional
        Estimate from the distances from `k` vertices, drawn at random; by default from all vertices.
    seed : int, optional
        Chooses the `k` vertices; random by default.
    sources : iterable of int, optional
        The vertices from which distances are computed, instead of `k`; repeated vertices count once. The result is the
        unscaled sum over these.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex.

    Raises
    ------
    InvalidValue
        `k` is less than 1 or given together with `sources`, `seed` is not from 0 to 2**64 - 1, or `weighted` and a
        length is negative or NaN.
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the sources, by default all vertices::

        harmonic(v) = (n - 1) / |S - v|  *  sum_(s != v) 1 / d(s, v)

    A distance of 0 adds nothing. Searches run together: searches in hops as the bits of a word, 64 in one pass over the
    matrix; searches over lengths as rows of a matrix.

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
    chosen = sample(n, k, seed, sources)
    if sources is not None:
        return _sums(A, np.unique(chosen), weighted)
    harmonic = _sums(A, chosen, weighted)
    if chosen.size < n:
        # at a source only the other sources count
        inside = Vector.from_coo(chosen, True, datatypes.BOOL, size=n)
        for mask, others in ((~inside.S, chosen.size), (inside.S, max(chosen.size - 1, 1))):
            harmonic(mask) << harmonic.apply(binary.times, right=(n - 1) / others)
    return harmonic


def _sums(A: Matrix, sources: NDArray[np.int64], weighted: bool) -> Vector:
    """Sum for each vertex the reciprocal distances from `sources`."""
    total = Vector.from_scalar(0.0, A.nrows, datatypes.FP64)
    if weighted:
        for _, D in from_each(usable(A), sources):
            far = D.select(select.valuegt, 0).new(datatypes.FP64)
            total(binary.plus) << far.apply(unary.minv).new().reduce_columnwise(monoid.plus)
        return total
    if (found := counts(A, sources)) is not None:
        return engine_loops.vector(found[2])
    for depth, bits in sweeps(A, sources):
        if depth:
            total(binary.plus) << popcount(bits).apply(binary.truediv, right=float(depth))
    return total
