"""gb.algorithms.pagerank."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

pagerank = gb.algorithms.pagerank
TIGHT = {"tol": 1e-13, "max_iter": 1000}


def network(graph):
    result = nx.DiGraph()
    result.add_nodes_from(range(graph.shape[0]))
    rows, cols, weight = verify.edges(graph)
    result.add_weighted_edges_from(zip(rows.tolist(), cols.tolist(), weight.tolist(), strict=True))
    return result


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85])
def test_small_graphs(name, damping):
    graph = SMALL[name]
    rank = pagerank(matrix(graph), damping, **TIGHT)
    assert str(rank.dtype) == "FP64"
    assert rank.nvals == graph.shape[0]
    verify.pagerank(graph, dense(rank, 0.0), damping, bound=1e-13 * graph.shape[0] + 1e-14)


@given(graphs())
def test_the_rule_for_stopping_is_networkx_s(graph):
    """The iteration stops in the same round as NetworkX's, so ranks with the default tolerance agree to 1e-14."""
    expected = nx.pagerank(network(graph), weight=None)
    assert np.allclose(dense(pagerank(matrix(graph)), 0.0), list(expected.values()), rtol=0, atol=1e-14)


@given(graphs(st.floats(0.125, 100)), st.data())
def test_personalisation_start_and_weights(graph, data):
    n = graph.shape[0]
    shares = st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)
    wish, start = data.draw(shares), data.draw(shares)
    expected = nx.pagerank(
        network(graph), personalization=dict(enumerate(wish)), nstart=dict(enumerate(start)), tol=1e-10, max_iter=500
    )
    answer = pagerank(
        matrix(graph, "FP64"), tol=1e-10, max_iter=500, weighted=True,
        personalization=gb.Vector.from_dense(wish), nstart=gb.Vector.from_dense(start),
    )  # fmt: skip
    assert np.allclose(dense(answer, 0.0), list(expected.values()), rtol=0, atol=1e-12)
    verify.pagerank(graph, dense(answer, 0.0), personalization=np.array(wish), weighted=True, bound=1e-8)


@given(graphs(), st.data())
def test_where_vertices_without_out_edges_lead(graph, data):
    n = graph.shape[0]
    shares = st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)
    wish, leak = data.draw(shares), data.draw(shares)
    expected = nx.pagerank(
        network(graph), personalization=dict(enumerate(wish)), dangling=dict(enumerate(leak)), weight=None, tol=1e-10,
        max_iter=500,
    )  # fmt: skip
    answer = pagerank(
        matrix(graph), tol=1e-10, max_iter=500, personalization=gb.Vector.from_dense(wish),
        dangling=gb.Vector.from_dense(leak),
    )  # fmt: skip
    assert np.allclose(dense(answer, 0.0), list(expected.values()), rtol=0, atol=1e-12)


def test_a_sparse_personalisation_leaves_no_vertex_without_a_rank():
    graph = csr(4, [(0, 1), (1, 0), (2, 3)])
    rank = pagerank(matrix(graph), personalization=gb.Vector.from_coo([0], [3], size=4))
    assert rank.nvals == 4
    assert dense(rank, -1.0)[2:].tolist() == [0, 0]


def test_a_vertex_whose_weights_are_all_zero_dangles():
    graph = csr(3, [(0, 1), (1, 0), (1, 2)], [0.0, 2.0, 1.0])
    rank = pagerank(matrix(graph, "FP64"), weighted=True, **TIGHT)
    verify.pagerank(graph, dense(rank, 0.0), weighted=True, bound=1e-12)


def test_a_fixed_number_of_iterations():
    """With tol=None all rounds run: here 0.15 / 2 + 0.85 (dangling / 2 + in), twice."""
    rank = pagerank(matrix(csr(2, [(0, 1)])), tol=None, max_iter=2)
    r0 = 0.075 + 0.425 * (1 - 0.2875)
    assert np.allclose(dense(rank, 0.0), [r0, 1 - r0], rtol=1e-15)


def test_ranks_that_do_not_settle():
    A = matrix(SMALL["kronecker"])
    with pytest.raises(gb.exceptions.ConvergenceFailure, match=r"after max_iter = 2 iterations .* change by"):
        pagerank(A, max_iter=2, tol=1e-12)
    with pytest.raises(ArithmeticError):
        pagerank(A, max_iter=1, tol=0)


def test_no_vertices():
    assert pagerank(gb.Matrix("BOOL", 0, 0)).size == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"damping": 1.5}, "damping is 1.5"),
        ({"damping": float("nan")}, "damping is nan"),
        ({"tol": -1}, "tol is -1"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"personalization": gb.Vector.from_coo([1], [-1.0], size=3)}, "personalization has sum"),
        ({"personalization": gb.Vector("FP64", 3)}, "personalization has sum 0"),
        ({"dangling": gb.Vector("FP64", 3)}, "dangling has sum 0"),
        ({"nstart": gb.Vector.from_coo([1], [float("nan")], size=3)}, "nstart has sum nan"),
        ({"weighted": True}, "negative"),
    ],
)
def test_bad_values(arguments, message):
    with pytest.raises(gb.exceptions.InvalidValue, match=message):
        pagerank(matrix(csr(3, [(0, 1), (1, 2)], [1, -1])), **arguments)


def test_bad_shapes_and_types():
    A = matrix(csr(3, [(0, 1)]))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="personalization has size 4; the graph has 3"):
        pagerank(A, personalization=gb.Vector("FP64", 4))
    with pytest.raises(gb.exceptions.DomainMismatch, match="nstart is a dict"):
        pagerank(A, nstart={0: 1.0})
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        pagerank(gb.Matrix("FP64", 2, 3))
    nans = matrix(csr(3, [(0, 1), (0, 2)], [1.0, np.nan]), "FP64")
    for bad in (nans, matrix(csr(3, [(0, 1), (0, 2)], [1e308, 1e308]), "FP64")):
        with pytest.raises(gb.exceptions.InvalidValue, match="row sums, that are NaN or infinite"):
            pagerank(bad, weighted=True)


def test_weights_whose_sum_over_all_rows_is_infinite():
    edges = [(0, 1), (1, 2), (2, 0), (1, 0)]
    huge, small = (matrix(csr(3, edges, [1.5 * f, 1.5 * f, 1.0 * f, 0.2 * f]), "FP64") for f in (1e308, 1.0))
    assert pagerank(huge, weighted=True).isclose(pagerank(small, weighted=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_of_half_the_bytes_differ_in_the_last_of_their_digits(weighted):
    A = gb.io.read("kron:10?weights=1-9")
    start = gb.Vector.from_scalar(1 / A.nrows, A.nrows, "FP32")
    rank = pagerank(A, nstart=start, weighted=weighted, tol=1e-9)
    assert str(rank.dtype) == "FP32"
    expected = dense(pagerank(A, weighted=weighted, tol=1e-9), 0.0)
    assert np.allclose(dense(rank, 0.0), expected, rtol=1e-6, atol=0)
    assert abs(rank.reduce(gb.monoid.plus["FP64"]).new().get() - 1) < 1e-6
