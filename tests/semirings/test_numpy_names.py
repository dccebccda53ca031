"""Operators with NumPy's names that are functions here: types and values equal python-graphblas's, in each form."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.semirings.types import datatypes as types
from sparsezc.semirings.types.datatypes import DataType

from . import judge, samples
from .cuda_expressions import HostProgram

NAMES = [("binary", "maximum"), ("binary", "minimum"), ("binary", "fmod"), ("unary", "reciprocal")]


def untyped(module: Any, kind: str, name: str) -> Any:
    return getattr(getattr(module, kind).numpy, name)


def values(dtype: DataType) -> np.ndarray:
    """Return the extremes of a type, or complex numbers of all pairs of such parts, infinite and NaN among them."""
    if not dtype.is_complex:
        return samples.edges(dtype)
    parts = np.array([0.0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan])
    real, imaginary = np.meshgrid(parts, parts)
    made = np.empty(real.size, dtype.np_type)
    made.real, made.imag = real.ravel(), imaginary.ravel()
    return made


def operands(kind: str, dtype: DataType) -> tuple[np.ndarray, ...]:
    x = values(dtype)
    return (x,) if kind == "unary" else tuple(each.ravel() for each in np.meshgrid(x, x))


def compared(name: str, given: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return where the judge has a right result; docs/operators.md describes its results elsewhere."""
    x, dtype = given[0], given[0].dtype
    if name == "reciprocal" and dtype.kind in "iu":
        return x != 0
    if name == "fmod" and dtype.kind == "i":
        return (x >= 0) & (given[1] >= 0)
    return np.ones(x.shape, bool)


def same(got: np.ndarray, want: np.ndarray, message: str) -> None:
    """Check that numbers are equal, complex ones part by part; NaN equals NaN."""
    assert got.dtype == want.dtype, message
    if want.dtype.kind == "c":
        for a, b in ((got.real, want.real), (got.imag, want.imag)):
            np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == np.float32 else 1e-15, err_msg=message)
    else:
        np.testing.assert_array_equal(got, want, err_msg=message)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> HostProgram:
    """Return the compiled CUDA expressions of these operators."""
    every = [untyped(gb, *each)[t] for each in NAMES for t in untyped(gb, *each).types]
    return HostProgram(every, tmp_path_factory.mktemp("numpy"))


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_types(kind: str, name: str) -> None:
    ours, theirs = untyped(gb, kind, name), untyped(graphblas, kind, name)
    assert {t.name: z.name for t, z in ours.types.items()} == {t.name: z.name for t, z in theirs.types.items()}


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_values(kind: str, name: str, program: HostProgram) -> None:
    for dtype in untyped(gb, kind, name).types:
        ours, given = untyped(gb, kind, name)[dtype], operands(kind, dtype)
        got, cuda = ours.numpy(*given), program(ours, *(given * 2)[:2])
        same(cuda, got, f"CUDA, {ours!r}")
        by = gb.Vector.from_dense(given[0])
        made = by.apply(ours) if kind == "unary" else by.ewise_mult(gb.Vector.from_dense(given[1]), ours)
        same(made.new().to_dense(), got, f"CPU engine, {ours!r}")
        at = compared(name, given)
        given = tuple(x[at] for x in given)
        theirs = untyped(graphblas, kind, name)[dtype.name]
        want = judge.apply(theirs, *given) if kind == "unary" else judge.combine(theirs, *given)
        same(got[at], want, repr(ours))


@pytest.mark.parametrize("dtype", ["INT8", "INT16", "INT32", "INT64"])
def test_fmod_has_the_first_operands_sign(dtype: str) -> None:
    given = operands("binary", types.lookup(dtype))
    with np.errstate(divide="ignore"):
        want = np.fmod(*given)
    same(gb.binary.numpy.fmod[dtype].numpy(*given), want, dtype)


def test_the_reciprocal_of_0_where_it_is_undefined_in_c(program: HostProgram) -> None:
    """It is python-graphblas's result on x86, with AVX-512 for unsigned types."""
    ends = {"INT32": -(2**31), "INT64": -(2**63), "UINT32": 2**32 - 1, "UINT64": 2**64 - 1}
    for dtype in types.INTEGERS:
        op, zero = gb.unary.numpy.reciprocal[dtype], np.zeros(1, dtype.np_type)
        want = [ends.get(dtype.name, 0)]
        assert op.numpy(zero).tolist() == program(op, zero, zero).tolist() == want
        assert gb.Vector.from_dense(zero).apply(op).new().to_dense().tolist() == want


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_monoids(name: str) -> None:
    ours, theirs = getattr(gb.monoid.numpy, name), getattr(graphblas.monoid.numpy, name)
    assert {t.name: x for t, x in ours.identities.items()} == {t.name: x for t, x in theirs.identities.items()}
    assert ours.is_idempotent


def test_functions_that_call_them_have_the_judges_types() -> None:
    for function in (
        lambda x, y: np.maximum(x, y), lambda x, y: np.minimum(x, y), lambda x, y: np.fmax(x, y),
        lambda x, y: np.fmin(x, y), lambda x, y: np.fmod(x, y),
    ):  # fmt: skip
        theirs = graphblas.binary.register_anonymous(function)
        want = {t.name: z.name for t, z in theirs.types.items() if not t.name.startswith("FC")}
        assert {t.name: z.name for t, z in gb.binary.register_anonymous(function).types.items()} == want
