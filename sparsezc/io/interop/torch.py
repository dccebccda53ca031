"""Conversion to and from PyTorch's sparse tensors, by DLPack, on the CPU or on the GPU.

PyTorch is imported by :func:`to_torch_sparse`: ``pip install torch``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.exceptions import DomainMismatch
from sparsezc.io.build.limits import need_numbers
from sparsezc.io.build.optional import need
from sparsezc.io.interop.sparse_parts import choice, matrix_of, parts_of

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_LAYOUTS = ("csr", "csc", "coo")


def from_torch_sparse(t: Any, *, dup_op: Any = None, copy: bool = False, name: str | None = None) -> Matrix:
    """Make a Matrix from a sparse PyTorch tensor, on the engine of the tensor's device.

    Parameters
    ----------
    t : torch.Tensor of layout sparse_csr, sparse_csc or sparse_coo, two-dimensional
        Stored zeros are kept; gradients are dropped.
    dup_op : binary operator or its name, optional
        The operator that merges entries of an uncoalesced COO tensor; without it such entries are an error.
    copy : bool
        False: the Matrix shares the arrays of a sparse_csr tensor on the GPU with int32 ids, or only its values with
        int64 ids (PyTorch's default); change neither while both are in use. All other cases make one copy.
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
    if layout == "coo":
        parts, values = tuple(t._indices()), t._values()  # the public methods are for coalesced tensors only
    elif layout == "csr":
        parts, values = (t.crow_indices(), t.col_indices()), t.values()
    else:
        parts, values = (t.ccol_indices(), t.row_indices()), t.values()
    return matrix_of(layout, parts, values, t.shape, dup_op=dup_op, copy=copy, name=name)


def to_torch_sparse(A: Any, layout: str = "csr", dtype: Any = None, *, copy: bool = False) -> Any:
    """Return a Matrix as a sparse PyTorch tensor, on the device of its engine.

    Parameters
    ----------
    A : Matrix or A.T
    layout : {"csr", "csc", "coo"}
    dtype : optional
        A type of GraphBLAS; by default the matrix's own.
    copy : bool
        False: the tensor shares the values of a Matrix in device memory, and for "csr" its ids; change neither while
        both are in use. On the CPU the tensor owns one copy.

    Returns
    -------
    torch.Tensor
        Its ids are int64, or int32 on the GPU where they fit; a "coo" tensor is coalesced, with int64 ids.

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
    form = choice("to_torch_sparse", "layout", layout, _LAYOUTS)
    need_numbers(A, "to_torch_sparse")
    torch = need("torch")
    first, second, values = parts_of(A, form, dtype, copy=copy)
    if form == "coo":
        first, second = (part.astype(np.int64, copy=False) for part in (first, second))
    elif second.dtype == np.int32:
        first, second = _alike(first, second)
    first, second, values = (torch.from_dlpack(part) for part in (first, second, values))
    with _checked_already():
        if form == "coo":
            ids = torch.stack([first, second])
            return torch.sparse_coo_tensor(ids, values, A.shape, is_coalesced=True, check_invariants=False)
        make = torch.sparse_csr_tensor if form == "csr" else torch.sparse_csc_tensor
        return make(first, second, values, A.shape, check_invariants=False)


@contextmanager
def _checked_already() -> Iterator[None]:
    """Suppress PyTorch's check of invariants, which a Matrix satisfies, and its warning that it does not check."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse invariant checks", UserWarning)
        yield


def _alike(offsets: Any, ids: Any) -> tuple[Any, Any]:
    """Return offsets and ids in one type, as PyTorch requires: int32 where both fit."""
    if ids.size < 2**31:
        return offsets.astype(np.int32), ids
    return offsets, cuda.current().xp.asarray(ids, np.int64)
