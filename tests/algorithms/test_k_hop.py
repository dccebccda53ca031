"""gb.algorithms.k_hop and ego_graph."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms.graphs import SMALL, csr, graphs, matrix, needs_real, network, real

k_hop, ego_graph = gb.algorithms.k_hop, gb.algorithms.ego_graph


def check(graph, source, radius, undirected):
    around = network(graph).to_undirected() if undirected else network(graph)
    expected = nx.single_source_shortest_path_length(around, source, cutoff=radius)
    assert k_hop(matrix(graph), source, radius, undirected=undirected).to_dict() == dict(expected)
    for center in (True, False):
        judge = nx.ego_graph(network(graph), source, radius, center=center, undirected=undirected)
        found = ego_graph(matrix(graph), source, radius, center=center, undirected=undirected)
        assert found.dtype is matrix(graph).dtype
        i, j, value = (x.tolist() for x in found.to_coo())
        assert set(zip(i, j, value, strict=True)) == set(judge.edges(data="weight"))
    expected.pop(source)
    assert k_hop(matrix(graph), source, radius, center=False, undirected=undirected).to_dict() == expected


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name, undirected):
    for radius in (0, 1, 3):
        check(SMALL[name], SMALL[name].shape[0] // 2, radius, undirected)


@given(graphs(st.integers(-9, 9)), st.integers(0, 4), st.booleans(), st.data())
def test_any_graph(graph, radius, undirected, data):
    check(graph, data.draw(st.integers(0, graph.shape[0] - 1)), radius, undirected)


@given(graphs(st.integers(-9, 9)), st.integers(0, 3), st.booleans(), st.data())
def test_several_centres(graph, radius, undirected, data):
    """Vertices within the radius have their hops from the nearest centre; ego_graph keeps the edges between them."""
    sources = data.draw(st.lists(st.integers(0, graph.shape[0] - 1), min_size=1, max_size=4))
    A, around = matrix(graph), network(graph).to_undirected() if undirected else network(graph)
    hops = {}
    for source in sources:
        for v, d in nx.single_source_shortest_path_length(around, source, cutoff=radius).items():
            hops[v] = min(d, hops.get(v, d))
    assert k_hop(A, sources, radius, undirected=undirected).to_dict() == hops
    for center in (True, False):
        kept = hops.keys() - (() if center else sources)
        assert k_hop(A, iter(sources), radius, center=center, undirected=undirected).to_dict().keys() == kept
        i, j, _ = ego_graph(A, sources, radius, center=center, undirected=undirected).to_coo()
        assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(network(graph).subgraph(kept).edges)


@needs_real
def test_a_real_graph():
    check(real("email-Eu-core"), 7, 2, False)


def test_types_and_bad_arguments():
    A = matrix(csr(4, [(0, 1)]))
    assert str(k_hop(A, 0).dtype) == "INT32"
    for algorithm in (k_hop, ego_graph):
        with pytest.raises(gb.exceptions.InvalidValue, match="radius is -1; at least 0"):
            algorithm(A, 0, -1)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="source is 4"):
            algorithm(A, 4)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="source is 4"):
            algorithm(A, [0, 4])
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(gb.Matrix("FP64", 2, 3), 0)
