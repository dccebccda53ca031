"""gb.algorithms.modularity, louvain_communities and greedy_modularity_communities."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import (
    DATA,
    SMALL,
    both_ways,
    csr,
    dense,
    graphs,
    matrix,
    needs_real,
    network,
    real,
    undirected,
)

modularity, louvain_communities = gb.algorithms.modularity, gb.algorithms.louvain_communities
greedy_modularity_communities = gb.algorithms.greedy_modularity_communities


def sets(label):
    return [set(np.flatnonzero(label == c).tolist()) for c in np.unique(label)]


def check_labels(graph, label):
    """Check that labels are smallest members and isolated vertices are alone; return the labels as an array."""
    assert str(label.dtype) == "INT64"
    label = dense(label)
    assert all(label[c] == c == np.flatnonzero(label == c)[0] for c in np.unique(label))
    rows, cols, _ = verify.edges(graph)
    lonely = np.setdiff1d(np.arange(graph.shape[0]), np.r_[rows[rows != cols], cols[rows != cols]])
    assert (label[lonely] == lonely).all()
    return label


@given(graphs(st.integers(0, 9)), st.sampled_from([0.5, 1.0, 2.0]), st.booleans(), st.data())
def test_modularity_of_any_graph(graph, resolution, weighted, data):
    n, judge = graph.shape[0], network(graph)
    label = data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    if graph.nnz == 0 or (weighted and not graph.data.any()):
        with pytest.raises(gb.exceptions.InvalidValue, match="no edges"):
            modularity(matrix(graph), gb.Vector.from_dense(label), resolution, weighted=weighted)
        return
    weight = "weight" if weighted else None
    expected = nx.community.modularity(judge, sets(np.array(label)), weight=weight, resolution=resolution)
    found = modularity(matrix(graph), gb.Vector.from_dense(label), resolution, weighted=weighted)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_communities_of_small_graphs(name):
    """The modularity is at least 95% of NetworkX's; both methods choose at random."""
    graph = both_ways(SMALL[name])
    graph = csr(graph.shape[0], np.c_[graph.nonzero()][np.not_equal(*graph.nonzero())])
    label = check_labels(graph, louvain_communities(matrix(graph), seed=1))
    if graph.nnz:
        judge = undirected(graph)
        expected = nx.community.modularity(judge, nx.community.louvain_communities(judge, seed=1))
        assert nx.community.modularity(judge, sets(label)) >= 0.95 * expected - 1e-9


@given(graphs(st.integers(0, 5)), st.booleans())
def test_communities_of_any_graph(graph, weighted):
    """The modularity is at least that of communities of one vertex each."""
    A = matrix(graph)
    label = louvain_communities(A, weighted=weighted, seed=2)
    smallest = dense(label)
    assert all(smallest[c] == c == np.flatnonzero(smallest == c)[0] for c in np.unique(smallest))
    i, j, w = verify.edges(graph)
    total = w.sum() if weighted else w.size
    if total:
        value = w if weighted else np.ones(w.size, int)
        both = gb.Matrix.from_coo(
            np.r_[i, j], np.r_[j, i], np.r_[value, value], nrows=A.nrows, ncols=A.ncols, dup_op="+"
        )
        apart = gb.Vector.from_dense(np.arange(A.nrows))
        assert modularity(both, label, weighted=True) >= modularity(both, apart, weighted=True) - 1e-12


def test_what_is_plain():
    """Cliques joined by single edges are found; a high resolution splits them, a low one joins all."""
    ring = [(5 * c + u, 5 * c + v) for c in range(6) for u in range(5) for v in range(u)]
    ring += [(5 * c, (5 * c + 7) % 30) for c in range(6)]
    A = matrix(csr(30, ring))
    assert dense(louvain_communities(A, seed=0)).tolist() == [5 * (v // 5) for v in range(30)]
    assert dense(louvain_communities(A, resolution=50.0, seed=0)).tolist() == list(range(30))
    assert len(sets(dense(louvain_communities(A, resolution=0.01, seed=0)))) == 1
    heavy = matrix(csr(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [1, 9, 1, 9]))
    assert dense(louvain_communities(heavy, weighted=True)).tolist() == [0, 1, 1, 0]


def test_a_seed_chooses():
    A = matrix(SMALL["kronecker"])
    assert louvain_communities(A, seed=3).isequal(louvain_communities(A, seed=3))
    one = louvain_communities(A, max_level=1, seed=3)
    assert modularity(A, one) <= modularity(A, louvain_communities(A, seed=3)) + 1e-9


@needs_real
@pytest.mark.parametrize(
    "name",
    ["email-Eu-core", "wiki-Vote", "as-caida20071105", pytest.param("ca-AstroPh", marks=pytest.mark.slow)],
)
def test_real_graphs(name):
    """The modularity is at least 97% of what NetworKit reached on the undirected graph without loops."""
    graph = both_ways(real(name))
    graph = csr(graph.shape[0], np.c_[graph.nonzero()][np.not_equal(*graph.nonzero())])
    A, known = matrix(graph), json.loads((DATA / "refs" / "summary.json").read_text())[name]
    label = louvain_communities(A, seed=1)
    check_labels(graph, label)
    assert modularity(A, label) >= 0.97 * known["modularity_networkit_plm"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_unions_against_networkx(directed, weighted):
    """Communities equal NetworkX's, also among equal gains, where both choose by vertex number."""
    for seed in range(2):
        judge = nx.gnp_random_graph(18, 0.12, seed=seed, directed=directed)
        for k, (_, _, data) in enumerate(judge.edges(data=True)):
            data["weight"] = k % 3 + 1
        A = gb.Matrix.from_dense(nx.to_numpy_array(judge, weight="weight" if weighted else None), missing_value=0.0)
        for options in ({}, {"resolution": 0.6}, {"cutoff": 9}, {"best_n": 2}):
            label = dense(greedy_modularity_communities(A, **options, weighted=weighted))
            expected = nx.community.greedy_modularity_communities(judge, "weight" if weighted else None, **options)
            assert {frozenset(np.flatnonzero(label == v).tolist()) for v in label} == set(map(frozenset, expected))
            assert all(label[v] == min(part) for part in expected for v in part)


def test_bad_arguments_of_unions():
    A = matrix(csr(3, [(0, 1), (1, 0)]))
    assert dense(greedy_modularity_communities(gb.Matrix("BOOL", 3, 3))).tolist() == [0, 1, 2]
    assert greedy_modularity_communities(gb.Matrix("BOOL", 0, 0)).size == 0
    for options, said in (
        ({"cutoff": 0}, "cutoff is 0; at least 1 is needed"),
        ({"cutoff": 4}, "cutoff is 4; the graph has 3 vertices"),
        ({"best_n": 4}, "best_n is 4; the graph has 3 vertices"),
        ({"cutoff": 2, "best_n": 1}, "best_n is 1; at least 2 is needed"),
        ({"resolution": np.nan}, "resolution is nan"),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            greedy_modularity_communities(A, **options)


@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e160, 1e300, 1e307])
def test_modularity_of_weights_whose_squares_are_no_numbers(unit):
    A = matrix(csr(4, [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (2, 1)], unit * np.array([2.0, 2, 3, 3, 1, 1])))
    same = matrix(csr(4, [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (2, 1)], np.array([2.0, 2, 3, 3, 1, 1])))
    label = gb.Vector.from_dense([0, 0, 1, 1])
    assert modularity(A, label, weighted=True) == pytest.approx(modularity(same, label, weighted=True), abs=1e-14)


def test_a_loop_of_an_undirected_graph_counts_once():
    """A loop counts once; NetworkX counts it twice, which equals a 2 on the diagonal."""
    A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 2, 3], [1, 0, 2, 1, 2, 3, 2], 1.0, nrows=4, ncols=4)
    label = gb.Vector.from_dense([0, 0, 1, 1])
    assert modularity(A, label) == pytest.approx(3 / 7 + 2 / 7 - (3 * 3 + 4 * 4) / 7**2)
    A[2, 2] = 2
    judge = nx.Graph([(0, 1), (1, 2), (2, 2), (2, 3)])
    assert modularity(A, label, weighted=True) == pytest.approx(nx.community.modularity(judge, [{0, 1}, {2, 3}]))


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_all_runs_where_the_graph_is(gpu, placement):
    """All statements run on the GPU engine: fallback="error" refuses any other."""
    A = matrix(both_ways(SMALL["kronecker"]))
    label = louvain_communities(A, seed=1)
    with gb.config.set(engine="gpu", fallback="error"):
        there = A.to("gpu", placement=placement)
        found = louvain_communities(there, seed=1)
        assert found.isequal(label.to("gpu"))
        for numbers in (found, gb.Vector.from_dense(dense(label) - 7)):
            assert modularity(there, numbers, weighted=True) == pytest.approx(modularity(A, label, weighted=True))


def test_bad_arguments():
    A = matrix(csr(3, [(0, 1), (1, 0)]))
    assert louvain_communities(gb.Matrix("BOOL", 0, 0)).size == 0
    assert dense(louvain_communities(gb.Matrix("BOOL", 3, 3))).tolist() == [0, 1, 2]
    for algorithm in (louvain_communities, lambda A, **kw: modularity(A, gb.Vector.from_dense([0, 0]), **kw)):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
        with pytest.raises(gb.exceptions.InvalidValue, match="negative values"):
            algorithm(matrix(csr(2, [(0, 1)], [-1])), weighted=True)
        for value in (np.nan, np.inf):
            with pytest.raises(gb.exceptions.InvalidValue, match="values that are NaN or infinite"):
                algorithm(matrix(csr(2, [(0, 1), (1, 0)], [value, 2.0])), weighted=True)
        with pytest.raises(gb.exceptions.InvalidValue, match="A has weights whose sum is infinite; a finite sum"):
            algorithm(matrix(csr(2, [(0, 1), (1, 0)], [1e308, 1e308])), weighted=True)
    for value in (-1.0, np.nan, np.inf):
        with pytest.raises(gb.exceptions.InvalidValue, match=r"resolution is .*; a finite number >= 0 is needed"):
            modularity(A, gb.Vector.from_dense([0, 0, 1]), value)
    with pytest.raises(gb.exceptions.DomainMismatch, match="resolution is '1'; a number is needed"):
        modularity(A, gb.Vector.from_dense([0, 0, 1]), "1")
    with pytest.raises(gb.exceptions.InvalidValue, match="max_level is 0; at least 1"):
        louvain_communities(A, max_level=0)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="communities has size 2; the graph has 3"):
        modularity(A, gb.Vector.from_dense([0, 0]))
    with pytest.raises(gb.exceptions.InvalidValue, match="1 of 3 vertices have none"):
        modularity(A, gb.Vector.from_coo([0, 1], [0, 0], size=3))
    with pytest.raises(TypeError, match="communities is a list; a Vector"):
        modularity(A, [0, 0, 1])


@pytest.mark.parametrize("factor", [1e-310, 1e300])
def test_weights_near_the_ends_of_fp64_join_the_same_communities(factor):
    i, j = np.array([0, 1, 2, 3, 4, 5, 2]), np.array([1, 2, 0, 4, 5, 3, 3])
    A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], factor, nrows=6, ncols=6)
    assert gb.algorithms.greedy_modularity_communities(A, weighted=True).to_dense().tolist() == [0, 0, 0, 3, 3, 3]
