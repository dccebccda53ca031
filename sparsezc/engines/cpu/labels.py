"""Rows whose columns have labels: the best label of each, and what each has within its own (ops/labels.py).

SuiteSparse has no such operation: its product with an indicator stores every sum. So this reads the rows where
SuiteSparse has them, in loops that numba compiles (label_loops.py), on as many threads as there are processors; where
numba is missing, NumPy sorts instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import native
from sparsezc.engines.cpu.label_loops import loops
from sparsezc.errors import DimensionMismatch, IndexOutOfBound, InvalidValue
from sparsezc.expr.dispatch import Write
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask

__all__ = ["OPERATIONS", "run"]

_ALONE = 1 << 17  # entries that a thread does in the time that a second one takes to start, times ten


def run(x: Expression, out: Any, write: Write[Mask | None], assign: Callable[[Any], None]) -> None:
    """Compute the entries that the mask lets through, and write them; `assign`: writes a vector by the write rule."""
    n = x.shape[0]
    rows = _rows(write.mask, n)
    given = {id(u._store): u for u in x.operands if u.ndim}
    for u in given.values():
        if u._shape != (n,) * u.ndim:
            raise DimensionMismatch(f"{x.operation}: {u.name} was resized to {u._shape} since the expression was made")
        if u.ndim == 1 and u._store._nvals != n:
            raise InvalidValue(f"{x.operation}: {u.name} has {u._store.nvals} entries; {n} are needed, one everywhere")
    with ExitStack() as stack:
        arrays = {key: stack.enter_context(_opened(u._store, u.ndim)) for key, u in given.items()}
        operands = [arrays[id(u._store)] if u.ndim else u.value for u in x.operands]
        at, found = OPERATIONS[x.operation](x, operands, rows)
    content = {"indices": at.view(np.uint64), "values": found, "sorted_index": True, "take_ownership": True}
    if write.accum is None and (write.mask is None or write.replace) and out.dtype is x.dtype:
        out._store.ss.pack_sparse(**content)
    else:
        made = native.gb.Vector.ss.import_sparse(size=n, dtype=native.type_of(x.dtype), **content)
        assign(native.acyclic(made))


def _best_label(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows whose best label is not their own, and these labels."""
    csr, label, within, shares, sums, scale, stays = operands
    csr, label = _weighted(x, csr), _checked(x, label)
    best = np.empty(rows.size, np.int64)
    rule = within, None if shares is None else (shares, sums), scale, stays

    def part(first: int, last: int) -> None:
        loops().best_label(csr, rows[first:last], label, rule, best[first:last])

    _share(part, csr[0], rows)
    moves = best != label[rows]
    return rows[moves], best[moves]


def _label_weight(x: Expression, operands: Any, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """All rows, and their sums."""
    csr, label, own = _weighted(x, operands[0]), _checked(x, operands[1]), operands[2]
    sums = np.empty(rows.size)

    def part(first: int, last: int) -> None:
        loops().label_weight(csr, rows[first:last], label, own, sums[first:last])

    _share(part, csr[0], rows)
    return rows, sums


OPERATIONS: dict[str, Callable[..., Any]] = {"best_label": _best_label, "label_weight": _label_weight}


def _share(part: Callable[[int, int], None], indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Do parts of the rows that have about as many entries each, on all processors."""
    work = np.cumsum(indptr[rows + 1] - indptr[rows]) if rows.size else rows
    entries = int(work[-1]) if rows.size else 0
    threads = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 16)
    if entries < _ALONE or threads == 1:
        part(0, rows.size)
        return
    cuts = np.searchsorted(work, np.arange(1, threads) * entries // threads)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, *zip(*pairwise([0, *cuts.tolist(), rows.size]), strict=True)))


@contextmanager
def _opened(store: Any, ndim: int) -> Iterator[Any]:
    """Lend the arrays of a matrix (offsets, ids, values) or of a full vector (values) without a copy.

    SuiteSparse hands them out and takes them back, so an operand is opened once.
    """
    kind = "csr" if ndim == 2 else "full"
    arrays = store.ss.unpack(kind)
    try:
        values = np.atleast_1d(arrays["values"])
        if ndim == 1:
            yield np.broadcast_to(values, store.size) if arrays["is_iso"] else values
            return
        indptr, indices = (arrays[name].view(np.int64) for name in ("indptr", "col_indices"))
        yield indptr, indices, np.broadcast_to(values, indices.shape) if arrays["is_iso"] else values
    finally:
        packed = {name: array for name, array in arrays.items() if name not in ("format", "nrows", "ncols", "size")}
        getattr(store.ss, f"pack_{kind}")(take_ownership=True, **packed)


def _rows(mask: Any, n: int) -> NDArray[np.int64]:
    """Return the rows that a mask lets through, ascending."""
    if mask is None:
        return np.arange(n)
    at, values = mask.parent._store.to_coo(values=not mask.structure)
    at = at.view(np.int64)
    if not mask.structure:
        at = at[values.astype(np.bool_)]
    if not mask.complement:
        return at  # type: ignore[no-any-return]
    allowed = np.ones(n, np.bool_)
    allowed[at] = False
    return np.flatnonzero(allowed)


def _weighted(x: Expression, csr: Any) -> Any:
    """Return the rows with FP64 values, or with None where entries count as one each."""
    indptr, indices, values = csr
    reads = "x" in x.op.reads  # type: ignore[union-attr]
    return indptr, indices, values.astype(np.float64, copy=False) if reads else None


def _checked(x: Expression, label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels, which loops take for positions."""
    if label.size and not (label.min() >= 0 and label.max() < label.size):
        raise IndexOutOfBound(
            f"{x.operation}: label has {label.min()} .. {label.max()}; 0 .. {label.size - 1} are needed"
        )
    return np.ascontiguousarray(label)
