"""PageRank."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from sparsezc.algorithms import _check, _iterate
from sparsezc.algorithms._degree import out_weight
from sparsezc.algorithms.loops import power_iterations
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.memory.budget import has_host
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_TURNED = 8  # most bytes of an entry of A' without its weight


def pagerank(
    A: Matrix,
    damping: float = 0.85,
    tol: float | None = 1e-6,
    max_iter: int = 100,
    *,
    personalization: Vector | None = None,
    nstart: Vector | None = None,
    dangling: Vector | None = None,
    weighted: bool = False,
) -> Vector:
    """Compute for each vertex the share of time that a random walk spends there.

    The walk follows an out-edge with probability `damping`. Otherwise, and at a vertex without out-edges, it jumps to
    any vertex: all with equal probability, or by `personalization` or `dangling`.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    damping : float
        The probability of following an edge, in 0..1.
    tol : float or None
        Stop when an iteration changes the ranks by at most ``n * tol`` in all (the sum of absolute changes). None
        runs `max_iter` iterations, however small the changes.
    max_iter : int
        Most iterations to run, at least 1.
    personalization : Vector of size n, optional
        The distribution of jumps: entries >= 0 with a sum > 0, which need not be 1.
    nstart : Vector of size n, optional
        The initial ranks, under the same rules; by default 1 / n each. If they are FP32, so are all ranks, which
        halves the bytes of vectors that an iteration moves; sums are computed in FP64 in any case.
    dangling : Vector of size n, optional
        The distribution of jumps from a vertex without out-edges, under the same rules; by default
        `personalization`.
    weighted : bool
        Edges are followed in proportion to their values, which must be >= 0; else with equal probability.

    Returns
    -------
    Vector of FP64, or of FP32 if `nstart` is FP32, size n
        The ranks, an entry for every vertex; they sum to 1.

    Raises
    ------
    ConvergenceFailure
        The change was still above ``n * tol`` after `max_iter` iterations.
    InvalidValue
        `damping`, `tol`, `max_iter`, a weight, or an entry of a vector is outside its range.
    DimensionMismatch
        `A` is not square, or a vector has another size.

    Notes
    -----
    With d the damping, k the out-degrees and p the personalisation::

        t = A' (d r / k)
        r = t + (1 - sum(t)) p      1 - sum(t) is 1 - d plus m, d times the rank of vertices without out-edges

    With `dangling`, a vector g, m follows g: r = t + m g + (1 - sum(t) - m) p.

    Source: L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank Citation Ranking, Stanford InfoLab 1999-66. The
    rule for stopping is NetworkX's.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 0)], nrows=3, ncols=3)
    >>> [round(rank, 4) for rank in gb.algorithms.pagerank(A).to_dense().tolist()]
    [0.4865, 0.4635, 0.05]
    """
    n = _check.adjacency(A)
    damping = _check.number(damping, "damping", 0, 1)
    tol = None if tol is None else _check.number(tol, "tol", 0, infinite=True)
    max_iter = min(_check.count(max_iter, "max_iter", 1), _iterate.MOST_ROUNDS)
    dtype = datatypes.FP32 if isinstance(nstart, Vector) and nstart.dtype is datatypes.FP32 else datatypes.FP64
    if n == 0:
        return Vector(dtype, 0)
    # d / k, and 0 where k is 0: a full vector needs no test for missing entries
    share = _share(A, weighted, damping)
    uniform = Vector.from_scalar(1.0 / n, n, datatypes.FP64)
    teleport = uniform if personalization is None else _check.distribution(personalization, n, "personalization", share)
    start = uniform if nstart is None else _check.distribution(nstart, n, "nstart", share)
    leak = None if dangling is None else _check.distribution(dangling, n, "dangling", share)
    teleport, share = (v if v.dtype is dtype else v.dup(dtype) for v in (teleport, share))
    total = monoid.plus[datatypes.FP64]
    multiply = semiring.plus_times[datatypes.FP64] if weighted else semiring.plus_second[datatypes.FP64]

    bound = -1.0 if tol is None else n * tol
    state = _State(start, share, teleport, leak, damping, bound)
    found = _by_loops(A, weighted, state, max_iter, dtype)
    if found is None:
        found = _by_parts(A, weighted, state, max_iter, dtype)
    if found is not None:
        if tol is not None and not state.change <= bound:
            raise _failure(max_iter, state.change, bound)
        return found
    turned = forms.turned(A)
    rank = start.dup(dtype)
    before, sent, change = (Vector(dtype, n) for _ in range(3))
    for _ in steps(range(max_iter), "rounds", at_most=True):
        rank, before = before, rank
        # t = A' (d r / k)
        sent << before.ewise_mult(share, binary.times)
        rank << turned.mxv(sent, multiply)
        # r = t + (1 - sum(t)) p
        rest = 1.0 - rank.reduce(total).new().get(0.0)
        if leak is not None:
            # m = d times the rank of vertices without out-edges
            lost = damping * before.dup(mask=~share.V).reduce(total).new().get(0.0)
            rank(binary.plus) << leak.apply(binary.times, right=lost)
            rest -= lost
        if personalization is None:
            rank(binary.plus)[:] << rest / n
        else:
            rank(binary.plus) << teleport.apply(binary.times, right=rest)
        if tol is None:
            continue
        # sum |r - r_before|
        change << rank.ewise_mult(before, binary.minus)
        change << change.apply(unary.abs)
        moved = change.reduce(total).new().get(0.0)
        if moved <= bound:
            return rank
    if tol is None:
        return rank
    raise _failure(max_iter, moved, bound)


def _share(A: Matrix, weighted: bool, damping: float) -> Vector:
    """Return d / k for each vertex, 0 without out-edges, as a full vector."""
    if not weighted and (k := engine_loops.row_lengths(A)) is not None:
        return engine_loops.vector(np.divide(damping, k, out=np.zeros(k.size), where=k > 0))
    return _check.full(out_weight(A, weighted).apply(binary.truediv, left=damping).new(datatypes.FP64), A.nrows, "k")


def _by_loops(A: Matrix, weighted: bool, state: _State, max_iter: int, dtype: Any) -> Vector | None:
    """Return the ranks; None if the engine runs no loops, or statements are faster.

    Threads divide the rows of A' among them, so that each rank has one writer. A' is built unless A is symmetric; if
    host memory is short for it, one thread pushes along the rows of A.
    """
    rows = () if weighted else (np.empty(0),)
    run = partial(engine_loops.run_loop, values=np.float64 if weighted else None)
    pulls, entries = facts.is_symmetric(A), A.nvals
    if not pulls and has_host((_TURNED + 8 * bool(weighted)) * entries):
        ids = np.uint32 if A.nrows <= 2**32 else np.int64
        made = run(power_iterations.transposed, A, *rows, lambda: np.empty(entries, ids))
        if made is None:
            return None
        run, rows, pulls = partial(engine_loops.run_arrays, times=np.inf), made, True
    for some in _iterate.pieces(A, max_iter):
        state.last += some
        given = A, *rows, state.arrays, state.bound, pulls
        if pulls:
            found = run(power_iterations.pagerank, *given, over=range(power_iterations.BLOCKS), again=state.again)
        elif (found := run(power_iterations.pagerank, *given, 0, power_iterations.BLOCKS)) is not None:
            state.again([found])
        if found is None:
            return None
        if state.change <= state.bound:
            break
    return Vector.from_dense(state.rank, dtype=dtype)


def _by_parts(A: Matrix, weighted: bool, state: _State, max_iter: int, dtype: Any) -> Vector | None:
    """Return the ranks by the same loop on several processes, each with some rows; None if statements are to run.

    After each round the processes exchange the values that vertices send, and the sums over rows. The matrix must be
    symmetric, as the loop needs rows of its transpose.
    """
    rows = () if weighted else (np.empty(0),)
    loop, values = power_iterations.pagerank, np.float64 if weighted else None
    while facts.is_symmetric(A) and (part := engine_loops.part(A, loop, values)) is not None:
        given = state.of_rows(part.lo, part.hi)  # before rows are lent, as this reads vectors
        mine, before = given[0], state.rounds[0]
        with engine_loops.lent_part(A, part):
            while state.rounds[0] == before or not part.has_moves():
                state.last = int(state.rounds[0]) + 1
                state.rounds[1] = state.last
                part.run(loop, *rows, given, state.bound, True, over=range(power_iterations.BLOCKS))
                turn = state.last & 1
                state.sums[turn] = part.total(state.sums[turn])
                state.again([1])
                if state.last == max_iter or state.change <= state.bound:
                    return engine_loops.part_vector(A, part, mine, dtype)
                state.sends[turn] = part.gather(state.sends[turn, part.lo : part.hi])
        state.rank[:] = part.gather(mine)
    return None


class _State:
    """State between rounds, made when a loop runs: see :func:`sparsezc.algorithms.loops.power_iterations.pagerank`."""

    def __init__(
        self, start: Vector, share: Vector, teleport: Vector, leak: Vector | None, damping: float, bound: float
    ) -> None:
        self._vectors, self._damping, self.bound = (start, share, teleport, leak), damping, bound
        self.last, self.change = 0, np.inf
        self.rounds = np.zeros(2, np.int64)

    @cached_property
    def _made(self) -> tuple[Any, ...]:
        start, share, teleport, leak = (np.empty(0) if v is None else v.to_dense() for v in self._vectors)
        self.rank, sends, sums = start, np.empty((2, start.size)), np.zeros((2, power_iterations.BLOCKS, 3))
        np.multiply(start, share, out=sends[0])
        sums[0, 0, :2] = [np.compress(chosen, start).sum() for chosen in (share != 0, share == 0)]
        self.sends, self.sums = sends, sums
        return start, share, sends, tuple(sends), sums, self.rounds, (teleport, leak, self._damping)

    def arrays(self) -> tuple[Any, ...]:
        """Return the loop's argument `state`, for rounds up to `last`."""
        self.rounds[1] = self.last
        return self._made

    def of_rows(self, lo: int, hi: int) -> tuple[Any, ...]:
        """Return the loop's argument `state` for rows lo..hi-1; values that vertices send are those of all vertices."""
        rank, share, sends, own, sums, rounds, (teleport, leak, damping) = self._made
        rank, share, teleport, leak = (x[lo:hi] for x in (rank, share, teleport, leak))
        return rank, share, sends, tuple(x[lo:hi] for x in own), sums, rounds, (teleport, leak, damping)

    def again(self, found: list[int]) -> bool:
        """Count the rounds that each thread has run; return whether another one is needed."""
        self.rounds[0] += found[0]
        self.change = sum(self.sums[self.rounds[0] & 1, :, 2].tolist())
        return bool(self.rounds[0] < self.rounds[1] and not self.change <= self.bound)


def _failure(max_iter: int, moved: float, bound: float) -> ConvergenceFailure:
    return ConvergenceFailure(
        f"after max_iter = {max_iter} iterations the ranks still change by {moved:.3g} in all; "
        f"at most n * tol = {bound:.3g} is needed"
    )
