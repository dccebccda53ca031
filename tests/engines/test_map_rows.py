"""ops.map_rows on both engines equals the function itself in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, UdfParseError
from sparsezc.semirings.udf.rows import RowFunction

SCALE = 2.0


def turned(a: float, b: float, c: float, d: float, e: float) -> tuple[float, ...]:
    length = math.sqrt(a * a + b * b)
    if length > 1:
        return a / length, math.sin(length), c + SCALE * d
    return length, e, length * 2


def matrices(n: int) -> tuple[gb.Matrix, gb.Matrix]:
    """Return a matrix of three columns of FP64, and one of two columns of integers that lacks some entries."""
    rng = np.random.default_rng(n)
    return (
        gb.Matrix.from_dense(2 * rng.random((n, 3))),
        gb.Matrix.from_dense(rng.integers(0, 5, (n, 2)), dtype="INT16", missing_value=2),
    )


def expected(X: gb.Matrix, Y: gb.Matrix) -> Any:
    rows = np.c_[X.to_dense(0), Y.to_dense(0)].tolist()
    return np.array([turned(*row) for row in rows])


@pytest.mark.parametrize("n", [1, 33, 1000])
@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_rows_are_what_the_function_returns(n: int, engine: str, gpu: Any) -> None:
    row, (X, Y) = ops.row_function(turned), matrices(n)
    given = X.to(engine), Y.to(engine)
    want, rng = expected(X, Y), np.random.default_rng(1)
    found = ops.map_rows(row, *given).new()
    assert (found.shape, found.dtype, found.nvals) == ((n, 3), gb.dtypes.FP64, 3 * n)
    assert np.allclose(found.to_dense(), want, rtol=1e-14, atol=0)
    allowed = rng.random((n, 3)) < 0.2
    mask = gb.Matrix.from_dense(allowed, missing_value=False).to(engine)
    for kind, lets in ((mask.S, allowed), (~mask.S, ~allowed)):
        some = ops.map_rows(row, *given).new(mask=kind)
        assert np.allclose(some.to_dense(np.nan), np.where(lets, want, np.nan), rtol=1e-14, equal_nan=True)
        out = gb.Matrix.from_dense(np.ones((n, 3))).to(engine)
        out(kind, accum="plus") << ops.map_rows(row, *given)
        assert np.allclose(out.to_dense(), np.where(lets, 1 + want, 1.0), rtol=1e-14)
        out(kind) << ops.map_rows(row, out, given[1])
        assert out.nvals == 3 * n  # the output is also an operand


def test_without_rows(gpu: Any) -> None:
    for engine in ("cpu", "gpu"):
        X = gb.Matrix("FP64", 0, 2).to(engine)
        assert ops.map_rows(ops.row_function(lambda x, y: y), X).new().shape == (0, 1)


def test_constants_keep_their_value(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = matrices(40)
    row, before = ops.row_function(turned), expected(X, Y)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert np.allclose(ops.map_rows(row, X, Y).new().to_dense(), before)


def test_errors() -> None:
    X, Y = matrices(40)
    row = ops.row_function(turned)
    assert repr(row) == "turned"
    with pytest.raises(DimensionMismatch, match="the matrices have 3 columns; turned has 5 parameters"):
        ops.map_rows(row, X)
    with pytest.raises(DimensionMismatch, match=r"has 40 rows and .* 41; as many are needed"):
        ops.map_rows(row, X, gb.Matrix("FP64", 41, 2))
    with pytest.raises(DimensionMismatch, match="there are 0 matrices; 1 to 4 are possible"):
        ops.map_rows(row)
    with pytest.raises(DomainMismatch, match="is of FC64; a real type is needed"):
        ops.map_rows(row, X, Y.dup("FC64"))
    with pytest.raises(DomainMismatch, match="function is a function; a result of row_function is needed"):
        ops.map_rows(turned, X, Y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="func must be a function written in Python"):
        RowFunction(math.sin)
    with pytest.raises(UdfParseError, match="2 numbers on one path and 1 on another"):
        ops.row_function(_uneven)
    with pytest.raises(UdfParseError, match="a path through it ends without return"):
        ops.row_function(lambda x: ())
    stale = ops.map_rows(row, X, Y)
    X.resize(41, 3)
    with pytest.raises(DimensionMismatch):
        stale.new()


def _uneven(x: float) -> Any:
    if x > 1:
        return x, x
    return x
