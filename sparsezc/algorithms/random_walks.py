"""Random walks, first-order and node2vec's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix


def random_walks(
    A: Matrix,
    sources: Iterable[Any],
    length: Any = 5,
    *,
    weighted: bool = False,
    p: float = 1.0,
    q: float = 1.0,
    seed: int | None = None,
) -> Matrix:
    """Draw random walks along out-edges, one from each source.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    sources : iterable of int
        The starts of the walks, one walk each; a vertex may occur several times.
    length : int
        The most edges of a walk, at least 0.
    weighted : bool
        Edges are followed in proportion to their values, which must be >= 0; else with equal probability.
    p, q : float
        node2vec's return and in-out parameters, from 2**-20 to 2**20. In a walk that came from t, an edge back to t
        counts 1/p of its weight, an edge to a vertex to which t has an edge its weight, any other edge 1/q of it.
    seed : int, optional
        From 0 to 2**64 - 1. The same seed gives the same walks on every engine and placement; walk w depends only on
        `seed`, w and its source. Random by default.

    Returns
    -------
    Matrix of INT64, shape (number of sources, length + 1)
        Row w has the vertices of walk w in their order. A walk ends early at a vertex without an edge to follow; its
        row then has no further entries.

    Raises
    ------
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    InvalidValue
        `length` is negative; `p`, `q` or `seed` is out of bounds; a weight is negative, NaN or infinite; or a sum of
        weights is infinite.
    TypeError
        `p` or `q` is not a number.
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The walks need more memory than may be used; the message has their size.

    Notes
    -----
    A step reads one id, in place. With weights, or p and q, it uses rejection sampling: an edge is drawn uniformly and
    accepted with probability w/w_max, times its factor over the largest of 1/p, 1 and 1/q. After 32 rejections the
    whole row is read and sampled by its sums, so that probabilities are exact for any weights.

    Source: L. Lovasz, Random walks on graphs: a survey, 1993; B. Perozzi, R. Al-Rfou, S. Skiena, DeepWalk, KDD 2014,
    doi:10.1145/2623330.2623732; A. Grover, J. Leskovec, node2vec, KDD 2016, doi:10.1145/2939672.2939754; K. Yang et
    al., KnightKing, SOSP 2019, doi:10.1145/3341301.3359634.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> gb.algorithms.random_walks(A, [1], length=5).to_coo()[2].tolist()
    [1, 2, 3]
    """
    n = _check.adjacency(A)
    at = _check.vertices(sources, n)
    steps = _check.count(length, "length")
    if weighted:
        _check.weights(A)
    walks: Matrix = ops.walk(A, at, steps, "values" if weighted else None, p=p, q=q, seed=seed).new()
    return walks
