"""Products of panels: at a matrix's entries, those times the next panel in one launch, and with a small full matrix."""

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
from sparsezc.engines.gpu.products import sddmm
from tests.gpu.placements.test_placement_grid import KINDS, PLACEMENTS, N, panel_operands, placed
from tests.ops.judge import make

SEMIRINGS = [("plus_times", "FP64"), ("min_plus", "INT32"), ("plus_secondj", "INT64"), ("max_first", "FP32")]
SEMIRINGS += [("lor_land", "BOOL"), ("plus_times", "FC64")]
Lay = Callable[[str, str, Any], Any]


@pytest.fixture
def lay(gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lay:
    """Return a function that places a matrix; small matrices count as panels."""
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(panel, "fits", lambda *_: True)
    return lambda placement, kind, x: placed(placement, tmp_path, KINDS[kind]).put(x)


def full(rng: Any, nrows: int, ncols: int, dtype: str) -> gb.Matrix:
    values = rng.integers(0, 5, (nrows, ncols))
    return gb.Matrix.from_coo(*np.indices(values.shape).reshape(2, -1), values.ravel(), dtype, nrows=nrows, ncols=ncols)


@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS)
@pytest.mark.parametrize("kind", ["plain", "wide ids"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_at_the_entries_of_a_matrix(placement: str, kind: str, semiring: str, dtype: str, lay: Lay) -> None:
    in_place = placement in ("device", "zerocopy")
    if kind != "plain" and not (in_place and semiring == "plus_times"):
        pytest.skip("the width of ids and the placement are met apart")
    if not in_place and (PLACEMENTS.index(placement) + SEMIRINGS.index((semiring, dtype))) % 2:
        pytest.skip("each of the other placements is met by every second semiring")
    rng = np.random.default_rng(0)
    A = make(gb, panel_operands(0, "INT64", 1, "A X")["A"])
    B = lay(placement, kind, A)
    for width in (1, 5, 33) if in_place else (5,):
        X, Y, Z = (full(rng, N, k, dtype) for k in (width, width, 3))
        x, y, z = (M.to("gpu") for M in (X, Y, Z))
        expected = X.mxm(Y.T, semiring).new(mask=A.S)
        made = x.mxm(y.T, semiring).new(mask=B.S)
        assert made.nvals == A.nvals
        assert made.isequal(expected)
        held = B._store.rows
        assert made._store.rows.indptr is held.indptr
        W = gb.Matrix(expected.dtype, N, N).to("gpu")
        W(B.S) << y.mxm(x.T, semiring)
        assert W.isequal(Y.mxm(X.T, semiring).new(mask=A.S))
        then = "max_second" if dtype != "FC64" else "plus_times"
        fused = ops.sampled_mxm(B, x, y, z, semiring, then).new()
        assert fused._store.is_panel
        assert fused.isequal(expected.mxm(Z, then).new())


def test_of_two_shapes_and_of_turned_operands(lay: Lay) -> None:
    rng = np.random.default_rng(0)
    A = gb.Matrix.from_coo([0, 0, 3, 69], [5, 79, 0, 41], 1, nrows=70, ncols=80)
    X, Y = full(rng, 70, 4, "FP64"), full(rng, 4, 80, "FP64")
    expected = X.mxm(Y).new(mask=A.S)
    B, x, y = (M.to("gpu") for M in (A, X, Y))
    xt, yt = (M.T.new().to("gpu") for M in (X, Y))
    for left in (x, xt.T):
        for right in (y, yt.T):
            made = left.mxm(right).new(mask=B.S)
            assert made.isequal(expected)
            assert sddmm.sides(gb.semiring.plus_times["FP64"], left, right) is not None
    C = full(rng, 70, 80, "FP64")
    c, D = C.to("gpu"), C.dup()
    c(B.S, gb.binary.plus) << x.mxm(y)
    D(A.S, gb.binary.plus) << X.mxm(Y)
    assert c.isequal(D)


def test_what_is_no_full_panel_is_multiplied_as_ever(lay: Lay) -> None:
    rng = np.random.default_rng(0)
    A = make(gb, panel_operands(0, "INT64", 1, "A X")["A"])
    X, Y, Z = (full(rng, N, 4, "INT64") for _ in range(3))
    X = X.select(">", 1).new()
    B, x, y, z = (M.to("gpu") for M in (A, X, Y, Z))
    assert sddmm.sides(gb.semiring.plus_times["INT64"], x, y.T) is None
    assert x.mxm(y.T).new(mask=B.S).isequal(X.mxm(Y.T).new(mask=A.S))
    assert y.mxm(z.T).new(mask=B.V).isequal(Y.mxm(Z.T).new(mask=A.V))
    assert y.mxm(z.T).new(mask=~B.S).isequal(Y.mxm(Z.T).new(mask=~A.S))
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        made = ops.sampled_mxm(B, x, y, z, "plus_times", "plus_times").new()
    assert made.isequal(X.mxm(Y.T).new(mask=A.S).mxm(Z).new())


WEIGHTS = [
    (2, [(gb.binary.min, 9.0), (gb.select.valuegt, 2), gb.unary.sqrt, gb.unary.minv]),
    (3, [gb.binary.minus, (gb.select.offdiag, 0), (gb.binary.times, 3.0)]),
]


def by_statements(A: gb.Matrix, X: gb.Matrix, Y: gb.Matrix, Z: gb.Matrix) -> gb.Matrix:
    """Return the product with WEIGHTS, computed one statement after another."""
    W = X.mxm(Y.T).new(mask=A.S)
    first = W.apply(gb.binary.min, right=9.0).new().select(">", 2).new().apply("sqrt").new().apply("minv").new()
    then = A.ewise_mult(W, "minus").new().select("offdiag").new().apply("times", right=3.0).new()
    C = gb.Matrix("FP64", A.nrows, Z.ncols)
    C[:, :2] << first.mxm(Z[:, :2].new())
    C[:, 2:] << then.mxm(Z[:, 2:].new())
    return C


@pytest.mark.parametrize("kind", ["plain", "wide ids"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_weights_and_both_directions(placement: str, kind: str, lay: Lay) -> None:
    if kind != "plain" and placement != "zerocopy":
        pytest.skip("the width of ids and the placement are met apart")
    rng = np.random.default_rng(0)
    A = make(gb, panel_operands(0, "INT64", 1, "A X")["A"])
    B = lay(placement, kind, A)
    X, Y, Z = (full(rng, N, k, "FP64") for k in (3, 3, 3))
    x, y, z = (M.to("gpu") for M in (X, Y, Z))
    mask = Z.select(">", 1).new()
    for ours, here in ((A, B), (A.T, B.T)):
        made = ops.sampled_mxm(here, x, y, z, "plus_times", "plus_times", WEIGHTS).new()
        expected = by_statements(ours if ours is A else A.T.new(), X, Y, Z)
        assert made._store.is_panel
        assert made.isclose(expected)
        assert ops.sampled_mxm(ours, X, Y, Z, "plus_times", "plus_times", WEIGHTS).new().isclose(expected)
        some = ops.sampled_mxm(here, x, y, z, "plus_times", "plus_times", WEIGHTS).new(mask=mask.to("gpu").S)
        assert some.isclose(expected.select(mask.S).new())
    assert B._store.in_stored_order()[1] is None  # no transpose was built
    integers = ops.sampled_mxm(B.T, x, y, z, "min_plus", "max_second").new()
    assert integers.isequal(ops.sampled_mxm(A.T, X, Y, Z, "min_plus", "max_second").new())


def test_weights_of_small_matrices(gpu: Any) -> None:
    rng = np.random.default_rng(0)
    A = gb.Matrix.from_coo(rng.permutation(20)[:12] % 5, np.arange(12) % 6, np.arange(12), "INT8", nrows=5, ncols=6)
    X, Y, Z = full(rng, 5, 3, "FP64"), full(rng, 6, 3, "FP64"), full(rng, 6, 3, "FP64")
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        found = ops.sampled_mxm(*(M.to("gpu") for M in (A, X, Y, Z)), "plus_times", "plus_times", WEIGHTS).new()
    assert found.isclose(by_statements(A, X, Y, Z))


def test_ids_are_read_once_in_whole_lines(counting: Any) -> None:
    A = gb.io.read("kron:8").to("gpu", placement="zerocopy")
    rng = np.random.default_rng(0)
    X, Z = (full(rng, A.nrows, k, "FP64").to("gpu") for k in (8, 4))
    X.mxm(full(rng, 8, 8, "FP64").to("gpu")).new()  # the product has made X a panel
    lines = A.nvals * 4 / 128
    counting.reset()
    X.mxm(X.T).new(mask=A.S)
    assert counting.total(1).loads == 0
    assert counting.total(0).useful_bytes == 4 * A.nvals
    assert counting.total(0).count <= lines + 1
    counting.reset()
    ops.sampled_mxm(A, X, X, Z, "plus_times", "plus_times").new()
    assert counting.total(1).loads == 0
    assert counting.total(0).useful_bytes == 4 * A.nvals
    assert counting.total(0).count <= 1.2 * lines


def test_weights_read_values_once_and_masks_skip_rows(counting: Any) -> None:
    """Both directions of a descent's round read 5 bytes a rating, and a mask restricts them to its rows."""
    graph = gb.io.read("kron:8")
    A = gb.Matrix.from_csr(*graph.to_csr()[:2], np.arange(graph.nvals) % 5, "INT8", ncols=256)
    A = A.to("gpu", placement="zerocopy")
    rng = np.random.default_rng(0)
    X, Z = (full(rng, A.nrows, k, "FP64").to("gpu") for k in (8, 4))
    X.mxm(full(rng, 8, 8, "FP64").to("gpu")).new()  # the product has made X a panel
    errors = [(3, [gb.binary.minus]), (4, [gb.binary.minus, (gb.binary.pow, 2.0)])]
    for turned in (A, A.T):
        counting.reset()
        ops.sampled_mxm(turned, X, X, Z, "plus_times", "plus_times", errors).new()
        assert counting.total(0).useful_bytes == 4 * A.nvals
        assert counting.total(1).useful_bytes == A.nvals
        assert counting.total(0).count <= 1.2 * A.nvals * 4 / 128
    rows = gb.Matrix.from_coo(np.repeat(np.arange(0, 256, 2), 4), np.tile(np.arange(4), 128), True, nrows=256, ncols=4)
    wanted = int(np.diff(graph.to_csr()[0].astype(np.int64))[::2].sum())
    counting.reset()
    ops.sampled_mxm(A, X, X, Z, "plus_times", "plus_times").new(mask=rows.to("gpu").S)
    assert counting.total(0).useful_bytes == 4 * wanted


@pytest.mark.parametrize("dtype", ["FP64", "FP32", "FC64", "INT64"])
@pytest.mark.parametrize("across", [False, True])
def test_with_a_small_full_matrix(across: bool, dtype: str, lay: Lay) -> None:
    rng = np.random.default_rng(0)
    X, F = full(rng, 201, 3, dtype), full(rng, 3, 5, dtype)
    M, C = full(rng, 201, 5, "INT8").select(">", 2).new(), full(rng, 201, 5, dtype)
    if across:
        X, F, M, C = (each.T.new() for each in (X, F, M, C))

    def product(x: Any, f: Any) -> Any:
        return f.mxm(x) if across else x.mxm(f)

    x, f, m = (each.to("gpu") for each in (X, F, M))
    small = X.T.new().T, F.T.new().T
    turned = x.T.new().T, f.T.new().T
    for a, b in ((x, f), (turned[0], f), (x, turned[1])):
        made = product(a, b).new()
        assert made._store.is_panel or dtype == "INT64"
        assert made.isequal(product(X, F).new())
    assert product(*turned).new().isequal(product(*small).new())
    for mask, theirs in ((m.S, M.S), (~m.S, ~M.S), (~m.V, ~M.V)):
        for options in ({}, {"replace": True}, {"accum": gb.binary.plus}):
            c, D = C.to("gpu"), C.dup()
            c(mask, **options) << product(x, f)
            D(theirs, **options) << product(X, F)
            assert c.isequal(D)


@pytest.mark.parametrize("dtype", ["FP32", "FP64", "FC64"])
def test_numpy_multiplies_full_matrices_on_the_cpu(dtype: str) -> None:
    rng = np.random.default_rng(0)
    X, F = full(rng, 300, 20, dtype), full(rng, 20, 16, dtype)
    x, f = X.to_dense(), F.to_dense()
    assert np.array_equal(X.mxm(F).new().to_dense(), x @ f)
    assert np.array_equal(X.mxm(X.T).new().to_dense(), x @ x.T)
    assert np.array_equal(X.T.mxm(X).new().to_dense(), x.T @ x)
    X << X.mxm(full(rng, 20, 20, dtype))
    assert X.nvals == 6000
    M = gb.Matrix.from_coo([1, 2], [3, 4], 1, nrows=300, ncols=16)
    made = full(rng, 300, 16, dtype)
    before = made.to_dense()
    made(M.S, gb.binary.plus) << X.mxm(F)
    expected = before.copy()
    expected[[1, 2], [3, 4]] += (X.to_dense() @ f)[[1, 2], [3, 4]]
    assert np.array_equal(made.to_dense(), expected)


def test_bad_shapes(lay: Lay) -> None:
    rng = np.random.default_rng(0)
    A = gb.Matrix.from_coo([0], [1], 1, nrows=5, ncols=6)
    X, Y, Z = full(rng, 5, 2, "FP64"), full(rng, 6, 2, "FP64"), full(rng, 6, 3, "FP64")
    for given, said in (
        ((Y, Y, Z), "X, .* must have 5 rows"),
        ((X, X, Z), "Y, .* must have 6 rows"),
        ((X, Z, Z), "as many columns"),
        ((X, Y, X), "Z, .* must have 6 rows"),
    ):
        with pytest.raises(gb.exceptions.DimensionMismatch, match=said):
            ops.sampled_mxm(A, *given, "plus_times", "plus_times")
    for weights, error, said in (
        ([(2, [])], gb.exceptions.DimensionMismatch, "must end with the 3 columns of Z"),
        ([(2, []), (2, [])], gb.exceptions.DimensionMismatch, r"ascend from 1; they are for \[2, 2\]"),
        ([(2, []), (3, [gb.unary.isnan])], gb.exceptions.DomainMismatch, "weights 0 are of FP64, weights 1 of BOOL"),
        ([(3, ["sqr"])], gb.exceptions.InvalidValue, "sqr"),
    ):
        with pytest.raises(error, match=said):
            ops.sampled_mxm(A, X, Y, Z, "plus_times", "plus_times", weights)
