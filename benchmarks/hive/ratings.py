"""Collaborative filtering: gradient descent at Netflix's shape, and planted factors that least squares recover."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.hive.inputs import NETFLIX, ratings
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

K, ROUNDS, PENALTY, RATE = 20, 10, 1e-3, 1e-5
RANK, NOISE = 5, 0.01


class _Ratings(NamedTuple):
    """Ratings as our Matrix and as SciPy's array, and the planted factors if there are any."""

    R: gb.Matrix
    theirs: Any
    truth: Any = None


def _netflix(given: Input) -> _Ratings:
    table = ratings(given, NETFLIX)
    return _Ratings(given.put(table.matrix()), table.scipy())


def _planted(given: Input) -> _Ratings:
    """Return products of factors of rank `RANK`, with noise, at a tenth of all positions (small inputs: a third)."""
    m, n = given.size(20_000, 2_000, 150), given.size(4_000, 400, 60)
    rng = given.rng()
    U, V = rng.random((m, RANK)), rng.random((n, RANK))
    at = np.sort(rng.choice(m * n, m * n // (3 if given.small else 10), replace=False))
    i, j = at // n, at % n
    values = np.einsum("ij,ij->i", U[i], V[j]) + rng.normal(scale=NOISE, size=at.size)
    R = gb.Matrix.from_coo(i, j, values, nrows=m, ncols=n)
    return _Ratings(given.put(R), gb.io.to_scipy_sparse(R), (U, V))


def _descend(rounds: int) -> Any:
    return lambda x: gb.applications.collaborative_filtering(x.R, K, rounds=rounds, penalty=PENALTY, seed=1)


def _judge(given: _Ratings, answer: Any) -> None:
    """Check the last loss against that of the factors, and that it is below the first."""
    theirs = given.theirs.tocoo()
    U, V, loss = answer
    u, v = U.to_dense(0.0), V.to_dense(0.0)
    again = PENALTY * ((u**2).sum() + (v**2).sum())
    for first in range(0, theirs.nnz, 1 << 22):
        some = slice(first, first + (1 << 22))
        product = np.einsum("ij,ij->i", u[theirs.row[some]], v[theirs.col[some]])
        again += ((theirs.data[some] - product) ** 2).sum()
    if abs(again / 2 - loss[-1]) > 1e-6 * loss[-1]:
        raise Wrong(f"the last loss is {loss[-1]}; that of the factors is {again / 2}")
    if loss[-1] >= loss[0]:
        raise Wrong(f"the loss did not fall: first {loss[0]}, last {loss[-1]}")


def _judge_planted(given: _Ratings, answer: Any) -> None:
    """Check products of the factors against the planted ones at random positions, rated or not."""
    u, v = answer[0].to_dense(0.0), answer[1].to_dense(0.0)
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, u.shape[0], 10_000), rng.integers(0, v.shape[0], 10_000)
    U, V = given.truth
    off = np.abs(np.einsum("ij,ij->i", u[i], v[j]) - np.einsum("ij,ij->i", U[i], V[j])).mean()
    if off > 5 * NOISE:
        raise Wrong(f"products of the factors differ from the planted ones by {off:.3g} on average; noise is {NOISE}")


def _numpy(given: _Ratings) -> Any:
    """Run `ROUNDS` rounds of gradient descent by NumPy and SciPy."""
    R = given.theirs.astype(np.float64)
    rows, cols = R.nonzero()
    rng = np.random.default_rng(1)
    U, V = rng.random((R.shape[0], K)), rng.random((R.shape[1], K))
    E = R.copy()
    for _ in range(ROUNDS):
        E.data[:] = R.data - np.einsum("ij,ij->i", U[rows], V[cols])
        U, V = U + RATE * (E @ V - PENALTY * U), V + RATE * (E.T @ U - PENALTY * V)
    return U, V


ROWS = [
    Row(
        "filtering, a round", "", _netflix, _descend(ROUNDS + 1), _judge,
        what="gradient descent, 20 factors", parts=ROUNDS, base=_descend(1),
        goals={"zerocopy": Goal(0.03)}, nbytes=lambda x, _: 5 * x.R.nvals,
        made="a generated table of Netflix's shape, a 40th on a CPU", peers=(Peer("NumPy", _numpy, most=1 << 23),),
        notes=lambda _, answer: {"loss": list(answer[2])},
    ),
    Row(
        "filtering, planted factors", "", _planted,
        lambda x: gb.applications.collaborative_filtering(x.R, RANK, "als", 20, seed=1), _judge_planted,
        what="20 rounds of least squares; factors are found again",
        made=f"products of factors of rank {RANK} with noise", notes=lambda _, answer: {"loss": list(answer[2])},
    ),
]  # fmt: skip
