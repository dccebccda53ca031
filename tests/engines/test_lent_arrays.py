"""Operations that read a matrix's arrays in place leave operands' formats, settings and sizes unchanged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.core import engine_loops
from sparsezc.engines.cpu import two_way
from sparsezc.engines.cpu.dense import is_dense
from sparsezc.engines.cpu.suitesparse import array_addresses, row_arrays

N = 12


def pattern() -> gb.Matrix:
    rng = np.random.default_rng(0)
    i, j = np.nonzero(rng.random((N, N)) < 0.4)
    return gb.Matrix.from_coo(i, j, rng.random(i.size) + 0.5, nrows=N, ncols=N)


def controlled(**settings: Any) -> gb.Matrix:
    A = pattern()
    for name, value in settings.items():
        A._store.ss.config[name] = value
    return A


MATRICES: dict[str, Callable[[], gb.Matrix]] = {
    "csr": pattern,
    "csc": lambda: controlled(format="by_col"),
    "bitmap": lambda: controlled(sparsity_control="bitmap"),
    "hypersparse by wish": lambda: controlled(sparsity_control="hypersparse"),
    "csr by wish": lambda: controlled(sparsity_control={"sparse", "bitmap"}, bitmap_switch=0.75, hyper_switch=0.01),
    "full": lambda: gb.Matrix.from_dense(np.arange(1.0, N * N + 1).reshape(N, N)),
    "iso": lambda: gb.Matrix.from_coo([0, 1, 1], [1, 2, 0], 2.0, nrows=N, ncols=N),
    "full of one value": lambda: gb.Matrix.from_scalar(1.0, N, N, dtype=float).to("cpu"),
    "hypersparse": lambda: gb.Matrix.from_coo([3, 5, 5], [5, 3, 900], [1.0, 2.0, 3.0], nrows=1000, ncols=1000),
}
VECTORS: dict[str, Callable[[int], gb.Vector]] = {
    "full": lambda n: gb.Vector.from_dense(np.arange(n)),
    "bitmap": lambda n: bitmap(gb.Vector.from_dense(np.arange(n))),
    "full of one value": lambda n: gb.Vector.from_scalar(0, n, dtype="INT64").to("cpu"),
}


def bitmap(v: gb.Vector) -> gb.Vector:
    v._store.ss.config["sparsity_control"] = "bitmap"
    return v


def state(u: Any) -> tuple[Any, ...]:
    ss = u._store.ss
    return ss.format, dict(ss.config), ss.nbytes, ss.is_iso


def corners(A: gb.Matrix) -> Any:
    """Return counts by the compiled loop, which runs for few entries only once it has been compiled."""
    two_way._corner_loop()
    return ops.count_corners(A, A.T, A)


CALLS: dict[str, Callable[[gb.Matrix, gb.Vector], Any]] = {
    "best_label": lambda A, v: ops.best_label(A, v, "plus_first"),
    "best_label of the pattern": lambda A, v: ops.best_label(A, v, "plus_pair"),
    "label_weight": lambda A, v: ops.label_weight(A, v, "plus_first"),
    "move_labels": lambda A, v: ops.move_labels(A, v, "plus_first", v.dup("FP64"), 0.1),
    "count_corners": lambda A, _v: corners(A),
    "sum_by_labels": lambda A, v: ops.sum_by_labels(A, v, "plus_first", 5),
    "selectk": lambda A, _v: ops.selectk(A, "random_weighted", 2, seed=1),
    "walk": lambda A, v: ops.walk(A, [3, 5], 4, "values", seed=1),
    "walk by column": lambda A, v: ops.walk(A, [3, 5], 4, v, seed=1),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", MATRICES)
def test_operands_stay_as_they_are(kind: str, call: str) -> None:
    plain = gb.Matrix.from_coo(*MATRICES[kind]().to_coo(), nrows=MATRICES[kind]().nrows, ncols=MATRICES[kind]().ncols)
    for labels in VECTORS:
        A, v = MATRICES[kind](), VECTORS[labels](MATRICES[kind]().nrows)
        before, content = (state(A), state(v)), (A.dup(), v.dup())
        found = CALLS[call](A, v).new()
        assert (state(A), state(v)) == before
        assert A.isequal(content[0])
        assert v.isequal(content[1])
        assert found.isequal(CALLS[call](plain, v.dup()).new())


def test_operands_stay_as_they_are_where_the_call_fails() -> None:
    A, v = MATRICES["csr by wish"](), gb.Vector.from_scalar(N, N, dtype="INT64").to("cpu")
    before = state(A), state(v)
    with pytest.raises(gb.exceptions.IndexOutOfBound):
        ops.best_label(A, v, "plus_first").new()
    assert (state(A), state(v)) == before


def test_arrays_are_copied_where_suitesparse_tells_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    A, v = pattern(), gb.Vector.from_dense(np.arange(3.0))
    monkeypatch.setattr(array_addresses, "_tells", lambda: False)
    with row_arrays.borrowed(A._store) as rows, row_arrays.borrowed_values(v._store) as values:
        copied = rows.every_row(N), rows.indices, rows.values
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(copied, A.to_csr(), strict=True))
        assert values.tolist() == [0, 1, 2]


def test_a_hypersparse_matrix_takes_no_offsets() -> None:
    A = gb.Matrix.from_coo([3], [5], 1.0, nrows=10**6, ncols=10**6)
    label = gb.Vector.from_dense(np.arange(10**6))
    assert ops.best_label(A, label, "plus_first").new().to_dict() == {3: 5}
    assert A._store.ss.nbytes < 1000


# Full products


def test_a_product_with_one_value_everywhere_is_not_spread_out() -> None:
    ones = gb.Matrix.from_scalar(1.0, 2000, 2000, dtype=float).to("cpu")
    values = np.arange(4000.0).reshape(2000, 2)
    panel = gb.Matrix.from_dense(values)
    assert not is_dense(ones.mxm(panel))
    assert is_dense(panel.T.mxm(gb.Matrix.from_dense(np.arange(20_000.0).reshape(2000, 10))))
    with gb.config.set(host_budget=1_000_000):
        made = ones.mxm(panel).new()
    assert (made.to_dense() == values.sum(axis=0)).all()


def test_a_product_of_full_matrices_asks_for_room() -> None:
    A = gb.Matrix.from_dense(np.arange(90_000.0).reshape(300, 300))
    with gb.config.set(host_budget=1_000_000), pytest.raises(gb.exceptions.OutOfMemory, match=r"mxm: .*300 x 300"):
        A.mxm(A).new()


def test_numpy_settings_are_no_part_of_a_product() -> None:
    left = np.ones((40, 40))
    left[0, 0], right = np.inf, np.ones((40, 40))
    right[0, 0] = 0.0
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gb.Matrix.from_dense(left).mxm(gb.Matrix.from_dense(right)).new()
    assert np.isnan(made.to_dense()[0, 0])
    assert made.to_dense()[1, 1] == 40


# Types, sizes, memory


def test_labels_by_values_that_are_no_weights() -> None:
    label = gb.Vector.from_dense([0, 1])
    entries = np.array([(1, 2), (3, 4)], [("a", "i4"), ("b", "i4")])
    for A in (
        gb.Matrix.from_coo([0, 1], [1, 0], [1 + 1j, 2j]),
        gb.Matrix.from_coo([0, 1], [1, 0], entries, gb.dtypes.register_anonymous(entries.dtype)),
    ):
        for call in (ops.best_label, ops.label_weight):
            with pytest.raises(gb.exceptions.DomainMismatch, match="no weights; plus_pair"):
                call(A, label, "plus_first")
        assert ops.best_label(A, label, "plus_pair", stays=False).new().to_dict() == {0: 1, 1: 0}
        assert ops.label_weight(A, label, "plus_pair").new().to_dense().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("size", [2**20, 2**50])
def test_weighted_walks_among_few_of_many_rows(size: int) -> None:
    A = gb.Matrix.from_coo([3, 5, 7], [5, 3, 3], [1.0, 2.0, 0.0], nrows=size, ncols=size)
    walks = ops.walk(A, [3, 7, 5, size - 1], 3, "values", seed=1).new()
    assert walks.to_dense(-1).tolist() == [[3, 5, 3, 5], [7, -1, -1, -1], [5, 3, 5, 3], [size - 1, -1, -1, -1]]
    v = gb.Vector.from_coo([3], [1.0], size=size)
    assert ops.walk(A, [3, 5], 3, v, seed=1).new().to_dense(-1).tolist() == [[3, -1, -1, -1], [5, 3, -1, -1]]
    assert gb.algorithms.random_walks(A, [3], 2, weighted=True).to_dense().tolist() == [[3, 5, 3]]
    empty = gb.Matrix("FP64", size, size)
    assert ops.walk(empty, [3], 2, "values").new().to_dense(-1).tolist() == [[3, -1, -1]]


def test_what_does_not_fit_says_its_size() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], 1.0)
    wide = gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=2**50, ncols=2**50)
    label = gb.Vector.from_scalar(0, 2**50, dtype="INT64")
    for call, said in (
        (lambda: gb.algorithms.random_walks(A, [0], 2**40), "walk: 1 walks of 1,099,511,627,776 steps needs"),
        (lambda: ops.best_label(wide, label, "plus_first").new(), "best_label: work on 1,125,899,906,842,624 rows"),
        (lambda: ops.label_weight(wide, label, "plus_pair").new(), "label_weight: work on 1,125,899,906,842,624 rows"),
    ):
        with pytest.raises(gb.exceptions.OutOfMemory, match=said):
            call()
    with gb.config.set(host_budget=10_000), pytest.raises(gb.exceptions.OutOfMemory, match="selectk: 2,000 entries"):
        ops.selectk(A, "first", 1, np.zeros(2000, int)).new()


@pytest.mark.parametrize("how", ["random", "random_weighted"])
def test_draws_in_pieces_are_the_same(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    A, rows = pattern(), [3, 5, 3]
    whole = ops.selectk(A, how, 1000, rows, replace=True, seed=1).new()
    monkeypatch.setattr("sparsezc.engines.cpu.selectk._ENTRIES", 70)
    assert ops.selectk(A, how, 1000, rows, replace=True, seed=1).new().isequal(whole)


def test_many_draws_take_the_room_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsezc.engines.cpu.selectk._ENTRIES", 1 << 16)
    with gb.config.set(host_budget=1_000_000):
        made = ops.selectk(gb.Matrix.from_coo([0, 0], [0, 1], 1.0), "random", 2**20, replace=True, seed=1).new()
    assert made.reduce_rowwise("plus").new().to_dense().tolist() == [2**20]


@pytest.mark.parametrize("which", range(4))
def test_a_sampled_product_after_a_resize(which: int) -> None:
    given = [gb.Matrix.from_dense(np.ones((3, 3))) for _ in range(4)]
    late = ops.sampled_mxm(*given, "plus_times", "plus_times")
    given[which].resize(2, 2)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="resized since the expression was made"):
        late.new()


# Vectors of arrays


@pytest.mark.parametrize("way", ["own", "part", "backwards"])
def test_vectors_take_arrays_over(way: str) -> None:
    """Vectors adopt arrays that own their memory, and copy others."""
    values, present = np.arange(10.0), np.arange(10) % 3 == 0
    at = np.flatnonzero(present)
    expected = gb.Vector.from_coo(at, values[at], size=10)

    def given(x: Any) -> Any:
        return {"own": x.copy(), "part": np.concatenate([x, x])[: x.size], "backwards": x[::-1].copy()[::-1]}[way]

    for made, wanted in (
        (engine_loops.vector(given(values)), gb.Vector.from_dense(values)),
        (engine_loops.vector(given(values), given(present)), expected),
        (engine_loops.vector(given(values[at]), at=given(at), size=10), expected),
        (engine_loops.vector(given(values[:0]), at=given(at[:0]), size=2**40), gb.Vector("FP64", 2**40)),
        (engine_loops.vector(given(values[:0])), gb.Vector("FP64", 0)),
    ):
        assert made.isequal(wanted, check_dtype=True)
        made << made.apply("ainv")
        assert made.isequal(wanted.apply("ainv").new())
