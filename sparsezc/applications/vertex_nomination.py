"""Vertex nomination: the vertices most similar to given ones, by distance in the graph and by attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms import multi_source_shortest_paths
from sparsezc.applications import _check
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.semirings.types.datatypes import BOOL, FP64

Array = NDArray[np.float64]


def vertex_nomination(
    A: Matrix,
    seeds: Iterable[Any],
    content: Any = None,
    fuse: Callable[[Array, Array], Any] | None = None,
    k: Any = None,
) -> tuple[Vector, Vector]:
    """Rank the vertices that are not seeds by their distance from the seeds, in the graph and in content.

    Parameters
    ----------
    A : Matrix, shape (n, n), any real dtype
        Adjacency matrix: the value of an entry (i, j) is the length of the edge from i to j, >= 0.
    seeds : iterable of int
        The vertices of interest, one or more in 0..n-1, each once.
    content : Vector or array of n numbers, or Matrix or array of shape (n, F), optional
        The dissimilarity of each vertex from the seeds, >= 0; or a row of F features for each vertex. The dissimilarity
        of rows is the Euclidean distance to the nearest of the seeds' rows. By default only the graph counts.
    fuse : callable, optional
        A function of two arrays, distances in the graph and dissimilarities of content. It returns the scores of the
        same vertices, the smallest for the best, and requires `content`. By default the mean of both, each divided by
        its largest value.
    k : int, optional
        Most vertices to nominate, at least 1; by default all.

    Returns
    -------
    nominated : Vector of INT64
        The nominated vertices, best first; of equal scores the smallest vertex first.
    score : Vector of FP64, size n
        The scores. Seeds, and vertices that no path from a seed reaches, have no entry and are not nominated.

    Raises
    ------
    InvalidValue
        `seeds` is empty or repeats a vertex, a length is negative or NaN, `content` has NaN, infinite or negative
        dissimilarities, `fuse` is given without `content` or returns NaN, or `k` is less than 1.
    IndexOutOfBound
        A seed is not a vertex of the graph.
    DimensionMismatch
        `A` is not square, `content` does not have `n` rows, or `fuse` returns another number of scores.

    Notes
    -----
    With s the seeds and x the rows of features::

        context(v) = min over s of the length of a path from s to v       one search from all seeds
        content(v) = min over s of |x(v) - x(s)|
        score = (context / max context + content / max content) / 2

    Both maxima are over the vertices that can be nominated.

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
    k = None if k is None else graphs.count(k, "k", 1)
    unlike = None if content is None else _dissimilarity(content, at, n)
    if fuse is not None and unlike is None:
        raise InvalidValue("fuse is given without content; both are needed")
    chosen = forms.vector_beside(A, BOOL)
    chosen[at] = True
    score = forms.vector_beside(A, FP64)
    score(~chosen.S) << multi_source_shortest_paths(A, at, weighted=True)
    if unlike is not None:
        score << _fused(score, unlike, fuse)
    return ops.argsort(score, k).new(), score


def _dissimilarity(content: Any, seeds: NDArray[np.int64], n: int) -> Array:
    """Check content; return the dissimilarity of each vertex from the seeds."""
    x = _check.finite(_check.table(content, "content", n), "content")
    if isinstance(content, Vector) or np.ndim(content) == 1:
        if (lowest := x.min(initial=0)) < 0:
            raise InvalidValue(f"content has a dissimilarity of {lowest:g}; numbers >= 0 are needed")
        return x[:, 0]
    from scipy.spatial import cKDTree  # importing it takes half a second

    found: Array = cKDTree(x[seeds]).query(x)[0]
    return found


def _fused(context: Vector, unlike: Array, fuse: Callable[[Array, Array], Any] | None) -> Vector:
    """Return the scores by context and dissimilarity, of the vertices that have a context."""
    if fuse is None:
        content = Vector(FP64, context.size)
        content(context.S) << Vector.from_dense(unlike)
        return _scaled(context).ewise_mult(_scaled(content), "plus").new().apply("truediv", right=2).new()
    near, values = context.to_coo()
    try:
        score = np.asarray(fuse(values, unlike[near.astype(np.int64)]), np.float64)
    except (TypeError, ValueError) as error:
        raise DomainMismatch(f"fuse fails on two arrays of numbers: {error}") from error
    if score.shape != near.shape:
        raise DimensionMismatch(f"fuse returns shape {score.shape}; {near.shape} is needed, a score for each vertex")
    if np.isnan(score).any():
        raise InvalidValue("fuse returns NaN; scores must have an order")
    return Vector.from_coo(near, score, FP64, size=context.size)


def _scaled(x: Vector) -> Vector:
    """Return x divided by its largest value, unless that is 0."""
    scaled: Vector = x.apply("truediv", right=x.reduce("max").new().get(0) or 1.0).new()
    return scaled
