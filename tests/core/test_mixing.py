"""Objects of python-graphblas are accepted in place of sparsezc's."""

from __future__ import annotations

from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb


@pytest.fixture
def mine() -> gb.Matrix:
    return gb.Matrix.from_coo([0, 1], [1, 0], [2, 3])


@pytest.fixture
def theirs() -> graphblas.Matrix:
    return graphblas.Matrix.from_coo([0, 1], [1, 1], [5, 7])


def test_operands_of_theirs(mine: gb.Matrix, theirs: graphblas.Matrix) -> None:
    v = graphblas.Vector.from_coo([0, 1], [1, 2])
    assert mine.mxv(v).new().to_dict() == {0: 4, 1: 3}
    assert mine.mxm(theirs).new().to_dicts() == {0: {1: 14}, 1: {1: 15}}
    assert mine.ewise_add(theirs.T).new().nvals == 3
    assert mine.ewise_mult(theirs.apply(graphblas.unary.ainv)).new().to_dicts() == {0: {1: -10}}
    assert mine.apply(gb.binary.plus, graphblas.Scalar.from_value(1)).new().to_dicts() == {0: {1: 3}, 1: {0: 4}}


def test_what_is_written(mine: gb.Matrix, theirs: graphblas.Matrix) -> None:
    mine << theirs
    assert mine.to_dicts() == {0: {1: 5}, 1: {1: 7}}
    mine[0, :] = graphblas.Vector.from_coo([0], [9], size=2)
    assert mine.to_dicts() == {0: {0: 9}, 1: {1: 7}}
    assert theirs.nvals == 2
    assert theirs.get(0, 1) == 5


def test_conversions_of_what_is_no_matrix_yet(theirs: graphblas.Matrix) -> None:
    assert gb.from_graphblas(theirs.T).T.to_dicts() == {0: {1: 5}, 1: {1: 7}}
    assert gb.from_graphblas(theirs.mxm(theirs)).to_dicts() == {0: {1: 35}, 1: {1: 49}}
    assert gb.from_graphblas(theirs[0, :]).to_dict() == {1: 5}
    with pytest.raises(TypeError, match="graphblas is needed"):
        gb.from_graphblas(3)


def addresses(x: Any) -> tuple[int, int]:
    """Return the addresses of the ids and values in SuiteSparse, by unpacking an object and packing it again."""
    kind = "csr" if x.ndim == 2 else "sparse"
    parts = x.ss.unpack(kind)
    found = parts["col_indices" if x.ndim == 2 else "indices"].ctypes.data, np.asarray(parts["values"]).ctypes.data
    known = {key: part for key, part in parts.items() if key not in ("nrows", "ncols", "size", "format")}
    getattr(x.ss, f"pack_{kind}")(take_ownership=True, **known)
    return found


@pytest.mark.parametrize("ndim", [1, 2])
def test_nothing_is_copied_on_the_way_there_and_back(ndim: int) -> None:
    """Addresses are equal, and a change shows on the other side; with `copy=True` neither holds."""
    theirs = (
        graphblas.Matrix.from_coo([0, 1, 4], [2, 0, 1], [1.0, 2.0, 3.0], nrows=1000, ncols=1000)
        if ndim == 2
        else graphblas.Vector.from_coo([0, 7, 9], [1.0, 2.0, 3.0], size=1000)
    )
    mine = gb.from_graphblas(theirs)
    back = gb.to_graphblas(mine)
    assert back.gb_obj[0] == theirs.gb_obj[0]
    before = addresses(theirs)
    assert addresses(back) == before
    copied = gb.from_graphblas(theirs, copy=True)
    again = gb.to_graphblas(mine, copy=True)
    for other in (gb.to_graphblas(copied), again):
        assert other.gb_obj[0] != theirs.gb_obj[0]
        assert not {*addresses(other)} & {*addresses(theirs)}
    at = (5, 5) if ndim == 2 else 5
    mine[at] = 8.0
    assert theirs.get(*at if ndim == 2 else (at,)) == 8.0
    assert copied.nvals == again.nvals == 3


def test_a_transpose_is_one_of_the_same_content(theirs: graphblas.Matrix) -> None:
    turned = gb.from_graphblas(theirs.T)
    assert gb.to_graphblas(turned.T).gb_obj[0] == theirs.gb_obj[0]
    assert gb.to_graphblas(turned).isequal(theirs.T.new())
