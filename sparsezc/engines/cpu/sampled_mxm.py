"""A product of panels at a matrix's entries, and at once its product with another matrix, on the CPU engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.dense import full_or_not
from sparsezc.engines.cpu.expressions import acyclic, operand, operator
from sparsezc.errors import DimensionMismatch
from sparsezc.expr.expression import Expression, Step
from sparsezc.expr.mask import Mask
from sparsezc.semirings.semiring import plus_times

__all__ = ["sampled_mxm"]

_ENTRIES = 1 << 20  # sampled at a time
_IN_CACHE = 1 << 13  # of these, multiplied at a time: what they read stays in a core's cache


def sampled_mxm(x: Expression, mask: Mask | None = None) -> Any:
    """Make python-graphblas's Matrix of the second product; the first has A's entries, each a dot product.

    Rows in which the mask allows nothing may be left out.
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


def _of_arrays(x: Expression, mask: Any) -> Any:
    """Compute some entries at a time, so that the first product is never stored whole; rows that a mask forbids, not."""
    from scipy.sparse import csr_array  # which takes a fifth of a second to import

    A, X, flipped, Z, inner = x.operands
    dtype, mine = x.dtype.np_type, inner.op.return_type.np_type
    pattern = _pattern(A._store, None if mask is None or A._transposed else _wanted(mask))
    left, right = _array(X).astype(mine, copy=False), _array(flipped).T.astype(mine, copy=False)
    if A._transposed:
        left, right = right, left
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    stops = [0, *(weights.stop for weights in inner.weights)] if inner.weights else [0, x.shape[1]]
    columns = [slice(a, b) for a, b in pairwise(stops)]
    z = [np.ascontiguousarray(_array(Z)[:, some], dtype) for some in columns]
    steps = [weights.steps for weights in inner.weights] or [()]
    made, has = np.zeros(x.shape, dtype), np.zeros(x.shape, np.bool_)
    for first, last in _blocks(pattern.ends):
        i, j, indptr, own = pattern.entries(first, last)
        w = np.empty(j.size, mine)
        for at in range(0, j.size, _IN_CACHE):
            some = slice(at, at + _IN_CACHE)
            np.einsum("ij,ij->i", left.take(i[some], axis=0), right.take(j[some], axis=0), out=w[some])
        for where, of, factors in zip(columns, steps, z, strict=True):
            weight, kept = _steps(w, own, (j, i) if A._transposed else (i, j), of)
            ids, ends = j, indptr
            if kept is not None:
                ends, ids, weight = np.append(0, np.cumsum(kept))[indptr], j[kept], weight[kept]
            W = csr_array((weight.astype(dtype, copy=False), ids, ends), shape=(last - first, pattern.ncols))
            if A._transposed:
                made[:, where] += W.T @ factors[first:last]
                has[ids, where] = True
            else:
                made[first:last, where] = W @ factors
                has[first:last, where] = (np.diff(ends) > 0)[:, None]
    return full_or_not(made, has, x)


class _Pattern(NamedTuple):
    """Entries by rows."""

    ends: NDArray[np.int64]
    ids: NDArray[np.int64]
    values: NDArray[Any]  # one for all, if they are alike
    ncols: int

    def entries(self, first: int, last: int) -> tuple[Any, Any, Any, Any]:
        """Return rows, columns, offsets and values of the entries in some rows."""
        start, stop = self.ends[first], self.ends[last]
        ends = self.ends[first : last + 1] - start
        own = self.values if self.values.size == 1 else self.values[start:stop]
        return np.repeat(np.arange(first, last), np.diff(ends)), self.ids[start:stop], ends, own


def _pattern(store: Any, wanted: NDArray[np.bool_] | None) -> _Pattern:
    """Return the entries of a matrix in the rows that are wanted."""
    parts = store.ss.export("csr", sort=True)
    ends, ids = parts["indptr"].astype(np.int64), parts["col_indices"].astype(np.int64)
    values = np.atleast_1d(parts["values"])
    if wanted is not None and not wanted.all():
        lengths = np.diff(ends)
        kept = np.repeat(wanted, lengths)
        ends, ids = np.append(0, np.cumsum(np.where(wanted, lengths, 0))), ids[kept]
        values = values if values.size == 1 else values[kept]
    return _Pattern(ends, ids, values, store.ncols)


def _wanted(mask: Mask) -> NDArray[np.bool_] | None:
    """Return the rows of which a mask allows an entry; None for all."""
    if not mask.structure:
        return None
    store = mask.parent._store
    counts = acyclic(store.reduce_rowwise(native.gb.agg.count).new()).to_dense(0)
    found: NDArray[np.bool_] = counts < store.ncols if mask.complement else counts > 0
    return found


def _blocks(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut rows into blocks of so many entries, or of one row."""
    first, count = 0, ends.size - 1
    while first < count:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _ENTRIES, side="right")) - 1)
        yield first, last
        first = last


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
