"""Communities by synchronous label propagation (CDLP of LDBC Graphalytics)."""

from __future__ import annotations

from typing import Any

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._communities import positions
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def cdlp(A: Matrix, max_iter: Any = 10) -> Vector:
    """Find communities: in each round, every vertex takes the label that most of its neighbours have.

    All vertices change at once. Of several labels with equally many votes the smallest wins. In a directed graph both
    ends of an edge vote for each other, and a pair of opposite edges counts twice. Loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, is an edge from i to j.
    max_iter : int
        Number of rounds, at least 0; the algorithm ends earlier once a round changes no label.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex; each vertex starts with its own number as label.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `max_iter` is negative.

    Notes
    -----
    With N(v) the multiset of neighbours of v, one for each edge::

        l(v) = min argmax_k |{u in N(v): l(u) = k}|

    The most frequent value is no monoid, as it cannot be computed from two operands at a time; ``ops.best_label`` is an
    operation of its own. After the first round it recomputes only vertices that have a neighbour with a new label.

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
    W, weigh = A, semiring.plus_pair
    if not facts.is_symmetric(A):
        # W = A + A', the number of edges between two vertices
        W, weigh = A.apply(binary.pair[datatypes.FP64], right=1.0).new(), semiring.plus_first
        W << W.ewise_add(W.T, monoid.plus)
    label = positions(A)
    looks = Vector.from_scalar(True, n, datatypes.BOOL)
    changed = Vector(datatypes.INT64, n)
    for _ in steps(range(rounds), "rounds", at_most=True):
        # l(v) = min argmax_k |{u in N(v): l(u) = k}|, where this differs from l(v)
        changed(looks.S, replace=True) << ops.best_label(W, label, weigh, stays=False)
        if not changed.nvals:
            break
        label(changed.S) << changed
        # next: vertices with a changed neighbour
        looks << changed.vxm(W, semiring.any_pair[datatypes.BOOL])
    return label
