"""Random samples of neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix


def sample_neighbors(
    A: Matrix,
    sources: Iterable[Any],
    k: Any = 10,
    *,
    replace: bool = False,
    weighted: bool = False,
    seed: int | None = None,
) -> Matrix:
    """Draw up to k random out-edges of each source.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j. For in-edges give ``A.T.new()``.
    sources : iterable of int
        The vertices whose edges are drawn; a vertex that is listed twice has two independent samples.
    k : int
        Edges drawn for each source, at least 0. Of a vertex of fewer edges all are returned.
    replace : bool
        Draw with replacement. The values are then the numbers of draws of each edge. A row adds up to k, and
        ``S.mxm(X, "plus_times")`` is the sum over the draws; PyG and DGL repeat the edge instead.
    weighted : bool
        Edges are drawn in proportion to their values, which must be >= 0; without `replace` one after another, each in
        proportion among the edges that are left. Edges of weight 0 are never drawn. Else all edges have the same
        probability.
    seed : int, optional
        From 0 to 2**64 - 1. The same seed gives the same edges on every engine and placement; row r depends only on
        `seed`, r and its source. Random by default.

    Returns
    -------
    Matrix, shape (number of sources, n)
        Row r has edges of ``sources[r]`` with their values, of A's type, or with `replace` the numbers of draws, INT64.

    Raises
    ------
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    InvalidValue
        `k` is negative, `seed` is out of bounds, or a weight of a source's edge is negative, NaN or infinite.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Only the k ids drawn are read of a row; with `weighted` also all weights of the row. See
    :func:`sparsezc.ops.selectk`, which takes rectangular matrices too, and describes the methods, and
    :func:`sparsezc.ops.sample_hops` for several hops.

    Source: W. Hamilton, R. Ying, J. Leskovec, Inductive representation learning on large graphs, NIPS 2017,
    arXiv:1706.02216, for the use of samples.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 3)], nrows=4, ncols=4)
    >>> S = gb.algorithms.sample_neighbors(A, [0, 1, 0], k=2, seed=5)
    >>> S.reduce_rowwise(gb.agg.count).new().to_dense().tolist()
    [2, 1, 2]
    """
    n = _check.adjacency(A)
    at = _check.vertices(sources, n)
    how = "random_weighted" if weighted else "random"
    sample: Matrix = ops.selectk(A, how, _check.count(k, "k"), at, replace=replace, seed=seed).new()
    return sample
