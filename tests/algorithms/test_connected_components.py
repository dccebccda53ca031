"""gb.algorithms.connected_components."""

import importlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, both_ways, csr, dense, graphs, matrix, path

connected_components = gb.algorithms.connected_components
module = importlib.import_module("sparsezc.algorithms.connected_components")


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    label = connected_components(matrix(SMALL[name]))
    assert str(label.dtype) == "INT64"
    assert label.nvals == label.size
    verify.components(SMALL[name], dense(label))


@given(graphs(max_vertices=40), st.integers(0, 4))
def test_any_graph_however_early_the_search_is_cut_off(graph, sweeps):
    """Labels do not depend on the number of sweeps, which decides only how many vertices are left to hooking."""
    before = module.SWEEPS
    module.SWEEPS = sweeps
    try:
        label = dense(connected_components(matrix(graph)))
    finally:
        module.SWEEPS = before
    verify.components(graph, label)
    rows, cols, _ = verify.edges(graph)
    network = nx.Graph(zip(rows.tolist(), cols.tolist(), strict=True))
    network.add_nodes_from(range(graph.shape[0]))
    for component in nx.connected_components(network):
        assert (label[list(component)] == min(component)).all()


@pytest.mark.parametrize("spreads", [0, 1, 6])
@pytest.mark.parametrize("directed", [False, True])
def test_what_a_giant_component_leaves(spreads, directed, monkeypatch):
    """Beside a star, pairs and rings settle while labels spread; the long shuffled path is left to hooking."""
    monkeypatch.setattr(module, "SPREADS", spreads)
    rng = np.random.default_rng(spreads)
    number = rng.permutation(3000)
    edges = [(0, k) for k in range(1, 1000)] + [(k, k + 1) for k in range(1000, 1999)]
    edges += [(k, k + 1) for k in range(2000, 2500, 2)] + [(k, 2500 + (k - 2499) % 60) for k in range(2500, 2560)]
    graph = csr(3000, [(int(number[i]), int(number[j])) for i, j in edges])
    graph = graph if directed else both_ways(graph)
    verify.components(graph, dense(connected_components(matrix(graph))))


@pytest.mark.parametrize("directed", [False, True])
def test_a_long_shuffled_path_takes_few_rounds(directed, monkeypatch):
    """A path of 10**5 vertices is joined in O(log n) rounds; labels do not advance one vertex a round."""
    rounds = []
    smallest = module._smallest
    monkeypatch.setattr(module, "_smallest", lambda *given: rounds.append(1) or smallest(*given))
    label = connected_components(matrix(path(100_000, seed=7, directed=directed)))
    assert label.reduce("max").value == 0
    assert len(rounds) <= 2 * np.log2(100_000)


def test_many_small_components():
    graph = csr(3000, [(k, k + 1) for k in range(0, 3000, 3)])
    verify.components(graph, dense(connected_components(matrix(graph))))
    verify.components(graph, dense(connected_components(matrix(both_ways(graph)))))


def test_no_vertices():
    assert connected_components(gb.Matrix("BOOL", 0, 0)).size == 0


def test_bad_arguments():
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        connected_components(gb.Matrix("FP64", 2, 3))
    with pytest.raises(TypeError, match="A is a Vector; a Matrix is needed"):
        connected_components(gb.Vector("FP64", 2))
