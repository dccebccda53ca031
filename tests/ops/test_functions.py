"""Operators made from Python functions have the results of their NumPy form on each engine."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import NotImplementedException
from sparsezc.semirings.types import datatypes
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import Arrays, Engine, make
from tests.semirings import functions

TYPES = ("INT64", "FP32", "UINT8", "BOOL")  # each type is compiled separately on either engine


@cache
def operator(kind: str, name: str) -> Any:
    """Return an operator that is made once, as in a program."""
    table = {"unary": functions.UNARY, "binary": functions.BINARY, "indexunary": functions.INDEX}[kind]
    return getattr(gb, kind).register_anonymous(table[name], name.replace(" ", "_"))


def arrays(dtype: str) -> dict[str, Arrays]:
    rng = np.random.default_rng(11)
    rows, columns = np.nonzero(rng.random((6, 6)) < 0.6)

    def values(count: int) -> Any:
        if dtype == "BOOL":
            return rng.random(count) < 0.6
        found = rng.integers(0 if dtype.startswith("U") else -5, 9, count)
        return found / 2 if dtype.startswith("FP") else found

    at = np.array([0, 1, 3, 4])
    return {
        "A": Arrays(rows, columns, values(rows.size), (6, 6), dtype),
        "u": Arrays(at, None, values(4), (6,), dtype),
        "v": Arrays(at, None, values(4)[::-1].copy(), (6,), dtype),
        "x": Arrays(np.arange(6), None, values(6), (6,), dtype),
    }


def same(got: Any, want: Any, dtype: Any) -> None:
    assert got.dtype == want.dtype
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "FP32" else 1e-12)
    else:
        np.testing.assert_array_equal(got, want)


def typed_values(x: Arrays) -> Any:
    return np.asarray(x.values).astype(datatypes.lookup(x.dtype).np_type)


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", functions.UNARY)
def test_unary(name: str, engine: Engine) -> None:
    op = operator("unary", name)
    for dtype in engine.sample(TYPES, name, one_in=4):
        given = arrays(dtype)
        u, A = (engine.put(make(gb, given[k])) for k in "uA")
        of_u, of_a = u.apply(op).new(), A.apply(op).new()
        if rehearsing():
            continue
        same(of_u.to_coo()[1], op[dtype].numpy(typed_values(given["u"])), dtype)
        same(of_a.to_coo()[2], op[dtype].numpy(typed_values(given["A"])), dtype)


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", functions.BINARY)
def test_binary(name: str, engine: Engine) -> None:
    op = operator("binary", name)
    for dtype in engine.sample(TYPES, name, one_in=4):
        given = arrays(dtype)
        u, v, A = (engine.put(make(gb, given[k])) for k in "uvA")
        both, right, left = u.ewise_mult(v, op).new(), A.apply(op, 2).new(), u.apply(op, left=2).new()
        if rehearsing():
            continue
        x, y, a = (typed_values(given[k]) for k in "uvA")
        same(both.to_coo()[1], op[dtype].numpy(x, y), dtype)
        same(right.to_coo()[2], op[dtype, "INT64"].numpy(a, 2), dtype)
        same(left.to_coo()[1], op["INT64", dtype].numpy(2, x), dtype)


@pytest.mark.parametrize("name", functions.INDEX)
def test_indexunary(name: str, engine: Engine) -> None:
    op = operator("indexunary", name)
    for dtype in engine.sample(TYPES[:-1], name):
        given = arrays(dtype)
        u, A = (engine.put(make(gb, given[k])) for k in "uA")
        of_u, of_a = u.apply(op, 1).new(), A.apply(op, 2).new()
        keeps = all(result.is_bool for result in op.types.values())
        kept = A.select(op, 2).new() if keeps else None
        if rehearsing():
            continue
        at, rows, columns = given["u"].rows, given["A"].rows, given["A"].columns
        x, a = typed_values(given["u"]), typed_values(given["A"])
        same(of_u.to_coo()[1], op[dtype, "INT64"].numpy(x, at, 0 * at, 1), dtype)
        truth = op[dtype, "INT64"].numpy(a, rows, columns, 2)
        same(of_a.to_coo()[2], truth, dtype)
        if kept is not None:
            for got, want in zip(kept.to_coo(), (rows[truth], columns[truth], a[truth]), strict=True):
                np.testing.assert_array_equal(got, want)


LONGEST = gb.binary.register_anonymous(lambda x, y: max(abs(x), abs(y)), "longest")
NORM = gb.monoid.register_anonymous(LONGEST, 0, terminal={t: 127 if t.is_integer else np.inf for t in datatypes.ALL})
RINGS = {
    "own addition": gb.semiring.register_anonymous(NORM, gb.binary.times),
    "own multiplication": gb.semiring.register_anonymous(gb.monoid.plus, LONGEST),
    "own both": gb.semiring.register_anonymous(NORM, LONGEST),
    "distance": gb.semiring.register_anonymous(
        gb.monoid.max, gb.binary.register_anonymous(functions.distance, "distance")
    ),
}


@pytest.mark.parametrize("name", RINGS)
def test_semirings(name: str, engine: Engine) -> None:
    ring = RINGS[name]
    for dtype in engine.sample(("INT64", "FP64", "FP32"), name, one_in=2):
        given = arrays(dtype)
        A, x = (engine.put(make(gb, given[k])) for k in "Ax")
        down, across = A.mxv(x, ring).new(), x.vxm(A, ring).new()
        if rehearsing():
            continue
        typed = ring[dtype]
        for got, turned in ((down, False), (across, True)):
            rows, columns = (given["A"].rows, given["A"].columns)[:: -1 if turned else 1]
            operands = typed_values(given["A"]), typed_values(given["x"])[columns]
            products = typed.numpy(*(operands[::-1] if turned else operands))
            want = {int(row): fold(typed.monoid, products[rows == row]) for row in set(rows)}
            assert got.to_dict() == pytest.approx(want, rel=1e-6)


def fold(monoid: Any, values: Any) -> Any:
    total = monoid.identity
    for value in values:
        total = monoid.numpy(total, value)
    return total


def test_a_monoid(engine: Engine) -> None:
    for dtype in engine.sample(("INT64", "FP32"), "monoid", one_in=2):
        given = arrays(dtype)
        u, A = (engine.put(make(gb, given[k])) for k in "uA")
        whole, rows = u.reduce(NORM).new(), A.reduce_rowwise(NORM).new()
        if rehearsing():
            continue
        assert whole.value == np.abs(typed_values(given["u"])).max()
        a = np.abs(typed_values(given["A"]))
        assert rows.to_dict() == {int(row): a[given["A"].rows == row].max() for row in set(given["A"].rows)}


def test_an_accumulator_and_a_parameter(engine: Engine) -> None:
    near = gb.binary.isclose(rel_tol=0.0, abs_tol=1.0)
    u = engine.put(gb.Vector.from_coo([0, 1, 2], [1.0, 2.0, 3.0], size=4))
    v = engine.put(gb.Vector.from_coo([0, 1, 3], [1.5, 4.0, 9.0], size=4))
    w = engine.put(u.dup())
    w(accum=LONGEST) << v.apply(gb.unary.ainv)
    close, closer = u.ewise_mult(v, near).new(), u.ewise_mult(v, gb.binary.isclose).new()
    if not rehearsing():
        assert w.to_dict() == {0: 1.5, 1: 4.0, 2: 3.0, 3: -9.0}
        assert close.to_dict() == {0: True, 1: False}
        assert closer.to_dict() == {0: False, 1: False}


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without numba only a GPU runs them, and the error names numba."""
    from sparsezc.engines.cpu.suitesparse import operators

    monkeypatch.setattr(operators, "find_spec", lambda name: None)
    op = gb.unary.register_anonymous(lambda x: x + 5)
    with pytest.raises(NotImplementedException, match="needs numba"):
        gb.Vector.from_dense([1]).apply(op).new()


def test_a_monoid_of_a_built_in_operator() -> None:
    made = gb.monoid.register_anonymous(gb.binary.hypot, 0)
    assert made["FP64"].numpy(3, 4) == 5
    with pytest.raises(NotImplementedException, match="made of a built-in operator"):
        gb.Vector.from_dense([3.0, 4.0]).reduce(made).new()
