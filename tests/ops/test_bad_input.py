"""Invalid input: a mistake raises the judge's error, or a subclass of it, and the message names the cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc
from tests.ops.judge import Engine, attempt, like, make, operands

#: Mistakes, and the pattern that the message must match.
MISTAKES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    # Sizes
    "mxv": (lambda g, o: o.A.mxv(o.x), "mxv.*ncols|mxv.*columns"),
    "mxv of the transpose": (lambda g, o: o.R.T.mxv(o.x), "mxv"),
    "vxm": (lambda g, o: o.x.vxm(o.A), "vxm.*rows"),
    "ewise_add of vectors": (lambda g, o: o.u.ewise_add(o.x), "ewise_add.*shape"),
    "ewise_mult of matrices": (lambda g, o: o.A.ewise_mult(o.R), "ewise_mult.*shape"),
    "ewise_union": (lambda g, o: o.u.ewise_union(o.x, "plus", 0, 0), "ewise_union.*shape"),
    "output of another size": (lambda g, o: o.x << o.A.mxv(o.u), "Vector 9.*Vector 7"),
    "output of another shape": (lambda g, o: o.C << o.R.apply("abs"), "Matrix 7 x 7.*Matrix 7 x 9"),
    "mask of another size": (lambda g, o: o.w(o.x.S) << o.A.mxv(o.u), "mask.*Vector 9.*Vector 7"),
    "mask of another shape": (lambda g, o: o.C(o.R.S) << o.A, "mask"),
    "assign a vector of another size": (lambda g, o: o.w[[0, 1]] << o.u, "assign.*shape"),
    "assign an array of another size": (lambda g, o: o.w[0:2] << [1, 2, 3], "shape"),
    "assign a matrix of another shape": (lambda g, o: o.C[:, :3] << o.A, "assign"),
    "submask of another size": (lambda g, o: o.w[0:2](o.m.S) << 3, "mask"),
    # Indices
    "element outside": (lambda g, o: o.u[7], "index 7.*7 positions"),
    "element before the beginning": (lambda g, o: o.u[-8], "index -8"),
    "list outside": (lambda g, o: o.u[[0, 12]].new(), "index 12"),
    "array before the beginning": (lambda g, o: o.u[np.array([-9])].new(), "index -9"),
    "row outside": (lambda g, o: o.A[7, :].new(), "index 7"),
    "one index for a matrix": (lambda g, o: o.A[0], "pair"),
    "a pair for a vector": (lambda g, o: o.u[0, 1], "one index"),
    "a float": (lambda g, o: o.u[1.5], "integer"),
    "a text": (lambda g, o: o.u["a"], "integer"),
    "floats": (lambda g, o: o.u[[0.5, 1.5]], "integers"),
    "two dimensions": (lambda g, o: o.u[np.zeros((2, 2), int)], "dimensions"),
    "a mask as index": (lambda g, o: o.u[o.m.S], r"x\(mask\)"),
    "a vector as index": (lambda g, o: o.u[o.v], r"x\(mask\)"),
    "get several": (lambda g, o: o.u.get([1, 2]), "one position"),
    "delete outside": (lambda g, o: o.w.__delitem__(9), "index 9"),
    # Kinds of objects
    "mxv with a matrix": (lambda g, o: o.A.mxv(o.B), "mxv: other must be a Vector.*Matrix"),
    "mxv with a number": (lambda g, o: o.A.mxv(3), "mxv: other must be a Vector.*3"),
    "vxm with a vector": (lambda g, o: o.u.vxm(o.v), "vxm: other must be a Matrix"),
    "ewise_add with a number": (lambda g, o: o.u.ewise_add(3), "ewise_add: other"),
    "write a matrix into a vector": (lambda g, o: o.w << o.A, "w|v_"),
    "write a matrix expression into a vector": (lambda g, o: o.w << o.A.apply("abs"), "Vector.*Matrix"),
    "write a text": (lambda g, o: o.w << "hello", "number"),
    "write nothing": (lambda g, o: o.w << None, "number"),
    "element from a vector": (lambda g, o: o.w[1] << o.u, "number or a Scalar"),
    "isequal with a number": (lambda g, o: o.u.isequal(3), "isequal: other"),
    "truth of a vector": (lambda g, o: bool(o.u), "true nor false"),
    "array of a vector": (lambda g, o: np.asarray(o.u), "to_coo"),
    "a mask that is none": (lambda g, o: o.w(mask=3) << 1, "mask"),
    "a mask by values of numbers": (lambda g, o: o.w(o.v) << 1, r"x\.V"),
    "a matrix mask of a vector": (lambda g, o: o.w(mask=o.M.S) << 1, "Vector"),
    "a vector mask of a matrix": (lambda g, o: o.C(o.m.S) << 3, "Matrix"),
    "a mask of a scalar": (lambda g, o: g.Scalar(int)(o.m.S) << 1, "Mask not allowed for Scalars"),
    "a submask of an element": (lambda g, o: o.w[0](o.m.S) << 3, "one element"),
    "replace without a mask": (lambda g, o: o.w(replace=True) << 1, "only be True if a mask"),
    "two masks": (lambda g, o: o.w(o.m.S, o.m.V), "multiple values for argument 'mask'"),
    "two accumulators": (lambda g, o: o.w(g.binary.plus, g.binary.min), "multiple values for argument 'accum'"),
    "something in a target": (lambda g, o: o.w(3.5), "Invalid item.*neither a mask"),
    "write to a transpose": (lambda g, o: o.A.T[0, 1] << 3, "TransposedMatrix"),
    # Operators
    "a binary operator for a semiring": (lambda g, o: o.A.mxv(o.u, g.binary.plus), "semiring.*binary.plus"),
    "a semiring for an accumulator": (lambda g, o: o.w(g.semiring.min_plus), "accum"),
    "a unary operator for ewise": (lambda g, o: o.u.ewise_add(o.v, g.unary.abs), "binary.*unary.abs"),
    "a binary operator without its scalar": (lambda g, o: o.u.apply(g.binary.plus), "unary.*binary.plus"),
    "a unary operator with a scalar": (lambda g, o: o.u.apply(g.unary.abs, 1), "binary.*unary.abs"),
    "no monoid": (lambda g, o: o.u.reduce(g.binary.minus), "monoid.*minus"),
    "select by a sum": (lambda g, o: o.u.select(g.binary.plus), "select.*plus"),
    "an unknown semiring": (lambda g, o: o.A.mxv(o.u, "min_foo"), "min_foo"),
    "an unknown binary operator": (lambda g, o: o.u.ewise_add(o.v, "foo"), "foo"),
    "an unknown accumulator": (lambda g, o: o.w("foo"), "foo"),
    "an unknown select operator": (lambda g, o: o.u.select("foo"), "foo"),
    "an unknown monoid": (lambda g, o: o.u.reduce("foo"), "foo"),
    "bits of floats": (lambda g, o: o.u.dup(float).ewise_mult(o.v, g.binary.band), "band.*FP64"),
    "bits of floats, unary": (lambda g, o: o.u.dup(float).apply(g.unary.bnot), "bnot.*FP64"),
    "both scalars": (lambda g, o: o.u.apply(g.binary.plus, 1, left=2), "left and right"),
    "a text for a scalar": (lambda g, o: o.u.apply(g.binary.plus, "x"), "number"),
    "a text for a thunk": (lambda g, o: o.u.select(">", "x"), "thunk"),
    "an empty scalar": (lambda g, o: o.u.apply("plus", g.Scalar(int)).new(), "empty"),
    "an empty default": (lambda g, o: o.u.ewise_union(o.v, "plus", g.Scalar(int), 0).new(), "left_default.*empty"),
    "diag of no number": (lambda g, o: o.u.diag(o.v), "k must be an integer"),
    # Construction
    "no type": (lambda g, o: g.Vector(None), "None"),
    "a size that is no integer": (lambda g, o: g.Vector(int, 2.5), "size.*2.5"),
    "duplicates": (lambda g, o: g.Vector.from_coo([0, 0], [1, 2]), "position 0.*dup_op"),
    "duplicates of a matrix": (lambda g, o: g.Matrix.from_coo([1, 1], [2, 2], [1, 2]), r"\(1, 2\).*dup_op"),
    "dup_op of one value": (lambda g, o: g.Vector.from_coo([0, 0], 1, dup_op="plus"), "dup_op"),
    "an id outside": (lambda g, o: g.Vector.from_coo([0, 5], [1, 2], size=3), r"indices\[1\] is 5.*3"),
    "a row outside": (lambda g, o: g.Matrix.from_coo([9], [0], [1], nrows=2, ncols=2), r"rows\[0\] is 9"),
    "ids that are no integers": (lambda g, o: g.Vector.from_coo(np.array([0.5]), [1]), "integers"),
    "no size": (lambda g, o: g.Vector.from_coo([], []), "size"),
    "no number of rows": (lambda g, o: g.Matrix.from_coo([], [], []), "nrows"),
    "lengths": (lambda g, o: g.Vector.from_coo([0, 1], [1, 2, 3]), "must match: 2, 3"),
    "lengths of a matrix": (lambda g, o: g.Matrix.from_coo([0, 1], [0], [1, 2]), "must match: 2, 1, 2"),
    "objects as values": (lambda g, o: g.Vector.from_coo([0], [None]), "numbers"),
    "csr: an id outside": (
        lambda g, o: g.Matrix.from_csr([0, 1, 2], [0, 5], [1, 2], ncols=3),
        r"col_indices\[1\] is 5",
    ),
    "csr: offsets descend": (lambda g, o: g.Matrix.from_csr([0, 2, 1], [0], [1], ncols=3), r"indptr\[2\] is 1"),
    "csr: offsets begin late": (lambda g, o: g.Matrix.from_csr([1, 2], [0, 1], [1, 2], ncols=3), "starts at 1"),
    "csr: wrong nrows": (lambda g, o: g.Matrix.from_csr([0, 1], [0], [1], nrows=4), "nrows=4"),
    "a vector as a dense matrix": (lambda g, o: g.Matrix.from_dense([1, 2]), "dimensions"),
    "gaps without a filling": (lambda g, o: o.u.to_dense(), "fill_value"),
    "four in an edge": (lambda g, o: g.Matrix.from_edgelist([(0, 1, 2, 3)]), "triples"),
    "an array of triples": (lambda g, o: g.Matrix.from_edgelist(np.zeros((2, 3), int)), r"\(n, 2\)"),
    "values twice": (lambda g, o: g.Matrix.from_edgelist([(0, 1, 5)], values=3), "values"),
    "an unknown order": (lambda g, o: g.Matrix.from_dicts({0: {1: 2}}, order="foo"), "foo"),
    "wait for what": (lambda g, o: o.u.wait("foo"), "foo"),
    "float of an empty scalar": (lambda g, o: float(g.Scalar(int)), "empty"),
    "scalar of a text": (lambda g, o: g.Scalar.from_value("x"), "x"),
}

#: Mistakes that the judge misses, or reports without the cause.
OURS: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "negative size": (lambda g, o: g.Vector(int, -1), sparsezc.exceptions.InvalidValue, "size is -1"),
    "negative size of a matrix": (lambda g, o: g.Matrix(int, 2, -3), sparsezc.exceptions.InvalidValue, "ncols is -3"),
    "resize below zero": (lambda g, o: o.u.resize(-1), sparsezc.exceptions.InvalidValue, "-1"),
    "negative id": (
        lambda g, o: g.Vector.from_coo([3, -1], [1, 2]),
        sparsezc.exceptions.IndexOutOfBound,
        r"\[1\] is -1",
    ),
    "csr: an id twice": (
        lambda g, o: g.Matrix.from_csr([0, 3], [2, 0, 2], [1, 2, 3]),
        sparsezc.exceptions.InvalidObject,
        "has 2 twice",
    ),
    "too large for a scalar": (lambda g, o: g.Scalar.from_value(2**70), sparsezc.exceptions.InvalidValue, "64 bits"),
    "select by positions": (
        lambda g, o: o.u.select(g.indexunary.rowindex),
        sparsezc.exceptions.DomainMismatch,
        "BOOL.*rowindex",
    ),
    "no such attribute": (lambda g, o: g.no_such_name, AttributeError, "no_such_name"),
    "an unknown type": (lambda g, o: g.Vector("foo"), sparsezc.exceptions.UnknownDtype, "foo"),
    "a type that NumPy reads as Python's": (
        lambda g, o: g.Vector("f8,("),
        sparsezc.exceptions.UnknownDtype,
        "names no GraphBLAS type",
    ),
    "a type for reading": (lambda g, o: o.u.to_coo("foo"), sparsezc.exceptions.UnknownDtype, "foo"),
    "a number as a dense vector": (lambda g, o: g.Vector.from_dense(3), TypeError, "dimensions.*from_scalar"),
    "a dense matrix as a vector": (
        lambda g, o: g.Vector.from_dense(np.zeros((2, 2)), dtype=float),  # without a type it has sub-arrays
        sparsezc.exceptions.InvalidValue,
        "dimensions",
    ),
    "ragged": (lambda g, o: g.Matrix.from_dense([[1, 2], [3]]), sparsezc.exceptions.InvalidValue, "lengths"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_same_mistake_raises_the_same_error(name: str, engine: Engine) -> None:
    mistake, must_name = MISTAKES[name]
    arrays = operands(3)
    want = attempt(mistake, graphblas, SimpleNamespace(**{k: make(graphblas, x) for k, x in arrays.items()}))
    ours = {k: engine.put(make(sparsezc, x)) for k, x in arrays.items()}
    before = {k: x.to_coo()[-1].tolist() for k, x in ours.items()}
    got = attempt(mistake, sparsezc, SimpleNamespace(**ours))
    assert isinstance(want, Exception), f"the judge allows it: {want}"
    assert isinstance(got, Exception), f"it passed, and the judge says {want!r}"
    assert like(got, want), f"got {got!r}, and the judge says {want!r}"
    assert re.search(must_name, str(got), re.DOTALL), f"the message does not say {must_name!r}: {got}"
    assert {k: x.to_coo()[-1].tolist() for k, x in ours.items()} == before


@pytest.mark.parametrize("name", OURS)
def test_mistakes_that_the_judge_does_not_name(name: str) -> None:
    mistake, kind, must_name = OURS[name]
    with pytest.raises(kind, match=must_name):
        mistake(sparsezc, SimpleNamespace(**{k: make(sparsezc, x) for k, x in operands(3).items()}))
