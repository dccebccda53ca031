"""PageRank with a certified error, in which vertices that hardly change send nothing."""

from __future__ import annotations

from itertools import count

from sparsezc.algorithms import _check
from sparsezc.algorithms._degree import out_degree, out_weight
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

# The largest share of the residual that is not sent in a round. On kron:16, urand:16 and cnr-2000, with 0.7 the rounds
# read 0.61, 0.71 and 0.32 of the edges read with 0, and are 1.2 to 1.3 times as many; 0.9 reads 3% to 5% fewer edges
# than 0.7, and adds that many rounds again.
_HELD = 0.7
_LEAST = 1e-12  # least error: FP64 sums are rounded
# The values sent, at most 7 / (1 - d) in all, are each rounded a dozen times by 1.1e-16. Rounding errors are never
# corrected, and count 1 / (1 - d) times in the error of the ranks.
_ROUNDED = 1e-14


def pagerank_within(
    A: Matrix,
    error: float = 1e-6,
    damping: float = 0.85,
    *,
    personalization: Vector | None = None,
    dangling: Vector | None = None,
    weighted: bool = False,
) -> Vector:
    """Compute PageRank to a certified error, reading only the edges of vertices that still change.

    The ranks are those of :func:`pagerank`. In each round a vertex sends only if its residual is large relative to its
    number of edges; for a graph in host memory, the edges of the other vertices are not read.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    error : float
        The largest error: the sum of the absolute differences to the exact ranks. For the precision of FP64 it must be
        at least 1e-12 and at least ``1e-14 / (1 - damping)**2``: 4.4e-13 for 0.85, 1e-10 for 0.99, 1e-8 for 0.999.
    damping : float
        From 0 to below 1. The nearer it is to 1, the more rounds are needed.
    personalization, dangling : Vector of size n, optional
        The distributions of jumps, and of jumps from a vertex without out-edges, as in :func:`pagerank`.
    weighted : bool
        Edges are followed in proportion to their values, which must be >= 0; else with equal probability.

    Returns
    -------
    Vector of FP64, size n
        The ranks, an entry for every vertex; they sum to 1.

    Raises
    ------
    InvalidValue
        `error`, `damping`, a weight, or an entry of a vector is outside its range, or `error` is below the precision of
        FP64 for this `damping`.
    DimensionMismatch
        `A` is not square, or a vector has another size.

    Notes
    -----
    With d the damping, k the out-degrees, p the personalisation, x the ranks so far, 0 at first, r their residual, the
    change that one more round of PageRank would make, and s the part of r that is sent, at first p::

        x = x + s
        t = A' (d s / k)
        r = r - s + t + (sum(s) - sum(t)) p
        s = r where |r| > 0.7 sum|r| / nvals k     the rest of r, at most 0.7 sum|r| in all, waits

    A round of PageRank shrinks a difference of sum 0 at least by the factor d, so the error of x / sum(x) is at most
    sum|r| / ((1 - d) sum(x)), and sum|r| shrinks at least by the factor 1 - 0.3 (1 - d) in each round. Residuals may be
    negative.

    Source: F. McSherry, A uniform approach to accelerated PageRank computation, WWW 2005, doi:10.1145/1060745.1060829,
    which sends changes only.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 0)], nrows=3, ncols=3)
    >>> [round(rank, 4) for rank in gb.algorithms.pagerank_within(A, 1e-6).to_dense().tolist()]
    [0.4865, 0.4635, 0.05]
    """
    n = _check.adjacency(A)
    error = _check.number(error, "error", _LEAST)
    damping = _check.number(damping, "damping", 0)
    if not damping < 1:
        raise InvalidValue(f"damping is {damping}; a number below 1 is needed")
    if error < (least := _ROUNDED / (1 - damping) ** 2):
        raise InvalidValue(
            f"error is {error}; at least {least:.3g} is needed with damping {damping}, as FP64 sums are rounded"
        )
    dtype = datatypes.FP64
    if n == 0:
        return Vector(dtype, 0)
    uniform = Vector.from_scalar(1.0 / n, n, dtype)
    # d / k, and the limit of |r| over sum|r|: 0 where k is 0, as sending reads no edges there
    share = _check.full(out_weight(A, weighted).apply(binary.truediv, left=damping).new(dtype), n, "k")
    teleport = uniform if personalization is None else _check.distribution(personalization, n, "personalization", share)
    leak = None if dangling is None else _check.distribution(dangling, n, "dangling", share)
    held = _check.full(out_degree(A).apply(binary.times, right=_HELD / max(A.nvals, 1)).new(dtype), n, "k")
    total = monoid.plus[dtype]
    multiply = semiring.plus_times[dtype] if weighted else semiring.plus_first[dtype]
    rank, residual = Vector.from_scalar(0.0, n, dtype), Vector.from_scalar(0.0, n, dtype)
    sent, carried, t, size, limit = (Vector(dtype, n) for _ in range(5))
    large = Vector(datatypes.BOOL, n)
    sent << teleport
    for _ in steps(count(), "rounds", at_most=True):
        rank(binary.plus) << sent
        # t = A' (d s / k)
        carried << sent.ewise_mult(share, binary.times)
        t << carried.vxm(A, multiply)
        # r = r - s + t + (sum(s) - sum(t)) p
        rest = sent.reduce(total).new().get(0.0) - t.reduce(total).new().get(0.0)
        if leak is not None:
            # of this, d times the values sent by vertices without out-edges follows `dangling`
            lost = damping * sent.dup(mask=~share.V).reduce(total).new().get(0.0)
            residual(binary.plus) << leak.apply(binary.times, right=lost)
            rest -= lost
        residual(binary.minus) << sent
        residual(binary.plus) << t
        residual(binary.plus) << teleport.apply(binary.times, right=rest)
        # sum|r|
        size << residual.apply(unary.abs)
        left, ranks = size.reduce(total).new().get(0.0), rank.reduce(total).new().get()
        if left <= error * (1 - damping) * ranks:
            break
        # s = r where |r| > 0.7 sum|r| / nvals k
        limit << held.apply(binary.times, right=left)
        large << size.ewise_mult(limit, binary.gt)
        sent(large.V, replace=True) << residual
    rank << rank.apply(binary.truediv, right=ranks)
    return rank
