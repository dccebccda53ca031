"""Objects of python-graphblas stand where ours do."""

from __future__ import annotations

import graphblas
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
