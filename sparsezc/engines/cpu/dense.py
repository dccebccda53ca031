"""Operations on full matrices on the CPU engine: products by NumPy's BLAS, systems of equations, distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr.expression import Expression
from sparsezc.memory.budget import require_host
from sparsezc.semirings.semiring import plus_times

__all__ = ["distances", "is_dense", "map_rows", "matmul", "solve", "values_of", "with_values"]

NOT_SOLVED = "solve: a row's matrix is singular in FP64; each must have one solution"
_SOLVED = 1 << 22  # numbers of the matrices that are solved at a time, 32 MiB
_MANY = 1 << 14  # products: on fewer, copies and calls cost more than NumPy's BLAS saves


def is_dense(x: Expression) -> bool:
    """Return whether an expression is a plus_times product of full matrices, large enough for NumPy's BLAS."""
    if x.operation != "mxm" or x.op.op is not plus_times:  # type: ignore[union-attr]
        return False
    A, B = x.operands
    if not (x.dtype.is_float or x.dtype.is_complex) or A.nrows * A.ncols * B.ncols < _MANY:
        return False
    # SuiteSparse stores one value of an iso operand; NumPy would need it at every position
    return all(M._store.nvals == math.prod(M._shape) and not M._store.ss.is_iso for M in (A, B))


def matmul(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the product."""
    A, B = x.operands
    count = A.nrows * A.ncols + B.nrows * B.ncols + math.prod(x.shape)
    shapes = f"{A.nrows:,} x {A.ncols:,} and {B.nrows:,} x {B.ncols:,}"
    require_host(count * x.dtype.np_type.itemsize, f"mxm: a product of full matrices of {shapes}")
    left, right = (_array(M, x.dtype.np_type) for M in (A, B))
    with np.errstate(all="ignore"):  # inf * 0 is NaN, whatever NumPy's error handling is
        values = np.ascontiguousarray(left @ right)
    made = native.gb.Matrix.ss.import_fullr(
        values=values, nrows=x.shape[0], ncols=x.shape[1], take_ownership=True,
        dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


def solve(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the solutions, some rows at a time."""
    G, B = x.operands
    m, k = x.shape
    if G.shape != (m, k * (k + 1) // 2) or B.shape != (m, k):
        raise DimensionMismatch(f"solve: {G.name} and {B.name} have other shapes since the expression was made")
    packed, right = (_array(M, np.float64, fill=0.0) for M in (G, B))
    complete = B._store.reduce_rowwise(native.gb.agg.count).new().to_dense(0) == k
    if B._transposed:
        complete = B._store.reduce_columnwise(native.gb.agg.count).new().to_dense(0) == k
    upper, found = np.triu_indices(k), np.zeros((m, k))
    some = np.flatnonzero(complete)
    size = max(1, _SOLVED // (k * k))
    for first in range(0, some.size, size):
        at = some[first : first + size]
        square = np.empty((at.size, k, k))
        square[:, upper[0], upper[1]] = square[:, upper[1], upper[0]] = packed[at]
        try:
            found[at] = np.linalg.solve(square, right[at, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise InvalidValue(NOT_SOLVED) from None
    if not np.isfinite(found).all():
        raise InvalidValue(NOT_SOLVED)
    has = np.ascontiguousarray(np.broadcast_to(complete[:, None], (m, k)))
    return full_or_not(found, has, x)


def distances(x: Expression) -> Any:
    """Make python-graphblas's Matrix of distances."""
    from scipy.spatial.distance import cdist  # which takes half a second to import

    X, Y = x.operands
    if (X.nrows, Y.nrows) != x.shape or X.ncols != Y.ncols:
        raise DimensionMismatch(f"distances: {X.name} and {Y.name} have other shapes since the expression was made")
    count = X.nrows * X.ncols + Y.nrows * Y.ncols + X.nrows * Y.nrows
    require_host(8 * count, f"distances: of {X.nrows:,} rows from {Y.nrows:,}, of {X.ncols:,} numbers each,")
    values = cdist(*(_array(M, np.float64, fill=0.0) for M in (X, Y)))
    return full_or_not(values, np.ones(x.shape, np.bool_), x)


def map_rows(x: Expression) -> Any:
    """Make python-graphblas's Matrix of rows that a function computes."""
    *matrices, function = x.operands
    if any(A.nrows != x.shape[0] for A in matrices) or sum(A.ncols for A in matrices) != function.inputs:
        raise DimensionMismatch("map_rows: a matrix has another shape since the expression was made")
    columns = [column for A in matrices for column in _array(A, np.float64, fill=0.0).T]
    values = np.empty(x.shape)
    for k, column in enumerate(function.numpy(columns)):
        values[:, k] = column
    return full_or_not(values, np.ones(x.shape, np.bool_), x)


def values_of(x: Expression) -> Any:
    """Make python-graphblas's Vector of a matrix's values."""
    store = _fitting(x)
    parts = store.ss.export("csr", sort=True)
    values = np.broadcast_to(parts["values"], store.nvals) if parts["is_iso"] else parts["values"]
    return acyclic(native.gb.Vector.from_dense(np.ascontiguousarray(values), dtype=store.dtype))


def with_values(x: Expression) -> Any:
    """Make python-graphblas's Matrix of a matrix's entries with other values."""
    parts = _fitting(x).ss.export("csr", sort=True)
    parts.update(values=x.operands[1]._store.to_dense(), is_iso=False, take_ownership=True)
    del parts["format"]
    return acyclic(native.gb.Matrix.ss.import_csr(**parts, dtype=native.type_of(x.dtype)))


def _fitting(x: Expression) -> Any:
    """Return a matrix's store after a check that it has as many entries as when the expression was made."""
    A = x.operands[0]
    store = acyclic(A._store.T.new()) if A._transposed else A._store
    if store.nvals != (x.shape[0] if len(x.shape) == 1 else x.operands[1].size):
        raise DimensionMismatch(f"{x.operation}: {A.name} has other entries than when the expression was made")
    return store


def full_or_not(values: NDArray[Any], has: NDArray[np.bool_], x: Expression) -> Any:
    """Return python-graphblas's Matrix of `values` with entries where `has`; it takes over the arrays."""
    given = {"nrows": x.shape[0], "ncols": x.shape[1], "take_ownership": True, "dtype": native.type_of(x.dtype)}
    values = np.ascontiguousarray(values)
    if has.all():
        return acyclic(native.gb.Matrix.ss.import_fullr(values=values, **given))
    return acyclic(native.gb.Matrix.ss.import_bitmapr(values=values, bitmap=has, nvals=int(has.sum()), **given))


def _array(M: Any, dtype: Any, fill: Any = None) -> Any:
    """Return a matrix, or its transpose, as a dense array, with `fill` where there is no entry."""
    array = M._store.to_dense(fill).astype(dtype, copy=False)
    return array.T if M._transposed else array
