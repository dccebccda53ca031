"""gb.algorithms.random_walks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import sparsezc as gb
from tests.algorithms import verify_sets
from tests.algorithms.graphs import SMALL, csr, graphs, matrix, needs_real, real

random_walks = gb.algorithms.random_walks


def check(graph, sources, length, **options):
    walks = random_walks(matrix(graph), sources, length, **options)
    assert str(walks.dtype) == "INT64"
    judged = graph if options.get("weighted") else csr(graph.shape[0], np.c_[graph.nonzero()])
    verify_sets.walks(judged, sources, length, walks.to_dense(fill_value=-1))


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(SMALL[name], list(range(SMALL[name].shape[0])), 6)


@given(graphs(st.integers(1, 5)), st.integers(0, 9), st.booleans(), st.data())
def test_any_graph(graph, length, weighted, data):
    sources = data.draw(st.lists(st.integers(0, graph.shape[0] - 1), max_size=9))
    check(graph, sources, length, weighted=weighted, seed=3)


@given(graphs(st.sampled_from([0.0, 1e-9, 1.0, 1e9])))
def test_edges_of_no_weight_are_never_taken(graph):
    """Walks follow edges of positive weight only, whatever the sum of a row's weights."""
    check(graph, list(range(graph.shape[0])), 5, weighted=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_edges_alike_or_by_weight(weighted):
    """10,000 first steps have the expected distribution; one correct program in a million fails."""
    weights = np.array([1, 2, 3, 4])
    A = matrix(csr(5, [(0, v) for v in range(1, 5)], weights))
    steps = random_walks(A, [0] * 10_000, 1, weighted=weighted, seed=0).to_coo()[2][1::2]
    share = weights / weights.sum() if weighted else np.full(4, 0.25)
    assert chisquare(np.bincount(steps, minlength=5)[1:], 10_000 * share).pvalue > 1e-6


@needs_real
def test_a_real_graph():
    check(real("wiki-Vote"), list(range(0, 7000, 7)), 20)


def test_a_seed_chooses_and_bad_arguments():
    A = matrix(SMALL["kronecker"])
    assert random_walks(A, [0, 1], 20, seed=1).isequal(random_walks(A, [0, 1], 20, seed=1))
    assert not random_walks(A, [0, 1], 20, seed=1).isequal(random_walks(A, [0, 1], 20, seed=2))
    assert random_walks(gb.Matrix("BOOL", 0, 0), [], 3).shape == (0, 4)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 512"):
        random_walks(A, [512])
    with pytest.raises(gb.exceptions.InvalidValue, match="length is -1; at least 0"):
        random_walks(A, [0], -1)
    with pytest.raises(gb.exceptions.InvalidValue, match="negative values"):
        random_walks(matrix(csr(2, [(0, 1)], [-1])), [0], weighted=True)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        random_walks(gb.Matrix("FP64", 2, 3), [0])
