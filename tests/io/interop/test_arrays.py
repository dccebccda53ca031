"""Arrays of NumPy, PyTorch and JAX in host memory, to vectors and matrices and back; judges: NumPy, SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidObject, InvalidValue

MATRIX = sp.random_array((20, 30), density=0.2, rng=4, format="csr")


def as_torch(x: Any) -> Any:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.from_numpy(np.array(x))


def as_jax(x: Any) -> Any:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    return jax.device_put(x, jax.devices("cpu")[0])  # with a GPU, JAX's default is device memory


LIBRARIES = {"numpy": np.array, "torch": as_torch, "jax": as_jax, "lists": lambda x: np.asarray(x).tolist()}


@pytest.fixture(params=LIBRARIES)
def array(request: pytest.FixtureRequest) -> Any:
    return LIBRARIES[request.param]


def test_vectors(array: Any) -> None:
    values = np.array([1.5, 0.0, 2.5], np.float32)
    v = gb.io.from_array(array(values), dtype="FP32")
    assert v.isequal(gb.Vector.from_coo([0, 1, 2], values), check_dtype=True)
    w = gb.io.from_array(array(values), array(np.array([7, 2, 5], np.int32)), size=9)
    assert w.to_dict() == {2: 0.0, 5: 2.5, 7: 1.5}
    assert gb.io.to_array(w, 9).tolist() == [9, 9, 0, 9, 9, 2.5, 9, 1.5, 9]


def test_a_vector_does_not_change_with_its_array() -> None:
    values = np.arange(4)
    v, A = gb.io.from_array(values), gb.io.from_array(values.reshape(2, 2))
    out = gb.io.to_array(v)
    values[:] = out[:] = 9
    assert v.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}
    assert A.to_dicts() == {0: {0: 0, 1: 1}, 1: {0: 2, 1: 3}}


def test_dense_matrices(array: Any) -> None:
    dense = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    A = gb.io.from_array(array(dense))
    assert (A.shape, A.nvals) == ((2, 3), 6)
    np.testing.assert_array_equal(gb.io.to_array(A), dense)
    np.testing.assert_array_equal(gb.io.to_array(A.select(">", 2).new(), 0), np.where(dense > 2, dense, 0))


def test_csr_and_coo(array: Any) -> None:
    coo = MATRIX.tocoo()
    A = gb.io.from_csr_arrays(array(MATRIX.indptr), array(MATRIX.indices), array(MATRIX.data), ncols=30, dtype="FP32")
    B = gb.io.from_coo_arrays(array(coo.row), array(coo.col), array(coo.data), nrows=20, ncols=30, dtype="FP32")
    assert A.isequal(B, check_dtype=True)
    np.testing.assert_allclose(gb.io.to_scipy_sparse(A).toarray(), MATRIX.toarray(), rtol=1e-6)


def test_what_comes_out_is_scipy_s() -> None:
    A = gb.io.from_scipy_sparse(MATRIX)
    for found, judge in ((gb.io.to_csr_arrays(A), MATRIX), (gb.io.to_csr_arrays(A, by_columns=True), MATRIX.tocsc())):
        for mine, theirs in zip(found, (judge.indptr, judge.indices, judge.data), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert [part.dtype for part in gb.io.to_csr_arrays(A, dtype="FP32")] == [np.int64, np.int64, np.float32]
    for form in (A.T, A.T.new()):
        np.testing.assert_array_equal(gb.io.to_csr_arrays(form)[1], MATRIX.tocsc().indices)
        rows, columns, values = gb.io.to_coo_arrays(form)
        np.testing.assert_array_equal(
            sp.coo_array((values, (rows, columns)), shape=(30, 20)).toarray(), MATRIX.toarray().T
        )
    rows, columns, values = gb.io.to_coo_arrays(A, dtype="FP32")
    assert (rows.dtype, columns.dtype, values.dtype) == (np.int64, np.int64, np.float32)
    np.testing.assert_array_equal(np.stack([rows, columns]), np.stack(MATRIX.tocoo().coords))


def test_what_comes_out_is_a_copy() -> None:
    A = gb.io.from_scipy_sparse(MATRIX)
    for part in (*gb.io.to_csr_arrays(A), *gb.io.to_coo_arrays(A)):
        part[:] = 0
    np.testing.assert_array_equal(gb.io.to_scipy_sparse(A).toarray(), MATRIX.toarray())


def test_huge_matrices_have_coordinates() -> None:
    A = gb.io.from_coo_arrays([2**59], [3], [1.5], nrows=2**60, ncols=2**60)
    assert [part.tolist() for part in gb.io.to_coo_arrays(A)] == [[2**59], [3], [1.5]]


def test_what_is_refused() -> None:
    with pytest.raises(DomainMismatch, match="Vector"):
        gb.io.to_csr_arrays(gb.Vector(int, 3))
    with pytest.raises(DomainMismatch, match="list"):
        gb.io.to_array([1])
    with pytest.raises(InvalidValue, match="dimensions"):
        gb.io.from_array(np.zeros((2, 2, 2)))
    with pytest.raises(InvalidObject):
        gb.io.from_csr_arrays([0, 2], [1, 1], [1, 2], ncols=3)
    with pytest.raises(DimensionMismatch):
        gb.io.from_coo_arrays([0, 2], [1], [1, 2], nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match="engine"):
        gb.io.from_array([1], engine="fpga")


def test_other_libraries_take_a_vector_or_a_full_matrix_itself() -> None:
    values = np.arange(6.0).reshape(2, 3)
    for judge in (values[0], values, np.array([True, False]), np.array([1, 2], np.uint8)):
        found = np.from_dlpack(gb.io.from_array(judge))
        assert found.dtype == judge.dtype
        np.testing.assert_array_equal(found, judge)
    for missing in (gb.Vector.from_coo([1], [2], size=3), gb.Matrix.from_coo([1], [1], [2])):
        with pytest.raises(TypeError, match="entries are missing"):
            np.from_dlpack(missing)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_dlpack_goes_on_without_a_copy(library: str) -> None:
    found = gb.io.to_array(gb.io.from_array(np.arange(5.0, dtype=np.float32)))
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    other = module.from_dlpack(found) if library == "torch" else module.dlpack.from_dlpack(found)
    assert np.asarray(other).tolist() == [0, 1, 2, 3, 4]
    if library == "torch":  # JAX copies arrays that are not aligned to 64 bytes
        assert other.data_ptr() == found.ctypes.data
