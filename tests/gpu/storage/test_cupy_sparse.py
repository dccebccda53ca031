"""CuPy's sparse matrices in and out; on the emulated device SciPy's take their place, with the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DomainMismatch, InvalidObject, InvalidValue
from sparsezc.io.interop import cupy_sparse

MATRIX = sp.random(40, 30, density=0.2, random_state=4, format="csr")
FORMATS = ("csr", "csc", "coo")


@pytest.fixture
def sparse(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return cupyx.scipy.sparse, or scipy.sparse on the emulated device."""
    if gpu.xp is not np:
        import cupyx.scipy.sparse

        return cupyx.scipy.sparse
    monkeypatch.setattr(cupy_sparse, "need", lambda module, extra: sp)
    return sp


def given(gpu: Any, sparse: Any, form: str, dtype: Any = np.float64) -> Any:
    """Return MATRIX in a format and a type of CuPy, made without CuPy's own conversions."""
    theirs = MATRIX.asformat(form).astype(dtype)
    xp = gpu.xp
    if form == "coo":
        return sparse.coo_matrix(
            (xp.asarray(theirs.data), (xp.asarray(theirs.row), xp.asarray(theirs.col))), theirs.shape
        )
    parts = (xp.asarray(part) for part in (theirs.data, theirs.indices, theirs.indptr))
    return getattr(sparse, f"{form}_matrix")(tuple(parts), shape=theirs.shape)


def host(gpu: Any, x: Any) -> Any:
    """Return a CuPy matrix as a SciPy matrix."""
    return x.get() if hasattr(x, "get") and gpu.xp is not np else x


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.bool_, np.float32, np.float64])
def test_there_and_back(gpu: Any, sparse: Any, form: str, dtype: Any) -> None:
    A = gb.io.from_cupy_sparse(given(gpu, sparse, form, dtype))
    assert (A._engine.name, A.dtype) == ("gpu", np.dtype(dtype))
    np.testing.assert_array_equal(gb.io.to_scipy_sparse(A).toarray(), MATRIX.astype(dtype).toarray())
    out = gb.io.to_cupy_sparse(A, form)
    assert (out.format, out.dtype, out.shape) == (form, dtype, MATRIX.shape)
    np.testing.assert_array_equal(host(gpu, out).toarray(), MATRIX.astype(dtype).toarray())
    np.testing.assert_array_equal(
        host(gpu, gb.io.to_cupy_sparse(A.T, form)).toarray(), MATRIX.astype(dtype).toarray().T
    )


def test_a_csr_matrix_is_shared_unless_copied(gpu: Any, sparse: Any) -> None:
    theirs = given(gpu, sparse, "csr")
    A = gb.io.from_cupy_sparse(theirs)
    assert A._store.rows.indices.pointer == gpu.pointer(theirs.indices)
    assert A._store.rows.values.pointer == gpu.pointer(theirs.data)
    out = gb.io.to_cupy_sparse(A)
    assert gpu.pointer(out.indices) == gpu.pointer(theirs.indices)
    assert gpu.pointer(out.data) == gpu.pointer(theirs.data)
    assert gb.io.from_cupy_sparse(theirs, copy=True)._store.rows.values.pointer != gpu.pointer(theirs.data)
    assert gpu.pointer(gb.io.to_cupy_sparse(A, copy=True).data) != gpu.pointer(theirs.data)


def test_duplicates_need_an_operator(gpu: Any, sparse: Any) -> None:
    xp = gpu.xp
    rows, columns = xp.asarray([1, 0, 1], np.int32), xp.asarray([2, 0, 2], np.int32)
    twice = sparse.coo_matrix((xp.asarray([1.0, 2.0, 3.0]), (rows, columns)), shape=(2, 3))
    with pytest.raises(InvalidValue, match="twice"):
        gb.io.from_cupy_sparse(twice)
    assert gb.io.from_cupy_sparse(twice, dup_op="plus").to_dicts() == {0: {0: 2}, 1: {2: 4}}


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_compressed_duplicates_and_ids_out_of_order(gpu: Any, sparse: Any, form: str) -> None:
    parts = np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1], np.int32), np.array([0, 2, 2, 4], np.int32)
    judge = getattr(sp, f"{form}_matrix")(parts, shape=(3, 3)).toarray()
    make = getattr(sparse, f"{form}_matrix")
    twice = make(tuple(gpu.xp.asarray(part) for part in parts), shape=(3, 3))
    with pytest.raises(InvalidObject, match="twice"):
        gb.io.from_cupy_sparse(twice)
    np.testing.assert_array_equal(gb.io.from_cupy_sparse(twice, dup_op="plus").to_dense(0), judge)
    loose = make((twice.data[:2], twice.indices[:2], gpu.xp.asarray([0, 2, 2, 2], np.int32)), shape=(3, 3))
    assert gb.io.from_cupy_sparse(loose).to_coo()[2].sum() == 3


def test_what_cupy_lacks_is_refused(gpu: Any, sparse: Any) -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [3, 4])
    with pytest.raises(DomainMismatch, match=r"INT64.*dtype="):
        gb.io.to_cupy_sparse(A)
    assert host(gpu, gb.io.to_cupy_sparse(A, dtype="FP32")).toarray().tolist() == [[0, 3], [4, 0]]
    with pytest.raises(InvalidValue, match="format"):
        gb.io.to_cupy_sparse(A, "bsr")
    with pytest.raises(InvalidValue, match=r"2\*\*31"):
        gb.io.to_cupy_sparse(gb.Matrix("FP64", 2**31, 3))
    with pytest.raises(DomainMismatch, match="ndarray"):
        gb.io.from_cupy_sparse(gpu.xp.zeros((2, 2)))
