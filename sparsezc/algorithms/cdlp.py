"""Communities by label propagation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._votes import winning
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import indexunary
from sparsezc.semirings.types import datatypes


def cdlp(A: Matrix, max_iter: Any = 10) -> Vector:
    """Find communities: each vertex takes the label that most of its neighbours have, round by round.

    All vertices change at once. Of several labels with equally many votes the smallest wins. In a directed graph both
    ends of an edge vote for each other, and a pair of opposite edges counts twice. Loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    max_iter : int
        Number of rounds, at least 0; fewer are run when a round changes nothing.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex; the first label of a vertex is its own number.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `max_iter` is negative.

    Notes
    -----
    With N(v) the neighbours of v, each as often as edges join it to v::

        l(v) = min argmax_k |{u in N(v): l(u) = k}|

    The most frequent value is no monoid: it is not a fold of pairs. So the edges are copied to the host once,
    and each round sorts the pairs of vertex and vote that may have changed.

    Source: A. Iosup et al., LDBC Graphalytics, VLDB 2016, doi:10.14778/3007263.3007270, after U. Raghavan, R. Albert,
    S. Kumara, Near linear time algorithm to detect community structures, 2007, doi:10.1103/PhysRevE.76.036106.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (3, 4)], nrows=6, ncols=6)
    >>> gb.algorithms.cdlp(A, max_iter=3).to_dense().tolist()
    [0, 0, 0, 4, 3, 5]
    """
    n = _check.adjacency(A)
    rounds = _check.count(max_iter, "max_iter")
    i, j, _ = A.to_coo(values=False)
    i, j = i[i != j], j[i != j]
    if not A._symmetric:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    # Vertices are renumbered, in order, without those that have no neighbours: a pair fits one word.
    vertices, i = np.unique(i, return_inverse=True)
    j = np.searchsorted(vertices, j)
    label = np.arange(vertices.size)
    for _ in range(rounds):
        before = label
        label = _vote(i, label[j], label)
        changed = label != before
        if not changed.any():
            break
    answer = Vector.from_scalar(0, n, datatypes.INT64)
    answer << answer.apply(indexunary.rowindex)
    answer[vertices] = Vector.from_coo(np.arange(vertices.size), vertices[label].astype(np.int64), size=vertices.size)
    return answer


def _vote(i: NDArray[np.int64], votes: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most frequent vote of each vertex, the smallest of several; every vertex has a vote."""
    if i.size == 0:
        return label
    pairs = np.sort(i.astype(np.uint64) << np.uint64(32) | votes.astype(np.uint64))
    first = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]])
    count = np.diff(np.r_[first, pairs.size])
    voter, vote = pairs[first] >> np.uint64(32), pairs[first] & np.uint64(2**32 - 1)
    winners = np.flatnonzero(winning(voter, count)[1])
    _, smallest = np.unique(voter[winners], return_index=True)
    return vote[winners[smallest]].astype(np.int64)
