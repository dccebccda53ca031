"""The CPU engine makes no unnecessary copies, is right in both modes of SuiteSparse, and moves operands there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.engines import cpu
from sparsezc.expr import engines
from sparsezc.memory.csr import Csr

ROOT = Path(__file__).resolve().parents[2]


def pointers(A: Matrix) -> tuple[int, int]:
    """Return the addresses of the ids and values in SuiteSparse, by unpacking a matrix and packing it again."""
    store = A._store
    parts = store.ss.unpack("csr")
    found = parts["col_indices"].ctypes.data, np.asarray(parts["values"]).ctypes.data
    store.ss.pack_csr(take_ownership=True, **{k: x for k, x in parts.items() if k not in ("nrows", "ncols", "format")})
    return found


def test_a_csr_is_adopted_without_a_copy() -> None:
    ids, values = np.array([1, 2, 0, 3], np.uint64), np.array([1.0, 2, 3, 4])
    at = ids.ctypes.data, values.ctypes.data
    parts = {"indptr": np.array([0, 2, 4], np.uint64), "col_indices": ids, "values": values}
    A = gb.Matrix.ss.import_csr(nrows=2, ncols=5, **parts, take_ownership=True)
    assert pointers(A) == at
    assert A.to_dense(fill_value=0).tolist() == [[0, 1, 2, 0, 0], [3, 0, 0, 4, 0]]


def test_a_users_arrays_stay_the_users() -> None:
    ids, values = np.array([1, 2, 0, 3], np.uint64), np.array([1.0, 2, 3, 4])
    A = gb.Matrix.from_csr(np.array([0, 2, 4], np.uint64), ids, values, ncols=5)
    values[0] = 99
    ids[0] = 4
    assert A.get(0, 1) == 1
    csr = Csr.from_arrays([0, 2, 4], ids, values, 5)
    B = Matrix._from_csr(csr)
    values[:] = 0
    assert B.to_coo()[2].tolist() == [99, 2, 3, 4]
    assert values.flags.owndata


def test_readers_hand_over_their_arrays() -> None:
    csr = Csr.from_arrays([0, 1, 2], np.array([1, 0], np.uint64), np.array([5, 6]), 2, symmetric=True)
    at = csr.indices.pointer, csr.values.pointer
    A = Matrix._from_csr(csr, adopt=True)
    assert pointers(A) == at
    assert A._to_csr().symmetric
    A << A.apply(gb.unary.ainv)
    assert not A._to_csr().symmetric


def test_an_iso_valued_matrix_keeps_one_value() -> None:
    A = gb.Matrix.from_csr([0, 2, 3], [0, 1, 1], True)
    csr = A._to_csr()
    assert (csr.iso, csr.values.count, csr.nvals) == (True, 1, 3)
    assert Matrix._from_csr(csr).isequal(A)
    assert A.to_csr()[2].tolist() == [True] * 3


MEETINGS: dict[str, Any] = {
    "ewise_add": lambda x, y: x + y,
    "ewise_mult": lambda x, y: x * y,
    "ewise_union": lambda x, y: x - y,
    "an operator that takes two": lambda x, y: gb.binary.max(x | y),
    "select of other types": lambda x, y: x.select("<", 2.5),
    "with the output itself": None,
}


@pytest.mark.parametrize("dtype", ["INT8", "INT64", "FP32", "FP64"])
@pytest.mark.parametrize("what", MEETINGS)
@pytest.mark.parametrize("shape", [(50,), (7, 9)], ids=["vector", "matrix"])
def test_two_full_operands_into_an_output_of_one_value(shape: tuple[int, ...], what: str, dtype: str) -> None:
    """SuiteSparse would write beyond the output's single value, and then read that value for all entries."""
    kind: Any = gb.Vector if len(shape) == 1 else gb.Matrix
    numbers = np.arange(np.prod(shape)).reshape(shape) % 10
    x, y = (kind.from_dense(numbers * k, dtype=dtype) for k in (1, 3))
    out, fresh = kind.from_scalar(1, *shape, dtype), kind.from_dense(np.ones(shape), dtype=dtype)
    assert out.ss.is_iso
    for w in (out, fresh):
        if what == "with the output itself":
            w << w + y
        else:
            w << MEETINGS[what](x, y)
    assert out.isequal(fresh, check_dtype=True)
    if what == "ewise_add":
        assert out.to_dense().tolist() == (4 * numbers).tolist()


def test_graphblas_objects_both_ways_are_the_same_content() -> None:
    theirs = graphblas.Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], nrows=3, ncols=3)
    ours = gb.from_graphblas(theirs)
    assert (ours.dtype, ours.shape, ours.nvals) == ("FP64", (3, 3), 2)
    theirs[2, 2] = 9.0
    assert ours.get(2, 2) == 9.0
    assert gb.to_graphblas(ours) is theirs
    assert gb.to_graphblas(ours, copy=True) is not theirs
    assert gb.to_graphblas(ours.T).isequal(theirs.T.new())
    v = gb.from_graphblas(graphblas.Vector.from_coo([1], [True], size=2), copy=True)
    assert v.to_dict() == {1: True}
    assert gb.to_graphblas(gb.Vector("INT8", 4)).size == 4
    assert gb.from_graphblas(graphblas.Scalar.from_value(3)) == 3
    assert gb.from_graphblas(graphblas.Scalar("INT8")).is_empty
    assert gb.to_graphblas(gb.Scalar.from_value(2.5)).value == 2.5
    for wrong in (3, ours):
        with pytest.raises(TypeError, match="graphblas"):
            gb.from_graphblas(wrong)
    with pytest.raises(TypeError, match="sparsezc"):
        gb.to_graphblas(theirs)
    assert gb.from_graphblas(graphblas.Vector("FC64", 2)).dtype == complex
    pair = graphblas.dtypes.register_anonymous(np.dtype([("a", np.int8), ("b", np.int8)]))
    assert gb.from_graphblas(graphblas.Vector(pair, 2)).dtype.np_type == pair.np_type


def test_errors_that_slip_through_are_ours() -> None:
    error = cpu.ours(graphblas.exceptions.OutOfMemory("full"), "mxv")
    assert type(error) is gb.exceptions.OutOfMemory
    assert str(error) == "mxv: full"


def test_an_operator_that_the_library_lacks_is_named() -> None:
    from sparsezc.semirings.algebra.operators import BinaryOp

    mean = BinaryOp("mean_of_two", numpy=lambda x, y: (x + y) / 2, cuda="(x + y) / 2")
    v = gb.Vector.from_coo([0], [1.0], size=2)
    with pytest.raises(gb.exceptions.NotImplementedException, match="mean_of_two"):
        v.ewise_add(v, mean).new()


def test_a_semiring_made_of_known_parts_runs() -> None:
    op = gb.semiring.register_anonymous(gb.monoid.max, gb.binary.hypot)
    A = gb.Matrix.from_coo([0, 0], [0, 1], [3.0, 5.0])
    assert A.mxv(gb.Vector.from_coo([0, 1], [4.0, 12.0]), op).new().to_dict() == {0: 13.0}


NONBLOCKING = """
import sys, warnings
import graphblas
graphblas.init("suitesparse", blocking=False)
import numpy as np
import sparsezc as gb
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    A = gb.Matrix.from_coo([0], [0], [1])
    B = gb.Matrix.from_coo([0], [0], [1])
assert [w.category.__name__ for w in caught] == ["RuntimeWarning"] and "nonblocking" in str(caught[0].message)
wrong, n = 0, 1000
for case in range(30):
    rng = np.random.default_rng(case)
    key = np.unique(rng.integers(0, n * n, 2 * n))
    x = rng.integers(1, 256, key.size)
    A = gb.Matrix.from_coo(key // n, key % n, x, "INT32", nrows=n, ncols=n)
    start = dict(zip(np.sort(rng.choice(n, 5, replace=False)).tolist(), rng.integers(0, 100, 5).tolist()))
    u = gb.Vector.from_dict(start, "INT32", size=n)
    m = gb.Vector.from_coo(np.sort(rng.choice(n, 300, replace=False)), True, size=n)
    o = gb.Vector.from_coo(np.sort(rng.choice(n, 16, replace=False)), True, size=n)
    q = gb.Vector("INT32", n)
    q << u.vxm(A, gb.semiring.min_plus)
    o(~m.S) << q.apply(gb.unary.abs)  # q is only read here
    want = {}
    for k, value in zip(key.tolist(), x.tolist()):
        if k // n in start:
            want[k % n] = min(want.get(k % n, 10**6), start[k // n] + value)
    wrong += q.to_dict() != want
print("wrong answers:", wrong)
"""


def test_nonblocking_mode_is_warned_of_once_and_answers_stay_right() -> None:
    """SuiteSparse 9.4 to 10.5 would corrupt q here in nearly every case: see the module docstring of cpu_engine.py."""
    done = subprocess.run(
        [sys.executable, "-c", NONBLOCKING], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.stdout == "wrong answers: 0\n", done.stdout + done.stderr


def test_import_is_light() -> None:
    text = (
        "import sys, numpy, sparsezc as gb; gb.config.get('engine'); gb.semiring.min_plus; gb.Matrix(int, 3, 3);"
        " print([m for m in ('graphblas', 'scipy', 'cupy', 'suitesparse_graphblas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


class Elsewhere(cpu.CpuEngine):
    """A second engine, which shows the operands that move."""

    name = "elsewhere"


@pytest.fixture
def elsewhere() -> Elsewhere:
    return Elsewhere(blocking=True)


def there(x: Any, engine: Elsewhere) -> Any:
    """Return a copy of a matrix on that engine."""
    return type(x)._from_store(engine, x._store.dup(), x.dtype, x.shape)


def test_vectors_follow_matrices_and_matrices_leave_the_cpu_only(elsewhere: Elsewhere) -> None:
    A = there(gb.Matrix.from_coo([0, 1], [1, 0], [2, 3]), elsewhere)
    v = gb.Vector.from_coo([0, 1], [10, 20])
    m = gb.Vector.from_coo([1], [True], size=2)
    w = gb.Vector(int, 2)
    assert (v._engine, w._engine) == (cpu.engine(), None)
    w(m.S) << A.mxv(v)
    assert {x._engine for x in (v, w, m, A)} == {elsewhere}
    assert w.to_dict() == {1: 30}
    B = gb.Matrix.from_coo([0], [0], [1], nrows=2, ncols=2)
    B.mxv(w).new()
    assert w._engine is cpu.engine()  # a matrix's engine decides
    assert A.ewise_add(B).new().nvals == 3
    assert (A._engine, B._engine) == (elsewhere, elsewhere)
    big = gb.Matrix.from_dense(np.ones((450, 450)))
    with (
        gb.config.set(fallback="error"),
        pytest.raises(gb.exceptions.InvalidValue, match=r"1,62\d,\d+ bytes.*\.to\('else"),
    ):
        there(big, elsewhere).ewise_add(big).new()
    with pytest.warns(gb.exceptions.PerformanceWarning, match="moves there"):
        there(big, elsewhere).ewise_add(big).new()
    C = gb.Matrix(int, 2, 2)
    C << A.apply(gb.unary.ainv)
    assert C._engine is elsewhere  # it had no engine yet


def test_without_a_matrix_the_other_engine_wins(elsewhere: Elsewhere) -> None:
    u = gb.Vector.from_coo([0, 1], [10, 20])
    u._settle(elsewhere)
    v = gb.Vector.from_coo([0, 1], [1, 2])
    w = u.ewise_add(v).new()
    assert {x._engine for x in (u, v, w)} == {elsewhere}
    assert u.reduce().new() == 30
    assert u[1].value == 20


def test_vectors_that_were_never_filled_read_as_empty() -> None:
    v = Vector("INT8", 3)
    assert (v.nvals, v.to_dict(), v.dup().nvals, v.reduce().new().is_empty) == (0, {}, 0, True)
    u = Vector("INT8", 3)
    assert Vector("INT8", 3).ewise_add(u).new().nvals == 0
    assert Vector("INT8", 3).ewise_mult(gb.Vector.from_coo([0], [1], size=3)).new().nvals == 0


def test_to_is_the_same_object_where_nothing_changes() -> None:
    A = gb.Matrix.from_coo([0], [0], [1])
    v = gb.Vector.from_coo([0], [1])
    assert A.to("cpu") is A
    assert v.to("cpu") is v
    with pytest.raises(gb.exceptions.InvalidValue, match="zerocopy"):
        A.to("cpu", placement="zerocopy")
    with pytest.raises(gb.exceptions.InvalidValue, match="'tpu'"):
        A.to("tpu")
    with pytest.raises(gb.exceptions.InvalidValue, match="'tpu'"):
        engines.get("tpu")


@pytest.mark.parametrize("transposed", [False, True])
def test_a_mask_larger_than_the_product_comes_to_an_end(transposed: bool) -> None:
    """SuiteSparse would build a hash table too small for the mask's entries, and search it for ever."""
    n, step = 1000, 3
    star = np.full(n // step, 5), np.arange(0, n - 1, step)
    rows, columns = (star[1], star[0]) if transposed else star
    A = Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)
    q, mask = Vector("BOOL", n), Vector.from_coo(np.delete(np.arange(n), 5), True, size=n)
    q[5] = True
    product = A.mxv(q, "any_pair") if transposed else q.vxm(A, "any_pair")
    assert product.new(mask=mask.S).nvals == n // step
    assert (A.T.mxv(q, "any_pair") if not transposed else q.vxm(A.T, "any_pair")).new(mask=mask.S).nvals == n // step


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("many", [1, 40])
def test_a_masked_product_of_matrices_comes_to_an_end(many: int, transposed: bool) -> None:
    """A matrix product, too, would search a full hash table for ever unless its method is set."""
    n, step = 1000, 3
    star = np.full(n // step, 5), np.arange(0, n - 1, step)
    rows, columns = (star[1], star[0]) if transposed else star
    A = Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)
    A = A.T if transposed else A
    Q = Matrix.from_coo(np.arange(many), np.full(many, 5), True, nrows=many, ncols=n)
    others = np.delete(np.arange(n), 5)
    M = Matrix.from_coo(np.repeat(np.arange(many), n - 1), np.tile(others, many), True, nrows=many, ncols=n)
    assert Q.mxm(A, "any_pair").new(mask=M.S).nvals == many * (n // step)
    assert A.T.mxm(Q.T, "any_pair").new(mask=M.T.new().S).nvals == many * (n // step)
    assert (Q.ewise_mult(Vector.from_coo([5], True, size=n), "land")).new(mask=M.S).nvals == 0
    assert A.power(2, "any_pair").new(mask=A.dup().S).nvals == 0


def test_a_masked_product_of_enormous_matrices_needs_no_dense_row() -> None:
    n = 2**60
    H = Matrix.from_coo([0, 5], [7, n - 1], [1, 2], nrows=n, ncols=n)
    assert H.mxm(H.T).new(mask=H.S).nvals == 0
    assert H.mxm(H).new(mask=H.S).nvals == 0


def test_the_transpose_of_a_symmetric_matrix_is_itself() -> None:
    A, B = gb.io.read("kron:4"), Matrix.from_coo([0], [1], [1], nrows=2, ncols=2)
    assert forms.turned(A) is A
    assert forms.turned(B) is B.T
    A[0, 1] = 5
    assert forms.turned(A) is A.T


@pytest.mark.parametrize("dtype", ["FP64", "FP32"])
@pytest.mark.parametrize("number", [0.5, -0.0, float("nan")])
def test_a_number_is_added_to_all_of_a_long_vector(dtype: str, number: float) -> None:
    """The engine adds by NumPy where SuiteSparse is slow; missing entries are kept."""
    values = np.linspace(-1, 1, 1 << 15)
    at = np.flatnonzero(np.arange(values.size) % 3)
    v, expected = (space.Vector.from_coo(at, values[at], size=values.size, dtype=dtype) for space in (gb, graphblas))
    for w, op in ((v, gb.binary.plus), (expected, graphblas.binary.plus)):
        w(w.V, replace=True) << w  # stored as a bitmap
        w(op)[:] << number
    assert np.array_equal(v.to_dense(), expected.to_dense(), equal_nan=True)
    assert np.array_equal(np.signbit(v.to_dense()), np.signbit(expected.to_dense()))
