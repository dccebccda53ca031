"""A vector on a matrix's diagonal, a matrix's diagonal as a vector, and writing to a diagonal."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from sparsezc.exceptions import DimensionMismatch, IndexOutOfBound
from sparsezc.expr.expression import Deferred, Expression, Operand, says, stored
from sparsezc.expr.mask import Mask, to_mask
from sparsezc.ops.checks import scalar
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.types.datatypes import BOOL

__all__ = ["diag", "setdiag"]


def diag(u: Any, k: Any = 0) -> Expression:
    """Make the square matrix with u on diagonal k, or extract diagonal k of the matrix u.

    Parameters
    ----------
    u : Vector, Matrix or TransposedMatrix
    k : int
        0 is the main diagonal; positive ones are above it.

    Returns
    -------
    Expression
        Makes a Matrix of ``size + abs(k)`` rows and columns from a Vector, a Vector from a Matrix; a diagonal outside
        of the matrix is of size 0.

    Raises
    ------
    TypeError
        k is no integer.
    """
    u = stored(u, "diag: the operand", 1, 2)
    try:
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"diag: k must be an integer; got {says(k)}") from None
    if u.ndim == 1:
        n = u.size + abs(k)
        return Expression("diag", (u, scalar(k, "diag: k")), None, u.dtype, (n, n))
    if u._transposed:
        u, k = u.T, -k
    nrows, ncols = u.shape
    size = max(0, min(nrows + k, ncols) if k < 0 else min(nrows, ncols - k))
    return Expression("diag", (u, scalar(k, "diag: k")), None, u.dtype, (size,))


def setdiag(A: Any, values: Any, k: Any = 0, mask: Any = None, accum: Any = None) -> None:
    """Assign ``A(i, i + k) = values(i)``: one masked statement with the diagonal as the mask; it runs at once.

    Parameters
    ----------
    A : Matrix, nrows x ncols
    values : number, Scalar, Vector or array
        As long as the diagonal; where a Vector has no entry, the diagonal's is deleted, unless `accum` is given.
    k : int
        0 is the main diagonal; positive ones are above it.
    mask : Mask, optional
        A mask of a Vector as long as the diagonal, or of a Matrix like A, whose diagonal `k` counts.
    accum : binary operator or its name, optional
        The operator that combines old and new value.

    Raises
    ------
    IndexOutOfBound
        The diagonal does not exist.
    DimensionMismatch
        Values or mask are not as long as the diagonal.
    TypeError
        `k` is no integer, or the values are no numbers.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix(int, 2, 3)
    >>> A.setdiag([7, 8], k=1)
    >>> A.to_dicts()
    {0: {1: 7}, 1: {2: 8}}
    """
    if isinstance(values, Deferred):
        values = values.operand("setdiag: values")
    mask = None if mask is None else to_mask(mask)
    parts = [x for x in (values, None if mask is None else mask.parent) if isinstance(x, Operand)]
    with hold_locks(A, *parts):
        _write(A, values, k, mask, accum)


def _write(A: Any, values: Any, k: Any, mask: Mask | None, accum: Any) -> None:
    size, k = _diagonal(A, k)
    v = _values(values, size)
    allowed = None if mask is None else _along(A, mask, size, k).new()
    if allowed is None:  # positions without an entry in either stay unchanged, without being written
        allowed = Operand._kinds[1](BOOL, size)
        allowed(v.S) << True
        allowed(diag(A, k).new().S) << True
    if A._engine is not None:  # the matrices of both are made on A's engine, instead of being moved there
        engine = A._need()[0]
        v._settle(engine)
        allowed._settle(engine)
    content, where = diag(v, k).new(), diag(allowed, k).new()
    for matrix in (content, where):
        if matrix.shape != A.shape:
            matrix.resize(*A.shape)
    A(where.S, accum=accum) << content


def _diagonal(A: Any, k: Any) -> tuple[int, int]:
    """Return the length and the positions of the diagonal."""
    try:
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"setdiag: k must be an integer; got bad type: {says(k)}") from None
    nrows, ncols = A.shape
    size = min(nrows + k, ncols) if k < 0 else min(ncols - k, nrows)
    if size <= 0 and (k <= -nrows if k < 0 else 0 < k >= ncols):
        far = "small" if k < 0 else "large"
        raise IndexOutOfBound(f"setdiag: k={k} is too {far}; the k'th diagonal is out of range of {says(A)}")
    return max(size, 0), k


def _values(values: Any, size: int) -> Any:
    kind = Operand._kinds[1]
    if isinstance(values, Operand) and values.ndim == 1:
        v: Any = values
    else:
        try:
            v = kind.from_scalar(scalar(values, "setdiag: values", may_be_empty=True), size)
        except TypeError:
            if isinstance(values, Operand) or not isinstance(values, list | tuple | np.ndarray):
                raise TypeError(
                    f"Bad type for argument `values` in Matrix.setdiag: a number, a Scalar, a Vector or an array is"
                    f" needed; got {says(values)}"
                ) from None
            v = kind.from_dense(values)
    if v.size != size:
        raise DimensionMismatch(
            f"setdiag: Dimensions not compatible: {says(v)} is written to a diagonal of length {size}"
        )
    return v


def _along(A: Any, mask: Mask, size: int, k: int) -> Mask:
    """Return the mask of the diagonal's positions."""
    if mask.parent.ndim == 1:
        if mask.parent.size != size:
            raise DimensionMismatch(
                f"setdiag: Vector mask in setdiag is the wrong length: {says(mask.parent)}, and {size} is needed"
            )
        return mask
    if mask.parent.shape != A.shape:
        raise DimensionMismatch(
            f"setdiag: Matrix mask in setdiag is the wrong shape: {says(mask.parent)}, which must fit {says(A)}"
        )
    return Mask(diag(mask.parent, k).new(), mask.structure, mask.complement)
