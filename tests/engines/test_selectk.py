"""ops.selectk: by position and value against NumPy, at random against exact probabilities, and its laws."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import sparsezc as gb
from sparsezc import ops

SURE = 1e-6  # the share of correct programs that fail a test


def a_matrix(seed: int = 0, dtype: str = "INT64", shape: tuple[int, int] = (40, 60)) -> gb.Matrix:
    """Return a matrix whose rows have 0 to 60 entries with many equal values."""
    rng = np.random.default_rng(seed)
    present = rng.random(shape) < rng.random((shape[0], 1))
    i, j = np.nonzero(present)
    return gb.Matrix.from_coo(i, j, rng.integers(0, 9, i.size), dtype, nrows=shape[0], ncols=shape[1])


def row_of(A: gb.Matrix, i: int) -> list[tuple[int, Any]]:
    rows, columns, values = A.to_coo()
    return [(int(j), v.item()) for r, j, v in zip(rows, columns, values, strict=True) if r == i]


ORDERS = {
    "first": lambda entry: entry[0],
    "last": lambda entry: -entry[0],
    "largest": lambda entry: (-entry[1], entry[0]),
    "smallest": lambda entry: (entry[1], entry[0]),
}


@pytest.mark.parametrize("dtype", ["INT64", "UINT8", "FP32", "BOOL"])
@pytest.mark.parametrize("k", [0, 1, 4, 200])
@pytest.mark.parametrize("how", ORDERS)
def test_by_position_or_value(how: str, k: int, dtype: str) -> None:
    A = a_matrix(dtype=dtype)
    rows = [3, 0, 3, 39, 7]
    every, some = ops.selectk(A, how, k).new(), ops.selectk(A, how, k, rows).new()
    assert every.shape == A.shape
    assert (some.shape, some.dtype) == ((5, 60), A.dtype)
    for made, r, i in [(every, i, i) for i in range(40)] + [(some, r, i) for r, i in enumerate(rows)]:
        assert row_of(made, r) == sorted(sorted(row_of(A, i), key=ORDERS[how])[:k])


def test_floats_of_every_kind() -> None:
    """Zeros of both signs are equal, and NaN is last in both orders."""
    values = [np.nan, 0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    A = gb.Matrix.from_coo([0] * 7, range(7), values)
    for how, expected in (("largest", [3, 6, 1, 2, 4, 0, 5]), ("smallest", [4, 1, 2, 6, 3, 0, 5])):
        for k in range(8):
            assert ops.selectk(A, how, k).new().to_coo()[1].tolist() == sorted(expected[:k])


@pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
def test_integers_that_no_float_tells_apart(dtype: str) -> None:
    A = gb.Matrix.from_coo([0, 0, 0], [0, 1, 2], np.array([2**62, 2**62 + 1, 2**62 - 1], dtype.lower()), dtype)
    assert ops.selectk(A, "largest", 1).new().to_coo()[1].tolist() == [1]
    assert ops.selectk(A, "smallest", 1).new().to_coo()[1].tolist() == [2]


def test_of_a_transpose_of_few_rows_among_many_and_of_one_value() -> None:
    A = a_matrix()
    assert ops.selectk(A.T, "largest", 3).new().isequal(ops.selectk(A.T.new(), "largest", 3).new())
    wide = gb.Matrix.from_coo([5, 5, 2**50], [1, 2, 3], [7, 8, 9], nrows=2**55, ncols=2**55)
    assert ops.selectk(wide, "largest", 1).new().to_coo()[1].tolist() == [2, 3]
    assert ops.selectk(wide, "first", 1, [2**50, 6, 5]).new().to_coo()[0].tolist() == [0, 2]
    same = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], 7)
    assert ops.selectk(same, "largest", 1).new().to_coo()[2].tolist() == [7, 7]


def test_the_operand_stays_as_it_was() -> None:
    A = a_matrix(dtype="FP64")
    before = A.dup()
    ops.selectk(A, "random", 3).new()
    with pytest.raises(gb.exceptions.InvalidValue):
        ops.selectk(A.apply("ainv").new(), "random_weighted", 3).new()
    assert A.isequal(before, check_dtype=True)


def test_under_a_mask_with_an_accumulator() -> None:
    A, C = a_matrix(), a_matrix(1)
    expected, S = C.dup(), ops.selectk(A, "largest", 5).new()
    expected(A.V, gb.binary.plus) << S.dup()
    C(A.V, gb.binary.plus) << ops.selectk(A, "largest", 5)
    assert C.isequal(expected)


# Chance


@pytest.mark.parametrize("k", [1, 2, 4])
def test_all_sets_alike(k: int) -> None:
    A = gb.Matrix.from_coo([0] * 5, [1, 2, 4, 7, 9], 1, nrows=1, ncols=10)
    drawn = ops.selectk(A, "random", k, [0] * 20_000, seed=1).new().to_coo()[1].reshape(-1, k)
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.size == len(list(combinations(range(5), k)))
    assert chisquare(counts).pvalue > SURE


def test_many_of_a_long_row_alike() -> None:
    """300 of 400 entries exceed the list that Floyd's algorithm keeps."""
    A = gb.Matrix.from_coo([0] * 400, range(400), 1)
    drawn = ops.selectk(A, "random", 300, [0] * 400, seed=1).new()
    assert drawn.reduce_rowwise("plus").new().to_dense().tolist() == [300] * 400
    counts = np.bincount(drawn.to_coo()[1].astype(int), minlength=400)
    assert chisquare(counts).pvalue > SURE  # variance is a quarter of the chi-squared's: it fails less often


WEIGHTS = np.array([1.0, 2.0, 0.0, 5.0, 0.5])


def test_sets_by_weight() -> None:
    """Entries are drawn one after another, each in proportion to the weights that are left."""
    A = gb.Matrix.from_coo([0] * 5, range(5), WEIGHTS)
    drawn = ops.selectk(A, "random_weighted", 2, [0] * 20_000, seed=2).new().to_coo()[1].reshape(-1, 2)
    chance: dict[tuple[int, int], float] = {}
    for i, j in permutations(np.flatnonzero(WEIGHTS), 2):
        pair = int(min(i, j)), int(max(i, j))
        one_way = WEIGHTS[i] / WEIGHTS.sum() * WEIGHTS[j] / (WEIGHTS.sum() - WEIGHTS[i])
        chance[pair] = chance.get(pair, 0.0) + one_way
    counts = [int((drawn == pair).all(axis=1).sum()) for pair in chance]
    assert sum(counts) == 20_000
    assert chisquare(counts, 20_000 * np.array(list(chance.values()))).pvalue > SURE


@pytest.mark.parametrize("how", ["random", "random_weighted"])
def test_draws_with_replacement_are_counted(how: str) -> None:
    A = gb.Matrix.from_coo([0] * 5, range(5), WEIGHTS)
    made = ops.selectk(A, how, 7, [0] * 3000, replace=True, seed=3).new()
    assert made.dtype == "INT64"
    assert made.reduce_rowwise("plus").new().to_dense().tolist() == [7] * 3000
    counts = made.reduce_columnwise("plus").new().to_dense(fill_value=0)
    if how == "random":
        assert chisquare(counts).pvalue > SURE
    else:
        assert counts[2] == 0
        some = WEIGHTS > 0
        assert chisquare(counts[some], 21_000 * WEIGHTS[some] / WEIGHTS.sum()).pvalue > SURE


def test_weights_far_apart() -> None:
    """A light entry is drawn as seldom as its weight requires, beside a heavy one and in a light row."""
    A = gb.Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [1e300, 1e300 / 3, 1e-300, 3e-300, 0.0])
    made = ops.selectk(A, "random_weighted", 1000, [0, 1, 2], replace=True, seed=1).new()
    found = made.to_dense(fill_value=0)
    assert chisquare(found[0], [750, 250]).pvalue > SURE
    assert chisquare(found[1], [250, 750]).pvalue > SURE
    assert found[2].tolist() == [0, 0]


@pytest.mark.parametrize("options", [{"how": "random"}, {"how": "random_weighted"}, {"how": "random", "replace": True}])
def test_laws(options: dict[str, Any]) -> None:
    """A seed fixes the draw; a row's draw depends on no other row; k at or above the row's entries takes all."""
    A = a_matrix(dtype="INT8").apply("plus", right=1).new("INT8")
    how, replace = options["how"], options.get("replace", False)

    def draw(k: int, rows: Any, seed: int) -> gb.Matrix:
        made: gb.Matrix = ops.selectk(A, how, k, rows, replace=replace, seed=seed).new()
        return made

    rows = [5, 30, 5, 12]
    assert draw(4, rows, 1).isequal(draw(4, rows, 1))
    assert not draw(4, rows, 1).isequal(draw(4, rows, 2))
    assert draw(4, [*rows, 1, 2], 1)[:4, :].new().isequal(draw(4, rows, 1))
    assert draw(4, None, 1).isequal(draw(4, np.arange(40), 1))
    if not replace:
        assert draw(60, None, 1).isequal(A)
        assert draw(1000, None, 1).isequal(A)


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "how": (gb.exceptions.InvalidValue, "how is 'best'", lambda A: ops.selectk(A, "best", 1)),
    "k": (gb.exceptions.InvalidValue, "k is -1; at least 0", lambda A: ops.selectk(A, "first", -1)),
    "k that is none": (TypeError, "k is 1.5 of type float", lambda A: ops.selectk(A, "first", 1.5)),
    "seed": (gb.exceptions.InvalidValue, "seed is -1", lambda A: ops.selectk(A, "random", 1, seed=-1)),
    "rows": (gb.exceptions.IndexOutOfBound, "40", lambda A: ops.selectk(A, "first", 1, [40])),
    "replace": (gb.exceptions.InvalidValue, "replace is given", lambda A: ops.selectk(A, "first", 1, replace=True)),
    "draws": (gb.exceptions.InvalidValue, "at most", lambda A: ops.selectk(A, "random", 2**40, replace=True)),
    "order": (
        gb.exceptions.DomainMismatch,
        "needs values with an order",
        lambda A: ops.selectk(A.apply("identity").new("FC64"), "largest", 1),
    ),
    "weight": (
        gb.exceptions.InvalidValue,
        "negative, NaN or infinite",
        lambda A: ops.selectk(A.apply("ainv").new(), "random_weighted", 1).new(),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name: str) -> None:
    error, said, call = BAD[name]
    with pytest.raises(error, match=said):
        call(a_matrix())


def test_ss_selectk() -> None:
    A = a_matrix()
    assert A.ss.selectk("first", 2).isequal(ops.selectk(A, "first", 2).new())
    assert A.ss.selectk("LAST", 2, "columnwise", name="C").isequal(ops.selectk(A.T, "last", 2).new().T.new())
    assert A.ss.selectk("largest", 2, name="C").name == "C"
    assert A.ss.selectk("random", 2, seed=1).isequal(ops.selectk(A, "random", 2, seed=1).new())
    with pytest.raises(gb.exceptions.InvalidValue, match="order"):
        A.ss.selectk("first", 2, "diagonal")
