"""Every expression, assigned in every way, equals python-graphblas's on random operands."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ops.cases import MATRIX, SCALAR, VECTOR
from tests.ops.judge import ACCUMULATORS, MASKS, TYPES, Engine, judge, operands, target, ways

# python-graphblas moved positional operators to `.ss` and warns at their old names, which sparsezc keeps.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def written(make: Any, out: str, mask: str, accum: str, replace: bool) -> Any:
    """Return the statement ``out(mask, accum, replace) << make``, which returns `out`."""

    def statement(g: Any, o: Any) -> Any:
        parent = o.m if out == "w" else o.M
        target(g, getattr(o, out), parent, mask, accum, replace) << make(g, o)
        return getattr(o, out)

    return statement


@pytest.mark.many_kernels
@pytest.mark.parametrize("name", VECTOR)
def test_vector_in_every_way(name: str, engine: Engine) -> None:
    for seed, (mask, accum, replace) in enumerate(ways()):
        for dtype in engine.sample(("INT64", "FP64"), f"{name}{mask}{accum}{replace}", one_in=2):
            label = (name, mask, accum, replace, dtype)
            judge(written(VECTOR[name], "w", mask, accum, replace), operands(seed, dtype), engine, label)


@pytest.mark.parametrize("name", MATRIX)
def test_matrix_in_every_way(name: str, engine: Engine) -> None:
    for seed, (mask, accum, replace) in enumerate(ways()):
        label = (name, mask, accum, replace)
        judge(written(MATRIX[name], "C", mask, accum, replace), operands(seed, "INT64"), engine, label)


@pytest.mark.many_kernels
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(dtype: str, engine: Engine) -> None:
    """Type and values of the result and of the output are right for every type."""
    for seed, (name, make) in engine.sample(enumerate(VECTOR.items()), dtype, one_in=5):
        if name not in ("another vector", "a number", "a scalar"):
            judge(lambda g, o, make=make: make(g, o).new(), operands(seed, dtype), engine, (name, dtype, "new"))
        for accum in ("none", "plus"):
            label = (name, dtype, accum)
            judge(written(make, "w", "not values", accum, True), operands(seed, dtype), engine, label)
    for seed, (name, make) in engine.sample(enumerate(MATRIX.items()), dtype, one_in=3):
        judge(written(make, "C", "values", "none", False), operands(seed, dtype), engine, (name, dtype))
    for seed, (name, make) in engine.sample(enumerate(SCALAR.items()), dtype, one_in=3):
        judge(lambda g, o, make=make: make(g, o).new(), operands(seed, dtype), engine, (name, dtype))


@pytest.mark.many_kernels
@pytest.mark.parametrize("left", TYPES)
def test_operands_of_two_types(left: str, engine: Engine) -> None:
    for seed, right in engine.sample(enumerate(TYPES), left, one_in=11):
        arrays = operands(seed, left, other=right)
        for name in ("mxv plus_times", "vxm by name", "ewise_add plus", "ewise_mult lt", "ewise_union minus"):
            judge(lambda g, o, name=name: VECTOR[name](g, o).new(), arrays, engine, (name, left, right))
            judge(written(VECTOR[name], "w", "structure", "min", False), arrays, engine, (name, left, right, "into w"))
        judge(lambda g, o: MATRIX["ewise_add plus"](g, o).new(), arrays, engine, (left, right))


@pytest.mark.many_kernels
@pytest.mark.parametrize("out", TYPES)
def test_the_result_takes_the_outputs_type(out: str, engine: Engine) -> None:
    for seed, dtype in engine.sample(enumerate(TYPES), out, one_in=11):
        for accum in ACCUMULATORS:

            def statement(g: Any, o: Any, accum: str = accum) -> Any:
                w = o.w.dup(out)
                target(g, w, o.m, "values", accum, False) << o.u.ewise_add(o.v, g.monoid.plus)
                return w

            judge(statement, operands(seed, dtype), engine, (dtype, "into", out, accum))


@pytest.mark.parametrize("density", [0.0, 1.0])
@pytest.mark.parametrize("n", [0, 1, 2, 33, 64])
def test_empty_full_and_small(n: int, density: float, engine: Engine) -> None:
    for name, make in VECTOR.items():
        if n or "extract" not in name:
            for mask in engine.sample(MASKS, f"{name}{n}{density}", one_in=3):
                judge(written(make, "w", mask, "none", False), operands(n, n=n, density=density), engine, (name, mask))
    for name, make in MATRIX.items():
        if n or "extract" not in name:
            judge(written(make, "C", "none", "none", False), operands(n, n=n, density=density), engine, name)
    for name, make in SCALAR.items():
        judge(lambda g, o, make=make: make(g, o).new(), operands(n, n=n, density=density), engine, name)


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_in_every_way(name: str, engine: Engine) -> None:
    def statement(g: Any, o: Any, accum: str, start: Any, dtype: str) -> Any:
        s = g.Scalar(dtype)
        if start is not None:
            s << start
        target(g, s, None, "none", accum, False) << SCALAR[name](g, o)
        return s

    for density in (0.0, 0.5):
        for accum in ("none", "plus", "min"):
            for start in (None, 3):
                if start is None and accum != "none" and "identity" in name:
                    continue  # the judge accumulates onto undefined memory in its empty C scalar
                for dtype in ("INT64", "FP64", "INT8"):
                    label = (name, density, accum, start, dtype)
                    arrays = operands(1, "INT16", density=density)
                    judge(lambda g, o, a=accum, s=start, d=dtype: statement(g, o, a, s, d), arrays, engine, label)


ALIASED: dict[str, Any] = {
    "operand": lambda g, o: o.w << o.w.ewise_add(o.v, g.binary.plus),
    "both operands": lambda g, o: o.w << o.w.ewise_mult(o.w, g.binary.plus),
    "mask by structure": lambda g, o: o.w(o.w.S) << o.u,
    "mask by values, replace": lambda g, o: o.w(o.w.V, replace=True) << o.u,
    "complement, replace": lambda g, o: o.w(~o.w.S, replace=True) << o.u,
    "mask and operand": lambda g, o: o.w(~o.w.S, replace=True) << o.A.mxv(o.w, g.semiring.min_plus),
    "accumulate onto itself": lambda g, o: o.w(g.binary.plus) << o.w,
    "mxv operand": lambda g, o: o.w << o.A.mxv(o.w, g.semiring.plus_times),
    "vxm operand and mask": lambda g, o: o.w(o.w.V, g.binary.min) << o.w.vxm(o.A, g.semiring.min_plus),
    "select": lambda g, o: o.w << o.w.select(">", 0),
    "apply": lambda g, o: o.w(~o.w.V) << o.w.apply(g.binary.plus, 1),
    "reversed": lambda g, o: o.w << o.w[::-1],
    "assigned reversed": lambda g, o: o.w[::-1] << o.w.dup(),
    "operand and mask of the vector written to": lambda g, o: o.w(o.w.S, g.binary.plus, replace=True) << o.w,
}


@pytest.mark.parametrize("name", ALIASED)
def test_the_output_may_be_an_operand_or_the_mask(name: str, engine: Engine) -> None:
    def statement(g: Any, o: Any) -> Any:
        ALIASED[name](g, o)
        return o.w

    for seed in range(6):
        judge(statement, operands(seed, ("INT64", "FP32", "BOOL")[seed % 3]), engine, (name, seed))
