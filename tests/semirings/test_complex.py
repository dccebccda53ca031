"""Complex numbers: the operators that accept them, and their result types, are python-graphblas's."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.registering import Parameterized
from sparsezc.semirings.types import datatypes
from tests.emulator import resources

from . import cuda_expressions, judge
from .cuda_expressions import HostProgram

FINITE = np.array([1.5 + 2j, -3.7, 0.25j, 2 - 2j, -1 - 0.5j, 4, 1 + 1e-9j, -0.5 + 3j])


def table(op: Any, *, ours: bool) -> dict[str, tuple[str, str]]:
    """Return ``{FC32 or FC64: (operand type, result type)}``."""
    found = [t for t in op.types if t.name.startswith("FC")]
    return {t.name: (op[t if ours else t.name].type.name, op[t if ours else t.name].return_type.name) for t in found}


@pytest.mark.parametrize("kind", judge.KINDS)
def test_types(kind: str) -> None:
    for name, theirs in judge.operators(kind).items():
        ours = names.names_of(kind)[name]
        if isinstance(ours, Parameterized):  # made from a function, which takes real numbers only
            continue
        want = table(theirs, ours=False)
        if ours.is_positional:  # python-graphblas lists complex types for them; they work with every type
            assert all(ours[t].type.name == pair[0] for t, pair in want.items()), name
        else:
            mine = table(ours, ours=True)
            if name.endswith(judge.CONVERTING):
                assert mine.items() >= want.items(), f"{kind}.{name}"
            else:
                assert mine == want, f"{kind}.{name}"


def operators(kind: str) -> list[tuple[str, str]]:
    return [
        (name, dtype)
        for name, op in names.names_of(kind).items()
        for dtype in ("FC32", "FC64")
        if any(t.name == dtype for t in op.types)
    ]


def typed() -> list[Any]:
    """Return every operator with complex operands or results, in each type."""
    found = [
        names.lookup(kind, name)[dtype] for kind in ("unary", "binary", "select") for name, dtype in operators(kind)
    ]
    return [*found, *(names.lookup("binary", "cmplx")[t] for t in ("FP32", "FP64"))]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> HostProgram:
    """Return the compiled CUDA expressions of these operators."""
    return HostProgram(typed(), tmp_path_factory.mktemp("complex"))


def same(got: Any, want: Any, dtype: str) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_allclose(
        got, want, rtol=2e-5 if dtype == "FC32" else 1e-12, atol=1e-6 if dtype == "FC32" else 1e-14
    )


@pytest.mark.parametrize(("name", "dtype"), operators("unary"))
def test_unary(name: str, dtype: str, program: HostProgram) -> None:
    x = FINITE.astype(datatypes.lookup(dtype).np_type)
    want = judge.apply(judge.operators("unary")[name][dtype], x)
    ours = names.names_of("unary")[name][dtype]
    same(ours.numpy(x), want, dtype)
    same(program(ours, x, x), want, dtype)


@pytest.mark.parametrize(("name", "dtype"), operators("binary"))
def test_binary(name: str, dtype: str, program: HostProgram) -> None:
    x, y = (a.ravel().astype(datatypes.lookup(dtype).np_type) for a in np.meshgrid(FINITE, FINITE))
    ours = names.names_of("binary")[name][dtype]
    want = judge.combine(judge.operators("binary")[name][dtype], x, y).astype(ours.return_type.np_type)
    same(ours.numpy(x, y), want, dtype)
    same(program(ours, x, y), want, dtype)


@pytest.mark.parametrize(("name", "dtype"), operators("select"))
def test_selections(name: str, dtype: str, program: HostProgram) -> None:
    x, y = (a.ravel().astype(datatypes.lookup(dtype).np_type) for a in np.meshgrid(FINITE, FINITE))
    assert program(names.lookup("select", name)[dtype], x, y).tolist() == ((x == y) == (name == "valueeq")).tolist()


@pytest.mark.parametrize("name", ["cdiv", "truediv", "minv"])
def test_division_by_zero(name: str, program: HostProgram) -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.array([0, 2, 1j, 1 - 1j, -0.5j]), np.array([0, 2, -1j, 0, 3 + 4j])))
    if name == "minv":
        ours = names.lookup("unary", name)["FC64"]
        want = judge.apply(judge.operators("unary")[name]["FC64"], x)
    else:
        ours = names.lookup("binary", name)["FC64"]
        want = judge.combine(judge.operators("binary")[name]["FC64"], x, y)
    np.testing.assert_allclose(program(ours, x, y), want, rtol=1e-14)


def test_the_ends_of_functions(program: HostProgram) -> None:
    """At zeros, branch cuts and large numbers the CUDA expressions equal C's functions."""
    x = np.array([0, -0.0, 1, -1, 1j, -1j, -2, 2, 1e-12 + 1e-12j, 30 + 2j, -30 - 2j, 2 + 30j, 1e150 + 1e150j])
    for name in ("sqrt", "tanh", "tan", "asin", "acos", "asinh", "atan", "exp2", "signum"):
        ours = names.lookup("unary", name)["FC64"]
        want = judge.apply(judge.operators("unary")[name]["FC64"], x)
        known = np.isfinite(want)
        np.testing.assert_allclose(program(ours, x, x)[known], want[known], rtol=1e-12, atol=1e-25, err_msg=name)


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_nvrtc_takes_every_operator() -> None:
    every = [op for op in typed() if "FC64" in (op.type.name, op.return_type.name)]
    usage = resources.parse_report(resources.compile_program(cuda_expressions.text(every, device=True), 90))
    assert len(usage) == len(every) > 50


def test_of_two_parts(program: HostProgram) -> None:
    x, y = np.array([1.0, -2]), np.array([3.0, 0.5])
    cmplx = names.lookup("binary", "cmplx")
    assert cmplx["FP64"].numpy(x, y).tolist() == program(cmplx["FP64"], x, y).tolist() == [1 + 3j, -2 + 0.5j]
    assert {t.name: z.name for t, z in cmplx.types.items()} == {
        t.name: z.name for t, z in graphblas.binary.cmplx.types.items() if not t.name.startswith("FC")
    }


def test_conversions() -> None:
    x = np.array([1.5 + 2j, -3.7, 0, complex(np.nan, 1), 1e30 - 1j, 2j, np.inf])
    for to in datatypes.ALL:
        np.testing.assert_array_equal(datatypes.cast(x, to), judge.vector(x).dup(to.name).to_dense())
    for t in (*datatypes.ALL, *datatypes.COMPLEX):
        for other in datatypes.COMPLEX:
            want = graphblas.dtypes.unify(
                graphblas.dtypes.lookup_dtype(t.name), graphblas.dtypes.lookup_dtype(other.name)
            )
            assert datatypes.unify(t, other).name == want.name


def test_monoids() -> None:
    for name in ("plus", "times", "any"):
        for dtype in ("FC32", "FC64"):
            ours, theirs = names.lookup("monoid", name)[dtype], getattr(graphblas.monoid, name)[dtype]
            assert (ours.identity, ours.identity.dtype) == (theirs.identity, datatypes.lookup(dtype).np_type)
