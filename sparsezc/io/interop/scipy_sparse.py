"""Conversion to and from SciPy's sparse arrays, which keeps value types and refuses duplicates without `dup_op`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.interop.sparse_parts import choice, from_coordinates

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector

_FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix | Vector:
    """Make a Matrix from a SciPy sparse matrix or array, or a Vector from an array of one dimension.

    The object's own arrays are one copy, independent of the caller's. A csc is copied twice, as it is transposed; SciPy
    first converts formats other than csr, csc and coo to coo.

    Parameters
    ----------
    A : scipy.sparse array or matrix
        Stored zeros are kept.
    dup_op : BinaryOp, optional
        The operator that merges entries of one position; without it such entries are an error.
    name : str, optional

    Examples
    --------
    >>> import scipy.sparse
    >>> import sparsezc as gb
    >>> gb.io.from_scipy_sparse(scipy.sparse.csr_array([[0, 2], [3, 0]])).to_coo()[2]
    array([2, 3])
    """
    from scipy.sparse import issparse

    from sparsezc.core.matrix import Matrix

    if not issparse(A) or A.ndim not in (1, 2):
        raise wrong_type("from_scipy_sparse", "A", A, "a SciPy sparse matrix or array")
    if A.format in ("csr", "csc") and A.ndim == 2 and A.has_canonical_format:
        nrows, ncols = A.shape
        make = Matrix.from_csr if A.format == "csr" else Matrix.from_csc
        whole: Matrix = make(A.indptr, A.indices, A.data, nrows=nrows, ncols=ncols, name=name)
        return whole
    coo = A.tocoo()
    ids = coo.coords if A.ndim == 1 else (np.asarray(coo.row), np.asarray(coo.col))
    return from_coordinates(ids, coo.data, A.shape, dup_op, name)


def to_scipy_sparse(A: Any, format: str = "csr") -> Any:
    """Return a Matrix as a SciPy sparse array, or a Vector as an array of one row (one column for "csc").

    The array owns one copy of the entries for "csr" and "coo"; SciPy converts it to the other formats. A matrix instead
    of an array is ``scipy.sparse.csr_matrix`` of the result, without a further copy.

    Parameters
    ----------
    A : Matrix or Vector
    format : {"bsr", "csr", "csc", "coo", "lil", "dia", "dok"}

    Returns
    -------
    scipy.sparse array
        Its ids are int32 where they fit, as in SciPy's own arrays, else int64.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.io.to_scipy_sparse(gb.io.read("path:3")).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    from scipy.sparse import coo_array, csc_array, csr_array

    from sparsezc.core.vector import Vector

    form = choice("Invalid format", "format", format, _FORMATS)
    need_numbers(A, "to_scipy_sparse")
    if isinstance(A, Vector):
        at, values = A.to_coo()
        make, shape = (csc_array, (A.size, 1)) if form == "csc" else (csr_array, (1, A.size))
        return make((values, _signed(at, A.size), np.array([0, at.size])), shape=shape).asformat(form)
    if form == "coo":  # directly: offsets of a huge number of rows might not fit in memory
        rows, cols, values = A.to_coo()
        bound = max(A.nrows, A.ncols)
        return coo_array((values, (_signed(rows, bound), _signed(cols, bound))), shape=A.shape)
    indptr, cols, values = A.to_csr()
    ids = _signed(cols, max(A.ncols, cols.size))
    return csr_array((values, ids, indptr.astype(ids.dtype)), shape=(A.nrows, A.ncols)).asformat(form)


def _signed(ids: Any, bound: int) -> Any:
    """Return ids in the signed type that SciPy uses: int32 if `bound` fits, else int64."""
    return ids.astype(np.int32) if bound < 2**31 else ids.view(np.int64)
