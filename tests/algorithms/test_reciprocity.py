"""gb.algorithms.reciprocity and overall_reciprocity."""

import networkx as nx
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms.graphs import SMALL, graphs, matrix, needs_real, network, real

reciprocity, overall_reciprocity = gb.algorithms.reciprocity, gb.algorithms.overall_reciprocity


def check(graph):
    judge, share = network(graph), reciprocity(matrix(graph))
    expected = {v: x for v, x in nx.reciprocity(judge, list(judge)).items() if x is not None}
    assert share.to_dict() == pytest.approx(expected)
    assert str(share.dtype) == "FP64"
    if graph.nnz:
        assert overall_reciprocity(matrix(graph)) == pytest.approx(nx.overall_reciprocity(judge))


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)


def test_an_undirected_graph_is_all_pairs():
    A = gb.io.read("urand:6")
    assert set(reciprocity(A).to_dict().values()) == {1.0}
    assert overall_reciprocity(A) == 1.0


@needs_real
def test_a_real_graph():
    check(real("wiki-Vote"))


def test_bad_arguments():
    assert reciprocity(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.InvalidValue, match="without edges"):
        overall_reciprocity(gb.Matrix("BOOL", 3, 3))
    for algorithm in (reciprocity, overall_reciprocity):
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
