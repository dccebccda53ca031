"""What the GPU engine keeps behind a Vector: its values by position, and presence words, 32 entries packed into a u32.

For 16 million vertices these take 2 MiB, so masks live in the cache.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import array_pool, launch, presence_words
from sparsezc.engines.gpu.storage import vertex_order
from sparsezc.engines.gpu.storage.vertex_order import Order
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows


class VectorStore:
    """A vector on the device.

    Attributes
    ----------
    values : array of the type's dtype, shape (size,); what lies at absent positions means nothing. None while empty
    bits : array of uint32, shape (ceil(size / 32),); bits beyond `size` are 0. None while empty
        Both are in the order of those who ask (orders.py): they change places first where they lie in another.
    order : Order or None
        In which they lie.
    count : int or None
        Number of entries where it is known; None: nobody has counted yet.
    next_rows : Rows or None
        The rows that the vector will likely be multiplied with next, as it was before, or as what made it suggests:
        counting its entries then counts theirs too.
    neutral : monoid or None
        Its neutral value stands in `values` wherever there is no entry; None: values are undefined there.
    row_entries : int or None
        The entries of those rows where the vector has one, if somebody counted.
    """

    __slots__ = ("_bits", "_next_rows", "_values", "count", "dtype", "neutral", "order", "row_entries", "size")

    def __init__(self, dtype: DataType, size: int) -> None:
        self.dtype = dtype
        self.size = size
        self._next_rows: weakref.ref[Rows] | None = None
        self.clear()

    def clear(self) -> None:
        self._values: Any = None
        self._bits: Any = None
        self.neutral: Any = None
        self.order: Order | None = None
        self.count: int | None = 0
        self.row_entries: int | None = None

    @property
    def values(self) -> Any:
        if self.order is not vertex_order.now():
            self._come()
        return self._values

    @property
    def bits(self) -> Any:
        if self.order is not vertex_order.now():
            self._come()
        return self._bits

    def _come(self) -> None:
        """Change to the order of those who ask."""
        wanted = self._wanted()
        if self.order is not wanted:
            if self._bits is not None:
                self._values, self._bits = vertex_order.moved(self._values, self._bits, self.size, self.order, wanted)
                self.neutral = None
            self.order = wanted

    def _wanted(self) -> Order | None:
        wanted = vertex_order.now()
        return wanted if wanted is not None and wanted.size == self.size else None

    @property
    def next_rows(self) -> Rows | None:
        rows = None if self._next_rows is None else self._next_rows()
        return rows if rows is not None and rows.nrows == self.size else None

    @next_rows.setter
    def next_rows(self, rows: Rows) -> None:
        if self.next_rows is not rows:
            self.row_entries = None  # if there are any, they are of others
        self._next_rows = weakref.ref(rows)  # a matrix may go: it is large

    @property
    def nwords(self) -> int:
        return -(-self.size // 32)

    @property
    def is_full(self) -> bool:
        """Known to have every entry: then kernels need no presence words."""
        return self.count == self.size

    def set(self, values: Any, bits: Any, count: int | None = None) -> None:
        if values is not self._values:
            if (pool := array_pool.serving()) is not None and self._values is not None and self._bits is not None:
                pool.give(self._values, self._bits, self.neutral)
            self.neutral = None
        self._values, self._bits, self.count = values, bits, count
        self.order, self.row_entries = self._wanted(), None

    def adopt(self, other: VectorStore) -> None:
        """Take over the arrays of another vector of the same type and size, which is not used any more."""
        self.set(other.values, other.bits, other.count)
        self.neutral = other.neutral

    def nvals(self) -> int:
        if self.count is None:
            if (rows := self.next_rows) is not None and rows.order is self.order:  # else it would change places
                self.count_rows(rows)
            else:
                self.count = presence_words.count(self._bits)
        assert self.count is not None
        return self.count

    def count_rows(self, rows: Rows) -> int:
        """The entries of the rows where the vector has one; its own are counted on the way."""
        if self.row_entries is None or self.next_rows is not rows or self.count is None:
            self.next_rows = rows
            with vertex_order.within(rows.order):
                self.count, self.row_entries = presence_words.count_frontier(self.bits, self.size, rows.indptr)
        return self.row_entries

    def operands(self) -> tuple[Any, Any]:
        """`values` and `bits` as kernel arguments: 0 for the presence words of a full vector."""
        if self.bits is None:
            self.make()
        return self.values, 0 if self.is_full else self.bits

    def entries(self) -> tuple[Any, Any]:
        """Positions (int64, ascending) and values of the entries, on the device."""
        xp = cuda.current().xp
        if self.bits is None:
            return xp.empty(0, np.int64), xp.empty(0, self.dtype.np_type)
        if self.is_full:
            return xp.arange(self.size, dtype=np.int64), self.values.copy()
        at = presence_words.positions(self.bits, self.size)
        self.count = int(at.size)
        return at, self.values[at]

    def put(self, at: Any, values: Any) -> None:
        """Give an empty vector these entries: distinct positions and values of its type, on the device."""
        if at.size == 0:
            return
        xp = cuda.current().xp
        full = xp.empty(self.size, self.dtype.np_type)
        full[at.astype(np.int64)] = values
        self.set(full, presence_words.mark(at.astype(np.uint64), self.size), int(at.size))

    def make(self, monoid: Any = None) -> None:
        """Give an empty vector its arrays; with a monoid, its neutral value lies everywhere."""
        self.set(*array_pool.allocate(self.size, self.dtype, monoid), 0)
        self.neutral = monoid


def values_of(given: Any, dtype: DataType, copy: bool) -> Any:
    """Values of a type, contiguous; a copy only where it is needed or asked for."""
    xp = cuda.current().xp
    return own(xp.ascontiguousarray(given.astype(dtype.np_type, copy=False)), given, copy)


def own(made: Any, given: Any, copy: bool) -> Any:
    """The array, or a copy of it where one is asked for and it is still what was given."""
    gpu = cuda.current()
    return made.copy() if copy and gpu.pointer(made) == gpu.pointer(given) else made


@launch.alone
def from_dense(values: Any, dtype: DataType, *, copy: bool) -> VectorStore:
    """A vector with an entry at each position."""
    xp = cuda.current().xp
    store = VectorStore(dtype, values.size)
    if values.size:
        bits = xp.full(store.nwords, 0xFFFFFFFF, np.uint32)
        if store.size % 32:
            bits[-1] = (1 << store.size % 32) - 1
        store.set(values_of(values, dtype, copy), bits, store.size)
    return store


@launch.alone
def to_dense(store: VectorStore, fill: Any, dtype: DataType) -> Any:
    """The values at all positions, `fill` where there is none: a view of the vector's own where it is full."""
    xp = cuda.current().xp
    if store.bits is None:
        return xp.full(store.size, fill, dtype.np_type)
    if store.nvals() == store.size:
        return store.values.astype(dtype.np_type, copy=False)
    present = xp.unpackbits(store.bits.view(np.uint8), bitorder="little")[: store.size].astype(np.bool_)
    values = store.values
    if values.dtype != dtype.np_type:  # what lies where there is no entry is anything, and a cast may object to it
        values = xp.where(present, values, values.dtype.type(0)).astype(dtype.np_type)
    return xp.where(present, values, dtype.np_type.type(fill))
