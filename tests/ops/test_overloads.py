"""Infix operators between objects, calls of operators, combined masks, and expressions used as results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from tests.ops.judge import TYPES, Engine, judge, operands

SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge")
}


@pytest.fixture(autouse=True)
def _computed() -> Iterator[None]:
    """Let the judge compute expressions on use, as sparsezc does by default."""
    with graphblas.config.set(autocompute=True):
        yield


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_between_two_objects_or_an_object_and_a_number(name: str) -> None:
    cpu = Engine("cpu", lambda x: x, full=True)
    sign = SIGNS[name]
    for seed, dtype in enumerate(("INT64", "FP64", "UINT8", "INT8", "BOOL")):
        arrays = operands(seed, dtype)
        if name in ("floordiv", "mod", "pow") and dtype != "FP64":
            continue  # integer division by zero is undefined
        for left, right in (("u", "v"), ("A", "B"), ("A", "v"), ("v", "A")):
            label = (name, dtype, left, right)
            judge(lambda g, o, a=left, b=right: sign(getattr(o, a), getattr(o, b)).new(), arrays, cpu, label)
        judge(lambda g, o: sign(o.A.T, 2).new(), arrays, cpu, (name, dtype, "number"))
        judge(lambda g, o: sign(2, o.u).new(), arrays, cpu, (name, dtype, "number on the left"))
        judge(lambda g, o: sign(o.u, g.Scalar.from_value(2)).new(), arrays, cpu, (name, dtype, "Scalar"))


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_between_scalars(name: str) -> None:
    cpu = Engine("cpu", lambda x: x, full=True)
    for left, right in ((7, 2), (7.5, 2), (None, 2), (7, None), (None, None)):

        def statement(g: Any, o: Any, left: Any = left, right: Any = right) -> Any:
            s, t = g.Scalar(float), g.Scalar(float)
            s << left
            t << right
            return SIGNS[name](s, t) if name in ("eq", "ne") else SIGNS[name](s, t).new()

        judge(statement, operands(0), cpu, (name, left, right))
    assert bool(SIGNS[name](gb.Scalar.from_value(7), 2) == SIGNS[name](7, 2))
    assert bool(SIGNS[name](7, gb.Scalar.from_value(2)) == SIGNS[name](7, 2))


@pytest.mark.parametrize("dtype", TYPES)
def test_signs_of_one(dtype: str) -> None:
    cpu = Engine("cpu", lambda x: x, full=True)
    for name in ("neg", "abs", "invert"):
        sign: Any = getattr(operator, name)
        judge(lambda g, o, sign=sign: sign(o.u).new(), operands(1, dtype), cpu, (name, dtype))
        judge(lambda g, o, sign=sign: sign(o.A.T).new(), operands(1, dtype), cpu, (name, dtype))


INTO: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in ("iadd", "isub", "imul", "itruediv", "ixor", "iand", "ior", "imatmul", "ipow")
}


@pytest.mark.parametrize("name", INTO)
def test_a_sign_writes_into_its_left_side(name: str, engine: Engine) -> None:
    def statement(g: Any, o: Any, out: str, other: Any) -> Any:
        x = getattr(o, out)
        y = INTO[name](x, other(o))
        assert y is x
        return x

    for seed, dtype in enumerate(("INT64", "BOOL", "FP32")):
        arrays = operands(seed, dtype)
        for out, other in (("w", lambda o: o.u), ("C", lambda o: o.A.T), ("C", lambda o: o.v), ("w", lambda o: 2)):
            judge(lambda g, o, a=out, b=other: statement(g, o, a, b), arrays, engine, (name, dtype, out))


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "a vector or a number": lambda g, o: o.u | 1,
    "a number and a vector": lambda g, o: 1 & o.u,
    "a product with a number": lambda g, o: o.A @ 2,
    "a product of scalars": lambda g, o: g.Scalar.from_value(1) @ g.Scalar.from_value(2),
    "and within or": lambda g, o: (o.u & o.v) | o.u,
    "or within and": lambda g, o: o.u & (o.u | o.v),
    "numbers are not and-ed": lambda g, o: (o.A & o.B).new(),
    "numbers are not or-ed": lambda g, o: (o.A | o.B).new(),
    "numbers have no complement": lambda g, o: ~o.u,
    "numbers are not xor-ed": lambda g, o: o.u ^ o.v,
    "a semiring of one": lambda g, o: g.semiring.plus_times(o.A),
    "a semiring of an or": lambda g, o: g.semiring.plus_times(o.A, o.B),
    "a binary operator of one": lambda g, o: g.binary.plus(o.u),
    "a binary operator of two vectors": lambda g, o: g.binary.plus(o.u, o.v),
    "a unary operator of two": lambda g, o: g.unary.abs(o.u, 1),
    "one default": lambda g, o: g.binary.plus(o.u | o.v, left_default=1),
    "defaults for an intersection": lambda g, o: g.binary.plus(o.u & o.v, left_default=1, right_default=2),
    "sizes under &": lambda g, o: o.u & o.x,
    "sizes under +": lambda g, o: o.u + o.x,
    "sizes under @": lambda g, o: o.A @ o.x,
    "rows that do not fit": lambda g, o: o.R + o.u,
    "columns that do not fit": lambda g, o: o.x + o.R,
    "not square": lambda g, o: o.R.power(2),
    "a negative power": lambda g, o: o.A.power(-1),
    "a broken power": lambda g, o: o.A.power(1.5),
    "no identity for power 0": lambda g, o: o.A.power(0, g.semiring.plus_minus),
    "a mask of another size": lambda g, o: o.u.select(o.x.S),
    "a mask of numbers": lambda g, o: o.u.select(o.m),
    "a matrix into a vector's place": lambda g, o: o.u.inner(o.A),
    "an expression is not written to": lambda g, o: operator.iadd(o.u + o.v, o.v),
    "a transpose is not written to": lambda g, o: operator.iadd(o.A.T, o.B),
    "both masks": lambda g, o: o.u[:].new(mask=o.m.S, input_mask=o.m.S),
    "an input mask without an extraction": lambda g, o: o.w(input_mask=o.m.S) << o.u,
    "an input mask of a region": lambda g, o: o.A[[0], [1]].new(input_mask=o.m.S),
    "masks compared": lambda g, o: o.m.S == o.m.S,
    "a mask and a number": lambda g, o: o.m.S & 3,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_signs_refuse(name: str) -> None:
    judge(REFUSED[name], operands(2), Engine("cpu", lambda x: x, full=True), name)


def _masks(o: Any) -> list[Any]:
    return [o.m.S, o.m.V, ~o.m.S, ~o.m.V, o.w.S, o.w.V, ~o.w.S, ~o.w.V]


@pytest.mark.parametrize("one", range(8))
def test_masks_combined(one: int, engine: Engine) -> None:
    for other in range(8):
        for name, combine in (("and", operator.and_), ("or", operator.or_)):
            label = (one, name, other)
            judge(lambda g, o, f=combine, k=other: f(_masks(o)[one], _masks(o)[k]).new(), operands(4), engine, label)
        for complement in (False, True):
            judge(
                lambda g, o, k=other, c=complement: _masks(o)[one].new("INT8", complement=c, mask=_masks(o)[k]),
                operands(4),
                engine,
                (one, "with", other, complement),
            )
    judge(lambda g, o: _masks(o)[one].new(), operands(4), engine, one)


def test_a_mask_of_what_is_read_from(engine: Engine) -> None:
    for seed in range(3):
        arrays = operands(seed)
        for mask in (lambda x: x.S, lambda x: ~x.V):
            judge(lambda g, o, m=mask: o.u[[3, 1, 0]].new(input_mask=m(o.m)), arrays, engine)
            judge(lambda g, o, m=mask: o.A[1:5, [6, 2]].new(input_mask=m(o.M)), arrays, engine)
            judge(lambda g, o, m=mask: o.A[2, :].new(input_mask=m(o.m)), arrays, engine)
            judge(lambda g, o, m=mask: o.A[[1, 4], 3].new(input_mask=m(o.M)), arrays, engine)


def test_an_expression_stands_in_for_its_result() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3])
    v = gb.Vector.from_coo([0, 1], [1, 2])
    product = A @ v
    assert (product.nvals, product.to_dict(), product.dtype, product.shape) == (2, {0: 4, 1: 3}, "INT64", (2,))
    assert (A @ (A @ v)).new().to_dict() == (A.mxv(product.new())).new().to_dict()
    assert bool(gb.Scalar.from_value(3) < 4)
    assert int(v @ v) == 5
    with pytest.raises(AttributeError, match="nrows"):
        _ = product.nrows


def test_without_autocompute_only_new_runs() -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2])
    with gb.config.set(autocompute=False):
        for need in (
            lambda: (v + v).nvals,
            lambda: v + (v + v),
            lambda: bool(v.reduce() < 3),
            lambda: v.ewise_add(v[:]),
            lambda: v(v > 1) << 3,
            lambda: (v @ v).value,
        ):
            with pytest.raises(TypeError, match="autocompute"):
                need()
        assert (v + v).new().to_dict() == {0: 2, 1: 4}
        v << v + 1
    assert v.to_dict() == {0: 2, 1: 3}


def test_numbers_of_numpy_leave_the_sign_to_the_object() -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2])
    assert (np.int64(3) - v).new().to_dict() == {0: 2, 1: 1}
    with pytest.raises(TypeError):
        _ = np.array([1, 2]) + v


def test_python_functions_are_operators() -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2])
    pytest.importorskip("numba", reason="the CPU engine compiles Python functions with numba")
    assert v.apply(lambda x: x + 1).new().to_dict() == {0: 2, 1: 3}
    assert v.ewise_mult(v, lambda x, y: x * y + 1).new().to_dict() == {0: 2, 1: 5}
    with pytest.raises(TypeError, match="semiring"):
        v.inner(v, lambda x, y: x + y)


@pytest.mark.parametrize(
    "options",
    [{"foo": 1}, {"nthreads": 1, "NTHREADS": 2}, {"sort": "hi"}, {"axb_method": "bad"}, {"nthreads": "many"}],
)
def test_options_that_are_none_are_refused_everywhere(options: dict[str, Any]) -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2])
    for use in (
        lambda: v(**options),
        lambda: (v + v).new(**options),
        lambda: v[:].new(**options),
        lambda: v.dup(**options),
        lambda: v.update(3, **options),
    ):
        with pytest.raises(gb.exceptions.InvalidValue, match="escriptor"):
            use()
    assert v.to_dict() == {0: 1, 1: 2}
    v(nthreads=4, AxB_method="dot", sort=True) << v + 1
    assert (v + 1).new(nthreads=2, sort=None).to_dict() == {0: 3, 1: 4}


def test_sizes_of_what_has_not_run() -> None:
    A = gb.Matrix(int, 2, 3)
    with gb.config.set(autocompute=False):
        assert ((A @ A.T).nrows, (A @ A.T).ncols, (A @ gb.Vector(int, 3)).size, A[0, :].size) == (2, 2, 2, 3)
        for use in (lambda: A[0, :].nrows, lambda: (A + A).size):
            with pytest.raises(AttributeError):
                use()


def test_operators_called_on_numbers() -> None:
    """An operator called on numbers gives a Scalar."""
    for g in (gb, graphblas):
        assert g.unary.cos(0).new().value == 1
        assert g.binary.plus(5, 2).new().value == 7
        assert g.binary.plus(2, g.Scalar.from_value(3)).new().value == 5
        with pytest.raises(TypeError):
            g.unary.sin(object())
        with pytest.raises(TypeError):
            g.binary.plus(object(), object())


@pytest.mark.parametrize("wrap", [lambda x: x, gb.io.from_array], ids=["array", "object"])
def test_an_array_beside_a_product_sign(wrap: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    dense, x, X = rng.integers(1, 9, (4, 5)).astype(float), rng.random(5), rng.random((5, 2))
    A = gb.io.from_array(dense)
    np.testing.assert_allclose((A @ wrap(x)).new().to_dense(), dense @ x)
    np.testing.assert_allclose((A @ wrap(X)).new().to_dense(), dense @ X)
    np.testing.assert_allclose((wrap(X.T) @ A.T).new().to_dense(), X.T @ dense.T)
    np.testing.assert_allclose((wrap(x) @ A.T).new().to_dense(), x @ dense.T)
    np.testing.assert_allclose(gb.semiring.min_plus(A @ wrap(x)).new().to_dense(), (dense + x).min(axis=1))
    B = A.dup()
    B @= wrap(np.eye(5))
    assert B.isequal(A)


def test_what_is_no_operand_beside_a_product_sign() -> None:
    A = gb.Matrix(float, 4, 5)
    for wrong in (np.zeros((2, 2, 2)), np.float64(1), [1, 2], "a"):
        with pytest.raises(TypeError, match="Bad type for argument `right` in __matmul__"):
            A @ wrong
    with pytest.raises(gb.exceptions.DimensionMismatch, match="5 meets 3"):
        A @ np.zeros(3)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="3 meets 4"):
        np.zeros(3) @ A
