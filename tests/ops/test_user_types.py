"""Objects of user-defined types: each statement has python-graphblas's result, on every engine.

python-graphblas 2025.2 writes beyond its values if identity, first, second or any has sub-arrays as operands. So
sub-arrays of three numbers are compared with the same statement on records of three.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from tests.ops.judge import Arrays, Engine, Operands, make

POINT = np.dtype([("x", np.bool_), ("y", np.float64)], align=True)
TRIPLE = np.dtype("(3,)uint16")
JUDGED = {POINT: POINT, TRIPLE: np.dtype([(name, np.uint16) for name in "abc"])}
AT = np.array([0, 2, 3])
ROWS, COLUMNS = np.nonzero(np.random.default_rng(5).random((4, 4)) < 0.6)


def arrays(np_type: np.dtype[Any]) -> dict[str, Arrays]:
    """Return matrices A and B of different patterns, vectors u and v (full), and r and R of numbers."""
    rng = np.random.default_rng(8)

    def values(count: int) -> Any:
        if np_type != POINT:
            made = rng.integers(0, 3, (count, 3)).astype(np.uint16)
            return made if np_type == TRIPLE else made.view(np_type)[:, 0]
        return np.array([(bool(rng.integers(0, 2)), float(rng.integers(0, 3))) for _ in range(count)], np_type)

    kind: Any = np_type
    return {
        "A": Arrays(ROWS, COLUMNS, values(ROWS.size), (4, 4), kind),
        "B": Arrays(AT, AT[::-1], values(3), (4, 4), kind),
        "u": Arrays(AT, None, values(3), (4,), kind),
        "v": Arrays(np.arange(4), None, values(4), (4,), kind),
        "r": Arrays(np.arange(4), None, np.arange(4), (4,), "INT64"),
        "R": Arrays(ROWS, COLUMNS, np.arange(ROWS.size), (4, 4), "INT64"),
    }


def written(o: Any, statement: Callable[[Any], Any], **how: Any) -> Any:
    w = o.v.dup()
    w(**how) << statement(w)
    return w


def assigned(x: Any, keys: Any, value: Any) -> Any:
    x[keys] = value
    return x


def deleted(x: Any, keys: Any) -> Any:
    del x[keys]
    return x


def later(x: Any, y: Any) -> Any:
    return x if x["y"] > y["y"] else y


def made_later(g: Any) -> Any:
    return g.binary.register_anonymous(later, "later", is_udt=True)


ANY: dict[str, Callable[[Any, Any], Any]] = {
    "mxv second": lambda g, o: o.R.mxv(o.v, g.semiring.any_second).new(),
    "vxm first": lambda g, o: o.v.vxm(o.R, g.semiring.any_first).new(),
    "mxv count": lambda g, o: o.A.mxv(o.u, g.semiring.plus_pair).new(),
    "mxv eq": lambda g, o: o.A.mxv(o.u, g.semiring.lor_eq).new(),
    "mxm pattern": lambda g, o: o.A.mxm(o.B, g.semiring.any_second).new(),
    "mxm numbers": lambda g, o: o.A.mxm(o.R, g.semiring.plus_second).new(),
    "mxm positions": lambda g, o: o.A.mxm(o.B, g.semiring.ss.min_secondi).new(),
    "power": lambda g, o: o.A.power(2, g.semiring.any_first).new(),
    "inner": lambda g, o: o.u.inner(o.v, g.semiring.any_first).new(),
    "outer": lambda g, o: o.u.outer(o.r, g.binary.first).new(),
    "kronecker": lambda g, o: o.A.kronecker(o.B, g.binary.second).new(),
    "add": lambda g, o: o.A.ewise_add(o.B, g.binary.first).new(),
    "mult of two types": lambda g, o: o.u.ewise_mult(o.r, g.binary.first).new(),
    "equal": lambda g, o: o.A.ewise_mult(o.B, g.binary.eq).new(),
    "different": lambda g, o: o.u.ewise_mult(o.v, g.binary.ne).new(),
    "pair": lambda g, o: o.u.ewise_mult(o.r, g.binary.pair).new(),
    "union": lambda g, o: o.u.ewise_union(o.v, g.binary.second, 1, 0).new(),
    "sign": lambda g, o: (o.u == o.v).new(),
    "sign with a value": lambda g, o: (o.v != o.u[0].new()).new(),
    "identity": lambda g, o: o.A.apply(g.unary.identity).new(),
    "one": lambda g, o: o.A.apply(g.unary.one).new(),
    "bound": lambda g, o: o.A.apply(g.binary.second, right=1).new(),
    "bound left": lambda g, o: g.binary.first(0, o.A).new(),
    "row numbers": lambda g, o: g.indexunary.rowindex(o.A, 2).new(),
    "triangle": lambda g, o: o.A.select(g.select.tril).new(),
    "rows up to": lambda g, o: g.select.rowle(o.v, 1).new(),
    "by a mask": lambda g, o: o.A.select(o.B.S).new(),
    "reduce": lambda g, o: o.u.reduce(g.monoid.any).new(),
    "reduce of nothing": lambda g, o: g.Vector(o.v.dtype, 3).reduce(g.monoid.any, allow_empty=False).new(),
    "reduce rows": lambda g, o: o.B.reduce_rowwise(g.monoid.any).new(),
    "count": lambda g, o: o.A.reduce_rowwise(g.agg.count).new(),
    "first": lambda g, o: o.v.reduce(g.agg.ss.first).new(),
    "last of columns": lambda g, o: o.A.reduce_columnwise(g.agg.ss.last).new(),
    "first index": lambda g, o: o.u.reduce(g.agg.ss.first_index).new(),
    "accumulated": lambda g, o: written(o, lambda w: o.u, accum=g.binary.first),
    "masked": lambda g, o: written(o, lambda w: o.u, mask=o.u.S, replace=True),
    "masked, complement": lambda g, o: written(o, lambda w: o.u, mask=~o.u.S, replace=True),
    "mask of numbers": lambda g, o: written(o, lambda w: o.u, mask=o.r.V),
    "into numbers by a mask": lambda g, o: _sevens(g, o.u.S),
    "assign one": lambda g, o: assigned(o.u, 1, 1),
    "assign all": lambda g, o: assigned(o.A, slice(None), 0) if o.A.ndim == 1 else assigned(o.A, ([0, 1], 2), 1),
    "assign a vector": lambda g, o: assigned(o.A, (1, slice(None)), o.u),
    "delete": lambda g, o: deleted(o.v, [0, 2]),
    "part": lambda g, o: o.A[[2, 0], 1:].new(),
    "row": lambda g, o: o.A[1, :].new(),
    "element": lambda g, o: o.v[2].new(),
    "missing element": lambda g, o: o.u[1].new(),
    "transpose": lambda g, o: o.A.T.new(),
    "transpose of a product": lambda g, o: o.A.T.mxm(o.B.T, g.semiring.any_first).new(),
    "diagonal": lambda g, o: o.u.diag(),
    "diagonal of a matrix": lambda g, o: o.A.diag(1),
    "moved": lambda g, o: o.A.reposition(1, -1).new(),
    "copy": lambda g, o: o.A.dup(),
    "copy by a mask": lambda g, o: o.A.dup(mask=o.B.S),
    "as a sum": lambda g, o: o.v.apply(g.binary.plus, right=1).new(),
    "as a number": lambda g, o: o.v.apply(g.unary.identity).new("FP64"),
    "numbers as values": lambda g, o: o.r.apply(g.unary.identity).new(o.v.dtype),
    "mask by values": lambda g, o: written(o, lambda w: o.u, mask=o.v.V),
}
RECORDS: dict[str, Callable[[Any, Any], Any]] = {
    "field": lambda g, o: o.A.apply(g.unary.register_anonymous(lambda x: x["y"], is_udt=True)).new(),
    "function of two": lambda g, o: o.u.ewise_mult(o.v, made_later(g)).new(),
    "function of two types": lambda g, o: o.u.ewise_mult(
        o.r, g.binary.register_anonymous(lambda x, y: x["y"] + y, is_udt=True)
    ).new(),
    "accumulated by a function": lambda g, o: written(o, lambda w: o.u, accum=made_later(g)),
    "monoid": lambda g, o: o.v.reduce(g.monoid.register_anonymous(made_later(g), (False, -1))).new(),
    "semiring": lambda g, o: o.R.mxv(o.v, _latest(g)).new(),
    "index-unary": lambda g, o: o.v.apply(
        g.indexunary.register_anonymous(lambda x, i, j, y: x["y"] + i + y["y"], is_udt=True), 2
    ).new(),
    "select": lambda g, o: o.A.select(g.select.register_anonymous(lambda x, i, j, y: x["x"], is_udt=True)).new(),
    "two fields": lambda g, o: assigned(o.v, 1, (1, 2.5)),
    "list of fields": lambda g, o: assigned(o.v, [0, 1], [(1, 2.5), (0, 3)]),
    "column of fields": lambda g, o: assigned(o.A, ([0, 1], [1]), [[(1, 2.5)], [(0, 3)]]),
    "too many": lambda g, o: assigned(o.A, ([0, 1], [1]), [[(1, 2.5), (0, 3)]]),
}
CASES = [
    *((name, statement, kind) for name, statement in ANY.items() for kind in (POINT, TRIPLE)),
    *((name, statement, POINT) for name, statement in RECORDS.items()),
]


def _sevens(g: Any, mask: Any) -> Any:
    w = g.Vector(int, 4)
    w(mask) << 7
    return w


def _latest(g: Any) -> Any:
    op = made_later(g)
    return g.semiring.register_anonymous(g.monoid.register_anonymous(op, (False, -1)), g.binary.second)


def shown(x: Any) -> tuple[Any, ...]:
    """Return an object of either module as (NumPy type, shape, entries)."""
    np_type = JUDGED.get(x.dtype.np_type, x.dtype.np_type)
    if x.ndim == 0:
        return (np_type, (), None if x.value is None else _tuple(np.asarray(x.value).tolist()))
    *at, values = (part.tolist() for part in x.to_coo())
    entries = sorted(zip(*at, map(_tuple, values), strict=True), key=lambda entry: entry[:-1])
    return (np_type, tuple(x.shape), entries)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "statement", "kind"), CASES, ids=[f"{c[0]}, {c[2].kind}{c[2].shape}" for c in CASES])
def test_statements(name: str, statement: Any, kind: np.dtype[Any], engine: Engine) -> None:
    given = arrays(kind)
    ours = Operands(lambda x: engine.put(make(gb, x)), given)
    theirs = Operands(lambda x: make(graphblas, x), arrays(JUDGED[kind]))
    try:
        want = shown(statement(graphblas, theirs))
    except Exception as refused:
        built_in = TypeError if isinstance(refused, KeyError | graphblas.exceptions.DomainMismatch) else ValueError
        with pytest.raises(built_in):
            statement(gb, ours)
    else:
        assert shown(statement(gb, ours)) == want


def test_sub_arrays_are_assigned_whole(engine: Engine) -> None:
    v = engine.put(gb.Vector(TRIPLE, 3))
    v[1] = [7, 8, 9]
    v[[0, 2]] = [[1, 2, 3], [4, 5, 6]]
    assert v.to_dict() == {0: [1, 2, 3], 1: [7, 8, 9], 2: [4, 5, 6]}
    v << (1, 1, 2)
    assert v.to_dict() == {i: [1, 1, 2] for i in range(3)}
    A = engine.put(gb.Matrix(TRIPLE, 2, 2))
    A[[0, 1], [1]] = [[[1, 2, 3]], [[4, 5, 6]]]
    assert A.to_dicts() == {0: {1: [1, 2, 3]}, 1: {1: [4, 5, 6]}}
    for wrong in ([[1, 2, 3], [4, 5, 6]], [[[1, 2, 3], [4, 5, 6]]]):
        with pytest.raises(gb.exceptions.InvalidValue, match="shape mismatch"):
            A[[0, 1], [1]] = wrong


def test_functions_of_sub_arrays_are_refused() -> None:
    """python-graphblas would call them with a wrong address."""
    v = gb.Vector.from_coo([0], [[1, 2, 3]], TRIPLE)
    with pytest.raises(gb.exceptions.DomainMismatch, match="a value is a sub-array, of which there are no functions"):
        v.apply(gb.unary.register_anonymous(lambda x: x[0], "first_element", is_udt=True))


def test_what_python_graphblas_has_not() -> None:
    """User-defined types can be selected by comparisons, and from_dense takes a missing value."""
    points = gb.Vector.from_coo([0, 1, 2], [(1, 2.0), (0, 2.0), (1, 2.0)], POINT)
    assert points.select("==", (True, 2.0)).new().to_dict() == {0: (True, 2.0), 2: (True, 2.0)}
    assert points.select(points != {"x": 1, "y": 2}).new().to_dict() == {1: (False, 2.0)}
    assert points.apply(gb.indexunary.valuene, {"x": 1, "y": 2}).new().to_dict() == {0: False, 1: True, 2: False}
    assert gb.Vector.from_dense([[1, 1], [0, 2]], missing_value=1, dtype="INT64[2]").to_dict() == {1: [0, 2]}


@pytest.mark.parametrize("kind", [POINT, TRIPLE], ids=["records", "sub-arrays"])
def test_there_and_back(kind: np.dtype[Any], engine: Engine) -> None:
    o = Operands(lambda x: engine.put(make(gb, x)), arrays(kind))
    for x in (o.A, o.B, o.u, o.v, o.v[0].new()):
        assert pickle.loads(pickle.dumps(x)).isequal(x, check_dtype=True)
        assert gb.from_graphblas(gb.to_graphblas(x)).isequal(x, check_dtype=True)
    for form in ("coo", "csr", "csc", "dcsr", "dcsc"):
        parts = getattr(o.A, f"to_{form}")()
        assert getattr(gb.Matrix, f"from_{form}")(*parts, nrows=4, ncols=4).isequal(o.A, check_dtype=True)
    assert gb.Matrix.from_edgelist(*o.A.to_edgelist(), nrows=4, ncols=4).isequal(o.A)
    assert gb.Matrix.from_dicts(o.A.to_dicts(), kind, nrows=4, ncols=4).isequal(o.A)
    assert gb.Vector.from_dict(o.u.to_dict(), kind, size=4).isequal(o.u)
    assert gb.Vector.from_dense(o.v.to_dense()).isequal(o.v, check_dtype=True)
    assert gb.Vector.from_dense(o.u.to_dense(fill_value=0), dtype=kind).nvals == 4
    assert gb.Vector.from_scalar(1, 3, kind).isequal(gb.Vector.from_coo([0, 1, 2], 1, kind))
    assert [x.dtype.np_type for x in (o.A, o.u)] == [kind, kind]
    same = o.A.to("cpu")
    assert same.to("cpu") is same
    assert same.isequal(o.A)


@pytest.mark.parametrize("kind", [POINT, TRIPLE], ids=["records", "sub-arrays"])
def test_files_and_other_libraries_hold_numbers(kind: np.dtype[Any], tmp_path: Any) -> None:
    A = make(gb, arrays(kind)["A"])
    for suffix in ("mtx", "npz", "sg", "txt", "bel", "gr"):
        with pytest.raises(gb.exceptions.DomainMismatch, match="a user-defined type; numbers are needed"):
            gb.io.write(A, tmp_path / f"graph.{suffix}")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(gb.exceptions.DomainMismatch, match="numbers are needed"):
        gb.io.to_scipy_sparse(A)
    assert gb.io.to_networkx(A)[int(ROWS[0])][int(COLUMNS[0])]["weight"] == A.to_coo()[2][0].tolist()


def test_scalars() -> None:
    s = gb.Scalar.from_value({"x": 1, "y": 2}, POINT)
    assert (s.value["y"], s.value.item()) == (2.0, (True, 2.0))
    assert s == (1, 2)
    assert s != (1, 3)
    assert s != 7
    s(gb.binary.first) << (0, 5)
    assert s == (True, 2)
    s << (0, 5)
    assert s == (False, 5)
    t = gb.Scalar.from_value(1, TRIPLE)
    assert t == [1, 1, 1]
    assert t == gb.Scalar.from_value(1)
    assert "[1 1 1]" in repr(t)
    for wrong in ("text", (1, 2, 3), [(1, 2), (3, 4)], {"x": 1}):
        with pytest.raises(TypeError):
            s.value = wrong
    assert gb.Scalar(POINT).is_empty


def test_reading_it_in_a_terminal() -> None:
    v = gb.Vector.from_coo([1], [(True, 2.5)], {"on": bool, "load": float}, size=3, name="v")
    assert "(True, 2.5)" in repr(v)
    assert "(True, 2.5)" in v._repr_html_()
