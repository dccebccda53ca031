"""Statements whose output is a matrix: the result is computed, then written by mask, accumulator and replace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.engines.gpu import matrix_conversions, matrix_products, panel_statements
from sparsezc.engines.gpu.elementwise import (
    broadcast,
    kronecker,
    matrix_index,
    matrix_map,
    matrix_merge,
    operands,
    panel,
    panel_parts,
    row_map,
    vector_index,
)
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows, Region
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.elementwise.transpose import mirrored
from sparsezc.engines.gpu.graphs import flow
from sparsezc.engines.gpu.products import dense_rows, label_sums, spgemm, two_way
from sparsezc.engines.gpu.runtime import presence_words
from sparsezc.engines.gpu.sampling import selectk, walks
from sparsezc.engines.gpu.storage import assembly
from sparsezc.engines.gpu.storage.assembly import rows_of
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore, in_bits
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.memory import allocate, budget
from sparsezc.semirings import select
from sparsezc.semirings.types.datatypes import INT64

#: The write options by which a result replaces the output.
WHOLE: Write[MaskRows | None] = Write(None, None, False)
_POSITION_BYTES = 32  # bytes of device memory for each position or row, with an entry or without


def run_statement(e: Any, out: Any, write: Write[Mask | None]) -> bool:
    """Run a statement whose output is a matrix; return False if this engine cannot."""
    if panel_statements.run_statement(e, out, write):
        return True
    if e.operation in ("assign", "subassign", "reposition") and _is_too_wide(e, out._store):
        return False
    if e.operation in ("assign", "subassign"):
        _assign(e, out, write)
        return True
    if e.operation == "reposition":
        _reposition(e, out, write)
        return True
    made: MatrixStore | None
    if e.operation in _OF_PANELS:
        made = _MAKE[e.operation](e)
        if made is not None and made.is_panel and panel_statements.write(e, out, made, write):
            return True
    how = _in_rows(write)
    allowed = False  # whether the result has entries only where the mask allows them
    if e.operation == "mxm":
        a, b = e.operands
        made, allowed = matrix_products.mxm(e.op, a, b, how.mask)
    elif e.operation not in _OF_PANELS:
        made = _MAKE[e.operation](e) if e.operation in _MAKE else None
    if made is None:
        return False
    if allowed and (out._store.rows is None or (how.replace and how.accum is None)):
        how = WHOLE  # the result replaces the output
    _write(out._store, made, how, Region())
    return True


def _is_too_wide(e: Any, store: MatrixStore) -> bool:
    """Return whether the positions of an assignment, or the vector of a row or column, do not fit in device memory."""
    kinds = [index.kind for index in e.operands[1:]] if e.operation != "reposition" else ["one"]
    every = "one" in kinds
    sizes = [
        n
        for n, kind in zip((store.nrows, store.ncols), kinds * (3 - len(kinds)), strict=True)
        if every or kind != "all"
    ]
    return _POSITION_BYTES * max(sizes, default=0) > budget.available()


def _marks(i: Any, j: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return the assigned rows and columns as presence words; 0 for all."""
    rows, columns = (
        0 if at is None else presence_words.mark(at.astype("uint64"), n) for at, n in ((i, shape[0]), (j, shape[1]))
    )
    return rows, columns


def _write(store: MatrixStore, made: MatrixStore, how: Write[MaskRows | None], region: Region) -> None:
    whole = how.mask is None or (store.nvals == 0 and _lets_all(how.mask, made))
    if whole and how.accum is None and region.is_all:
        store.take(matrix_conversions.cast(made, store.dtype))
    else:
        store.take(matrix_merge.write(store, made, how, region))


def _lets_all(mask: MaskRows, made: MatrixStore) -> bool:
    """Return whether a mask is known to allow every entry, as both have the same arrays of offsets and ids."""
    if mask.complement or mask.values or made.rows is None:
        return False
    return made.rows.indptr is mask.rows.indptr and made.rows.indices is mask.rows.indices


def _in_rows(write: Write[Mask | None]) -> Write[MaskRows | None]:
    """Return the write options with the mask as CSR rows."""
    mask, accum, replace = write
    return Write(None if mask is None else _mask_of(mask, mask.parent._store), accum, replace)


def _mask_of(mask: Any, store: MatrixStore) -> MaskRows:
    return MaskRows(rows_of(store), store.dtype, not mask.structure, mask.complement)


# Results of operations: each function takes an expression and returns a store, or None if this engine cannot run it.


def _ewise(e: Any) -> MatrixStore:
    x, y, extra = operands.of_ewise(e)
    if e.operation == "ewise_mult" and x.ndim != y.ndim:
        matrix, vector = (x, y) if x.ndim == 2 else (y, x)
        return broadcast.multiply(e.op, matrix_conversions.operand(matrix), vector._store, vector is x)
    if e.operation == "ewise_add" and (made := _mirrored(e, x, y)) is not None:
        return made
    return matrix_merge.ewise(e.operation, e.op, _repeated(x, e, True), _repeated(y, e, False), **extra)


def _mirrored(e: Any, x: Any, y: Any) -> MatrixStore | None:
    """Return the sum of a strictly triangular matrix and its transpose; None if the operands are others."""
    if x.ndim != y.ndim or x._store is not y._store or x._transposed == y._transposed:
        return None
    store = x._store
    if store.rows is None or store.symmetric or e.dtype is not store.dtype or store.nrows != store.ncols:
        return None
    rows = mirrored(store.rows)
    return None if rows is None else MatrixStore(e.dtype, store.nrows, store.ncols, rows, rows)


def _repeated(x: Any, e: Any, left: bool) -> MatrixStore:
    """Return an operand of a union as a matrix; a vector is repeated as each row or, on the left, as each column."""
    return matrix_conversions.operand(x) if x.ndim == 2 else kronecker.repeated(x._store, e.shape, not left)


def _apply(e: Any) -> MatrixStore:
    x, extra = operands.of_apply(e)
    return matrix_map.apply(e.op, matrix_conversions.operand(x), **extra)


def _select(e: Any) -> MatrixStore:
    matrix, s = matrix_conversions.operand(e.operands[0]), e.operands[1]
    return matrix_map.select(e.op, matrix, s.value, s.dtype)


def _transpose(e: Any) -> MatrixStore:
    matrix = e.operands[0]
    return matrix._store if matrix._transposed else matrix_conversions.transpose(matrix._store)


def _extract(e: Any) -> MatrixStore:
    if e.operands[0]._store.is_panel and (made := _extract_of_panel(e)) is not None:
        return made
    matrix, (row, column) = matrix_conversions.operand(e.operands[0]), e.operands[1:]
    if matrix.rows is None:
        nrows, ncols = e.shape
        return MatrixStore(matrix.dtype, nrows, ncols, None)
    if column.kind == "all" and row.kind == "range" and row.key.step == 1:
        alike = matrix_index.row_range(matrix.rows, matrix.dtype, row.key.start, row.key.stop)
        if alike is not None:
            return alike
    if row.kind == "all" and column.kind == "range" and column.key[:1] == range(1) and column.key.step == 1:
        return matrix_index.first_columns(
            matrix_map.select(select.colle[matrix.dtype], matrix, column.size - 1, INT64), column.size
        )
    i, j = matrix_index.positions(row), matrix_index.positions(column)
    return matrix_index.extract(matrix.rows, matrix.dtype, i, j)


def _extract_of_panel(e: Any) -> MatrixStore | None:
    """Return a part of a panel, as a panel if its shape is narrow; None if its columns are not consecutive."""
    matrix, i, j = e.operands
    held = matrix._store.panel
    region = panel_parts.region_of(held, *((j, i) if matrix._transposed else (i, j)))
    if region is None:
        return None
    across = held.across != matrix._transposed
    made = Panel(region.ncols, across, panel_parts.extract(held, region))
    return panel.put_panel(MatrixStore(held.vector.dtype, e.shape[0], e.shape[1], None), made)


def _with_values(e: Any) -> MatrixStore:
    A, v = e.operands
    return matrix_index.with_values(matrix_conversions.operand(A), v._store)


def _stack(e: Any) -> MatrixStore:
    return assembly.stack(list(map(matrix_conversions.operand, e.operands)), e.shape, e.dtype)


def _diag(e: Any) -> MatrixStore:
    u, k = e.operands
    return matrix_index.on_diagonal(u._store, int(k.value), e.shape)


def _kronecker(e: Any) -> MatrixStore | None:
    a, b = map(matrix_conversions.operand, e.operands)
    too_many = _POSITION_BYTES * e.shape[0] > budget.available()
    return None if e.op.is_positional or too_many else kronecker.kronecker(e.op, a, b)


def _outer(e: Any) -> MatrixStore | None:
    u, v = e.operands
    return None if e.op.is_positional else kronecker.outer(e.op, u._store, v._store)


def _power(e: Any) -> MatrixStore | None:
    """Return a power, computed by repeated squaring; each product is cast to the matrix's own type."""
    factor, n = matrix_conversions.operand(e.operands[0]), int(e.operands[1].value)
    made: MatrixStore | None = None
    while n:
        if n & 1:
            made = factor if made is None else _times(e, made, factor)
        n >>= 1
        if n:
            factor = _times(e, factor, factor)
    return made


def _times(e: Any, a: MatrixStore, b: MatrixStore) -> MatrixStore:
    return matrix_conversions.cast(spgemm.mxm(e.op, a, b, False, None)[0], e.dtype)


def _select_mask(e: Any) -> MatrixStore:
    x, y, kind = e.operands
    matrix = matrix_conversions.operand(x)
    empty = MatrixStore(matrix.dtype, matrix.nrows, matrix.ncols, None)
    return matrix_merge.write(
        empty, matrix, Write(_mask_of(kind, matrix_conversions.operand(y)), None, False), Region()
    )


def _selectk(e: Any) -> MatrixStore:
    matrix, index, pick = e.operands
    store = matrix_conversions.operand(matrix)
    if store.rows is None:
        nrows, ncols = e.shape
        return MatrixStore(e.dtype, nrows, ncols, None)
    return selectk.selectk(store.rows, store.dtype, matrix_index.positions(index), pick)


def _walk(e: Any) -> MatrixStore:
    matrix, trail, *weights = e.operands
    top, by = (None if v is None else v._store for v in (*weights, None, None)[:2])
    return walks.walk(matrix_conversions.operand(matrix), trail, top, by)


_MAKE: dict[str, Callable[[Any], MatrixStore | None]] = {
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": _ewise,
    "apply": _apply,
    "apply_left": _apply,
    "apply_right": _apply,
    "apply_index": _apply,
    "select": _select,
    "transpose": _transpose,
    "extract": _extract,
    "diag": _diag,
    "stack": _stack,
    "with_values": _with_values,
    "kronecker": _kronecker,
    "outer": _outer,
    "power": _power,
    "select_mask": _select_mask,
    "sampled_mxm": matrix_products.sampled_mxm,
    "two_way_mxm": lambda e: two_way.two_way_mxm(e, matrix_conversions.operand(e.operands[0])),
    "two_way_sampled_mxm": lambda e: two_way.two_way_sampled_mxm(e, matrix_conversions.operand(e.operands[0])),
    "solve": dense_rows.solve,
    "distances": dense_rows.distances,
    "map_rows": row_map.as_rows,
    "selectk": _selectk,
    "walk": _walk,
    "sum_by_labels": label_sums.sum_by_labels,
    "net_flow": flow.net_flow,
}
_OF_PANELS = {"solve", "distances", "two_way_mxm", "two_way_sampled_mxm"}  # operations whose results mostly are panels


# Assignments


def _assign(e: Any, out: Any, write: Write[Mask | None]) -> None:
    x, row, column = e.operands
    lines = [index.kind == "one" for index in (row, column)]
    mask = write.mask
    if sum(lines) == 1 and (mask is None or mask.parent.ndim == 1):
        _assign_line(e, out, write, lines[0])
        return
    store: MatrixStore = out._store
    shape = store.nrows, store.ncols
    i, j = matrix_index.positions(row), matrix_index.positions(column)
    alone = e.operation == "subassign"
    allowed = None
    if mask is not None:
        parent = mask.parent._store
        if alone:
            parent = matrix_index.spread(parent, i, j, shape)
        allowed = _mask_of(mask, parent)
    new = _value(x, i, j, shape, lines[0], allowed)
    _write(store, new, Write(allowed, write.accum, write.replace), Region(*_marks(i, j, shape), alone=alone))


def _reposition(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Assign the moved entries that stay within the output's shape; other positions keep their entries."""
    x, *offsets = e.operands
    matrix = matrix_conversions.operand(x)
    if write.mask is None and write.accum is None and out._store.nvals == 0:
        widened = matrix_index.widened(matrix, [int(offset.value) for offset in offsets], e.shape)
        if widened is not None:
            out._store.take(matrix_conversions.cast(widened, out._store.dtype))
            return
    moves = [
        vector_index.moved(int(offset.value), old, new)
        for offset, old, new in zip(offsets, (matrix.nrows, matrix.ncols), e.shape, strict=True)
    ]
    (take_i, i), (take_j, j) = moves
    shape = out._store.nrows, out._store.ncols
    new = MatrixStore(matrix.dtype, shape[0], shape[1], None)
    if matrix.rows is not None:
        new = matrix_index.spread(matrix_index.extract(matrix.rows, matrix.dtype, take_i, take_j), i, j, shape)
    _write(out._store, new, _in_rows(write), Region(*_marks(i, j, shape)))


def _value(x: Any, i: Any, j: Any, shape: tuple[int, int], row: bool, mask: MaskRows | None) -> MatrixStore:
    """Return the assigned value as a matrix of the output's shape, with entries at assigned positions only."""
    if x.ndim:
        made = matrix_index.line(x._store, row) if x.ndim == 1 else matrix_conversions.operand(x)
        return matrix_index.spread(made, i, j, shape)
    if x.value is None:
        return MatrixStore(x.dtype, *shape, None)
    if mask is None or mask.complement:
        return matrix_index.filled(x.value, x.dtype, i, j, shape)
    # A scalar is spread over the mask's entries only; the write rule then applies a value mask.
    rows = mask.rows
    values = allocate(rows.indices.placement, 1, x.dtype.np_type)
    values.write(0, [x.value])
    same = Rows(rows.nrows, rows.ncols, rows.nvals, rows.indptr, rows.indices, values, True)
    return MatrixStore(x.dtype, *shape, same if rows.nvals else None)


def _assign_line(e: Any, out: Any, write: Write[Mask | None], row: bool) -> None:
    """Assign to one row or column: extract it as a vector, assign to the vector, and write it back."""
    store: MatrixStore = out._store
    at, index = e.operands[1:] if row else e.operands[:0:-1]
    i, j = (matrix_index.positions(at), None) if row else (None, matrix_index.positions(at))
    shape = store.nrows, store.ncols
    if store.rows is None:
        line = VectorStore(store.dtype, shape[1 if row else 0])
    else:
        line = matrix_index.as_vector(matrix_index.extract(store.rows, store.dtype, i, j), row)
    how = in_bits(write)
    if e.operation == "subassign":
        how = how._replace(mask=vector_index.submask(how.mask, index, line.size))
    vector_index.assign(e.operands[0], index, line, how)
    new = matrix_index.spread(matrix_index.line(line, row), i, j, shape)
    _write(store, new, WHOLE, Region(*_marks(i, j, shape), alone=True))
