"""Arrays of other libraries enter and leave the GPU engine without a copy where they can, and never by the host.

Judges: NumPy and SciPy. On a real GPU the arrays are CuPy's, and those of classes that only have a protocol.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.engines.gpu import array_exchange
from sparsezc.exceptions import DimensionMismatch, IndexOutOfBound, InvalidObject, InvalidValue


class ByInterface:
    """An array known by ``__cuda_array_interface__`` alone, or on the emulated device by ``__array_interface__``."""

    def __init__(self, array: Any) -> None:
        self.array = array
        name = "__cuda_array_interface__" if hasattr(array, "__cuda_array_interface__") else "__array_interface__"
        setattr(self, name, getattr(array, name))


class ByDlpack:
    """An array known by DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.array)


WRAPS = {"its own": lambda x: x, "interface": ByInterface, "dlpack": ByDlpack}
MATRIX = sp.random_array((40, 30), density=0.2, rng=4, format="csr")


def parts(gpu: Any, dtype: Any = np.float64, ids: Any = np.int32) -> tuple[Any, Any, Any]:
    xp = gpu.xp
    data = (MATRIX.data * 100).astype(dtype)
    return xp.asarray(MATRIX.indptr, np.int64), xp.asarray(MATRIX.indices.astype(ids)), xp.asarray(data)


def same(A: gb.Matrix, judge: Any) -> None:
    found = gb.io.to_scipy_sparse(A)
    assert found.shape == judge.shape
    assert found.nnz == judge.nnz
    np.testing.assert_array_equal(found.toarray(), judge.toarray())


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint32, np.int64, np.float32, np.float64])
def test_a_csr_of_the_device_is_taken_as_it_lies(gpu: Any, wrap: str, dtype: Any) -> None:
    indptr, ids, values = parts(gpu, dtype)
    A = gb.io.from_csr_arrays(*(WRAPS[wrap](x) for x in (indptr, ids, values)), ncols=30, engine="gpu")
    assert A.dtype == np.dtype(dtype)
    rows = A._store.rows
    assert rows.indices.pointer == gpu.pointer(ids)
    assert rows.values.pointer == gpu.pointer(values)
    assert gpu.pointer(rows.indptr) == gpu.pointer(indptr)
    same(A, sp.csr_array((gpu.asnumpy(values), MATRIX.indices, MATRIX.indptr), shape=MATRIX.shape))
    out = gb.io.to_csr_arrays(A)
    assert [gpu.pointer(x) for x in out] == [gpu.pointer(x) for x in (indptr, ids, values)]
    assert [x.dtype for x in out] == [np.int64, np.int32, dtype]


def test_copies_are_copies(gpu: Any) -> None:
    given = parts(gpu)
    A = gb.io.from_csr_arrays(*given, ncols=30, engine="gpu", copy=True)
    out = gb.io.to_csr_arrays(A, copy=True)
    judge = sp.csr_array((gpu.asnumpy(given[2]).copy(), MATRIX.indices, MATRIX.indptr), shape=MATRIX.shape)
    for part in (*given, *out):
        part[...] = 0
    same(A, judge)


@pytest.mark.parametrize("ids", [np.uint8, np.int64, np.uint64])
def test_other_ids_are_narrowed(gpu: Any, ids: Any) -> None:
    indptr, columns, values = parts(gpu, ids=ids)
    A = gb.io.from_csr_arrays(indptr.astype(np.int32), columns, values, ncols=30, engine="gpu")
    assert A._store.rows.indices.dtype == np.uint32
    same(A, sp.csr_array((gpu.asnumpy(values), MATRIX.indices, MATRIX.indptr), shape=MATRIX.shape))


def test_rows_out_of_order_are_sorted_and_the_matrix_computes(gpu: Any) -> None:
    xp = gpu.xp
    indptr, ids, values = xp.asarray([0, 3, 3, 5]), xp.asarray([4, 0, 2, 3, 1]), xp.asarray([1.0, 2, 3, 4, 5])
    A = gb.io.from_csr_arrays(indptr, ids, values, ncols=5, engine="gpu")
    judge = sp.csr_array((gpu.asnumpy(values), gpu.asnumpy(ids), gpu.asnumpy(indptr)), shape=(3, 5))
    same(A, judge)
    v = gb.io.from_array(xp.arange(5, dtype=np.float64), engine="gpu")
    w = A.mxv(v, gb.semiring.plus_times).new()
    np.testing.assert_array_equal(gpu.asnumpy(gb.io.to_array(w, 0)), judge @ np.arange(5.0))


def test_one_value_for_all_and_no_entry(gpu: Any) -> None:
    indptr, ids, _ = parts(gpu)
    A = gb.io.from_csr_arrays(indptr, ids, True, ncols=30, engine="gpu")
    assert (A.dtype, A._store.rows.iso) == ("BOOL", True)
    assert gpu.asnumpy(gb.io.to_csr_arrays(A)[2]).all()
    xp = gpu.xp
    none = gb.io.from_csr_arrays(xp.zeros(4, np.int64), xp.zeros(0, np.int32), xp.zeros(0), ncols=7, engine="gpu")
    assert (none.shape, none.nvals) == ((3, 7), 0)
    assert [x.size for x in gb.io.to_csr_arrays(none)] == [4, 0, 0]
    nothing = xp.zeros(0, np.int64)
    coo = gb.io.from_coo_arrays(nothing, nothing, xp.zeros(0), nrows=3, ncols=7, engine="gpu")
    assert (coo.shape, coo.nvals, coo._engine.name) == ((3, 7), 0, "gpu")


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_columns_types_and_coordinates(gpu: Any, placement: str) -> None:
    A = gb.io.from_scipy_sparse(MATRIX).to("gpu", placement)
    judge = MATRIX.tocsc()
    for given in (gb.io.to_csr_arrays(A, by_columns=True), gb.io.to_csr_arrays(A.T)):
        for mine, theirs in zip(given, (judge.indptr, judge.indices, judge.data), strict=True):
            np.testing.assert_array_equal(gpu.asnumpy(mine), theirs)
    coo = MATRIX.tocoo()
    for mine, theirs in zip(gb.io.to_coo_arrays(A, dtype="FP32"), (coo.row, coo.col, coo.data), strict=True):
        np.testing.assert_allclose(gpu.asnumpy(mine), theirs, rtol=1e-6)
        assert isinstance(mine, gpu.xp.ndarray)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda p, c, v: (p + 1, c, v), InvalidValue, "ends at"),
        (lambda p, c, v: (p[::-1], c, v), InvalidValue, "ends at 0"),
        (lambda p, c, v: (p, c * 0, v), InvalidObject, "0 twice in row"),
        (lambda p, c, v: (p, c + 29, v), IndexOutOfBound, "below 30"),
        (lambda p, c, v: (p, c - 9, v), IndexOutOfBound, "-"),
        (lambda p, c, v: (p, c.astype("f4"), v), InvalidValue, "float32"),
        (lambda p, c, v: (p, c, v[1:]), DimensionMismatch, "values"),
    ],
)
def test_arrays_that_are_no_csr_are_refused(gpu: Any, change: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        gb.io.from_csr_arrays(*change(*parts(gpu)), ncols=30, engine="gpu")


@pytest.mark.parametrize("dup_op", ["plus", "min", gb.binary.max, "first", "second", gb.monoid.plus])
def test_coordinates_are_sorted_and_merged_on_the_device(gpu: Any, dup_op: Any) -> None:
    rng = np.random.default_rng(8)
    i, j, values = rng.integers(0, 6, 80), rng.integers(0, 5, 80), rng.integers(1, 50, 80)
    given = (gpu.xp.asarray(x) for x in (i, j, values))
    A = gb.io.from_coo_arrays(*given, nrows=6, ncols=5, dup_op=dup_op, engine="gpu")
    assert A._engine.name == "gpu"
    judge: dict[tuple[int, int], int] = {}
    fold = {"plus": int.__add__, "min": min, "max": max, "first": lambda x, y: x, "second": lambda x, y: y}
    for row, column, value in zip(i.tolist(), j.tolist(), values.tolist(), strict=True):
        name = dup_op if isinstance(dup_op, str) else dup_op.name
        judge[row, column] = fold[name](judge[row, column], value) if (row, column) in judge else value
    rows, columns, found = (part.tolist() for part in A.to_coo())
    assert dict(zip(zip(rows, columns, strict=True), found, strict=True)) == judge
    with pytest.raises(InvalidValue, match="occurs twice"):
        gb.io.from_coo_arrays(*(gpu.xp.asarray(x) for x in (i, j, values)), nrows=6, ncols=5, engine="gpu")


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("size", [1, 31, 32, 70])
def test_a_full_vector_is_the_array(gpu: Any, wrap: str, size: int) -> None:
    values = gpu.xp.arange(size, dtype=np.float32)
    v = gb.io.from_array(WRAPS[wrap](values), engine="gpu")
    assert gpu.pointer(v._store.values) == gpu.pointer(values)
    assert v.nvals == size
    assert v.to_dict() == dict(enumerate(range(size)))
    out = gb.io.to_array(v)
    assert gpu.pointer(out) == gpu.pointer(values)
    assert v.reduce("plus").new().value == size * (size - 1) / 2
    kept = gb.io.from_array(values, engine="gpu", copy=True)
    assert gpu.pointer(kept._store.values) != gpu.pointer(values)
    assert gpu.pointer(gb.io.to_array(v, copy=True)) != gpu.pointer(values)


def test_a_sparse_vector(gpu: Any) -> None:
    xp = gpu.xp
    v = gb.io.from_array(xp.asarray([7, 8, 9]), xp.asarray([40, 3, 0]), size=50, engine="gpu")
    assert v.to_dict() == {0: 9, 3: 8, 40: 7}
    dense = gb.io.to_array(v, -1)
    judge = np.full(50, -1)
    judge[[40, 3, 0]] = [7, 8, 9]
    np.testing.assert_array_equal(gpu.asnumpy(dense), judge)
    assert gb.io.to_array(v, 0.5).dtype == np.float64
    with pytest.raises(TypeError, match="fill_value"):
        gb.io.to_array(v)
    with pytest.raises(InvalidValue, match="twice"):
        gb.io.from_array(xp.asarray([7, 8]), xp.asarray([3, 3]), engine="gpu")
    with pytest.raises(IndexOutOfBound):
        gb.io.from_array(xp.asarray([7, 8]), xp.asarray([3, 4]), size=4, engine="gpu")
    empty = gb.io.to_array(gb.Vector(int, 5).to("gpu"), 2)
    assert gpu.asnumpy(empty).tolist() == [2] * 5


def test_what_lies_where_there_is_no_entry_is_never_cast(gpu: Any) -> None:
    """Memory without an entry may hold anything; casting a signalling NaN there would warn."""
    v = gb.Vector.from_coo([0, 2, 7], np.float32([1, 2, 3]), size=9).to("gpu")
    values = v._need()[1].values
    values[np.array([1, 3, 4, 5, 6, 8])] = gpu.xp.asarray(np.array([0x7FA00001] * 6, np.uint32)).view(np.float32)
    np.testing.assert_array_equal(gpu.asnumpy(gb.io.to_array(v, 0.5, "FP64")), [1, 0.5, 2, 0.5, 0.5, 0.5, 0.5, 3, 0.5])
    np.testing.assert_array_equal(gpu.asnumpy(gb.io.to_array(v, 0, "INT64")), [1, 0, 2, 0, 0, 0, 0, 3, 0])


def test_dense_matrices(gpu: Any) -> None:
    dense = np.arange(12.0).reshape(3, 4)
    A = gb.io.from_array(gpu.xp.asarray(dense).T, engine="gpu")
    assert A.shape == (4, 3)
    np.testing.assert_array_equal(gpu.asnumpy(gb.io.to_array(A)), dense.T)
    B = A.select(">", 5).new()
    np.testing.assert_array_equal(gpu.asnumpy(gb.io.to_array(B, 0)), np.where(dense.T > 5, dense.T, 0))


def test_no_array_of_the_matrix_s_size_comes_to_the_host(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversions copy single numbers to the host only."""
    given = parts(gpu)
    coo = gpu.xp.asarray(MATRIX.tocoo().row), given[1], given[2]
    seen: list[int] = []
    original = type(gpu).asnumpy

    def watched(self: Any, array: Any) -> Any:
        seen.append(array.size)
        return original(self, array)

    monkeypatch.setattr(type(gpu), "asnumpy", watched)
    A = gb.io.from_csr_arrays(*given, ncols=30, engine="gpu")
    B = gb.io.from_coo_arrays(*coo, nrows=40, ncols=30, engine="gpu")
    v = gb.io.from_array(given[2], engine="gpu")
    gb.io.to_csr_arrays(A, by_columns=True)
    gb.io.to_coo_arrays(B)
    gb.io.to_array(v)
    gb.io.to_array(A, 0)
    assert max(seen, default=0) <= 1


def test_a_full_vector_on_the_device_is_taken_without_a_copy(gpu: Any) -> None:
    v = gb.io.from_array(gpu.xp.arange(5.0), engine="gpu")
    assert v.__dlpack_device__() == gpu.xp.empty(0).__dlpack_device__()
    taken = gpu.xp.from_dlpack(v)
    v[2] = 7
    assert taken.tolist() == [0, 1, 7, 3, 4]


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_a_matrix_and_a_vector_print_their_placement(gpu: Any, placement: str) -> None:
    here = gb.io.from_scipy_sparse(MATRIX)
    A = here.to("gpu", placement).dup(name="A")
    _, values, _, *table = repr(A).splitlines()
    assert values.split() == ["gb.Matrix", str(MATRIX.nnz), "40", "30", "FP64", "csr", placement]
    assert table == repr(here).splitlines()[3:]
    assert f"<td>{placement}</td>" in A._repr_html_()
    assert repr(A.T).splitlines()[1].split()[-2:] == ["csc", placement]
    v = A.reduce_rowwise().new()
    assert repr(v).splitlines()[1].split()[-2:] == ["bitmap", "device"]
    assert "memory" in repr(gb.io.from_array(gpu.xp.zeros(1 << 18), engine="gpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("wrap", WRAPS)
def test_cupy_arrays_are_found_to_lie_on_the_gpu(wrap: str) -> None:
    import cupy

    values = WRAPS[wrap](cupy.arange(5.0))
    assert array_exchange.is_here(values)
    assert gb.io.from_array(values)._engine.name == "gpu"
    assert gb.io.from_array(values, engine="cpu").to_dict() == dict(enumerate(range(5)))
    assert not array_exchange.is_here(np.arange(5))
    out = gb.io.to_array(gb.io.from_array(np.arange(4.0), engine="gpu"))
    np.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(out)), np.arange(4.0))
