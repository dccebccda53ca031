"""The NumPy function of every operator equals SuiteSparse's result, for every type, at extreme and random values."""

from __future__ import annotations

import graphblas as gb
import numpy as np
import pytest

from sparsezc.semirings import TypedOp, binary, indexunary, select, unary
from sparsezc.semirings.algebra.names import names_of
from sparsezc.semirings.types import datatypes

from . import judge, samples
from .cases import case, operators_of_values


@pytest.mark.parametrize("typed", operators_of_values("unary") + operators_of_values("binary"), ids=repr)
def test_values(typed: TypedOp) -> None:
    case(typed).check(typed.numpy(*case(typed).operands))


@pytest.mark.parametrize("typed", operators_of_values("indexunary"), ids=repr)
def test_tests_of_values(typed: TypedOp) -> None:
    x, thunk = case(typed).operands
    case(typed).check(typed.numpy(x, 0, 0, thunk))
    case(typed).check(getattr(select, typed.name)[typed.type].numpy(x, 0, 0, thunk))


def dense(nrows: int, ncols: int) -> tuple[gb.Matrix, np.ndarray, np.ndarray]:
    i, j = np.indices((nrows, ncols))
    return gb.Matrix.from_dense(np.ones((nrows, ncols), np.int64)), i, j


@pytest.mark.parametrize("name", ["positioni", "positioni1", "positionj", "positionj1"])
def test_positions(name: str) -> None:
    A, i, j = dense(3, 4)
    for t in ("INT32", "INT64", "FP32"):
        theirs = judge.operators("unary")[name][t]
        typed = getattr(unary, name)[t]
        np.testing.assert_array_equal(typed.numpy(i, j), A.apply(theirs).new().to_dense())
        assert typed.numpy(i, j).dtype == typed.return_type.np_type


@pytest.mark.parametrize("name", [name for name, op in names_of("binary").items() if op.is_positional])
def test_positions_of_two(name: str) -> None:
    ours, theirs = getattr(binary, name), judge.operators("binary")[name]
    A, _, _ = dense(3, 4)
    B, _, _ = dense(4, 5)
    i, k, j = np.indices((3, 4, 5))
    for t in ("INT32", "INT64"):
        C = A.mxm(B, gb.semiring.get_semiring(gb.monoid.plus, theirs)[t]).new().to_dense()
        np.testing.assert_array_equal(ours[t].numpy(i, k, j).sum(axis=1), C)
        i2, j2 = np.indices((3, 4))
        at = eval(ours[t].elementwise, {"i": i2, "j": j2})  # this CUDA expression is Python, too
        np.testing.assert_array_equal(at, A.ewise_mult(A, theirs[t]).new().to_dense())


@pytest.mark.parametrize("name", [name for name in names_of("indexunary") if not name.startswith("value")])
@pytest.mark.parametrize("thunk", [-2, 0, 1])
def test_tests_of_positions(name: str, thunk: int) -> None:
    A, i, j = dense(5, 4)
    typed = getattr(indexunary, name)["INT64" if name.endswith("index") else "BOOL"]
    theirs = judge.operators("indexunary")[name]["INT64" if name.endswith("index") else "BOOL"]
    got = typed.numpy(np.ones((5, 4)), i, j, thunk)
    np.testing.assert_array_equal(got, A.apply(theirs, right=thunk).new().to_dense())
    if name in judge.operators("select"):
        keep = getattr(select, name)["FP64"].numpy(np.ones((5, 4)), i, j, thunk)
        kept = A.select(judge.operators("select")[name], thunk).new()
        np.testing.assert_array_equal(keep, kept.to_dense(fill_value=0))


@pytest.mark.parametrize("to", datatypes.ALL, ids=str)
def test_conversion_of_types(to: datatypes.DataType) -> None:
    for t in datatypes.ALL:
        x = samples.values(t)
        expected = judge.vector(x).dup(to.name).to_dense()
        got = datatypes.cast(x, to)
        assert got.dtype == to.np_type
        np.testing.assert_array_equal(got, expected)
