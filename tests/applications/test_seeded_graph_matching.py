"""gb.applications.seeded_graph_matching: disagreements counted in NumPy, SciPy's FAQ, planted permutations."""

import importlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import quadratic_assignment
from scipy.sparse import csr_array

import sparsezc as gb
from sparsezc.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue

matching = gb.applications.seeded_graph_matching


def graph(n, degree, seed, directed=False):
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < degree / n).astype(float)
    np.fill_diagonal(A, 0)
    return A if directed else np.maximum(A, A.T)


def matrix(A):
    return gb.io.from_scipy_sparse(csr_array(A))


def check(A, B, seeds, **options):
    match, disagreements = matching(matrix(A), matrix(B), seeds, **options)
    order = match.to_dense()
    assert np.array_equal(np.sort(order), np.arange(len(A)))
    assert all(order[a] == b for a, b in seeds)
    assert disagreements == (B[np.ix_(order, order)] != A).sum()
    return order, disagreements


@given(st.integers(1, 9), st.integers(0, 99), st.booleans(), st.sampled_from(["exact", "auction"]))
def test_any_graphs(n, seed, directed, lap):
    A, B = graph(n, 3, seed, directed), graph(n, 3, seed + 1, directed)
    rng = np.random.default_rng(seed)
    k = rng.integers(0, n + 1)
    check(A, B, np.c_[rng.permutation(n)[:k], rng.permutation(n)[:k]], lap=lap)


@pytest.mark.parametrize("lap", ["exact", "auction"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_planted_permutation_is_found(lap, directed):
    n = 200
    A, order = graph(n, 12, 1, directed), np.random.default_rng(2).permutation(n)
    B, who = A[np.ix_(order, order)], np.argsort(order)
    found, disagreements = check(A, B, [(v, who[v]) for v in range(20)], lap=lap)
    assert disagreements == 0
    assert np.array_equal(found, who)


@pytest.mark.parametrize("directed", [False, True])
def test_seeds_spread_by_pairs_of_edges(directed, monkeypatch):
    """Seeds spread without a step of Frank-Wolfe, and all gradients but the last two have few entries."""
    n, sizes = 1000, []
    A, order = graph(n, 12, 8, directed), np.random.default_rng(9).permutation(n)
    B, who = A[np.ix_(order, order)], np.argsort(order)
    problem = importlib.import_module("sparsezc.applications.seeded_graph_matching")._Problem
    tied = problem.tied
    monkeypatch.setattr(
        problem, "tied", lambda self, G, least: (sizes.append((G.nvals, least)), tied(self, G, least))[1]
    )
    found, disagreements = check(A, B, [(v, who[v]) for v in range(60)], max_iter=1)
    assert disagreements == 0
    assert np.array_equal(found, who)
    assert [least for _, least in sizes[:-1]] == [1 if directed else 2] * (len(sizes) - 1)
    assert sizes[0][0] < n * n / 20


def test_noise_is_no_hindrance():
    """The match is found although 1% of the pairs, a tenth of the edges, differ."""
    n, rng = 150, np.random.default_rng(3)
    A, order = graph(n, 20, 4), rng.permutation(n)
    noisy = A.copy()
    flip = np.triu(rng.random((n, n)) < 0.01, 1)
    noisy[flip | flip.T] = 1 - noisy[flip | flip.T]
    who = np.argsort(order)
    found, disagreements = check(A, noisy[np.ix_(order, order)], [(v, who[v]) for v in range(25)])
    assert np.array_equal(found, who)
    assert disagreements == (noisy != A).sum()


def test_it_is_no_worse_than_scipys():
    worse = 0
    for seed in range(6):
        A, B = graph(30, 6, seed), graph(30, 6, seed)
        order = np.random.default_rng(seed).permutation(30)
        B = B[np.ix_(order, order)]
        who = np.argsort(order)
        seeds = np.array([(v, who[v]) for v in range(5)])
        _, ours = check(A, B, seeds)
        options = {"partial_match": seeds, "maximize": True, "rng": np.random.default_rng(seed)}
        theirs = quadratic_assignment(A, B, method="faq", options=options).col_ind
        worse += ours > (B[np.ix_(theirs, theirs)] != A).sum()
    assert worse <= 1  # both methods descend, and may end in different local minima


def test_steps_that_still_gain_something_are_not_passed_over():
    A, B = matrix(graph(60, 8, 11)), matrix(graph(60, 8, 12))
    with pytest.raises(ConvergenceFailure, match=r"max_iter = 1 steps a further one gains [\d.]+ entries.* [\d,]+ dis"):
        matching(A, B, [(0, 0)], max_iter=1)
    assert matching(A, B, [(0, 0)])[1] > 0


def test_values_do_not_matter():
    A = graph(40, 6, 5)
    one = check(A, A, [(0, 0), (1, 1), (2, 2)])
    other = matching(matrix(A * 7), matrix(A), [(0, 0), (1, 1), (2, 2)])
    assert np.array_equal(one[0], other[0].to_dense())


def test_engines_agree(gpu, monkeypatch):
    monkeypatch.setattr("sparsezc.core.placement._NOTEWORTHY_BYTES", 0)  # bytes: a move of any matrix would warn
    A, order = graph(20, 5, 6), np.random.default_rng(7).permutation(20)
    B, who = A[np.ix_(order, order)], np.argsort(order)
    seeds = [(v, who[v]) for v in range(6)]
    expected = matching(matrix(A), matrix(B), seeds, max_iter=4)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = matching(matrix(A).to("gpu"), matrix(B).to("gpu"), seeds, max_iter=4)
    assert found[1] == expected[1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"B": gb.Matrix(bool, 4, 4)}, DimensionMismatch, "B is 4 x 4 and A is 3 x 3"),
        ({"seeds": [0, 1]}, DimensionMismatch, r"seeds has shape \(2,\); \(k, 2\)"),
        ({"seeds": [(0, 0), (1,)]}, DimensionMismatch, r"seeds has \(1,\) at 1; a pair"),
        ({"seeds": [(0, 0), (0, 1)]}, InvalidValue, "seeds has vertex 0 of A 2 times"),
        ({"seeds": [(0, 2), (1, 2)]}, InvalidValue, "seeds has vertex 2 of B 2 times"),
        ({"seeds": [(0, 3)]}, IndexOutOfBound, "seeds of B is 3"),
        ({"seeds": [(0.0, 1.0)]}, DomainMismatch, "seeds holds float64"),
        ({"lap": "greedy"}, InvalidValue, "lap is 'greedy'"),
        ({"max_iter": 0}, InvalidValue, "max_iter is 0"),
    ],
)
def test_bad_input(change, error, message):
    good = {"A": gb.Matrix(bool, 3, 3), "B": gb.Matrix(bool, 3, 3), "seeds": [(0, 0)]}
    with pytest.raises(error, match=message):
        matching(**good | change)
