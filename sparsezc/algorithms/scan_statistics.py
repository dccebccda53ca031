"""Scan statistics: the number of edges near each vertex, and the vertex with most."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms._searches import batches, rows
from sparsezc.algorithms.triangles import corners
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.budget import require_host
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_BYTES = 48  # bytes for each vertex that a search has met: in Q, in the frontier, and the edges counted at it


def scan_statistics(A: Matrix, order: Any = 1) -> tuple[Vector, int]:
    """Count the edges among the vertices within `order` hops of each vertex, and find the vertex of the largest count.

    The direction of edges is ignored, and a pair of opposite edges counts once; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    order : int
        The radius of neighbourhoods, in hops, at least 0. For order 0 the statistic is the degree, by definition.

    Returns
    -------
    psi : Vector of INT64, size n
        The number of edges in the closed neighbourhood of each vertex, an entry for every vertex.
    vertex : int
        The vertex of the largest `psi`, the smallest of several; ``psi.get(vertex)`` is the scan statistic.

    Raises
    ------
    InvalidValue
        `order` is negative, or the graph has no vertices.
    DomainMismatch
        `order` is not an integer.
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The neighbourhoods of one or more vertices need more memory than may be used; the message has the size.

    Notes
    -----
    With S the undirected simple graph, d its degrees and t the number of triangles at each vertex, an edge of the
    closed neighbourhood either ends at the vertex or closes a triangle with it::

        psi = d + t                     order 1

    For higher orders, with row i of Q the vertices within `order` hops of i::

        E<Q> = Q S                      over (plus, pair): edges from a vertex of Q(i) to vertices of Q(i)
        psi = E 1 / 2

    Source: C. Priebe, J. Conroy, D. Marchette, Y. Park, Scan statistics on Enron graphs, Computational and
    Mathematical Organization Theory 11, 2005, section 2, doi:10.1007/s10588-005-5378-z.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    >>> psi, vertex = gb.algorithms.scan_statistics(A)
    >>> psi.to_dense().tolist(), vertex
    ([3, 3, 4, 1, 0], 2)
    """
    n = _check.adjacency(A)
    order = _check.count(order, "order")
    if n == 0:
        raise InvalidValue("A has no vertices; a graph with at least one is needed")
    S = simple(A)
    # psi = d + t
    psi = corners(S) if order == 1 else Vector.from_scalar(0, n, datatypes.INT64)
    if order < 2:
        psi(binary.plus) << out_degree(S)
    else:
        for first in batches(np.arange(n), n, _BYTES * n):
            psi[first] = _within(S, first, order)
    most = psi.reduce(monoid.max).new().get()
    return psi, int(psi.select(select.valueeq, most).new().to_coo(values=False)[0][0])


def _within(S: Matrix, first: np.ndarray[Any, np.dtype[np.int64]], order: int) -> Vector:
    """Count the edges among the vertices within `order` hops of each vertex in `first`."""
    Q = rows(first, S.nrows, datatypes.BOOL, True)
    front = Q
    for _ in range(order):
        # F<!Q> = F S, Q = Q or F
        front = front.mxm(S, semiring.any_pair[datatypes.BOOL]).new(mask=~Q.S)
        if front.nvals == 0:
            break
        met = Q.nvals + front.nvals
        require_host(_BYTES * met, f"scan_statistics: {met:,} vertices within {order} hops of {first.size:,}")
        Q(front.S) << front
    # E<Q> = Q S
    E = Q.mxm(S, semiring.plus_pair[datatypes.INT64]).new(mask=Q.S)
    # psi = E 1 / 2
    psi = Vector.from_scalar(0, first.size, datatypes.INT64)
    psi(binary.plus) << E.reduce_rowwise(monoid.plus)
    psi << psi.apply(binary.cdiv, right=2)
    return psi
