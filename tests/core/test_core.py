"""Names that programs import from ``graphblas.core`` are here, and give the results of python-graphblas."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import graphblas
import pytest
from graphblas.core import operator as their_operator
from graphblas.core import utils as their_utils

import sparsezc as gb
from sparsezc.core import operator, utils

#: The modules that programs were found to import these names from.
NAMES = {
    "core": ["_supports_udfs"],
    "core.matrix": ["Matrix", "TransposedMatrix"],
    "core.vector": ["Vector"],
    "core.scalar": ["Scalar"],
    "core.dtypes": ["BOOL", "DataType", "FP64", "INT64", "lookup_dtype", "unify"],
    "core.operator": ["BinaryOp", "IndexUnaryOp", "Monoid", "SelectOp", "Semiring", "UnaryOp", "find_opclass"],
    "core.utils": ["ensure_type", "output_type"],
}

OBJECTS = {
    "A": lambda g, A, v: A,
    "A.T": lambda g, A, v: A.T,
    "v": lambda g, A, v: v,
    "A.mxm(A)": lambda g, A, v: A.mxm(A),
    "A @ v": lambda g, A, v: A @ v,
    "A | A": lambda g, A, v: A | A,
    "A + A": lambda g, A, v: A + A,
    "A[0, :]": lambda g, A, v: A[0, :],
    "A[[0, 1], :]": lambda g, A, v: A[[0, 1], :],
    "A[0, 1]": lambda g, A, v: A[0, 1],
    "v[0]": lambda g, A, v: v[0],
    "v.reduce()": lambda g, A, v: v.reduce(),
    "A.reduce_rowwise()": lambda g, A, v: A.reduce_rowwise(),
    "Scalar": lambda g, A, v: g.Scalar.from_value(1),
    "5": lambda g, A, v: 5,
}


def of(g: Any, name: str) -> Any:
    return OBJECTS[name](g, g.Matrix.from_dense([[1, 2], [3, 4]]), g.Vector.from_dense([1, 2]))


@pytest.mark.parametrize("module", NAMES)
def test_names_are_there(module: str) -> None:
    ours, theirs = import_module(f"sparsezc.{module}"), import_module(f"graphblas.{module}")
    for name in NAMES[module]:
        assert hasattr(theirs, name), name
        assert hasattr(ours, name), name
    assert gb.core.matrix.TransposedMatrix is type(gb.Matrix(int, 2, 2).T)
    assert gb.core.matrix.Matrix is gb.Matrix


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("autocompute", [True, False])
def test_what_an_object_becomes(name: str, autocompute: bool) -> None:
    ours, theirs = of(gb, name), of(graphblas, name)
    with gb.config.set(autocompute=autocompute):
        expected = their_utils.output_type(theirs)
        assert utils.output_type(ours).__name__ == expected.__name__
        for kind in ("Matrix", "Vector", "Scalar"):
            wanted, answers = (getattr(gb, kind), gb.Matrix), []
            for ensure, x, types in (
                (utils.ensure_type, ours, wanted),
                (their_utils.ensure_type, theirs, (getattr(graphblas, kind), graphblas.Matrix)),
            ):
                try:
                    answers.append(type(ensure(x, types)).__name__)
                except TypeError:
                    answers.append("TypeError")
            assert answers[0] == answers[1], kind
    if expected is graphblas.Vector:
        assert utils.ensure_type(ours, gb.Vector).to_dict() == theirs.dup().to_dict()


def test_an_object_of_the_right_class_is_given_back() -> None:
    v = gb.Vector(int, 3)
    assert utils.ensure_type(v, gb.Vector) is v
    with pytest.raises(TypeError, match="x is a Vector; a Matrix or Scalar is needed"):
        utils.ensure_type(v, (gb.Matrix, gb.Scalar))


@pytest.mark.parametrize(
    "name",
    [
        "unary.abs", "unary.abs[INT64]", "binary.plus", "binary.plus[FP64]", "monoid.min", "monoid.min[INT8]",
        "semiring.min_plus", "semiring.min_plus[FP32]", "indexunary.rowindex", "select.tril", "agg.mean",
        "agg.sum[INT64]", "binary.isclose",
    ],
)  # fmt: skip
def test_kinds_of_operators(name: str) -> None:
    def find(g: Any) -> Any:
        space, _, rest = name.partition(".")
        untyped, _, dtype = rest.rstrip("]").partition("[")
        op = getattr(getattr(g, space), untyped)
        return op[dtype] if dtype else op

    ours, kind = operator.find_opclass(find(gb))
    theirs, expected = their_operator.find_opclass(find(graphblas))
    assert kind == expected
    assert ours.name == theirs.name
    assert operator.find_opclass("plus") == their_operator.find_opclass("plus") == ("plus", "UnknownOpClass")
