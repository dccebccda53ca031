"""Seeded graph matching: a one-to-one map between the vertices of two graphs, given some of its pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.algorithms._pattern import is_symmetric
from sparsezc.applications import _check
from sparsezc.applications.linear_assignment import assigned
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.memory import budget
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

Ints = NDArray[np.int64]
_ENTRY_BYTES = 48  # bytes for each entry of the gradient and of selections of it
_COPIES = 16  # copies of a graph that must fit the engine's fastest memory, for its transpose and the gradients, too
#: Least gain of a step, in entries of A that meet entries of B. If two matches are equally good, steps of smaller gain
#: continue for hundreds of rounds and change neither.
_LEAST = 0.1
_BID = 0.5  # least bid of auctions, in edges, which entries of the gradient count; 0.05 takes three times the rounds


def seeded_graph_matching(
    A: Matrix, B: Matrix, seeds: Any, lap: str = "exact", *, max_iter: Any = 100
) -> tuple[Vector, int]:
    """Match the vertices of two graphs so that many edges of one meet edges of the other, given some known pairs.

    Parameters
    ----------
    A, B : Matrix, shape (n, n) both, any dtype
        Adjacency matrices: an entry (i, j), whatever its value, is an edge from i to j.
    seeds : array of integers, shape (k, 2)
        Known pairs of a vertex of `A` and a vertex of `B`; no vertex of either graph may be in two pairs.
    lap : {"exact", "auction"}
        How assignments are solved, as `method` of :func:`linear_assignment`; the auction is near the optimum.
    max_iter : int
        Most Frank-Wolfe steps, at least 1; steps in which known pairs spread do not count.

    Returns
    -------
    match : Vector of INT64, size n
        The vertex of `B` for each vertex of `A`.
    disagreements : int
        The number of entries of A without an entry of B at the matched position, plus the number of entries of B
        without one of A. In undirected graphs an edge has two entries.

    Raises
    ------
    ConvergenceFailure
        A further step would still gain; the message has the gain, and the disagreements so far.
    InvalidValue
        A vertex is in two seeds, `lap` is neither of the two, or `max_iter` is less than 1.
    IndexOutOfBound
        A seed is not a vertex.
    OutOfMemory
        The gradient may need more memory than may be used; the message has the size.
    DimensionMismatch
        `A` or `B` is not square, they differ in size, or `seeds` has another shape.

    Notes
    -----
    First the known pairs, at first the seeds, spread as long as their number grows::

        G = A P B' + A'P B                  the number of edges that tie i to j by known pairs
        P = argmax <G, P>                   an assignment of pairs that at least two edges tie

    Two edges of a wrong pair seldom meet two known pairs, so that few pairs are wrong, which later steps correct, and G
    stays small. Between similar graphs these steps find all pairs. From there Frank-Wolfe steps on doubly stochastic
    matrices P maximise the trace of A P B'P'::

        G = A P B' + A'P B                  the gradient
        T = argmax <G, T>                   an assignment of the vertices that are not seeds
        P = P + a (T - P)                   a in 0..1 maximises the trace, which is a parabola in a

    until a step gains less than a tenth of an entry; the result is the assignment nearest to P. As terms of a row or of
    a column alone do not change an assignment, only the edges of A and B enter G: it stays sparse, P is a mixture of as
    many permutations as there were steps, and no n x n matrix is formed. Vertices that no edge ties to a match are
    matched by degree.

    Source: D. Fishkind, S. Adali, H. Patsolic, L. Meng, D. Singh, V. Lyzinski, C. Priebe, Seeded graph matching,
    Pattern Recognition 87, 2019, section 2, doi:10.1016/j.patcog.2018.09.014; L. Yartseva, M. Grossglauser, On the
    performance of percolation graph matching, COSN 2013, section 3, doi:10.1145/2512938.2512952.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 4)], nrows=5, ncols=5)
    >>> B = gb.Matrix.from_edgelist([(4, 3), (3, 2), (2, 1), (1, 0)], nrows=5, ncols=5)
    >>> match, disagreements = gb.applications.seeded_graph_matching(A, B, [(0, 4)])
    >>> match.to_dense().tolist(), disagreements
    ([4, 3, 2, 1, 0], 0)
    """
    n = graphs.adjacency(A, "A")
    if graphs.adjacency(B, "B") != n:
        raise DimensionMismatch(f"B is {B.nrows} x {B.ncols} and A is {n} x {n}; graphs of one size are needed")
    pairs = _pairs(seeds, n)
    _check.one_of(lap, "lap", ("exact", "auction"))
    most = graphs.count(max_iter, "max_iter", 1)
    X, Y = (forms.resident(each, _COPIES).apply(binary.pair[datatypes.FP64], right=1).new() for each in (A, B))
    problem = _Problem(X, Y, pairs, lap)
    known, G = problem.spread()
    P = problem.matrix(known)
    for number in steps(range(most + 1), "rounds", at_most=True):
        if number > 0:
            G = problem.gradient(P)
        # <G, P> is twice the number of edges that meet edges: here all of one graph do
        if _inner(G, P) >= 2 * min(A.nvals, B.nvals):
            break
        T = problem.matrix(problem.best(G))
        step, gain = (1.0, np.inf) if number == 0 and len(known) == len(pairs) else problem.step(P, T, G)
        if gain < _LEAST:
            break
        if number == most:
            raise ConvergenceFailure(
                f"after max_iter = {most} steps a further one gains {gain:.3g} entries, less than {_LEAST} is needed; "
                f"the match so far has {problem.disagreements(problem.best(P)):,} disagreements"
            )
        # P = P + a (T - P)
        P << P.apply(binary.times, right=1 - step)
        P(binary.plus) << T.apply(binary.times, right=step)
        P << P.select(select.valuegt, 0)
    match = problem.best(P)
    return Vector.from_coo(match[:, 0], match[:, 1], datatypes.INT64, size=n), problem.disagreements(match)


class _Problem:
    """The two graphs with values of 1, the seeds, and the steps of the method."""

    def __init__(self, A: Matrix, B: Matrix, seeds: Ints, lap: str):
        self.A, self.B, self.seeds, self.lap = A, B, seeds, lap
        self.turned = None if is_symmetric(A) and is_symmetric(B) else (A.T.new(), B.T.new())
        self.degree = [in_degree(X).dup(datatypes.FP64) for X in (A, B)]
        # by descending degree, for vertices that no edge ties to a match
        self.by_degree = [np.argsort(-_degrees(X), kind="stable") for X in (A, B)]

    def matrix(self, pairs: Ints) -> Matrix:
        """Return the matrix with a 1 at each pair."""
        partner = forms.vector_beside(self.A, datatypes.INT64)
        partner[pairs[:, 0]] = pairs[:, 1]
        made: Matrix = forms.pointers(partner).apply(binary.second[datatypes.FP64], right=1.0).new()
        return made

    def product(self, P: Matrix) -> Matrix:
        """Return A P B'."""
        # a bound of the entries: d'P e pairs of neighbours of pairs, with d and e the in-degrees
        most = min(int(self.degree[0].vxm(P, semiring.plus_first).new().inner(self.degree[1]).new().get(0)), P.nrows**2)
        budget.require_host(
            _ENTRY_BYTES * most, f"seeded_graph_matching: a gradient of up to {most:,} pairs of neighbours"
        )
        made: Matrix = self.A.mxm(P, semiring.plus_second).new().mxm(self.B.T, semiring.plus_first).new()
        return made

    def gradient(self, P: Matrix) -> Matrix:
        """Return A P B' + A'P B."""
        G = self.product(P)
        if self.turned is None:
            G << G.apply(binary.times, right=2.0)
        else:
            A, B = self.turned
            G(binary.plus) << A.mxm(P, semiring.plus_second).new().mxm(B.T, semiring.plus_first)
        return G

    def spread(self) -> tuple[Ints, Matrix]:
        """Spread known pairs from the seeds, each tied by at least two edges; return all, and the gradient there."""
        known, one = self.seeds, 2 if self.turned is None else 1  # symmetric graphs: G counts edges twice
        while True:
            G = self.gradient(self.matrix(known))
            found = self.tied(G, one)
            if len(found) <= len(known):
                return known, G
            known = found

    def tied(self, G: Matrix, least: float) -> Ints:
        """Return the seeds, and the assignment with the largest sum of the entries of G above `least`, as pairs."""
        strong = G.select(select.valuegt, least).new()
        rows, columns = (
            np.setdiff1d(strong_side.to_coo()[0].astype(np.int64), self.seeds[:, side])
            for side, strong_side in enumerate(
                (strong.reduce_rowwise(monoid.any).new(), strong.reduce_columnwise(monoid.any).new())
            )
        )
        chosen = assigned(strong[rows, columns].new(), self.lap, _BID)
        some = chosen >= 0
        pairs: Ints = np.r_[self.seeds, np.c_[rows[some], columns[chosen[some]]]]
        return pairs

    def best(self, G: Matrix) -> Ints:
        """Return the pairs, sorted, of the full assignment with the largest sum of G; it includes the seeds."""
        pairs = self.tied(G, 0)
        left = [at[~np.isin(at, pairs[:, side])] for side, at in enumerate(self.by_degree)]
        pairs = np.r_[pairs, np.c_[left[0], left[1]]]
        return np.take(pairs, np.argsort(pairs[:, 0]), axis=0)

    def disagreements(self, match: Ints) -> int:
        """Count the entries of either graph without an entry of the other at the matched position."""
        M = self.matrix(match)
        # B in the order of the match: M B M'
        first, second = semiring.any_first[datatypes.FP64], semiring.any_second[datatypes.FP64]
        moved = M.mxm(self.B, second).new().mxm(M.T, first).new()
        common = self.A.ewise_mult(moved, binary.pair).new().nvals
        return int(self.A.nvals + self.B.nvals - 2 * common)

    def step(self, P: Matrix, T: Matrix, G: Matrix) -> tuple[float, float]:
        """Return the step from P towards T with the largest trace(A P B'P'), and the trace's increase."""
        D = T.dup()
        D(binary.plus) << P.apply(binary.times, right=-1.0)
        slope = _inner(G, D)
        # <D, A D B'>: the quadratic coefficient of the parabola
        bend = _inner(self.product(D), D)
        a = min(1.0, max(0.0, -slope / (2 * bend))) if bend < 0 else 1.0
        return a, a * slope + a * a * bend


def _degrees(X: Matrix) -> Ints:
    found: Ints = out_degree(X).to_dense(0)
    return found


def _inner(X: Matrix, Y: Matrix) -> float:
    return float(X.ewise_mult(Y, binary.times).new().reduce_scalar(monoid.plus).new().get(0.0))


def _pairs(seeds: Any, n: int) -> Ints:
    """Check the seeds; return them as an INT64 array of shape (k, 2)."""
    if isinstance(seeds, Matrix):
        raise DomainMismatch("seeds is a Matrix; pairs of a vertex of A and of B are needed")
    try:
        pairs = np.asarray(seeds)
    except ValueError:
        for k, pair in enumerate(seeds):
            if np.shape(pair) != (2,):
                raise DimensionMismatch(
                    f"seeds has {pair!r} at {k}; a pair of a vertex of A and of B is needed"
                ) from None
        raise
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DimensionMismatch(f"seeds has shape {pairs.shape}; (k, 2) is needed, pairs of a vertex of A and of B")
    if pairs.dtype.kind not in "iu":
        raise DomainMismatch(f"seeds holds {pairs.dtype}; vertex numbers (integers) are needed")
    for side, name in ((0, "A"), (1, "B")):
        at = graphs.vertices(pairs[:, side], n, f"seeds of {name}")
        once, times = np.unique(at, return_counts=True)
        if (times > 1).any():
            raise InvalidValue(
                f"seeds has vertex {once[times.argmax()]} of {name} {times.max()} times; each may come once"
            )
    return pairs.astype(np.int64)
