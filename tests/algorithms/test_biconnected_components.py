"""gb.algorithms.biconnected_components, articulation_points and bridges."""

import networkx as nx
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms.graphs import SMALL, graphs, matrix, needs_real, network, real

a = gb.algorithms


def check(graph):
    judge, A = nx.Graph(network(graph)), matrix(graph)
    judge.remove_edges_from(list(nx.selfloop_edges(judge)))
    parts = {}
    for i, j, label in zip(*a.biconnected_components(A).to_coo(), strict=True):
        parts.setdefault(label, set()).add(frozenset((int(i), int(j))))
    expected = {frozenset(map(frozenset, part)) for part in nx.biconnected_component_edges(judge)}
    assert set(map(frozenset, parts.values())) == expected
    assert set(a.articulation_points(A).to_coo()[0].tolist()) == set(nx.articulation_points(judge))
    B = a.bridges(A)
    i, j, _ = B.to_coo()
    both = set(nx.bridges(judge))
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == both | {(v, u) for u, v in both}
    assert B.isequal(B.T)


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    check(SMALL[name])


@given(graphs())
def test_any_graph(graph):
    check(graph)


@needs_real
def test_a_real_graph():
    check(real("wiki-Vote"))


def test_a_long_path_is_all_bridges():
    A = gb.io.read("path:300")
    assert a.bridges(A).nvals == A.nvals
    assert a.articulation_points(A).nvals == 298


def test_bad_arguments():
    for algorithm in (a.biconnected_components, a.articulation_points, a.bridges):
        assert algorithm(gb.Matrix("BOOL", 0, 0)).nvals == 0
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
