"""gb.algorithms.k_truss."""

import networkx as nx
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms.graphs import SMALL, csr, graphs, matrix, needs_real, real, undirected

k_truss = gb.algorithms.k_truss


def check(graph, k):
    """Check that the edges are NetworkX's, and the values their numbers of triangles within the truss."""
    found, judge = k_truss(matrix(graph), k), nx.k_truss(undirected(graph), k)
    assert str(found.dtype) == "INT64"
    i, j, support = (x.tolist() for x in found.to_coo())
    edges = dict(zip(zip(i, j, strict=True), support, strict=True))
    expected = {(u, v): len(set(judge[u]) & set(judge[v])) for a, b in judge.edges for u, v in ((a, b), (b, a))}
    assert edges == expected


@pytest.mark.parametrize("k", [0, 2, 3, 5])
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name, k):
    check(SMALL[name], k)


@given(graphs(max_vertices=9))
def test_any_graph(graph):
    for k in (2, 3, 4):
        check(graph, k)


@needs_real
def test_a_real_graph():
    check(real("email-Eu-core"), 15)


def test_cliques_and_bad_arguments():
    A = matrix(csr(5, [(u, v) for u in range(5) for v in range(u)]))
    assert k_truss(A, 5).nvals == 20
    assert k_truss(A, 6).nvals == k_truss(gb.Matrix("BOOL", 0, 0), 3).nvals == 0
    with pytest.raises(gb.exceptions.InvalidValue, match="k is -1; at least 0"):
        k_truss(A, -1)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        k_truss(gb.Matrix("FP64", 2, 3), 3)
