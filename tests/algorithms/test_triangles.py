"""gb.algorithms.triangle_count, triangles, transitivity and the clustering coefficients."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

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
    """Graphalytics' rules, one vertex and one pair of neighbours at a time."""
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


def test_an_undirected_graph_may_or_may_not_be_known_as_one():
    A = gb.io.read("kron:7")
    i, j, _ = A.to_coo()
    B = gb.Matrix.from_coo(i, j, 1, nrows=A.nrows, ncols=A.ncols)
    assert A._symmetric
    assert not B._symmetric
    for algorithm in (triangles, local_clustering_coefficient, clustering, square_clustering):
        assert algorithm(A).isclose(algorithm(B))


def test_directions_count_among_neighbours():
    """One triangle: three edges of six possible, and one of the eight triangles that directions could make."""
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
