"""gb.algorithms.pagerank_within."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsezc as gb
from tests.algorithms import verify
from tests.algorithms.graphs import SMALL, csr, dense, graphs, matrix

within = gb.algorithms.pagerank_within


def exact(graph, damping=0.85, wish=None, leak=None, weighted=False):
    """Return the exact ranks, by a dense solver of the linear equations."""
    n = graph.shape[0]
    rows, cols, weight = verify.edges(graph)
    P = np.zeros((n, n))
    np.add.at(P, (cols, rows), weight if weighted else 1.0)
    wish = np.full(n, 1 / n) if wish is None else wish / wish.sum()
    leak = wish if leak is None else leak / leak.sum()
    out = P.sum(0)
    P = np.where(out > 0, P / np.where(out > 0, out, 1), leak[:, None])
    return np.linalg.solve(np.eye(n) - damping * P, (1 - damping) * wish)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("damping", "error"), [(0.0, 1e-6), (0.5, 1e-2), (0.85, 1e-6), (0.85, 1e-11)])
def test_small_graphs(name, damping, error):
    graph = SMALL[name]
    rank = within(matrix(graph), error, damping)
    assert str(rank.dtype) == "FP64"
    assert rank.nvals == graph.shape[0]
    assert abs(rank.reduce().new().get() - 1) < 1e-12
    assert abs(dense(rank, 0.0) - exact(graph, damping)).sum() <= error


@settings(max_examples=30)
@given(graphs(st.floats(0.125, 100)), st.data())
def test_any_graph(graph, data):
    n = graph.shape[0]
    shares = st.none() | st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)
    wish, leak, weighted = data.draw(shares), data.draw(shares), data.draw(st.booleans())
    error = data.draw(st.sampled_from([0.5, 1e-3, 1e-9]))
    given = {
        name: gb.Vector.from_dense(v) for name, v in (("personalization", wish), ("dangling", leak)) if v is not None
    }
    rank = dense(within(matrix(graph, "FP64"), error, weighted=weighted, **given), 0.0)
    wish, leak = (None if v is None else np.array(v, float) for v in (wish, leak))
    assert abs(rank - exact(graph, 0.85, wish, leak, weighted)).sum() <= error


@pytest.mark.parametrize(("damping", "error"), [(0.99, 1.01e-10), (0.9, 1.01e-12)])
def test_the_smallest_error_that_is_accepted_is_reached(damping, error):
    graph = csr(12, [(i, i + step) for i in range(12) for step in (-1, 1) if 0 <= i + step < 12])
    assert abs(dense(within(matrix(graph), error, damping), 0.0) - exact(graph, damping)).sum() <= error


def test_few_vertices_and_edges():
    assert within(gb.Matrix("BOOL", 0, 0)).size == 0
    assert within(gb.Matrix("BOOL", 2, 2)).to_dense(0).tolist() == [0.5, 0.5]
    rank = within(matrix(csr(4, [(0, 1), (1, 0), (2, 3)])), personalization=gb.Vector.from_coo([0], [3], size=4))
    assert rank.nvals == 4
    assert dense(rank, -1.0)[2:].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"damping": 1}, "damping is 1.0; a number below 1 is needed"),
        ({"damping": float("nan")}, "damping is nan"),
        ({"error": 0}, "error is 0; a finite number >= 1e-12 is needed"),
        ({"error": 1e-9, "damping": 0.999}, "error is 1e-09; at least 1e-08 is needed with damping 0.999"),
        ({"dangling": gb.Vector("FP64", 3)}, "dangling has sum 0"),
        ({"weighted": True}, "negative"),
    ],
)
def test_bad_values(arguments, message):
    with pytest.raises(gb.exceptions.InvalidValue, match=message):
        within(matrix(csr(3, [(0, 1), (1, 2)], [1, -1])), **arguments)
