"""gb.applications.collaborative_filtering: rounds in NumPy, rows by ``lstsq``, planted factors."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

import sparsezc as gb
from sparsezc.exceptions import ConvergenceFailure, DomainMismatch, InvalidValue, OutOfMemory

filtering = gb.applications.collaborative_filtering


def ratings(m=20, n=12, density=0.3, seed=1):
    stars = np.random.default_rng(seed)
    sampled = random_array(
        (m, n), density=density, rng=seed, data_sampler=lambda size: stars.integers(1, 6, size) + 0.0
    )
    return csr_array(sampled)


def loss_of(R, U, V, penalty):
    i, j = R.nonzero()
    e = R.data - (U[i] * V[j]).sum(axis=1)
    return ((e**2).sum() + penalty * ((U**2).sum() + (V**2).sum())) / 2


def rounds_by_loops(R, U, V, rounds, penalty, rate):
    i, j = R.nonzero()
    for _ in range(rounds):
        dU, dV = np.zeros_like(U), np.zeros_like(V)
        for u, v, r in zip(i, j, R.data, strict=True):
            e = r - U[u] @ V[v]
            dU[u] += e * V[v]
            dV[v] += e * U[u]
        U, V = U + rate * (dU - penalty * U), V + rate * (dV - penalty * V)
    return U, V


def dense(*parts):
    return [part.to_dense(0.0) for part in parts]


@given(st.integers(0, 999), st.integers(1, 4))
def test_descent_is_luxs_update(seed, rounds):
    R = ratings(seed=seed)
    A = gb.io.from_scipy_sparse(R)
    rate = 1e-3
    # random start factors are unknown, so rounds are judged from those after the first call
    U, V, loss = filtering(A, 3, rounds=rounds, penalty=0.1, rate=rate, seed=seed)
    longer = filtering(A, 3, rounds=rounds + 2, penalty=0.1, rate=rate, seed=seed)
    u, v = rounds_by_loops(R, *dense(U, V), 2, 0.1, rate)
    assert np.allclose(longer[0].to_dense(0.0), u)
    assert np.allclose(longer[1].to_dense(0.0), v)
    assert loss[-1] == pytest.approx(loss_of(R, *dense(U, V), 0.1))
    assert np.allclose(longer[2][: rounds + 1], loss)


def test_descent_descends_at_its_own_rate():
    loss = filtering(gb.io.from_scipy_sparse(ratings(200, 100, 0.2)), 5, rounds=40, seed=2)[2]
    assert (np.diff(loss) < 0).all()


def test_each_row_of_least_squares_is_lstsqs():
    R, penalty, k = ratings(seed=4), 0.3, 4
    A = gb.io.from_scipy_sparse(R)
    U, V, loss = filtering(A, k, "als", 3, penalty=penalty, seed=4)
    u, v = dense(U, V)
    for j in range(R.shape[1]):  # a round fits V after U
        column = R[:, [j]].toarray().ravel()
        who = np.flatnonzero(column)
        left = np.r_[u[who], np.sqrt(penalty) * np.eye(k)]
        expected = np.linalg.lstsq(left, np.r_[column[who], np.zeros(k)], rcond=None)[0]
        assert np.allclose(v[j], expected)
    assert loss[-1] == pytest.approx(loss_of(R, u, v, penalty))
    assert (np.diff(loss) <= 1e-9).all()


@pytest.mark.parametrize(("solver", "rounds"), [("als", 60), ("gd", 800)])
def test_planted_factors_are_found(solver, rounds):
    """Factors of rank 2 are recovered from 30% of the ratings."""
    rng = np.random.default_rng(5)
    m, n = (60, 40)
    truth = rng.uniform(0.5, 2, (m, 2)) @ rng.uniform(0.5, 2, (2, n))
    seen = rng.random((m, n)) < 0.3
    i, j = np.nonzero(seen)
    R = gb.Matrix.from_coo(i, j, truth[i, j], nrows=m, ncols=n)
    U, V, loss = filtering(R, 2, solver, rounds, penalty=1e-6, seed=6)
    off = (U.to_dense(0.0) @ V.to_dense(0.0).T - truth)[~seen]
    assert np.sqrt((off**2).mean()) < 0.15 * truth.std()
    assert loss[-1] < 0.01 * loss[0]


def test_what_has_no_ratings_has_no_factors():
    R = gb.Matrix.from_coo([0, 2], [1, 3], [4, -2], nrows=4, ncols=5)
    for solver in ("gd", "als"):
        U, V, _ = filtering(R, 3, solver, 2, seed=1)
        assert sorted(set(U.to_coo()[0].tolist())) == [0, 2]
        assert sorted(set(V.to_coo()[0].tolist())) == [1, 3]


def test_a_seed_is_an_answer():
    A = gb.io.from_scipy_sparse(ratings())
    one, two, other = (filtering(A, 4, seed=seed)[0] for seed in (7, 7, 8))
    assert one.isequal(two)
    assert not one.isclose(other)


def test_products_are_formed_at_ratings_alone(monkeypatch):
    """The m x n product of full factors is never formed whole, but at the ratings' positions."""

    def refuse(expression):
        raise AssertionError(f"{expression.shape} is formed whole")

    monkeypatch.setattr("sparsezc.engines.cpu.cpu_engine.matmul", refuse)
    filtering(gb.io.from_scipy_sparse(ratings(200, 100, 0.3)), 5, rounds=2, seed=3)


@pytest.mark.parametrize("solver", ["gd", "als"])
def test_engines_agree(solver, gpu):
    A = gb.io.from_scipy_sparse(ratings())
    expected = filtering(A, 3, solver, 2, seed=9)
    with gb.config.set(engine="gpu", placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = filtering(A.to("gpu"), 3, solver, 2, seed=9)
    assert found[0].isclose(expected[0], rel_tol=1e-9)
    assert found[1].isclose(expected[1], rel_tol=1e-9)
    assert np.allclose(found[2], expected[2])


def test_overshooting_says_where():
    with pytest.raises(ConvergenceFailure, match=r"in round \d+ of 50 the loss is .*; a rate below rate = 10 "):
        filtering(gb.io.from_scipy_sparse(ratings()), 3, rounds=50, rate=10.0, seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"solver": "sgd"}, "solver is 'sgd'; one of gd, als"),
        ({"rounds": 0}, "rounds is 0"),
        ({"penalty": -1}, "penalty is -1"),
        ({"penalty": 0, "solver": "als"}, "penalty, of solver 'als', is 0; a finite number > 0"),
        ({"rate": 0}, "rate is 0"),
        ({"R": gb.Matrix.from_coo([0, 2], [0, 1], [1, np.inf])}, "NaN or infinite, first inf in row 2, column 1;"),
        ({"R": gb.Matrix.from_coo([0], [3], [np.nan])}, "NaN or infinite, first nan in row 0, column 3; finite"),
        ({"R": gb.Matrix.from_coo([0], [0], [1e200])}, r"R has ratings up to 1e\+200, whose squares"),
        ({"seed": -1}, "collaborative_filtering: seed is -1"),
        ({"R": gb.Matrix(float, 2, 3)}, "R is 2 x 3 without entries"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InvalidValue, match=message):
        filtering(**{"R": gb.Matrix.from_coo([0], [0], [1.0])} | options)


def test_a_penalty_that_is_lost():
    with pytest.raises(InvalidValue, match=r"penalty is 0\.001, which FP64 loses"):
        filtering(gb.Matrix.from_dense(np.full((3, 3), 1e120)), 5, "als", seed=1)


def test_complex_ratings_and_seeds_that_are_no_integers():
    with pytest.raises(DomainMismatch, match="R is of FC64; real values"):
        filtering(gb.Matrix.from_coo([0], [0], [1j]))
    with pytest.raises(TypeError, match="collaborative_filtering: seed is 'a' of type str; an integer"):
        filtering(gb.Matrix.from_coo([0], [0], [1.0]), seed="a")


@pytest.mark.parametrize("solver", ["gd", "als"])
def test_factors_beyond_memory_say_their_size(solver):
    message = r"collaborative_filtering: k = 1,000,000,000 factors of 20 and of 12 needs [\d,]{15,} bytes"
    with pytest.raises(OutOfMemory, match=message):
        filtering(gb.io.from_scipy_sparse(ratings()), 10**9, solver)


def test_what_is_no_matrix():
    with pytest.raises(DomainMismatch, match="R is a list"):
        filtering([[1.0]])
