"""Communities by semi-synchronous label propagation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms._votes import winning
from sparsezc.algorithms.greedy_color import greedy_color
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings.types import datatypes


def label_propagation(A: Matrix) -> Vector:
    """Find communities: vertices take a label that most of their neighbours have, until each vertex has such a label.

    Vertices of one colour, none of which are neighbours, change at once, one colour after another; so the process ends.
    Of several labels with equally many votes a vertex keeps its own, or takes the largest. Each edge is one vote for
    both of its ends in whichever direction; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex; the first label of a vertex is its own number.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With c the colours, found by largest degrees first, and W(v) the labels with most votes among v's neighbours, for
    each colour k in turn::

        l(v) = max W(v)      where c(v) = k and l(v) is not in W(v)

    The most frequent value is no monoid (see :func:`cdlp`), so the edges are copied to the host once.

    Source: G. Cordasco, L. Gargano, Community detection via semi-synchronous label propagation algorithms, 2010,
    doi:10.1109/BASNA.2010.5730298.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (3, 4)], nrows=6, ncols=6)
    >>> gb.algorithms.label_propagation(A).to_dense().tolist()
    [2, 2, 2, 4, 4, 5]
    """
    n = _check.adjacency(A)
    S = simple(A)
    color = greedy_color(S, strategy="largest_first").to_coo()[1]
    i, j, _ = S.to_coo(values=False)
    i, j = i.astype(np.int64), j.astype(np.int64)
    by_color = np.argsort(color[i], kind="stable")
    ends = np.cumsum(np.bincount(color[i], minlength=1))
    edges = [(i[part], j[part]) for part in np.split(by_color, ends[:-1])]
    label = np.arange(n)
    while not all(_satisfied(*part, label)[1].all() for part in edges):
        for part in edges:
            vertices, content, largest = _satisfied(*part, label)
            label[vertices] = np.where(content, label[vertices], largest)
    return Vector.from_coo(np.arange(n), label, datatypes.INT64, size=n)


def _satisfied(
    i: NDArray[np.int64], j: NDArray[np.int64], label: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Return the vertices of some edges, whether each has a label with most of its votes, and the largest such one."""
    order = np.lexsort((label[j], i))
    voter, vote = i[order], label[j][order]
    first = np.flatnonzero(np.r_[True, (voter[1:] != voter[:-1]) | (vote[1:] != vote[:-1])][: voter.size])
    count = np.diff(np.r_[first, voter.size])
    voter, vote = voter[first], vote[first]
    if voter.size == 0:
        return voter, voter.astype(np.bool_), voter
    start, wins = winning(voter, count)
    content = np.logical_or.reduceat(wins & (vote == label[voter]), start)
    return voter[start], content, np.maximum.reduceat(np.where(wins, vote, -1), start)
