"""Eigenvector centrality."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check, _iterate
from sparsezc.algorithms.loops.power_iterations import PARALLEL, krylov, powers
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_LOOK = 8  # rounds between two predictions of how many are left
_KEPT = 1 << 19  # vertices up to which the Lanczos vectors are kept: those of all steps take 64 MiB
_STEPS = 16  # Lanczos steps at a time: 24 and 32 took as long on graphs of 0.2 to 5 million edges


def eigenvector_centrality(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Vector | None = None,
    *,
    weighted: bool = False,
) -> Vector:
    """Score each vertex in proportion to the sum of the scores of the vertices with an edge to it.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j.
    max_iter : int
        Most iterations to run, at least 1.
    tol : float
        Stop when an iteration changes the scores by at most ``n * tol`` in all (the sum of absolute changes).
    nstart : Vector of size n, optional
        The initial scores: entries >= 0 with a sum > 0; by default all equal.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    Vector of FP64, size n
        The scores, an entry for every vertex; their Euclidean norm is 1. They are unique only if the graph is strongly
        connected.

    Raises
    ------
    ConvergenceFailure
        The change was still above ``n * tol`` after `max_iter` iterations.
    InvalidValue
        `tol`, `max_iter`, an entry of `nstart` or a weight is outside its range.
    DimensionMismatch
        `A` is not square, or `nstart` has another size.

    Notes
    -----
    The power method on A' + I, which has the eigenvectors of A', and a dominant largest eigenvalue on bipartite graphs,
    too::

        x = (x + A' x) / |x + A' x|

    The method takes many rounds if the two largest eigenvalues are close. If `A` is known to be symmetric and many
    rounds are predicted, 16 steps of the Lanczos method from x (run twice if their vectors are too large to be kept)
    replace x by the vector of largest Rayleigh quotient in the space spanned by x, A x ..., and the rounds continue
    from there.

    Source: P. Bonacich, Power and centrality: a family of measures, American Journal of Sociology 92, 1987,
    doi:10.1086/228631. The rule for stopping is NetworkX's. The Lanczos method: G. Golub, C. Van Loan, Matrix
    Computations, 4th edition, section 10.1, JHU Press 2013.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)], nrows=3, ncols=3)
    >>> [round(score, 4) for score in gb.algorithms.eigenvector_centrality(A).to_dense().tolist()]
    [0.5, 0.7071, 0.5]
    """
    return scored(A, max_iter, tol, nstart, weighted)


def scored(
    A: Matrix, max_iter: int, tol: float, nstart: Vector | None, weighted: bool, *, ahead: bool = True
) -> Vector:
    """Compute :func:`eigenvector_centrality`; without `ahead`, by the power method alone, without Lanczos steps."""
    n = _check.adjacency(A)
    tol, max_iter = _iterate.options(tol, max_iter)
    if weighted:
        _check.weights(A)
    if n == 0:
        return Vector(datatypes.FP64, 0)
    x = Vector.from_scalar(1.0 / n, n, datatypes.FP64) if nstart is None else _check.distribution(nstart, n, "nstart")
    bound = n * tol
    found = _settled(_Loops(A, weighted, bound), x.to_dense, max_iter, ahead)
    if found is not None:
        return engine_loops.vector(found)
    scores: Vector = _settled(_Statements(A, weighted, bound), x, max_iter, ahead)
    return scores


def _settled(by: Any, x: Any, max_iter: int, ahead: bool) -> Any:
    """Run rounds until one changes the scores by at most the bound; return the scores, None if `by` runs no loops."""
    left, before = max_iter, float("inf")

    def some() -> Iterator[int]:
        while left > 0:
            yield min(_LOOK, left)

    for count in steps(some(), "rounds", total=max_iter, size=int, at_most=True):
        if (found := by.rounds(x, count)) is None:
            return None
        x, change = found
        left -= count
        if change <= by.bound:
            return x
        if not change < float("inf"):
            break
        if ahead and facts.is_symmetric(by.A) and min(left, _rounds_left(before, change, by.bound)) > 2 * _STEPS:
            before = float("inf")
            if (nearer := _ahead(by, x)) is not None:
                x = nearer
                left -= 2 * _STEPS
        else:
            before = change
    raise _iterate.failure("the scores", max_iter, change, by.bound)


def _rounds_left(before: float, change: float, bound: float) -> float:
    """Predict how many rounds are left from the changes in two rounds that are `_LOOK` rounds apart."""
    if before == float("inf"):
        return 0.0
    if change >= before or bound <= 0:
        return float("inf")
    return _LOOK * log(bound / change) / log(change / before)


def _ahead(by: Any, x: Any) -> Any:
    """Return the vector of largest Rayleigh quotient in the space spanned by x, A x ...; None if `by` runs no loops."""
    vectors = np.empty((_STEPS if by.A.nrows <= _KEPT else 0, by.A.nrows))
    if (found := by.sums(x, np.zeros(_STEPS), vectors)) is None:
        return None
    _, diagonal, beside = found
    T = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    if not np.isfinite(T).all():  # squares of weights overflowed
        return None
    (leading,) = engine_loops.agreed(by.A, np.linalg.eigh(T)[1][:, -1])
    return by.combined(x, leading, vectors)


class _Loops:
    """Rounds and Lanczos steps on arrays, by compiled loops; methods return None if the engine runs no loop."""

    def __init__(self, A: Matrix, weighted: bool, bound: float) -> None:
        self.A, self.bound, self._weighted = A, bound, weighted

    def rounds(self, x: Any, count: int) -> Any:
        terms = 1.0, 1.0, np.empty(0)
        given = x, lambda: terms, _iterate.rows_of(self.A, self._weighted, count), float(self.bound), count
        return _iterate.run_loop(powers, self.A, self._weighted, *given, times=_iterate.ROUNDS)

    def sums(self, x: Any, parts: NDArray[np.float64], vectors: NDArray[np.float64]) -> Any:
        return _iterate.run_loop(krylov, self.A, self._weighted, x, parts, lambda: vectors)

    def combined(self, x: Any, parts: NDArray[np.float64], vectors: NDArray[np.float64]) -> Any:
        """Return the linear combination of the Lanczos vectors, which are computed again unless they were kept."""
        if vectors.size:
            return np.abs(parts @ vectors[: parts.size])
        found = self.sums(x, parts, vectors)
        return None if found is None else found[0]


class _Statements:
    """Rounds and Lanczos steps on Vectors, by statements: the reference."""

    def __init__(self, A: Matrix, weighted: bool, bound: float) -> None:
        self.A, self.bound = A, bound
        self._turned, self._multiply = forms.turned(A), _iterate.multiply(weighted)

    def rounds(self, x: Vector, count: int) -> tuple[Vector, float]:
        """Return the scores after at most `count` rounds, and the change in the last round."""
        before, change = Vector(datatypes.FP64, x.size), float("inf")
        for _ in range(count):
            # x = (x + A' x) / |x + A' x|
            before << x
            x(binary.plus) << self._turned.mxv(before, self._multiply)
            x << x.apply(binary.truediv, right=_length(x))
            change = _iterate.moved(x, before)
            if change <= self.bound or not change < float("inf"):
                break
        return x, change

    def combined(self, x: Vector, parts: NDArray[np.float64], _: Any) -> Vector:
        return self.sums(x, parts, _)[0]

    def sums(self, x: Vector, parts: NDArray[np.float64], _: Any) -> tuple[Vector, list[float], list[float]]:
        """Return the linear combination of the Lanczos vectors, and both diagonals: see :func:`krylov`."""
        total, before = (Vector.from_scalar(0.0, x.size, datatypes.FP64) for _ in range(2))
        w, last = x.dup(), 0.0
        length = _length(w)
        diagonal: list[float] = []
        beside: list[float] = []
        for part in parts.tolist():
            q = w.apply(binary.truediv, right=length).new()
            total(binary.plus) << q.apply(binary.times, right=part)
            # w = A q - a q - b before, a = q' A q, b = |w| of the step before
            w << before.apply(binary.times, right=-last)
            w(binary.plus) << self.A.mxv(q, self._multiply)
            own = float(w.ewise_mult(q, binary.times).new().reduce(monoid.plus).new().get())
            w(binary.plus) << q.apply(binary.times, right=-own)
            before, last = q, _length(w)
            length = last
            diagonal.append(own)
            beside.append(last)
            if not last > PARALLEL * abs(own):
                break
        total << total.apply(unary.abs)
        return total, diagonal, beside


def _length(x: Vector) -> float:
    return float(x.ewise_mult(x, binary.times).new().reduce(monoid.plus).new().get() ** 0.5)
