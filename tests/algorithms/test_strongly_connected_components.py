"""gb.algorithms.strongly_connected_components."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

strongly_connected_components = gb.algorithms.strongly_connected_components


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    label = strongly_connected_components(matrix(SMALL[name]))
    assert str(label.dtype) == "INT64"
    assert label.nvals == label.size
    verify.strong_components(SMALL[name], dense(label))


@given(graphs(max_vertices=40))
def test_any_graph(graph):
    verify.strong_components(graph, dense(strongly_connected_components(matrix(graph))))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.data())
def test_chains_of_cycles(sizes, data):
    """Components that reach each other, in any numbering, are separated after trimming and the first search."""
    n, start = sum(sizes), np.cumsum([0, *sizes])
    inside = [(a + k, a + (k + 1) % m) for a, m in zip(start[:-1].tolist(), sizes, strict=True) for k in range(m)]
    between = [(int(b) - 1, int(b)) for b in start[1:-1]]
    order = np.array(data.draw(st.permutations(range(n))))
    graph = csr(n, order[np.array(inside + between)])
    verify.strong_components(graph, dense(strongly_connected_components(matrix(graph))))


def test_no_vertices_and_bad_arguments():
    assert strongly_connected_components(gb.Matrix("BOOL", 0, 0)).size == 0
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        strongly_connected_components(gb.Matrix("FP64", 2, 3))
