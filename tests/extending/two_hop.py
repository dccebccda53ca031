"""A user's algorithm in GraphBLAS calls: for each vertex the number of vertices exactly two edges away."""

from __future__ import annotations

import sparsezc as gb


def two_hop_counts(A: gb.Matrix) -> gb.Vector:
    """Return the number of vertices at distance two from each vertex.

    c = [(P'P)<not P, not I>] 1 for the pattern P of A.
    """
    near = A.mxm(A, gb.semiring.any_pair[bool]).new(mask=~A.S)
    near << near.select("offdiag")
    counts = gb.Vector("INT64", A.nrows)
    counts[:] = 0
    counts(gb.binary.plus) << near.reduce_rowwise(gb.agg.count)
    return counts
