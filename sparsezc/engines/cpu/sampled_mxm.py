"""A product of panels at a matrix's entries, and at once its product with another matrix, on the CPU engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.expressions import acyclic, operand, operator
from sparsezc.errors import DimensionMismatch
from sparsezc.expr.expression import Expression, Step
from sparsezc.semirings.semiring import plus_times

__all__ = ["sampled_mxm"]

_ENTRIES = 1 << 14  # sampled at a time: what they read stays in a core's cache


def sampled_mxm(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the second product; the first has A's entries, each a dot product."""
    A, X, flipped, Z, inner = x.operands
    fits = X.ncols == flipped.nrows and A.shape == (X.nrows, flipped.ncols) and A.ncols == Z.nrows
    if not fits or x.shape != (A.nrows, Z.ncols):
        shapes = ", ".join(f"{M.name} is {M.nrows} x {M.ncols}" for M in (A, X, flipped, Z))
        raise DimensionMismatch(f"sampled_mxm: {shapes}: one was resized since the expression was made")
    if _is_dense(x):
        return _of_arrays(x)
    product = operand(X).mxm(operand(flipped), operator(inner.op))
    pattern = operand(A)
    if A._transposed:
        pattern = acyclic(pattern.new())
    first = acyclic(product.new(mask=pattern.S, axb_method="dot"))
    if not inner.weights:
        return acyclic(first.mxm(operand(Z), operator(x.op)).new())
    whole, start = acyclic(native.gb.Matrix(native.type_of(x.dtype), *x.shape)), 0
    for stop, steps in inner.weights:
        W, some = first, slice(start, stop)
        for step in steps:
            W = _after(W, step, A)
        columns = acyclic(operand(Z)[:, some].new())
        whole[:, some] << acyclic(W.mxm(columns, operator(x.op)).new())
        start = stop
    return whole


def _after(W: Any, step: Step, A: Any) -> Any:
    op = operator(step.op)
    if step.kind == "ewise_mult":
        return acyclic(operand(A).ewise_mult(W, op).new())
    if step.kind == "select":
        return acyclic(W.select(op, step.right).new())
    return acyclic((W.apply(op) if step.kind == "apply" else W.apply(op, right=step.right)).new())


# Of full matrices of floats over plus_times


def _is_dense(x: Expression) -> bool:
    """Return whether NumPy and SciPy can compute it: floats over plus_times, of full matrices."""
    A, *full, inner = x.operands
    ops: tuple[Any, Any] = (x.op, inner.op)
    return all(op.op is plus_times and op.return_type.is_float for op in ops) and all(
        M._store.nvals == math.prod(M.shape) for M in full
    )


def _of_arrays(x: Expression) -> Any:
    """Compute some entries at a time, so that the first product is never stored whole."""
    from scipy.sparse import csr_array

    A, X, flipped, Z, inner = x.operands
    whole = A._store.ss.export("csr", sort=True)
    shape, dtype, mine = A._store.shape, x.dtype.np_type, inner.op.return_type.np_type
    ends, ids = whole["indptr"].astype(np.int64), whole["col_indices"].astype(np.int64)
    left, right = _array(X).astype(mine, copy=False), _array(flipped).T.astype(mine, copy=False)
    if A._transposed:
        left, right = np.ascontiguousarray(right), np.ascontiguousarray(left)
    z, values = _array(Z).astype(dtype, copy=False), whole["values"]
    parts = inner.weights or ((x.shape[1], ()),)
    made, has = np.zeros(x.shape, dtype), np.zeros(x.shape, np.bool_)
    first = 0
    while first < shape[0]:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _ENTRIES, side="right")) - 1)
        lengths, some = np.diff(ends[first : last + 1]), slice(int(ends[first]), int(ends[last]))
        i, j = np.repeat(np.arange(first, last), lengths), ids[some]
        w = np.einsum("ij,ij->i", left[i], right[j])
        own = values if values.size == 1 else values[some]
        at, start = ((j, i) if A._transposed else (i, j)), 0
        for stop, steps in parts:
            weight, kept = _steps(w, own, at, steps)
            weight, columns = weight.astype(dtype, copy=False), slice(start, stop)
            indptr, of_kept = ends[first : last + 1] - ends[first], j
            if kept is not None:
                indptr, of_kept, weight = np.r_[0, np.cumsum(kept)][indptr], j[kept], weight[kept]
            W = csr_array((weight, of_kept, indptr), shape=(last - first, shape[1]))
            if A._transposed:
                made[:, columns] += W.T @ z[first:last, columns]
                has[of_kept, columns] = True
            else:
                made[first:last, columns] = W @ z[:, columns]
                has[first:last, columns] = (np.diff(indptr) > 0)[:, None]
            start = stop
        first = last
    return _matrix(made, has, x)


def _steps(w: NDArray[Any], own: Any, at: tuple[Any, Any], steps: Any) -> tuple[NDArray[Any], Any]:
    """Return weights, and which entries are kept; None for all."""
    kept: Any = None
    for step in steps:
        if step.kind == "select":
            allowed = step.op.numpy(w, *at, step.right)
            kept = allowed if kept is None else kept & allowed
        elif step.kind == "apply":
            w = step.op.numpy(w)
        else:
            w = step.op.numpy(w, step.right) if step.kind == "apply_right" else step.op.numpy(own, w)
    return w, kept


def _array(M: Any) -> NDArray[Any]:
    array: NDArray[Any] = M._store.to_dense()
    return array.T if M._transposed else array


def _matrix(values: NDArray[Any], has: NDArray[np.bool_], x: Expression) -> Any:
    """Return a python-graphblas Matrix of the entries that there are."""
    of = {"nrows": x.shape[0], "ncols": x.shape[1], "take_ownership": True, "dtype": native.type_of(x.dtype)}
    if has.all():
        return acyclic(native.gb.Matrix.ss.import_fullr(values=values, **of))
    return acyclic(native.gb.Matrix.ss.import_bitmapr(values=values, bitmap=has, nvals=int(has.sum()), **of))
