"""Complex numbers: the operators that take them, and what they make of them, are python-graphblas's."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

from sparsezc.semirings import names, types
from sparsezc.semirings.registering import Parameterized

from . import judge

FINITE = np.array([1.5 + 2j, -3.7, 0.25j, 2 - 2j, -1 - 0.5j, 4, 1 + 1e-9j, -0.5 + 3j])


def table(op: Any, *, ours: bool) -> dict[str, tuple[str, str]]:
    """``{FC32 or FC64: (operand type, result type)}``."""
    found = [t for t in op.types if t.name.startswith("FC")]
    return {t.name: (op[t if ours else t.name].type.name, op[t if ours else t.name].return_type.name) for t in found}


@pytest.mark.parametrize("kind", judge.KINDS)
def test_types(kind: str) -> None:
    for name, theirs in judge.operators(kind).items():
        ours = names.names_of(kind)[name]
        if isinstance(ours, Parameterized):  # made of a function, and those are of real numbers
            continue
        want = table(theirs, ours=False)
        if ours.is_positional:  # they work with every type, and say so of complex ones there
            assert all(ours[t].type.name == pair[0] for t, pair in want.items()), name
        else:
            assert table(ours, ours=True) == want, f"{kind}.{name}"


def operators(kind: str) -> list[tuple[str, str]]:
    return [
        (name, dtype)
        for name, op in names.names_of(kind).items()
        for dtype in ("FC32", "FC64")
        if any(t.name == dtype for t in op.types)
    ]


def same(got: Any, want: Any, dtype: str) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_allclose(
        got, want, rtol=2e-5 if dtype == "FC32" else 1e-12, atol=1e-6 if dtype == "FC32" else 1e-14
    )


@pytest.mark.parametrize(("name", "dtype"), operators("unary"))
def test_unary(name: str, dtype: str) -> None:
    x = FINITE.astype(types.lookup(dtype).np_type)
    theirs = judge.operators("unary")[name][dtype]
    same(names.names_of("unary")[name][dtype].numpy(x), judge.apply(theirs, x), dtype)


@pytest.mark.parametrize(("name", "dtype"), operators("binary"))
def test_binary(name: str, dtype: str) -> None:
    x, y = (a.ravel().astype(types.lookup(dtype).np_type) for a in np.meshgrid(FINITE, FINITE))
    theirs = judge.operators("binary")[name][dtype]
    typed = names.names_of("binary")[name][dtype]
    same(typed.numpy(x, y), judge.combine(theirs, x, y).astype(typed.return_type.np_type), dtype)


def test_of_two_parts() -> None:
    x, y = np.array([1.0, -2]), np.array([3.0, 0.5])
    cmplx = names.lookup("binary", "cmplx")
    assert cmplx["FP64"].numpy(x, y).tolist() == [1 + 3j, -2 + 0.5j]
    assert {t.name: z.name for t, z in cmplx.types.items()} == {
        t.name: z.name for t, z in graphblas.binary.cmplx.types.items() if not t.name.startswith("FC")
    }


def test_conversions() -> None:
    x = np.array([1.5 + 2j, -3.7, 0, complex(np.nan, 1), 1e30 - 1j, 2j, np.inf])
    for to in types.ALL:
        np.testing.assert_array_equal(types.cast(x, to), judge.vector(x).dup(to.name).to_dense())
    for t in (*types.ALL, *types.COMPLEX):
        for other in types.COMPLEX:
            want = graphblas.dtypes.unify(
                graphblas.dtypes.lookup_dtype(t.name), graphblas.dtypes.lookup_dtype(other.name)
            )
            assert types.unify(t, other).name == want.name


def test_monoids() -> None:
    for name in ("plus", "times", "any"):
        for dtype in ("FC32", "FC64"):
            ours, theirs = names.lookup("monoid", name)[dtype], getattr(graphblas.monoid, name)[dtype]
            assert (ours.identity, ours.identity.dtype) == (theirs.identity, types.lookup(dtype).np_type)
