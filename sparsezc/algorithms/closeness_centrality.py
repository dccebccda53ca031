"""Closeness centrality."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._distances import from_each, usable
from sparsezc.algorithms._multi_source_bfs import counts, popcount, sample, sweeps
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import agg, binary, monoid, select
from sparsezc.semirings.types import datatypes


def closeness_centrality(
    A: Matrix, wf_improved: bool = True, *, weighted: bool = False, k: Any = None, seed: int | None = None
) -> Vector:
    """Compute for each vertex the reciprocal of the mean distance from the vertices that reach it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    wf_improved : bool
        Multiply by the share of the other vertices that reach the vertex, so that small components count less.
    weighted : bool
        Values are edge lengths >= 0, and an edge of infinite length cannot be used; else distances are hops.
    k : int, optional
        Estimate from the distances from `k` vertices, drawn at random; by default from all vertices.
    seed : int, optional
        Chooses the `k` vertices; random by default.

    Returns
    -------
    Vector of FP64, size n
        An entry for every vertex; 0 if no other vertex reaches it.

    Raises
    ------
    InvalidValue
        `k` is less than 1, `seed` is not from 0 to 2**64 - 1, or `weighted` and a length is negative or NaN.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With S the sources, the vertices from which distances are computed::

        r(v) = |{s in S, s != v: s reaches v}|
        closeness(v) = r(v) / sum_s d(s, v)  *  r(v) / |S - v|

    Searches run together: searches in hops as the bits of a word, 64 in one pass over the matrix; searches over lengths
    as rows of a matrix.

    Source: L. Freeman, Centrality in social networks, 1979, doi:10.1016/0378-8733(78)90021-7; the second factor:
    S. Wasserman, K. Faust, Social Network Analysis, 1994; estimates: D. Eppstein, J. Wang, Fast approximation of
    centrality, 2004, doi:10.7155/jgaa.00081.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> [round(x, 4) for x in gb.algorithms.closeness_centrality(A).to_dense().tolist()]
    [0.6667, 1.0, 0.6667]
    """
    n = _check.adjacency(A)
    sources = sample(n, k, seed)
    reached, total = sums(A, sources, weighted)
    closeness = Vector.from_scalar(0.0, n, datatypes.FP64)
    total << total.select(select.valuegt, 0)
    share: Vector = reached.ewise_mult(total, binary.truediv).new(datatypes.FP64)
    if wf_improved:
        # |S - v|
        others = Vector.from_scalar(sources.size, n, datatypes.INT64)
        others(binary.minus) << Vector.from_coo(sources, 1, datatypes.INT64, size=n)
        others << others.select(select.valuegt, 0)
        share << share.ewise_mult(reached.ewise_mult(others, binary.truediv).new(), binary.times)
    closeness(share.S) << share
    return closeness


def sums(A: Matrix, sources: NDArray[np.int64], weighted: bool) -> tuple[Vector, Vector]:
    """Return two full vectors: the number of other sources that reach each vertex, and the sum of their distances."""
    n = A.nrows
    reached, total = Vector.from_scalar(0, n, datatypes.INT64), Vector.from_scalar(0, n, datatypes.INT64)
    if weighted:
        total = Vector.from_scalar(0.0, n, datatypes.FP64)
        for group, D in from_each(usable(A), sources):
            reached(binary.plus) << D.reduce_columnwise(agg.count)
            # the count includes the source itself, at distance 0
            reached(binary.minus) << Vector.from_coo(group, 1, datatypes.INT64, size=n)
            total(binary.plus) << D.reduce_columnwise(monoid.plus[datatypes.FP64])
        return reached, total
    if (found := counts(A, sources)) is not None:
        return engine_loops.vector(found[0]), engine_loops.vector(found[1])
    for depth, bits in sweeps(A, sources):
        if depth:
            count = popcount(bits)
            reached(binary.plus) << count
            total(binary.plus) << count.apply(binary.times, right=depth)
    return reached, total
