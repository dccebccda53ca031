"""Every operator by name and type, in an operation that accepts it, equals python-graphblas's."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc
from sparsezc.semirings.algebra import names
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import TYPES, Arrays, Engine, judge, make

# python-graphblas moved SuiteSparse's operators to `.ss` and warns, and its compiled ones warn of divisions by zero.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def arrays(dtype: str) -> dict[str, Arrays]:
    """Return vectors and a matrix of small positive values, on which every operator is defined."""
    rng = np.random.default_rng(7)
    rows, columns = np.nonzero(rng.random((6, 6)) < 0.6)

    def values(count: int) -> Any:
        return rng.random(count) < 0.6 if dtype == "BOOL" else rng.integers(1, 4, count)

    at = np.array([0, 1, 3, 4])
    return {
        "A": Arrays(rows, columns, values(rows.size), (6, 6), dtype),
        "u": Arrays(at, None, values(4), (6,), dtype),
        "v": Arrays(at[::-1].copy(), None, values(4), (6,), dtype),
    }


def operators(kind: str) -> list[str]:
    return sorted(names.names_of(kind))


def skips(kind: str, name: str, dtype: str) -> bool:
    """Return whether the judge has no right answer.

    Its floor division for BOOL returns undefined memory. Of BOOL semirings with the monoid times it has only
    times_first and times_second. It refuses diagindex if the types of values and thunk have no common integer type.
    """
    if dtype == "BOOL":
        return "floordiv" in name or (kind == "semiring" and name in ("times_first", "times_second"))
    return kind == "indexunary" and name == "diagindex" and dtype in ("UINT64", "FP32", "FP64")


def find(g: Any, kind: str, name: str) -> Any:
    """Return a module's operator, which in python-graphblas may be in `.ss` or `.numpy`."""
    namespace = getattr(g, kind)
    if g is sparsezc:
        return getattr(namespace, name)
    homes = (getattr(namespace, "ss", None), namespace, getattr(namespace, "numpy", None))
    return next(getattr(home, name) for home in homes if name in dir(home))


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("semiring"))
def test_semirings(name: str, engine: Engine) -> None:
    one_answer = not name.startswith("any_")  # `any` may keep any of the products
    for dtype in engine.sample(TYPES, name, one_in=11):
        if skips("semiring", name, dtype):
            continue
        judge(
            lambda g, o: o.A.mxv(o.u, find(g, "semiring", name)).new(),
            arrays(dtype),
            engine,
            (name, dtype),
            values=one_answer,
        )


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("binary"))
def test_binary(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=11):
        if skips("binary", name, dtype):
            continue
        statements = (
            lambda g, o: o.u.ewise_mult(o.v, find(g, "binary", name)).new(),
            lambda g, o: o.u.apply(find(g, "binary", name), 2).new(),
            lambda g, o: o.u.ewise_add(o.v, find(g, "binary", name)).new(),
            lambda g, o: o.u.apply(find(g, "binary", name), left=2).new(),
        )
        for statement in engine.sample(statements, name, one_in=2):
            judge(statement, arrays(dtype), engine, (name, dtype), values=name != "any")


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("unary"))
def test_unary(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=11):
        if skips("unary", name, dtype):
            continue
        judge(lambda g, o: o.u.apply(find(g, "unary", name)).new(), arrays(dtype), engine, (name, dtype))


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("monoid"))
def test_monoids(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=5):
        if skips("monoid", name, dtype):
            continue
        for statement in (
            lambda g, o: o.u.reduce(find(g, "monoid", name)).new(),
            lambda g, o: o.A.reduce_rowwise(find(g, "monoid", name)).new(),
        ):
            judge(statement, arrays(dtype), engine, (name, dtype), values=name != "any")


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("indexunary"))
def test_indexunary(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=4):
        if skips("indexunary", name, dtype):
            continue
        judge(lambda g, o: o.u.apply(find(g, "indexunary", name), 2).new(), arrays(dtype), engine, (name, dtype))
        judge(lambda g, o: o.A.apply(find(g, "indexunary", name), 1).new(), arrays(dtype), engine, (name, dtype, "A"))


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", operators("select"))
def test_select(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=4):
        if skips("select", name, dtype):
            continue

        def thunk(g: Any, value: int, dtype: str = dtype) -> Any:
            # python-graphblas compares FP32 values with undefined bits if the thunk has another type
            return g.Scalar.from_value(value, dtype) if name.startswith("value") else value

        judge(lambda g, o: o.u.select(find(g, "select", name), thunk(g, 2)).new(), arrays(dtype), engine, (name, dtype))
        judge(lambda g, o: o.A.select(find(g, "select", name), thunk(g, 1)).new(), arrays(dtype), engine, (name, "A"))


def test_select_compares_in_the_type_that_both_meet_in(engine: Engine) -> None:
    """python-graphblas compares with undefined bits there; the values keep their own type."""
    for dtype, thunk, kept in (("UINT64", 2, [1, 2]), ("FP32", 2, [1, 2]), ("INT8", 2.5, [2]), ("UINT8", 2.5, [2])):
        values = np.array([1, 2, 2**63 + 1 if dtype == "UINT64" else 3], sparsezc.dtypes.lookup(dtype).np_type)
        u = engine.put(sparsezc.Vector.from_coo([0, 1, 2], values, dtype))
        A = engine.put(sparsezc.Matrix.from_coo([0, 0, 1], [1, 2, 0], values, dtype))
        of_u, of_a, of_t = (x.select(">=", thunk).new() for x in (u, A, A.T))
        if not rehearsing():
            assert of_u.to_dict() == {k: values[k] for k in kept}
            assert {(i, j): x for i, j, x in zip(*of_a.to_coo(), strict=True)} == {
                ((0, 1), (0, 2), (1, 0))[k]: values[k] for k in kept
            }
            assert of_t.T.new().isequal(of_a)


@pytest.mark.parametrize("name", [name for name in operators("semiring") if name.startswith("any_")])
def test_any_keeps_one_of_the_products(name: str, engine: Engine) -> None:
    for dtype in engine.sample(TYPES, name, one_in=5):
        if skips("semiring", name, dtype) or dtype not in getattr(sparsezc.semiring, name).types:
            continue
        given = arrays(dtype)
        at, _, values, *_ = given["u"]
        A, u = engine.put(make(sparsezc, given["A"])), engine.put(make(sparsezc, given["u"]))
        kept = A.mxv(u, name).new()
        if rehearsing():
            continue
        products: dict[int, set[Any]] = {}  # by the judge, from one entry of u at a time
        for k, value in zip(at, values, strict=True):
            one = graphblas.Vector.from_coo([k], [value], dtype, size=6)
            for i, x in make(graphblas, given["A"]).mxv(one, find(graphblas, "semiring", name)).new().to_dict().items():
                products.setdefault(i, set()).add(x)
        found = kept.to_dict()
        assert found.keys() == products.keys(), (name, dtype)
        assert all(x in products[i] for i, x in found.items()), (name, dtype, found, products)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
@pytest.mark.parametrize("name", ["floordiv", "rfloordiv", "rpow"])
def test_division_by_zero_says_what_the_operator_says(name: str, dtype: str, engine: Engine) -> None:
    """The judge's own operators raise at a division by zero, and leave memory undefined."""
    op, semiring = (
        getattr(namespace, prefix + name, None)
        for namespace, prefix in ((sparsezc.binary, ""), (sparsezc.semiring, "any_"))
    )
    zeros = [0, 1, 3, 0, 1, 2], [0, 0, 0, 1, 2, 0]
    x, y = (engine.put(sparsezc.Vector.from_coo(range(6), values, dtype)) for values in zeros)
    with np.errstate(all="ignore"):
        expected = op[dtype].numpy(x.to_dense(), y.to_dense())
    np.testing.assert_array_equal(x.ewise_mult(y, op).new().to_dense(), expected)
    if semiring is not None:
        D = engine.put(sparsezc.Matrix.from_coo(range(6), range(6), zeros[0], dtype))
        np.testing.assert_array_equal(D.mxv(y, semiring).new().to_dense(), expected)
