"""An expression made before one of its objects was resized is refused, and nothing is read beyond arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.exceptions import DimensionMismatch, IndexOutOfBound

N = 40
_SHORT, _LONG = 3, 90

#: Expressions of (A, v), and the objects whose new size does not fit the expression.
CASES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "mxv": (lambda A, v: A.mxv(v), "Av"),
    "vxm": (lambda A, v: v.vxm(A), "Av"),
    "mxm": (lambda A, v: A.mxm(A.T), "A"),
    "outer": (lambda A, v: v.outer(v), "v"),
    "ewise": (lambda A, v: v.ewise_mult(gb.Vector.from_scalar(2.0, N)), "v"),
    "broadcast": (lambda A, v: A.ewise_mult(v), "Av"),
    "apply": (lambda A, v: v.apply(gb.unary.ainv), "v"),
    "rows": (lambda A, v: A.reduce_rowwise(), "A"),
    "apply to the transpose": (lambda A, v: A.T.apply(gb.unary.ainv), "A"),
    "row": (lambda A, v: A[N - 1, :], "A"),
    "extract": (lambda A, v: v[[0, N - 1]], "v"),
    "picks": (lambda A, v: ops.selectk(A, "first", 1), "A"),
    "picks of rows": (lambda A, v: ops.selectk(A, "random", 1, [0, N - 1]), "A"),
    "walks": (lambda A, v: ops.walk(A, [0, N - 1], 2), "A"),
    "walks by column": (lambda A, v: ops.walk(A, [0, N - 1], 2, v), "A"),
    "best column": (lambda A, v: ops.best_column(A, v), "Av"),
    "corners": (lambda A, v: ops.count_corners(A, A, A), "A"),
    "two ways": (lambda A, v: ops.two_way_mxm(A, ones(1), ones(2), "plus_times"), "A"),
    "order of values": (lambda A, v: ops.argsort(v), "v"),
    "sampled": (lambda A, v: ops.sampled_mxm(A, A, A, A, "plus_times", "plus_times"), "A"),
}


def ones(k: int) -> gb.Matrix:
    return gb.Matrix.from_dense(np.ones((N, k)))


def made() -> tuple[Any, Any]:
    A = gb.Matrix.from_coo(np.arange(N), np.arange(N)[::-1], np.ones(N), nrows=N, ncols=N).to("gpu")
    v = gb.Vector.from_scalar(1.0, N)
    A.mxv(v).new()  # moves v to the GPU engine
    return A, v


@pytest.mark.parametrize("name", CASES)
def test_an_expression_of_a_resized_object(gpu: Any, name: str) -> None:
    make, changed = CASES[name]
    for which in changed:
        A, v = made()
        expression = make(A, v)
        A.resize(_SHORT, _SHORT) if which == "A" else v.resize(_SHORT)
        with pytest.raises((DimensionMismatch, IndexOutOfBound)):
            expression.new()


def test_an_assignment_to_a_resized_vector(gpu: Any) -> None:
    _, v = made()
    place = v[[0, N - 1]]
    v.resize(_SHORT)
    with pytest.raises((DimensionMismatch, IndexOutOfBound)):
        place << 1


def test_resized_objects_fit_new_expressions(gpu: Any) -> None:
    A, v = made()
    A.resize(_LONG, _SHORT)
    v.resize(_SHORT)
    assert A.mxv(v).new().size == _LONG
    A.resize(_SHORT, _SHORT)
    assert (v.vxm(A).new().size, A.T.new().shape, A[1, :].new().size) == (_SHORT, (_SHORT, _SHORT), _SHORT)
