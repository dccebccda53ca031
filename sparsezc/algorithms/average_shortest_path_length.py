"""The mean distance between vertices."""

from __future__ import annotations

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._distances import refuse_disconnected, usable
from sparsezc.algorithms.closeness_centrality import sums
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import monoid


def average_shortest_path_length(A: Matrix, *, weighted: bool = False) -> float:
    """Compute the mean distance over all ordered pairs of different vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a (strongly) connected graph of at least one vertex: an entry (i, j) is an edge from i to j.
    weighted : bool
        Values are edge lengths >= 0, and an edge of infinite length cannot be used; else distances are hops.

    Returns
    -------
    float
        The mean; 0 for a single vertex.

    Raises
    ------
    InvalidValue
        A vertex does not reach another, there is no vertex, or `weighted` and a length is negative or NaN.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    ::

        sum_(s != t) d(s, t) / (n (n - 1))

    Source: D. Watts, S. Strogatz, Collective dynamics of 'small-world' networks, Nature 393, 1998, doi:10.1038/30918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)], [1, 2, 6], nrows=3, ncols=3)
    >>> gb.algorithms.average_shortest_path_length(A), gb.algorithms.average_shortest_path_length(A, weighted=True)
    (1.5, 4.5)
    """
    n = _check.adjacency(A)
    if n == 0:
        raise InvalidValue("A is 0 x 0; a graph without vertices has no distances")
    refuse_disconnected(usable(A) if weighted else A)
    _, total = sums(A, np.arange(n), weighted)
    return float(total.reduce(monoid.plus).new().get()) / (n * (n - 1)) if n > 1 else 0.0
