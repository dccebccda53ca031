"""ops.stack on both engines, against NumPy."""

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

_RNG = np.random.default_rng(3)


def block(nrows: int, share: float, dtype: str = "INT64") -> gb.Matrix:
    there = _RNG.random((nrows, 40)) < share
    i, j = np.nonzero(there)
    return gb.Matrix.from_coo(i, j, _RNG.integers(0, 9, i.size), dtype, nrows=nrows, ncols=40)


@pytest.mark.parametrize("placement", ["host", "device", "zerocopy"])
@pytest.mark.parametrize("dtype", ["INT64", "BOOL", "FP32"])
def test_rows_of_each_in_turn(gpu: Any, dtype: str, placement: str) -> None:
    given = [block(7, 0.2, dtype), block(0, 0, dtype), block(3, 0, dtype), block(33, 0.5, dtype), block(40, 1, dtype)]
    given[3:3] = [gb.Matrix.from_coo([1], [2], True, dtype, nrows=4, ncols=40)]
    wanted = np.concatenate([A.to_dense(-1) for A in given] + [given[-1].to_dense(-1).T])
    placed = given if placement == "host" else [A.to("gpu", placement=placement) for A in given]
    with gb.config.set(fallback="error"):
        found = ops.stack(*placed, placed[-1].T).new()
    assert found.dtype is given[0].dtype
    assert (
        found.to("cpu").nvals == (wanted != -1).sum()
        if dtype != "BOOL"
        else found.nvals == sum(A.nvals for A in [*given, given[-1]])
    )
    assert np.array_equal(found.to_dense(-1), wanted)


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_entries_of_one_value(gpu: Any, engine: str) -> None:
    one, two = (gb.Matrix.from_coo([0, 1], [2, 0], x, nrows=2, ncols=3).to(engine) for x in (5, 6))
    assert ops.stack(one, one).new().to_dense(0).tolist() == 2 * [[0, 0, 5], [5, 0, 0]]
    assert ops.stack(one, two).new().to_dense(0).tolist() == [[0, 0, 5], [5, 0, 0], [0, 0, 6], [6, 0, 0]]
    out = one.dup()
    out(accum="plus") << ops.stack(one[1:, :].new(), two[:1, :].new())
    assert out.to_dense(0).tolist() == [[5, 0, 5], [5, 0, 6]]
    assert ops.stack(gb.Matrix("INT64", 0, 3).to(engine), gb.Matrix("INT64", 0, 3)).new().shape == (0, 3)


def test_bad_input() -> None:
    A = gb.Matrix("INT64", 2, 3)
    for blocks, error, message in (
        ((), InvalidValue, "stack: there are no matrices"),
        ((A, gb.Matrix("INT64", 2, 4)), DimensionMismatch, "stack: matrix 1, .* has 4 columns and matrix 0 3"),
        ((A, A, gb.Matrix("INT32", 2, 3)), DomainMismatch, "stack: matrix 2 is of type INT32 and matrix 0 of INT64"),
    ):
        with pytest.raises(error, match=message):
            ops.stack(*blocks)
