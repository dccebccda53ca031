"""The store of matrices on the GPU engine.

A matrix is stored as CSR: offsets on the device, ids and values in buffers of a placement, and the list of its long
rows. A store is changed in place by new rows; rows and their arrays never change, so stores may share them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu.runtime import groups, launch
from sparsezc.engines.gpu.storage.compressed_ids import CompressedIds, compressed
from sparsezc.engines.gpu.storage.layout import Layouts
from sparsezc.engines.gpu.storage.permute_arrays import renumbered
from sparsezc.engines.gpu.storage.user_typed import HostStore
from sparsezc.engines.gpu.storage.vertex_order import Order
from sparsezc.exceptions import warn_slow
from sparsezc.memory import Buffer, budget
from sparsezc.memory.csr import Csr
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.id_blocks import BlocksBuffer
from sparsezc.memory.placement import FITS, HOSTS, RECORDS
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["Chunks", "Form", "MatrixStore", "Rows"]

_NOTEWORTHY = 1 << 20  # least entries of a plain copy that is reported by a warning
_UNCUT = 1 << 31  # most entries of an uncut row, as kernels count the entries of a row in 32 bits


@dataclass(eq=False)
class Chunks:
    """The long rows of a CSR, cut into row chunks of at most `length` entries (see mxv.cu)."""

    length: int
    count: int  # number of chunks
    nrows: int  # number of long rows
    rows: Any  # u64: the long rows
    first: Any  # u64: the first chunk of each, and the end of the last
    slot: Any  # u32: the index in `rows` of each chunk's row

    @cached_property
    def arguments(self) -> groups.LongRows:
        """Return the arguments of kernels that are given a range of chunks."""
        return groups.LongRows(self.rows, self.first, self.slot)

    @cached_property
    def all(self) -> groups.Chunks:
        """Return the arguments of kernels that process all chunks."""
        return groups.Chunks(np.uint64(self.count), *self.arguments)

    @classmethod
    def of(cls, gpu: Device, indptr: Any, nvals: int, length: int) -> Chunks:
        """Cut the rows of more than `length` entries."""
        if nvals <= length:  # no row can be long, and the host need not wait for the device
            return cls(length, 0, 0, 0, 0, 0)
        lengths = indptr[1:] - indptr[:-1]
        rows = gpu.xp.flatnonzero(lengths > length)
        return cls.cut(gpu, rows, lengths[rows], length)

    @classmethod
    def cut(cls, gpu: Device, rows: Any, lengths: Any, length: int) -> Chunks:
        """Cut these rows, of these lengths, into chunks."""
        xp = gpu.xp
        if rows.size == 0:
            return cls(length, 0, 0, 0, 0, 0)
        first = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(-(-lengths // length))])
        count = int(first[-1])
        slot = xp.searchsorted(first, xp.arange(count), side="right") - 1
        return cls(
            length, count, int(rows.size), rows.astype(np.uint64), first.astype(np.uint64), slot.astype(np.uint32)
        )


class PlainCopy:
    """Layout: the plain copy, rows in the users' order with uncompressed ids, for operations that need them.

    The copy is freed once nothing else refers to it, unless the rows were in another order: then it is kept, as making
    it takes a sort.
    """

    def __init__(self) -> None:
        self._copy: Callable[[], Rows | None] = lambda: None

    def get_or_build(self, rows: Rows) -> Rows:
        """Return the plain copy, made at first use."""
        made = self._copy()
        if made is None:
            made = rows.decoded()
            if rows.order is None:
                self._copy = weakref.ref(made)
            else:
                arrays = renumbered(made, rows.order.places, rows.order.vertices)
                made = kept = Rows(rows.nrows, rows.ncols, rows.nvals, *arrays, rows.iso)
                self._copy = lambda: kept
            if made.nvals >= _NOTEWORTHY:
                said = "whose ids are compressed" if rows.order is None else "that is compressed in another order"
                warn_slow(
                    f"an operation that reads single ids of a matrix {said}, with {rows.nvals:,} entries, makes a copy"
                    f" of {made.indices.nbytes:,} bytes; mxv, vxm and reductions by rows need none"
                )
        return made

    @property
    def nbytes(self) -> int:
        made = self._copy()
        return 0 if made is None else made.indices.nbytes

    def drop(self) -> None:
        self._copy = lambda: None


class UncutRows:
    """Layout: the same rows, of which none is cut into row chunks: one warp reads a whole row."""

    nbytes = 0  # its arrays are those of the rows

    def __init__(self) -> None:
        self._made: Rows | None = None

    def get_or_build(self, rows: Rows) -> Rows:
        """Return the uncut rows, made at first use; the cut rows' layouts, which take device memory, are dropped."""
        if self._made is None:
            plain = rows.layouts.pop(PlainCopy, None)  # kept: it does not depend on chunks, and may take a sort to make
            rows.layouts.drop()
            if plain is not None:
                rows.layouts[PlainCopy] = plain
            arrays = rows.indptr, rows.indices, rows.values
            self._made = Rows(rows.nrows, rows.ncols, rows.nvals, *arrays, rows.iso, rows.order, uncut_of=rows)
            rows.layouts[UncutRows] = self
        return self._made

    def drop(self) -> None:
        if self._made is not None:
            self._made.layouts.drop()
        self._made = None


class Form(NamedTuple):
    """The form of some rows' entries, by which the kernels of products are specialised.

    Attributes
    ----------
    wide : bool
        Ids take 8 bytes.
    compressed : bool
        Ids are compressed.
    iso : bool
        All entries have one value, which is stored once.
    long : int
        The most entries of a row that is not cut into row chunks.
    """

    wide: bool
    compressed: bool
    iso: bool
    long: int


@dataclass(frozen=True, eq=False)
class Rows:
    """One orientation of a matrix: a CSR whose offsets are on the device. Its arrays and facts never change."""

    nrows: int
    ncols: int
    nvals: int
    indptr: Any
    indices: Buffer
    values: Buffer  # of iso-valued rows the one value, always in device memory
    iso: bool
    order: Order | None = None  # vertex order of rows and columns; None: the users' own
    uncut_of: InitVar[Rows | None] = None  # the rows whose uncut form these are
    device: Device = field(init=False, repr=False)
    uncut: bool = field(init=False)  # long rows are not cut into row chunks: one warp reads a whole row
    chunks: Chunks = field(init=False)
    # Other forms that products have built of these rows, and the counts for them.
    layouts: Layouts = field(default_factory=Layouts, init=False, repr=False)
    facts: Layouts = field(init=False, repr=False)  # counts that hold for the cut and the uncut form

    def __post_init__(self, uncut_of: Rows | None) -> None:
        gpu = cuda.current()
        object.__setattr__(self, "uncut", uncut_of is not None)
        object.__setattr__(self, "facts", Layouts() if uncut_of is None else uncut_of.facts)
        object.__setattr__(self, "device", gpu)
        length = _UNCUT if self.uncut else budget.chunk_length(self.nvals)
        object.__setattr__(self, "chunks", Chunks.of(gpu, self.indptr, self.nvals, length))
        record = RECORDS[self.values.placement]
        if self.iso and (record.spread or not record.resident):  # every warp reads it repeatedly
            near = DeviceBuffer(gpu.xp.asarray(self.values.read(0, 1)))
            object.__setattr__(self, "values", near)

    @cached_property
    def arguments(self) -> groups.Csr:
        """Return the arguments of kernels that read all rows."""
        pointers = np.uint64(self.indices.pointer), np.uint64(self.values.pointer)
        return groups.Csr(np.uint64(self.nrows), self.indptr, *pointers)

    @cached_property
    def compressed(self) -> bool:
        """Return whether ids are compressed: only kernels that stream rows can read them."""
        return isinstance(self.indices, CompressedIds)

    @cached_property
    def wide(self) -> bool:
        """Return whether ids take 8 bytes."""
        return self.indices.dtype.itemsize == 8

    @cached_property
    def form(self) -> Form:
        """The form by which kernels are specialised."""
        return Form(self.wide, self.compressed, self.iso, self.chunks.length)

    @cached_property
    def longest_read(self) -> int:
        """Return the most entries that one warp reads of a row."""
        longest = int((self.indptr[1:] - self.indptr[:-1]).max()) if self.uncut else self.chunks.length
        return min(longest, self.chunks.length)

    def as_configured(self) -> Rows:
        """Return the rows that products and traversals read: uncut if ``gb.config.rows_per_warp`` is 1."""
        return as_configured(self, None)[0] or self

    @cached_property
    def id_bytes(self) -> float:
        """Return the mean bytes that products read for an id."""
        return self.indices.nbytes / max(self.nvals, 1) if self.compressed else self.indices.dtype.itemsize

    def ends(self, first: int, last: int) -> tuple[int, int]:
        """Return the range (start, stop) of the entries of rows first .. last-1. Waits for the device."""
        return int(self.indptr[first]), int(self.indptr[last])

    def plain(self) -> Rows:
        """Return the rows in the users' order with uncompressed ids: these rows, or the plain copy."""
        if not self.compressed and self.order is None:
            return self
        return self.layouts[PlainCopy].get_or_build(self)

    def decoded(self) -> Rows:
        """Return the same rows in the same order with uncompressed ids."""
        return self._with_ids(self.indices.plain()) if isinstance(self.indices, CompressedIds) else self

    def compress(self) -> Rows:
        """Return the same rows with compressed ids; these rows if compressed ids are no smaller."""
        ids = None if self.compressed else compressed(self.indices, self.ncols)
        return self if ids is None else self._with_ids(ids)

    def _with_ids(self, ids: Buffer) -> Rows:
        return Rows(self.nrows, self.ncols, self.nvals, self.indptr, ids, self.values, self.iso, self.order)


def as_configured(rows: Rows | None, columns: Rows | None) -> tuple[Rows | None, Rows | None]:
    """Return the rows, and those of the transpose, that products and traversals read: both cut or both uncut.

    They are uncut if ``gb.config.rows_per_warp`` is 1 and a row of either is long. Only one of the two has layouts at a
    time: those of the other are dropped when the setting changes.
    """
    if config.rows_per_warp == 1:
        if not any(each is not None and each.chunks.count for each in (rows, columns)):
            return rows, columns
        uncut = [
            each if each is None or each.uncut else each.layouts[UncutRows].get_or_build(each)
            for each in (rows, columns)
        ]
        return uncut[0], uncut[1]
    if rows is not None and UncutRows in rows.layouts:
        rows.layouts.pop(UncutRows).drop()
    if columns is not None and UncutRows in columns.layouts:
        columns.layouts.pop(UncutRows).drop()
    return rows, columns


class MatrixStore:
    """The store of a matrix on the GPU engine.

    Attributes
    ----------
    rows : Rows or None
        The CSR, as a plain copy if ids are compressed or the order is another; None: no entries.
    columns : Rows or None
        The CSR of the transpose: the same object for a symmetric matrix, None until it is needed. With both
        orientations a product can choose between push and pull.
    panel : Panel or None
        The matrix as a dense vector, if it has few rows or columns and a product made it (panel.py). Its rows are then
        built when a statement needs them.
    """

    __slots__ = ("_columns", "_rows", "dtype", "ncols", "nrows", "panel")

    def __init__(self, dtype: DataType, nrows: int, ncols: int, rows: Rows | None, columns: Rows | None = None) -> None:
        self.dtype, self.nrows, self.ncols = dtype, nrows, ncols
        self._rows, self._columns = rows, columns
        self.panel: Any = None

    @classmethod
    def from_csr(cls, csr: Csr) -> Any:
        """Return a store of a Csr, over its buffers if kernels can read them; a HostStore for user-defined types."""
        with launch.lock:
            if csr.dtype.is_udt:
                return HostStore.of_matrix(csr)
            if csr.indices.placement in HOSTS:
                csr = csr.place(budget.resolve(config.placement, csr.placed_nbytes, csr.nrows, csr.nvals))
            ids = csr.indices
            if not ids.count:
                return cls(csr.dtype, csr.nrows, csr.ncols, None)
            if isinstance(ids, BlocksBuffer) and not isinstance(ids, CompressedIds):
                ids = CompressedIds.of(ids)
            indptr = cuda.current().xp.asarray(csr.indptr)
            rows = Rows(csr.nrows, csr.ncols, ids.count, indptr, ids, csr.values, csr.iso)
            return cls(csr.dtype, csr.nrows, csr.ncols, rows, rows if csr.symmetric else None)

    def in_stored_order(self) -> tuple[Rows | None, Rows | None]:
        """Return rows and columns in the vertex order in which they are stored."""
        if self.is_panel:
            self._rows = self.panel.rows()
        return self._rows, self._columns

    def held(self, order: Order | None = None) -> tuple[Rows | None, Rows | None]:
        """Return rows and columns in a vertex order, as products read them: with compressed ids if stored so.

        `order` None: the users' own.
        """
        rows, columns = self.in_stored_order() if self._rows is None else (self._rows, self._columns)
        if rows is not None and rows.order is not order:
            rows = rows.plain()
        if columns is not None and columns.order is not order:
            columns = columns.plain()
        return as_configured(rows, columns)

    @property
    def rows(self) -> Rows | None:
        rows = self.in_stored_order()[0]
        return None if rows is None else rows.plain()

    @property
    def columns(self) -> Rows | None:
        return None if self._columns is None else self._columns.plain()

    @property
    def is_panel(self) -> bool:
        """Return whether the matrix is stored as a panel only."""
        return self.panel is not None and self._rows is None

    def take(self, other: MatrixStore) -> None:
        """Replace the content by that of another store."""
        self._rows, self._columns, self.panel = other._rows, other._columns, other.panel

    def replace(self, rows: Rows | None, columns: Rows | None = None, shape: tuple[int, int] | None = None) -> None:
        """Replace the content by these rows, and the shape if one is given."""
        self._rows, self._columns, self.panel = rows, columns, None
        if shape is not None:
            self.nrows, self.ncols = shape

    def keep_columns(self, columns: Rows) -> None:
        """Keep the rows of the transpose beside those of the matrix."""
        self._columns = columns

    def keep_panel(self, panel: Any) -> None:
        """Keep the content as a panel beside the rows."""
        self.panel = panel

    def hold(self, panel: Any) -> None:
        """Replace the content by a panel."""
        self._rows = self._columns = None
        self.panel = panel

    @property
    def nvals(self) -> int:
        if self.is_panel:
            count: int = self.panel.vector.nvals()
            return count
        return self._rows.nvals if self._rows is not None else 0

    @property
    def placement(self) -> str:
        return self._rows.indices.placement if self._rows is not None else FITS

    @property
    def order(self) -> Order | None:
        """Return the vertex order of rows and columns; None: the users' own."""
        return None if self._rows is None else self._rows.order

    @property
    def symmetric(self) -> bool:
        return self._rows is not None and self._columns is self._rows
