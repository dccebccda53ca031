"""VoteRank: influential spreaders, elected one after another by their neighbours' votes."""

from __future__ import annotations

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def voterank(A: Matrix, k: int | None = None) -> Vector:
    """Choose vertices that are far from each other and have many neighbours, the best first.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, makes i receive the vote of j. An undirected graph has
        each edge in both directions.
    k : int, optional
        The most vertices to elect; by default n. The election ends early once no vertex gets a vote.

    Returns
    -------
    Vector of INT64, size n
        Entry p is the vertex elected at place p; places after the last one elected have no entry.

    Raises
    ------
    InvalidValue
        `k` is negative.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Each vertex has a vote a, at first m, the number of edges, so that all sums are whole numbers. A round is::

        s = A a              over (plus, second); 0 for the elected
        v = the vertex of the largest s, the smallest of several
        a(v) = 0;  a = max(a - n, 0) for the neighbours of v

    Relative to m, the decrease n is one over the mean degree, which the source subtracts from votes of 1. Only the
    votes of v and its neighbours change, so only the sums of their neighbours are computed again.

    Source: J.-X. Zhang et al., Identifying a set of influential spreaders in complex networks, 2016,
    doi:10.1038/srep27823.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.algorithms.voterank(gb.io.read("star:4")).to_dict()
    {0: 0}
    """
    n = _check.adjacency(A)
    rounds = n if k is None else min(_check.count(k, "k"), n)
    elected = Vector(datatypes.INT64, n)
    if n == 0 or A.nvals == 0:
        return elected
    m = int(A.nvals)
    vote = Vector.from_scalar(m, n, datatypes.INT64)
    done = Vector(datatypes.BOOL, n)
    s = out_degree(A).apply(binary.times, right=m).new()
    for place in steps(range(rounds), "vertices", at_most=True):
        # v = the vertex of the largest sum of votes
        most = s.reduce(monoid.max).new().get(0)
        if most == 0:
            break
        v = int(s.select(select.valueeq, most).new().to_coo()[0][0])
        elected[place] = v
        done[v] = True
        # a(v) = 0;  a = max(a - n, 0) for the neighbours of v
        near = A[v, :].new()
        changed = vote.dup(mask=near.S).apply(binary.minus, right=n).new().apply(binary.max, right=0).new()
        changed[v] = 0
        vote(changed.S) << changed
        # s = A a, for the vertices that receive a changed vote
        met = A.mxv(changed, semiring.any_pair[datatypes.BOOL]).new()
        met << met.dup(mask=~done.S)
        s(met.S) << A.mxv(vote, semiring.plus_second[datatypes.INT64])
        s << s.dup(mask=~done.S)
    return elected
