"""sample_neighbors, graph_search and the biases of random_walks: exact probabilities, laws, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

import sparsezc as gb
from sparsezc import ops
from tests.algorithms.graphs import SMALL, csr, matrix

SURE = 1e-6  # least p-value: one correct program in a million fails
sample_neighbors, graph_search = gb.algorithms.sample_neighbors, gb.algorithms.graph_search
random_walks = gb.algorithms.random_walks


def walks_of(walks: gb.Matrix) -> Any:
    return walks.to_dense(fill_value=-1)


# Neighbours


def test_neighbours_are_of_the_sources() -> None:
    graph = SMALL["kronecker"]
    A, sources = matrix(graph), [5, 0, 5, 77]
    S = sample_neighbors(A, sources, 3, seed=1)
    assert (S.shape, S.dtype) == ((4, A.ncols), A.dtype)
    lengths = np.minimum(np.diff(graph.indptr)[sources], 3)
    assert S.reduce_rowwise(gb.agg.count).new().to_dense(fill_value=0).tolist() == lengths.tolist()
    for r, j, value in zip(*S.to_coo(), strict=True):
        assert A[sources[int(r)], int(j)].new() == value
    whole = sample_neighbors(A, sources, 10**6, weighted=True, seed=1)
    assert whole.isequal(A[sources, :].new().select("!=", 0).new())


def test_counts_are_sums_over_draws() -> None:
    A = matrix(SMALL["kronecker"])
    S = sample_neighbors(A, range(A.nrows), 4, replace=True, seed=1)
    has = A.apply("one").new("INT64").reduce_rowwise("max").new()
    assert S.reduce_rowwise("plus").new().isequal(has.apply("times", right=4).new())
    assert S.select(A.S).new().isequal(S)


def test_sampling_says_what_is_wrong() -> None:
    A = matrix(SMALL["kronecker"])
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 512"):
        sample_neighbors(A, np.array([1, 512]))
    with pytest.raises(gb.exceptions.InvalidValue, match="k is -1; at least 0"):
        sample_neighbors(A, [0], -1)
    with pytest.raises(gb.exceptions.InvalidValue, match="seed is -1"):
        sample_neighbors(A, [0], 1, seed=-1)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        sample_neighbors(gb.Matrix("FP64", 2, 3), [0])


# Walks with p and q

#: Vertex 1 has the neighbours 0 (the walk's previous vertex), 2 (a neighbour of 0), 3 and 4.
EDGES = [(0, 1), (1, 0), (0, 2), (1, 2), (1, 3), (1, 4)]


@pytest.mark.parametrize("weights", [None, [1, 4, 1, 1, 2, 3]])
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (1.0, 0.5), (2.0**-10, 2.0**10), (2.0**10, 1.0)])
def test_second_steps_of_node2vec(p: float, q: float, weights: Any) -> None:
    A = matrix(csr(5, EDGES, weights or np.ones(6)))
    walks = walks_of(random_walks(A, [0] * 30_000, 2, p=p, q=q, weighted=weights is not None, seed=1))
    second = walks[walks[:, 1] == 1, 2]
    # node2vec's factors of the edges from 1 to 0, 2, 3 and 4
    by_edge = dict(zip(EDGES, weights or [1] * 6, strict=True))
    w = np.array([by_edge[1, v] for v in (0, 2, 3, 4)], float) * [1 / p, 1, 1 / q, 1 / q]
    counts = np.bincount(second, minlength=5)[[0, 2, 3, 4]]
    assert counts.sum() == second.size > 5000
    expected = second.size * w / w.sum()
    often = expected >= 5  # chi-squared needs 5 or more; rarer steps are bounded by a Poisson sum
    assert poisson.sf(counts[~often].sum() - 1, expected[~often].sum() + 1e-12) > SURE
    if often.sum() > 1:
        assert chisquare(counts[often], counts[often].sum() * w[often] / w[often].sum()).pvalue > SURE


def test_first_steps_take_no_bias() -> None:
    A = matrix(csr(5, EDGES, np.ones(6)))
    first = walks_of(random_walks(A, [1] * 8000, 1, p=100, q=0.01, seed=2))[:, 1]
    assert chisquare(np.bincount(first, minlength=5)[[0, 2, 3, 4]]).pvalue > SURE


def test_a_walk_is_its_own() -> None:
    """A walk depends neither on the number of walks nor on their length."""
    A = matrix(SMALL["kronecker"])
    sources = np.random.default_rng(0).integers(0, A.nrows, 1000)
    whole, few = (walks_of(random_walks(A, sources[:n], 9, seed=3)) for n in (1000, 10))
    assert np.array_equal(whole[:10], few)
    longer = walks_of(random_walks(A, sources, 12, seed=3))
    assert np.array_equal(longer[:, :10], whole)


def test_weights_of_one_value_walk_as_none_do() -> None:
    """Equal weights give the distribution of unweighted walks, though not the same walks."""
    A = matrix(csr(5, [(0, v) for v in range(1, 5)], [7, 7, 7, 7]))
    steps = walks_of(random_walks(A, [0] * 8000, 1, weighted=True, seed=1))[:, 1]
    assert chisquare(np.bincount(steps, minlength=5)[1:]).pvalue > SURE


@pytest.mark.parametrize(("name", "value"), [("p", 0), ("q", -1.0), ("p", np.nan), ("q", 2.0**21)])
def test_p_and_q_out_of_bounds(name: str, value: float) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match=f"{name} is"):
        random_walks(matrix(SMALL["kronecker"]), [0], **{name: value})


@pytest.mark.parametrize("name", ["p", "q"])
def test_p_and_q_that_are_no_numbers(name: str) -> None:
    for value in ("a", None, [1.0]):
        with pytest.raises(TypeError, match=f"walk: {name} is .* a number is needed"):
            random_walks(matrix(SMALL["kronecker"]), [0], **{name: value})
    random_walks(matrix(SMALL["kronecker"]), [0], **{name: np.float32(0.5)})


# Search


def greedy(graph: Any, scores: dict[int, float], v: int, length: int) -> list[int]:
    """Return the greedy walk: each step to the neighbour of the highest score, the smallest of equals."""
    walk = [v]
    for _ in range(length):
        near = graph.indices[graph.indptr[walk[-1]] : graph.indptr[walk[-1] + 1]]
        found = sorted((-scores[j], j) for j in near.tolist() if j in scores)
        if not found:
            break
        walk.append(found[0][1])
    return walk


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("name", ["kronecker", "diamonds", "no edges", "loops"])
def test_greedy_search_exactly(name: str, share: float) -> None:
    graph = SMALL[name]
    n, rng = graph.shape[0], np.random.default_rng(1)
    some = np.flatnonzero(rng.random(n) < share)
    scores = dict(zip(some.tolist(), rng.integers(-3, 4, some.size).tolist(), strict=True))
    v = gb.Vector.from_dict(scores, "INT8", size=n)
    found = walks_of(graph_search(matrix(graph), range(n), v, 6, "greedy"))
    for start in range(n):
        assert found[start][found[start] >= 0].tolist() == greedy(graph, scores, start, 6)


def test_greedy_search_of_permuted_vertices() -> None:
    """With distinct scores, renumbered vertices get the same walks in the new numbers."""
    A = matrix(SMALL["kronecker"])
    n, rng = A.nrows, np.random.default_rng(2)
    new, scores = rng.permutation(n), rng.random(n)  # vertex k is renumbered new[k]
    old = np.argsort(new)
    walks = walks_of(graph_search(A, range(n), gb.Vector.from_dense(scores), 7, "greedy"))
    moved = walks_of(graph_search(A[old, old].new(), new, gb.Vector.from_dense(scores[old]), 7, "greedy"))
    assert np.array_equal(np.where(walks >= 0, new[walks], -1), moved)


def test_steps_by_score() -> None:
    A = matrix(csr(6, [(0, v) for v in range(1, 6)], np.ones(5)))
    scores = gb.Vector.from_coo([0, 1, 2, 3, 4], [9, 1, 0, 3, 6], size=6)
    steps = walks_of(graph_search(A, [0] * 10_000, scores, 1, "stochastic", seed=1))[:, 1]
    counts = np.bincount(steps, minlength=6)
    assert counts[2] == counts[5] == 0
    assert chisquare(counts[[1, 3, 4]], [1000, 3000, 6000]).pvalue > SURE
    alike = walks_of(graph_search(A, [0] * 10_000, scores, 1, seed=1))[:, 1]
    assert chisquare(np.bincount(alike, minlength=6)[1:]).pvalue > SURE


@pytest.mark.parametrize("mode", ["uniform", "greedy", "stochastic"])
def test_search_in_a_graph_of_one_vertex(mode: str) -> None:
    walks = graph_search(gb.Matrix("BOOL", 1, 1), [0, 0], gb.Vector.from_dense([2.0]), 3, mode)
    assert walks_of(walks).tolist() == [[0, -1, -1, -1]] * 2


def test_search_says_what_is_wrong() -> None:
    A = matrix(SMALL["kronecker"])
    n = A.nrows
    good = gb.Vector.from_dense(np.ones(n))
    for error, said, scores, mode in (
        (gb.exceptions.InvalidValue, "mode is 'best'", good, "best"),
        (gb.exceptions.DimensionMismatch, "scores has size 3", gb.Vector.from_dense([1, 2, 3]), "greedy"),
        (gb.exceptions.DomainMismatch, "scores is a list", [1], "greedy"),
        (gb.exceptions.DomainMismatch, "scores is of type FC64", gb.Vector.from_dense(np.ones(n) * 1j), "greedy"),
        (gb.exceptions.InvalidValue, "scores has NaN", gb.Vector.from_dense(np.full(n, np.nan)), "greedy"),
        (gb.exceptions.InvalidValue, "from -1.0 to -1.0", gb.Vector.from_dense(-np.ones(n)), "stochastic"),
    ):
        with pytest.raises(error, match=said):
            graph_search(A, [0], scores, 2, mode)


def test_best_column_of_what_has_none() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=4)
    assert ops.best_column(A, gb.Vector("FP64", 4)).new().nvals == 0
    assert ops.best_column(A, gb.Vector.from_coo([2], [5.0], size=4)).new().to_dict() == {1: 2}
    with pytest.raises(gb.exceptions.DimensionMismatch, match="4 columns"):
        ops.best_column(A, gb.Vector("FP64", 3))


DRAWING = {
    "maximal_matching": gb.algorithms.maximal_matching,
    "maximal_independent_set": gb.algorithms.maximal_independent_set,
    "greedy_color": gb.algorithms.greedy_color,
    "closeness_centrality": lambda A, seed: gb.algorithms.closeness_centrality(A, k=2, seed=seed),
    "harmonic_centrality": lambda A, seed: gb.algorithms.harmonic_centrality(A, k=2, seed=seed),
    "betweenness_centrality": lambda A, seed: gb.algorithms.betweenness_centrality(A, 2, seed=seed),
}


@pytest.mark.parametrize("name", DRAWING)
def test_seeds_out_of_bounds(name: str) -> None:
    A = matrix(csr(3, [(0, 1), (1, 0)]))
    for seed in (-1, 2**64):
        with pytest.raises(gb.exceptions.InvalidValue, match=rf"seed is {seed}; from 0 to 2\*\*64 - 1 is possible"):
            DRAWING[name](A, seed=seed)
    with pytest.raises(TypeError, match=r"seed is 0\.5 of type float; an integer is needed"):
        DRAWING[name](A, seed=0.5)
    DRAWING[name](A, seed=2**64 - 1)
