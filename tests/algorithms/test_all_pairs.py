"""gb.algorithms.all_pairs_shortest_paths, multi_source_shortest_paths, transitive_closure and transitive_reduction."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, loaded, matrix, needs_real, network, real, references

all_pairs_shortest_paths = gb.algorithms.all_pairs_shortest_paths
multi_source_shortest_paths = gb.algorithms.multi_source_shortest_paths
transitive_closure, transitive_reduction = gb.algorithms.transitive_closure, gb.algorithms.transitive_reduction
SMALLER = [name for name in SMALL if SMALL[name].shape[0] <= 130]


def pairs_of(A):
    i, j, _ = A.to_coo()
    return set(zip(i.tolist(), j.tolist(), strict=True))


@given(graphs(st.integers(-2, 9)))
def test_distances_of_any_graph(graph):
    """Distances equal those of NetworkX's Bellman-Ford; a negative cycle raises an error, as in NetworkX."""
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
    """An acyclic graph has one transitive reduction, NetworkX's; entries keep their values."""
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


@given(graphs())
def test_hops_of_any_graph(graph):
    D = all_pairs_shortest_paths(matrix(graph), weighted=False)
    assert str(D.dtype) == "INT32"
    expected = {u: dict(row) for u, row in nx.all_pairs_shortest_path_length(network(graph))}
    assert D.to_dicts() == expected


@given(graphs(st.integers(0, 9)), st.data())
def test_from_the_nearest_of_several(graph, data):
    """Distances in hops and over lengths equal NetworkX's; without sources no vertex is reached."""
    n = graph.shape[0]
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=5))
    hops = multi_source_shortest_paths(matrix(graph), sources)
    lengths = multi_source_shortest_paths(matrix(graph), sources, weighted=True)
    assert (str(hops.dtype), str(lengths.dtype)) == ("INT32", "INT64" if graph.dtype == np.int64 else "FP64")
    if not sources:
        assert hops.nvals == lengths.nvals == 0
        return
    judge = network(graph)
    assert lengths.to_dict() == nx.multi_source_dijkstra_path_length(judge, set(sources))
    nx.set_edge_attributes(judge, 1, "weight")
    assert hops.to_dict() == nx.multi_source_dijkstra_path_length(judge, set(sources))


@needs_real
def test_from_the_nearest_of_several_on_a_real_graph():
    A, known = loaded("wiki-Vote"), references("wiki-Vote")
    level, length = (known[name].astype(np.int64) for name in ("bfs_level", "sssp_dist"))
    hops = np.where(level < 0, 2**30, level).min(axis=0)
    found = multi_source_shortest_paths(A, known["sources"])
    assert np.array_equal(dense(found), np.where(hops == 2**30, -1, hops))
    lengths = np.where(length < 0, 2**60, length).min(axis=0)
    found = multi_source_shortest_paths(A, known["sources"][:2], weighted=True)
    assert np.array_equal(dense(found), np.where(lengths == 2**60, -1, lengths))


def test_bad_arguments_of_several_sources():
    for weighted in (False, True):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 3; the graph has vertices 0 to 2"):
            multi_source_shortest_paths(gb.Matrix("INT64", 3, 3), [0, 3], weighted=weighted)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            multi_source_shortest_paths(gb.Matrix("FP64", 2, 3), [0], weighted=weighted)
        with pytest.raises(gb.exceptions.DomainMismatch, match="sources is 3; an iterable of vertex numbers"):
            multi_source_shortest_paths(gb.Matrix("INT64", 3, 3), 3, weighted=weighted)
    with pytest.raises(gb.exceptions.InvalidValue, match="a value of -1; lengths >= 0"):
        multi_source_shortest_paths(matrix(csr(2, [(0, 1)], [-1])), [0], weighted=True)
