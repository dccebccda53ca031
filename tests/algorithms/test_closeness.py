"""gb.algorithms.closeness_centrality and harmonic_centrality."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import sparsezc as gb
from sparsezc.algorithms._sweeps import popcount, sample
from tests.algorithms.graphs import SMALL, dense, graphs, matrix, needs_real, network, real

closeness_centrality, harmonic_centrality = gb.algorithms.closeness_centrality, gb.algorithms.harmonic_centrality


def values(judge):
    return [judge[v] for v in range(len(judge))]


def check(graph):
    A, judge = matrix(graph), network(graph)
    for improved in (True, False):
        found = closeness_centrality(A, improved)
        assert str(found.dtype) == "FP64"
        assert found.nvals == found.size
        assert np.allclose(dense(found, 0.0), values(nx.closeness_centrality(judge, wf_improved=improved)))
    assert np.allclose(dense(harmonic_centrality(A), 0.0), values(nx.harmonic_centrality(judge)))


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 300])
def test_small_graphs(name):
    """One vertex to 300: less than a word of searches, and several."""
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)


@given(graphs(), st.integers(1, 30), st.integers(0, 5))
def test_estimates(graph, k, seed):
    """The means over the sample, which does not ask a vertex about itself."""
    n, sources = graph.shape[0], sample(graph.shape[0], k, seed)
    distance = shortest_path(graph, unweighted=True)[sources]
    distance[np.arange(sources.size), sources] = np.inf
    others = sources.size - np.isin(np.arange(n), sources)
    reached = np.isfinite(distance).sum(axis=0)
    total = np.where(np.isfinite(distance), distance, 0).sum(axis=0)
    expected = np.divide(reached * reached, total * others, out=np.zeros(n), where=total > 0)
    assert np.allclose(dense(closeness_centrality(matrix(graph), k=k, seed=seed), 0.0), expected)
    expected = (1 / distance).sum(axis=0) * (n - 1) / np.maximum(others, 1)
    assert np.allclose(dense(harmonic_centrality(matrix(graph), k=k, seed=seed), 0.0), expected)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_bits_are_counted(words):
    count = popcount(gb.Vector.from_dense(np.array(words, np.int64)))
    assert count.to_dense().tolist() == [(word % 2**64).bit_count() for word in words]


@needs_real
def test_a_real_graph():
    check(real("email-Eu-core"))


@pytest.mark.parametrize("algorithm", [closeness_centrality, harmonic_centrality])
def test_no_vertices_and_bad_arguments(algorithm):
    assert algorithm(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.InvalidValue, match="k is 0; at least 1"):
        algorithm(gb.Matrix("BOOL", 3, 3), k=0)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))
