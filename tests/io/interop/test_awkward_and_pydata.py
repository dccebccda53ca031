"""Awkward Arrays and PyData's sparse arrays, against python-graphblas, which has the same functions."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from tests.io.interop.test_tables import absent

ENTRIES = [0, 0, 3, 3], [1, 2, 0, 2], [1.5, 2.5, 3.5, 0.0]
MINE = gb.Matrix.from_coo(*ENTRIES, nrows=5, ncols=3)
JUDGE = graphblas.Matrix.from_coo(*ENTRIES, nrows=5, ncols=3)
V, W = gb.Vector.from_coo([1, 3], [5, 6], size=9), graphblas.Vector.from_coo([1, 3], [5, 6], size=9)


@pytest.fixture
def ak() -> Any:
    return pytest.importorskip("awkward", reason="awkward is not installed")


@pytest.fixture
def sparse() -> Any:
    return pytest.importorskip("sparse", reason="sparse is not installed")


@pytest.mark.parametrize("form", ["csr", "csc", "hypercsr", "hypercsc"])
def test_awkward_matrices(ak: Any, form: str) -> None:
    mine, theirs = gb.io.to_awkward(MINE, form), graphblas.io.to_awkward(JUDGE, form)
    assert mine.to_list() == theirs.to_list()
    for key in ("format", "shape"):
        assert ak.parameters(mine)[key] == ak.parameters(theirs)[key]
    for array in (mine, theirs):
        assert gb.io.from_awkward(array).isequal(MINE, check_dtype=True)
    flipped = gb.io.to_awkward(MINE.T, form)
    assert gb.io.from_awkward(flipped).isequal(MINE.T.new())


def test_awkward_vectors_and_what_is_refused(ak: Any) -> None:
    assert gb.io.to_awkward(V).to_list() == graphblas.io.to_awkward(W).to_list()
    for array in (gb.io.to_awkward(V), graphblas.io.to_awkward(W)):
        assert gb.io.from_awkward(array).isequal(V, check_dtype=True)
    assert graphblas.io.from_awkward(gb.io.to_awkward(V)).isequal(W)
    assert graphblas.io.from_awkward(gb.io.to_awkward(MINE)).isequal(JUDGE)
    with pytest.raises(DomainMismatch, match="from_awkward"):
        gb.io.from_awkward([1])
    with pytest.raises(DomainMismatch, match="list"):
        gb.io.to_awkward([1])
    with pytest.raises(InvalidValue, match="Missing parameters"):
        gb.io.from_awkward(ak.Array([[1], []]))
    for mine, kind, wrong in ((V, "Vector", "csr"), (MINE, "Matrix", "vec")):
        with pytest.raises(InvalidValue, match=f"Invalid format for {kind}: '{wrong}'"):
            gb.io.to_awkward(mine, wrong)
        with pytest.raises(InvalidValue, match=f"Invalid format for {kind}: '{wrong}'"):
            gb.io.from_awkward(ak.with_parameter(gb.io.to_awkward(mine), "format", wrong))


@pytest.mark.parametrize("form", ["coo", "dok", "gcxs"])
def test_pydata_sparse(sparse: Any, form: str) -> None:
    for mine, judge in ((MINE, JUDGE), (V, W)):
        found, theirs = gb.io.to_pydata_sparse(mine, form), graphblas.io.to_pydata_sparse(judge, form)
        assert type(found) is type(theirs)
        np.testing.assert_array_equal(found.todense(), theirs.todense())
        for array in (found, theirs):
            judged = graphblas.io.from_pydata_sparse(array)
            assert gb.io.from_pydata_sparse(array).isequal(gb.from_graphblas(judged), check_dtype=True)
    assert gb.io.from_pydata_sparse(gb.io.to_pydata_sparse(MINE)).isequal(MINE)  # a stored zero too
    np.testing.assert_array_equal(gb.io.to_pydata_sparse(MINE.T, form).todense(), MINE.to_dense(0).T)


def test_what_pydata_sparse_refuses(sparse: Any) -> None:
    twice = sparse.COO([[0, 0], [1, 1]], [2, 3], shape=(2, 2), has_duplicates=False)
    assert gb.io.from_pydata_sparse(twice, dup_op="+").to_dicts() == {0: {1: 5}}
    with pytest.raises(InvalidValue, match="twice"):
        gb.io.from_pydata_sparse(twice)
    with pytest.raises(DimensionMismatch, match="3 dimensions"):
        gb.io.from_pydata_sparse(sparse.zeros((2, 2, 2)))
    with pytest.raises(DomainMismatch, match="Matrix"):
        gb.io.from_pydata_sparse(MINE)
    with pytest.raises(InvalidValue, match="csr"):
        gb.io.to_pydata_sparse(MINE, "csr")


@pytest.mark.parametrize(("package", "function"), [("awkward", "to_awkward"), ("sparse", "to_pydata_sparse")])
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, package: str, function: str) -> None:
    absent(monkeypatch, package)
    with pytest.raises(ImportError, match=f"pip install {package} "):
        getattr(gb.io, function)(MINE)
