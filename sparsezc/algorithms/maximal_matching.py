"""A maximal matching."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops.orders import matching
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.ops.select import random_seed
from sparsezc.semirings import binary, semiring
from sparsezc.semirings.types import datatypes

_WEYL = 0x9E3779B97F4A7C15  # 2**64 / 1.618: two seeds share words only at vertices far apart
_NONE = np.uint64(2**64 - 1)  # above all keys, which are below 2**63


def maximal_matching(A: Matrix, seed: int | None = None) -> Vector:
    """Find a matching, edges without a common end, to which no edge can be added.

    The direction of edges is ignored; loops do not count. The two sides of a bipartite graph need not be given.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    seed : int, optional
        Chooses among the many matchings; the same seed gives the same matching on every engine. Random by default.

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
    Each vertex has a random word w whose last bits are its number, and an edge has the key w(i) xor w(j): different for
    edges with a common end, and with one end the key yields the other. An edge is matched if its key is the smallest at
    both of its ends. With W the matrix of the keys, and q the unmatched vertices::

        t<q> = W q           over (min, first): the smallest key at each vertex
        u(v) = t(v) xor w(v), whose last bits are the number of the edge's other end
        partner(v) = u(v)    where t(v) == t(u(v))

    The matching is that of the greedy algorithm that visits edges by ascending key; random orders take O(log^2 n)
    rounds. The graph is copied once, for the keys.

    Source: A. Israeli, A. Itai, A fast and simple randomized parallel algorithm for maximal matching, 1986,
    doi:10.1016/0020-0190(86)90144-4; G. Blelloch, J. Fineman, J. Shun, Greedy sequential maximal independent set and
    matching are parallel on average, SPAA 2012, doi:10.1145/2312005.2312058. Words: G. Steele, D. Lea, C. Flood, Fast
    splittable pseudorandom number generators, OOPSLA 2014, doi:10.1145/2660193.2660195.

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
    start = np.uint64(random_seed(seed, "maximal_matching") * _WEYL % 2**64)
    low = np.uint64((1 << (n - 1).bit_length()) - 1)
    if (found := engine_loops.run_loop(matching, S, start, low)) is not None:
        return engine_loops.vector(found, found >= 0)
    w = _words(n, start, low)
    D = Vector.from_dense(w).diag()
    # W = w(i) xor w(j)
    W: Matrix = D.mxm(S, semiring.any_first[datatypes.UINT64]).new()
    W << W.mxm(D, semiring.bxor_bxor[datatypes.UINT64])
    facts.known_symmetric(W)
    partner, q, least = (forms.vector_beside(A, dtype) for dtype in (datatypes.INT64, datatypes.BOOL, datatypes.UINT64))
    q << True
    while True:
        # t<q> = W q
        least(q.S, replace=True) << W.mxv(q, semiring.min_first[datatypes.UINT64])
        if least.nvals == 0:
            return partner
        # partner = u where t(v) == t(u)
        v, t = least.to_coo()[0], least.to_dense(_NONE)
        u = ((t[v] ^ w[v]) & low).astype(np.int64)
        both = t[v] == t[u]
        partner(binary.second) << Vector.from_coo(v[both], u[both], datatypes.INT64, size=n)
        # q<!partner> = q, where only vertices that still have an edge are kept
        q(least.S, replace=True) << q
        q(~partner.S, replace=True) << q


def _words(n: int, start: np.uint64, low: np.uint64) -> NDArray[np.uint64]:
    """Return a word below 2**63 for each vertex, its number in the bits of `low`; the loop makes the same words."""
    x = np.arange(n, dtype=np.uint64) + start
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(1) & ~low) | np.arange(n, dtype=np.uint64)
