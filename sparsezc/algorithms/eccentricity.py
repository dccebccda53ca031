"""Eccentricities, diameter and radius."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._distances import from_each, refuse_disconnected, usable
from sparsezc.algorithms._lengths import distances_of, infinity, lengths_of
from sparsezc.algorithms._multi_source_bfs import counts, sweeps
from sparsezc.algorithms._pattern import is_symmetric
from sparsezc.algorithms.bfs import bfs
from sparsezc.algorithms.loops.eccentricities import least, longest
from sparsezc.algorithms.sssp import sssp
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select
from sparsezc.semirings.types import datatypes

_SEARCHES = 64  # most searches of one call of a loop, which cannot be interrupted


def eccentricity(A: Matrix, *, weighted: bool = False) -> Vector:
    """Compute each vertex's eccentricity: the distance to the vertex farthest from it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a (strongly) connected graph: an entry (i, j) is an edge from i to j.
    weighted : bool
        Values are edge lengths >= 0, and an edge of infinite length cannot be used; else distances are hops.

    Returns
    -------
    Vector of INT64, size n
        An entry for every vertex. With `weighted`, of the matrix's own type if this is FP32 or FP64.

    Raises
    ------
    InvalidValue
        A vertex does not reach another, or `weighted` and a length is negative or NaN.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    ::

        e(v) = max_w d(v, w)

    In hops, e(v) is the greatest depth at which searches from all vertices, against the edges, reach v; one pass over
    the matrix computes one level of 64 searches. Over lengths, e(v) is the greatest entry in row v of the matrix of
    distances.

    Source: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8, 2014,
    doi:10.14778/2735496.2735507.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)], [1, 2, 6], nrows=3, ncols=3)
    >>> gb.algorithms.eccentricity(A).to_dense().tolist()
    [2, 2, 2]
    >>> gb.algorithms.eccentricity(A, weighted=True).to_dense().tolist()
    [3, 8, 7]
    """
    n = _check.adjacency(A)
    if weighted:
        A = usable(A)
    B = refuse_disconnected(A)
    if not weighted:
        farthest = Vector.from_scalar(0, n, datatypes.INT64)
        if (found := counts(B, np.arange(n))) is not None:
            return engine_loops.vector(found[3])
        for depth, bits in sweeps(B, np.arange(n)):
            farthest(bits.S, binary.max) << depth
        return farthest
    farthest = Vector(distances_of(A)[0], n)
    for group, D in from_each(A, np.arange(n)):
        farthest[group] << D.reduce_rowwise(monoid.max)
    return farthest


def diameter(A: Matrix, *, weighted: bool = False) -> Any:
    """Find the greatest distance between two vertices.

    Parameters and errors are those of :func:`eccentricity`; the graph must have at least one vertex.

    Returns
    -------
    int or float
        The diameter; a float if `weighted` and the lengths are FP32 or FP64.

    Notes
    -----
    If every edge has its opposite, a search from v with eccentricity e bounds all others, and vertices whose bounds
    cannot change the result are skipped; few searches are needed on graphs with a core and a periphery::

        max(d(v, w), e - d(v, w)) <= eccentricity(w) <= e + d(v, w)

    Source: F. Takes, W. Kosters, Determining the diameter of small world networks, CIKM 2011,
    doi:10.1145/2063576.2063748.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], [0.5, 0.5, 2, 2], nrows=3, ncols=3)
    >>> gb.algorithms.diameter(A), gb.algorithms.diameter(A, weighted=True)
    (2, 2.5)
    """
    return _extreme(A, weighted, True)


def radius(A: Matrix, *, weighted: bool = False) -> Any:
    """Find the smallest eccentricity: the distance from a central vertex to the vertex farthest from it.

    Parameters, result and errors are those of :func:`diameter`.

    Notes
    -----
    ::

        min_v max_w d(v, w)

    The bounds are those of :func:`diameter`. Source: F. Takes, W. Kosters, Computing the eccentricity distribution of
    large graphs, Algorithms 6, 2013, doi:10.3390/a6010100.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], [0.5, 0.5, 2, 2], nrows=3, ncols=3)
    >>> gb.algorithms.radius(A), gb.algorithms.radius(A, weighted=True)
    (1, 2.0)
    """
    return _extreme(A, weighted, False)


def _extreme(A: Matrix, weighted: bool, greatest: bool) -> Any:
    """Find the greatest or the smallest eccentricity; by bounds if d(v, w) = d(w, v) for all pairs."""
    if _check.adjacency(A) == 0:
        raise InvalidValue("A is 0 x 0; a graph without vertices has neither diameter nor radius")
    if weighted:
        A = usable(A)
    both_ways = facts.is_symmetric(A) or (A.isequal(A.T) if weighted else is_symmetric(A))
    if not both_ways or (weighted and distances_of(A)[0].is_integer and lengths_of(A).most * A.nrows >= 2**62):
        return eccentricity(A, weighted=weighted).reduce(monoid.max if greatest else monoid.min).new().value
    if not weighted and (found := _by_loop(A, greatest)) is not None:
        return found
    refuse_disconnected(A, both_ways)
    return _bounded(A, sssp if weighted else bfs, greatest)


def _by_loop(A: Matrix, greatest: bool) -> int | None:
    """Find the diameter or the radius in hops of an undirected graph by a loop; None if the engine runs none."""
    kinds = (np.uint64, np.int64, np.int64, np.bool_) if greatest else (np.int64,)
    state: Any = tuple(np.empty(0, kind) for kind in kinds)
    loop, place = (longest, (A.nrows, 0)) if greatest else (least, (1, A.nrows, -1))
    searches = engine_loops.passes(A, _SEARCHES)
    while place[0]:
        given, at = state, place
        found = engine_loops.run_loop(loop, A, lambda given=given: given, lambda at=at: at, searches)
        if found is None:
            return None
        place, state = found[0], found[1:]
        if place[0] < 0:
            refuse_disconnected(A, both_ways=True)
    return int(place[1])


def _bounded(A: Matrix, search: Callable[[Matrix, int], Vector], greatest: bool) -> Any:
    """Find the diameter or the radius by searches from selected vertices, which bound all eccentricities."""
    n = A.nrows
    dtype = datatypes.FP64 if search is sssp and not distances_of(A)[0].is_integer else datatypes.INT64
    lower, upper = Vector.from_scalar(0, n, dtype), Vector.from_scalar(infinity(dtype), n, dtype)
    candidates = Vector.from_scalar(True, n, datatypes.BOOL)
    score, highest = out_degree(A), True
    while candidates.nvals:
        # v has the most edges at first, then alternately the highest upper bound and the lowest lower bound
        extreme = score.reduce(monoid.max if highest else monoid.min).new().get(0)
        found = score.select(select.valueeq[score.dtype], extreme).new().to_coo()[0]
        distance = search(A, found[0] if found.size else 0).dup(dtype)
        e = distance.reduce(monoid.max).new().value
        # max(d, e - d) <= eccentricity <= e + d
        lower(binary.max) << distance
        lower(binary.max) << distance.apply(binary.minus, left=e)
        upper(binary.min) << distance.apply(binary.plus, right=e)
        low, high = lower.reduce(monoid.max).new().value, upper.reduce(monoid.min).new().value
        # vertices whose eccentricity may exceed the greatest, or be below the least, found so far
        undecided = (
            upper.select(select.valuegt[dtype], low) if greatest else lower.select(select.valuelt[dtype], high)
        ).new()
        candidates(undecided.S, replace=True) << candidates
        highest = not highest
        score = (upper if highest else lower).dup(mask=candidates.S)
    return low if greatest else high
