"""gb.algorithms.all_pairs_shortest_paths, transitive_closure and transitive_reduction."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, graphs, matrix, needs_real, network, real

all_pairs_shortest_paths = gb.algorithms.all_pairs_shortest_paths
transitive_closure, transitive_reduction = gb.algorithms.transitive_closure, gb.algorithms.transitive_reduction
SMALLER = [name for name in SMALL if SMALL[name].shape[0] <= 130]


def pairs_of(A):
    i, j, _ = A.to_coo()
    return set(zip(i.tolist(), j.tolist(), strict=True))


@given(graphs(st.integers(-2, 9)))
def test_distances_of_any_graph(graph):
    """NetworkX's, one source at a time, or its word that there are none."""
    judge, A = network(graph), matrix(graph)
    if nx.negative_edge_cycle(judge):
        with pytest.raises(gb.exceptions.InvalidValue, match="cycle of negative length through vertex"):
            all_pairs_shortest_paths(A)
        return
    D = all_pairs_shortest_paths(A)
    found = dict(zip(zip(*(x.tolist() for x in D.to_coo()[:2]), strict=True), D.to_coo()[2].tolist(), strict=True))
    expected = {(u, v): d for u, row in nx.all_pairs_bellman_ford_path_length(judge) for v, d in row.items()}
    assert found == expected


@pytest.mark.parametrize("name", SMALLER)
def test_distances_of_small_graphs(name):
    graph = SMALL[name]
    D = all_pairs_shortest_paths(matrix(graph))
    for source in range(graph.shape[0]):
        verify.distances(graph, source, D[source, :].new().to_dense(fill_value=np.inf))


@pytest.mark.parametrize("dtype", ["BOOL", "UINT8", "FP32"])
def test_types_and_infinite_lengths(dtype):
    D = all_pairs_shortest_paths(matrix(csr(3, [(0, 1), (1, 2)]), dtype))
    assert str(D.dtype) == ("FP32" if dtype == "FP32" else "INT64")
    assert D.get(0, 2) == 2
    endless = all_pairs_shortest_paths(matrix(csr(2, [(0, 1)], [np.inf])))
    assert endless.to_dense(fill_value=-1).tolist() == [[0, -1], [-1, 0]]


@pytest.mark.parametrize("reflexive", [False, True, None])
@pytest.mark.parametrize("name", SMALLER)
def test_closure_of_small_graphs(name, reflexive):
    C = transitive_closure(matrix(SMALL[name]), reflexive)
    assert str(C.dtype) == "BOOL"
    assert pairs_of(C) == set(nx.transitive_closure(network(SMALL[name]), reflexive).edges)


@given(graphs(), st.sampled_from([False, True, None]))
def test_closure_of_any_graph(graph, reflexive):
    assert pairs_of(transitive_closure(matrix(graph), reflexive)) == set(
        nx.transitive_closure(network(graph), reflexive).edges
    )


@given(graphs())
def test_reduction_of_any_graph(graph):
    """Of a graph without cycles there is just one."""
    rows, cols, _ = verify.edges(graph)
    forward = csr(graph.shape[0], np.c_[rows, cols][rows < cols], np.arange(7, 7 + (rows < cols).sum()))
    R = transitive_reduction(matrix(forward))
    assert pairs_of(R) == set(nx.transitive_reduction(network(forward)).edges)
    assert all(forward[i, j] == value for i, j, value in zip(*R.to_coo(), strict=True))


@needs_real
def test_a_real_graph():
    graph = real("email-Eu-core")
    expected = shortest_path(graph, unweighted=True)
    found = all_pairs_shortest_paths(matrix(graph)).to_dense(fill_value=np.inf, dtype="FP64")
    assert np.array_equal(found, expected)
    assert np.array_equal(transitive_closure(matrix(graph), True).to_dense(fill_value=False), np.isfinite(expected))
    rows, cols, _ = verify.edges(graph)
    forward = csr(graph.shape[0], np.c_[rows, cols][(rows < cols) & (cols < 300)])
    assert pairs_of(transitive_reduction(matrix(forward))) == set(nx.transitive_reduction(network(forward)).edges)


def test_no_vertices_and_bad_arguments():
    for algorithm in (all_pairs_shortest_paths, transitive_closure, transitive_reduction):
        assert algorithm(gb.Matrix("BOOL", 0, 0)).shape == (0, 0)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="A has a cycle"):
        transitive_reduction(matrix(SMALL["one loop"]))
    with pytest.raises(gb.exceptions.InvalidValue, match="NaN"):
        all_pairs_shortest_paths(matrix(csr(2, [(0, 1)], [np.nan])))
    with pytest.raises(gb.exceptions.InvalidValue, match="may not fit INT64"):
        all_pairs_shortest_paths(matrix(csr(3, [(0, 1), (1, 2)], [2**62, 2**62])))
