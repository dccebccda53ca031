"""A maximal matching."""

from __future__ import annotations

from functools import partial

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._edges import inverse, numbered
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops.orders import matching
from sparsezc.core import replay
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes

#: Nanoseconds for each row and entry, at least.
COST = 50.0


def maximal_matching(A: Matrix, seed: int | None = None) -> Vector:
    """Match neighbours until no two unmatched vertices are neighbours.

    An edge makes its ends neighbours in whichever direction; loops do not count. The two sides of a bipartite graph
    need not be given.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    seed : int, optional
        Chooses among the many matchings: the same seed gives the same one on every engine. Random by default.

    Returns
    -------
    Vector of INT64, size n
        The partner of each vertex; vertices without one have no entry.

    Raises
    ------
    InvalidValue
        `seed` is not from 0 to 2**64 - 1.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    The edges are numbered at random, and an edge is matched if it has the smallest number at both of its ends. With S
    holding the numbers and q the unmatched vertices::

        t<q> = S q           over (min, first): the smallest number at each vertex
        partner(v) = w       where t(v) == t(w)

    The matching is that of the greedy algorithm that visits the edges by number, in O(log^2 n) rounds. The graph is
    copied once, for the numbers.

    Source: A. Israeli, A. Itai, A fast and simple randomized parallel algorithm for maximal matching, 1986,
    doi:10.1016/0020-0190(86)90144-4; G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and
    matching are parallel on average, SPAA 2012, doi:10.1145/2312005.2312058.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (2, 0)], nrows=4, ncols=4)
    >>> partner = gb.algorithms.maximal_matching(A, seed=1).to_dict()
    >>> partner in ({0: 1, 1: 0}, {0: 2, 2: 0})
    True
    """
    n = _check.adjacency(A)
    S = simple(A)
    order = _check.generator(seed, "maximal_matching").permutation(S.nvals // 2)
    ends = partial(np.empty, (order.size, 2), np.uint32 if n < 2**32 else np.uint64)
    if (found := replay.run_loop(matching, S, order, ends, cost=COST)) is not None:
        return replay.vector(found, found >= 0)
    U = S.select(select.triu).new()
    S = numbered(U, inverse(order))
    partner, q, least = (A._vector(dtype) for dtype in (datatypes.INT64, datatypes.BOOL, datatypes.INT64))
    q << True
    while True:
        # t<q> = S q
        least(q.S, replace=True) << S.mxv(q, semiring.min_first[datatypes.INT64])
        if least.nvals == 0:
            return partner
        # partner = the other v with the same t
        number, by_number = least.to_dense(-1), ops.argsort(least).new().to_dense()
        same = np.flatnonzero(np.diff(number[by_number]) == 0)
        i, j = by_number[same], by_number[same + 1]
        partner(binary.second) << Vector.from_coo(np.r_[i, j], np.r_[j, i], datatypes.INT64, size=n)
        # q<!partner> = q, of which only vertices with an edge matter
        q(least.S, replace=True) << q
        q(~partner.S, replace=True) << q
