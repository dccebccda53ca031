"""gb.applications.graphsage, against NumPy and PyG's SAGEConv on the same samples."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.graphs import SMALL, csr, graphs, kronecker, matrix

graphsage = gb.applications.graphsage


def weights(F, d1, d, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in ((2 * F, d1), (2 * d1, d))]


def samples(A, k, seed):
    """Return each vertex's neighbours that `seed` draws, or the vertex itself if it has none."""
    S = gb.algorithms.sample_neighbors(A, range(A.nrows), k, seed=seed)
    rows = [S[i, :].new().to_coo()[0].astype(int).tolist() for i in range(A.nrows)]
    return [row or [i] for i, row in enumerate(rows)]


def layer(rows, H, W):
    Wf, Wa = np.split(W, 2)
    out = np.array([np.maximum(H[i] @ Wf + H[row].mean(axis=0) @ Wa, 0) for i, row in enumerate(rows)])
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return np.divide(out, length, out=np.zeros_like(out), where=length > 0)


@given(graphs(), st.integers(1, 4), st.integers(0, 99))
def test_any_graph(graph, k, seed):
    A = matrix(graph)
    X = np.random.default_rng(seed).normal(size=(A.nrows, 3))
    W = weights(3, 4, 2, seed)
    expected = layer(samples(A, k, seed + 1), layer(samples(A, k, seed), X, W[0]), W[1])
    assert np.allclose(graphsage(A, X, *W, k, seed=seed).to_dense(), expected)


def test_two_numbers_of_children():
    A, W = matrix(SMALL["kronecker"]), weights(3, 4, 2)
    X = np.random.default_rng(2).normal(size=(A.nrows, 3))
    expected = layer(samples(A, 2, 8), layer(samples(A, 5, 7), X, W[0]), W[1])
    assert np.allclose(graphsage(A, X, *W, (5, 2), seed=7).to_dense(), expected)


def test_it_is_pygs_convolution():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed")
    A, (W, _) = matrix(kronecker(6)), weights(3, 4, 2)
    X = np.random.default_rng(3).normal(size=(64, 3))
    rows = samples(A, 3, 5)
    edges = torch.tensor([(j, i) for i, row in enumerate(rows) for j in row]).T
    conv = nn.SAGEConv(3, 4, bias=False).double()
    Wf, Wa = np.split(W, 2)
    conv.lin_l.weight.data, conv.lin_r.weight.data = torch.tensor(Wa.T), torch.tensor(Wf.T)
    out = torch.nn.functional.normalize(torch.relu(conv(torch.tensor(X), edges)))
    assert np.allclose(out.detach().numpy(), layer(rows, X, W))


@pytest.mark.parametrize("batch", [1, 50, 10**6])
def test_batches_change_no_answer(batch):
    A, W = matrix(kronecker(7)), weights(3, 4, 2)
    X = np.random.default_rng(4).normal(size=(128, 3))
    assert graphsage(A, X, *W, 3, batch, 9).isclose(graphsage(A, X, *W, 3, seed=9))


def test_rows_have_length_1_and_features_may_be_a_matrix():
    A, W = matrix(kronecker(7)), weights(3, 4, 2)
    X = np.random.default_rng(4).normal(size=(128, 3))
    H = graphsage(A, gb.Matrix.from_dense(X), *map(gb.Matrix.from_dense, W), seed=9)
    assert H.isclose(graphsage(A, X, *W, seed=9))
    lengths = np.linalg.norm(H.to_dense(), axis=1)
    assert np.logical_or(np.isclose(lengths, 1), lengths == 0).all()


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_rows_have_length_1_at_any_scale(scale):
    A, X = matrix(csr(3, [(0, 1), (1, 2), (2, 0)])), np.random.default_rng(7).random((3, 3)) + 0.1
    W = [np.abs(each) for each in weights(3, 4, 2)]
    found = graphsage(A, X * scale, *W, seed=1).to_dense()
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.allclose(found, graphsage(A, X, *W, seed=1).to_dense())


def test_the_largest_seed():
    A, W = matrix(kronecker(4, 3)), weights(3, 4, 2)
    found = graphsage(A, np.ones((16, 3)), *W, 1, seed=2**64 - 1)
    assert found.isequal(graphsage(A, np.ones((16, 3)), *W, 1, seed=2**64 - 1))


def test_no_vertices():
    assert graphsage(gb.Matrix(bool, 0, 0), np.ones((0, 3)), *weights(3, 4, 2)).shape == (0, 2)


def test_engines_agree(gpu):
    A, W = matrix(kronecker(5, 3)), weights(3, 4, 2)
    X = np.random.default_rng(5).normal(size=(32, 3))
    expected = graphsage(A, X, *W, 2, seed=6)
    with gb.config.set(engine="gpu", placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        assert graphsage(A.to("gpu"), X, *W, 2, seed=6).isclose(expected, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": np.ones((2, 3))}, DimensionMismatch, r"X has shape \(2, 3\)"),
        ({"X": np.full((3, 3), np.nan)}, InvalidValue, "X has a value that is NaN"),
        ({"W1": np.ones((2, 4))}, DimensionMismatch, r"W1 has shape \(2, 4\); \(6, any\)"),
        ({"W1": np.ones((3, 4))}, DimensionMismatch, r"W1 has shape \(3, 4\); \(6, any\)"),
        ({"W2": np.ones((4, 2))}, DimensionMismatch, r"W2 has shape \(4, 2\); \(8, any\)"),
        ({"W2": np.full((8, 2), np.inf)}, InvalidValue, "W2 has a value that is NaN or infinite"),
        ({"children": 0}, InvalidValue, "children is 0"),
        ({"children": (1, 2, 3)}, InvalidValue, "children has 3 numbers"),
        ({"seed": -1}, InvalidValue, "graphsage: seed is -1"),
        ({"seed": "a"}, TypeError, "graphsage: seed is 'a' of type str"),
        (
            {"X": np.full((3, 3), 1e308), "W1": np.full((6, 4), 9.0)},
            InvalidValue,
            "X times the weights has infinite values",
        ),
        ({"batch": 0}, InvalidValue, "batch is 0"),
    ],
)
def test_bad_input(change, error, message):
    good = dict(zip(("W1", "W2"), weights(3, 4, 2), strict=True))
    with pytest.raises(error, match=message):
        graphsage(**{"A": matrix(csr(3, [(0, 1)])), "X": np.ones((3, 3)), "seed": 1} | good | change)
