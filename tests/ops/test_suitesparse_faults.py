"""Faults and gaps of SuiteSparse and python-graphblas, in whose place the engines have known answers."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import Engine

ROOT = Path(__file__).resolve().parents[2]


def of_ones(engine: Engine, *shape: int) -> Any:
    """Return an object with the value 1 at every position; it may have no positions."""
    kind: Any = gb.Vector if len(shape) == 1 else gb.Matrix
    return engine.put(kind.from_scalar(1, *shape))


@pytest.mark.parametrize("op", ["plus_times", "plus_pair", "any_pair"])
def test_a_product_over_no_position_has_no_entry(engine: Engine, op: str) -> None:
    nothing = of_ones(engine, 0)
    assert nothing.inner(nothing, op).new().is_empty
    row, column = of_ones(engine, 1, 0), of_ones(engine, 0, 1)
    for product in (row.mxm(column, op), column.T.mxm(row.T, op)):
        assert product.new().nvals == 0
    for product in (row.mxv(nothing, op), column.T.mxv(nothing, op), nothing.vxm(column, op)):
        assert product.new().nvals == 0
    assert row.reduce_rowwise("plus").new().nvals == 0
    assert column.reduce_columnwise("plus").new().nvals == 0


def test_a_product_over_no_position_of_many_rows_takes_no_memory() -> None:
    n = 2**40
    assert gb.Matrix(int, n, 0).mxm(gb.Matrix(int, 0, n)).new().shape == (n, n)


@pytest.mark.parametrize("op", ["plus_times", "plus_pair"])
def test_a_product_over_no_position_adds_nothing_to_a_full_output(engine: Engine, op: str) -> None:
    """SuiteSparse raises an error about sizes."""
    for transposed, full in itertools.product((False, True), repeat=2):
        C, M = of_ones(engine, 1, 1), engine.put(gb.Matrix(bool, 1, 1))
        X, Y = (of_ones(engine, *shape) if full else engine.put(gb.Matrix(int, *shape)) for shape in ((1, 0), (0, 1)))
        if transposed:
            X, Y = Y.T, X.T
        C(~M.V, accum=gb.binary.plus) << X.mxm(Y, op)
        w, m = of_ones(engine, 1), gb.Vector(bool, 1)
        w(~m.V, accum=gb.binary.plus) << X.mxv(gb.Vector.from_scalar(1, 0), op)
        if not rehearsing():
            assert (C.to_coo()[2].tolist(), w.to_dict()) == ([1], {0: 1})


SELECTING = """
import itertools
import numpy as np
import sparsezc as gb

def made(kind, *shape):
    size = int(np.prod(shape))
    of = gb.Vector if len(shape) == 1 else gb.Matrix
    if kind == "full":
        return of.from_dense(np.arange(1, size + 1).reshape(shape))
    if kind == "one value":
        return of.from_scalar(2, *shape)
    at = np.unravel_index([5, 77, 130], shape)
    made = of(int, *shape)
    made.build(*at, [1, 2, 3])
    return made

kinds = ("full", "one value", "sparse")
for shape in ((200,), (20, 30)):
    for kind in itertools.product(kinds, repeat=3):
        out, x, M = (made(k, *shape) for k in kind)
        old, given, allowed = (y.to_dense(fill_value=0) for y in (out, x, M))
        out(accum=gb.binary.plus) << x.select(M.S)
        assert (out.to_dense(fill_value=0) == old + np.where(allowed != 0, given, 0)).all(), (shape, kind)
print("right")
"""


def test_a_selection_by_a_mask_is_accumulated_whatever_is_full() -> None:
    """Under a mask SuiteSparse would add sparse to full beyond its arrays, and end the process."""
    done = subprocess.run(
        [sys.executable, "-c", SELECTING], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "expected"), [("times", [1, 0]), ("plus", [1, 1]), ("max", [1, 1]), ("minus", [0, 1])]
)
def test_bool_operators_without_a_semiring_multiply(engine: Engine, name: str, expected: list[int]) -> None:
    """python-graphblas raises KeyError for them."""
    op = getattr(gb.binary, name)
    u = gb.Vector.from_coo([0, 1], [True, False], size=2)
    t = gb.Vector.from_coo([0], [True], size=2)
    A = engine.put(gb.Matrix.from_coo([0, 0], [0, 1], [True, True], nrows=2, ncols=2))
    C = engine.put(gb.Matrix(bool, 2, 2))
    C << u.outer(t, op)
    D = engine.put(gb.Matrix(bool, 2, 2))
    D << u.ewise_mult(A.T, op)
    E = engine.put(gb.Matrix(bool, 2, 2))
    E << A.ewise_mult(u, op)
    if rehearsing():
        return
    assert [x.tolist() for x in C.to_coo()] == [[0, 1], [0, 0], expected]
    assert [x.tolist() for x in D.to_coo()] == [[0, 1], [0, 0], expected]
    assert [x.tolist() for x in E.to_coo()] == [[0, 0], [0, 1], expected]


@pytest.mark.parametrize("dtype", ["INT8", "INT64"])
def test_the_least_integer_divided_by_minus_one(engine: Engine, dtype: str) -> None:
    """Compiled by numba, as in python-graphblas, a remainder ends the process and a quotient is 0."""
    least = np.iinfo(dtype.lower()).min
    u, v = (engine.put(gb.Vector.from_coo([0, 1], values, dtype)) for values in ([least, least], [-1, 3]))
    quotient = least // 3
    for floordiv, mod in (
        (gb.binary.floordiv, gb.binary.mod),
        (gb.binary.register_anonymous(lambda x, y: x // y), gb.binary.register_anonymous(lambda x, y: x % y)),
    ):
        made = [u.ewise_mult(v, op).new() for op in (floordiv, mod)]
        if not rehearsing():
            assert [w.to_dense().tolist() for w in made] == [[least, quotient], [0, least - 3 * quotient]]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("kind", ["S", "V"])
def test_the_output_may_be_the_mask_of_what_meets(kind: str, replace: bool) -> None:
    """SuiteSparse takes the list of rows from the mask, which is freed with the output's old entries."""
    n = 2**40
    ids = np.array([0, 1, 5, n - 1])
    B = gb.Matrix.from_coo(np.repeat(ids, 4), np.tile(ids, 4), -4, nrows=n, ncols=n)
    C = gb.Matrix.from_coo([1, 1], [0, 5], [1.0, 3.0], nrows=n, ncols=n)
    C(getattr(C, kind), replace=replace) << B.ewise_mult(B, "first")
    assert [x.tolist() for x in C.to_coo()] == [[1, 1], [0, 5], [-4.0, -4.0]]


@pytest.mark.parametrize("entries", [0, 3])
@pytest.mark.parametrize("first", [False, True], ids=["right operand", "left operand"])
@pytest.mark.parametrize("n", [150, 2**40])
def test_the_output_may_be_an_operand_of_what_meets_under_a_mask_of_one_value(
    n: int, first: bool, entries: int
) -> None:
    """If a mask of zeros allows all, SuiteSparse takes the list of rows from the operand, which `replace` frees."""
    ids = np.array([0, 5, n - 1])
    for _ in range(10):  # freed memory keeps its content for a while, so once is not enough
        B = gb.Matrix.from_coo(ids, ids, [1, 2, 3], nrows=n, ncols=n)
        C = gb.Matrix.from_coo(ids, ids, [4, 5, 6], nrows=n, ncols=n)
        M = gb.Matrix.from_coo(ids, ids, 0, nrows=n, ncols=n).select("offdiag" if entries == 0 else "diag").new()
        C(~M.V, replace=True) << (C.ewise_mult(B, "times") if first else B.ewise_mult(C, "times"))
        C << C.apply("ainv")
        assert [x.tolist() for x in C.to_coo()] == [ids.tolist(), ids.tolist(), [-4, -10, -18]]


@pytest.mark.parametrize("bits", [27, 40])
def test_masked_products_cost_what_they_hold(bits: int) -> None:
    """SuiteSparse allocates a dense row: 0.5 s at 2^27, and more than all memory at 2^40."""
    n, ids = 2**bits, [1, 5, 2**bits - 3]
    A = gb.Matrix.from_coo(ids, [5, n - 3, 1], [1, 2, 3], nrows=n, ncols=n)
    v = gb.Vector.from_coo(ids, [1, 2, 3], size=n)
    X = gb.Matrix.from_coo(ids, [0, 0, 0], [1, 2, 3], nrows=n, ncols=1)
    Y = gb.Matrix.from_scalar(2, 1, 1)
    start = time.perf_counter()
    assert v.vxm(A).new(mask=v.S).to_coo()[1].tolist() == [9, 1, 4]
    assert A.T.mxv(v).new(mask=v.S).to_coo()[1].tolist() == [9, 1, 4]
    assert A.mxv(v).new(mask=v.S).to_coo()[1].tolist() == [2, 6, 3]
    assert X.mxm(Y).new(mask=X.S).to_coo()[2].tolist() == [2, 4, 6]
    assert A.T.mxm(X).new(mask=X.S).to_coo()[2].tolist() == [9, 1, 4]
    assert A.mxm(A).new(mask=A.S).nvals == 0
    assert A.ewise_mult(v, "plus").new(mask=A.S).to_coo()[2].tolist() == [3, 5, 4]
    assert time.perf_counter() - start < 0.3


@pytest.mark.parametrize("entries", [3, 900, 1500, 10_000, 19_999, 20_000])
def test_masked_products_with_long_rows_come_to_an_end(entries: int) -> None:
    """SuiteSparse searches a full hash table for ever if the mask is a bitmap and rows have 256 entries."""
    n, rng = 20_000, np.random.default_rng(entries)
    columns = np.sort(rng.choice(n, 1000, replace=False))
    A = gb.Matrix.from_coo(np.full(1000, 5), columns, True, nrows=n, ncols=n)
    allowed = np.sort(rng.choice(n, entries, replace=False))
    m = gb.Vector.from_coo(allowed, True, size=n)
    Q, M = (
        gb.Matrix.from_coo([0], [5], True, nrows=1, ncols=n),
        gb.Matrix.from_coo(np.zeros(entries, int), allowed, True, nrows=1, ncols=n),
    )
    q = gb.Vector.from_coo([5], True, size=n)
    want = np.intersect1d(columns, allowed).tolist()
    assert q.vxm(A, "any_pair").new(mask=m.S).to_coo()[0].tolist() == want
    assert A.T.mxv(q, "any_pair").new(mask=m.V).to_coo()[0].tolist() == want
    assert Q.mxm(A, "any_pair").new(mask=M.S).to_coo()[1].tolist() == want
    assert A.T.mxm(Q.T, "any_pair").new(mask=M.T.new().S).to_coo()[0].tolist() == want


def test_a_diagonal_of_a_hypersparse_matrix_is_written_at_its_own_cost() -> None:
    n = 2**40
    A = gb.Matrix.from_coo([0, 5, n - 1], [0, 5, n - 2], [1, 2, 3], nrows=n, ncols=n)
    A.setdiag(gb.Vector.from_coo([1, 5], [7, 8], size=n))
    assert [x.tolist() for x in A.to_coo()] == [[1, 5, n - 1], [1, 5, n - 2], [7, 8, 3]]
    A.setdiag(gb.Vector.from_coo([1], [7], size=n), accum=gb.binary.plus)
    assert A.to_coo()[2].tolist() == [14, 8, 3]


def test_rows_of_no_columns_reduce_to_nothing() -> None:
    """The output may have entries, too, for which SuiteSparse's reduction would raise an error about sizes."""
    u = gb.Vector.from_dense([1] * 16, dtype="UINT16")
    for A in (gb.Matrix("UINT16", 16, 0), gb.Matrix("UINT16", 0, 16).T):
        u(accum=gb.binary.plus) << A.reduce_rowwise("plus")
        assert u.isequal(gb.Vector.from_dense([1] * 16, dtype="UINT16"))
        u(~u.S) << A.reduce_rowwise("plus")
        assert u.nvals == 16


@pytest.mark.parametrize("dtype", ["INT8", "UINT64", "FC32"])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_an_object_may_meet_itself_under_itself(engine: Engine, dtype: str, replace: bool, own: bool) -> None:
    """SuiteSparse leaves out the values."""
    ids, values = [1, 4, 5, 150, 297], [2, 4, 3, 1, 5]
    for sizes in ({"size": 300}, {"nrows": 300, "ncols": 300}):
        at = [ids] if len(sizes) == 1 else [ids, ids[::-1]]
        kind: Any = gb.Vector if len(sizes) == 1 else gb.Matrix
        for name, given in (("ewise_add", ()), ("ewise_union", (1, 1))):
            for structure in (True, False):
                x = engine.put(kind.from_coo(*at, values, dtype, **sizes))
                out = x if own else engine.put(kind(dtype, *x.shape))
                out(x.S if structure else x.V, replace=replace) << getattr(x, name)(x, gb.binary.second, *given)
                if not rehearsing():
                    assert out.to_coo()[-1].tolist() == values


def test_a_matrix_that_lists_an_empty_row_is_multiplied(engine: Engine) -> None:
    """SuiteSparse ends the process."""
    A = engine.put(gb.Matrix.from_coo([0, 1], [1, 2], [1, 2], "INT8", nrows=3, ncols=3))
    A.clear()
    A[0:1, :] = gb.Matrix("INT8", 1, 3)
    v = engine.put(gb.Vector.from_scalar(1.0, 3))
    for product in (A.mxv(v), v.vxm(A.T), A.mxm(A), A.reduce_rowwise("plus")):
        assert product.new().nvals == 0


def test_rows_that_are_listed_and_empty_reduce_to_nothing() -> None:
    """SuiteSparse reads a first entry of such a row, which is memory outside the matrix."""
    for n in (7, 2**40):
        C = gb.Matrix.from_coo([1, 2], [1, 2], [3.0, 4.0], nrows=n, ncols=n)
        C.clear()
        C[0, :] = gb.Vector(float, n)
        assert C.reduce_rowwise("max").new().nvals == 0
        assert C.reduce_columnwise("max").new().nvals == 0
        assert C.reduce_scalar("plus").new().value is None
