"""Operators by NumPy's names, semirings that count booleans and aggregators of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.judge import Arrays, Engine, judge

INTEGERS = ("INT8", "INT64", "UINT8", "UINT64")


def numbers(dtype: str, least: int = 0) -> dict[str, Arrays]:
    at = np.arange(6)
    low = least if dtype.startswith("U") else -6
    x, y = np.array([low, 4, 6, 12, 100, least]), np.array([9, 6, max(low, -4), 18, 75, least])
    if dtype == "BOOL":
        x, y = x > 4, y > 9
    if dtype.startswith("FC"):
        x, y = x + 1j, y + 1j * np.array([1, -2, 3, -4, 5, 2])
    return {"u": Arrays(at, None, x, (6,), dtype), "v": Arrays(at, None, y, (6,), dtype)}


@pytest.mark.parametrize("name", ["gcd", "lcm", "nextafter"])
def test_binary(name: str, engine: Engine) -> None:
    for dtype in (*engine.sample(INTEGERS, name), *(("FP32", "FP64", "INT16") if name == "nextafter" else ())):
        judge(lambda g, o: o.u.ewise_mult(o.v, getattr(g.binary.numpy, name)).new(), numbers(dtype), engine, dtype)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmod"])
def test_binary_of_any_type(name: str, engine: Engine) -> None:
    sort = ("BOOL", "UINT8", "UINT32", "FP32") if name == "fmod" else ("BOOL", "INT16", "FP32", "FC32", "FC64")
    for dtype in engine.sample(sort, name):
        judge(lambda g, o: o.u.ewise_mult(o.v, getattr(g.binary.numpy, name)).new(), numbers(dtype), engine, dtype)


@pytest.mark.parametrize("name", ["reciprocal", "spacing"])
def test_unary(name: str, engine: Engine) -> None:
    complex_too = ("FC32", "FC64") if name == "reciprocal" else ()
    for dtype in engine.sample((*INTEGERS, "FP32", "FP64", *complex_too), name):
        judge(lambda g, o: o.u.apply(getattr(g.unary.numpy, name)).new(), numbers(dtype, 1), engine, dtype)


@pytest.mark.parametrize(
    ("name", "dtype"), [("gcd", "INT64"), ("gcd", "UINT8"), ("hypot", "FP64"), ("maximum", "BOOL"), ("minimum", "FC64")]
)
def test_monoids(name: str, dtype: str, engine: Engine) -> None:
    judge(lambda g, o: o.u.reduce(getattr(g.monoid.numpy, name)).new(), numbers(dtype), engine, dtype)


@pytest.mark.parametrize("name", ["plus_pair", "times_pair", "min_pair", "max_pair", "times_first", "times_second"])
@pytest.mark.parametrize("dtype", ["BOOL", "FC64"])
def test_semirings_of_what_is_no_real_number(name: str, dtype: str, engine: Engine) -> None:
    given = {"u": Arrays(np.array([0, 2]), None, np.array([1, 0]), (3,), dtype)}
    given["A"] = Arrays(np.array([0, 0, 2]), np.array([0, 2, 2]), np.array([1, 0, 1]), (3, 3), dtype)
    judge(lambda g, o: o.A.mxv(o.u, getattr(g.semiring, name)[dtype]).new(), given, engine)
    judge(lambda g, o: o.A.mxm(o.A, name).new(), given, engine)


@pytest.mark.parametrize(
    "name",
    ["L1norm", "Linfnorm", "count", "exists", "harmonic_mean", "mean", "sum_of_inverses", "sum_of_squares", "hypot",
     "geometric_mean", "logaddexp", "root_mean_square"],
)  # fmt: skip
def test_aggregators_of_complex_numbers(name: str, engine: Engine) -> None:
    values = np.array([1 + 2j, 3, -1j])
    for dtype in engine.sample(("FC32", "FC64"), name, 2):
        given = {
            "u": Arrays(np.array([0, 1, 2]), None, values, (4,), dtype),
            "A": Arrays(np.array([0, 1, 1]), np.array([0, 1, 0]), values, (3, 2), dtype),
        }
        judge(lambda g, o: o.u.reduce(getattr(g.agg, name)).new(), given, engine, dtype)
        judge(lambda g, o: o.A.reduce_rowwise(getattr(g.agg, name)).new(), given, engine, dtype)
