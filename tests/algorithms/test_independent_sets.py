"""gb.algorithms.maximal_independent_set and greedy_color."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify_sets
from tests.algorithms.graphs import SMALL, both_ways, csr, dense, graphs, matrix, needs_real, real, undirected

maximal_independent_set, greedy_color = gb.algorithms.maximal_independent_set, gb.algorithms.greedy_color


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    graph = SMALL[name]
    member = maximal_independent_set(matrix(graph), seed=5)
    assert str(member.dtype) == "BOOL"
    verify_sets.independent_set(graph, dense(member, False))
    color = greedy_color(matrix(graph), seed=5)
    assert str(color.dtype) == "INT64"
    verify_sets.coloring(graph, dense(color))


@given(graphs(), st.integers(0, 9))
def test_any_graph(graph, seed):
    verify_sets.independent_set(graph, dense(maximal_independent_set(matrix(graph), seed=seed), False))
    verify_sets.coloring(graph, dense(greedy_color(matrix(graph), seed)))


@pytest.mark.parametrize("name", SMALL)
def test_the_largest_first(name):
    """Colours by ``largest_first`` equal NetworkX's."""
    expected = nx.greedy_color(undirected(SMALL[name]), "largest_first")
    found = greedy_color(matrix(SMALL[name]), strategy="largest_first")
    assert dense(found).tolist() == [expected[v] for v in range(found.size)]


@given(graphs())
def test_the_largest_first_in_any_graph(graph):
    expected = nx.greedy_color(undirected(graph), "largest_first")
    found = greedy_color(matrix(graph), strategy="largest_first")
    assert dense(found).tolist() == [expected[v] for v in range(found.size)]


@given(graphs(), st.data())
def test_vertices_that_must_belong(graph, data):
    wanted = data.draw(st.integers(0, graph.shape[0] - 1))
    member = maximal_independent_set(matrix(graph), nodes=[wanted])
    assert member.get(wanted) is True
    verify_sets.independent_set(graph, dense(member, False))


@needs_real
def test_a_real_graph():
    graph = real("email-Eu-core")
    verify_sets.independent_set(graph, dense(maximal_independent_set(matrix(graph)), False))
    verify_sets.coloring(graph, dense(greedy_color(matrix(graph))))


def test_a_seed_chooses_and_direction_does_not_count():
    A, B = matrix(SMALL["kronecker"]), matrix(both_ways(SMALL["kronecker"]))
    assert maximal_independent_set(A, seed=1).isequal(maximal_independent_set(B, seed=1))
    assert not maximal_independent_set(A, seed=1).isequal(maximal_independent_set(A, seed=2))
    assert greedy_color(A, 1).isequal(greedy_color(B, 1))


def test_no_vertices_and_bad_arguments():
    empty = gb.Matrix("BOOL", 0, 0)
    assert maximal_independent_set(empty).size == greedy_color(empty).size == 0
    A = matrix(csr(3, [(1, 0)]))
    for algorithm in (maximal_independent_set, greedy_color):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="strategy is 'by hand'; 'random_sequential' or"):
        greedy_color(A, strategy="by hand")
    with pytest.raises(gb.exceptions.InvalidValue, match="nodes: 0 has a neighbour among them"):
        maximal_independent_set(A, nodes=[0, 1])
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="nodes is 3"):
        maximal_independent_set(A, nodes=[3])
