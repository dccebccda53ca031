"""Conversion of a Matrix to and from the three arrays of a CSR or a COO, of any array library, in any memory.

Arrays are objects with DLPack, ``__cuda_array_interface__`` or NumPy's protocols. Arrays on a GPU become a Matrix on
the GPU engine without passing through the host, and without a copy where ids take 4 bytes (8 for more than 2**32
columns) and values have the matrix's type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines import cpu
from sparsezc.engines.gpu import array_exchange
from sparsezc.engines.gpu.storage import vector_store
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr import engines
from sparsezc.io.build.limits import unexpected, wrong_type
from sparsezc.io.interop.array import on_device, on_host
from sparsezc.ops import arrays
from sparsezc.semirings.types.datatypes import DataType, lookup

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


class NewMatrix(TypedDict, total=False):
    """The options of functions that make a Matrix from arrays."""

    dtype: Any
    engine: str | None
    name: str | None


def from_csr_arrays(
    indptr: Any,
    indices: Any,
    values: Any,
    *,
    ncols: int,
    symmetric: bool = False,
    copy: bool = False,
    **options: Unpack[NewMatrix],
) -> Matrix:
    """Make a Matrix from the three arrays of compressed rows (CSR).

    Parameters
    ----------
    indptr : array of integers, shape (nrows + 1,)
    indices : array of integers, shape (n,)
        The column ids of row i are ``indices[indptr[i]:indptr[i + 1]]``, each once, in any order.
    values : array, shape (n,), or a number for all
    ncols : int
    dtype : optional
        The type of the matrix; by default the values' own.
    symmetric : bool
        The caller asserts that the matrix equals its transpose.
    copy : bool
        False: on the GPU the matrix shares ids of 4 bytes (8 above 2**32 columns), values of its type and offsets of
        int64; these arrays must not change while the matrix is in use. Arrays of other types, arrays that must be
        sorted, and all arrays on the CPU are copied once.
    engine : {"cpu", "gpu"}, optional
        The engine of the result; by default the one where the arrays are.
    name : str, optional

    Raises
    ------
    InvalidValue, InvalidObject, IndexOutOfBound
        The arrays are no CSR; the message names the position.
    DimensionMismatch
        `values` and `indices` have different lengths.

    Examples
    --------
    >>> import numpy as np, sparsezc as gb
    >>> gb.io.from_csr_arrays(np.array([0, 1, 3]), np.array([1, 0, 2]), np.array([7, 8, 9]), ncols=3).to_dicts()
    {0: {1: 7}, 1: {0: 8, 2: 9}}
    """
    from sparsezc.core.matrix import Matrix

    where = "from_csr_arrays"
    dtype, engine, name = _new(where, options)
    if not on_device(engine, indptr, indices, values):
        p, j, x = (on_host(part) for part in (indptr, indices, values))
        host: Matrix = Matrix.from_csr(p, j, x, dtype, ncols=ncols, symmetric=symmetric, name=name)
        return host
    ncols = arrays.size(ncols, f"{where}: ncols")
    offsets, ids, vals = (array_exchange.array(part) for part in (indptr, indices, values))
    kind = _fit(where, ids, vals, dtype)
    if symmetric and offsets.size - 1 != ncols:
        raise InvalidValue(f"{where}: symmetric=True, and the matrix is {offsets.size - 1} x {ncols}, not square")
    store = array_exchange.matrix_from_csr(offsets, ids, vals, ncols, kind, copy=copy, symmetric=symmetric, where=where)
    made: Matrix = Matrix._from_store(engines.get("gpu"), store, kind, (store.nrows, ncols), name)
    return made._known_symmetric(symmetric)


def _new(where: str, options: NewMatrix) -> tuple[Any, str | None, str | None]:
    """Return the options dtype, engine and name, None where not given; raise TypeError for an unknown one."""
    if unknown := options.keys() - NewMatrix.__annotations__:
        raise unexpected(where, unknown, NewMatrix)
    return options.get("dtype"), options.get("engine"), options.get("name")


def _fit(where: str, ids: Any, values: Any, dtype: Any) -> DataType:
    """Return the type of the matrix; raise DimensionMismatch unless there is a value for each id, or one for all."""
    if values.ndim and values.shape != ids.shape:
        raise DimensionMismatch(f"{where}: values have shape {values.shape} and indices {ids.shape}")
    return lookup(values.dtype if dtype is None else dtype)


def from_coo_arrays(
    rows: Any,
    columns: Any,
    values: Any,
    *,
    nrows: int,
    ncols: int,
    dup_op: Any = None,
    **options: Unpack[NewMatrix],
) -> Matrix:
    """Make a Matrix from row ids, column ids and values in any order (COO); its engine sorts one copy of them.

    Parameters
    ----------
    rows, columns : array of integers, shape (n,)
    values : array, shape (n,), or a number for all
    nrows, ncols : int
    dtype : optional
        The type of the matrix; by default the values' own.
    dup_op : binary operator or its name, optional
        The operator that merges values of one position. On the GPU: that of a monoid, or first, second or any.
    engine : {"cpu", "gpu"}, optional
        The engine of the result; by default the one where the arrays are.
    name : str, optional

    Raises
    ------
    InvalidValue
        A position occurs twice without `dup_op`.
    IndexOutOfBound
        An id is negative, or at least `nrows` or `ncols`.
    DimensionMismatch
        The arrays have different lengths.
    """
    from sparsezc.core.matrix import Matrix

    where = "from_coo_arrays"
    dtype, engine, name = _new(where, options)
    if not on_device(engine, rows, columns, values):
        i, j, x = (on_host(part) for part in (rows, columns, values))
        host: Matrix = Matrix.from_coo(i, j, x, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
        return host
    shape = arrays.size(nrows, f"{where}: nrows"), arrays.size(ncols, f"{where}: ncols")
    i = array_exchange.ids(array_exchange.array(rows), f"{where}: rows", shape[0])
    j = array_exchange.ids(array_exchange.array(columns), f"{where}: columns", shape[1])
    vals = array_exchange.array(values)
    if i.shape != j.shape:
        raise DimensionMismatch(f"{where}: rows have shape {i.shape} and columns {j.shape}")
    kind = _fit(where, j, vals, dtype)
    i, j, vals = _merged(*_ordered(i, j, vals), kind, dup_op, where)
    store = array_exchange.matrix_from_sorted(i, j, vals, shape, kind, copy=True)
    made: Matrix = Matrix._from_store(engines.get("gpu"), store, kind, shape, name)
    return made


def _ordered(i: Any, j: Any, values: Any) -> tuple[Any, Any, Any]:
    """Return the entries sorted by row and column; the sort is stable."""
    xp = cuda.current().xp
    order = xp.argsort(j, kind="stable")
    order = order[xp.argsort(i[order], kind="stable")]
    return i[order], j[order], values[order] if values.ndim else values


def _merged(i: Any, j: Any, values: Any, kind: DataType, dup_op: Any, where: str) -> tuple[Any, Any, Any]:
    """Return the distinct positions of sorted entries, and one value for each, merged by `dup_op`."""
    from sparsezc.core.matrix import Matrix

    xp = cuda.current().xp
    other = xp.ones(i.size, np.bool_)  # where a new position begins
    other[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    starts = xp.flatnonzero(other)
    if starts.size == i.size:
        return i, j, values
    if values.ndim == 0:
        return i[starts], j[starts], values
    if dup_op is None:
        at = int(xp.flatnonzero(~other)[0])
        raise InvalidValue(
            f"{where}: Duplicate indices found: position ({int(i[at])}, {int(j[at])}) occurs twice; dup_op= must"
            " name an operator that merges them"
        )
    merge = cpu.merger(dup_op, kind, False, f"{where}: dup_op")
    ends = xp.concatenate([starts[1:], xp.asarray([i.size])])
    if merge is not None and merge.name in ("first", "second", "any"):
        kept = ends - 1 if merge.name == "second" else starts
        return i[starts], j[starts], values[kept]
    offsets = xp.concatenate([starts, xp.asarray([i.size])])
    store = array_exchange.matrix_from_csr(
        offsets, xp.arange(i.size, dtype=np.int64), values, i.size, kind, copy=False, symmetric=False, where=where
    )
    groups: Any = Matrix._from_store(engines.get("gpu"), store, kind, (starts.size, i.size))
    folded = groups.reduce_rowwise(dup_op).new(kind)
    return i[starts], j[starts], vector_store.to_dense(folded._need()[1], 0, kind)


def to_csr_arrays(A: Any, *, by_columns: bool = False, dtype: Any = None, copy: bool = False) -> tuple[Any, Any, Any]:
    """Return the three arrays of a Matrix's compressed rows (CSR): NumPy's from the CPU engine, CuPy's from the GPU.

    Parameters
    ----------
    A : Matrix or A.T
    by_columns : bool
        Return compressed columns (CSC) instead.
    dtype : optional
        The type of the values; by default the matrix's own.
    copy : bool
        False: the arrays of a matrix in device memory are its own and must not be changed (the value of an iso-valued
        matrix is repeated in a new array). From the CPU engine, or from host memory that a GPU reads, one copy is made.

    Returns
    -------
    indptr : array of int64, shape (nrows + 1,)
    indices : array of int64, or of int32 on the GPU for up to 2**31 columns, shape (n,)
        The ids, ascending in each row.
    values : array, shape (n,)

    Raises
    ------
    DomainMismatch
        `A` is no Matrix.
    OutOfMemory
        On the GPU, a matrix in host memory does not fit in device memory.

    Examples
    --------
    >>> import sparsezc as gb
    >>> indptr, indices, values = gb.io.to_csr_arrays(gb.io.read("path:3"))
    >>> indptr, indices
    (array([0, 1, 3, 4]), array([1, 0, 2, 1]))
    """
    from sparsezc.core.matrix import Matrix, TransposedMatrix

    if isinstance(A, TransposedMatrix):
        return to_csr_arrays(A.T, by_columns=not by_columns, dtype=dtype, copy=copy)
    if not isinstance(A, Matrix):
        raise wrong_type("to_csr_arrays", "A", A, "a Matrix")
    engine, store = A._need()
    kind = A.dtype if dtype is None else lookup(dtype)
    if not engines.has_placements(engine) or A.dtype.is_udt:
        indptr, ids, values = A.to_csc(kind) if by_columns else A.to_csr(kind)
        return indptr.view(np.int64), ids.view(np.int64), values
    if kind is not A.dtype:
        store = engine.dup(store, kind)  # converted by GraphBLAS's rules for values that do not fit
    found = array_exchange.matrix_to_csr(store, by_columns=by_columns)
    return tuple(part.copy() for part in found) if copy else found


def to_coo_arrays(A: Any, *, dtype: Any = None) -> tuple[Any, Any, Any]:
    """Return row ids, column ids and values of a Matrix, by rows (COO): NumPy's or, from the GPU engine, CuPy's arrays.

    Row ids (int64) are a new array; column ids and values are those of :func:`to_csr_arrays`, in the same types: on the
    GPU they must not be changed.
    """
    from sparsezc.core.matrix import Matrix

    if isinstance(A, Matrix) and not engines.has_placements(A._need()[0]):
        rows, columns, values = A.to_coo(dtype)
        return rows.view(np.int64), columns.view(np.int64), values
    offsets, ids, values = to_csr_arrays(A, dtype=dtype)
    if isinstance(offsets, np.ndarray):
        return np.repeat(np.arange(offsets.size - 1), np.diff(offsets)), ids, values
    return array_exchange.row_ids(offsets, ids.size), ids, values
