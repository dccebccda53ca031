"""gb.applications.application_classification, against loops in NumPy over edges and vertices, and planted patterns."""

import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.gpu.products import dense_rows
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
from tests.algorithms.graphs import csr, matrix

classify = gb.applications.application_classification


def softmax(x):
    """Return the logarithms of the softmax of each column."""
    x = x - x.max(axis=0)
    return x - np.log(np.exp(x).sum(axis=0))


def edges_of(graph):
    return [(i, int(j)) for i in range(graph.shape[0]) for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]]


def by_loops(G, P, x, y, ex, ey, rule, rounds):
    data, pattern = edges_of(G), edges_of(P)
    D, C = cdist(x, y), cdist(ex, ey)
    n, k = len(x), len(pattern)
    mu = softmax(-D)
    F, R = np.zeros((n, k)), np.zeros((n, k))
    null = np.maximum(C.max(axis=0), np.sqrt((ey**2).sum(axis=1)))
    if rule == "published":
        first, D, C, null = softmax(-C), softmax(D), softmax(C), np.zeros(k)
        for e, (a, b) in enumerate(pattern):
            F[:, e], R[:, e] = mu[:, a].max(), mu[:, b].max()
            for d, (u, v) in enumerate(data):
                F[v, e], R[u, e] = max(F[v, e], first[d, e]), max(R[u, e], first[d, e])
    for _ in range(rounds):
        f = np.stack([mu[:, b] - F[:, e] for e, (_, b) in enumerate(pattern)], axis=1)
        r = np.stack([mu[:, a] - R[:, e] for e, (a, _) in enumerate(pattern)], axis=1)
        along = np.array([r[u] for u, _ in data]) - C
        against = np.array([f[u if rule == "published" else v] for u, v in data]) - C
        if rule == "published":
            along, against = softmax(along), softmax(against)
        F, R = np.tile(r.max(axis=0) - null, (n, 1)), np.tile(f.max(axis=0) - null, (n, 1))
        for d, (u, v) in enumerate(data):
            F[v], R[u] = np.maximum(F[v], along[d]), np.maximum(R[u], against[d])
        mu = -D
        for e, (a, b) in enumerate(pattern):
            mu[:, b] += F[:, e]
            mu[:, a] += R[:, e]
        mu = softmax(mu)
    return mu


def case(seed, n=25, m=4):
    rng = np.random.default_rng(seed)
    G = csr(n, [(int(i), int(j)) for i, j in rng.integers(0, n, (3 * n, 2))])
    P = csr(m, [(k, (k + 1) % m) for k in range(m)] + [(0, 2)])
    return G, P, rng.random((n, 3)), rng.random((m, 3)), rng.random((G.nnz, 2)), rng.random((P.nnz, 2))


@given(st.integers(0, 999), st.sampled_from(["corrected", "published"]), st.integers(1, 5))
def test_it_is_what_loops_compute(seed, rule, rounds):
    G, P, x, y, ex, ey = case(seed)
    found = classify(matrix(G), matrix(P), x, y, ex, ey, rule, rounds).to_dense()
    assert np.allclose(found, by_loops(G, P, x, y, ex, ey, rule, rounds), rtol=0, atol=1e-8)
    assert np.allclose(np.exp(found).sum(axis=0), 1)


def test_values_are_the_edges_feature():
    G, P, x, y, *_ = case(3)
    rng = np.random.default_rng(4)
    G.data, P.data = rng.random(G.nnz), rng.random(P.nnz)
    found = classify(matrix(G), matrix(P), x, y).to_dense()
    assert np.allclose(found, by_loops(G, P, x, y, G.data[:, None], P.data[:, None], "corrected", 4), atol=1e-8)


def test_a_hidden_pattern_is_found():
    """A planted pattern is found by edge features where vertex features are weak; the published rule misses it."""
    rng = np.random.default_rng(5)
    n, m = 300, 5
    G = csr(n, [(int(i), int(j)) for i, j in rng.integers(0, n, (900, 2))])
    place = rng.permutation(n)[:m]
    P = csr(m, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    i, j = P.nonzero()
    hidden = {(int(place[a]), int(place[b])) for a, b in zip(i, j, strict=True)}
    G = csr(n, [*edges_of(G), *sorted(hidden)])
    edges = edges_of(G)
    ey = rng.random((P.nnz, 4)) + 3
    ex = rng.random((len(edges), 4))
    for e, (a, b) in enumerate(edges_of(P)):
        ex[edges.index((int(place[a]), int(place[b])))] = ey[e]
    x, y = rng.random((n, 2)), rng.random((m, 2))
    match = classify(matrix(G), matrix(P), x, y, ex, ey).to_dense()
    assert match.argmax(axis=0).tolist() == place.tolist()
    assert (
        classify(matrix(G), matrix(P), x, y, ex, ey, "published").to_dense().argmax(axis=0).tolist() != place.tolist()
    )


def test_the_vertices_numbers_do_not_matter():
    G, P, x, y, *_ = case(6)
    G.data, P.data = np.arange(G.nnz) / 10, np.arange(P.nnz) / 10
    order = np.random.default_rng(7).permutation(25)
    moved = classify(matrix(G[order][:, order].tocsr()), matrix(P), x[order], y).to_dense()
    assert np.allclose(moved, classify(matrix(G), matrix(P), x, y).to_dense()[order])


@pytest.mark.parametrize(("rule", "passes"), [("corrected", range(4, 7)), ("published", [51])])
def test_rounds_end_when_nothing_changes(rule, passes, monkeypatch):
    """Rounds end once messages have crossed the pattern, a tree; those of the published rule keep changing."""
    G, _P, x, y, ex, ey = case(4)
    P, ey = csr(4, [(0, 1), (1, 2), (3, 2)]), ey[:3]
    calls = []
    product = ops.two_way_mxm
    monkeypatch.setattr(ops, "two_way_mxm", lambda *operands: calls.append(1) or product(*operands))
    found = classify(matrix(G), matrix(P), x, y, ex, ey, rule, 50).to_dense()
    assert len(calls) in passes
    assert np.allclose(found, by_loops(G, P, x, y, ex, ey, rule, 50))


@pytest.mark.parametrize("rule", ["corrected", "published"])
def test_engines_agree(rule, gpu):
    G, P, x, y, ex, ey = case(8)
    expected = classify(matrix(G), matrix(P), x, y, ex, ey, rule, 2)
    with gb.config.set(engine="gpu", placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = classify(matrix(G), matrix(P), x, y, ex, ey, rule, 2)
    assert found.isclose(expected, rel_tol=1e-9)


def test_narrow_features_cross_the_link_as_they_are(gpu):
    """INT8 and FP32 features are copied to the device in their own type, and give the same answer."""
    G, P, x, y, ex, ey = case(8)
    x, ex = (100 * x).astype(np.int8), np.asfortranarray(ex, np.float32)
    expected = classify(matrix(G), matrix(P), x.astype(float), y, ex.astype(float), ey, rounds=2)
    assert classify(matrix(G), matrix(P), x, y, ex, ey, rounds=2).isclose(expected, rel_tol=1e-9)
    with (
        mock.patch.object(gpu, "copy_pageable", side_effect=gpu.copy_pageable) as copies,
        mock.patch.object(dense_rows, "_PART", 60),  # rows, of 100 and more: several launches
    ):
        assert classify(matrix(G).to("gpu"), matrix(P), x, y, ex, ey, rounds=2).isclose(expected, rel_tol=1e-9)
    copied = [call.args[1] for call in copies.call_args_list]
    assert ex.size in [each.size for each in copied if each.dtype == np.float32]
    assert ex.size not in [each.size for each in copied if each.dtype == np.float64]


@pytest.mark.parametrize("rule", ["corrected", "published"])
@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_large_features(rule, scale):
    G, P, x, y, ex, ey = case(2)
    x, y, ex, ey = (scale * each for each in (x, y, ex, ey))
    found = classify(matrix(G), matrix(P), x, y, ex, ey, rule, 3).to_dense()
    assert np.isfinite(found).all()
    assert np.allclose(np.exp(found).sum(axis=0), 1)
    expected = by_loops(G, P, x, y, ex, ey, rule, 3)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9 * scale)


NONE = gb.Matrix(float, 2, 2)
ONE = gb.Matrix.from_coo([0], [1], [1.0], nrows=2, ncols=2)


def test_distances_beyond_memory_say_their_size():
    G, P, x, y, ex, ey = case(1, n=400)
    with (
        gb.config.set(host_budget="40kB"),
        pytest.raises(OutOfMemory, match=r"distances: of 1,\d+ rows from 5, of 2 numbers"),
    ):
        classify(matrix(G), matrix(P), x, y, ex, ey)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"P": NONE}, InvalidValue, "P has 2 vertices and 0 edges; a pattern with an edge"),
        ({"P": gb.Matrix(float, 0, 0)}, InvalidValue, "P has 0 vertices"),
        ({"G": NONE}, InvalidValue, "G has 2 vertices and no edges"),
        ({"P": gb.Matrix(float, 2, 3)}, DimensionMismatch, "P is 2 x 3"),
        ({"features": np.ones((3, 2))}, DimensionMismatch, r"features has shape \(3, 2\)"),
        ({"pattern_features": np.ones((4, 2))}, DimensionMismatch, "pattern_features has shape"),
        ({"features": np.full((25, 3), np.nan)}, InvalidValue, "features has a value that is NaN"),
        ({"edge_features": np.ones((1, 2))}, DimensionMismatch, "edge_features has shape"),
        ({"pattern_edge_features": None}, DimensionMismatch, "one without the other"),
        ({"features": np.full((25, 3), 1e200)}, InvalidValue, "features and pattern_features are .* apart; at most 1e"),
        ({"G": gb.Matrix(complex, 25, 25)}, DomainMismatch, "G is of FC64; real values"),
        ({"edge_features": np.ones((1, 2), complex)}, DomainMismatch, "edge_features has complex values"),
        ({"rule": "new"}, InvalidValue, "rule is 'new'"),
        ({"rounds": 0}, InvalidValue, "rounds is 0"),
        (
            {"G": gb.Matrix.from_coo([0], [1], [np.nan], nrows=25, ncols=25), "P": ONE}
            | {"pattern_features": np.ones((2, 3)), "edge_features": None, "pattern_edge_features": None},
            InvalidValue,
            "the edge feature of G has a value that is NaN",
        ),
    ],
)
def test_bad_input(change, error, message):
    G, P, x, y, ex, ey = case(1)
    good = {"G": matrix(G), "P": matrix(P), "features": x, "pattern_features": y,
            "edge_features": ex, "pattern_edge_features": ey}  # fmt: skip
    with pytest.raises(error, match=message):
        classify(**good | change)
