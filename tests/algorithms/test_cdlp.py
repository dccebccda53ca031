"""gb.algorithms.cdlp."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, both_ways, csr, dense, graphs, matrix

cdlp = gb.algorithms.cdlp


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    label = cdlp(matrix(SMALL[name]))
    assert str(label.dtype) == "INT64"
    assert label.nvals == label.size
    verify.label_propagation(SMALL[name], 10, dense(label))


@given(graphs(), st.integers(0, 5))
def test_any_graph(graph, rounds):
    verify.label_propagation(graph, rounds, dense(cdlp(matrix(graph), rounds)))


@given(graphs())
def test_an_undirected_graph_may_or_may_not_be_known_as_one(graph):
    """Labels do not depend on known symmetry: two votes of every neighbour decide as one vote does."""
    A, B = matrix(both_ways(graph)), matrix(both_ways(graph))
    B._symmetric = True
    assert cdlp(A, 4).isequal(cdlp(B, 4))


def test_a_reciprocal_pair_votes_twice():
    graph = csr(5, [(4, 3), (3, 4), (4, 1), (2, 4)])
    assert cdlp(matrix(graph), 1).to_dict() == {0: 0, 1: 4, 2: 4, 3: 4, 4: 3}


def test_no_vertices_and_bad_arguments():
    assert cdlp(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        cdlp(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="max_iter is -1; at least 0"):
        cdlp(gb.Matrix("FP64", 2, 2), -1)
