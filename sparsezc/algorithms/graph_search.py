"""Walks towards vertices of high scores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.semirings import monoid

_MODES = ("uniform", "greedy", "stochastic")


def graph_search(
    A: Matrix,
    sources: Iterable[Any],
    scores: Vector,
    length: Any = 10,
    mode: str = "uniform",
    *,
    seed: int | None = None,
) -> Matrix:
    """Walk from each source along out-edges, towards high scores.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j. Values are not read.
    sources : iterable of int
        The starts of the walks, one walk each; a vertex may occur several times.
    scores : Vector, size n, of a real type
        A score for each vertex. "greedy" and "stochastic" never walk to a vertex without a score.
    length : int
        The most edges of a walk, at least 0.
    mode : {"uniform", "greedy", "stochastic"}
        The choice of an edge in each step. With "uniform" all have equal probability; "greedy" takes the edge to the
        neighbour of the highest score, of equal scores to the smallest vertex; with "stochastic" probabilities are in
        proportion to the neighbours' scores, which must be >= 0.
    seed : int, optional
        From 0 to 2**64 - 1; see :func:`random_walks`. Random by default. "greedy" draws nothing.

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
        `mode` is none of the three, `length` is negative, `seed` is out of bounds, a score is NaN, or, for
        "stochastic", a score is negative or infinite.
    DimensionMismatch
        `A` is not square, or `scores` is of another size.
    DomainMismatch
        `scores` is not a Vector, or is of a complex or a user-defined type.

    Notes
    -----
    Greedy::

        next(i) = argmax over the edges (i, j) of scores(j)      one product
        v(s + 1) = next(v(s))                                    no edge is read

    Source: the application "graph search" of the DARPA HIVE programme, as in Y. Wang et al., Gunrock, TOPC 2017,
    doi:10.1145/3108140.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (2, 3)], nrows=4, ncols=4)
    >>> scores = gb.Vector.from_dense([0.0, 1.0, 5.0, 2.0])
    >>> gb.algorithms.graph_search(A, [0], scores, length=3, mode="greedy").to_coo()[2].tolist()
    [0, 2, 3]
    """
    n = _check.adjacency(A)
    steps = _check.count(length, "length")
    if mode not in _MODES:
        raise InvalidValue(f"mode is {mode!r}; one of {', '.join(map(repr, _MODES))} is needed")
    _check.seed(seed, "graph_search")
    _check_scores(scores, n)
    if mode == "greedy":
        best: Vector = ops.best_column(A, scores).new()
        at = _check.vertices(sources, n)  # while a GPU reads the edges
        walks = engine_loops.follow(best, at, steps, partial(_check_values, scores))
        if walks is not None:
            return walks
    _check_values(scores, weigh=mode == "stochastic")
    if mode == "greedy":
        return ops.walk(forms.pointers(best), at, steps, seed=0).new()  # type: ignore[no-any-return]
    at = _check.vertices(sources, n)
    return ops.walk(A, at, steps, scores if mode == "stochastic" else None, seed=seed).new()  # type: ignore[no-any-return]


def _check_scores(scores: Any, n: int) -> None:
    """Check that `scores` is a Vector of a real type with a position for each vertex."""
    if not isinstance(scores, Vector):
        raise DomainMismatch(f"scores is a {type(scores).__name__}; a Vector is needed")
    if scores.size != n:
        raise DimensionMismatch(f"scores has size {scores.size}; the graph has {n} vertices")
    if scores.dtype.is_complex or scores.dtype.is_udt:
        raise DomainMismatch(f"scores is of type {scores.dtype}; a real type is needed")


def _check_values(scores: Vector, *, weigh: bool = False) -> None:
    """Refuse NaN, and, if scores `weigh`, negative and infinite scores."""
    if scores.dtype.is_float and scores.apply("isnan").new().reduce(monoid.lor).new().get(False):
        raise InvalidValue("scores has NaN; numbers are needed")
    if weigh and scores.nvals and not scores.dtype.is_bool:
        least, most = (scores.reduce(op).new().get() for op in (monoid.min, monoid.max))
        if least < 0 or most == np.inf:
            raise InvalidValue(f"scores ranges from {least} to {most}; mode 'stochastic' needs finite scores >= 0")
