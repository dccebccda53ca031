"""gb.algorithms.eccentricity, diameter, radius and approximate_diameter."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import sparsezc as gb
from tests.algorithms.graphs import SMALL, both_ways, csr, dense, graphs, loaded, matrix, needs_real, network, real

eccentricity, diameter, radius = gb.algorithms.eccentricity, gb.algorithms.diameter, gb.algorithms.radius
approximate_diameter = gb.algorithms.approximate_diameter


def largest_component(graph):
    """The largest strong component, renumbered."""
    keep = sorted(max(nx.strongly_connected_components(network(graph)), key=len))
    return csr(len(keep), np.argwhere(graph[keep][:, keep].toarray()))


def check(graph):
    found = eccentricity(matrix(graph))
    assert str(found.dtype) == "INT64"
    judge = nx.eccentricity(network(graph))
    assert dense(found).tolist() == [judge[v] for v in range(graph.shape[0])]
    assert diameter(matrix(graph)) == max(judge.values())
    assert radius(matrix(graph)) == min(judge.values())


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 512])
def test_small_graphs(name):
    check(largest_component(SMALL[name]))


@given(graphs(), st.booleans())
def test_any_graph(graph, undirected):
    check(largest_component(both_ways(graph) if undirected else graph))


@given(graphs(), st.integers(1, 5), st.data())
def test_the_approximation_is_a_distance(graph, sweeps, data):
    """Never more than the greatest finite distance, and never less than the first search finds."""
    distance = shortest_path(graph, unweighted=True)
    distance[np.isinf(distance)] = 0
    source = data.draw(st.integers(0, graph.shape[0] - 1))
    found = approximate_diameter(matrix(graph), source, sweeps)
    assert distance[source].max() <= found <= distance.max()
    assert 0 <= approximate_diameter(matrix(graph)) <= distance.max()


@pytest.mark.parametrize("n", [1, 2, 17, 100])
def test_a_double_sweep_is_exact_on_trees(n):
    tree = both_ways(csr(n, [(v, (v - 1) // 2) for v in range(1, n)]))
    expected = nx.diameter(network(tree))
    assert all(approximate_diameter(matrix(tree), v, 2) == expected for v in range(n))


@needs_real
def test_real_graphs():
    check(largest_component(real("email-Eu-core")))
    A = loaded("as-caida20071105")
    assert (diameter(A), radius(A)) == (17, 9)
    assert 15 <= approximate_diameter(A) <= 17


def test_few_searches_are_needed(monkeypatch):
    """A graph with a core and a periphery is settled long before every vertex was asked."""
    import sys

    module, searches = sys.modules["sparsezc.algorithms.eccentricity"], []
    search = module.bfs
    monkeypatch.setattr(module, "bfs", lambda A, v: searches.append(v) or search(A, v))
    graph = largest_component(both_ways(SMALL["kronecker"]))
    diameter(matrix(graph))
    assert len(searches) < graph.shape[0] / 5


def test_bad_arguments():
    assert eccentricity(gb.Matrix("BOOL", 0, 0)).size == 0
    for algorithm in (diameter, radius, approximate_diameter):
        with pytest.raises(gb.exceptions.InvalidValue, match="A is 0 x 0"):
            algorithm(gb.Matrix("BOOL", 0, 0))
    for algorithm in (eccentricity, diameter, radius):
        with pytest.raises(gb.exceptions.InvalidValue, match="vertex 0 does not reach 1 of 3 vertices"):
            algorithm(matrix(csr(3, [(0, 1), (1, 0)])))
        with pytest.raises(gb.exceptions.InvalidValue, match="vertex 0 is not reached from 2 of 3 vertices"):
            algorithm(matrix(csr(3, [(0, 1), (1, 2)])))
    for algorithm in (eccentricity, diameter, radius, approximate_diameter):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="sweeps is 0; at least 1"):
        approximate_diameter(matrix(csr(2)), sweeps=0)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="source is 2"):
        approximate_diameter(matrix(csr(2)), 2)
