"""The GPU engine class: its operations on vectors and scalars, and the fallback to the CPU engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc.config import config
from sparsezc.engines.gpu import cpu_fallback, matrix_conversions, matrix_statements, resized_operands, statement_order
from sparsezc.engines.gpu.elementwise import (
    matrix_index,
    matrix_map,
    operands,
    panel_parts,
    reduce,
    value_order,
    vector_index,
    vector_map,
)
from sparsezc.engines.gpu.graphs import colors
from sparsezc.engines.gpu.products import best_column, label_moves, labels, spgemm, spmv
from sparsezc.engines.gpu.runtime import launch, presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore, bits_of, in_bits
from sparsezc.engines.gpu.store_methods import Keeper
from sparsezc.exceptions import NotImplementedException, OutOfMemory, warn_slow
from sparsezc.expr.dispatch import PLAIN, Write
from sparsezc.expr.mask import Mask
from sparsezc.semirings import select
from sparsezc.semirings.types import user_types
from sparsezc.semirings.types.datatypes import INT64

_Native = Callable[[Any, Any, Write[Mask | None]], bool | None]  # False: the engine cannot run this case
_warned: set[str] = set()


class GpuEngine(Keeper):
    """The engine that runs statements by our kernels; see :class:`sparsezc.expr.engines.Engine`."""

    name = "gpu"
    lock = launch.lock

    def run(self, expression: Any, out: Any, write: Write[Mask | None]) -> None:
        if ENGINE_STATE.has_resized:
            resized_operands.check(expression)
        native: _Native | None = matrix_statements.run_statement if out.ndim == 2 else _NATIVE.get(expression.operation)
        if user_types.any_made and _is_foreign(expression, out, write):
            native = None
        try:
            if native is not None and ENGINE_STATE.has_orders:
                statement_order.settle(expression, out, write.mask)
            if native is None or native(expression, out, write) is False:
                _fall_back(expression, out, write)
        except MemoryError as error:
            if isinstance(error, OutOfMemory):
                raise
            # The text is CuPy's or NumPy's, which has the number of bytes.
            raise OutOfMemory(f"{expression.operation}: {error}") from None


def _is_foreign(expression: Any, out: Any, write: Write[Mask | None]) -> bool:
    """Return whether a statement involves user-defined types, for which there are no kernels."""
    mask, accum, _ = write
    if out.dtype.is_udt or expression.dtype.is_udt or (mask is not None and mask.parent.dtype.is_udt):
        return True
    for x in expression.operands:
        if hasattr(x, "dtype") and x.dtype.is_udt:
            return True
    op = expression.op
    return (op is not None and op.type.is_udt) or (accum is not None and accum.type.is_udt)


# The operations whose result is a vector or a scalar. Each takes (expression, out, write).


def _spmv(vector_left: bool) -> _Native:
    def run(e: Any, out: Any, write: Write[Mask | None]) -> None:
        v, matrix = e.operands if vector_left else reversed(e.operands)
        how, transposed = in_bits(write), matrix._transposed != vector_left
        spmv.spmv(matrix._store, transposed, v._store, e.op, out._store, how, vector_left=vector_left)

    return run


def _ewise(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u, v, extra = operands.of_ewise(e)
    vector_map.ewise(e.operation, e.op, u._store, v._store, out._store, in_bits(write), **extra)


def _apply(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u, extra = operands.of_apply(e)
    vector_map.apply(e.op, u._store, out._store, in_bits(write), **extra)


def _select(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u, s = e.operands
    vector_map.select(e.op, u._store, s.value, s.dtype, out._store, in_bits(write))


def _reduce(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u = e.operands[0]
    if u.ndim == 2 and u._store.is_panel:
        store = u._store.panel.vector
    elif u.ndim == 2:
        # The sum is the same in any vertex order.
        store = VectorStore(e.op.return_type, u._store.nrows, u._store.order)
        spmv.fold_rows(e.op, u._store, False, store, ALL)
    else:
        store = u._store
    out._receive(e, reduce.reduce_vector(e.op, store), write.accum)


def _inner(e: Any, out: Any, write: Write[Mask | None]) -> bool:
    if e.op.is_positional:
        return False
    u, v = e.operands
    products = VectorStore(e.op.return_type, u._store.size)
    vector_map.ewise("ewise_mult", e.op.binaryop, u._store, v._store, products, ALL)
    out._receive(e, reduce.reduce_vector(e.op.monoid, products), write.accum)
    return True


def _reposition(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Assign the moved entries that stay within the output's size; other positions keep their entries."""
    u, offset = e.operands
    size = out._store.size
    region = presence_words.mark(vector_index.moved(int(offset.value), u._store.size, size)[1].astype(np.uint64), size)
    at, values = u._store.entries()
    at = at + int(offset.value)
    kept = (at >= 0) & (at < size)
    moved = VectorStore(u._store.dtype, size)
    moved.put(at[kept], values[kept])
    vector_map.write_vector(moved, out._store, in_bits(write), region=region)


def _select_mask(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u, parent, kind = e.operands
    picked = VectorStore(u._store.dtype, u._store.size)
    vector_map.write_vector(u._store, picked, Write(bits_of(kind, parent._store), None, False))
    vector_map.write_vector(picked, out._store, in_bits(write))


def _reduce_rowwise(e: Any, out: Any, write: Write[Mask | None]) -> None:
    matrix = e.operands[0]
    if matrix._store.is_panel:
        held = matrix._store.panel
        sums = panel_parts.fold(e.op, held, held.across == matrix._transposed)
        vector_map.write_vector(sums, out._store, in_bits(write))
        return
    spmv.fold_rows(e.op, matrix._store, matrix._transposed, out._store, in_bits(write))


def _assign(e: Any, out: Any, write: Write[Mask | None]) -> None:
    x, index = e.operands
    how = in_bits(write)
    if e.operation == "subassign":
        how = how._replace(mask=vector_index.submask(how.mask, index, out._store.size))
    vector_index.assign(x, index, out._store, how)


def _extract(e: Any, out: Any, write: Write[Mask | None]) -> None:
    u, *index = e.operands
    if u.ndim == 1:
        if out.ndim == 0:
            out._receive(e, vector_index.element(u._store, index[0].key), write.accum)
        else:
            vector_index.extract_vector(u._store, index[0], out._store, in_bits(write))
        return
    if out.ndim == 0:
        i, j = (index[k].key for k in ((1, 0) if u._transposed else (0, 1)))
        out._receive(e, matrix_index.element(u._store.rows, i, j), write.accum)
        return
    line = _line(u, index, out.size)
    vector_map.write_vector(line, out._store, in_bits(write))


def _line(matrix: Any, index: list[Any], size: int) -> VectorStore:
    """Return part of a row or column as a vector; a column is read as a row if the matrix has its transpose."""
    store = matrix._store
    row = index[0].kind == "one"
    if store.is_panel:
        region = panel_parts.region_of(store.panel, *(reversed(index) if matrix._transposed else index))
        if region is not None:
            return panel_parts.extract(store.panel, region)
    rows = store.rows
    i, j = (matrix_index.positions(k) for k in index)
    if matrix._transposed:
        i, j, row = j, i, not row
    if not row and store.columns is not None:
        i, j, row, rows = j, i, True, store.columns
    if rows is None:
        return VectorStore(store.dtype, size)
    return matrix_index.as_vector(matrix_index.extract(rows, store.dtype, i, j), row)


def _diag(e: Any, out: Any, write: Write[Mask | None]) -> None:
    matrix, k = e.operands
    at = int(k.value) * (-1 if matrix._transposed else 1)
    chosen = matrix_map.select(select.diag[matrix.dtype], matrix._store, at, INT64)
    line = matrix_index.diagonal(chosen, at, out.size)
    vector_map.write_vector(line, out._store, in_bits(write))


def _values_of(e: Any, out: Any, write: Write[Mask | None]) -> None:
    vector_map.write_vector(
        matrix_index.values_of(matrix_conversions.operand(e.operands[0])), out._store, in_bits(write)
    )


def _best_column(e: Any, out: Any, write: Write[Mask | None]) -> None:
    matrix, v = e.operands
    best = best_column.best_column(matrix._store, matrix._transposed, v._store)
    vector_map.write_vector(best, out._store, in_bits(write))


def _argsort(e: Any, out: Any, write: Write[Mask | None]) -> None:
    vector_map.write_vector(value_order.argsort(e.operands[0]._store, e.shape[0]), out._store, in_bits(write))


def _count_corners(e: Any, out: Any, write: Write[Mask | None]) -> None:
    A, B, M = e.operands
    a, mask = map(matrix_conversions.operand, (A, M))
    counts = spgemm.count_corners(a, B._store, B._transposed, mask)
    vector_map.write_vector(counts, out._store, in_bits(write))


#: Operations whose result is a vector or a scalar; matrix_statements.py has those whose result is a matrix.
_NATIVE: dict[str, _Native] = {
    "mxv": _spmv(vector_left=False),
    "vxm": _spmv(vector_left=True),
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": _ewise,
    "apply": _apply,
    "apply_left": _apply,
    "apply_right": _apply,
    "apply_index": _apply,
    "select": _select,
    "reduce": _reduce,
    "reduce_rowwise": _reduce_rowwise,
    "inner": _inner,
    "reposition": _reposition,
    "select_mask": _select_mask,
    "assign": _assign,
    "subassign": _assign,
    "extract": _extract,
    "diag": _diag,
    "values_of": _values_of,
    "best_label": labels.best_label,
    "label_weight": labels.label_weight,
    "move_labels": label_moves.move_labels,
    "join_labels": label_moves.join_labels,
    "color_rows": colors.color_rows,
    "best_column": _best_column,
    "argsort": _argsort,
    "count_corners": _count_corners,
}


def _fall_back(expression: Any, out: Any, write: Write[Mask | None]) -> None:
    """Run a statement on the CPU engine, unless ``config.fallback`` is "error"; warn if it is "warn"."""
    kinds = [x.ndim for x in (out, *expression.operands) if x._stored]
    said = f"{expression.operation} of a {'Matrix' if max(kinds, default=1) == 2 else 'Vector'}"
    if _is_foreign(expression, out, PLAIN):
        said += " of a user-defined type"
    if config.fallback == "error":
        raise NotImplementedException(f"the GPU engine has no {said}, and config.fallback is 'error'")
    if config.fallback == "warn" and said not in _warned:
        _warned.add(said)
        warn_slow(f"the GPU engine has no {said}: the CPU engine runs it, on copies of its operands")
    cpu_fallback.run_on_cpu(expression, out, write)
