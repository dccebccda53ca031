"""gb.applications.vertex_nomination, against SciPy's Dijkstra and loops over features."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.graphs import csr, graphs, kronecker, matrix

vertex_nomination = gb.applications.vertex_nomination


def ranked(graph, seeds, unlike=None):
    """Return the pairs of score and vertex in ascending order."""
    distance = dijkstra(graph, indices=seeds, min_only=True)
    chosen = [v for v in range(graph.shape[0]) if np.isfinite(distance[v]) and v not in seeds]
    score = distance[chosen]
    if unlike is not None:
        score = (score / (max(score, default=0) or 1) + unlike[chosen] / (max(unlike[chosen], default=0) or 1)) / 2
    return sorted(zip(score.tolist(), chosen, strict=True))


def nearest(features, seeds):
    return np.array([min(np.sqrt(((x - features[s]) ** 2).sum()) for s in seeds) for x in features])


@given(graphs(st.integers(1, 9)), st.data())
def test_any_graph(graph, data):
    n = graph.shape[0]
    seeds = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True, max_size=4))
    check(graph, seeds, data.draw(st.integers(1, n)))


def check(graph, seeds, k):
    n = graph.shape[0]
    nominated, score = vertex_nomination(matrix(graph), seeds, k=k)
    expected = ranked(graph, seeds)
    assert nominated.to_dense().tolist() == [v for _, v in expected][:k]
    assert {v: s for s, v in expected} == score.to_dict()
    features = np.random.default_rng(n).random((n, 3))
    nominated, score = vertex_nomination(matrix(graph), seeds, features)
    expected = ranked(graph, seeds, nearest(features, seeds))
    assert nominated.to_dense().tolist() == [v for _, v in expected]
    assert score.to_dict() == pytest.approx({v: s for s, v in expected})


def test_the_vertices_numbers_do_not_matter():
    graph = kronecker(6)
    graph.data[:] = np.random.default_rng(1).integers(1, 1000, graph.nnz)
    order = np.random.default_rng(2).permutation(64)
    moved = vertex_nomination(matrix(graph[order][:, order].tocsr()), [int(np.flatnonzero(order == 0)[0])])[1]
    assert moved.isequal(vertex_nomination(matrix(graph), [0])[1][order].new())


def test_a_rule_of_ones_own():
    graph = csr(4, [(0, 1), (0, 2), (0, 3)], [3, 2, 1])
    unlike = gb.Vector.from_dense([0.0, 1.0, 5.0, 2.0])
    nominated, score = vertex_nomination(matrix(graph), [0], unlike, fuse=lambda context, content: -context * content)
    assert nominated.to_dense().tolist() == [2, 1, 3]
    assert score.to_dict() == {1: -3.0, 2: -10.0, 3: -2.0}


def test_engines_agree(gpu):
    graph = kronecker(5, 3)
    graph.data[:] = np.random.default_rng(1).integers(1, 9, graph.nnz)
    A, content = matrix(graph), np.random.default_rng(2).random(graph.shape[0])
    for options in ({}, {"k": 5}, {"content": content}, {"content": content, "fuse": np.maximum, "k": 9}):
        expected = vertex_nomination(A, [0, 3, 7], **options)
        with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
            warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
            found = vertex_nomination(A.to("gpu"), [0, 3, 7], **options)
        assert found[0]._engine.name == "gpu"
        assert all(a.isequal(b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seeds": []}, InvalidValue, "seeds is empty"),
        ({"seeds": [1, 2, 1]}, InvalidValue, "seeds has vertex 1 2 times"),
        ({"seeds": [4]}, IndexOutOfBound, "seeds is 4"),
        ({"k": 0}, InvalidValue, "k is 0"),
        ({"content": [0, 1, np.nan, 2]}, InvalidValue, "content has a value that is NaN or infinite in row 2"),
        ({"content": [0, 1, -2, 2]}, InvalidValue, "content has a dissimilarity of -2"),
        ({"content": [0, 1]}, DimensionMismatch, r"content has shape \(2,\)"),
        ({"fuse": np.add}, InvalidValue, "fuse is given without content"),
        ({"content": np.ones(4), "fuse": lambda a, b: a[:1]}, DimensionMismatch, "fuse returns shape"),
        ({"content": np.ones(4), "fuse": lambda a, b: a * np.nan}, InvalidValue, "fuse returns NaN"),
        ({"content": np.ones(4), "fuse": lambda a, b: "x"}, DomainMismatch, "fuse fails"),
    ],
)
def test_bad_input(options, error, message):
    A = matrix(csr(4, [(0, 1), (0, 2), (0, 3)]))
    with pytest.raises(error, match=message):
        vertex_nomination(A, **{"seeds": [0]} | options)


@pytest.mark.parametrize("scores", ["whole", "fractions", "large", "negative", "equal"])
def test_the_first_are_those_of_a_whole_sort(scores):
    n, rng = 200, np.random.default_rng(11)
    kinds = {"whole": rng.integers(0, 9, n), "fractions": rng.random(n), "large": rng.integers(0, 9, n) * 2.0**20,
             "negative": rng.integers(-5, 5, n), "equal": np.ones(n)}  # fmt: skip
    A = gb.Matrix.from_coo(np.zeros(n - 1, int), np.arange(1, n), 1, nrows=n, ncols=n)
    values = kinds[scores].astype(float)

    def fuse(context, content):
        return values[1:]

    order = 1 + np.lexsort((np.arange(1, n), values[1:]))
    for k in (1, 7, 150, n):
        nominated, _ = vertex_nomination(A, [0], np.zeros(n), fuse, k=k)
        assert np.array_equal(nominated.to_dense(), order[:k])
