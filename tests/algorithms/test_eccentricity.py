"""gb.algorithms.eccentricity, diameter, radius, approximate_diameter and average_shortest_path_length."""

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
average_shortest_path_length = gb.algorithms.average_shortest_path_length


def largest_component(graph):
    """Return the largest strongly connected component, its vertices renumbered from 0."""
    keep = sorted(max(nx.strongly_connected_components(network(graph)), key=len))
    part = graph[keep][:, keep].tocoo()
    return csr(len(keep), np.c_[part.coords[0], part.coords[1]], part.data)


def check(graph, weight=None, dtype="INT64"):
    weighted = weight is not None
    found = eccentricity(matrix(graph), weighted=weighted)
    assert str(found.dtype) == dtype
    judge = nx.eccentricity(network(graph), weight=weight)
    assert dense(found).tolist() == [judge[v] for v in range(graph.shape[0])]
    # sums of floating-point lengths along the reverse path may be rounded differently
    assert np.isclose(diameter(matrix(graph), weighted=weighted), max(judge.values()), rtol=1e-12)
    assert np.isclose(radius(matrix(graph), weighted=weighted), min(judge.values()), rtol=1e-12)
    expected = nx.average_shortest_path_length(network(graph), weight=weight)
    assert np.isclose(average_shortest_path_length(matrix(graph), weighted=weighted), expected, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].shape[0] <= 512])
def test_small_graphs(name):
    check(largest_component(SMALL[name]))


@given(graphs(), st.booleans())
def test_any_graph(graph, undirected):
    check(largest_component(both_ways(graph) if undirected else graph))


LENGTHS = {"INT64": st.integers(0, 9), "FP64": st.sampled_from([0.0, 0.1, 0.25, 1.5, 7.0])}


@pytest.mark.parametrize("dtype", LENGTHS)
@given(st.data(), st.booleans())
def test_lengths(dtype, data, symmetric):
    """Eccentricities over lengths equal NetworkX's; with symmetric lengths, diameter and radius are found by bounds."""
    graph = data.draw(graphs(LENGTHS[dtype]))
    if symmetric:
        i, j = both_ways(graph).nonzero()
        graph = csr(graph.shape[0], np.c_[i, j], graph.dtype.type(1) * (np.minimum(i, j) + 2 * np.maximum(i, j)) % 5)
    graph.data = graph.data.astype("int64" if dtype == "INT64" else "float64")
    check(largest_component(graph), "weight", dtype)


def test_lengths_of_any_type():
    graph = csr(3, [(0, 1), (1, 0), (1, 2), (2, 1)], [3, 3, 7, 7])
    for dtype, made in (("BOOL", "INT64"), ("UINT8", "INT64"), ("FP32", "FP32"), ("FP64", "FP64")):
        A = matrix(graph, dtype)
        length = [1, 1] if dtype == "BOOL" else [3, 7]
        assert str(eccentricity(A, weighted=True).dtype) == made
        assert diameter(A, weighted=True) == sum(length)
        assert radius(A, weighted=True) == max(length)
    huge = csr(3, [(0, 1), (1, 0), (1, 2), (2, 1)], [2**61, 2**61, 2**61, 2**61])
    assert diameter(matrix(huge), weighted=True) == 2**62
    assert radius(matrix(huge), weighted=True) == 2**61


@given(graphs(), st.integers(1, 5), st.data())
def test_the_approximation_is_a_distance(graph, sweeps, data):
    """The approximation is at most the greatest finite distance, and at least that of the first search."""
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


@needs_real
def test_a_real_graph_with_lengths():
    A = loaded("email-Eu-core")
    i, j, length = A.to_coo()
    graph = largest_component(csr(A.nrows, np.c_[i, j], length.astype(np.int64)))
    distance = shortest_path(graph)
    found = eccentricity(matrix(graph), weighted=True)
    assert np.array_equal(dense(found), distance.max(axis=1))
    assert diameter(matrix(graph), weighted=True) == distance.max()
    assert radius(matrix(graph), weighted=True) == distance.max(axis=1).min()
    mean = distance.sum() / (distance.size - distance.shape[0])
    assert np.isclose(average_shortest_path_length(matrix(graph), weighted=True), mean)


def test_few_searches_are_needed(monkeypatch):
    """On a graph of core and periphery, bounds give the diameter after searches from under a fifth of the vertices."""
    import sys

    module, searches = sys.modules["sparsezc.algorithms.eccentricity"], []
    search = module.bfs
    monkeypatch.setattr(module, "bfs", lambda A, v: searches.append(v) or search(A, v))
    graph = largest_component(both_ways(SMALL["kronecker"]))
    diameter(matrix(graph))
    assert len(searches) < graph.shape[0] / 5


def test_bad_arguments():
    assert eccentricity(gb.Matrix("BOOL", 0, 0)).size == 0
    for algorithm in (diameter, radius, approximate_diameter, average_shortest_path_length):
        with pytest.raises(gb.exceptions.InvalidValue, match="A is 0 x 0"):
            algorithm(gb.Matrix("BOOL", 0, 0))
    assert average_shortest_path_length(gb.Matrix("BOOL", 1, 1)) == 0
    for algorithm in (eccentricity, diameter, radius, average_shortest_path_length):
        for length, said in ((-1.0, "a value of -1.0; lengths >= 0"), (np.nan, "NaN"), (np.inf, "does not reach")):
            with pytest.raises(gb.exceptions.InvalidValue, match=said):
                algorithm(matrix(csr(2, [(0, 1), (1, 0)], [length, 1.0])), weighted=True)
        with pytest.raises(gb.exceptions.InvalidValue, match="vertex 0 does not reach 1 of 3 vertices"):
            algorithm(matrix(csr(3, [(0, 1), (1, 0)])))
        with pytest.raises(gb.exceptions.InvalidValue, match="vertex 0 is not reached from 2 of 3 vertices"):
            algorithm(matrix(csr(3, [(0, 1), (1, 2)])))
    for algorithm in (eccentricity, diameter, radius, approximate_diameter, average_shortest_path_length):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="sweeps is 0; at least 1"):
        approximate_diameter(matrix(csr(2)), sweeps=0)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="source is 2"):
        approximate_diameter(matrix(csr(2)), 2)
