"""Projection, filtering, classification and matching: two sides, or two graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

MOVIELENS = (138_493, 26_744, 20_000_263)  # users, films, ratings of MovieLens-20M
NETFLIX = (480_189, 17_770, 100_480_507)
ON_A_CPU = 40  # parts of these that the CPU engine gets


def _sides(given: Input, shape: tuple[int, int, int]) -> csr_array:
    """Ratings 1..5 with films and users of unlike popularity."""
    part = 400 if given.small else ON_A_CPU if given.placement == "host" else 1
    users, films, ratings = (max(10, size // part) for size in (shape[0], shape[1], shape[2]))
    ratings = min(ratings, users * films // 8)
    rng = given.rng()
    i, j = (users * rng.random(ratings) ** 1.3).astype(int), (films * rng.random(ratings) ** 2).astype(int)
    stars = csr_array((rng.integers(1, 6, ratings).astype(np.int8), (i, j)), shape=(users, films))
    stars.sum_duplicates()
    stars.data = (stars.data % 5 + 1).astype(np.int8)
    return stars


def _films(given: Input) -> tuple[gb.Matrix, Any]:
    theirs = _sides(given, MOVIELENS)
    return given.put(gb.io.from_scipy_sparse(theirs)), theirs


def _judge_projection(given: tuple[gb.Matrix, Any], B: gb.Matrix) -> None:
    """Some rows as SciPy has them."""
    theirs = given[1].astype(bool).astype(np.int64).tocsc()
    for film in np.random.default_rng(1).integers(0, theirs.shape[1], 20).tolist():
        expected = (theirs[:, [film]].T @ theirs).toarray().ravel()
        expected[film] = 0
        if not np.array_equal(B[film, :].new().to_dense(0), expected):
            raise Wrong(f"film {film} shares other numbers of users")


def _ratings(given: Input) -> tuple[gb.Matrix, Any]:
    theirs = _sides(given, NETFLIX)
    return given.put(gb.io.from_scipy_sparse(theirs)), theirs


def _judge_filtering(given: tuple[gb.Matrix, Any], answer: Any) -> None:
    """The last loss, from the factors."""
    theirs = given[1].tocoo()
    U, V, loss = answer
    u, v = U.to_dense(0.0), V.to_dense(0.0)
    errors = theirs.data - np.einsum("ij,ij->i", u[theirs.row], v[theirs.col])
    again = ((errors**2).sum() + 1e-3 * ((u**2).sum() + (v**2).sum())) / 2
    if abs(again - loss[-1]) > 1e-6 * again:
        raise Wrong(f"the loss is {again} and not {loss[-1]}")


def _hidden(given: Input) -> tuple[Any, ...]:
    """A pattern of 10 vertices and 20 edges, random features of 13 and 17 numbers, as Gunrock's runs."""
    G, rng = given.read(), given.rng()
    P = gb.Matrix.from_coo(np.repeat(np.arange(10), 2), (np.arange(20) // 2 + 1 + np.arange(20) % 2 * 2) % 10, 1.0)
    return G, P, rng.random((G.nrows, 13)), rng.random((10, 13)), rng.random((G.nvals, 17)), rng.random((20, 17))


def _judge_classes(_: Any, match: gb.Matrix) -> None:
    """Probabilities."""
    sums = np.exp(match.to_dense()).sum(axis=0)
    if np.abs(sums - 1).max() > 1e-9:
        raise Wrong(f"probabilities sum to {sums}")


def _shuffled(given: Input) -> tuple[Any, ...]:
    """A random graph of mean degree 20, its shuffled copy, and 100 seeds."""
    n = 512 if given.small else 4096 if given.placement == "host" else 16_384
    rng = given.rng()
    i, j = rng.integers(0, n, (2, 10 * n))
    theirs = csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    theirs = ((theirs + theirs.T) != 0).astype(np.int8).tocoo()
    keep = theirs.row != theirs.col
    rows, cols = theirs.row[keep], theirs.col[keep]
    who = rng.permutation(n)
    A, B = (gb.Matrix.from_coo(*ends, 1, nrows=n, ncols=n) for ends in ((rows, cols), (who[rows], who[cols])))
    seeds = rng.choice(n, 100, replace=False)
    return given.put(A), given.put(B), np.c_[seeds, who[seeds]], who


def _judge_match(given: tuple[Any, ...], answer: Any) -> None:
    match, disagreements = answer
    if disagreements or not np.array_equal(match.to_dense(), given[3]):
        raise Wrong(f"{disagreements} disagreements")


ROWS = [
    Row(
        "projection", "", _films, lambda x: gb.applications.projection(x[0], "columns"), _judge_projection,
        goals={"device": Goal(0.6)}, made="a made graph of MovieLens-20M's size, a 40th on the CPU",
        peers=(Peer("SciPy", lambda x: (x[1].T.astype(np.int32) @ x[1].astype(np.int32))),
               Peer("GraphBLAST, P100", published=5.0)),
    ),
    Row(
        "filtering, a round", "", _ratings,
        lambda x: gb.applications.collaborative_filtering(x[0], 20, rounds=1, seed=1), _judge_filtering,
        goals={"zerocopy": Goal(0.03)}, made="a made graph of Netflix's size, a 40th on the CPU",
    ),
    Row(
        "classification", "kron:18", _hidden, lambda x: gb.applications.application_classification(*x), _judge_classes,
        goals={"device": Goal(0.06)}, host_graph="kron:12", peers=(Peer("Gunrock, P100", published=0.828),),
        made="random features",
    ),
    Row(
        "matching", "", _shuffled, lambda x: gb.applications.seeded_graph_matching(*x[:3]), _judge_match,
        goals={"device": Goal(1.0)}, made="a random graph and its shuffled copy; 4,096 vertices on the CPU",
        peers=(Peer("csgm, 16,384 vertices", published=4.9),),
    ),
]  # fmt: skip
