"""gb.algorithms.betweenness_centrality and edge_betweenness_centrality."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.centrality import betweenness as judged

import sparsezc as gb
from sparsezc.algorithms import _brandes, _searches
from sparsezc.algorithms._multi_source_bfs import sample
from tests.algorithms.graphs import (
    SMALL,
    both_ways,
    csr,
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
edge_betweenness_centrality = gb.algorithms.edge_betweenness_centrality
#: Lengths that give many paths of equal length; sums of the floats are equal only if added in the path's order.
LENGTHS = {"integers": st.integers(1, 3), "floats": st.sampled_from([0.1, 0.2, 0.30000000000000004, 0.5])}
options = pytest.mark.parametrize(("normalized", "endpoints"), [(a, b) for a in (True, False) for b in (True, False)])


def values(judge):
    return [judge[v] for v in range(len(judge))]


def check(graph, weighted=False, **kwargs):
    found = betweenness_centrality(matrix(graph), weighted=weighted, **kwargs)
    assert str(found.dtype) == "FP64"
    assert found.nvals == found.size
    kwargs |= {"weight": "weight"} if weighted else {}
    assert np.allclose(dense(found, 0.0), values(nx.betweenness_centrality(network(graph), **kwargs)))


def check_edges(graph, weighted=False, **kwargs):
    found = edge_betweenness_centrality(matrix(graph), weighted=weighted, **kwargs)
    assert str(found.dtype) == "FP64"
    assert found.nvals == graph.nnz
    kwargs |= {"weight": "weight"} if weighted else {}
    for (u, v), expected in nx.edge_betweenness_centrality(network(graph), **kwargs).items():
        assert np.isclose(found.get(u, v), expected), (u, v)


@options
@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 130])
def test_small_graphs(name, normalized, endpoints):
    check(SMALL[name], normalized=normalized, endpoints=endpoints)


@given(graphs(), st.booleans(), st.booleans())
def test_any_graph(graph, normalized, endpoints):
    check(graph, normalized=normalized, endpoints=endpoints)


@pytest.mark.parametrize("kind", LENGTHS)
@given(st.data(), st.booleans(), st.booleans())
def test_lengths(kind, data, normalized, endpoints):
    graph = data.draw(graphs(LENGTHS[kind]))
    check(graph, weighted=True, normalized=normalized, endpoints=endpoints)
    check_edges(graph, weighted=True, normalized=normalized)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 64])
def test_edges_of_small_graphs(name, normalized):
    check_edges(SMALL[name], normalized=normalized)


@given(graphs(), st.booleans())
def test_edges_of_any_graph(graph, normalized):
    check_edges(graph, normalized=normalized)


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_any_size_add_up(most, weighted, monkeypatch):
    graph = SMALL["kronecker"][:60, :60]
    graph.data = 1 + np.arange(graph.nnz) % 3
    monkeypatch.setattr(_searches, "FEW", most)
    monkeypatch.setattr(_searches, "MOST", most)
    check(graph, weighted=weighted, endpoints=True)
    check_edges(graph, weighted=weighted)


@pytest.mark.parametrize(("engine", "sources"), [("cpu", [1]), ("cpu", [1, 5, 7]), ("gpu", [1, 5, 7])])
def test_sums_in_fp32(engine, sources, gpu):
    """Sums in FP32 equal those in FP64 to six digits, from one source and from several."""
    A = matrix(SMALL["kronecker"]).to(engine)
    exact = betweenness_centrality(A, sources=sources, endpoints=True, normalized=False)
    found = betweenness_centrality(A, sources=sources, endpoints=True, normalized=False, dtype="FP32")
    assert str(found.dtype) == "FP64"
    assert not np.array_equal(dense(found, 0.0), dense(exact, 0.0))
    assert np.allclose(dense(found, 0.0), dense(exact, 0.0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sources", [[0], [0, 1]])
def test_more_paths_than_fp32_counts(sources):
    """A chain of 130 diamonds has 2^130 shortest paths: FP32 is refused, and FP64 gives each middle vertex half."""
    edges = [(3 * k + a, 3 * k + b) for k in range(130) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    A = gb.Matrix.from_edgelist(edges, nrows=391, ncols=391)
    with pytest.raises(gb.exceptions.InvalidValue, match=r"dtype FP32: a vertex has over 3.4e38 shortest paths"):
        betweenness_centrality(A, sources=sources, dtype="FP32")
    found = betweenness_centrality(A, sources=[0], normalized=False)
    assert found.get(388) == found.get(389) == 0.5
    assert found.get(3) == 387


def test_dtypes_that_no_sums_have():
    A = matrix(SMALL["kronecker"])
    with pytest.raises(gb.exceptions.InvalidValue, match="dtype 'INT8': FP64 is needed, or FP32"):
        betweenness_centrality(A, dtype="INT8")
    with pytest.raises(gb.exceptions.InvalidValue, match="dtype 'FP32': FP64 is needed over lengths"):
        betweenness_centrality(A, dtype="FP32", weighted=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_levels_beyond_those_stored_whole(weighted, monkeypatch):
    """Levels beyond those stored whole are kept as lists, also in the search of a single source."""
    graph = SMALL["kronecker"][:60, :60]
    graph.data = 1 + np.arange(graph.nnz) % 3
    listed = []
    whole = _brandes._Listed.whole
    monkeypatch.setattr(_brandes._Listed, "whole", lambda level: listed.append(level) or whole(level))
    monkeypatch.setattr(_brandes, "_WHOLE", 0)
    monkeypatch.setattr(_brandes, "_FIRST", 0)
    for most in (5,) if weighted else (1, 20):
        monkeypatch.setattr(_searches, "FEW", most)
        monkeypatch.setattr(_searches, "MOST", most)
        check(graph, weighted=weighted, endpoints=True)
        assert listed
        listed.clear()
    check_edges(graph, weighted=weighted)


def test_as_many_searches_share_a_pass_as_memory_and_caches_hold(monkeypatch):
    def sizes(count, n, nbytes):
        return [group.size for group in _searches.batches(np.arange(count), n, nbytes)]

    monkeypatch.setattr(_searches.budget, "workspace", lambda: None)
    assert sizes(70, 1000, 10**6) == [64, 6]
    assert sizes(70, 2**15, 10**6) == [32, 32, 6]
    assert sizes(20, 2**30, 10**12) == [16, 4]
    monkeypatch.setattr(_searches.budget, "workspace", lambda: 1000)
    assert sizes(7, 1000, 100) == [2, 2, 2, 1]
    assert sizes(3, 2**30, 10**6) == [1, 1, 1]
    assert sizes(0, 0, 0) == []


@given(graphs(st.integers(1, 3)), st.booleans(), st.booleans(), st.data())
def test_the_very_sources(graph, weighted, normalized, data):
    """Sums over given sources equal NetworkX's with all vertices as targets; a source given twice counts twice."""
    n = graph.shape[0]
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=4, unique=True))
    judge, weight = network(graph), "weight" if weighted else None
    subset = {"sources": sources, "targets": list(judge), "weight": weight}
    expected = values(nx.betweenness_centrality_subset(judge, **subset))
    found = betweenness_centrality(matrix(graph), normalized=False, weighted=weighted, sources=sources)
    assert np.allclose(dense(found, 0.0), expected)
    twice = betweenness_centrality(matrix(graph), normalized=False, weighted=weighted, sources=[*sources, *sources])
    assert np.allclose(dense(twice, 0.0), 2 * np.array(expected))
    edges = edge_betweenness_centrality(matrix(graph), normalized=False, weighted=weighted, sources=sources)
    for (u, v), share in nx.edge_betweenness_centrality_subset(judge, **subset).items():
        assert np.isclose(edges.get(u, v), share)


@given(graphs(max_vertices=12), st.integers(2, 12), st.booleans(), st.booleans())
def test_estimates(graph, k, normalized, endpoints):
    """Estimates equal NetworkX's sums over the same sources, scaled as NetworkX scales them."""
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


@given(graphs(st.integers(1, 3), max_vertices=12), st.integers(1, 12), st.booleans())
def test_estimates_of_edges(graph, k, normalized):
    """Estimates of edges equal NetworkX's sums over the same sources, scaled as NetworkX scales them."""
    n = graph.shape[0]
    sources, judge = sample(n, k, 1).tolist(), network(graph)
    expected = nx.edge_betweenness_centrality_subset(judge, sources, list(judge), weight="weight")
    scale = (1 / (n - 1) if normalized else n) / len(sources) if n > 1 else 1
    found = edge_betweenness_centrality(matrix(graph), k, normalized, seed=1, weighted=True)
    for (u, v), share in expected.items():
        assert np.isclose(found.get(u, v), share * scale)


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
@pytest.mark.parametrize("weighted", [False, True])
def test_edges_and_lengths_of_a_real_graph(weighted):
    """Sums over 40 sources equal NetworkX's, which takes a minute for all sources."""
    A = loaded("email-Eu-core")
    judge = nx.DiGraph()
    judge.add_nodes_from(range(A.nrows))
    judge.add_weighted_edges_from(zip(*(x.tolist() for x in A.to_coo()), strict=True))
    sources, weight = list(range(0, A.nrows, 25)), "weight" if weighted else None
    options = {"normalized": False, "weighted": weighted, "sources": sources}
    expected = nx.betweenness_centrality_subset(judge, sources, list(judge), weight=weight)
    assert np.allclose(dense(betweenness_centrality(A, **options), 0.0), values(expected))
    expected = nx.edge_betweenness_centrality_subset(judge, sources, list(judge), weight=weight)
    i, j, found = edge_betweenness_centrality(A, **options).to_coo()
    assert np.allclose(found, [expected[edge] for edge in zip(i.tolist(), j.tolist(), strict=True)])


@needs_real
def test_all_of_a_real_graph():
    found = betweenness_centrality(matrix(real("email-Eu-core")), normalized=False)
    assert np.allclose(dense(found, 0.0), references("email-Eu-core")["bc_full"], rtol=1e-5)


def test_edges_of_infinite_length_cannot_be_used():
    A = matrix(csr(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, np.inf]))
    assert betweenness_centrality(A, normalized=False, weighted=True).to_dense().tolist() == [0.0, 1.0, 0.0]
    edges = edge_betweenness_centrality(A, normalized=False, weighted=True)
    assert edges.to_dicts() == {0: {1: 2.0, 2: 0.0}, 1: {2: 2.0}}


@pytest.mark.parametrize("algorithm", [betweenness_centrality, edge_betweenness_centrality])
def test_no_vertices_and_bad_arguments(algorithm):
    assert set(algorithm(gb.Matrix("BOOL", 0, 0)).shape) == {0}
    assert set(algorithm(gb.Matrix("FP64", 0, 0), weighted=True).shape) == {0}
    none = algorithm(matrix(SMALL["path"]), sources=[])
    assert none.to_coo()[-1].tolist() == [0.0] * none.nvals
    with pytest.raises(gb.exceptions.InvalidValue, match="k is 0; at least 1"):
        algorithm(gb.Matrix("BOOL", 3, 3), k=0)
    with pytest.raises(gb.exceptions.InvalidValue, match="k and sources are both given"):
        algorithm(gb.Matrix("BOOL", 3, 3), k=2, sources=[1])
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 3"):
        algorithm(gb.Matrix("BOOL", 3, 3), sources=[3])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))
    for length, said in ((0, "a value of 0; lengths > 0"), (-1, "a value of -1; lengths > 0"), (np.nan, "NaN")):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            algorithm(matrix(csr(2, [(0, 1)], [length])), weighted=True)
    with pytest.raises(gb.exceptions.InvalidValue, match="lengths that vanish beside others"):
        algorithm(matrix(csr(3, [(0, 1), (1, 2), (2, 1)], [1e20, 1.0, 1.0])), weighted=True)
