"""Laws of applications: renumbered vertices get the same answers, and a seed determines the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency

import sparsezc as gb
from tests.algorithms.graphs import both_ways, kronecker, matrix

a, b = gb.applications, gb.algorithms
N = 64
_RNG = np.random.default_rng(5)
ORDER = _RNG.permutation(N)
NUMBER = np.argsort(ORDER)  # the new number of each vertex
_PLACES = np.where(_RNG.random((N, 1)) < 0.5, _RNG.random((N, 2)) * 50, np.nan)
_X, _W = _RNG.random((N, 3)), [_RNG.random((6, 3)) - 0.4 for _ in range(2)]
_COSTS = _RNG.random((12, 20))


def graph() -> Any:
    return matrix(both_ways(kronecker(6, 3)))


def moved(A: Any) -> Any:
    return A[ORDER, ORDER].new()


#: Calls on a graph, the vertices' order and their numbers, which return a row for each vertex; OF_ALL: one answer.
BY_VERTEX: dict[str, Callable[[Any, Any, Any], Any]] = {
    "geolocation": lambda A, at, _: a.geolocation(A, _PLACES[at], 4).to_dense(np.nan),
    "graphsage, of all neighbours": lambda A, at, _: a.graphsage(A, _X[at], *_W, children=N).to_dense(),
    "local_clustering, p": lambda A, _at, number: a.local_clustering(A, [number[3]], rho=1e-3)[0].to_dense(0.0)[0],
}
OF_ALL: dict[str, Callable[[Any, Any], Any]] = {
    "local_clustering, conductance": lambda A, number: a.local_clustering(A, [number[3]], rho=1e-3)[2].get(0),
    "maximum_flow": lambda A, number: b.maximum_flow(A, number[1], number[2])[0],
    "minimum_cut": lambda A, number: b.minimum_cut(A, number[1], number[2])[0],
    "collaborative_filtering, the least loss": lambda A, _: a.collaborative_filtering(
        A, 1, "als", 20, penalty=0.2, seed=1
    )[2][-1],
    "fused_lasso, of one measured vertex": lambda A, number: np.sort(
        a.fused_lasso(A, np.where(np.arange(N) == number[3], 9.0, 0.0), 0.1, tol=1e-9)[0].to_dense()
    ),
}


@pytest.mark.parametrize("name", [*BY_VERTEX, *OF_ALL])
def test_the_vertices_numbers_do_not_matter(name: str) -> None:
    A, same = graph(), np.arange(N)
    if name in BY_VERTEX:
        call = BY_VERTEX[name]
        assert np.allclose(call(moved(A), ORDER, NUMBER), call(A, same, same)[ORDER], atol=1e-6, equal_nan=True)
    else:
        assert np.allclose(OF_ALL[name](moved(A), NUMBER), OF_ALL[name](A, same), atol=1e-4)


@pytest.mark.parametrize("weight", ["count", "jaccard", "collaboration"])
def test_a_projection_moves_with_its_side_alone(weight: str) -> None:
    A = graph()
    B = a.projection(A, "rows", weight)
    found = a.projection(A[ORDER, :].new(), "rows", weight)
    assert found.isclose(B[ORDER, ORDER].new(), rel_tol=1e-12)
    assert a.projection(A[:, ORDER].new(), "rows", weight).isclose(B, rel_tol=1e-12)


@pytest.mark.parametrize("method", ["exact", "auction"])
def test_an_assignment_moves_with_rows_and_columns(method: str) -> None:
    rows, columns = np.argsort(_COSTS[:, 0]), np.argsort(_COSTS[0])
    best = a.linear_assignment(gb.Matrix.from_dense(_COSTS), method=method, eps=1e-6).to_dense()
    C = gb.Matrix.from_dense(_COSTS[np.ix_(rows, columns)])
    found = columns[a.linear_assignment(C, method=method, eps=1e-6).to_dense()]
    assert np.array_equal(found, best[rows])


def test_a_match_moves_with_the_vertices() -> None:
    edges = np.triu(np.random.default_rng(6).random((N, N)) < 0.2, 1)
    A, other = (matrix(csr_array(0 + (x | x.T))) for x in (edges, edges & (_RNG.random((N, N)) < 0.95)))
    seeds = np.arange(12)
    match, disagreements = a.seeded_graph_matching(A, other, np.c_[seeds, seeds])
    found, again = a.seeded_graph_matching(moved(A), other, np.c_[NUMBER[seeds], seeds])
    assert again == disagreements == A.nvals - other.nvals > 0
    assert found.isequal(match[ORDER].new())


#: Calls on a graph and start vertices, which return the vertices that draws lead to.
DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "random_walks": lambda A, at: b.random_walks(A, at, 3, p=0.5, q=2.0, seed=3)[:, 3].new().to_coo()[1],
    "random_walks by weight": lambda A, at: b.random_walks(A, at, 2, weighted=True, seed=3)[:, 2].new().to_coo()[1],
    "sample_neighbors": lambda A, at: b.sample_neighbors(A, at, 2, seed=3).to_coo()[1],
    "sample_neighbors by weight": lambda A, at: b.sample_neighbors(A, at, 2, weighted=True, seed=3).to_coo()[1],
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_lead_to_the_same_vertices_as_often(name: str) -> None:
    """Renumbering vertices keeps the distribution of draws; one correct program in a million fails."""
    A, hub = graph(), 0
    A = gb.Matrix.from_coo(*A.to_coo()[:2], 1 + np.arange(A.nvals) % 7, nrows=N, ncols=N)
    found = DRAWS[name](A, np.full(4000, hub))
    again = ORDER[DRAWS[name](moved(A), np.full(4000, NUMBER[hub])).astype(np.int64)]
    counts = np.stack([np.bincount(each.astype(np.int64), minlength=N) for each in (found, again)])
    assert chi2_contingency(counts[:, counts.sum(axis=0) >= 10]).pvalue > 1e-6


def test_a_seed_is_one_answer_and_another_another() -> None:
    A, sources = graph(), np.arange(N)
    scores = gb.Vector.from_dense(_X[:, 0])
    for call in (
        lambda seed: b.sample_neighbors(A, sources, 2, seed=seed),
        lambda seed: b.random_walks(A, sources, 5, seed=seed),
        lambda seed: b.graph_search(A, sources, scores, 5, "stochastic", seed=seed),
        lambda seed: a.graphsage(A, _X, *_W, children=2, seed=seed),
        lambda seed: a.collaborative_filtering(A, 2, rounds=1, seed=seed)[0],
    ):
        assert call(7).isequal(call(7))
        assert not call(7).isequal(call(8))
