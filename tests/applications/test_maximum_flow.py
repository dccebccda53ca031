"""gb.algorithms.maximum_flow and minimum_cut, against SciPy, NetworkX, the laws of a flow and duality."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow as scipys

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.graphs import csr, graphs, kronecker, matrix

maximum_flow, minimum_cut = gb.algorithms.maximum_flow, gb.algorithms.minimum_cut


def is_flow(graph, F, s, t, value, rtol=0.0):
    """Check a flow: within capacities, in one direction, conserved at every vertex but s and t, and of this value."""
    capacity, flow = graph.toarray(), F.to_dense(fill_value=0)
    slack = rtol * max(capacity[np.isfinite(capacity)].sum(), 1)
    assert (flow >= 0).all()
    assert (flow <= capacity + slack).all()
    assert not ((flow > 0) & (flow.T > 0)).any()
    net = flow.sum(axis=1) - flow.sum(axis=0)
    assert abs(net[s] - value) <= slack
    assert abs(net[t] + value) <= slack
    assert (np.abs(np.delete(net, [s, t])) <= slack).all()


def is_cut(graph, side, s, t, value, rtol=0.0):
    capacity, inside = graph.toarray(), np.zeros(graph.shape[0], bool)
    inside[side.to_coo()[0].astype(int)] = True
    assert inside[s]
    assert not inside[t]
    assert capacity[np.ix_(inside, ~inside)].sum() == pytest.approx(value, rel=rtol, abs=rtol)


def check(graph, s, t, rtol=0.0):
    """Check that the flow's value is that of the cut, so that both are optimal."""
    A = matrix(graph)
    value, F = maximum_flow(A, s, t)
    cut, side = minimum_cut(A, s, t)
    assert cut == value
    is_flow(graph, F, s, t, value, rtol)
    is_cut(graph, side, s, t, value, rtol)
    return value, side


@given(graphs(st.integers(0, 9)), st.randoms())
def test_any_graph(graph, random):
    n = graph.shape[0]
    if n < 2:
        return
    s, t = random.sample(range(n), 2)
    value, side = check(graph, s, t)
    assert value == scipys(graph.astype(np.int32), s, t).flow_value
    network = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph)
    expected, (near, _) = nx.minimum_cut(network, s, t, capacity="weight")
    assert value == expected
    assert set(side.to_coo()[0].tolist()) == near


@given(graphs(st.floats(0, 1e6)), st.randoms())
def test_fractions(graph, random):
    n = graph.shape[0]
    if n < 2:
        return
    s, t = random.sample(range(n), 2)
    value, _ = check(graph, s, t, 1e-12)
    assert value == pytest.approx(nx.maximum_flow_value(nx.DiGraph(graph), s, t, capacity="weight"), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", ["grid", "kronecker", "side to side"])
def test_larger_graphs(kind):
    rng = np.random.default_rng(5)
    k = 12
    if kind == "kronecker":
        graph = kronecker(8)
        s, t = np.argsort(np.diff(graph.indptr))[[-1, -2]]
    else:
        number = np.arange(k * k).reshape(k, k)
        across, down = (
            np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()],
            np.c_[number[:-1].ravel(), number[1:].ravel()],
        )
        edges = np.r_[across, across[:, ::-1], down, down[:, ::-1]]
        n, s, t = k * k, 0, k * k - 1
        if kind == "side to side":
            edges = np.r_[edges, np.c_[np.full(k, n), number[:, 0]], np.c_[number[:, -1], np.full(k, n + 1)]]
            n, s, t = n + 2, n, n + 1
        graph = csr(n, edges)
    graph.data[:] = rng.integers(1, 100, graph.nnz)
    assert check(graph, s, t)[0] == scipys(graph.astype(np.int32), s, t).flow_value


def test_many_edges_of_one_vertex():
    """A flow of 1,700 is spread over a vertex's 2,998 edges; a row of any length is filled in one round."""
    n = 3000
    middle = np.arange(1, n - 1)
    graph = csr(n + 1, np.r_[[[n, 0]], np.c_[np.zeros(n - 2, int), middle], np.c_[middle, np.full(n - 2, n - 1)]])
    graph.data[:] = 1
    graph[n, 0] = 1700
    assert check(graph, n, n - 1)[0] == 1700


@pytest.mark.parametrize("dtype", [bool, "INT8", "UINT64", "FP32"])
def test_types(dtype):
    A = matrix(csr(4, [(0, 1), (0, 2), (1, 3), (2, 3)]), dtype)
    value, F = maximum_flow(A, 0, 3)
    assert value == 2
    assert F.dtype == ("FP64" if dtype == "FP32" else "INT64")


def test_infinite_capacities():
    graph = csr(4, [(0, 1), (1, 2), (2, 3), (0, 2)], [np.inf, 3.0, np.inf, 4.0])
    assert check(graph, 0, 3)[0] == 7


HUGE = [
    ([(0, 1), (1, 2)], [1e20, 0.1], 0.1),
    ([(0, 1), (1, 2)], [1e15, 0.3], 0.3),
    ([(0, 1), (1, 2)], [np.inf, 0.1], 0.1),
    ([(0, 1), (1, 2)], [0.1, 1e308], 0.1),
    ([(0, 1), (1, 3), (3, 2)], [1e20, 0.1, 1e20], 0.1),
    ([(0, 1), (1, 3), (3, 2), (3, 4), (4, 3)], [np.inf, 0.1, np.inf, np.inf, 1e200], 0.1),
    ([(0, 1), (0, 3), (1, 3), (3, 2), (1, 4), (4, 2)], [1e30, 0.7, 1e25, 0.9, 1e22, 0.3], 1.2),
    ([(0, 1), (1, 3), (4, 2)], [np.inf, 1.0, np.inf], 0.0),
    ([(0, 1), (1, 3)], [np.inf, 5.0], 0.0),
    ([(0, 1), (1, 3), (3, 2)], [5.0, 10.0, 7.0], 5.0),
]


@pytest.mark.parametrize(("edges", "capacities", "expected"), HUGE)
def test_capacities_far_above_the_flow(edges, capacities, expected):
    graph = csr(5, edges, capacities)
    A = matrix(graph)
    value, F = maximum_flow(A, 0, 2)
    cut, side = minimum_cut(A, 0, 2)
    assert value == cut == pytest.approx(expected, rel=1e-12)
    capacity, flow = graph.toarray(), F.to_dense(fill_value=0)
    assert ((flow >= 0) & (flow <= capacity)).all()
    net = flow.sum(axis=1) - flow.sum(axis=0)
    assert np.allclose(net, [value, 0, -value, 0, 0], rtol=0, atol=1e-12 * value)
    is_cut(graph, side, 0, 2, value, 1e-12)


def test_sums_beyond_floating_point_are_refused():
    with pytest.raises(InvalidValue, match="capacities up to 1e\\+308: sums of them may not fit FP64"):
        maximum_flow(matrix(csr(3, [(0, 1), (1, 2)], [1e308, 1e308])), 0, 2)


def test_a_flow_that_exceeds_or_is_lost_is_refused():
    """The judges refuse a flow that exceeds a capacity or is not conserved, and a wrong cut."""
    graph = csr(3, [(0, 1), (1, 2)], [2, 2])
    for wrong in ({(0, 1): 3, (1, 2): 3}, {(0, 1): 2, (1, 2): 1}, {(0, 1): 1, (1, 2): 1}):
        F = gb.Matrix.from_edgelist(list(wrong), list(wrong.values()), nrows=3, ncols=3)
        with pytest.raises(AssertionError):
            is_flow(graph, F, 0, 2, 2)
    with pytest.raises(AssertionError):
        is_cut(csr_array(graph), gb.Vector.from_coo([0, 1], True, size=3), 0, 2, 3)


@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_engines_agree(dtype, gpu):
    graph = kronecker(5, 3)
    graph.data[:] = np.random.default_rng(2).integers(1, 9, graph.nnz)
    A = matrix(graph, dtype)
    s, t = np.argsort(np.diff(graph.indptr))[[-1, -3]]
    expected, side = minimum_cut(A, s, t)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        value, F = maximum_flow(A.to("gpu"), s, t)
        cut = minimum_cut(A.to("gpu"), s, t)
    is_flow(graph, F, s, t, expected)
    assert value == cut[0] == expected
    assert cut[1].isequal(side)


@pytest.mark.parametrize(
    ("values", "s", "t", "error", "message"),
    [
        ([1, 1], 0, 0, InvalidValue, "s and t are both 0"),
        ([1, -1], 0, 2, InvalidValue, "a capacity of -1 in row 1, column 2; capacities >= 0"),
        ([1.0, -np.inf], 0, 2, InvalidValue, "a capacity of -inf in row 1, column 2; capacities >= 0"),
        ([1.0, np.nan], 0, 2, InvalidValue, "a capacity of nan in row 1, column 2; numbers >= 0"),
        ([np.inf, np.inf], 0, 2, InvalidValue, "infinite capacity leads from s = 0 to t = 2"),
        ([2**62, 2**62], 0, 2, InvalidValue, "may not fit INT64"),
        ([1, 1], 0, 3, IndexOutOfBound, "t is 3"),
        ([1, 1], -1, 2, IndexOutOfBound, "s is -1"),
    ],
)
@pytest.mark.parametrize("function", [maximum_flow, minimum_cut])
def test_bad_input(values, s, t, error, message, function):
    with pytest.raises(error, match=message):
        function(gb.Matrix.from_coo([0, 1], [1, 2], values, nrows=3, ncols=3), s, t)


def test_complex():
    with pytest.raises(DomainMismatch, match="A is of FC64; real capacities"):
        maximum_flow(gb.Matrix(complex, 3, 3), 0, 1)


def test_not_square():
    with pytest.raises(DimensionMismatch, match="3 x 4"):
        maximum_flow(gb.Matrix(int, 3, 4), 0, 1)


def test_capacities_whose_sums_are_infinite():
    edges = [(0, 1), *((1, k) for k in (2, 3, 4)), *((k, 5) for k in (2, 3, 4))]
    A = gb.Matrix.from_edgelist(edges, [4e307] + [1e308] * 6, nrows=6, ncols=6)
    assert gb.algorithms.maximum_flow(A, 0, 5)[0] == 4e307
