"""ops.argsort on both engines, against NumPy's stable sort."""

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.gpu.elementwise import value_order
from sparsezc.exceptions import DomainMismatch, InvalidValue

N = 300
_RNG = np.random.default_rng(5)
VALUES = {
    "BOOL": _RNG.integers(0, 2, N),
    "INT8": _RNG.integers(-5, 5, N),
    "UINT16": _RNG.integers(0, 2**16, N),
    "INT64": _RNG.integers(-(2**62), 2**62, N),
    "UINT64": _RNG.integers(0, 2**64, N, np.uint64),
    "FP32": _RNG.choice([-np.inf, -1.5, -0.0, 0.0, 1e-40, 2.5, np.inf, np.nan, -np.nan], N),
    "FP64": _RNG.standard_normal(N),
}


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
@pytest.mark.parametrize("dtype", VALUES)
def test_the_order_is_that_of_a_stable_sort(gpu: Any, dtype: str, engine: str) -> None:
    at = np.flatnonzero(np.arange(2 * N) % 4 < 2)
    for positions, size in ((at, 2 * N), (np.arange(N), N)):
        v = gb.Vector.from_coo(positions, VALUES[dtype], dtype, size=size).to(engine)
        order = positions[np.argsort(v.to_coo()[1], kind="stable")]
        for k in (None, 0, 1, 17, N - 1, N, 5 * N):
            found = ops.argsort(v, k).new()
            size = N if k is None else min(N, k)
            assert (found.dtype, found.size, found._engine.name) == (gb.dtypes.INT64, size, engine)
            assert np.array_equal(found.to_dense(), order[:k])


@pytest.mark.parametrize("dtype", ["INT32", "INT64", "UINT64", "FP32", "FP64"])
def test_whole_numbers_near_each_other(gpu: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only whole numbers within a range of 2^16 are sorted by two bytes; all orders are stable."""
    monkeypatch.setattr(value_order, "_MANY", 1)
    near = _RNG.integers(0, 90, N) + (0 if dtype[0] == "U" else -40)
    for last in (7, 2**16 + 100, 7.5, np.nan):
        if dtype[0] != "F" and last != int(np.nan_to_num(last)):
            continue
        values = np.append(near, last).astype(gb.dtypes.lookup_dtype(dtype).np_type)
        found = ops.argsort(gb.Vector.from_dense(values, dtype=dtype).to("gpu")).new().to_dense()
        assert np.array_equal(found, np.argsort(values, kind="stable"))


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_results_are_written_as_any_are(gpu: Any, engine: str) -> None:
    v = gb.Vector.from_dense([3, 1, 2, 1]).to(engine)
    out = gb.Vector.from_dense([10.0, 20.0, 30.0, 40.0]).to(engine)
    out(gb.Vector.from_coo([0, 2], True, size=4).S, accum="plus") << ops.argsort(v)
    assert out.to_dense().tolist() == [11.0, 20.0, 32.0, 40.0]
    v << ops.argsort(v)
    assert v.to_dense().tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_nothing_to_sort(gpu: Any, engine: str) -> None:
    assert ops.argsort(gb.Vector("FP64", 7).to(engine)).new().size == 0
    v = gb.Vector.from_coo([1, 2], [5, 6], size=3).to(engine)
    listed = ops.argsort(v)
    v.clear()
    gb.Vector("INT64", 3).to(engine).resize(4)  # once an operand was resized, all statements compare shapes
    assert (listed.new().size, listed.new().nvals) == (2, 0)


@pytest.mark.parametrize(
    ("dtype", "k", "error", "message"),
    [
        ("FC64", None, DomainMismatch, "is of a type without an order"),
        ("FP64", -1, InvalidValue, "argsort: k is -1; at least 0 is needed"),
        ("FP64", 1.5, TypeError, "argsort: k is 1.5 of type float; an integer is needed"),
    ],
)
def test_bad_input(dtype: str, k: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ops.argsort(gb.Vector(dtype, 3), k)
