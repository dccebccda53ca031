"""Conversion to and from CuPy's sparse matrices (``cupyx.scipy.sparse``), without passing through the host.

CuPy is imported by :func:`to_cupy_sparse`: ``pip install "sparsezc[cuda13]"`` (or ``cuda12``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.engines.gpu import array_exchange
from sparsezc.exceptions import DomainMismatch
from sparsezc.expr import engines
from sparsezc.io.build.limits import wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.sparse_parts import choice, matrix_of, parts_of, require_int32
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_FORMATS = ("csr", "csc", "coo")
_KINDS = "?fdFD"  # the value types of CuPy's sparse matrices


def from_cupy_sparse(A: Any, *, dup_op: Any = None, copy: bool = False, name: str | None = None) -> Matrix:
    """Make a Matrix on the GPU engine from a CuPy sparse matrix.

    Parameters
    ----------
    A : cupyx.scipy.sparse csr_matrix, csc_matrix, coo_matrix or dia_matrix
        Stored zeros are kept.
    dup_op : binary operator or its name, optional
        The operator that merges entries of one position: that of a monoid, or first, second or any. Without it such
        entries are an error.
    copy : bool
        False: the Matrix shares ids and values of a sorted csr_matrix; change neither while both are in use. All other
        cases make one copy on the device (a csc_matrix: one for the other orientation).
    name : str, optional

    Raises
    ------
    DomainMismatch
        `A` is no sparse matrix of CuPy.
    InvalidValue, InvalidObject
        A position occurs twice without `dup_op`.
    """
    form = getattr(A, "format", None)
    if form == "dia":
        A, form = A.tocoo(), "coo"
    if form not in _FORMATS or not hasattr(A, "data"):
        raise wrong_type("from_cupy_sparse", "A", A, "a sparse matrix of CuPy")
    parts = (A.row, A.col) if form == "coo" else (A.indptr, A.indices)
    if form != "coo" and dup_op is not None:  # not by CuPy's tocoo, which needs cuSPARSE
        offsets = array_exchange.array(A.indptr).astype(np.int64)
        rows, columns = array_exchange.row_ids(offsets, A.indices.size), A.indices
        parts, form = (rows, columns) if form == "csr" else (columns, rows), "coo"
    return matrix_of(form, parts, A.data, A.shape, dup_op=dup_op, copy=copy, engine="gpu", name=name)


def to_cupy_sparse(A: Any, format: str = "csr", dtype: Any = None, *, copy: bool = False) -> Any:
    """Return a Matrix as a CuPy sparse matrix; a Matrix of the CPU engine is first copied to the GPU.

    Parameters
    ----------
    A : Matrix or A.T
    format : {"csr", "csc", "coo"}
    dtype : optional
        By default the matrix's own; CuPy has BOOL, FP32, FP64, FC32 and FC64 only.
    copy : bool
        False: a csr_matrix shares ids and values of a Matrix in device memory; change neither while both are in use.
        (The value of an iso-valued matrix is repeated.) All other cases make one copy on the device.

    Returns
    -------
    cupyx.scipy.sparse.csr_matrix, csc_matrix or coo_matrix
        Its ids are int32, CuPy's only type.

    Raises
    ------
    PackageMissing
        CuPy is not installed.
    DeviceUnavailable
        There is no GPU.
    DomainMismatch
        CuPy does not support the type of the values; `dtype` converts them.
    InvalidValue
        The matrix has 2**31 or more rows, columns or entries, or the format is unknown.
    """
    form = choice("to_cupy_sparse", "format", format, _FORMATS)
    kind = lookup(A.dtype if dtype is None else dtype)
    if kind.np_type.char not in _KINDS:
        raise DomainMismatch(
            f"to_cupy_sparse: A holds {kind}; CuPy's sparse matrices hold BOOL, FP32, FP64, FC32, FC64; dtype= converts"
        )
    sparse = need("cupyx.scipy.sparse", "cuda13")
    require_int32(A, "to_cupy_sparse")
    parent = A.T if A._transposed else A
    if not engines.has_placements(parent._need()[0]):
        parent = parent.to("gpu", placement="device")
        A = parent.T if A._transposed else parent
    first, second, values = parts_of(A, form, kind, copy=copy)
    first, second = (part.astype(np.int32, copy=False) for part in (first, second))
    given = (values, (first, second)) if form == "coo" else (values, second, first)
    return getattr(sparse, f"{form}_matrix")(given, shape=A.shape)
