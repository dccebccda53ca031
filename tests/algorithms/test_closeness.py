"""gb.algorithms.closeness_centrality and harmonic_centrality."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import sparsezc as gb
from sparsezc.algorithms import _searches
from sparsezc.algorithms._multi_source_bfs import popcount, sample
from tests.algorithms.graphs import SMALL, csr, dense, graphs, loaded, matrix, needs_real, network, real

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


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 200])
def test_small_graphs(name):
    """On graphs of up to 200 vertices, whose searches fill a part of a word of bits or several words."""
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)


@given(graphs(), st.integers(1, 30), st.integers(0, 5))
def test_estimates(graph, k, seed):
    """Estimates are means over the sampled sources other than the vertex itself."""
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


WEIGHTS = {
    "integers": st.integers(0, 9),
    "floats": st.sampled_from([0.0, 0.1, 0.25, 1.5, 7.0]),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@given(st.data())
def test_lengths(kind, data):
    """Sums over lengths equal NetworkX's, also of lengths of 0."""
    graph = data.draw(graphs(WEIGHTS[kind]))
    A, judge = matrix(graph), network(graph)
    for improved in (True, False):
        expected = nx.closeness_centrality(judge, distance="weight", wf_improved=improved)
        assert np.allclose(dense(closeness_centrality(A, improved, weighted=True), 0.0), values(expected))
    expected = nx.harmonic_centrality(judge, distance="weight")
    assert np.allclose(dense(harmonic_centrality(A, weighted=True), 0.0), values(expected))


@given(graphs(st.integers(1, 5)), st.booleans(), st.data())
def test_the_very_sources(graph, weighted, data):
    sources = data.draw(st.lists(st.integers(0, graph.shape[0] - 1), max_size=5))
    found = harmonic_centrality(matrix(graph), weighted=weighted, sources=sources)
    distance = "weight" if weighted else None
    expected = nx.harmonic_centrality(network(graph), sources=sources, distance=distance)
    assert np.allclose(dense(found, 0.0), values(expected))


@given(graphs(st.integers(1, 5)), st.integers(1, 30), st.integers(0, 5))
def test_estimates_over_lengths(graph, k, seed):
    n, sources = graph.shape[0], sample(graph.shape[0], k, seed)
    distance = shortest_path(graph)[sources]
    distance[np.arange(sources.size), sources] = np.inf
    others = sources.size - np.isin(np.arange(n), sources)
    reached = np.isfinite(distance).sum(axis=0)
    total = np.where(np.isfinite(distance), distance, 0).sum(axis=0)
    expected = np.divide(reached * reached, total * others, out=np.zeros(n), where=total > 0)
    found = closeness_centrality(matrix(graph), weighted=True, k=k, seed=seed)
    assert np.allclose(dense(found, 0.0), expected)


@pytest.mark.parametrize("most", [1, 3])
def test_groups_of_any_size_add_up(most, monkeypatch):
    graph = SMALL["kronecker"]
    A = matrix(graph)
    expected = dense(closeness_centrality(A, weighted=True), 0.0)
    monkeypatch.setattr(_searches, "FEW", most)
    monkeypatch.setattr(_searches, "MOST", most)
    assert np.allclose(dense(closeness_centrality(A, weighted=True), 0.0), expected)


def test_edges_of_infinite_length_cannot_be_used():
    A = matrix(csr(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, np.inf]))
    assert dense(harmonic_centrality(A, weighted=True), 0.0).tolist() == [0.0, 1.0, 1.5]
    assert dense(harmonic_centrality(A), 0.0).tolist() == [0.0, 1.0, 2.0]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_bits_are_counted(words):
    count = popcount(gb.Vector.from_dense(np.array(words, np.int64).view(np.uint64)))
    assert count.to_dense().tolist() == [(word % 2**64).bit_count() for word in words]


@needs_real
def test_a_real_graph():
    check(real("email-Eu-core"))


@needs_real
def test_a_real_graph_with_lengths():
    """Centralities equal those of SciPy's distances; NetworkX would take minutes."""
    A = loaded("email-Eu-core")
    i, j, length = A.to_coo()
    distance = shortest_path(csr(A.nrows, np.c_[i, j], length))
    np.fill_diagonal(distance, np.inf)
    finite = np.isfinite(distance)
    reached, total = finite.sum(axis=0), np.where(finite, distance, 0).sum(axis=0)
    expected = np.divide(reached**2, total * (A.nrows - 1), out=np.zeros(A.nrows), where=total > 0)
    assert np.allclose(dense(closeness_centrality(A, weighted=True), 0.0), expected)
    assert np.allclose(dense(harmonic_centrality(A, weighted=True), 0.0), (1 / distance).sum(axis=0))


@pytest.mark.parametrize("algorithm", [closeness_centrality, harmonic_centrality])
def test_no_vertices_and_bad_arguments(algorithm):
    assert algorithm(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.InvalidValue, match="k is 0; at least 1"):
        algorithm(gb.Matrix("BOOL", 3, 3), k=0)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))
    for length, said in ((-1, "a value of -1; lengths >= 0"), (np.nan, "NaN")):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            algorithm(matrix(csr(2, [(0, 1)], [length])), weighted=True)
    big = gb.Matrix.from_coo([0, 1], [1, 2], np.array([2**63 - 2, 5]), nrows=3, ncols=3)
    with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
        algorithm(big, weighted=True)


def test_a_number_of_sources_and_the_sources_themselves():
    with pytest.raises(gb.exceptions.InvalidValue, match="k and sources are both given"):
        harmonic_centrality(gb.Matrix("BOOL", 3, 3), k=2, sources=[1])
