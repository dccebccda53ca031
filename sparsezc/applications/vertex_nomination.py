"""Vertex nomination: which vertices are most like some of interest, by where they are and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms import multi_source_shortest_paths
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DimensionMismatch, DomainMismatch, InvalidValue

Array = NDArray[np.float64]


def vertex_nomination(
    A: Matrix,
    seeds: Iterable[Any],
    content: Any = None,
    fuse: Callable[[Array, Array], Any] | None = None,
    k: Any = None,
) -> tuple[Vector, Vector]:
    """Rank the vertices that are no seeds by their distance from the seeds, in the graph and in content.

    Parameters
    ----------
    A : Matrix, shape (n, n), any real dtype
        Adjacency matrix: the value of an entry (i, j) is the length of the edge from i to j, >= 0.
    seeds : iterable of int
        The vertices of interest, one or more in 0..n-1, each once.
    content : Vector or array of n numbers, or Matrix or array of shape (n, F), optional
        How unlike the seeds each vertex is, >= 0; or a row of F features each, whose dissimilarity is the Euclidean
        distance to the nearest of the seeds' rows. By default only the graph counts.
    fuse : callable, optional
        Given two arrays, distances in the graph and dissimilarities of content of the same vertices, returns their
        scores, of which small ones are good. By default the mean of both, each divided by its largest. Needs `content`.
    k : int, optional
        Vertices to nominate at most, at least 1; by default all.

    Returns
    -------
    nominated : Vector of INT64
        The vertices, best first; of equal scores the smallest vertex first. Its size is their number.
    score : Vector of FP64, size n
        The scores. Seeds, and vertices that no path from a seed reaches, have no entry and are not nominated.

    Raises
    ------
    InvalidValue
        `seeds` is empty or repeats a vertex, a length is negative or NaN, `content` has NaN, infinite or negative
        dissimilarities, `fuse` comes without `content` or returns NaN, or `k` is less than 1.
    IndexOutOfBound
        A seed is not a vertex of the graph.
    DimensionMismatch
        `A` is not square, `content` has not a row for each vertex, or `fuse` returns another number of scores.

    Notes
    -----
    With s the seeds, x the rows of features::

        context(v) = min over s of the length of a path from s to v       one search from all seeds
        content(v) = min over s of |x(v) - x(s)|
        score = (context / max context + content / max content) / 2

    Source: G. Coppersmith, Vertex nomination, WIREs Computational Statistics 6, 2014, section "Fusion of content and
    context", doi:10.1002/wics.1294; G. Coppersmith, C. Priebe, Vertex nomination via content and context, 2012,
    arXiv:1201.4118.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (0, 3), (3, 4)], [1, 1, 1, 5], nrows=6, ncols=6)
    >>> nominated, score = gb.applications.vertex_nomination(A, [0])
    >>> nominated.to_dense().tolist(), score.to_dict()
    ([1, 3, 2, 4], {1: 1.0, 2: 2.0, 3: 1.0, 4: 6.0})
    >>> unlike = [0.0, 0.9, 0.1, 0.2, 0.3, 0.0]
    >>> gb.applications.vertex_nomination(A, [0], unlike, k=2)[0].to_dense().tolist()
    [3, 2]
    """
    n = graphs.adjacency(A)
    at = _check.seeds(seeds, n)
    most = n if k is None else graphs.count(k, "k", 1)
    unlike = None if content is None else _dissimilarity(content, at, n)
    if fuse is not None and unlike is None:
        raise InvalidValue("fuse is given without content; a function of both needs both")
    near, context = multi_source_shortest_paths(A, at, weighted=True).to_coo()
    near = near.astype(np.int64)
    others = np.ones(near.size, bool)
    others[np.searchsorted(near, at)] = False
    near, score = near[others], context[others].astype(np.float64)
    if unlike is not None:
        score = _fused(score, unlike[near], fuse)
    best = _first(score, most)
    return Vector.from_coo(np.arange(best.size), near[best], "INT64", size=best.size), Vector.from_coo(
        near, score, "FP64", size=n
    )


def _first(score: Array, most: int) -> NDArray[np.int64]:
    """Return the positions of the least scores in their order, equal ones by position."""
    among = np.arange(score.size)
    if 0 < most < score.size:
        among = np.flatnonzero(score <= np.partition(score, most - 1)[most - 1])
        score = score[among]
    keys: NDArray[Any] = score
    if score.min(initial=0.0) >= 0 and score.max(initial=0.0) < 2**16:
        digits = score.astype(np.uint16)
        if (digits == score).all():
            keys = digits  # which NumPy sorts by digits, in a sixth of the time
    return np.take(among, np.argsort(keys, kind="stable")[:most])


def _dissimilarity(content: Any, seeds: NDArray[np.int64], n: int) -> Array:
    """Check content; return how unlike the seeds each vertex is."""
    x = _check.finite(_check.table(content, "content", n), "content")
    if isinstance(content, Vector) or np.ndim(content) == 1:
        if (lowest := x.min(initial=0)) < 0:
            raise InvalidValue(f"content has a dissimilarity of {lowest:g}; numbers >= 0 are needed")
        return x[:, 0]
    from scipy.spatial import cKDTree  # which takes half a second to import

    found: Array = cKDTree(x[seeds]).query(x)[0]
    return found


def _fused(context: Array, content: Array, fuse: Callable[[Array, Array], Any] | None) -> Array:
    """Return the scores of both."""
    if fuse is None:
        return (_scaled(context) + _scaled(content)) / 2
    try:
        score = np.asarray(fuse(context, content), np.float64)
    except (TypeError, ValueError) as error:
        raise DomainMismatch(f"fuse fails on two arrays of numbers: {error}") from error
    if score.shape != context.shape:
        raise DimensionMismatch(f"fuse returns shape {score.shape}; {context.shape} is needed, a score for each vertex")
    if np.isnan(score).any():
        raise InvalidValue("fuse returns NaN; scores must have an order")
    return score


def _scaled(x: Array) -> Array:
    """Divide by the largest, where that is not 0."""
    return x / (x.max(initial=0) or 1.0)
