"""gb.algorithms.topological_generations, topological_sort and is_directed_acyclic_graph."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix, needs_real, network, real

is_dag, generations = gb.algorithms.is_directed_acyclic_graph, gb.algorithms.topological_generations
topological_sort = gb.algorithms.topological_sort


def forward(graph):
    """Return the edges from a smaller to a larger number, their vertices then shuffled: an acyclic graph."""
    rows, cols, _ = verify.edges(graph)
    name = np.random.default_rng(graph.nnz).permutation(graph.shape[0])
    return csr(graph.shape[0], np.c_[name[rows], name[cols]][rows < cols])


def check(graph):
    """Check that generations equal NetworkX's, and that every edge leads forward in the order."""
    assert is_dag(matrix(graph)) is True
    expected = np.zeros(graph.shape[0], int)
    for g, vertices in enumerate(nx.topological_generations(network(graph))):
        expected[vertices] = g
    assert np.array_equal(dense(generations(matrix(graph))), expected)
    order = dense(topological_sort(matrix(graph)))
    assert np.array_equal(np.sort(order), np.arange(graph.shape[0]))
    place = np.argsort(order)
    rows, cols, _ = verify.edges(graph)
    assert (place[rows] < place[cols]).all()


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(forward(SMALL[name]))
    assert is_dag(matrix(SMALL[name])) == nx.is_directed_acyclic_graph(network(SMALL[name]))


@given(graphs())
def test_any_graph(graph):
    check(forward(graph))
    assert is_dag(matrix(graph)) == nx.is_directed_acyclic_graph(network(graph))


@needs_real
def test_a_real_graph():
    graph = real("wiki-Vote")
    check(forward(graph))
    assert is_dag(matrix(graph)) is False


def test_cycles_and_bad_arguments():
    assert is_dag(gb.Matrix("BOOL", 0, 0)) is True
    assert topological_sort(gb.Matrix("BOOL", 0, 0)).size == 0
    A = matrix(csr(5, [(0, 1), (1, 2), (2, 1), (2, 3)]))
    for algorithm in (generations, topological_sort):
        with pytest.raises(gb.exceptions.InvalidValue, match="A has a cycle: 3 vertices, the first 1"):
            algorithm(A)
        with pytest.raises(gb.exceptions.InvalidValue, match="cycle"):
            algorithm(matrix(SMALL["one loop"]))
    for algorithm in (generations, topological_sort, is_dag):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
