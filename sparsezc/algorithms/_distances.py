"""Lengths of shortest paths over edges that have lengths >= 0, from many vertices at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._lengths import TAKEN_BY, distances_of, lengths_of, refuse_long, refuse_overflow
from sparsezc.algorithms._pattern import transposed
from sparsezc.algorithms._searches import batches, rows
from sparsezc.algorithms.bfs import bfs
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_BYTES = 64  # working memory for a distance: itself, its candidate, and the result of their comparison


def usable(A: Matrix, positive: bool = False) -> Matrix:
    """Return the edges that paths may use: those of finite length; raise InvalidValue for invalid lengths.

    Lengths below 0 are invalid; with `positive` a length of 0, too.
    """
    dtype, infinity = distances_of(A)
    lengths = lengths_of(A)
    if lengths.least < 0 or (positive and A.nvals and lengths.least == 0):
        needed = f"lengths {'>' if positive else '>='} 0 are needed"
        raise InvalidValue(f"A has a value of {lengths.least}; {needed}{TAKEN_BY if lengths.least < 0 else ''}")
    refuse_long(A, dtype)
    if dtype is not datatypes.INT64 and lengths.most == infinity:
        kept: Matrix = A.select(select.valuene[dtype], infinity).new()
        return facts.known_symmetric(kept, facts.is_symmetric(A))
    return A


def relax(A: Matrix, q: Any) -> Any:
    """Compute distances by lowering them, round by round, until none changes.

    With q the distances lowered in the round before, a Vector for one search or a Matrix with one row per search::

        t = q'A              over (min, plus)
        t<not t >= d> = t
        d<t> = t
        q = t

    Parameters
    ----------
    A : Matrix
        The result of :func:`usable`.
    q : Vector or Matrix
        The starts of the paths and their initial distances, of the distances' type; it is overwritten.

    Returns
    -------
    Vector or Matrix
        The distances; vertices that are not reached have no entry.
    """
    op = semiring.min_plus[q.dtype]
    product = q.mxm if q.ndim == 2 else q.vxm
    may_wrap = q.dtype.is_integer and lengths_of(A).most * A.nrows >= 2**63
    distance = q.dup()
    while q.nvals:
        # t = q'A
        q << product(A, op)
        # t<not t >= d> = t
        no_better = q.ewise_mult(distance, binary.ge).new()
        q(~no_better.V, replace=True) << q
        # d<t> = t
        distance(q.S) << q
        if may_wrap and q.nvals:
            least = (q.reduce if q.ndim == 1 else q.reduce_scalar)(monoid.min).new()
            refuse_overflow(A, least.get(0))
    return distance


def from_each(A: Matrix, sources: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Matrix]]:
    """Yield each group of sources with a Matrix of distances: row i holds those from the i-th source of the group.

    `A` is the result of :func:`usable`.
    """
    dtype = distances_of(A)[0]
    for group in batches(sources, A.nrows, _BYTES * A.nrows):
        yield group, relax(A, rows(group, A.nrows, dtype, 0))


def refuse_disconnected(A: Matrix, both_ways: bool = False) -> Matrix:
    """Raise InvalidValue if vertex 0 does not reach all vertices along the edges of A and of A'; return A'.

    If every edge has its opposite (`both_ways`), only A is searched, and A is returned.
    """
    B = A if both_ways else transposed(A)
    for edges, said in ((A, "vertex 0 does not reach"), (B, "vertex 0 is not reached from")):
        if A.nrows and (missing := A.nrows - bfs(edges, 0).nvals):
            raise InvalidValue(f"A: {said} {missing} of {A.nrows} vertices; distances would be infinite")
        if B is A:
            break
    return B
