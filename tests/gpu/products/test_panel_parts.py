"""Parts and sums of panels, vectors beside them, and full matrices sent to the device, equal the CPU engine's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core.access import forms
from sparsezc.engines.gpu.elementwise import panel
from tests.gpu.placements.test_sddmm import full

N, K = 200, 5


@pytest.fixture(params=["full", "holes"])
def pair(gpu: Any, request: pytest.FixtureRequest) -> tuple[gb.Matrix, gb.Matrix]:
    """Return a matrix of few columns on the CPU engine, and as a panel on the GPU engine."""
    X = full(np.random.default_rng(1), N, K, "FP64")
    x = X.to("gpu")
    if request.param == "holes":
        X, x = (each.select(">", 1).new() for each in (X, x))
    x._store.hold(panel.get_or_build(x._store, K, False))
    return X, x


def same(x: Any, X: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        assert x.new().isequal(X.new())


PARTS = [np.s_[:, 2], np.s_[3:90, 1], np.s_[10:190, :], np.s_[::-3, :], np.s_[[5, 0, 5, 199], 1:3], np.s_[:, [0, 3]]]
PARTS += [np.s_[7, :], np.s_[np.arange(N)[::-1], :]]


@pytest.mark.parametrize("at", PARTS, ids=str)
def test_parts(pair: Any, at: Any) -> None:
    X, x = pair
    same(x[at], X[at])
    same(x.T[at[::-1]], X.T[at[::-1]])


def test_parts_are_written(pair: Any) -> None:
    X, x = pair
    rng = np.random.default_rng(2)
    Q, v = full(rng, 170, K, "INT64"), gb.Vector.from_coo(np.arange(0, N, 3), 7.5, size=N)
    for each in (X, x):
        each[:, 1] << v
        each[20:190, :] << Q
        each[10:180, 2:3] << Q[:, 0:1].new()
    assert x._store.is_panel
    assert x.isequal(X)
    Y = gb.Matrix("FP64", N, K)
    y = Y.dup().to("gpu")
    for each in (Y, y):
        each[30:N, :] << Q
    assert y.isequal(Y)


@pytest.mark.parametrize("name", ["plus", "min", "max", "any"])
def test_sums(pair: Any, name: str) -> None:
    X, x = pair
    if name == "any":
        X, x = (each.apply("one").new() for each in pair)
        x._store.hold(panel.get_or_build(x._store, K, False))
    same(x.reduce_rowwise(name), X.reduce_rowwise(name))
    same(x.reduce_columnwise(name), X.reduce_columnwise(name))
    assert x.reduce_scalar(name).new() == X.reduce_scalar(name).new()
    assert x._store.is_panel


@pytest.mark.parametrize("operation", ["ewise_mult", "ewise_add"])
def test_vectors_stand_for_rows_and_columns(pair: Any, operation: str) -> None:
    X, x = pair
    rows = gb.Vector.from_coo(np.arange(0, N, 2), np.arange(0, N, 2) + 1.0, size=N)
    columns = gb.Vector.from_dense(np.arange(K) + 1.0)
    same(getattr(rows, operation)(x, "minus"), getattr(rows, operation)(X, "minus"))
    same(getattr(x, operation)(columns, "minus"), getattr(X, operation)(columns, "minus"))
    same(x.T.new().ewise_mult(rows, "minus"), X.T.new().ewise_mult(rows, "minus"))


def test_columns_of_many_rows(gpu: Any) -> None:
    X = full(np.random.default_rng(3), 3000, 2, "INT64")
    x = X.to("gpu")
    x._store.hold(panel.get_or_build(x._store, 2, False))
    assert x.reduce_columnwise("plus").new().isequal(X.reduce_columnwise("plus").new())


def test_full_matrices_cross_as_they_are(gpu: Any) -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=N, ncols=N).to("gpu")
    values = np.random.default_rng(4).random((N, 3))
    for given in (values, values.T):
        X = forms.full_beside(A, given, gb.dtypes.FP64)
        assert X._store.is_panel
        assert np.array_equal(X.to_dense(), given)
        assert X.isequal(gb.Matrix.from_dense(given))
        assert np.array_equal(X.T.to_dense(), given.T)
    assert forms.full_beside(A, values[:2], gb.dtypes.FP64).isequal(gb.Matrix.from_dense(values[:2]))
    moved = A.mxm(gb.Matrix.from_dense(values)).new()
    assert np.array_equal(moved.to_dense(0.0)[:2], values[[1, 0]])
