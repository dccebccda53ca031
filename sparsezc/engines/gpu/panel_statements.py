"""Statements on panels, which matrix_statements.py tries before all others.

Products with a matrix of few rows or columns make panels. Elementwise statements on panels of one shape then run as
statements on vectors, with mask, accumulator and replace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsezc.engines.gpu import matrix_conversions
from sparsezc.engines.gpu.elementwise import operands, panel, panel_parts, row_map, vector_map
from sparsezc.engines.gpu.elementwise.panel import Panel, SameVector
from sparsezc.engines.gpu.products import multi_source_bfs, sddmm, spmm
from sparsezc.engines.gpu.products.spgemm_rows import products, the_one_value
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore, bits_of
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.semirings.types.datatypes import BOOL

_DENSE = 2  # a matrix with an entry at every second position, or more, becomes a panel for a product
_HUBS = 8  # length of the rows that a panel's entries meet, in mean lengths: hubs are met first
_PASS = 4096  # entries of a pass over the large matrix that take as long as one multiply of a block for one row


def run_statement(e: Any, out: Any, write: Write[Mask | None]) -> bool:
    """Run a statement on panels; return False if it has no form on panels."""
    shape = panel.shape_of(out._store.nrows, out._store.ncols)
    if shape is None or (write.mask is not None and write.mask.parent.ndim == 1):
        return False
    statement = _Statement(e, out._store, write, *shape)
    if e.operation == "mxm":
        return statement.mxm()
    if e.operation == "sampled_mxm":
        return statement.sampled_mxm()
    if e.operation == "map_rows":
        return statement.map_rows()
    if e.operation in ("assign", "subassign") and statement.put():
        return True
    return e.operation in _ELEMENTWISE and statement.elementwise()


def write(e: Any, out: Any, made: MatrixStore, how: Write[Mask | None]) -> bool:
    """Write a panel to the output by the write rule of vectors; return False if mask or output cannot be panels."""
    shape = panel.shape_of(out._store.nrows, out._store.ncols)
    if shape is None or (how.mask is not None and how.mask.parent.ndim == 1):
        return False
    statement = _Statement(e, out._store, how, *shape)
    return statement._write(made.panel.vector, statement.in_bits(), masked=False)


class _Statement:
    """A statement whose output has the shape of a panel."""

    def __init__(self, e: Any, out: MatrixStore, write: Write[Mask | None], width: int, across: bool) -> None:
        self.e, self.out, self.write = e, out, write
        self.width, self.across = width, across

    def of(self, store: MatrixStore) -> VectorStore:
        return panel.get_or_build(store, self.width, self.across).vector

    @property
    def size(self) -> int:
        return self.out.nrows * self.out.ncols

    def in_bits(self) -> Write[MaskBits]:
        """Return the write options with the mask as presence words of the panel's vector."""
        mask, accum, replace = self.write
        return Write(MaskBits() if mask is None else bits_of(mask, self.of(mask.parent._store)), accum, replace)

    def hold(self, vector: VectorStore) -> bool:
        self.out.hold(Panel(self.width, self.across, vector))
        return True

    # Products

    def mxm(self) -> bool:
        a, b = self.e.operands
        if not self._asks_for_few():
            small = sddmm.times_small(self.e.op, a, b, self.width, self.across)
            if small is not None:
                return self._write(small, self.in_bits(), masked=False)
        few, many = (a, b) if self.across else (b, a)
        narrow, wide, result = few._store, many._store, self.e.op.return_type
        shape = panel.shape_of(narrow.nrows, narrow.ncols)
        if shape != (self.width, self.across != few._transposed) or narrow.nvals == 0 or wide.nvals == 0:
            return False
        size, same = narrow.nrows * narrow.ncols, the_one_value(self.e.op)
        if same is None and not (panel.fits(size, narrow.dtype) and self._is_worth_it(few, many)):
            return False
        if not panel.fits(
            self.size, result if same is None else BOOL, *([] if self.out.nvals == 0 else [self.out.dtype])
        ):
            return False
        # Y = M X or, if X is the left operand, Y' = X' M': then the rows of M are the columns of B
        turned = many._transposed != self.across
        rows = None if same is not None else _rows(wide, turned)
        if same is None and rows is None:
            return False
        x, how = Panel(self.width, self.across, panel.get_or_build(narrow, *shape).vector), self.in_bits()
        made: VectorStore
        if rows is None:
            along, across = wide.held()
            sides = (across, along) if turned else (along, across)
            made = multi_source_bfs.step(same, result, *sides, max(self.out.nrows, self.out.ncols), x, how.mask)
        else:
            columns = wide.held()[not turned]
            frontier = spmm.frontier_to_push(self.e.op, rows, columns, x, how.mask)
            if frontier is None or columns is None:
                made = spmm.pull(self.e.op, rows, wide.dtype, x, how.mask)
            else:
                made = spmm.push(self.e.op, columns, wide.dtype, x, how.mask, frontier=frontier)
        return self._write(made, how, masked=True)

    def _asks_for_few(self) -> bool:
        """Return whether the mask is a sparse matrix, without complement."""
        mask = self.write.mask
        return mask is not None and not mask.complement and mask.parent._store.panel is None

    def sampled_mxm(self) -> bool:
        """Multiply a product of panels, sampled at a matrix's entries, by a panel, in one pass over the matrix."""
        A, X, flipped, Z, inner = self.e.operands
        narrow: MatrixStore = Z._store
        shape = panel.shape_of(narrow.nrows, narrow.ncols)
        if self.across or shape != (self.width, Z._transposed) or 0 in (narrow.nvals, A._store.nvals):
            return False
        given = sddmm.sides(inner.op, X, flipped, inner.weights)
        if given is None or not panel.fits(2 * self.size, self.e.op.return_type):
            return False
        x, how = Panel(self.width, False, panel.get_or_build(narrow, *shape).vector), self.in_bits()
        rows, columns = A._store.held()
        pushes = A._transposed and columns is None
        rows = columns if A._transposed and not pushes else rows
        made = (spmm.push if pushes else spmm.pull)(self.e.op, rows, A._store.dtype, x, how.mask, given)
        return self._write(made, how, masked=True)

    def map_rows(self) -> bool:
        how = self.in_bits()
        made = None if self.across else row_map.map_rows(self.e, how.mask)
        return made is not None and self._write(made.vector, how, masked=False)

    def _write(self, made: VectorStore, how: Write[MaskBits], *, masked: bool) -> bool:
        """Write a result to the output; `masked`: it has entries only where the mask allows them."""
        whole = how.mask.allows_all or (masked and (how.replace or self.out.nvals == 0))
        if how.accum is None and whole:
            return self.hold(made if made.dtype is self.out.dtype else vector_map.cast(made, self.out.dtype))
        out = self.of(self.out)
        vector_map.write_vector(made, out, how)
        return self.hold(out)

    def _is_worth_it(self, few: Any, many: Any) -> bool:
        """Return whether one pass over the large matrix is cheaper than a product row by row."""
        narrow, wide = few._store, many._store
        size, count = narrow.nrows * narrow.ncols, narrow.nvals
        mask = self.write.mask
        if count * _DENSE >= size or (mask is not None and (narrow.is_panel or mask.parent._store.is_panel)):
            return True  # a pull reads wanted rows only, and a product by rows would convert the panel first
        rows: Rows | None = wide.held()[many._transposed]
        if narrow.is_panel or self.out.is_panel or rows is None or few._transposed:
            made = count * wide.nvals / wide.nrows * _HUBS
        elif self.across:
            made = float(products(narrow, rows).sum())
        else:
            return False
        return bool(made / self.width * _PASS >= wide.nvals + size)

    # Elementwise statements

    def elementwise(self) -> bool:
        stores = [x._store for x in self.e.operands if getattr(x, "ndim", 0) == 2]
        involved = [self.out, *stores, *([] if self.write.mask is None else [self.write.mask.parent._store])]
        shape = self.out.nrows, self.out.ncols
        if not (any(store.is_panel for store in involved) or self._is_filled()):
            return False
        if any((store.nrows, store.ncols) != shape for store in involved):
            return False
        by_vectors = any(getattr(x, "ndim", 0) == 1 for x in self.e.operands)
        if by_vectors and not self.e.operation.startswith("ewise"):
            return False
        if any(getattr(x, "_transposed", False) for x in self.e.operands):
            return False
        if not _by_value(self.e) or not panel.fits(self.size, *(s.dtype for s in involved if s.panel is None)):
            return False
        if self._keeps_same():
            return True
        if self._is_filled():
            self.out.replace(None)  # its entries are not converted, as all are overwritten
        out = self.of(self.out)
        _ELEMENTWISE[self.e.operation](self, out, self.in_bits())
        return self.hold(out)

    def _keeps_same(self) -> bool:
        """Assign an iso-valued panel, if no other entry remains, without writing its values; return whether it did."""
        x, how = self.e.operands[0], self.write
        if self.e.operation != "assign" or x.ndim != 2 or how.accum is not None or x.dtype is not self.out.dtype:
            return False
        given = x._store.panel.vector if x._store.is_panel else None
        if given is None or given.same is None or not (how.mask is None or how.replace or self.out.nvals == 0):
            return False
        mask = self.in_bits().mask
        bits = given.bits.copy() if mask.allows_all else given.bits & (~mask.bits if mask.flip else mask.bits)
        return self.hold(SameVector(given.dtype, given.size, bits, given.same))

    def side(self, x: Any, left: bool) -> VectorStore:
        """Return a matrix's panel, or a vector repeated as each column (left operand) or each row (right) of one."""
        if x.ndim == 2:
            return self.of(x._store)
        return panel_parts.spread(
            x._store, Panel(self.width, self.across, VectorStore(x.dtype, self.size)), left != self.across
        )

    def put(self) -> bool:
        """Assign to consecutive rows and columns without mask or accumulator; return whether it did."""
        x, i, j = self.e.operands
        if not x.ndim or getattr(x, "_transposed", False) or self.across or _by_value(self.e):
            return False
        if (
            self.write.mask is not None
            or self.write.accum is not None
            or not (self.out.is_panel or self.out.nvals == 0)
        ):
            return False
        held = panel.get_or_build(self.out, self.width, self.across)
        region = panel_parts.region_of(held, i, j)
        if region is None or region.rows is not None or (x.ndim == 1 and j.kind != "one"):
            return False
        if x.ndim == 2 and panel.shape_of(x.nrows, x.ncols) != (region.ncols, False):
            return False
        new = x._store if x.ndim == 1 else panel.get_or_build(x._store, region.ncols, False).vector
        panel_parts.put(new if new.dtype is self.out.dtype else vector_map.cast(new, self.out.dtype), held, region)
        return self.hold(held.vector)

    def _is_filled(self) -> bool:
        """Return whether the statement assigns a scalar to all positions: a panel needs no ids for them."""
        x = self.e.operands[0]
        everywhere = self.write.mask is None and self.write.accum is None and _by_value(self.e)
        return self.e.operation == "assign" and everywhere and x.ndim == 0 and x.value is not None


def _rows(store: MatrixStore, columns: bool) -> Rows | None:
    """Return the rows of a matrix, or those of its transpose, which it keeps once built; None if memory is short."""
    rows, held = store.held()
    assert rows is not None
    if not columns:
        return rows
    if held is None and not matrix_conversions.afford_transpose(store):
        return None
    return store.held()[1]


def _by_value(e: Any) -> bool:
    """Return whether a statement depends on values only: its operator reads no positions, its index lists are all."""
    if e.operation in ("assign", "subassign"):
        return all(index.kind == "all" for index in e.operands[1:])
    return e.op is None or not (e.op.is_positional or e.op.reads & set("ijk"))


def _ewise(s: _Statement, out: VectorStore, write: Write[MaskBits]) -> None:
    x, y, extra = operands.of_ewise(s.e)
    vector_map.ewise(s.e.operation, s.e.op, s.side(x, True), s.side(y, False), out, write, **extra)


def _apply(s: _Statement, out: VectorStore, write: Write[MaskBits]) -> None:
    x, extra = operands.of_apply(s.e)
    vector_map.apply(s.e.op, s.of(x._store), out, write, **extra)


def _select(s: _Statement, out: VectorStore, write: Write[MaskBits]) -> None:
    x, thunk = s.e.operands
    vector_map.select(s.e.op, s.of(x._store), thunk.value, thunk.dtype, out, write)


def _assign(s: _Statement, out: VectorStore, write: Write[MaskBits]) -> None:
    x = s.e.operands[0]
    if x.ndim:
        vector_map.write_vector(s.of(x._store), out, write)
    else:
        vector_map.write_scalar(x.value, x.dtype, out, write)


_ELEMENTWISE: dict[str, Callable[[_Statement, VectorStore, Write[MaskBits]], None]] = {
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": _ewise,
    "apply": _apply,
    "apply_left": _apply,
    "apply_right": _apply,
    "select": _select,
    "assign": _assign,
    "subassign": _assign,
}
