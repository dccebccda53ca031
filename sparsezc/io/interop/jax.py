"""To and from JAX's sparse arrays (``jax.experimental.sparse``), by DLPack: on the CPU or on the GPU.

JAX is imported when one of these is called: ``pip install jax``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.errors import DomainMismatch, InvalidValue
from sparsezc.io.build.limits import need_numbers
from sparsezc.io.build.optional import need
from sparsezc.io.interop.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix

_FORMATS = ("bcsr", "bcoo")


def from_jax_sparse(x: Any, *, dup_op: Any = None, copy: bool = False, name: str | None = None) -> Matrix:
    """Make a Matrix of a sparse JAX array; one on a GPU stays there.

    Parameters
    ----------
    x : jax.experimental.sparse.BCOO or BCSR, two-dimensional, without batch and dense dimensions
        Stored zeros are kept; the padding of a BCOO (ids beyond its shape) is not.
    dup_op : binary operator or its name, optional
        What merges entries of a BCOO at one position; without it they are an error.
    copy : bool
        Without it, a BCSR on the GPU is shared; JAX does not change its arrays, so neither must the Matrix's be. All
        others are one copy.
    name : str, optional

    Raises
    ------
    PackageMissing
        JAX is not installed.
    DomainMismatch
        `x` is no such array.
    """
    sparse = need("jax.experimental.sparse")
    if not isinstance(x, sparse.BCOO | sparse.BCSR) or x.n_sparse != 2 or x.n_batch or x.n_dense:
        raise DomainMismatch(f"from_jax_sparse: x is a {type(x).__name__}; a BCOO or BCSR matrix is needed")
    nrows, ncols = x.shape
    if isinstance(x, sparse.BCSR):
        return from_csr_arrays(x.indptr, x.indices, x.data, ncols=ncols, copy=copy, name=name)
    rows, columns, values = x.indices[:, 0], x.indices[:, 1], x.data
    inside = (rows < nrows) & (columns < ncols)
    if not bool(inside.all()):
        rows, columns, values = rows[inside], columns[inside], values[inside]
    return from_coo_arrays(rows, columns, values, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)


def to_jax_sparse(A: Any, format: str = "bcsr", dtype: Any = None) -> Any:
    """Make a sparse JAX array of a Matrix, where it lies.

    JAX takes arrays in the GPU's memory without a copy. On the CPU there is one copy, and another where memory is not
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
        With int32 ids.

    Raises
    ------
    PackageMissing
        JAX is not installed.
    DomainMismatch
        The values take 64 bits and JAX is set to 32 (its default): ``dtype=`` or ``jax_enable_x64`` decides.
    InvalidValue
        The matrix has 2**31 rows, columns or entries and more.
    """
    form = str(format).lower()
    if form not in _FORMATS:
        raise InvalidValue(f"format={format!r} is not one of {', '.join(_FORMATS)}")
    need_numbers(A, "to_jax_sparse")
    jax, sparse = need("jax"), need("jax.experimental.sparse")
    if max(A.nrows, A.ncols, A.nvals) >= 2**31:
        raise InvalidValue(f"to_jax_sparse: A is {A.nrows} x {A.ncols} with {A.nvals} entries; 2**31 - 1 are possible")
    if form == "bcoo":
        rows, columns, values = to_coo_arrays(A, dtype=dtype)
        _check(jax, values.dtype)
        ids = jax.numpy.stack([_given(jax, part.astype(np.int32, copy=False)) for part in (rows, columns)], axis=1)
        return sparse.BCOO((_given(jax, values), ids), shape=A.shape, indices_sorted=True, unique_indices=True)
    offsets, columns, values = to_csr_arrays(A, dtype=dtype)
    _check(jax, values.dtype)
    ids, ends = (_given(jax, part.astype(np.int32, copy=False)) for part in (columns, offsets))
    return sparse.BCSR((_given(jax, values), ids, ends), shape=A.shape, indices_sorted=True, unique_indices=True)


def _check(jax: Any, dtype: Any) -> None:
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise DomainMismatch(
            f"to_jax_sparse: A holds {dtype} and JAX is set to 32 bits; dtype= converts, or set jax_enable_x64"
        )


def _given(jax: Any, part: Any) -> Any:
    return jax.dlpack.from_dlpack(part)
