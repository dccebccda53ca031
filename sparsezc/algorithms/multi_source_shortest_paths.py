"""Distances from the nearest of several vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._distances import usable
from sparsezc.algorithms.bfs import levels, near
from sparsezc.algorithms.sssp import from_nearest
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings.types import datatypes


def multi_source_shortest_paths(A: Matrix, sources: Iterable[Any], *, weighted: bool = False) -> Vector:
    """Compute each vertex's distance from the nearest source: NetworkX's ``multi_source_dijkstra_path_length``.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    sources : iterable of int
        The vertices at which paths may start, in 0..n-1. For the hops from each of them see :func:`bfs` with a list,
        and for the distances between all vertices :func:`all_pairs_shortest_paths`.
    weighted : bool
        Values are edge lengths >= 0, and an edge of infinite length cannot be used; else distances are hops.

    Returns
    -------
    Vector, size n
        The distances, 0 at the sources; vertices that are not reached have no entry. Hops are INT32; `weighted`
        distances are INT64, or of the matrix's own type if that is FP32 or FP64.

    Raises
    ------
    IndexOutOfBound
        One of `sources` is not a vertex of the graph.
    InvalidValue
        `weighted` and a length is negative or NaN, or distances do not fit INT64.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    One search starts at all sources: by the statements of :func:`sssp`, or in hops by those of :func:`bfs`.

    Source: E. Dijkstra, A note on two problems in connexion with graphs, 1959, doi:10.1007/BF01386390; U. Meyer, P.
    Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003,
    doi:10.1016/S0196-6774(03)00076-2.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (3, 2)], [4, 4, 5], nrows=4, ncols=4)
    >>> gb.algorithms.multi_source_shortest_paths(A, [0, 3]).to_dict()
    {0: 0, 1: 1, 2: 1, 3: 0}
    >>> gb.algorithms.multi_source_shortest_paths(A, [0, 3], weighted=True).to_dict()
    {0: 0, 1: 4, 2: 5, 3: 0}
    """
    n = _check.adjacency(A)
    at = np.unique(_check.vertices(sources, n))
    if weighted:
        return from_nearest(usable(A), at)
    if (found := near(A, at, n)) is not None:
        return found
    q = forms.vector_beside(A, datatypes.BOOL)
    q[at] = True
    level: Vector = levels(A, q)
    return level
