"""Collaborative filtering: ratings as inner products of factors of users and items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.applications import _check
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure, DomainMismatch, InvalidValue, maker
from sparsezc.memory import budget
from sparsezc.ops.select import random_seed
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes
from sparsezc.terminal import progress

Array = NDArray[np.float64]
_SUM = semiring.plus_times[datatypes.FP64]
_COLUMNS = 256  # columns of sums that one pass computes: the most of a panel


class _Ratings(NamedTuple):
    """The ratings, and vectors with an entry for each user and each item that has ratings."""

    R: Matrix
    users: Vector
    items: Vector


def collaborative_filtering(
    R: Matrix,
    k: Any = 20,
    solver: str = "gd",
    rounds: Any = 10,
    *,
    penalty: float = 1e-3,
    rate: float | None = None,
    seed: int | None = None,
) -> tuple[Matrix, Matrix, Array]:
    """Factor ratings: find U and V so that the inner product of row i of U and row j of V is near the rating (i, j).

    Parameters
    ----------
    R : Matrix, shape (m, n), any real dtype
        An entry (i, j) is the rating that user i gave item j; absent entries are unknown ratings.
    k : int
        The number of factors, at least 1.
    solver : {"gd", "als"}
        Gradient descent, or alternating least squares.
    rounds : int
        The number of rounds, at least 1. A round of descent reads the ratings once, one of least squares five times.
    penalty : float
        The weight of the squares of the factors, >= 0; above 0 for least squares.
    rate : float, optional
        The step of the descent, above 0; by default one with which the first round cannot overshoot.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the initial factors. Random by default.

    Returns
    -------
    U, V : Matrix of FP64, shapes (m, k) and (n, k)
        The factors; rows of users and items without ratings have no entries.
    loss : array of float64, shape (rounds + 1,)
        The loss, defined in Notes, at first and after each round.

    Raises
    ------
    ConvergenceFailure
        The descent overshoots: the loss is NaN or infinite. The message has the round and the rate.
    InvalidValue
        `R` has no ratings, a rating is NaN or infinite, or the squares of ratings have no finite sum; `penalty` is too
        small for least squares with ratings of this size; or an argument is outside its range.
    DomainMismatch
        `R` is not a Matrix, or is complex.
    OutOfMemory
        The factors, or the least squares, need more memory than may be used; the message has the size.
    TypeError
        `seed` is not an integer.

    Notes
    -----
    The loss is half the sum of the squares of E and of penalty times the squares of the factors::

        E<R> = R - U V'                         products at ratings only
        U = U + rate (E V - penalty U)          gradient descent: both from the factors before the round,
        V = V + rate (E'U - penalty V)          and both from one stored matrix

        (sum of v_j v_j' + penalty I) u_i = sum of R(i, j) v_j        least squares: over the ratings j of i;
                                                                      then V from U likewise

    E is never stored: one pass over ids and ratings computes each entry, adds it to the sums of its user and of its
    item, and sums up the squares, too. On a GPU these sums differ in their last bits from run to run, and losses by
    less than 1e-9 of their values. The matrices on the left are the rows of S W, with S the pattern of R and W the
    products v v' of each item.

    Source: Y. Koren, R. Bell, C. Volinsky, Matrix factorization techniques for recommender systems, Computer 42, 2009,
    doi:10.1109/MC.2009.263; descent as Z. Jia, Y. Kwon, G. Shipman, P. McCormick, M. Erez, A. Aiken, A distributed
    multi-GPU system for fast graph processing, VLDB 2017, section 6, doi:10.14778/3157794.3157799; least squares:
    Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan, Large-scale parallel collaborative filtering for the Netflix prize,
    AAIM 2008, doi:10.1007/978-3-540-68880-8_32.

    Examples
    --------
    >>> import sparsezc as gb
    >>> R = gb.Matrix.from_coo([0, 0, 1, 2, 2], [0, 1, 0, 1, 2], [1.0, 2.0, 2.0, 6.0, 3.0], nrows=4, ncols=3)
    >>> U, V, loss = gb.applications.collaborative_filtering(R, k=1, solver="als", rounds=20, seed=1)
    >>> round(float(U[1, :].new().to_dense() @ V[1, :].new().to_dense()), 1)  # the rating that user 1 would give item 1
    4.0
    >>> U[3, :].new().nvals, len(loss)
    (0, 21)
    """
    if not isinstance(R, Matrix):
        raise DomainMismatch(f"R is a {type(R).__name__}; a Matrix is needed{maker(R, 'R')}")
    _check.one_of(solver, "solver", ("gd", "als"))
    k, rounds = graphs.count(k, "k", 1), graphs.count(rounds, "rounds", 1)
    if solver == "als":
        penalty = _check.above(penalty, "penalty, of solver 'als',", 0)
    else:
        penalty = _check.between(penalty, "penalty", 0)
    rate = None if rate is None else _check.above(rate, "rate", 0)
    start = random_seed(seed, "collaborative_filtering")
    ratings = _ratings(R)
    _require(R, k, solver)
    u, v = _start(ratings, k, np.random.default_rng(start))
    if solver == "als":
        U, V = (forms.full_beside(R, X, datatypes.FP64) for X in (u, v))
        U, V, loss = _alternating(ratings, U, V, rounds, penalty)
    else:
        step = _rate(ratings, u, v) if rate is None else rate
        U, V, loss = _descent(ratings, (u, v), rounds, penalty, step)
    return _rated(U, ratings.users), _rated(V, ratings.items), loss


def _ratings(R: Matrix) -> _Ratings:
    """Check the ratings; return them with the users and items that have some."""
    if R.nvals == 0:
        raise InvalidValue(f"R is {R.nrows} x {R.ncols} without entries; at least one rating is needed")
    if _check.real(R, "R").dtype.is_float:
        smallest, largest = (R.reduce_rowwise(each).new().reduce(each).new().get() for each in (monoid.min, monoid.max))
        # a sum of all ratings times 0 is NaN if one is NaN or infinite
        zeros = Vector.from_scalar(0.0, R.ncols, datatypes.FP64)
        total = R.mxv(zeros, _SUM).new().reduce(monoid.plus).new().get()
        if total != 0:
            found = graphs.first_of(R, R.apply(unary.isfinite).new().apply(unary.lnot).new())
            raise InvalidValue(f"R has ratings that are NaN or infinite, first {found}; finite numbers are needed")
        most = max(abs(float(smallest)), abs(float(largest)))
        if most > np.sqrt(np.finfo(np.float64).max / R.nvals):
            raise InvalidValue(f"R has ratings up to {most:g}, whose squares have no finite sum in FP64; divide them")
    return _Ratings(R, out_degree(R), in_degree(R))


def _require(R: Matrix, k: int, solver: str) -> None:
    """Raise OutOfMemory if the factors, and arrays of the computation, do not fit in host memory."""
    numbers = 4 * k * (R.nrows + R.ncols)  # factors, the changes of a round, and temporary results
    if solver == "als":
        numbers += 2 * max(R.nrows, R.ncols) * (k * (k + 1) // 2)
    budget.require_host(8 * numbers, f"collaborative_filtering: k = {k:,} factors of {R.nrows:,} and of {R.ncols:,}")


def _start(ratings: _Ratings, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return random factors whose products are about the mean rating; users and items without ratings have 0."""
    R = ratings.R
    mean = R.reduce_rowwise(monoid.plus[datatypes.FP64]).new().reduce(monoid.plus).new().get() / R.nvals
    size = np.sqrt(max(abs(mean), 1e-3) / k)
    parts = []
    for rated, n, sign in ((ratings.users, R.nrows, 1.0), (ratings.items, R.ncols, -1.0 if mean < 0 else 1.0)):
        at = rated.to_coo(values=False)[0].astype(np.int64)
        values = np.zeros((n, k))
        values[at] = sign * size * (1 + 0.3 * rng.standard_normal((at.size, k)))
        parts.append(values)
    return parts[0], parts[1]


def _rated(X: Matrix, rated: Vector) -> Matrix:
    """Return the rows of X of users or items that have ratings."""
    made: Matrix = rated.ewise_mult(X, binary.second[datatypes.FP64]).new()
    return made


def _squares(X: Matrix) -> float:
    return float(X.ewise_mult(X, binary.times).new().reduce_scalar(monoid.plus).new().get(0.0))


def _descent(
    ratings: _Ratings, start: tuple[Array, Array], rounds: int, penalty: float, rate: float
) -> tuple[Matrix, Matrix, Array]:
    """Run rounds of gradient descent; return U, V and the losses."""
    R, m, k = ratings.R, ratings.R.nrows, start[0].shape[1]
    # U above V, with a further column, 0 in U and 1 in V, which adds nothing to products: there squares of E are summed
    parts = [np.pad(x, ((0, 0), (0, 1)), constant_values=(0, i)) for i, x in enumerate(start)]
    X = forms.full_beside(R, np.concatenate(parts), datatypes.FP64)
    factors = Vector.from_dense([1.0] * k + [0.0])
    rates, keep = (
        factors.apply(binary.times, right=rate).new(),
        factors.apply(binary.times, right=-rate * penalty).new(),
    )
    keep << keep.apply(binary.plus, right=1.0)
    steps = [(k, [binary.minus]), (k + 1, [binary.minus, (binary.pow, 2.0)])]
    loss: list[float] = []
    for number in progress.steps(range(rounds + 1), "rounds"):
        # E<R> = R - U V': E V above E'U, and the squares of E
        change = ops.two_way_sampled_mxm(R, X, _SUM, _SUM, steps).new()
        total = change[:, k].new().reduce(monoid.plus).new().get(0.0)
        now = (total + penalty * _squares(X.ewise_mult(factors, binary.times).new())) / 2
        if not np.isfinite(now) and number == 0:
            raise _infinite(penalty)
        if not np.isfinite(now):
            raise ConvergenceFailure(
                f"in round {number} of {rounds} the loss is {now} after {loss[-1]:.3g}; "
                f"a rate below rate = {rate:.3g} is needed"
            )
        loss.append(float(now))
        if number == rounds:
            break
        # U = U + rate (E V - penalty U), V = V + rate (E'U - penalty V)
        X << X.ewise_mult(keep, binary.times)
        X(binary.plus) << change.ewise_mult(rates, binary.times)
    return X[:m, :k].new(), X[m:, :k].new(), np.array(loss)


def _rate(ratings: _Ratings, U: Array, V: Array) -> float:
    """Return a step that cannot overshoot: the reciprocal of a bound of the loss's curvature at the first factors.

    For one side the curvature is the largest sum of |v_j|^2 over the ratings of a user; steps of both sides at once may
    be half as long.
    """
    u, v = (Vector.from_dense((X**2).sum(axis=1)) for X in (U, V))
    by_user = ratings.R.mxv(v, semiring.plus_second[datatypes.FP64]).new()
    by_item = u.vxm(ratings.R, semiring.plus_first[datatypes.FP64]).new()
    return 0.5 / float(max(by_user.reduce(monoid.max).new().get(), by_item.reduce(monoid.max).new().get()))


def _infinite(penalty: float) -> InvalidValue:
    return InvalidValue(f"penalty is {penalty:g}, with which the loss is beyond FP64; a smaller one is needed")


def _alternating(ratings: _Ratings, U: Matrix, V: Matrix, rounds: int, penalty: float) -> tuple[Matrix, Matrix, Array]:
    """Run rounds of alternating least squares; return U, V and the losses."""
    R = ratings.R
    loss = [_loss(R, U, V, penalty)]
    if not np.isfinite(loss[0]):
        raise _infinite(penalty)
    for _ in progress.steps(range(rounds), "rounds"):
        U = _solved(R, V, U, penalty)
        V = _solved(R.T, U, V, penalty)
        loss.append(_loss(R, U, V, penalty))
    return U, V, np.array(loss)


def _loss(R: Matrix, U: Matrix, V: Matrix, penalty: float) -> float:
    # the squares of E
    ones = forms.full_beside(R, np.ones((R.ncols, 1)), datatypes.FP64)
    total = ops.sampled_mxm(R, U, V, ones, _SUM, _SUM, [(1, [binary.minus, (binary.pow, 2.0)])]).new()
    squares: float = total.reduce_scalar(monoid.plus).new().get(0.0)
    return (squares + penalty * (_squares(U) + _squares(V))) / 2


def _solved(R: Any, V: Matrix, U: Matrix, penalty: float) -> Matrix:
    """Return the factors of rows that fit the ratings best, given those of columns, V; 0 for rows without ratings.

    `U`: the previous factors, which give the shape.
    """
    k = V.ncols
    upper = np.triu_indices(k)
    normal = Matrix(datatypes.FP64, R.nrows, upper[0].size)
    for first in range(0, upper[0].size, _COLUMNS):
        # W: one triangle of the products v v' of each column; S W: those of the matrices on the left
        one, other = (V.mxm(_columns(at[first : first + _COLUMNS], k), _SUM).new() for at in upper)
        W = one.ewise_mult(other, binary.times).new()
        sums = R.mxm(W, semiring.plus_second[datatypes.FP64]).new()
        normal[:, first : first + W.ncols] << sums
    diagonal = Vector.from_dense(np.where(upper[0] == upper[1], penalty, 0.0))
    normal << normal.ewise_mult(diagonal, binary.plus)
    right = R.mxm(V, _SUM).new()
    made: Matrix = U.apply(binary.times, right=0.0).new()
    try:
        made(binary.second) << ops.solve(normal, right)
    except InvalidValue:
        largest = V.apply(unary.abs).new().reduce_scalar(monoid.max).new().get()
        raise InvalidValue(
            f"penalty is {penalty:g}, which FP64 loses beside squares of factors up to {largest**2:.3g}; "
            "a larger penalty or smaller ratings are needed"
        ) from None
    return made


def _columns(at: NDArray[np.int64], k: int) -> Matrix:
    """Return the k x len(at) matrix that selects the columns `at` when it is the right operand."""
    made: Matrix = Matrix.from_dense((np.arange(k)[:, None] == at).astype(np.float64))
    return made
