"""gb.algorithms.triangle_count, triangles, transitivity and the clustering coefficients."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import (
    REAL,
    SMALL,
    csr,
    dense,
    graphs,
    loaded,
    matrix,
    needs_real,
    network,
    real,
    references,
    undirected,
)

triangle_count, triangles, transitivity = (
    gb.algorithms.triangle_count,
    gb.algorithms.triangles,
    gb.algorithms.transitivity,
)
clustering, square_clustering = gb.algorithms.clustering, gb.algorithms.square_clustering
local_clustering_coefficient = gb.algorithms.local_clustering_coefficient


def values(judge):
    return [judge[v] for v in range(len(judge))]


def graphalytics(graph):
    """Return the local clustering coefficients by Graphalytics' definition, one pair of neighbours at a time."""
    rows, cols, _ = verify.edges(graph)
    exists, answer = set(zip(rows.tolist(), cols.tolist(), strict=True)), []
    for around in verify.neighbours(graph):
        found = sum((u, w) in exists for u in around for w in around if u != w)
        answer.append(found / (len(around) * (len(around) - 1)) if len(around) > 1 else 0.0)
    return answer


def check(graph):
    A, judge = matrix(graph), undirected(graph)
    per_vertex = triangles(A)
    assert str(per_vertex.dtype) == "INT64"
    assert dense(per_vertex).tolist() == values(nx.triangles(judge))
    assert triangle_count(A) == sum(nx.triangles(judge).values()) // 3
    assert transitivity(A) == pytest.approx(nx.transitivity(judge))
    without_loops = network(graph)
    without_loops.remove_edges_from(list(nx.selfloop_edges(without_loops)))
    for found, expected in (
        (local_clustering_coefficient(A), graphalytics(graph)),
        (clustering(A), values(nx.clustering(without_loops))),
        (square_clustering(A), values(nx.square_clustering(judge))),
    ):
        assert str(found.dtype) == "FP64"
        assert found.nvals == found.size
        assert np.allclose(dense(found, 0.0), expected)


@pytest.mark.parametrize("name", [name for name in SMALL if not name.startswith("kronecker")])
def test_small_graphs(name):
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)


@given(graphs(st.integers(0, 9)), st.booleans())
def test_weights_of_any_graph(graph, one_weight):
    """Weighted coefficients equal NetworkX's, of directed graphs and of undirected ones with symmetric weights."""
    i, j, weight = verify.edges(graph)
    i, j, weight = i[i != j], j[i != j], weight[i != j].astype(float)
    if one_weight:
        i, j, weight = np.r_[i, j], np.r_[j, i], np.r_[(i + j) % 5, (i + j) % 5].astype(float)
    plain = csr(graph.shape[0], np.c_[i, j], weight)
    if plain.nnz and not plain.data.any():
        plain.data[:] = 1
    judge = network(plain).to_undirected() if one_weight else network(plain)
    A = matrix(plain)
    expected = values(nx.clustering(judge, weight="weight"))
    assert np.allclose(dense(clustering(A, weighted=True), 0.0), expected)
    A._symmetric = one_weight
    assert np.allclose(dense(clustering(A, weighted=True), 0.0), expected)


@needs_real
def test_coefficients_of_a_real_graph():
    """Coefficients equal NetworkX's; squares are compared at every 50th vertex, as all take NetworkX minutes."""
    graph = real("email-Eu-core")
    judge, A = undirected(graph), matrix(graph)
    assert transitivity(A) == pytest.approx(nx.transitivity(judge))
    directed = network(graph)
    directed.remove_edges_from(list(nx.selfloop_edges(directed)))
    assert np.allclose(dense(clustering(A), 0.0), values(nx.clustering(directed)))
    some = range(0, A.nrows, 50)
    expected = nx.square_clustering(judge, some)
    found = dense(square_clustering(A), 0.0)
    assert np.allclose([found[v] for v in some], [expected[v] for v in some])


def test_an_undirected_graph_may_or_may_not_be_known_as_one():
    A = gb.io.read("kron:7")
    i, j, _ = A.to_coo()
    B = gb.Matrix.from_coo(i, j, 1, nrows=A.nrows, ncols=A.ncols)
    assert A._symmetric
    assert not B._symmetric
    for algorithm in (triangles, local_clustering_coefficient, clustering, square_clustering):
        assert algorithm(A).isclose(algorithm(B))


def test_directions_count_among_neighbours():
    """Edges between neighbours count in each direction: of two possible, a triangle has one."""
    A = matrix(csr(3, [(0, 1), (1, 2), (0, 2)]))
    assert dense(local_clustering_coefficient(A), 0.0).tolist() == [0.5, 0.5, 0.5]
    B = matrix(csr(3, [(0, 1), (1, 2), (0, 2), (2, 0)]))
    assert dense(local_clustering_coefficient(B), 0.0).tolist() == [0.5, 1.0, 0.5]


@needs_real
@pytest.mark.parametrize("name", [x["name"] for x in REAL if x["name"] not in {"cnr-2000", "twitter_combined"}])
def test_real_graphs(name):
    A, expected = loaded(name), references(name)
    assert np.array_equal(dense(triangles(A)), expected["tri"])
    assert triangle_count(A) == expected["tri"].sum() // 3
    directed = "lcc_num" in expected
    degree = np.array([len(around) for around in verify.neighbours(real(name))])
    edges = expected["lcc_num"] if directed else 2 * expected["tri"]
    share = np.divide(edges, degree * (degree - 1), out=np.zeros(A.nrows), where=degree > 1)
    assert np.allclose(dense(local_clustering_coefficient(A), 0.0), share)


ALL = [triangle_count, triangles, transitivity, clustering, square_clustering, local_clustering_coefficient]


@pytest.mark.parametrize("algorithm", ALL)
def test_no_vertices_and_bad_arguments(algorithm):
    empty = algorithm(gb.Matrix("BOOL", 0, 0))
    assert (empty if algorithm in (triangle_count, transitivity) else empty.size) == 0
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("FP64", 2, 3))


def test_bad_weights():
    for weight, said in ((-1.0, "negative"), (np.nan, "NaN"), (np.inf, "infinite")):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            clustering(matrix(csr(2, [(0, 1)], [weight])), weighted=True)


def test_weights_of_zero():
    """Weights of 0 give 0 without triangles, as in NetworkX; with triangles they are refused (it divides by 0)."""
    path = csr(3, [(0, 1), (1, 2)], [0, 0])
    assert clustering(matrix(path), weighted=True).to_dense().tolist() == [0.0, 0.0, 0.0]
    assert set(nx.clustering(network(path), weight="weight").values()) == {0}
    triangle = csr(3, [(0, 1), (1, 2), (2, 0)], [0, 0, 0])
    with pytest.raises(gb.exceptions.InvalidValue, match="A has triangles and no value above 0"):
        clustering(matrix(triangle), weighted=True)
    with pytest.raises(ZeroDivisionError):
        nx.clustering(network(triangle), weight="weight")
