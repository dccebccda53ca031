"""Sampled products on the CPU engine: panels multiplied at a matrix's entries, alone or times a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.dense import full_or_not
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic, operand, operator
from sparsezc.engines.cpu.suitesparse.row_arrays import borrowed
from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import Expression, Step, Weights
from sparsezc.expr.mask import Mask
from sparsezc.semirings.semiring import plus_times

__all__ = ["sampled_mxm", "two_way_sampled_mxm"]


def sampled_mxm(x: Expression, mask: Mask | None = None) -> Any:
    """Make python-graphblas's Matrix of a sampled product, dot products at A's entries, times Z.

    Rows in which the mask allows no entry may be left out.
    """
    A, X, flipped, Z, inner = x.operands
    fits = X.ncols == flipped.nrows and A.shape == (X.nrows, flipped.ncols) and A.ncols == Z.nrows
    if not fits or x.shape != (A.nrows, Z.ncols):
        shapes = ", ".join(f"{M.name} is {M.nrows} x {M.ncols}" for M in (A, X, flipped, Z))
        raise DimensionMismatch(f"sampled_mxm: {shapes}: one was resized since the expression was made")
    if _is_dense(x):
        return _of_arrays(x, mask)
    product = operand(X).mxm(operand(flipped), operator(inner.op))
    pattern = operand(A)
    if A._transposed:
        pattern = acyclic(pattern.new())
    first = acyclic(product.new(mask=pattern.S, axb_method="dot"))
    if not inner.weights:
        return acyclic(first.mxm(operand(Z), operator(x.op)).new())
    whole = acyclic(native.gb.Matrix(native.type_of(x.dtype), *x.shape))
    for some, W in _after_steps(first, A, x):
        whole[:, some] << acyclic(W.mxm(acyclic(operand(Z)[:, some].new()), operator(x.op)).new())
    return whole


def two_way_sampled_mxm(x: Expression) -> Any:
    """Make python-graphblas's Matrix of both products by a sampled product at A's entries."""
    A, X, inner = x.operands
    if X.shape != x.shape or sum(A.shape) != X.nrows:
        shapes = ", ".join(f"{M.name} is {M.nrows} x {M.ncols}" for M in (A, X))
        raise DimensionMismatch(f"two_way_sampled_mxm: {shapes}: one was resized since the expression was made")
    m, store = A.nrows, acyclic(A._store.T.new()) if A._transposed else A._store
    top, bottom = (acyclic(operand(X)[some, :].new()) for some in (slice(0, m), slice(m, None)))
    product = top.mxm(bottom.T, operator(inner.op))
    if _is_dense(x):
        full = _array(X).astype(x.dtype.np_type, copy=False)
        made, has = np.zeros(x.shape, full.dtype), np.zeros(x.shape, np.bool_)
        for columns, W in weighed(store, product, x):
            made[:m, columns] = W @ np.ascontiguousarray(full[m:, columns])
            made[m:, columns] = W.T @ np.ascontiguousarray(full[:m, columns])
            has[:m, columns] = _rows(W)[:, None]
            has[m:, columns] = _columns(W)[:, None]
        return full_or_not(made, has, x)
    whole = acyclic(native.gb.Matrix(native.type_of(x.dtype), *x.shape))
    if not (store.nvals and 0 not in x.shape):
        return whole
    for some, W in _after_steps(acyclic(product.new(mask=store.S, axb_method="dot")), A, x):
        whole[:m, some] << acyclic(W.mxm(acyclic(bottom[:, some].new()), operator(x.op)).new())
        whole[m:, some] << acyclic(W.T.mxm(acyclic(top[:, some].new()), operator(x.op)).new())
    return whole


def _after_steps(first: Any, A: Any, x: Expression) -> Iterator[tuple[slice, Any]]:
    """Yield ranges of columns, one after the other, with their weights, as matrices."""
    start = 0
    for stop, steps in x.operands[-1].weights or (Weights(x.shape[1], ()),):
        W = first
        for step in steps:
            W = _after(W, step, A)
        yield slice(start, stop), W
        start = stop


def _after(W: Any, step: Step, A: Any) -> Any:
    op = operator(step.op)
    if step.kind == "ewise_mult":
        return acyclic(operand(A).ewise_mult(W, op).new())
    if step.kind == "select":
        return acyclic(W.select(op, step.right).new())
    return acyclic((W.apply(op) if step.kind == "apply" else W.apply(op, right=step.right)).new())


# Sampled products of full matrices of floats over plus_times


def _is_dense(x: Expression) -> bool:
    """Return whether NumPy and SciPy can compute an expression: floats over plus_times, of full matrices."""
    _, *full, inner = x.operands
    ops: tuple[Any, Any] = (x.op, inner.op)
    return all(op.op is plus_times and op.return_type.is_float for op in ops) and all(
        M._store.nvals == math.prod(M.shape) for M in full
    )


def _of_arrays(x: Expression, mask: Any) -> Any:
    """Sample by SuiteSparse, and multiply by SciPy, which takes arrays; leave out rows that the mask excludes."""
    A, X, flipped, Z, inner = x.operands
    store, dtype = A._store, x.dtype.np_type
    wanted = None if mask is None or A._transposed else _wanted(mask)
    if wanted is not None and not wanted.all():
        store = _rows_of(store, wanted)
    left, right = (flipped.T, X.T) if A._transposed else (X, flipped)
    made, has = np.zeros(x.shape, dtype), np.zeros(x.shape, np.bool_)
    for columns, W in weighed(store, operand(left).mxm(operand(right), operator(inner.op)), x, A._transposed):
        factor = np.ascontiguousarray(_array(Z)[:, columns], dtype)
        made[:, columns] = (W.T if A._transposed else W) @ factor
        has[:, columns] = (_columns if A._transposed else _rows)(W)[:, None]
    return full_or_not(made, has, x)


def weighed(store: Any, product: Any, x: Expression, turned: bool = False) -> Iterator[tuple[slice, Any]]:
    """Yield ranges of columns, one after the other, with their weights: SciPy's array of the kept entries of `store`.

    `product`: python-graphblas's expression of the product whose values at the entries of `store` the steps start from.
    `turned`: positions in steps are those of the transpose.
    """
    from scipy.sparse import csr_array  # which takes a fifth of a second to import

    inner = x.operands[-1]
    sampled = acyclic(product.new(mask=store.S, axb_method="dot"))
    parts = sampled.ss.unpack("csr", sort=True)
    indptr, ids = parts["indptr"].view(np.int64), parts["col_indices"].view(np.int64)
    w = np.broadcast_to(parts["values"], ids.shape)
    i: Any = None
    if any(step.op.reads & set("ijk") for weights in inner.weights for step in weights.steps):
        i = np.repeat(np.arange(store.nrows), np.diff(indptr))
    at, start = (ids, i) if turned else (i, ids), 0
    with borrowed(store) if inner.reads_matrix else nullcontext() as given:
        own = None if given is None else given.values
        for stop, steps in inner.weights or ((x.shape[1], ()),):
            weight, kept = _steps(w, own, at, steps)
            ends, of = indptr, ids
            if kept is not None:
                ends, of, weight = np.append(0, np.cumsum(kept))[indptr], ids[kept], weight[kept]
            yield slice(start, stop), csr_array((weight.astype(x.dtype.np_type, copy=False), of, ends), store.shape)
            start = stop


def _rows(W: Any) -> NDArray[np.bool_]:
    """Return whether each row has entries."""
    found: NDArray[np.bool_] = np.diff(W.indptr) > 0
    return found


def _columns(W: Any) -> NDArray[np.bool_]:
    """Return whether each column has entries."""
    found = np.zeros(W.shape[1], np.bool_)
    found[W.indices] = True
    return found


def _rows_of(store: Any, wanted: NDArray[np.bool_]) -> Any:
    """Return a matrix with the entries of the wanted rows only."""
    parts = store.ss.export("csr", sort=True)
    lengths = np.diff(parts["indptr"].view(np.int64))
    kept = np.repeat(wanted, lengths)
    parts["indptr"] = np.append(0, np.cumsum(np.where(wanted, lengths, 0))).astype(np.uint64)
    parts["col_indices"] = parts["col_indices"][kept]
    if not parts["is_iso"]:
        parts["values"] = parts["values"][kept]
    del parts["format"]
    return acyclic(native.gb.Matrix.ss.import_csr(**parts, take_ownership=True, dtype=store.dtype))


def _wanted(mask: Mask) -> NDArray[np.bool_] | None:
    """Return for each row whether a mask allows an entry in it; None: all rows."""
    if not mask.structure:
        return None
    store = mask.parent._store
    counts = acyclic(store.reduce_rowwise(native.gb.agg.count).new()).to_dense(0)
    found: NDArray[np.bool_] = counts < store.ncols if mask.complement else counts > 0
    return found


def _steps(w: NDArray[Any], own: Any, at: tuple[Any, Any], steps: Any) -> tuple[NDArray[Any], Any]:
    """Return the weights after all steps, and which entries are kept; None: all."""
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
