"""gb.algorithms.betweenness_centrality."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.centrality import betweenness as judged

import sparsezc as gb
from sparsezc.algorithms._sweeps import sample
from tests.algorithms.graphs import (
    SMALL,
    both_ways,
    dense,
    graphs,
    loaded,
    matrix,
    needs_real,
    network,
    real,
    references,
)

betweenness_centrality = gb.algorithms.betweenness_centrality
options = pytest.mark.parametrize(("normalized", "endpoints"), [(a, b) for a in (True, False) for b in (True, False)])


def values(judge):
    return [judge[v] for v in range(len(judge))]


def check(graph, **kwargs):
    found = betweenness_centrality(matrix(graph), **kwargs)
    assert str(found.dtype) == "FP64"
    assert found.nvals == found.size
    assert np.allclose(dense(found, 0.0), values(nx.betweenness_centrality(network(graph), **kwargs)))


@options
@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 130])
def test_small_graphs(name, normalized, endpoints):
    check(SMALL[name], normalized=normalized, endpoints=endpoints)


@given(graphs(), st.booleans(), st.booleans())
def test_any_graph(graph, normalized, endpoints):
    check(graph, normalized=normalized, endpoints=endpoints)


@given(graphs(max_vertices=12), st.integers(2, 12), st.booleans(), st.booleans())
def test_estimates(graph, k, normalized, endpoints):
    """NetworkX's sums over the same sources, under its scale."""
    n = graph.shape[0]
    k = min(k, n)
    if k < 2:
        return
    sources, judge = sample(n, k, 1), network(graph)
    expected = dict.fromkeys(judge, 0.0)
    for s in sources.tolist():
        S, P, sigma, _ = judged._single_source_shortest_path_basic(judge, s)
        add = judged._accumulate_endpoints if endpoints else judged._accumulate_basic
        expected, _ = add(expected, S, P, sigma, s)
    scale = {"directed": True, "sampled_nodes": None if k == n else sources.tolist()}
    expected = judged._rescale(expected, n, normalized=normalized, endpoints=endpoints, **scale)
    found = betweenness_centrality(matrix(graph), k, normalized, endpoints, seed=1)
    assert np.allclose(dense(found, 0.0), values(expected))


def test_pairs_are_ordered():
    graph = both_ways(SMALL["diamonds"])
    expected = nx.betweenness_centrality(network(graph).to_undirected(), normalized=False)
    found = betweenness_centrality(matrix(graph), normalized=False)
    assert np.allclose(dense(found, 0.0), 2 * np.array(values(expected)))


@needs_real
@pytest.mark.parametrize("name", ["email-Eu-core", "wiki-Vote", "ca-AstroPh", "as-caida20071105"])
def test_real_graphs_from_four_sources(name):
    expected = references(name)
    found = betweenness_centrality(loaded(name), normalized=False, sources=expected["sources"])
    assert np.allclose(dense(found, 0.0), expected["bc4"], rtol=1e-5)


@needs_real
def test_all_of_a_real_graph():
    found = betweenness_centrality(matrix(real("email-Eu-core")), normalized=False)
    assert np.allclose(dense(found, 0.0), references("email-Eu-core")["bc_full"], rtol=1e-5)


def test_no_vertices_and_bad_arguments():
    assert betweenness_centrality(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.InvalidValue, match="k is 0; at least 1"):
        betweenness_centrality(gb.Matrix("BOOL", 3, 3), k=0)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 3"):
        betweenness_centrality(gb.Matrix("BOOL", 3, 3), sources=[3])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        betweenness_centrality(gb.Matrix("FP64", 2, 3))
