"""gb.algorithms.core_number and k_core."""

import networkx as nx
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

core_number, k_core = gb.algorithms.core_number, gb.algorithms.k_core


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    core = core_number(matrix(SMALL[name]))
    assert str(core.dtype) == "INT64"
    assert core.nvals == core.size
    verify.core_numbers(SMALL[name], dense(core))


@given(graphs())
def test_any_graph(graph):
    """Core numbers are those of the undirected graph without loops."""
    core = dense(core_number(matrix(graph)))
    verify.core_numbers(graph, core)
    network = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph).to_undirected()
    network.remove_edges_from(list(nx.selfloop_edges(network)))
    assert core.tolist() == [nx.core_number(network)[v] for v in range(graph.shape[0])]


def test_cores():
    A = matrix(csr(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]))
    assert k_core(A).to_dict() == {0: 2, 1: 2, 2: 2}
    assert k_core(A, 1).to_dict() == {0: 2, 1: 2, 2: 2, 3: 1, 4: 1}
    assert k_core(A, 3).nvals == 0
    assert core_number(gb.Matrix("BOOL", 0, 0)).size == k_core(gb.Matrix("BOOL", 0, 0)).size == 0


def test_bad_arguments():
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        core_number(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="k is -1; at least 0"):
        k_core(gb.Matrix("FP64", 2, 2), -1)
    with pytest.raises(TypeError, match=r"k is 1\.5; an integer"):
        k_core(gb.Matrix("FP64", 2, 2), 1.5)
