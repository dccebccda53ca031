"""Systems of equations and distances by rows, and values of entries, equal NumPy's and SciPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import sparsezc as gb
from sparsezc import ops

ENGINES = ["cpu", "gpu"]


@pytest.fixture(autouse=True)
def no_fallback(gpu: Any) -> Any:
    """Turn a warning of a fallback into an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        yield


@pytest.mark.parametrize("m", [7, 200])
@pytest.mark.parametrize("engine", ENGINES)
def test_each_row_is_a_system(engine: str, m: int) -> None:
    rng = np.random.default_rng(1)
    k = 4
    square = rng.random((m, k, k))
    square = square @ square.transpose(0, 2, 1) + np.eye(k)
    upper, b = np.triu_indices(k), rng.random((m, k))
    G, B = (gb.Matrix.from_dense(each).to(engine) for each in (square[:, upper[0], upper[1]], b))
    expected = np.linalg.solve(square, b[:, :, None])[:, :, 0]
    assert np.allclose(ops.solve(G, B).new().to_dense(), expected)
    # a row incomplete in B has no solution, and a row absent in G is not solved
    some = gb.Vector.from_coo(np.arange(0, m, 2), 1.0, size=m)
    G, B = (some.ewise_mult(each, "second").new() for each in (G, B))
    holes = gb.Matrix.from_coo([2], [1], 1.0, nrows=m, ncols=k)
    B = B.select(~holes.to(engine).S).new()
    found = ops.solve(G, B).new()
    wanted = np.setdiff1d(np.arange(0, m, 2), [2])
    assert sorted(set(found.to_coo()[0].tolist())) == wanted.tolist()
    assert np.allclose(found.to_dense(0.0)[wanted], expected[wanted])
    C = gb.Matrix("FP64", m, k).to(engine)
    C[:, :] << 0.5
    C(gb.binary.plus) << ops.solve(G, B)
    assert np.allclose(C.to_dense(), 0.5 + found.to_dense(0.0))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_singular_system_is_refused(engine: str) -> None:
    G, B = gb.Matrix.from_dense([[1.0, 1.0, 1.0]] * 3).to(engine), gb.Matrix.from_dense([[1.0, 2.0]] * 3).to(engine)
    with pytest.raises(gb.exceptions.InvalidValue, match="solve: a row's matrix is singular"):
        ops.solve(G, B).new()


@pytest.mark.parametrize("shape", [(5, 3, 2), (300, 3, 4), (300, 2, 20)])
@pytest.mark.parametrize("engine", ENGINES)
def test_distances(engine: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(2)
    x, y = rng.random((m, k)), rng.integers(0, 3, (n, k))
    found = ops.distances(gb.Matrix.from_dense(x).to(engine), gb.Matrix.from_dense(y).to(engine)).new()
    assert np.allclose(found.to_dense(), cdist(x, y), rtol=1e-14)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_values_by_themselves(engine: str, same: bool) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 3], [2, 0, 2, 1], 7 if same else [5, 3, 8, 1], nrows=4, ncols=3).to(engine)
    v = ops.values_of(A).new()
    assert v.isequal(gb.Vector.from_dense([7] * 4 if same else [5, 3, 8, 1]))
    assert ops.with_values(A, v).new().isequal(A)
    other = ops.with_values(A, gb.Vector.from_dense([0.5, 1.5, 2.5, 3.5])).new()
    assert other.to_dicts() == {0: {2: 0.5}, 1: {0: 1.5, 2: 2.5}, 3: {1: 3.5}}
    assert ops.values_of(A.T.new()).new().nvals == 4


def test_bad_shapes() -> None:
    A, B = gb.Matrix.from_dense(np.ones((3, 2))), gb.Matrix.from_dense(np.ones((4, 3)))
    for call, said in (
        (lambda: ops.solve(A, B), "solve: G, .* must be 4 x 6"),
        (lambda: ops.distances(A, B), "has 2 columns and Y"),
        (lambda: ops.with_values(A, gb.Vector.from_dense([1, 2])), "has 2 entries; .* needs 6"),
    ):
        with pytest.raises(gb.exceptions.DimensionMismatch, match=said):
            call()
    with pytest.raises(gb.exceptions.DomainMismatch, match="real numbers are needed"):
        ops.distances(A.dup("FC64"), A)
