"""Conversion to and from JAX's sparse arrays (``jax.experimental.sparse``), by DLPack, on the CPU or on the GPU.

JAX is imported when a function of this module is called: ``pip install jax``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.exceptions import DomainMismatch
from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.interop.sparse_parts import choice, matrix_of, parts_of, require_int32

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_FORMATS = ("bcsr", "bcoo")  # "b" and a form of sparse_parts.py


def from_jax_sparse(x: Any, *, dup_op: Any = None, copy: bool = False, name: str | None = None) -> Matrix:
    """Make a Matrix from a sparse JAX array, on the engine of the array's device.

    Parameters
    ----------
    x : jax.experimental.sparse.BCOO or BCSR, two-dimensional, without batch and dense dimensions
        Stored zeros are kept; the padding of a BCOO (ids beyond its shape) is dropped.
    dup_op : binary operator or its name, optional
        The operator that merges entries of a BCOO at one position; without it such entries are an error.
    copy : bool
        False: the Matrix shares the arrays of a BCSR on the GPU, and must not be changed: JAX's arrays are immutable.
        All other cases make one copy.
    name : str, optional

    Raises
    ------
    PackageMissing
        JAX is not installed.
    DomainMismatch
        `x` is no BCOO or BCSR matrix.
    """
    sparse = need("jax.experimental.sparse")
    if not isinstance(x, sparse.BCOO | sparse.BCSR) or x.n_sparse != 2 or x.n_batch or x.n_dense:
        raise wrong_type("from_jax_sparse", "x", x, "a BCOO or BCSR matrix")
    if isinstance(x, sparse.BCSR):
        return matrix_of("csr", (x.indptr, x.indices), x.data, x.shape, copy=copy, name=name)
    rows, columns, values = x.indices[:, 0], x.indices[:, 1], x.data
    inside = (rows < x.shape[0]) & (columns < x.shape[1])
    if not bool(inside.all()):
        rows, columns, values = rows[inside], columns[inside], values[inside]
    return matrix_of("coo", (rows, columns), values, x.shape, dup_op=dup_op, name=name)


def to_jax_sparse(A: Any, format: str = "bcsr", dtype: Any = None) -> Any:
    """Return a Matrix as a sparse JAX array, on the device of its engine.

    JAX shares arrays in device memory. On the CPU one copy is made, and JAX makes another of arrays that are not
    aligned to 64 bytes.

    Parameters
    ----------
    A : Matrix or A.T
    format : {"bcsr", "bcoo"}
    dtype : optional
        A type of GraphBLAS; by default the matrix's own.

    Returns
    -------
    jax.experimental.sparse.BCSR or BCOO
        Its ids are int32.

    Raises
    ------
    PackageMissing
        JAX is not installed.
    DomainMismatch
        The values have 64 bits and JAX is set to 32 (its default): give ``dtype=`` or set ``jax_enable_x64``.
    InvalidValue
        The matrix has 2**31 or more rows, columns or entries.
    """
    form = choice("to_jax_sparse", "format", format, _FORMATS)
    need_numbers(A, "to_jax_sparse")
    jax, sparse = need("jax"), need("jax.experimental.sparse")
    require_int32(A, "to_jax_sparse")
    first, second, values = parts_of(A, form[1:], dtype)
    if jax.dtypes.canonicalize_dtype(values.dtype) != values.dtype:
        raise DomainMismatch(
            f"to_jax_sparse: A holds {values.dtype} and JAX is set to 32 bits; dtype= converts, or set jax_enable_x64"
        )
    first, second = (jax.dlpack.from_dlpack(part.astype(np.int32, copy=False)) for part in (first, second))
    values = jax.dlpack.from_dlpack(values)
    how = {"shape": A.shape, "indices_sorted": True, "unique_indices": True}
    if form == "bcoo":
        return sparse.BCOO((values, jax.numpy.stack([first, second], axis=1)), **how)
    return sparse.BCSR((values, second, first), **how)
