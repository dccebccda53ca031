"""Random walks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix
from sparsezc.semirings.types import datatypes


def random_walks(
    A: Matrix, sources: Iterable[Any], length: Any = 5, *, weighted: bool = False, seed: int | None = None
) -> Matrix:
    """Draw walks that follow a random out-edge at each step.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    sources : iterable of int
        The starts of the walks: one walk per item; a vertex may occur many times.
    length : int
        The most edges to follow, at least 0.
    weighted : bool
        Edges are followed in proportion to their values, which must be >= 0; else with equal probability.
    seed : int, optional
        The same seed gives the same walks. Random by default.

    Returns
    -------
    Matrix of INT64, shape (number of sources, length + 1)
        Row w has the vertices of walk w in their order. A walk ends early at a vertex without an out-edge; its row then
        has no further entries.

    Raises
    ------
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    InvalidValue
        `length` is negative, or a weight is negative, NaN or infinite, or their sum is.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With c the running sums of a row's weights, c(n) their total, and u a number drawn from 0..1::

        next = the first j where u c(n) < c(j)

    A choice in one row is no product with the matrix: the edges are copied to the host once, and each step moves all
    walks there. Source: L. Lovasz, Random walks on graphs: a survey, 1993; B. Perozzi, R. Al-Rfou, S. Skiena,
    DeepWalk, KDD 2014, doi:10.1145/2623330.2623732.

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
    indptr, indices, values = A.to_csr()
    indptr = indptr.astype(np.int64)
    reach = _reach(indptr, values) if weighted else None
    # the start and end of each row: in entries, or in weights
    bound = indptr if reach is None else reach[indptr]
    rng = np.random.default_rng(seed)
    walk = np.arange(at.size)
    rows, columns, met = [walk], [np.zeros_like(walk)], [at]
    for step in range(1, steps + 1):
        # a walk ends if its row's weights sum to 0
        on = bound[at] < bound[at + 1]
        walk, at = walk[on], at[on]
        at = indices[_choose(bound[at], bound[at + 1], reach, rng)].astype(np.int64)
        rows.append(walk)
        columns.append(np.full(walk.size, step))
        met.append(at)
    i, j, v = map(np.concatenate, (rows, columns, met))
    return Matrix.from_coo(i, j, v, datatypes.INT64, nrows=rows[0].size, ncols=steps + 1)


def _reach(indptr: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Return running sums over all rows, each scaled to a total of 1, so that none is lost beside those before it."""
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    total = np.bincount(row, values, indptr.size - 1)[row]
    share = np.divide(values, total, out=np.zeros(values.size), where=total > 0)
    return np.concatenate([[0.0], np.cumsum(share)])


def _choose(
    low: NDArray[Any], high: NDArray[Any], reach: NDArray[np.float64] | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw an entry of each row, whose entries are those from `low` to `high`."""
    if reach is None:
        return rng.integers(low, high)
    u = np.minimum(low + rng.random(low.size) * (high - low), np.nextafter(high, low))
    chosen: NDArray[np.int64] = np.searchsorted(reach, u, side="right") - 1
    return chosen
