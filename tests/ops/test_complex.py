"""Complex matrices, vectors and scalars: each statement has python-graphblas's result, on every engine.

On the GPU engine no statement falls back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.config import config
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import Arrays, Engine, Operands, make, plain


def arrays(dtype: str) -> dict[str, Arrays]:
    rng = np.random.default_rng(3)
    rows, columns = np.nonzero(rng.random((5, 5)) < 0.6)

    def values(count: int) -> Any:
        return rng.integers(-3, 4, count) + 1j * rng.integers(-3, 4, count)

    at = np.array([0, 2, 3])
    return {
        "A": Arrays(rows, columns, values(rows.size), (5, 5), dtype),
        "B": Arrays(columns, rows, values(rows.size), (5, 5), dtype),
        "R": Arrays(rows, columns, rng.integers(1, 5, rows.size), (5, 5), "INT64"),
        "u": Arrays(at, None, values(3), (5,), dtype),
        "v": Arrays(np.arange(5), None, values(5), (5,), dtype),
        "r": Arrays(np.arange(5), None, np.arange(5), (5,), "FP64"),
    }


def written(g: Any, o: Any, statement: Callable[[Any], Any], **how: Any) -> Any:
    w = o.v.dup()
    w(**{k: x for k, x in how.items() if x is not None}) << statement(w)
    return w


STATEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "mxv": lambda g, o: o.A.mxv(o.v, g.semiring.plus_times).new(),
    "vxm": lambda g, o: o.u.vxm(o.A, g.semiring.plus_times).new(),
    "of a real matrix": lambda g, o: o.R.mxv(o.v, g.semiring.plus_times).new(),
    "of a real vector": lambda g, o: o.A.mxv(o.r, g.semiring.plus_times).new(),
    "vxm of products": lambda g, o: o.v.vxm(o.A, g.semiring.times_second).new(),
    "vxm, any": lambda g, o: o.v.vxm(o.A, g.semiring.any_pair).new(),
    "sizes": lambda g, o: o.A.mxv(o.v, g.semiring.max_absfirst).new(),
    "truth": lambda g, o: o.A.mxv(o.v, g.semiring.lor_first).new(),
    "mxm": lambda g, o: o.A.mxm(o.B, g.semiring.plus_times).new(),
    "mxm, masked": lambda g, o: o.A.mxm(o.B, g.semiring.plus_times).new(mask=o.R.S),
    "mxm of the transpose": lambda g, o: o.A.T.mxm(o.R, g.semiring.plus_times).new(),
    "power": lambda g, o: o.A.power(2).new(),
    "kronecker": lambda g, o: o.A.kronecker(o.R, g.binary.times).new(),
    "outer": lambda g, o: o.u.outer(o.v, g.binary.first).new(),
    "inner": lambda g, o: o.u.inner(o.v, g.semiring.plus_times).new(),
    "pattern": lambda g, o: o.A.mxv(o.r, g.semiring.plus_second).new(),
    "add": lambda g, o: o.u.ewise_add(o.r, g.binary.plus).new(),
    "mult": lambda g, o: o.u.ewise_mult(o.v, g.binary.truediv).new(),
    "union": lambda g, o: o.u.ewise_union(o.v, g.binary.minus, 1j, 0).new(),
    "add matrices": lambda g, o: o.A.ewise_add(o.B, g.binary.plus).new(),
    "mult matrices": lambda g, o: o.A.ewise_mult(o.R, g.binary.times).new(),
    "equal": lambda g, o: o.A.ewise_mult(o.A.dup(), g.binary.eq).new(),
    "different": lambda g, o: (o.u != o.v).new(),
    "power of numbers": lambda g, o: o.v.apply(g.binary.pow, right=3).new(),
    "abs": lambda g, o: o.A.apply(g.unary.abs).new(),
    "conj": lambda g, o: o.v.apply(g.unary.conj).new(),
    "real part": lambda g, o: o.v.apply(g.unary.creal).new(),
    "from parts": lambda g, o: o.r.ewise_mult(o.r, g.binary.cmplx).new(),
    "times a number": lambda g, o: o.v.apply(g.binary.times, right=2 - 1j).new(),
    "a real one times a number": lambda g, o: o.r.apply(g.binary.times, left=2j).new(),
    "select": lambda g, o: o.v.select(g.select.valuene, o.v[0].new()).new(),
    "select a value": lambda g, o: o.A.select("==", o.A.to_coo()[2][0]).new(),
    "triangle": lambda g, o: o.A.select(g.select.tril).new(),
    "reduce": lambda g, o: o.v.reduce(g.monoid.plus).new(),
    "rows": lambda g, o: o.A.reduce_rowwise(g.monoid.times).new(),
    "aggregate": lambda g, o: o.v.reduce(g.agg.sum).new(),
    "columns": lambda g, o: o.A.reduce_columnwise(g.monoid.plus).new(),
    "all of a matrix": lambda g, o: o.A.reduce_scalar(g.monoid.plus).new(),
    "nothing": lambda g, o: g.Vector(o.v.dtype, 3).reduce(g.monoid.times, allow_empty=False).new(),
    "mask": lambda g, o: written(g, o, lambda w: o.r, mask=o.u.S, accum=g.binary.plus),
    "mask by values": lambda g, o: written(g, o, lambda w: o.u, mask=o.v.V, replace=True),
    "into a part": lambda g, o: _assigned(o.A, ([0, 2], slice(None)), 1 - 1j),
    "a row": lambda g, o: _assigned(o.A, (1, slice(None)), o.v),
    "list": lambda g, o: _assigned(o.v, [3, 1], 2j),
    "matrix by values": lambda g, o: o.B.dup(mask=o.A.V),
    "accumulated matrix": lambda g, o: _accumulated(o.A, o.B, g.binary.times),
    "into a real one": lambda g, o: o.v.dup("FP64"),
    "into a narrow one": lambda g, o: o.A.dup("FC32"),
    "a real one into a complex one": lambda g, o: o.R.dup("FC64"),
    "submatrix": lambda g, o: o.A[[3, 1], 1:].new(),
    "column": lambda g, o: o.A[:, 2].new(),
    "diagonal of a matrix": lambda g, o: o.A.diag(),
    "extract": lambda g, o: o.v[[1, 3]].new(),
    "element": lambda g, o: o.v[2].new(),
    "transpose": lambda g, o: o.A.T.new(),
    "diagonal": lambda g, o: o.v.diag(),
    "resize": lambda g, o: _resized(o.v),
}


#: Statements tried with FC32 on an emulated GPU, and those left out: each takes a kernel of its own there.
NARROW = ("mxv", "vxm", "vxm of products", "abs", "times a number", "submatrix")
SELDOM = (
    "of a real vector", "truth", "sizes", "mxm of the transpose", "inner", "different", "power of numbers", "conj",
    "a real one times a number", "triangle", "list", "mult", "accumulated matrix",
)  # fmt: skip


def _assigned(x: Any, keys: Any, value: Any) -> Any:
    x[keys] = value
    return x


def _accumulated(C: Any, A: Any, op: Any) -> Any:
    C(op) << A
    return C


def _resized(v: Any) -> Any:
    v.resize(3)
    return v


def agree(got: tuple[Any, ...], want: tuple[Any, ...], dtype: str) -> None:
    assert got[:2] == want[:2]
    for mine, theirs in zip(got[2:], want[2:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5 if dtype == "FC32" else 1e-13)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str, engine: Engine) -> None:
    few = () if name in SELDOM else ("FC64", "FC32") if name in NARROW else ("FC64",)
    for dtype in ("FC64", "FC32") if engine.full else few:
        given = arrays(dtype)
        ours = Operands(lambda x: engine.put(make(gb, x)), given)
        with config.set(fallback="error"):
            got = plain(STATEMENTS[name](gb, ours))
        if not rehearsing():
            agree(got, plain(STATEMENTS[name](graphblas, Operands(lambda x: make(graphblas, x), given))), dtype)


def test_assignments(engine: Engine) -> None:
    v = engine.put(gb.Vector("FC64", 4))
    v[1] = 2 + 1j
    v[[0, 3]] = 1j
    w = engine.put(gb.Vector.from_dense([1.0, 2, 3, 4]))
    w << v
    if not rehearsing():
        assert v.to_dict() == {0: 1j, 1: 2 + 1j, 3: 1j}
        assert w.to_dict() == {0: 0, 1: 2, 3: 0}
        assert v.isequal(v.dup())
        assert v.isclose(v.apply(gb.binary.times, 1 + 1e-9).new())
        assert not v.isclose(v.apply(gb.binary.times, 1 + 1e-3).new())
        assert not v.isclose(v.apply(gb.unary.conj).new())


def test_scalars() -> None:
    s = gb.Scalar.from_value(1 + 2j)
    assert (s.dtype, s.value) == ("FC64", 1 + 2j)
    s(gb.binary.times) << 2j
    assert s == -4 + 2j
    assert gb.Scalar.from_value(np.complex64(1j)).dtype == "FC32"
    assert gb.Scalar.from_value(3, "FC32").value == 3
    assert s.dup("FP64").value == -4
    assert gb.Vector.from_coo([0, 1], [1j, 2]).dtype == complex
    assert gb.Matrix(complex, 2, 2).dtype == "FC64"


def test_what_is_not_there_for_complex_numbers() -> None:
    v = gb.Vector.from_coo([0], [1j])
    for wrong in (
        lambda: v.reduce(gb.monoid.min),
        lambda: v.apply(gb.unary.lnot),
        lambda: v.select(">", 2),
        lambda: v.apply(gb.unary.register_anonymous(lambda x: x + 1)),
    ):
        with pytest.raises(gb.exceptions.DomainMismatch, match="does not work with FC64"):
            wrong()
