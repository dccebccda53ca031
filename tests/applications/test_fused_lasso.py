"""gb.applications.fused_lasso: its gap against a dual point of SciPy's, and cvxpy's minimum."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import sparsezc as gb
from sparsezc.engines.cpu.cpu_engine import CpuEngine
from sparsezc.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue
from tests.algorithms.graphs import SMALL, graphs, kronecker, matrix, path, undirected

fused_lasso = gb.applications.fused_lasso


def ends(graph):
    return np.array(list(undirected(graph).edges), int).reshape(-1, 2)


def objective(graph, y, x, lambda1, lambda2):
    i, j = ends(graph).T
    return ((x - y) ** 2).sum() / 2 + lambda1 * np.abs(x[i] - x[j]).sum() + lambda2 * np.abs(x).sum()


def lower_bound(graph, y, lambda1, lambda2):
    """Return the dual's value at a point that SciPy finds, a lower bound of the objective."""
    edges, n = ends(graph), len(y)
    B = np.zeros((len(edges) + n, n))
    B[np.arange(len(edges)), edges[:, 0]] = 1
    B[np.arange(len(edges)), edges[:, 1]] = -1
    B[len(edges) + np.arange(n), np.arange(n)] = 1
    most = np.r_[np.full(len(edges), lambda1), np.full(n, lambda2)]

    def dual(u):
        left = y - B.T @ u
        return (left @ left) / 2, -B @ left

    found = minimize(dual, np.zeros(len(most)), jac=True, method="L-BFGS-B", bounds=np.c_[-most, most],
                     options={"maxiter": 20000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9})  # fmt: skip
    return (y @ y) / 2 - dual(np.clip(found.x, -most, most))[0]


def check(graph, y, lambda1, lambda2, tol=1e-6):
    x, gap = fused_lasso(matrix(graph), y, lambda1, lambda2, tol)
    x = x.to_dense()
    value, least = objective(graph, y, x, lambda1, lambda2), lower_bound(graph, y, lambda1, lambda2)
    assert 0 <= gap <= tol * value + 1e-12
    assert value - gap <= least + 1e-4 * max(value, 1e-3)  # the dual's value is at most the minimum
    assert value <= least + gap + 1e-4 * max(value, 1e-3)
    return x


@given(graphs(max_vertices=12), st.integers(0, 99), st.sampled_from([0.0, 0.1, 1.0, 20.0]), st.sampled_from([0.0, 0.3]))
def test_any_graph(graph, seed, lambda1, lambda2):
    check(graph, np.random.default_rng(seed).normal(size=graph.shape[0]), lambda1, lambda2)


@pytest.mark.parametrize("name", ["path", "two cliques", "star", "diamonds", "loops"])
def test_small_graphs(name):
    check(SMALL[name], np.random.default_rng(1).normal(size=SMALL[name].shape[0]), 0.4, 0.1)


def test_it_is_the_minimum_that_cvxpy_finds():
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    graph = kronecker(6, 2)
    y = np.random.default_rng(2).normal(size=64)
    i, j = ends(graph).T
    x = cvxpy.Variable(64)
    terms = cvxpy.sum_squares(x - y) / 2 + 0.2 * cvxpy.norm1(x[i] - x[j]) + 0.1 * cvxpy.norm1(x)
    least = cvxpy.Problem(cvxpy.Minimize(terms)).solve()
    found, _ = fused_lasso(matrix(graph), y, 0.2, 0.1, 1e-8)
    assert objective(graph, y, found.to_dense(), 0.2, 0.1) == pytest.approx(least, rel=1e-5)
    assert np.allclose(found.to_dense(), x.value, atol=2e-3)


def test_much_weight_leaves_the_mean_of_each_component():
    graph = SMALL["two cliques"]
    y = np.arange(9.0)
    x = fused_lasso(matrix(graph), y, 100.0, tol=1e-9)[0].to_dense()
    assert np.allclose(x, np.r_[np.full(4, 1.5), np.full(5, 6.0)], atol=1e-3)


def test_no_weight_changes_nothing_and_the_threshold_is_soft():
    y = [3.0, -2.0, 0.5, -0.5, 1.0, 0.0, 7.0]
    A = matrix(SMALL["no edges"])
    assert fused_lasso(A, y, 0.0)[0].to_dense().tolist() == y
    assert fused_lasso(A, y, 5.0, 1.0)[0].to_dense().tolist() == [2.0, -1.0, 0.0, 0.0, 0.0, 0.0, 6.0]
    assert fused_lasso(matrix(path(5)), np.ones(5), 3.0)[1] == 0.0


def test_planted_regions_come_back():
    graph = path(200)
    truth = np.repeat([0.0, 2.0, -1.0, 1.0], 50)
    y = truth + np.random.default_rng(3).normal(scale=0.2, size=200)
    x = check(graph, y, 1.0, 0.0)
    assert np.abs(x - truth).mean() < 0.1 < np.abs(y - truth).mean()


def test_the_vertices_numbers_do_not_matter():
    graph, rng = kronecker(6, 2), np.random.default_rng(4)
    y, order = rng.normal(size=64), rng.permutation(64)
    x = fused_lasso(matrix(graph), y, 0.3, tol=1e-10)[0].to_dense()
    moved = fused_lasso(matrix(graph[order][:, order].tocsr()), y[order], 0.3, tol=1e-10)[0].to_dense()
    assert np.allclose(moved, x[order], atol=1e-4)


def test_what_does_not_settle_says_how_far_it_came():
    with pytest.raises(ConvergenceFailure, match=r"max_iter = 3 iterations the duality gap is .* of the minimum"):
        fused_lasso(matrix(path(40)), np.arange(40.0), 5.0, max_iter=3)


def test_no_step_runs_on_the_cpu_engine(gpu, monkeypatch):
    """All operations run on the GPU engine: one vector made on the CPU engine would move others there."""
    ran = []
    run = CpuEngine.run
    monkeypatch.setattr(CpuEngine, "run", lambda self, x, *to: (ran.append(x.operation), run(self, x, *to))[1])
    A = matrix(kronecker(5, 2)).to("gpu")
    fused_lasso(A, np.random.default_rng(5).normal(size=32), 0.2, 0.1, 1e-3)
    assert ran == []


def test_engines_agree(gpu):
    graph = kronecker(5, 2)
    y = np.random.default_rng(5).normal(size=32)
    expected, _ = fused_lasso(matrix(graph), y, 0.2, 0.1, 1e-3)
    with gb.config.set(engine="gpu", placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        x, _ = fused_lasso(matrix(graph), y, 0.2, 0.1, 1e-3)
    assert x.isclose(expected, rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lambda1": -1}, InvalidValue, "lambda1 is -1; a finite number >= 0"),
        ({"lambda2": -0.5}, InvalidValue, "lambda2 is -0.5"),
        ({"lambda1": np.inf}, InvalidValue, "lambda1 is inf"),
        ({"lambda1": "much"}, DomainMismatch, "lambda1 is 'much'"),
        ({"tol": 0}, InvalidValue, "tol is 0"),
        ({"max_iter": 0}, InvalidValue, "max_iter is 0"),
        ({"y": [0, np.nan, 0]}, InvalidValue, "y has a value that is NaN or infinite in row 1"),
        ({"y": [0, 1j, 0]}, DomainMismatch, "y has complex values, 1j in row 1; real numbers"),
        ({"y": np.ones(3, complex)}, DomainMismatch, "y has complex values; real numbers"),
        ({"y": gb.Vector(complex, 3)}, DomainMismatch, "y is of FC64; real values"),
        ({"y": [0, 1]}, DimensionMismatch, "y has 2 numbers; one for each of 3 vertices"),
        ({"y": [[0, 1, 2]]}, DimensionMismatch, "y has 2 dimensions"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        fused_lasso(matrix(path(3)), **{"y": [0, 1, 2], "lambda1": 1.0} | options)


def test_regions_prove_their_gap_long_before_the_steps_settle():
    side = 40
    number = np.arange(side * side).reshape(side, side)
    i = np.r_[number[:, :-1].ravel(), number[:-1].ravel()]
    j = np.r_[number[:, 1:].ravel(), number[1:].ravel()]
    rng = np.random.default_rng(6)
    y = np.where(np.add.outer(np.arange(side), np.arange(side)) < side, 0.2, 0.8).ravel() + rng.normal(0, 0.1, side**2)
    A = gb.Matrix.from_coo(i, j, 1, nrows=side**2, ncols=side**2)
    x, gap = fused_lasso(A, y, 0.1, 0.1, max_iter=160)  # y - B'u as x would need more than 400 steps
    x = x.to_dense()
    value = ((x - y) ** 2).sum() / 2 + 0.1 * np.abs(x[i] - x[j]).sum() + 0.1 * np.abs(x).sum()
    assert gap <= 1e-6 * value
    better, exact = fused_lasso(A, y, 0.1, 0.1, 1e-9)
    better = better.to_dense()
    least = ((better - y) ** 2).sum() / 2 + 0.1 * np.abs(better[i] - better[j]).sum() + 0.1 * np.abs(better).sum()
    assert least - exact <= value <= least + gap
