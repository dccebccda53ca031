"""To and from PyTorch's sparse tensors, by DLPack: on the CPU or on the GPU, wherever they lie.

PyTorch is imported when a tensor is made: ``pip install torch``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.errors import DomainMismatch, InvalidValue
from sparsezc.io.build.limits import need_numbers
from sparsezc.io.build.optional import need
from sparsezc.io.interop.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_LAYOUTS = ("csr", "csc", "coo")


def from_torch_sparse(t: Any, *, dup_op: Any = None, copy: bool = False, name: str | None = None) -> Matrix:
    """Make a Matrix of a sparse PyTorch tensor; one on a GPU stays there.

    Parameters
    ----------
    t : torch.Tensor of layout sparse_csr, sparse_csc or sparse_coo, two-dimensional
        Stored zeros are kept; what autograd knows of it is left behind.
    dup_op : binary operator or its name, optional
        What merges entries of a COO tensor that is not coalesced; without it such entries are an error.
    copy : bool
        Without it, a sparse_csr tensor on the GPU with int32 ids is shared: change neither while both are in use. With
        int64 ids (PyTorch's own choice) only its values are. All others are one copy.
    name : str, optional

    Raises
    ------
    DomainMismatch
        `t` is no sparse tensor of two dimensions.

    Examples
    --------
    >>> import torch, sparsezc as gb
    >>> gb.io.from_torch_sparse(torch.tensor([[0, 2], [3, 0]]).to_sparse()).to_dicts()
    {0: {1: 2}, 1: {0: 3}}
    """
    layout = str(getattr(t, "layout", "")).removeprefix("torch.sparse_")
    if layout not in _LAYOUTS or t.ndim != 2 or t.dense_dim():
        found = f"{tuple(t.shape)} tensor of layout {t.layout}" if layout else type(t).__name__
        raise DomainMismatch(f"from_torch_sparse: t is a {found}; a sparse matrix (csr, csc or coo) is needed")
    t = t.detach()
    nrows, ncols = t.shape
    if layout == "coo":
        (rows, columns), values = t._indices(), t._values()  # those of coalesced tensors alone have public names
        return from_coo_arrays(rows, columns, values, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
    if layout == "csr":
        return from_csr_arrays(t.crow_indices(), t.col_indices(), t.values(), ncols=ncols, copy=copy, name=name)
    flipped = from_csr_arrays(t.ccol_indices(), t.row_indices(), t.values(), ncols=nrows, copy=copy)
    made: Matrix = flipped.T.new(name=name)
    return made


def to_torch_sparse(A: Any, layout: str = "csr", dtype: Any = None, *, copy: bool = False) -> Any:
    """Make a sparse PyTorch tensor of a Matrix, where it lies.

    Parameters
    ----------
    A : Matrix or A.T
    layout : {"csr", "csc", "coo"}
    dtype : optional
        A type of GraphBLAS; by default the matrix's own.
    copy : bool
        Without it, the tensor of a Matrix in the GPU's memory shares its values, and for "csr" its ids: change neither
        while both are in use. On the CPU there is one copy, which the tensor then holds.

    Returns
    -------
    torch.Tensor
        With int64 ids, or int32 ones on the GPU where they fit; "coo" is coalesced and has int64.

    Raises
    ------
    PackageMissing
        PyTorch is not installed.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_torch_sparse(gb.io.read("path:3"), "coo", "FP32").to_dense()
    tensor([[0., 1., 0.],
            [1., 0., 1.],
            [0., 1., 0.]])
    """
    form = str(layout).lower()
    if form not in _LAYOUTS:
        raise InvalidValue(f"layout={layout!r} is not one of {', '.join(_LAYOUTS)}")
    need_numbers(A, "to_torch_sparse")
    torch = need("torch")
    if form == "coo":
        rows, columns, values = to_coo_arrays(A, dtype=dtype)
        ids = torch.stack([torch.from_dlpack(part.astype(np.int64, copy=False)) for part in (rows, columns)])
        values = torch.from_dlpack(values.copy() if copy else values)
        with _checked_already():
            return torch.sparse_coo_tensor(ids, values, A.shape, is_coalesced=True, check_invariants=False)
    offsets, ids, values = to_csr_arrays(A, by_columns=form == "csc", dtype=dtype, copy=copy)
    if ids.dtype == np.int32:
        offsets, ids = _alike(offsets, ids)
    parts = [torch.from_dlpack(part) for part in (offsets, ids, values)]
    make = torch.sparse_csr_tensor if form == "csr" else torch.sparse_csc_tensor
    with _checked_already():
        return make(*parts, A.shape, check_invariants=False)


@contextmanager
def _checked_already() -> Iterator[None]:
    """A matrix keeps what PyTorch would check; PyTorch warns that it does not check even where it is told not to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse invariant checks", UserWarning)
        yield


def _alike(offsets: Any, ids: Any) -> tuple[Any, Any]:
    """Offsets and ids in one type, as PyTorch needs them: int32 where both fit."""
    if ids.size < 2**31:
        return offsets.astype(np.int32), ids
    return offsets, cuda.current().xp.asarray(ids, np.int64)
