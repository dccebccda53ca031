"""Construction of objects and export of their content, in every way, equal python-graphblas's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from tests.ops.judge import ENGINES, TYPES, judge

CPU = ENGINES["cpu"]
EDGES = [(0, 1, 5), (2, 0, 7), (1, 1, 9)]

WAYS_IN: dict[str, Any] = {
    "vector from_coo, one value": lambda g: g.Vector.from_coo([3, 1, 3], 2.5, size=6),
    "vector from_coo, size from ids": lambda g: g.Vector.from_coo([3, 1], [True, False]),
    "vector from_coo, dup_op": lambda g: g.Vector.from_coo([3, 1, 3], [1, 2, 4], "FP32", dup_op=g.binary.plus),
    "vector from_coo, dup_op by name": lambda g: g.Vector.from_coo([3, 1, 3], [1, 2, 4], dup_op="max"),
    "vector from_pairs": lambda g: g.Vector.from_pairs([(4, 1.5), (0, 2)], size=5),
    "vector from_pairs, none": lambda g: g.Vector.from_pairs([], "INT8", size=5),
    "vector from_dict": lambda g: g.Vector.from_dict({4: 1, 0: 2}),
    "vector from_dict, none": lambda g: g.Vector.from_dict({}, "INT8"),
    "vector from_scalar": lambda g: g.Vector.from_scalar(7, 3, "UINT8"),
    "vector from_dense": lambda g: g.Vector.from_dense([1, 0, 3]),
    "vector from_dense, missing": lambda g: g.Vector.from_dense(np.array([1.0, 0, 3], np.float32), 0),
    "vector from_dense, type": lambda g: g.Vector.from_dense([1, 0, 3], dtype="INT16"),
    "matrix from_coo": lambda g: g.Matrix.from_coo([2, 0], [1, 3], [1, 2], nrows=4, ncols=5),
    "matrix from_coo, one value": lambda g: g.Matrix.from_coo([2, 0, 2], [1, 3, 1]),
    "matrix from_coo, dup_op": lambda g: g.Matrix.from_coo([2, 0, 2], [1, 3, 1], [1, 2, 3], dup_op="*"),
    "matrix from_edgelist of triples": lambda g: g.Matrix.from_edgelist(EDGES),
    "matrix from_edgelist of pairs": lambda g: g.Matrix.from_edgelist(
        [(0, 1), (2, 3)], [4, 5], "INT8", nrows=9, ncols=9
    ),
    "matrix from_edgelist, an array": lambda g: g.Matrix.from_edgelist(np.array([[0, 1], [2, 3]])),
    "matrix from_csr": lambda g: g.Matrix.from_csr([0, 2, 2, 3], [1, 4, 0], [1.5, 2, 3], ncols=6),
    "matrix from_csr, ids in any order": lambda g: g.Matrix.from_csr([0, 3, 4], [4, 0, 2, 1], [1, 2, 3, 4]),
    "matrix from_csr, one value": lambda g: g.Matrix.from_csr([0, 2, 3], [0, 1, 1], 7),
    "matrix from_csr, no entries": lambda g: g.Matrix.from_csr([0, 0, 0], [], [], "INT8", ncols=3),
    "matrix from_csc": lambda g: g.Matrix.from_csc([0, 2, 2, 3], [1, 4, 0], [1.5, 2, 3], nrows=6),
    "matrix from_csc, one value": lambda g: g.Matrix.from_csc([0, 1], [2], 5, "UINT16"),
    "matrix from_dense": lambda g: g.Matrix.from_dense([[1, 2], [0, 4], [5, 0]]),
    "matrix from_dense, missing": lambda g: g.Matrix.from_dense([[1, 2], [0, 4], [5, 0]], 0, dtype="FP32"),
    "matrix from_dense, by columns": lambda g: g.Matrix.from_dense(np.array([[1, 2, 3], [4, 5, 6]]).T),
    "matrix from_scalar": lambda g: g.Matrix.from_scalar(2, 3, 4),
    "matrix from_dicts": lambda g: g.Matrix.from_dicts({3: {1: 2, 0: 4}, 1: {2: 8}}, nrows=4, ncols=3),
    "matrix from_dicts, a list": lambda g: g.Matrix.from_dicts([{1: 2}, {}, {0: 3}], "FP64"),
    "matrix from_dicts, columnwise": lambda g: g.Matrix.from_dicts([{1: 2}, {}, {0: 3}], order="columnwise", nrows=5),
}

WAYS_OUT: dict[str, Any] = {
    "vector to_coo": lambda g, o: _lists(o.u.to_coo()),
    "vector to_coo, of another type": lambda g, o: _lists(o.u.to_coo("FP32", indices=False)[1:]),
    "vector to_dict": lambda g, o: sorted(o.u.to_dict().items()),
    "vector to_dense": lambda g, o: _lists([o.u.to_dense(fill_value=7)]),
    "vector to_dense, wider": lambda g, o: _lists([o.u.to_dense(fill_value=0.5)]),
    "vector to_dense, type": lambda g, o: _lists([o.u.to_dense(fill_value=1, dtype="FP64")]),
    "iterate a vector": lambda g, o: [int(i) for i in o.u],
    "contained": lambda g, o: [i in o.u for i in range(7)],
    "get": lambda g, o: [o.u.get(i, "none") for i in range(-7, 7)],
    "matrix to_csr": lambda g, o: _lists(o.A.to_csr()),
    "matrix to_csc": lambda g, o: _lists(o.A.to_csc()),
    "transpose to_csr": lambda g, o: _lists(o.A.T.to_csr()),
    "matrix to_edgelist": lambda g, o: _lists(o.A.to_edgelist()),
    "matrix to_dense": lambda g, o: _lists([o.R.to_dense(fill_value=0)]),
    "transpose to_dense": lambda g, o: _lists([o.R.T.to_dense(fill_value=0)]),
    "matrix get": lambda g, o: [o.A.get(i, j) for i in range(7) for j in range(7)],
    "iterate a matrix": lambda g, o: sorted((int(i), int(j)) for i, j in o.A),
    "a position in a matrix": lambda g, o: [(i, i) in o.A.T for i in range(7)],
    "sizes": lambda g, o: [o.R.nrows, o.R.ncols, o.R.shape, o.R.T.shape, o.R.T.nvals, o.u.size, o.u.nvals, o.R.T.nrows],
    "equal": lambda g, o: [
        o.u.isequal(o.u.dup()),
        o.u.isequal(o.v),
        o.u.isequal(o.u.dup("FP64")),
        o.A.isequal(o.A.T.T),
    ],
    "equal types": lambda g, o: [
        o.u.isequal(o.u.dup("FP64"), check_dtype=True),
        o.A.isequal(o.A.dup(), check_dtype=True),
    ],
    "scalars": lambda g, o: [g.Scalar.from_value(x).dtype.name for x in (True, 3, 2.5, np.int8(4), np.float32(1))],
}


def _lists(parts: Any) -> list[Any]:
    """Return type, shape and content of arrays, which compare."""
    return [(str(np.asarray(x).dtype), np.asarray(x).shape, np.asarray(x).tolist()) for x in parts if x is not None]


@pytest.mark.parametrize("name", WAYS_IN)
def test_ways_in(name: str) -> None:
    judge(lambda g, o: WAYS_IN[name](g), {}, CPU, name)


@pytest.mark.parametrize("name", WAYS_OUT)
@pytest.mark.parametrize("dtype", ["INT64", "BOOL", "FP32"])
def test_ways_out(name: str, dtype: str) -> None:
    from tests.ops.judge import operands

    judge(lambda g, o: WAYS_OUT[name](g, o), operands(4, dtype), CPU, name)


@pytest.mark.parametrize("dtype", TYPES)
def test_types_go_in_and_out(dtype: str) -> None:
    v = gb.Vector.from_coo([0, 2], [0, 1], dtype, size=3)
    A = gb.Matrix.from_coo([0, 2], [1, 1], [0, 1], dtype, nrows=3, ncols=3)
    for x in (v, A):
        assert x.dtype == dtype
        assert x.to_coo()[-1].dtype == x.dtype.np_type
        assert x.dup().isequal(x, check_dtype=True)
        assert x.dup("FP64").dtype == "FP64"


def test_close() -> None:
    u = gb.Vector.from_coo([0, 1, 2], [1.0, np.inf, -2.0], size=4)
    near = gb.Vector.from_coo([0, 1, 2], [1.0 + 1e-9, np.inf, -2.0], size=4)
    far = gb.Vector.from_coo([0, 1, 2], [1.0 + 1e-3, np.inf, -2.0], size=4)
    other = gb.Vector.from_coo([0, 1, 2], [1.0, 3.0, -2.0], size=4)
    assert u.isclose(near)
    assert not u.isequal(near)
    assert not u.isclose(far)
    assert u.isclose(far, rel_tol=1e-2)
    assert u.isclose(far, abs_tol=1e-2, rel_tol=0)
    assert not u.isclose(other)
    assert not u.isclose(gb.Vector.from_coo([0, 1, 3], [1.0, np.inf, -2.0], size=4))
    assert not u.isclose(u.dup("FP32"), check_dtype=True)
    assert gb.Vector("INT8", 3).isclose(gb.Vector(float, 3))


def test_clear_and_resize() -> None:
    v = gb.Vector.from_coo([0, 3], [1, 2], size=4)
    v.resize(2)
    assert (v.size, v.to_dict()) == (2, {0: 1})
    v.resize(9)
    assert v.shape == (9,)
    v.clear()
    assert (v.nvals, v.size, v.dtype) == (0, 9, "INT64")
    A = gb.Matrix.from_coo([0, 3], [1, 2], [1, 2])
    A.resize(2, 5)
    assert (A.shape, A.nvals, A.T.shape) == ((2, 5), 1, (5, 2))
    empty = gb.Matrix(int, 2, 2)
    empty.resize(3, 4)
    empty.clear()
    assert (empty.shape, empty.nvals) == ((3, 4), 0)


def test_scalars() -> None:
    s = gb.Scalar("UINT8")
    assert s.is_empty
    assert s == gb.Scalar(float)
    s << 300
    assert s.value == 44
    s.value = np.float64(7.9)
    assert (s.value, int(s), float(s), list(range(9))[s]) == (7, 7, 7.0, 7)
    s(gb.binary.plus) << 3
    assert s == 10
    assert s.isclose(10.0000001, rel_tol=1e-6)
    assert s.dup("FP64").dtype == "FP64"
    s.clear()
    assert (s.nvals, s.get("none"), bool(s)) == (0, "none", False)
    assert gb.Scalar.from_value(gb.Vector.from_coo([1], [5])[1]).value == 5


def test_what_objects_say_of_themselves() -> None:
    A = gb.Matrix.from_coo([0, 0], [1, 2], [5, 6], nrows=2, ncols=3, name="A")
    v = gb.Vector(float, 10**6, name="v")
    assert repr(A).splitlines() == [
        '"A"        nvals  nrows  ncols  dtype   format',
        "gb.Matrix      2      2      3  INT64  bitmapr",
        "----------------------------------------------",
        "  0  1  2",
        "0    5  6",
        "1        ",
    ]
    assert repr(A.T).splitlines()[1].split() == ["gb.TransposedMatrix", "2", "3", "2", "INT64", "bitmapc"]
    assert repr(A.T).splitlines()[4:] == ["0     ", "1  5  ", "2  6  "]
    assert repr(v).splitlines()[1] == "gb.Vector      0  1000000   FP64  not stored yet"
    assert v._engine is None
    kind, of, _, *table = repr(~A.V).splitlines()[1:]
    assert (kind.strip(), of.split()[:2], table[1].split()) == (
        "ComplementedValueMask",
        ["of", "gb.Matrix"],
        ["0", "0", "0"],
    )
    expression = repr(A.T.mxv(gb.Vector(int, 2, name="u"), "min_plus"))
    assert expression.splitlines()[:2] == [
        "gb.VectorExpression                      size  dtype",
        "A.T.mxv(u, op=semiring.min_plus[INT64])     3  INT64",
    ]
    assert repr(v[2:5]).splitlines()[1].split() == ["v[2:5]", "3", "FP64"]
    assert repr(gb.Scalar.from_value(3, name="s")).splitlines()[1].split() == ["gb.Scalar", "3", "INT64"]
    assert str(gb.replace) == "replace"


WRITTEN: dict[str, Callable[[gb.Matrix, gb.Vector], Any]] = {
    "A.ewise_union(A, binary.plus[INT64], 1, 2)": lambda A, v: A.ewise_union(A, "plus", 1, 2),
    "A.reduce_columnwise(monoid.plus[INT64])": lambda A, v: A.reduce_columnwise(),
    "v.apply(binary.minus[INT64], left=1)": lambda A, v: 1 - v,
    "v.apply(binary.plus[INT64], right=1)": lambda A, v: v + 1,
    "v.select(select.valuegt[INT64], thunk=1)": lambda A, v: v.select(">", 1),
    "v.select(~v.S)": lambda A, v: v.select(~v.S),
    "(A @ v) & v": lambda A, v: (A @ v) & v,
    "A[::2, [0, 1]]": lambda A, v: A[::2, [0, 1]],
    "A.power(2, op=semiring.plus_times[INT64])": lambda A, v: A.power(2),
}


@pytest.mark.parametrize("said", WRITTEN)
def test_expressions_print_what_they_are_and_do_not_run(said: str) -> None:
    A = gb.Matrix.from_coo([0], [1], [5], nrows=3, ncols=3, name="A")
    expression = WRITTEN[said](A, gb.Vector.from_coo([0], [2], size=3, name="v"))
    assert repr(expression).splitlines()[1].startswith(said + "  ")
    assert f"<pre>{said}</pre>" in expression._repr_html_()
    assert expression._value is None


def test_a_large_matrix_shows_its_corners_and_its_memory() -> None:
    A = gb.Matrix.from_coo([0, 0, 99_999], [0, 99_999, 99_999], [11, 12, 13], nrows=100_000, ncols=100_000)
    names, values, _, *table = repr(A.dup(name="A")).splitlines()
    assert [row.split() for row in (table[1], table[-1])] == [["0", "11", "...", "12"], ["99999", "...", "13"]]
    assert "memory" not in names
    full = gb.Matrix.from_dense(np.zeros((512, 512)))
    names, values, *_ = repr(full).splitlines()
    assert names.split()[-1] == "memory"
    assert values.endswith("2.0 MiB")


TOO_LARGE = {
    "vector from_coo": lambda g: g.Vector.from_coo([0, 1], [300, 2], "INT8"),
    "vector from_coo, one value": lambda g: g.Vector.from_coo([0, 1], 300, "INT8"),
    "vector from_dict": lambda g: g.Vector.from_dict({0: 300}, "INT8"),
    "vector from_pairs": lambda g: g.Vector.from_pairs([(0, 300)], "INT8"),
    "vector from_dense, negative": lambda g: g.Vector.from_dense([-1, 2], dtype="UINT32"),
    "vector from_scalar": lambda g: g.Vector.from_scalar(300, 3, "INT8"),
    "vector build": lambda g: g.Vector("INT8", 3).build([0], [300]),
    "matrix from_coo": lambda g: g.Matrix.from_coo([0], [0], [2**64 - 1], "INT64"),
    "matrix from_csr": lambda g: g.Matrix.from_csr([0, 1], [0], [300], "INT8"),
    "matrix from_edgelist": lambda g: g.Matrix.from_edgelist([(0, 1, 300)], dtype="INT8"),
    "matrix from_scalar": lambda g: g.Matrix.from_scalar(-1, 1, 1, "UINT64"),
    "scalar": lambda g: g.Scalar.from_value(2**63, "INT64"),
    "scalar's value": lambda g: setattr(g.Scalar("INT64"), "value", 2**63),
    "assigned": lambda g: g.Vector("INT64", 3).__setitem__(0, 2**63),
    "compared with": lambda g: (g.Vector.from_dense([1]) < 2**63).new(),
    "thunk": lambda g: g.Vector.from_dense([1]).select("<", 2**63).new(),
    "thunk of a position": lambda g: g.Vector.from_dense([1]).select("rowle", 2**63).new(),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_integers_of_python_never_wrap(name: str) -> None:
    with pytest.raises(OverflowError):
        TOO_LARGE[name](graphblas)
    with pytest.raises(
        gb.exceptions.InvalidValue, match=r"(300|-1|9223372036854775808|18446744073709551615) does not fit"
    ):
        TOO_LARGE[name](gb)


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
def test_numbers_that_are_no_integers_are_refused(number: float) -> None:
    """python-graphblas raises NumPy's errors; arrays with a type are converted by GraphBLAS's rules instead."""
    with pytest.raises((ValueError, OverflowError)):
        graphblas.Vector.from_coo([0, 1], [1.0, number], dtype="INT64")
    with pytest.raises(gb.exceptions.InvalidValue, match=f"values: {number} is no number of INT64"):
        gb.Vector.from_coo([0, 1], [1.0, number], dtype="INT64")
    assert gb.Vector.from_coo([0], np.array([number]), dtype="INT64").nvals == 1


def test_integers_of_a_type_wrap() -> None:
    assert gb.Vector.from_coo([0, 1], np.array([300, 2]), "INT8").to_dense().tolist() == [44, 2]
    large = gb.Vector.from_dense(np.array([2**63 + 5], np.uint64))
    s = gb.Scalar("INT64")
    s << large.reduce(gb.monoid.max)
    assert s.value == -(2**63) + 5


def test_integers_that_only_uint64_can_hold() -> None:
    v = gb.Vector.from_dense([1, 2**63, 2**64 - 1], dtype="UINT64")
    assert v.to_dense().tolist() == [1, 2**63, 2**64 - 1]
    assert v.select(">", 2**63).new().to_dict() == {2: 2**64 - 1}
    assert (v == 2**64 - 1).new().to_dense().tolist() == [False, False, True]
    assert v.apply(gb.binary.minus, 2**63).new().to_dict() == {0: 2**63 + 1, 1: 0, 2: 2**63 - 1}
    w = gb.Vector(float, 2)
    w[0] = 2**63
    assert w.to_dict() == {0: 2.0**63}
    assert gb.Scalar.from_value(2**63).dtype == gb.dtypes.UINT64
    assert gb.to_graphblas(gb.Scalar.from_value(2**63)).value == 2**63
    assert gb.Matrix.from_coo([0, 1], [1, 1], 2**63).to_coo()[2].tolist() == [2**63, 2**63]
    with pytest.raises(gb.exceptions.InvalidValue, match="needs more than 64 bits"):
        gb.Scalar.from_value(2**64)


def test_messages_say_what_was_given_and_what_was_needed() -> None:
    with pytest.raises(gb.exceptions.OutOfMemory, match=r"1,152,921,504,606,846,977 row offsets and 0 entries"):
        gb.Matrix(int, 2**60, 2**60).to_csr()
    with pytest.raises(gb.exceptions.UnknownDtype, match=r"from_coo: values: Unknown dtype: dtype\('float16'\)"):
        gb.Vector.from_coo([0], np.ones(1, np.float16))
    with pytest.raises(gb.exceptions.InvalidValue, match=r"indices must be a row of integers; got <U1 in 1 dimensions"):
        gb.Vector.from_coo(["a"], [1])
