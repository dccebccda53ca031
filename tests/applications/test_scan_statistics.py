"""gb.algorithms.scan_statistics, against the ego graphs of NetworkX."""

import warnings

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms.graphs import SMALL, both_ways, dense, graphs, matrix, undirected

scan_statistics = gb.algorithms.scan_statistics


def judged(graph, order):
    """Return the number of edges of each vertex's ego graph, for order 0 the degree."""
    network = undirected(graph)
    if order == 0:
        return [network.degree(v) for v in range(len(network))]
    return [nx.ego_graph(network, v, radius=order).number_of_edges() for v in range(len(network))]


def check(graph, order):
    psi, vertex = scan_statistics(matrix(graph), order)
    expected = judged(graph, order)
    assert str(psi.dtype) == "INT64"
    assert dense(psi).tolist() == expected
    assert vertex == expected.index(max(expected))


@pytest.mark.parametrize("name", [name for name in SMALL if "kronecker" not in name])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_small_graphs(name, order):
    check(SMALL[name], order)


@given(graphs(), st.integers(0, 4))
def test_any_graph(graph, order):
    check(graph, order)


def test_hubs():
    check(SMALL["kronecker"], 1)


def test_the_vertices_numbers_do_not_matter():
    A = matrix(SMALL["two cliques"])
    order = [8, 3, 1, 0, 7, 2, 6, 4, 5]
    moved = A[order, order].new()
    psi, found = scan_statistics(A)[0], scan_statistics(moved)[0]
    assert found.isequal(psi[order].new())


@pytest.mark.parametrize("order", [1, 2])
def test_engines_agree(order, gpu):
    A = matrix(both_ways(SMALL["diamonds"]))
    expected = scan_statistics(A, order)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        psi, vertex = scan_statistics(A.to("gpu"), order)
    assert psi.isequal(expected[0])
    assert vertex == expected[1]


@pytest.mark.parametrize(
    ("A", "order", "error", "message"),
    [
        (gb.Matrix(bool, 3, 3), -1, gb.exceptions.InvalidValue, "order is -1"),
        (gb.Matrix(bool, 3, 3), 1.5, gb.exceptions.DomainMismatch, "order is 1.5"),
        (gb.Matrix(bool, 3, 4), 1, gb.exceptions.DimensionMismatch, "3 x 4"),
        (gb.Matrix(bool, 0, 0), 1, gb.exceptions.InvalidValue, "no vertices"),
    ],
)
def test_bad_input(A, order, error, message):
    with pytest.raises(error, match=message):
        scan_statistics(A, order)
