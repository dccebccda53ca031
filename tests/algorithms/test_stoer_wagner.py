"""gb.algorithms.stoer_wagner."""

from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify_sets
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix, needs_real, real

stoer_wagner = gb.algorithms.stoer_wagner


def check(graph):
    cut_value, part = stoer_wagner(matrix(graph))
    assert str(part.dtype) == "BOOL"
    verify_sets.minimum_cut(graph, cut_value, dense(part, False))


@pytest.mark.parametrize("name", [name for name in SMALL if 2 <= SMALL[name].shape[0] <= 64])
def test_small_graphs(name):
    check(SMALL[name])


@given(graphs(st.integers(0, 9), max_vertices=12))
def test_any_graph(graph):
    if graph.shape[0] > 1:
        check(graph)


@given(graphs(st.floats(0, 9, width=16), max_vertices=9))
def test_floating_weights(graph):
    if graph.shape[0] > 1:
        check(graph)


@given(st.integers(4, 10), st.integers(0, 20))
def test_dense_graphs(n, seed):
    weights = np.random.default_rng(seed).integers(1, 9, n * n)
    check(csr(n, np.argwhere(np.ones((n, n))), weights))


@needs_real
def test_a_part_of_a_real_graph():
    part = real("email-Eu-core")[:60][:, :60]
    check(csr(60, np.c_[part.nonzero()]))


def test_two_cliques_and_a_bridge():
    edges = [(u, v) for u in range(5) for v in range(u)] + [(u + 5, v + 5) for u in range(5) for v in range(u)]
    cut_value, part = stoer_wagner(matrix(csr(10, [*edges, (2, 7)])))
    assert cut_value == 1
    assert set(part.to_dict()) in ({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9})
    assert nx.stoer_wagner(nx.Graph([*edges, (2, 7)]))[0] == 1


def test_whole_weights_that_may_not_fit_are_refused():
    path = [(0, 1), (1, 2)]
    for dtype, weights in (("INT64", [2**62, 2**62]), ("UINT64", [2**63, 1]), ("UINT64", [2**63 - 1, 1])):
        A = gb.Matrix.from_coo(*np.transpose(path), np.array(weights, dtype.lower()), dtype, nrows=3, ncols=3)
        with pytest.raises(gb.exceptions.InvalidValue, match=f"sum is {sum(weights)}: a cut may not fit INT64"):
            stoer_wagner(A)
    fits = gb.Matrix.from_coo(*np.transpose(path), [2**62, 2**62 - 1], nrows=3, ncols=3)
    cut_value, part = stoer_wagner(fits)
    assert cut_value == 2**62 - 1
    assert set(part.to_dict()) in ({2}, {0, 1})


def test_bad_arguments():
    for n in (0, 1):
        with pytest.raises(gb.exceptions.InvalidValue, match="at least two vertices"):
            stoer_wagner(gb.Matrix("INT64", n, n))
    for value, said in ((-1.0, "negative"), (np.nan, "NaN"), (np.inf, "infinite")):
        with pytest.raises(gb.exceptions.InvalidValue, match=said):
            stoer_wagner(matrix(csr(2, [(0, 1)], [value])))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
        stoer_wagner(gb.Matrix("FP64", 2, 3))


def test_a_vertex_alone_ends_the_search(monkeypatch):
    phases = []
    module = import_module("sparsezc.algorithms.stoer_wagner")
    phase = module._phase
    monkeypatch.setattr(module, "_phase", lambda *given: phases.append(1) or phase(*given))
    A = gb.Matrix.from_edgelist([(i, (i + 1) % 20) for i in range(20)], nrows=21, ncols=21)
    value, part = gb.algorithms.stoer_wagner(A)
    assert (value, part.to_dict()) == (0, {20: True})
    assert len(phases) == 1
