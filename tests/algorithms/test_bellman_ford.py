"""gb.algorithms.bellman_ford and find_negative_cycle."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify, verify_sets
from tests.algorithms.graphs import SMALL, csr, dense, graphs, loaded, matrix, needs_real, network, path, references

bellman_ford, find_negative_cycle = gb.algorithms.bellman_ford, gb.algorithms.find_negative_cycle


def check(graph, source):
    """Check the negative cycle that is found if one exists, else the distances and the shortest-path tree."""
    cycle = dense(find_negative_cycle(matrix(graph), source))
    verify_sets.negative_cycle(graph, cycle, source)
    if cycle.size:
        with pytest.raises(gb.exceptions.InvalidValue, match="cycle of negative length"):
            bellman_ford(matrix(graph), source)
        return
    distance, parent = bellman_ford(matrix(graph), source)
    assert str(parent.dtype) == "INT64"
    verify.distances(graph, source, dense(distance, np.inf))
    verify_sets.shortest_path_tree(graph, source, dense(distance, np.inf), dense(parent))
    assert distance.to_dict() == dict(nx.single_source_bellman_ford_path_length(network(graph), source))


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(SMALL[name], SMALL[name].shape[0] // 2)


@given(graphs(st.integers(-2, 9)), st.data())
def test_any_graph(graph, data):
    check(graph, data.draw(st.integers(0, graph.shape[0] - 1)))
    verify_sets.negative_cycle(graph, dense(find_negative_cycle(matrix(graph))))


@given(graphs(st.integers(-9, 9), max_vertices=6))
def test_dense_graphs(graph):
    """Graphs whose cycles share vertices are searched correctly from every source."""
    for source in range(graph.shape[0]):
        check(graph, source)
    verify_sets.negative_cycle(graph, dense(find_negative_cycle(matrix(graph))))


@given(graphs(st.integers(0, 9)), st.data())
def test_negative_lengths_without_a_negative_cycle(graph, data):
    """Potentials of vertices make lengths negative but leave the sum of every cycle unchanged."""
    height = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=graph.shape[0], max_size=graph.shape[0])))
    rows, cols, length = verify.edges(graph)
    graph = csr(graph.shape[0], np.c_[rows, cols], length + height[rows] - height[cols])
    assert find_negative_cycle(matrix(graph)).size == 0
    check(graph, 0)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT16", "FP32", "FP64"])
def test_types(dtype):
    A = matrix(csr(3, [(0, 1), (1, 2)]), dtype)
    distance, parent = bellman_ford(A, 0)
    assert str(distance.dtype) == (dtype if dtype.startswith("FP") else "INT64")
    assert (distance.to_dict(), parent.to_dict()) == ({0: 0, 1: 1, 2: 2}, {0: 0, 1: 0, 2: 1})


@pytest.mark.parametrize("n", [2, 3, 64, 100])
def test_one_long_cycle(n):
    weights = np.zeros(n, int)
    weights[n // 2] = -1
    graph = csr(n, [(v, (v + 1) % n) for v in range(n)], weights)
    for source in (None, 0):
        verify_sets.negative_cycle(graph, dense(find_negative_cycle(matrix(graph), source)), source)


def test_a_loop_and_a_long_path():
    assert dense(find_negative_cycle(matrix(csr(3, [(0, 1), (1, 1)], [1, -1])))).tolist() == [1]
    check(path(200, directed=True), 0)


@needs_real
@pytest.mark.parametrize("name", ["email-Eu-core", "wiki-Vote", "as-caida20071105"])
def test_real_graphs(name):
    A, expected = loaded(name), references(name)
    source = int(expected["sources"][0])
    distance, parent = bellman_ford(A, source)
    assert np.array_equal(dense(distance), expected["sssp_dist"][0])
    rows, cols, length = A.to_coo("INT64")
    graph = csr(A.nrows, np.c_[rows, cols], length)
    verify_sets.shortest_path_tree(graph, source, dense(distance, np.inf), dense(parent))
    assert find_negative_cycle(A).size == 0


def test_bad_arguments():
    assert find_negative_cycle(gb.Matrix("FP64", 0, 0)).size == 0
    A = matrix(csr(3, [(0, 1), (1, 2), (2, 1)], [1, 1, -2]))
    with pytest.raises(gb.exceptions.InvalidValue, match=r"negative length: (1 -> 2 -> 1|2 -> 1 -> 2)"):
        bellman_ford(A, 0)
    for algorithm in (bellman_ford, find_negative_cycle):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="source is 3"):
            algorithm(A, 3)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3), 0)
        with pytest.raises(gb.exceptions.InvalidValue, match="NaN"):
            algorithm(matrix(csr(2, [(0, 1)], [np.nan])), 0)
        with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
            algorithm(matrix(csr(3, [(0, 1), (1, 2)], [-(2**62), -(2**62)])), 0)
