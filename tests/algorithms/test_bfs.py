"""gb.algorithms.bfs and bfs_parents."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

bfs, bfs_parents = gb.algorithms.bfs, gb.algorithms.bfs_parents


@pytest.mark.parametrize("name", SMALL)
def test_levels_and_parents_of_small_graphs(name):
    graph = SMALL[name]
    A = matrix(graph)
    for source in {0, graph.shape[0] // 2, graph.shape[0] - 1}:
        verify.bfs_levels(graph, source, dense(bfs(A, source)))
        verify.bfs_parents(graph, source, dense(bfs_parents(A, source)))


@given(graphs(), st.data())
def test_levels_and_parents_of_any_graph(graph, data):
    source = data.draw(st.integers(0, graph.shape[0] - 1))
    A = matrix(graph)
    level = bfs(A, source)
    verify.bfs_levels(graph, source, dense(level))
    verify.bfs_parents(graph, source, dense(bfs_parents(A, source)))
    hops = nx.single_source_shortest_path_length(nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph), source)
    assert dict(zip(*(x.tolist() for x in level.to_coo()), strict=True)) == hops


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FP64"])
@pytest.mark.parametrize("value", [0, 1])
def test_values_do_not_count(dtype, value):
    """Every entry is an edge, whatever its value: a stored zero too."""
    graph = csr(5, [(0, 1), (1, 2), (3, 4)])
    graph.data[:] = value
    A = matrix(graph, dtype)
    assert dense(bfs(A, 0)).tolist() == [0, 1, 2, -1, -1]
    assert dense(bfs_parents(A, 0)).tolist() == [0, 0, 1, -1, -1]


def test_types_and_the_graph_is_left_alone():
    A = matrix(SMALL["kronecker"])
    before = A.dup()
    assert str(bfs(A, 3).dtype) == "INT32"
    assert str(bfs_parents(A, np.uint8(3)).dtype) == "INT64"
    assert A.isequal(before)


@pytest.mark.parametrize("name", SMALL)
def test_several_searches_of_small_graphs(name):
    graph, n = SMALL[name], SMALL[name].shape[0]
    sources = [n - 1, 0, n // 2, 0]
    level, parent = bfs(matrix(graph), sources), bfs_parents(matrix(graph), sources)
    assert level.shape == parent.shape == (4, n)
    assert (str(level.dtype), str(parent.dtype)) == ("INT32", "INT64")
    for i, source in enumerate(sources):
        verify.bfs_levels(graph, source, dense(level[i, :].new()))
        verify.bfs_parents(graph, source, dense(parent[i, :].new()))


@given(graphs(), st.data())
def test_several_searches_of_any_graph(graph, data):
    n = graph.shape[0]
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=6))
    level, parent = bfs(matrix(graph), sources), bfs_parents(matrix(graph), sources)
    assert level.shape == parent.shape == (len(sources), n)
    for i, source in enumerate(sources):
        verify.bfs_levels(graph, source, dense(level[i, :].new()))
        verify.bfs_parents(graph, source, dense(parent[i, :].new()))


def test_what_is_one_source_and_what_are_several():
    A = matrix(csr(3, [(0, 1), (1, 2)]))
    for one in (1, np.int8(1), np.array(1)):
        assert bfs(A, one).to_dict() == {1: 0, 2: 1}
    for several in ([1], (1,), {1}, range(1, 2), np.array([1]), iter([1])):
        assert bfs(A, several).to_dicts() == {0: {1: 0, 2: 1}}
    assert bfs(A, []).shape == (0, 3)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="sources is 3; the graph has vertices 0 to 2"):
        bfs(A, [0, 3])
    with pytest.raises(gb.exceptions.DomainMismatch, match=r"sources is 0\.5; a vertex number"):
        bfs_parents(A, [0.5])


@pytest.mark.parametrize("algorithm", [bfs, bfs_parents, gb.algorithms.sssp])
def test_bad_arguments(algorithm):
    A = matrix(csr(4, [(0, 1)]))
    for source in (4, -1, 2**70):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=rf"source is {source}; .* 0 to 3"):
            algorithm(A, source)
    with pytest.raises(gb.exceptions.DomainMismatch, match=r"source is 1\.5; a vertex number"):
        algorithm(A, 1.5)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        algorithm(gb.Matrix("INT64", 2, 3), 0)
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="no vertices"):
        algorithm(gb.Matrix("INT64", 0, 0), 0)
    with pytest.raises(TypeError, match=r"A is a list; a Matrix is needed, which gb\.Matrix\.from_edgelist\(A\)"):
        algorithm([[0, 1]], 0)
    with pytest.raises(TypeError, match=r"A is a TransposedMatrix; a Matrix is needed, which A\.T\.new\(\) makes"):
        algorithm(A.T, 0)
