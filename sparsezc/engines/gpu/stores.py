"""What the GPU engine keeps behind a Vector and a Matrix.

A vector is dense: `values` by position, and presence words, 32 entries packed into a u32 (2 MiB for 16 million
vertices, so masks live in the cache). A matrix is CSR: offsets on the device, ids and values in buffers of some
placement, and the list of its long rows. Stores are changed in place; arrays may be shared between stores only while
nobody writes.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.csr import Csr
from sparsezc.device import Device
from sparsezc.engines.gpu import launch
from sparsezc.memory import Buffer
from sparsezc.semirings.types import DataType

LONG = 2048  # entries: rows longer than this are cut into chunks that many warps share


class VectorStore:
    """A vector on the device.

    Attributes
    ----------
    values : array of the type's dtype, shape (size,); what lies at absent positions means nothing. None while empty
    bits : array of uint32, shape (ceil(size / 32),); bits beyond `size` are 0. None while empty
    count : int or None
        Number of entries where it is known; None: nobody has counted yet.
    next_rows : Rows or None
        The rows that the vector will likely be multiplied with next, as it was before, or as what made it suggests:
        counting its entries then counts theirs too.
    row_entries : int or None
        The entries of those rows where the vector has one, if somebody counted.
    """

    __slots__ = ("_next_rows", "bits", "count", "dtype", "row_entries", "size", "values")

    def __init__(self, dtype: DataType, size: int) -> None:
        self.dtype = dtype
        self.size = size
        self._next_rows: weakref.ref[Rows] | None = None
        self.clear()

    def clear(self) -> None:
        self.values: Any = None
        self.bits: Any = None
        self.count: int | None = 0
        self.row_entries: int | None = None

    @property
    def next_rows(self) -> Rows | None:
        rows = None if self._next_rows is None else self._next_rows()
        return rows if rows is not None and rows.nrows == self.size else None

    @next_rows.setter
    def next_rows(self, rows: Rows) -> None:
        self._next_rows = weakref.ref(rows)  # a matrix may go: it is large

    @property
    def nwords(self) -> int:
        return -(-self.size // 32)

    @property
    def is_full(self) -> bool:
        """Known to have every entry: then kernels need no presence words."""
        return self.count == self.size

    def set(self, values: Any, bits: Any, count: int | None = None) -> None:
        if values is not self.values:
            launch.spare(self.values, self.bits)
        self.values, self.bits, self.count = values, bits, count
        self.row_entries = None

    def nvals(self) -> int:
        if self.count is None:
            if (rows := self.next_rows) is not None:
                self.count_rows(rows)
            else:
                self.count = launch.count(self.bits)
        assert self.count is not None
        return self.count

    def count_rows(self, rows: Rows) -> int:
        """The entries of the rows where the vector has one; its own are counted on the way."""
        if self.row_entries is None or self.next_rows is not rows or self.count is None:
            self.count, self.row_entries = launch.frontier(self.bits, self.size, rows.indptr)
            self.next_rows = rows
        return self.row_entries

    def operands(self) -> tuple[Any, Any]:
        """`values` and `bits` as kernel arguments: 0 for the presence words of a full vector."""
        if self.bits is None:
            self.make()
        return self.values, 0 if self.is_full else self.bits

    def entries(self) -> tuple[Any, Any]:
        """Positions (int64, ascending) and values of the entries, on the device."""
        xp = device.current().xp
        if self.bits is None:
            return xp.empty(0, np.int64), xp.empty(0, self.dtype.np_type)
        if self.is_full:
            return xp.arange(self.size, dtype=np.int64), self.values.copy()
        at = launch.positions(self.bits, self.size)
        self.count = int(at.size)
        return at, self.values[at]

    def put(self, at: Any, values: Any) -> None:
        """Give an empty vector these entries: distinct positions and values of its type, on the device."""
        if at.size == 0:
            return
        xp = device.current().xp
        full = xp.empty(self.size, self.dtype.np_type)
        full[at.astype(np.int64)] = values
        self.set(full, launch.mark(at.astype(np.uint64), self.size), int(at.size))

    def make(self) -> None:
        """Give an empty vector its arrays."""
        self.set(*launch.vector_arrays(self.size, self.dtype), 0)


@dataclass(eq=False)
class Chunks:
    """The long rows of a CSR, cut into chunks of at most `length` entries (see mxv.cu)."""

    length: int
    count: int  # chunks
    nrows: int  # long rows
    rows: Any  # u64: the long rows
    first: Any  # u64: first chunk of each, and the end
    slot: Any  # u32: the long row of each chunk

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        """What kernels take of it."""
        return np.uint64(self.count), self.rows, self.first, self.slot

    @classmethod
    def of(cls, gpu: Device, indptr: Any) -> Chunks:
        lengths = indptr[1:] - indptr[:-1]
        rows = gpu.xp.flatnonzero(lengths > LONG)
        return cls.cut(gpu, rows, lengths[rows], LONG)

    @classmethod
    def cut(cls, gpu: Device, rows: Any, lengths: Any, length: int) -> Chunks:
        """These rows, of these lengths."""
        xp = gpu.xp
        if rows.size == 0:
            return cls(length, 0, 0, 0, 0, 0)
        first = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(-(-lengths // length))])
        count = int(first[-1])
        slot = xp.searchsorted(first, xp.arange(count), side="right") - 1
        return cls(
            length, count, int(rows.size), rows.astype(np.uint64), first.astype(np.uint64), slot.astype(np.uint32)
        )


@dataclass(eq=False)
class Rows:
    """One orientation of a matrix: a CSR whose offsets lie on the device."""

    nrows: int
    ncols: int
    nvals: int
    indptr: Any
    indices: Buffer
    values: Buffer
    iso: bool
    chunks: Chunks = field(init=False)
    heads: Any = field(default=None, init=False)  # the row-head cache, once it is made (heads.py)
    pulled: float = field(default=0, init=False)  # entries that pulls without it have read
    packed: Any = field(default=None, init=False)  # ids and values in one word, once somebody asked (packed.py)
    multiplied: int = field(default=0, init=False)  # entries whose ids and values products have read
    region: Any = field(
        default=None, init=False
    )  # segments of the entries that lie on the card (placements/resident.py)
    wholes: dict[bool, Any] = field(default_factory=dict, init=False)  # what one launch for all rows takes (placements)

    def __post_init__(self) -> None:
        self.chunks = Chunks.of(device.current(), self.indptr)

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        """What kernels take of it: the number of rows, offsets, and the addresses of ids and values."""
        pointers = np.uint64(self.indices.pointer), np.uint64(self.values.pointer)
        return np.uint64(self.nrows), self.indptr, *pointers

    def ends(self, first: int, last: int) -> tuple[int, int]:
        """Where the entries of rows first .. last-1 begin and end. Waits for the device."""
        return int(self.indptr[first]), int(self.indptr[last])

    @property
    def wide(self) -> bool:
        """Whether ids take 8 bytes."""
        return self.indices.dtype.itemsize == 8


class MatrixStore:
    """A matrix on the GPU engine.

    Attributes
    ----------
    rows : Rows or None
        Its CSR; None: no entries.
    columns : Rows or None
        The CSR of its transpose: the same object for a symmetric matrix, None where it was not asked for. Reading rows
        of the transpose is what lets an operation pull where it could only push, and the reverse.
    panel : Panel or None
        All of it once more as a dense vector, where it has few rows or few columns and products made it so (panel.py).
        Its rows are then made when somebody asks for them.
    """

    __slots__ = ("_rows", "columns", "dtype", "ncols", "nrows", "panel")

    def __init__(self, dtype: DataType, nrows: int, ncols: int, rows: Rows | None, columns: Rows | None = None) -> None:
        self.dtype, self.nrows, self.ncols = dtype, nrows, ncols
        self._rows, self.columns = rows, columns
        self.panel: Any = None

    @property
    def rows(self) -> Rows | None:
        if self.is_panel:
            self._rows = self.panel.rows()
        return self._rows

    @rows.setter
    def rows(self, rows: Rows | None) -> None:
        self._rows, self.panel = rows, None

    @property
    def is_panel(self) -> bool:
        """Whether it is a panel and nothing else."""
        return self.panel is not None and self._rows is None

    def take(self, other: MatrixStore) -> None:
        """Take over another store's content."""
        self._rows, self.columns, self.panel = other._rows, other.columns, other.panel

    def hold(self, panel: Any) -> None:
        """Be this panel from now on."""
        self._rows = self.columns = None
        self.panel = panel

    @property
    def nvals(self) -> int:
        if self.is_panel:
            count: int = self.panel.vector.nvals()
            return count
        return self._rows.nvals if self._rows is not None else 0

    @property
    def placement(self) -> str:
        return self._rows.indices.placement if self._rows is not None else "device"

    @property
    def symmetric(self) -> bool:
        return self._rows is not None and self.columns is self._rows


def rows_of(csr: Csr) -> Rows:
    """The rows of a Csr whose buffers lie where kernels can read them."""
    xp = device.current().xp
    return Rows(csr.nrows, csr.ncols, csr.nvals, xp.asarray(csr.indptr), csr.indices, csr.values, csr.iso)
