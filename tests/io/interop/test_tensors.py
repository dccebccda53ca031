"""Sparse tensors of PyTorch and JAX, on the host and, marked gpu, on a GPU; judged by these libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.io.build import optional
from tests.io.interop.test_tables import absent

DENSE = sp.random_array((20, 30), density=0.2, rng=4).toarray().astype(np.float32)
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta state")
PLACES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def sparse() -> Any:
    return pytest.importorskip("jax.experimental.sparse", reason="JAX is not installed")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_torch_there_and_back(torch: Any, layout: str, place: str) -> None:
    dense = torch.tensor(DENSE, device=place)
    given = dense.to_sparse(layout=getattr(torch, f"sparse_{layout}"))
    A = gb.io.from_torch_sparse(given)
    assert (A.dtype, A._engine.name) == ("FP32", "gpu" if place == "cuda" else "cpu")
    np.testing.assert_array_equal(gb.io.to_scipy_sparse(A).toarray(), DENSE)
    for B, judge in ((A, dense), (A.T, dense.T)):
        out = gb.io.to_torch_sparse(B, layout)
        checked(torch, out, layout)
        assert (out.layout, out.device.type, out.dtype) == (given.layout, place, torch.float32)
        assert torch.equal(out.to_dense(), judge)


def checked(torch: Any, t: Any, layout: str) -> None:
    """Make PyTorch check the invariants that the conversion told it to skip."""
    if layout == "coo":
        assert t.is_coalesced()
        torch.sparse_coo_tensor(t.indices(), t.values(), t.shape, is_coalesced=True, check_invariants=True)
        return
    ends, ids = (t.crow_indices(), t.col_indices()) if layout == "csr" else (t.ccol_indices(), t.row_indices())
    getattr(torch, f"sparse_{layout}_tensor")(ends, ids, t.values(), t.shape, check_invariants=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float64", "complex64"])
def test_torch_types(torch: Any, dtype: str) -> None:
    dense = torch.tensor(DENSE > 0.5).to(getattr(torch, dtype))
    A = gb.io.from_torch_sparse(dense.to_sparse_csr())
    assert A.dtype == dtype
    assert torch.equal(gb.io.to_torch_sparse(A).to_dense(), dense)


def test_torch_duplicates_gradients_and_what_is_refused(torch: Any) -> None:
    twice = torch.sparse_coo_tensor([[0, 0], [1, 1]], [2.0, 3.0], (2, 2), check_invariants=True)
    with pytest.raises(InvalidValue, match="twice"):
        gb.io.from_torch_sparse(twice)
    assert gb.io.from_torch_sparse(twice, dup_op="plus").to_dicts() == {0: {1: 5}}
    assert gb.io.from_torch_sparse(twice.coalesce().requires_grad_()).nvals == 1
    for wrong in (torch.zeros(2, 2), [1], torch.zeros(2, 2, 2).to_sparse(), torch.zeros(2, 2).to_sparse(1)):
        with pytest.raises(DomainMismatch, match="from_torch_sparse"):
            gb.io.from_torch_sparse(wrong)
    with pytest.raises(InvalidValue, match="bsr"):
        gb.io.to_torch_sparse(gb.Matrix(float, 2, 2), "bsr")


@pytest.mark.gpu
def test_torch_shares_memory_on_the_gpu(torch: Any) -> None:
    dense = torch.tensor(DENSE, device="cuda").to_sparse_csr()
    ids = dense.col_indices().int()
    A = gb.io.from_csr_arrays(dense.crow_indices(), ids, dense.values(), ncols=30)
    out = gb.io.to_torch_sparse(A)
    assert out.values().data_ptr() == dense.values().data_ptr()
    assert out.col_indices().data_ptr() == ids.data_ptr()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["bcsr", "bcoo"])
def test_jax_there_and_back(sparse: Any, form: str, place: str) -> None:
    import jax

    try:
        where = jax.devices(place)[0]
    except RuntimeError as error:
        pytest.skip(f"JAX has no device {place}: {error}")
    with jax.default_device(where):
        given = getattr(sparse, form.upper()).fromdense(jax.numpy.asarray(DENSE))
        A = gb.io.from_jax_sparse(given)
        assert (A.dtype, A._engine.name) == ("FP32", "gpu" if place == "cuda" else "cpu")
        np.testing.assert_array_equal(gb.io.to_scipy_sparse(A).toarray(), DENSE)
        for B, judge in ((A, DENSE), (A.T, DENSE.T)):
            out = gb.io.to_jax_sparse(B, form)
            assert out.data.devices() == {where}
            np.testing.assert_array_equal(np.asarray(out.todense()), judge)


def test_jax_padding_duplicates_and_what_is_refused(sparse: Any) -> None:
    import jax.numpy as jnp

    padded = sparse.BCOO.fromdense(jnp.eye(3), nse=7)
    assert gb.io.from_jax_sparse(padded).to_coo()[0].tolist() == [0, 1, 2]
    twice = sparse.BCOO((jnp.ones(2), jnp.array([[1, 2], [1, 2]])), shape=(3, 3))
    with pytest.raises(InvalidValue, match="twice"):
        gb.io.from_jax_sparse(twice)
    assert gb.io.from_jax_sparse(twice, dup_op="plus").to_dicts() == {1: {2: 2}}
    for wrong in (jnp.eye(2), sparse.BCOO.fromdense(jnp.ones((2, 2, 2))), sparse.BCOO.fromdense(jnp.eye(2), n_dense=1)):
        with pytest.raises(DomainMismatch, match="from_jax_sparse"):
            gb.io.from_jax_sparse(wrong)
    wide = gb.Matrix.from_coo([0], [1], [2.5])
    with pytest.raises(DomainMismatch, match="jax_enable_x64"):
        gb.io.to_jax_sparse(wide)
    assert gb.io.to_jax_sparse(wide, dtype="FP32").todense().tolist() == [[0, 2.5]]
    with pytest.raises(InvalidValue, match="csr"):
        gb.io.to_jax_sparse(wide, "csr")
    with pytest.raises(InvalidValue, match=r"2\*\*31"):
        gb.io.to_jax_sparse(gb.Matrix("FP32", 2**31, 1))


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    absent(monkeypatch, package)
    with pytest.raises(optional.PackageMissing, match=f"pip install {package} "):
        getattr(gb.io, f"to_{package}_sparse")(gb.Matrix(float, 2, 2))
