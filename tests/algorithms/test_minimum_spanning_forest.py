"""gb.algorithms.minimum_spanning_forest."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import sparsezc as gb
from tests.algorithms import verify_sets
from tests.algorithms.graphs import DATA, SMALL, csr, graphs, loaded, matrix, needs_real

minimum_spanning_forest = gb.algorithms.minimum_spanning_forest


def check(graph):
    indptr, indices, values = minimum_spanning_forest(matrix(graph)).to_csr()
    found = csr_array((values, indices.astype(np.int64), indptr.astype(np.int64)), shape=graph.shape)
    verify_sets.spanning_forest(graph, found)


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name):
    """Forests are minimal with equal weights and with distinct ones."""
    graph = SMALL[name]
    check(graph)
    graph = graph.copy()
    graph.data = np.random.default_rng(1).permutation(graph.nnz) - graph.nnz // 2
    check(graph)


@given(graphs(st.integers(-3, 3)))
def test_any_graph(graph):
    check(graph)


@given(graphs(st.floats(-9, 9, width=32)))
def test_floating_weights(graph):
    check(graph)


@needs_real
@pytest.mark.parametrize(
    "name", ["ca-AstroPh", "as-caida20071105", "copter2", pytest.param("road-7cities", marks=pytest.mark.slow)]
)
def test_weight_of_real_graphs(name):
    """The weight is that of two other programs; the number of edges shows that the forest has no cycle."""
    A = loaded(name)
    forest = minimum_spanning_forest(A)
    expected = json.loads((DATA / "refs" / "summary.json").read_text())[name]["msf_weight"]
    assert forest.reduce_scalar(gb.monoid.plus["INT64"]).value == 2 * expected
    components = len(set(gb.algorithms.connected_components(A).to_coo()[1].tolist()))
    assert forest.nvals == 2 * (A.nrows - components)
    assert gb.algorithms.connected_components(forest).isequal(gb.algorithms.connected_components(A))


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32", "FP64"])
def test_types_and_bad_arguments(dtype):
    forest = minimum_spanning_forest(matrix(csr(3, [(0, 1), (1, 2)]), dtype))
    assert str(forest.dtype) == dtype
    assert forest.nvals == 4
    assert minimum_spanning_forest(gb.Matrix(dtype, 0, 0)).shape == (0, 0)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        minimum_spanning_forest(gb.Matrix(dtype, 2, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="NaN"):
        minimum_spanning_forest(matrix(csr(2, [(0, 1)], [np.nan])))
