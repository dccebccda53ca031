"""Every aggregator over vectors, rows, columns and whole matrices equals NumPy on the same entries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.semirings.algebra import names
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import TYPES, Arrays, Engine, judge, make, operands

# Functions of the values x at the ascending positions k; there is at least one.
JUDGES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, k: x.sum(dtype=x.dtype),
    "prod": lambda x, k: x.prod(dtype=x.dtype),
    "all": lambda x, k: x.all(),
    "any": lambda x, k: x.any(),
    "min": lambda x, k: x.min(),
    "max": lambda x, k: x.max(),
    "bitwise_all": lambda x, k: np.bitwise_and.reduce(x),
    "bitwise_any": lambda x, k: np.bitwise_or.reduce(x),
    "count": lambda x, k: x.size,
    "count_nonzero": lambda x, k: np.count_nonzero(x),
    "count_zero": lambda x, k: x.size - np.count_nonzero(x),
    "exists": lambda x, k: 1,
    "sum_of_squares": lambda x, k: np.square(_wide(x)).sum(),
    "sum_of_inverses": lambda x, k: (1 / _float(x)).sum(),
    "hypot": lambda x, k: np.linalg.norm(_float(x)),
    "logaddexp": lambda x, k: np.logaddexp.reduce(_float(x)),
    "logaddexp2": lambda x, k: np.logaddexp2.reduce(_float(x)),
    "L0norm": lambda x, k: np.count_nonzero(x),
    "L1norm": lambda x, k: np.abs(x).sum(dtype=x.dtype),
    "L2norm": lambda x, k: np.linalg.norm(_float(x)),
    "Linfnorm": lambda x, k: np.abs(x).max(),
    "mean": lambda x, k: _float(x).mean(),
    "peak_to_peak": lambda x, k: x.max() ^ x.min() if x.dtype == bool else np.ptp(x),
    "varp": lambda x, k: _float(x).var(),
    "vars": lambda x, k: _float(x).var(ddof=1),
    "stdp": lambda x, k: _float(x).std(),
    "stds": lambda x, k: _float(x).std(ddof=1),
    "geometric_mean": lambda x, k: np.exp(np.log(_float(x)).mean()),
    "harmonic_mean": lambda x, k: 1 / (1 / _float(x)).mean(),
    "root_mean_square": lambda x, k: np.sqrt(np.square(_float(x)).mean()),
    "first": lambda x, k: x[0],
    "last": lambda x, k: x[-1],
    "first_index": lambda x, k: k[0],
    "last_index": lambda x, k: k[-1],
    "argmin": lambda x, k: k[np.argmin(x)],
    "argmax": lambda x, k: k[np.argmax(x)],
}
ANY = "any_value"  # any of the values is right
OF_VECTORS = ("first_index", "last_index", "argmin", "argmax")
AGGREGATORS = names.names_of("agg")


def _float(x: Any) -> Any:
    return x.astype(np.float64)


def _wide(x: Any) -> Any:
    return x.astype(np.float64 if x.dtype.kind == "f" or x.dtype == np.uint64 else np.int64)


def judged(name: str, values: Any, positions: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a single value has no sample variance
        return JUDGES[name](values, positions)


def arrays(dtype: str) -> dict[str, Arrays]:
    """Return arrays with rows of no, one and several entries, zeros, and repeated maxima."""
    rng = np.random.default_rng(5)
    rows, columns = np.nonzero(rng.random((9, 7)) < 0.5)
    keep = (rows != 3) & ((rows != 6) | (columns == 2)) & (columns != 4)
    rows, columns = rows[keep], columns[keep]

    def values(count: int) -> Any:
        if dtype == "BOOL":
            return rng.random(count) < 0.6
        found = rng.integers(0 if dtype.startswith("U") else -4, 6, count)
        return found / 2 if dtype.startswith("FP") else found

    at = np.array([1, 2, 5, 6, 8])
    return {
        "A": Arrays(rows, columns, values(rows.size), (9, 7), dtype),
        "u": Arrays(at, None, values(at.size), (11,), dtype),
    }


def close(got: Any, want: Any, dtype: Any) -> bool:
    want = np.asarray(want)
    if want.dtype.kind != "f":
        return bool(got == want)
    return bool(np.isclose(got, want, rtol=1e-5 if dtype == "FP32" else 1e-12, atol=1e-14, equal_nan=True))


def check_rows(name: str, got: Any, given: Arrays, by: int) -> None:
    """Check a vector of results against NumPy's for each row (or, with `by` 1, each column)."""
    at, along = (given.rows, given.columns) if by == 0 else (given.columns, given.rows)
    values = np.asarray(given.values).astype(gb.dtypes.lookup(given.dtype).np_type)
    found = got.to_dict()
    assert sorted(found) == sorted(set(at.tolist())), name
    for row, result in found.items():
        mine = at == row
        order = np.argsort(along[mine])
        x, k = values[mine][order], along[mine][order]
        if name == ANY:
            assert result in x
        else:
            assert close(result, judged(name, x, k), got.dtype), (name, row, result, judged(name, x, k))


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", [*JUDGES, ANY])
def test_aggregators(name: str, engine: Engine) -> None:
    op = AGGREGATORS[name]
    for dtype in engine.sample(TYPES, name, one_in=11):
        given = arrays(dtype)
        if dtype not in op:
            with pytest.raises(gb.exceptions.DomainMismatch, match="does not work with"):
                make(gb, given["u"]).reduce(op)
            continue
        u, A = (engine.put(make(gb, given[key])) for key in "uA")
        made = (u.reduce(op).new(), A.reduce_rowwise(op).new(), A.reduce_columnwise(op).new())
        whole = None if name in OF_VECTORS else A.reduce_scalar(op).new()
        if rehearsing():
            continue
        assert {x.dtype for x in made} == {gb.dtypes.INT64 if op.counts else op.types[gb.dtypes.lookup(dtype)]}
        _, _, values, *_ = given["u"]
        x, k = values.astype(gb.dtypes.lookup(dtype).np_type), given["u"].rows
        every = given["A"].values.astype(x.dtype)
        if name == ANY:
            assert made[0].value in x
            assert whole.value in every
        else:
            assert close(made[0].value, judged(name, x, k), made[0].dtype), (name, dtype, made[0], judged(name, x, k))
            want = None if whole is None else judged(name, every, None)
            assert whole is None or close(whole.value, want, whole.dtype), (name, dtype, whole, want)
        check_rows(name, made[1], given["A"], 0)
        check_rows(name, made[2], given["A"], 1)


@pytest.mark.parametrize("name", sorted({*JUDGES, ANY} - {"bitwise_all", "bitwise_any"}))
def test_nothing_makes_nothing(name: str) -> None:
    op = AGGREGATORS[name]
    v, A = gb.Vector(float, 5), gb.Matrix(float, 3, 4)
    assert v.reduce(op).new().is_empty
    assert A.reduce_rowwise(op).new().nvals == 0
    assert name in OF_VECTORS or A.reduce_scalar(op).new().is_empty


def test_large_numbers_near_each_other_keep_their_spread() -> None:
    values = np.array([1e9, 1e9 + 1, 1e9 + 2, 3, 4, 5])
    v = gb.Vector.from_dense(values)
    assert v.reduce(gb.agg.varp).new().value == pytest.approx(values.var(), rel=1e-12)
    A = gb.Matrix.from_coo([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], values)
    want = values.reshape(2, 3).std(axis=1, ddof=1)
    np.testing.assert_allclose(A.reduce_rowwise(gb.agg.stds).new().to_dense(), want, rtol=1e-12)
    assert gb.Vector.from_dense([1000.0, 1000.0]).reduce(gb.agg.logaddexp).new() == 1000 + np.log(2)
    many = gb.Vector.from_dense(np.full(2000, 1e3))
    assert many.reduce(gb.agg.geometric_mean).new().value == pytest.approx(1e3, rel=1e-12)


def test_narrow_types_do_not_wrap_on_the_way() -> None:
    v = gb.Vector.from_dense(np.full(200, 100, np.int8))
    said = {name: v.reduce(getattr(gb.agg, name)).new().value for name in ("mean", "stdp", "count", "count_nonzero")}
    assert said == {"mean": 100.0, "stdp": 0.0, "count": 200, "count_nonzero": 200}
    assert v.reduce(gb.agg.root_mean_square).new().value == 100
    assert gb.Vector.from_dense([True, False, True, True]).reduce(gb.agg.mean).new().value == 0.75


def test_one_bad_row_stays_alone() -> None:
    """An infinity or NaN in one row does not change other rows' variance and logarithm."""
    A = gb.Matrix.from_coo([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1.0, 3.0, np.inf, 1.0, np.nan, 1.0])
    assert A.reduce_rowwise(gb.agg.varp).new().to_dense()[0] == 1
    assert np.isnan(A.reduce_rowwise(gb.agg.varp).new().to_dense()[1:]).all()
    logs = A.reduce_rowwise(gb.agg.logaddexp).new().to_dense()
    np.testing.assert_allclose(logs, [np.logaddexp(1, 3), np.inf, np.nan], rtol=1e-14)
    low = gb.Vector.from_dense([-np.inf, -np.inf]).reduce(gb.agg.logaddexp).new()
    assert low == -np.inf


def test_masks_accumulators_and_types_as_in_any_statement(engine: Engine) -> None:
    given = arrays("INT64")
    A = engine.put(make(gb, given["A"]))
    m = gb.Vector.from_coo([0, 1, 2, 3], [1, 1, 1, 1], size=9)
    w = gb.Vector.from_coo([0, 3, 8], [100.0, 200.0, 300.0], size=9)
    w(m.S, gb.binary.plus) << A.reduce_rowwise(gb.agg.mean)
    r = gb.Vector.from_coo([0, 3, 8], [100.0, 200.0, 300.0], size=9)
    r(~m.S, replace=True) << A.reduce_rowwise(gb.agg.mean)
    s = gb.Scalar.from_value(5.0)
    s(gb.binary.times) << A.reduce_scalar(gb.agg.count)
    later = A.reduce_rowwise("mean")
    narrow = A.reduce_rowwise(gb.agg.mean).new("INT8")
    if rehearsing():
        return
    means = A.reduce_rowwise(gb.agg.mean).new().to_dict()
    want = {0: 100.0, 3: 200.0, 8: 300.0}
    for k in (0, 1, 2):
        want[k] = want.get(k, 0) + means[k]
    assert w.to_dict() == pytest.approx(want)
    assert r.to_dict() == pytest.approx({k: x for k, x in means.items() if k > 3})
    assert s.value == 5.0 * A.nvals
    assert narrow.to_dict() == {k: int(x) for k, x in means.items()}
    A << A.apply(gb.binary.times, 2)  # a deferred aggregation reads its operand when it runs
    assert later.new().to_dict() == pytest.approx({k: 2 * x for k, x in means.items()})


def test_how_they_are_named() -> None:
    v = gb.Vector.from_coo([1, 3], [2, 6])
    A = gb.Matrix.from_coo([0, 0], [1, 3], [2, 6])
    assert gb.agg.mean(v).new() == v.reduce("mean").new() == v.reduce(gb.agg.mean["FP32"]).new() == 4
    assert gb.agg.mean(A, rowwise=True).new().to_dict() == {0: 4}
    assert gb.agg.mean(A, columnwise=True).new().to_dict() == {1: 2, 3: 6}
    assert gb.agg.mean["INT64"](A).new() == 4
    assert repr(gb.agg.mean) == "agg.mean"
    assert repr(gb.agg.mean["INT8"]) == "agg.mean[INT8]"
    assert gb.agg.from_string("+[int]") is gb.agg.sum["INT64"]
    assert gb.op.from_string("argmin") is gb.agg.ss.argmin
    with pytest.warns(DeprecationWarning, match=r"please use `gb\.agg\.ss\.argmin`"):
        assert gb.agg.argmin is gb.agg.ss.argmin
    assert "agg.mean[INT64]" in repr(v.reduce(gb.agg.mean))
    for wrong, error, text in (
        (lambda: gb.agg.mean(3), TypeError, "takes a Matrix or a Vector"),
        (lambda: gb.agg.mean(v, rowwise=True), ValueError, "neither rows nor columns"),
        (lambda: gb.agg.mean(A, rowwise=True, columnwise=True), ValueError, "cannot both be True"),
        (lambda: v.reduce(gb.agg.mean, allow_empty=False), ValueError, "needs an identity"),
        (lambda: A.reduce_scalar(gb.agg.ss.argmin), ValueError, "finds a position"),
        (lambda: v.reduce("nothing"), ValueError, "nothing"),
        (lambda: gb.agg.from_string("nothing"), ValueError, "nothing"),
        (lambda: v.apply(gb.agg.mean), TypeError, "unary operator is needed"),
    ):
        with pytest.raises(error, match=text):
            wrong()
    assert v.reduce(gb.agg.sum, allow_empty=False).new() == 8


POSITIONS = {"argmin", "argmax", "first_index", "last_index"}  # INT64 here for all types of entries
OF_BOOL = {"count", "count_nonzero", "count_zero", "L0norm"}  # as INT64; python-graphblas's `count` takes BOOL unlisted


def test_types_are_the_judges() -> None:
    for name, ours in names.names_of("agg").items():
        theirs = getattr(graphblas.agg.ss if name in dir(graphblas.agg.ss) else graphblas.agg, name)
        table = {t.name: z.name for t, z in theirs.types.items() if t.name in TYPES}
        mine = {t.name: z.name for t, z in ours.types.items() if t.name in TYPES}
        if name in POSITIONS:
            assert set(table) <= set(mine), name
            assert set(mine.values()) == {"INT64"}, name
        else:
            assert mine == table | ({"BOOL": "INT64"} if name in OF_BOOL else {}), name


def _silly(g: Any) -> Any:
    """Return the product of two aggregators, in python-graphblas's notation."""
    return g.agg.Aggregator(
        "silly",
        composite=[g.agg.varp, g.agg.stdp],
        finalize=lambda x, y, options: g.binary.times(x & y),
        types=[g.agg.varp],
    )


def test_a_users_aggregator_of_others(engine: Engine) -> None:
    arrays = operands(5)
    for use in (
        lambda g, o: o.u.reduce(_silly(g)).new(),
        lambda g, o: o.A.reduce_rowwise(_silly(g)).new(),
        lambda g, o: g.Vector(int, 5).reduce(_silly(g)).new(),
    ):
        judge(use, arrays, engine)


def test_a_users_aggregator_is_checked() -> None:
    for given in ({}, {"composite": [gb.agg.sum]}, {"finalize": lambda x, options: x}):
        with pytest.raises(TypeError, match="composite="):
            gb.agg.Aggregator("wrong", **given)


def test_counts_say_the_type_that_they_take() -> None:
    for name in ("count", "exists"):
        ours, theirs = getattr(gb.agg, name), getattr(graphblas.agg, name)
        for dtype in (*TYPES, "FC32", "FC64"):
            assert ours[dtype].type.name == theirs[dtype].type.name == dtype
            assert ours[dtype].return_type.name == theirs[dtype].return_type.name
        assert {t.name: z.name for t, z in ours.types.items()}.items() >= {
            t.name: z.name for t, z in theirs.types.items()
        }.items()


def test_counts_take_the_type_that_is_asked_for(engine: Engine) -> None:
    for name in ("count", "count_nonzero", "count_zero", "exists", "L0norm"):
        for dtype in ("INT16", "FP32"):
            use = lambda g, o, n=name, t=dtype: o.u.reduce(getattr(g.agg, n)[t]).new()  # noqa: E731
            judge(use, operands(5, "INT8"), engine, (name, dtype))
    for name in ("count", "exists"):  # BOOL counts in INT64
        for dtype in ("BOOL", "FC64"):
            for use in (
                lambda g, o, n=name, t=dtype: o.u.reduce(getattr(g.agg, n)[t]).new(),
                lambda g, o, n=name, t=dtype: o.A.reduce_rowwise(getattr(g.agg, n)[t]).new(),
                lambda g, o, n=name, t=dtype: o.A.reduce_scalar(getattr(g.agg, n)[t]).new(),
            ):
                judge(use, operands(5, "INT8"), engine, (name, dtype))
    by_row = gb.Matrix.from_coo([0, 0], [0, 1], [1, 2], "INT8").reduce_rowwise(gb.agg.count["INT16"]).new()
    assert by_row.dtype == "INT16"


@pytest.mark.parametrize("name", ["count_nonzero", "count_zero", "count", "L0norm"])
@pytest.mark.parametrize("dtype", ["INT8", "UINT8", "INT16"])
def test_counts_in_narrow_types_are_python_graphblas_s(name: str, dtype: str) -> None:
    values = np.arange(70_000) % 2
    found = gb.Vector.from_dense(values).reduce(getattr(gb.agg, name)[dtype]).new()
    theirs = graphblas.Vector.from_dense(values).reduce(getattr(graphblas.agg, name)[dtype]).new()
    assert (found.value, found.dtype.name) == (theirs.value, theirs.dtype.name)
