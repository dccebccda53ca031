"""Collaborative filtering: ratings as products of a few factors of each user and each item."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.algorithms._degree import in_degree, out_degree
from sparsezc.applications import _check
from sparsezc.core.matrix import Matrix
from sparsezc.errors import ConvergenceFailure, DomainMismatch, InvalidValue
from sparsezc.memory import budget
from sparsezc.ops.select import random_seed
from sparsezc.semirings import binary, monoid, semiring, unary
from sparsezc.semirings.types import datatypes

Array = NDArray[np.float64]
_BLOCK = 1 << 24  # entries of the normal matrices that are made at a time, 128 MiB


class _Ratings(NamedTuple):
    """The ratings, FP64, their transpose where it is needed, and the rows and columns that have some."""

    R: Matrix
    T: Matrix | None
    users: NDArray[np.int64]
    items: NDArray[np.int64]


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
    """Factor ratings: find U and V so that the product of row i of U and row j of V is near to the rating (i, j).

    Parameters
    ----------
    R : Matrix, shape (m, n), any real dtype
        An entry (i, j) is the rating that user i gave item j; what is absent was not rated.
    k : int
        Factors, at least 1.
    solver : {"gd", "als"}
        Gradient descent, or alternating least squares.
    rounds : int
        At least 1. A round of descent reads the ratings twice, one of least squares three times.
    penalty : float
        Weight of the squares of the factors, >= 0; above 0 for least squares.
    rate : float, optional
        Step of the descent, above 0; by default one that the first round cannot overshoot with.
    seed : int, optional
        Chooses the factors to begin with, from 0 to 2**64 - 1. By default by chance.

    Returns
    -------
    U, V : Matrix of FP64, shapes (m, k) and (n, k)
        The factors; rows of users and items without ratings have no entries.
    loss : array of float64, shape (rounds + 1,)
        The sum below, at first and after each round.

    Raises
    ------
    ConvergenceFailure
        The descent overshoots: the loss is no number any more. The message says in which round, and at which rate.
    InvalidValue
        A rating is NaN or infinite, `R` has none, or their squares have no finite sum; `penalty` is too small for the
        least squares of ratings of their size; or an argument lies outside its range.
    DomainMismatch
        `R` is not a Matrix, or is complex.
    TypeError
        `seed` is no integer.

    Notes
    -----
    The loss is half of the sum of the squares of E, and of penalty times those of the factors::

        E<R> = R - U V'                         products at ratings alone
        U = U + rate (E V - penalty U)          gradient descent: both from the factors before the round,
        V = V + rate (E'U - penalty V)          and both from one stored matrix

        (sum of v_j v_j' + penalty I) u_i = sum of R(i, j) v_j        least squares: over the ratings j of i;
                                                                      then V from U likewise

    The matrices on the left are the rows of S W, with S the pattern of R and W the products v v' of each item.

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
        raise DomainMismatch(f"R is a {type(R).__name__}; a Matrix is needed")
    _check.one_of(solver, "solver", ("gd", "als"))
    k, rounds = graphs.count(k, "k", 1), graphs.count(rounds, "rounds", 1)
    penalty = _check.above(penalty, "penalty", 0) if solver == "als" else _check.between(penalty, "penalty", 0)
    start = random_seed(seed, "collaborative_filtering")
    ratings = _ratings(R, transposed=solver == "als")
    U, V = _start(ratings, k, np.random.default_rng(start))
    if solver == "als":
        return _alternating(ratings, U, V, rounds, penalty)
    step = _rate(ratings, U, V) if rate is None else _check.above(rate, "rate", 0)
    return _descent(ratings, U, V, rounds, (penalty, step))


def _ratings(R: Matrix, transposed: bool) -> _Ratings:
    """Check the ratings."""
    if R.nvals == 0:
        raise InvalidValue(f"R is {R.nrows} x {R.ncols} without entries; at least one rating is needed")
    known = _check.real(R, "R").dup(datatypes.FP64)
    if not known.apply(unary.isfinite).new().reduce_scalar(monoid.land).new().get():
        raise InvalidValue("R has ratings that are NaN or infinite; finite numbers are needed")
    if not np.isfinite(_squares(known)):
        largest = known.apply(unary.abs).new().reduce_scalar(monoid.max).new().get()
        raise InvalidValue(f"R has ratings up to {largest:g}, whose squares have no finite sum in FP64; divide them")
    users, items = (each.to_coo(values=False)[0].astype(np.int64) for each in (out_degree(R), in_degree(R)))
    return _Ratings(known, known.T.new() if transposed else None, users, items)


def _start(ratings: _Ratings, k: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return factors whose products are about the mean rating."""
    R = ratings.R
    mean = R.reduce_scalar(monoid.plus).new().get() / R.nvals
    size = np.sqrt(max(abs(mean), 1e-3) / k)
    parts = []
    for at, n, sign in ((ratings.users, R.nrows, 1.0), (ratings.items, R.ncols, -1.0 if mean < 0 else 1.0)):
        values = sign * size * (1 + 0.3 * rng.standard_normal((at.size, k)))
        parts.append(_table(at, values, n))
    return parts[0], parts[1]


def _table(at: NDArray[np.int64], values: Array, n: int) -> Matrix:
    """Return a Matrix of n rows with values in some of them."""
    k = values.shape[1]
    counts = np.zeros(n, np.int64)
    counts[at] = k
    made: Matrix = Matrix.from_csr(
        np.r_[0, np.cumsum(counts)], np.tile(np.arange(k), at.size), values.ravel(), datatypes.FP64, nrows=n, ncols=k
    )
    return made


def _errors(ratings: _Ratings, U: Matrix, V: Matrix, penalty: float) -> tuple[Matrix, float]:
    """Return E, and the loss."""
    # E<R> = R - U V'
    E = U.mxm(V.T, semiring.plus_times[datatypes.FP64]).new(mask=ratings.R.S)
    E << ratings.R.ewise_mult(E, binary.minus)
    return E, (_squares(E) + penalty * (_squares(U) + _squares(V))) / 2


def _squares(X: Matrix) -> float:
    return float(X.ewise_mult(X, binary.times).new().reduce_scalar(monoid.plus).new().get(0.0))


def _descent(
    ratings: _Ratings, U: Matrix, V: Matrix, rounds: int, weights: tuple[float, float]
) -> tuple[Matrix, Matrix, Array]:
    """Run rounds of gradient descent."""
    penalty, rate = weights
    E, first = _errors(ratings, U, V, penalty)
    loss = [first]
    for number in range(rounds):
        # U = U + rate (E V - penalty U), V = V + rate (E'U - penalty V)
        to_users = E.mxm(V, semiring.plus_times[datatypes.FP64]).new()
        to_items = E.T.mxm(U, semiring.plus_times[datatypes.FP64]).new()
        for X, change in ((U, to_users), (V, to_items)):
            X << X.apply(binary.times, right=1 - rate * penalty)
            X(binary.plus) << change.apply(binary.times, right=rate)
        E, now = _errors(ratings, U, V, penalty)
        if not np.isfinite(now):
            raise ConvergenceFailure(
                f"in round {number + 1} of {rounds} the loss is {now} after {loss[-1]:.3g}; "
                f"a rate below rate = {rate:.3g} is needed"
            )
        loss.append(now)
    return U, V, np.array(loss)


def _rate(ratings: _Ratings, U: Matrix, V: Matrix) -> float:
    """Return one over a bound of the curvature of the loss at the first factors.

    For one side it is the largest sum of |v_j|^2 over the ratings of a user; steps of both sides at once may go half
    as far.
    """
    u, v = (X.ewise_mult(X, binary.times).new().reduce_rowwise(monoid.plus).new() for X in (U, V))
    by_user = ratings.R.mxv(v, semiring.plus_second[datatypes.FP64]).new()
    by_item = u.vxm(ratings.R, semiring.plus_first[datatypes.FP64]).new()
    return 0.5 / float(max(by_user.reduce(monoid.max).new().get(), by_item.reduce(monoid.max).new().get()))


def _alternating(ratings: _Ratings, U: Matrix, V: Matrix, rounds: int, penalty: float) -> tuple[Matrix, Matrix, Array]:
    """Run rounds of alternating least squares."""
    assert ratings.T is not None
    loss = [_errors(ratings, U, V, penalty)[1]]
    for _ in range(rounds):
        U = _solved(ratings.R, V, ratings.users, penalty)
        V = _solved(ratings.T, U, ratings.items, penalty)
        loss.append(_errors(ratings, U, V, penalty)[1])
    return U, V, np.array(loss)


def _solved(R: Matrix, V: Matrix, rows: NDArray[np.int64], penalty: float) -> Matrix:
    """Return the factors of each row of ratings that fit those of the columns best."""
    k = V.ncols
    v = V.to_dense(0.0)
    upper = np.triu_indices(k)
    # W: the products v v' of each column, one triangle
    W = Matrix.from_dense(v[:, upper[0]] * v[:, upper[1]])
    found = np.empty((rows.size, k))
    size = max(1, _BLOCK // (k * k))
    if (room := budget.workspace()) is not None:
        size = max(1, min(size, room // (64 * k * k)))
    for first in range(0, rows.size, size):
        at = rows[first : first + size]
        some = R[at, :].new()
        normal = np.empty((at.size, k, k))
        # the matrices on the left: S W
        sums = some.mxm(W, semiring.plus_second[datatypes.FP64]).new().to_dense(0.0)
        normal[:, upper[0], upper[1]] = sums
        normal[:, upper[1], upper[0]] = sums
        normal[:, np.arange(k), np.arange(k)] += penalty
        right = some.mxm(V, semiring.plus_times[datatypes.FP64]).new().to_dense(0.0)
        try:
            found[first : first + size] = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise InvalidValue(
                f"penalty is {penalty:g}, which FP64 loses beside squares of factors up to {(v * v).max():.3g}; "
                "a larger penalty or smaller ratings are needed"
            ) from None
    return _table(rows, found, R.nrows)
