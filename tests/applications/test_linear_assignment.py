"""gb.applications.linear_assignment, against SciPy's dense solver."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

assign = gb.applications.linear_assignment
methods = pytest.mark.parametrize("method", ["exact", "auction"])


def check(C, maximize, method, allowed=None, absent=None, eps=None):
    """Check that the answer is an assignment as good as SciPy's; entries that are not `allowed` cost `absent`."""
    allowed = np.ones(C.shape, bool) if allowed is None else allowed
    i, j = np.nonzero(allowed)
    A = gb.Matrix.from_coo(i, j, C[i, j], C.dtype, nrows=C.shape[0], ncols=C.shape[1])
    found = assign(A, maximize=maximize, method=method, absent=absent, eps=eps).to_dense()
    assert np.unique(found).size == C.shape[0]
    full = C if absent is None else np.where(allowed, C, absent)
    best = full[linear_sum_assignment(full, maximize=maximize)].sum()
    total = full[np.arange(C.shape[0]), found].sum()
    if absent is None:
        assert allowed[np.arange(C.shape[0]), found].all()
    slack = 1e-9 if method == "exact" or C.dtype.kind == "i" else C.shape[0] * 1e-3 * (np.ptp(full) or 1)
    assert abs(total - best) <= slack


@methods
@given(st.data())
def test_any_integers(method, data):
    m = data.draw(st.integers(1, 8))
    n = m + data.draw(st.integers(0, 3))
    C = np.random.default_rng(data.draw(st.integers(0, 999))).integers(-5, 9, (m, n))
    check(C, data.draw(st.booleans()), method)


@methods
@given(st.integers(0, 999), st.booleans())
def test_fractions(method, seed, maximize):
    check(np.random.default_rng(seed).normal(size=(7, 9)), maximize, method)


@methods
@given(st.integers(0, 999), st.booleans())
def test_what_is_absent_costs_what_is_said(method, seed, maximize):
    rng = np.random.default_rng(seed)
    C = rng.integers(1, 9, (7, 8))
    check(C, maximize, method, rng.random(C.shape) < 0.3, absent=0 if maximize else 9)


@methods
def test_sparse_with_a_hidden_assignment(method):
    rng = np.random.default_rng(3)
    n = 300
    order = rng.permutation(n)
    i, j = np.r_[np.arange(n), rng.integers(0, n, 2000)], np.r_[order, rng.integers(0, n, 2000)]
    C = gb.Matrix.from_coo(i, j, np.r_[np.zeros(n, int), rng.integers(1, 9, 2000)], nrows=n, ncols=n, dup_op="min")
    assert np.array_equal(assign(C, method=method).to_dense(), order)


@pytest.mark.parametrize("scale", [1e-300, 1e-17, 1e17, 1e300])
@pytest.mark.parametrize("maximize", [False, True])
def test_any_scale(scale, maximize):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(20):
            C = np.random.default_rng(seed).integers(-5, 9, (6, 7)) * scale
            found = assign(gb.Matrix.from_dense(C), maximize=maximize).to_dense()
            best = (C / scale)[linear_sum_assignment(C / scale, maximize=maximize)].sum()
            assert (C / scale)[np.arange(6), found].sum() == pytest.approx(best, rel=1e-12)


def test_a_large_value_hides_no_other_rows_differences():
    C = gb.Matrix.from_dense(np.array([[1e17, 1, 2], [1, 9, 5], [1, 5, 9.0]]))
    assert assign(C, maximize=True).to_dense().tolist() == [0, 1, 2]
    C = gb.Matrix.from_dense(np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2]]))
    assert assign(C, absent=10**20).to_dense().tolist() == [1, 0, 2]


@pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
def test_integers_are_exact_or_refused(dtype):
    held = gb.Matrix.from_dense(np.array([[2**60, 2**53], [2**53 - 1, 3 * 2**60]], dtype.lower()))
    assert assign(held, maximize=True).to_dense().tolist() == [0, 1]
    with pytest.raises(InvalidValue, match="C has the value 9007199254740993, which FP64 does not hold"):
        assign(gb.Matrix.from_dense(np.array([[1, 2**53 + 1]], dtype.lower())))


def test_an_auction_of_large_values_ends():
    C = 2**52 + np.random.default_rng(6).integers(0, 20, (12, 12))
    check(C, False, "auction")
    wide = gb.Matrix.from_dense(np.array([[0, 1], [1, 2**53]]))
    assert assign(wide, method="auction").to_dense().tolist() == [1, 0]
    with pytest.raises(InvalidValue, match=r"eps is 0\.1; at least \d+ is needed"):
        assign(wide, method="auction", eps=0.1)


def test_the_least_integer_is_exact():
    assert assign(gb.Matrix.from_dense(np.array([[0, -(2**63)]]))).to_dense().tolist() == [1]


def test_the_least_bid_bounds_what_is_lost():
    C = np.random.default_rng(4).integers(0, 50, (20, 20))
    found = assign(gb.Matrix.from_dense(C), method="auction", eps=0.4).to_dense()
    best = C[linear_sum_assignment(C)].sum()
    assert C[np.arange(20), found].sum() <= best + 20 * 0.4


def test_engines_agree(gpu):
    C = gb.Matrix.from_dense(np.random.default_rng(5).integers(0, 99, (8, 9)))
    expected = assign(C)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        assert assign(C.to("gpu")).isequal(expected)
        found = assign(C.to("gpu"), method="auction").to_dense()
    full = C.to_dense()
    assert full[np.arange(8), found].sum() == full[np.arange(8), expected.to_dense()].sum()


HALL = gb.Matrix.from_coo([0, 1, 2], [0, 0, 1], [1, 1, 1], nrows=3, ncols=3)


@methods
def test_no_assignment(method):
    with pytest.raises(InvalidValue, match="no assignment of all rows"):
        assign(HALL, method=method)
    assert sorted(assign(HALL, method=method, absent=5).to_dense().tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("C", "options", "error", "message"),
    [
        ([[1]], {}, DomainMismatch, "C is a list"),
        (gb.Matrix(float, 3, 2), {}, DimensionMismatch, "C is 3 x 2; at least as many columns"),
        (gb.Matrix.from_dense([[np.nan]]), {}, InvalidValue, "NaN or infinite, first nan in row 0, column 0;"),
        (gb.Matrix.from_dense([[np.inf]]), {}, InvalidValue, "NaN or infinite, first inf in row 0, column 0;"),
        (HALL, {"method": "simplex"}, InvalidValue, "method is 'simplex'"),
        (HALL, {"eps": 0}, InvalidValue, "eps is 0"),
        (HALL, {"absent": np.inf}, InvalidValue, "absent is inf; a finite number"),
        (gb.Matrix(complex, 2, 2), {}, DomainMismatch, "C is of FC64; real values"),
        (HALL, {"absent": 0}, InvalidValue, "absent is 0, and C has a value that is worse"),
    ],
)
def test_bad_input(C, options, error, message):
    with pytest.raises(error, match=message):
        assign(C, **options)


@pytest.mark.parametrize("eps", [None, 1e303])
def test_an_auction_of_huge_costs(eps: float | None) -> None:
    """Costs near FP64's limit are assigned, though an auction's unscaled prices would overflow."""
    cost = np.array([[1e308, 1e307, 1e306], [9e307, 1e308, 5e307], [-1e308, 1e308, 1e300]])
    rows, columns = np.indices(cost.shape)
    C = gb.Matrix.from_coo(rows.ravel(), columns.ravel(), cost.ravel())
    found = gb.applications.linear_assignment(C, method="auction", eps=eps).to_dense()
    assert found.tolist() == linear_sum_assignment(cost / 4)[1].tolist()
    with pytest.raises(InvalidValue, match=r"eps is 1e\+280; at least"):
        gb.applications.linear_assignment(C, method="auction", eps=1e280)
