"""A matrix and its transpose, each times a panel, in one launch: equal to one product after another by SuiteSparse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.gpu.elementwise import panel
from tests.gpu.placements.test_placement_grid import KINDS, PLACEMENTS, N, panel_operands, placed
from tests.gpu.placements.test_sddmm import full
from tests.ops.judge import make

WEIGHTS = [
    (2, [(gb.binary.min, 9.0), (gb.select.valuegt, 2), gb.unary.sqrt]),
    (3, [gb.binary.minus, (gb.select.offdiag, 0), (gb.binary.pow, 2.0)]),
]
SEMIRINGS = [("plus_times", "FP64"), ("min_plus", "INT32"), ("max_first", "FP32"), ("plus_second", "INT64")]
SEMIRINGS += [("lor_land", "BOOL"), ("plus_times", "FC64"), ("max_rminus", "FP64")]
Lay = Callable[[str, str, Any], Any]


@pytest.fixture
def lay(gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lay:
    """Return a function that places a matrix; small matrices count as panels."""
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(panel, "fits", lambda *_: True)
    return lambda placement, kind, x: placed(placement, tmp_path, KINDS[kind]).put(x)


def pattern(m: int = N) -> gb.Matrix:
    """Return a matrix of N columns with a long row, empty rows and empty columns."""
    A = make(gb, panel_operands(0, "INT64", 1, "A X")["A"])
    rows, columns, values = A.to_coo()
    kept = (rows % 9 != 4) & (columns % 7 != 3) & (rows < m)
    return gb.Matrix.from_coo(rows[kept], columns[kept], values[kept] % 5, "INT64", nrows=m, ncols=N)


def sampled_by_statements(A: gb.Matrix, X: gb.Matrix, op: str, then: str) -> gb.Matrix:
    """Return the result by statements: first W, then its products with both halves of X."""
    m = A.nrows
    U, V = X[:m, :].new(), X[m:, :].new()
    W = U.mxm(V.T, op).new(mask=A.S)
    top, bottom = W.mxm(V, then).new(), W.T.mxm(U, then).new()
    C = gb.Matrix(top.dtype, *X.shape)
    C[:m, :], C[m:, :] = top, bottom
    return C


def weighed_by_statements(A: gb.Matrix, X: gb.Matrix) -> gb.Matrix:
    """Return the product with WEIGHTS, computed one statement after another."""
    m = A.nrows
    U, V = X[:m, :].new(), X[m:, :].new()
    W = U.mxm(V.T).new(mask=A.S)
    first = W.apply(gb.binary.min, right=9.0).new().select(">", 2).new().apply("sqrt").new()
    then = A.ewise_mult(W, "minus").new().select("offdiag").new()
    then = then.ewise_mult(then, "times").new()
    C = gb.Matrix("FP64", *X.shape)
    for some, E in ((slice(0, 2), first), (slice(2, 3), then)):
        C[:m, some] << E.mxm(V[:, some].new())
        C[m:, some] << E.T.mxm(U[:, some].new())
    return C


def valued_by_statements(A: gb.Matrix, values: gb.Matrix, X: gb.Matrix, op: Any) -> gb.Matrix:
    """Return for each column of values the products of that matrix and its transpose with two columns of X."""
    k = values.ncols
    found = []
    for c in range(k):
        W = ops.with_values(A, values[:, c].new()).new()
        found.append((c, W.mxv(X[:, k + c].new(), op).new()))
        found.append((k + c, W.T.mxv(X[:, c].new(), op).new()))
    C = gb.Matrix(found[0][1].dtype, *X.shape)
    for column, v in found:
        C[:, column] << v
    return C


def native(expression: Any, **options: Any) -> gb.Matrix:
    """Return a result computed without a fallback to the CPU engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        return expression.new(**options)


@pytest.mark.parametrize("kind", ["plain", "wide ids", "a row a warp"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_in_every_placement(placement: str, kind: str, lay: Lay) -> None:
    if kind != "plain" and placement != "zerocopy":
        pytest.skip("the width of ids and the placement are met apart")
    rng = np.random.default_rng(0)
    A = pattern()
    B = lay(placement, kind, A)
    X, mask = full(rng, 2 * N, 3, "FP64"), full(rng, 2 * N, 3, "INT8").select(">", 2).new()
    x, expected = X.to("gpu"), weighed_by_statements(A, X)
    with KINDS[kind].settings():
        made = native(ops.two_way_sampled_mxm(B, x, "plus_times", "plus_times", WEIGHTS))
        some = native(ops.two_way_sampled_mxm(B, x, "plus_times", "plus_times", WEIGHTS), mask=mask.to("gpu").S)
    assert made._store.is_panel
    assert made.isclose(expected)
    assert some.isclose(expected.select(mask.S).new())
    values, X = full(rng, A.nvals, 3, "FP64"), full(rng, N, 6, "FP64")
    with KINDS[kind].settings():
        made = native(ops.two_way_mxm(B, values.to("gpu"), X.to("gpu"), "max_plus"))
    assert made._store.is_panel
    assert made.isequal(valued_by_statements(A, values, X, "max_plus"))
    assert B._store.in_stored_order()[1] is None  # no transpose was built


@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS)
def test_semirings_types_and_widths(semiring: str, dtype: str, lay: Lay) -> None:
    rng = np.random.default_rng(0)
    A = pattern(30)
    S = pattern()
    B, C = A.to("gpu"), S.to("gpu", placement="zerocopy")
    for width in (1, 5, 33) if (semiring, dtype) == ("plus_times", "FP64") else (5,):
        X = full(rng, 30 + N, width, dtype)
        made = native(ops.two_way_sampled_mxm(B, X.to("gpu"), semiring, semiring))
        assert made.isequal(sampled_by_statements(A, X, semiring, semiring), check_dtype=True)
        assert ops.two_way_sampled_mxm(A, X, semiring, semiring).new().isequal(made)
        values, X = full(rng, S.nvals, width, dtype), full(rng, N, 2 * width, dtype)
        made = native(ops.two_way_mxm(C, values.to("gpu"), X.to("gpu"), semiring))
        assert made.isequal(valued_by_statements(S, values, X, semiring), check_dtype=True)
        assert ops.two_way_mxm(S, values, X, semiring).new().isequal(made, check_dtype=True)
    assert B._store.in_stored_order()[1] is None


def test_turned_mixed_and_accumulated(lay: Lay) -> None:
    rng = np.random.default_rng(0)
    A = pattern(30)
    X, C = full(rng, 30 + N, 4, "FP32"), full(rng, 30 + N, 4, "FP64")
    T = A.T.new()
    expected = C.dup()
    expected(gb.binary.plus) << sampled_by_statements(T, X, "min_plus", "plus_first")
    for ours in (A.to("gpu").T, A.T, T):
        c = C.to("gpu") if ours is not T else C
        c(gb.binary.plus) << ops.two_way_sampled_mxm(ours, X, "min_plus", "plus_first")
        assert c.isclose(expected)
    S = pattern()
    values, X = full(rng, S.nvals, 2, "INT8"), full(rng, N, 4, "FP64")
    expected = valued_by_statements(S.T.new(), values, X, "plus_times")
    for ours in (S.to("gpu").T, S.T):
        assert ops.two_way_mxm(ours, values, X, "plus_times").new().isclose(expected)


@pytest.mark.parametrize("monoid", ["plus", "min", "max"])
@pytest.mark.parametrize("multiply", ["plus", "minus", "rminus", "times", "first", "second"])
def test_loops_of_the_cpu_engine(monoid: str, multiply: str) -> None:
    rng = np.random.default_rng(0)
    A, semiring = pattern(), f"{monoid}_{multiply}"
    values, X = full(rng, A.nvals, 3, "FP64"), full(rng, N, 6, "FP64")
    if monoid != "plus":
        values[::40, 0] << np.nan  # min and max prefer a number to NaN
    made = ops.two_way_mxm(A, values, X, semiring).new()
    expected = valued_by_statements(A, values, X, semiring)
    assert np.array_equal(made.to_dense(-1.0), expected.to_dense(-1.0), equal_nan=True)
    assert made.nvals == expected.nvals


def test_small_empty_and_incomplete_operands(gpu: Any) -> None:
    """Matrices that are no panels run on the same kernel; those with absent entries run on the CPU engine."""
    rng = np.random.default_rng(0)
    A = gb.Matrix.from_coo(rng.permutation(20)[:12] % 5, np.arange(12) % 6, np.arange(12), "INT8", nrows=5, ncols=6)
    X = full(rng, 11, 3, "FP64")
    found = native(ops.two_way_sampled_mxm(A.to("gpu"), X.to("gpu"), "plus_times", "plus_times", WEIGHTS))
    assert found.isclose(weighed_by_statements(A, X))
    holes = X.select(">", 1).new()
    expected = sampled_by_statements(A, holes, "plus_times", "plus_times")
    for engine in ("cpu", "gpu"):
        a, x = (M.to(engine) for M in (A, holes))
        with gb.config.set(fallback="silent"):
            assert ops.two_way_sampled_mxm(a, x, "plus_times", "plus_times").new().isequal(expected)
        empty = gb.Matrix("INT8", 5, 6).to(engine)
        assert ops.two_way_sampled_mxm(empty, X.to(engine), "plus_times", "plus_times").new().nvals == 0
        none = gb.Matrix("INT8", 4, 4).to(engine)
        given = gb.Matrix("FP64", 0, 2).to(engine), full(rng, 4, 4, "FP64").to(engine)
        assert ops.two_way_mxm(none, *given, "max_plus").new().nvals == 0


def test_entries_are_read_once_in_whole_lines(counting: Any) -> None:
    """A descent's round in both directions reads 5 bytes a rating."""
    graph = gb.io.read("kron:8")
    A = gb.Matrix.from_csr(*graph.to_csr()[:2], np.arange(graph.nvals) % 5, "INT8", ncols=256)
    A = A.to("gpu", placement="zerocopy")
    X = full(np.random.default_rng(0), 512, 4, "FP64").to("gpu")
    errors = [(3, [gb.binary.minus]), (4, [gb.binary.minus, (gb.binary.pow, 2.0)])]
    counting.reset()
    ops.two_way_sampled_mxm(A, X, "plus_times", "plus_times", errors).new()
    assert counting.total(0).useful_bytes == 4 * A.nvals
    assert counting.total(1).useful_bytes == A.nvals
    assert counting.total(0).count <= 1.2 * A.nvals * 4 / 128


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    A, S = gb.Matrix.from_coo([0], [1], 1, nrows=5, ncols=6), gb.Matrix.from_coo([0, 1], [1, 2], 1, nrows=4, ncols=4)
    values, X = full(rng, 2, 3, "FP64"), full(rng, 4, 6, "FP64")
    wrong = gb.exceptions.DimensionMismatch
    for given, error, said in (
        ((A, values, X), wrong, r"A, .* must be square"),
        ((S, X, X), wrong, r"values, .* must have 2 rows, one for each entry of A"),
        ((S, values, values), wrong, r"X, .* must be 4 x 6"),
        ((S, values.select(">", 99).new(), X), gb.exceptions.InvalidValue, r"has 0 entries; all are needed"),
    ):
        with pytest.raises(error, match=said):
            ops.two_way_mxm(*given, "max_plus")
    with pytest.raises(gb.exceptions.DomainMismatch, match="plus_secondi multiplies positions; one of values"):
        ops.two_way_mxm(S, values, X, "plus_secondi")
    with pytest.raises(wrong, match=r"X, .* must have 5 \+ 6 rows"):
        ops.two_way_sampled_mxm(A, X, "plus_times", "plus_times")
    with pytest.raises(wrong, match="weights must end with the 3 columns"):
        ops.two_way_sampled_mxm(A, full(rng, 11, 3, "FP64"), "plus_times", "plus_times", [(2, [])])
