"""gb.algorithms.maximal_matching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify_sets
from tests.algorithms.graphs import SMALL, both_ways, dense, graphs, matrix, needs_real, real

maximal_matching = gb.algorithms.maximal_matching


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    partner = maximal_matching(matrix(SMALL[name]), seed=2)
    assert str(partner.dtype) == "INT64"
    verify_sets.matching(SMALL[name], dense(partner))


@given(graphs(), st.integers(0, 9))
def test_any_graph(graph, seed):
    verify_sets.matching(graph, dense(maximal_matching(matrix(graph), seed)))


@pytest.mark.parametrize("name", ["email-Eu-core", "wiki-Vote"])
@needs_real
def test_real_graphs(name):
    graph = real(name)
    verify_sets.matching(graph, dense(maximal_matching(matrix(graph))))


def test_a_seed_chooses_and_direction_does_not_count():
    A, B = matrix(SMALL["kronecker"]), matrix(both_ways(SMALL["kronecker"]))
    assert maximal_matching(A, 1).isequal(maximal_matching(B, 1))
    assert not maximal_matching(A, 1).isequal(maximal_matching(A, 2))


def test_no_vertices_and_bad_arguments():
    assert maximal_matching(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        maximal_matching(gb.Matrix("FP64", 2, 3))
