"""The store of vectors on the GPU engine: values by position, and presence words, one bit for each position.

For 16 million vertices presence words take 2 MiB, so masks stay in the cache. The classes for masks and outputs make
the kernel arguments of ``struct Output`` in write.cuh.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import array_pool, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage import vertex_order
from sparsezc.engines.gpu.storage.vertex_order import Order
from sparsezc.expr.dispatch import Write
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows

FLIP = 0xFFFFFFFF


class VectorStore:
    """A vector on the device. Only its methods change it; after a kernel wrote its arrays, the caller calls `written`.

    Attributes
    ----------
    values : array of the type's dtype, shape (size,); values at absent positions are undefined. None while empty
    bits : array of uint32, shape (nwords,); bits beyond `size` are 0. None while empty
    order : Order or None
        The vertex order of both arrays; None: the users' own. The vectors of a statement are put into one order before
        it runs (statement_order.py); code that reads a store outside of statements puts it into the users' order first.
    count : int or None
        The number of entries; None: they have not been counted.
    next_rows : Rows or None
        The rows by which the vector will likely be multiplied next: those of the last product, or of the product that
        made it. A count of the vector's entries then also counts the entries of these rows.
    neutral : monoid or None
        The monoid whose neutral value is at all absent positions of `values`; None: values there are undefined.
    row_entries : int or None
        The entries of `next_rows` at the vector's entries, if counted.
    """

    same: Any = None  # the value of every entry, if values are written at their first read (elementwise/panel.py)

    __slots__ = ("_next_rows", "bits", "count", "dtype", "neutral", "nwords", "order", "row_entries", "size", "values")

    def __init__(self, dtype: DataType, size: int, order: Order | None = None) -> None:
        self.dtype, self.size, self.nwords = dtype, size, -(-size // 32)
        self._next_rows: weakref.ref[Rows] | None = None
        self.clear()
        self.order = order

    def clear(self) -> None:
        self.values: Any = None
        self.bits: Any = None
        self.neutral: Any = None
        self.order = None
        self.count: int | None = 0
        self.row_entries: int | None = None

    def take(self, other: VectorStore) -> None:
        """Replace content and size by those of another store."""
        self.size, self.nwords, self.values, self.bits = other.size, other.nwords, other.values, other.bits
        self.neutral, self.order, self.count, self.row_entries = other.neutral, other.order, other.count, None

    def arrange(self, order: Order | None) -> None:
        """Permute the arrays into a vertex order (None: the users' own), if the vector has the order's size."""
        wanted = order if order is not None and order.size == self.size else None
        if wanted is not self.order:
            if self.bits is not None:
                self.values, self.bits = vertex_order.moved(self.values, self.bits, self.size, self.order, wanted)
                self.neutral = None
            self.order = wanted

    @property
    def next_rows(self) -> Rows | None:
        rows = None if self._next_rows is None else self._next_rows()
        return rows if rows is not None and rows.nrows == self.size else None

    def expect_rows(self, rows: Rows) -> None:
        """Record that these rows will likely multiply the vector next, to count their entries with its own."""
        if self.next_rows is not rows:
            self.row_entries = None  # the counted entries are those of other rows
        self._next_rows = weakref.ref(rows)  # a weak reference, so that a large matrix can be freed

    @property
    def is_full(self) -> bool:
        """Return whether the vector is known to be full: then kernels read no presence words."""
        return self.count == self.size

    def set(self, values: Any, bits: Any, count: int | None = None) -> None:
        """Replace the arrays by others in the same vertex order."""
        if values is not self.values:
            if (pool := ENGINE_STATE.pool) is not None and self.values is not None and self.bits is not None:
                pool.give(self.values, self.bits, self.neutral)
            self.neutral = None
        self.values, self.bits, self.count, self.row_entries = values, bits, count, None

    def written(self, count: int | None = None, neutral: Any = None) -> None:
        """Record that a kernel wrote the arrays in place.

        Parameters
        ----------
        count : int, optional
            The number of entries now, if the caller has it.
        neutral : monoid, optional
            The monoid whose neutral value the kernel left at all absent positions.
        """
        self.count, self.neutral, self.row_entries = count, neutral, None

    def filled(self) -> None:
        """Record that the vector is full, without a count."""
        self.count = self.size

    def adopt(self, other: VectorStore) -> None:
        """Use the arrays of another vector of the same type and size, which is not used any more."""
        self.set(other.values, other.bits, other.count)
        self.neutral = other.neutral

    def nvals(self) -> int:
        if self.count is None:
            # Rows count only a vector in their own order.
            if (rows := self.next_rows) is not None and rows.order is self.order:
                self.count_rows(rows)
            else:
                self.count = presence_words.count(self.bits)
        assert self.count is not None
        return self.count

    def count_rows(self, rows: Rows) -> int:
        """Return the number of entries of the rows at the vector's entries; the vector's own are counted, too."""
        if self.row_entries is None or self.next_rows is not rows or self.count is None:
            assert self.order is rows.order
            self.expect_rows(rows)
            self.count, self.row_entries = presence_words.count_frontier(self.bits, self.size, rows.indptr)
        return self.row_entries

    def operands(self) -> tuple[Any, Any]:
        """Return `values` and `bits` as kernel arguments; presence words are 0 for a full vector."""
        if self.bits is None:
            self.make()
        # Called at every launch, so is_full is inlined: the property would double the time.
        return self.values, 0 if self.count == self.size else self.bits

    def presence(self) -> Any:
        """Return `bits` as a kernel argument, without writing deferred values; 0 for a full vector."""
        if self.bits is None:
            self.make()
        return 0 if self.is_full else self.bits

    def entries(self) -> tuple[Any, Any]:
        """Return positions (int64, ascending) and values of the entries, on the device."""
        xp = cuda.current().xp
        if self.bits is None:
            return xp.empty(0, np.int64), xp.empty(0, self.dtype.np_type)
        if self.is_full:
            return xp.arange(self.size, dtype=np.int64), self.values.copy()
        at = presence_words.positions(self.bits, self.size)
        self.count = int(at.size)
        return at, self.values[at]

    def put(self, at: Any, values: Any) -> None:
        """Set the entries of an empty vector: distinct positions and values of its type, on the device."""
        if at.size == 0:
            return
        xp = cuda.current().xp
        full = xp.empty(self.size, self.dtype.np_type)
        full[at.astype(np.int64)] = values
        self.set(full, presence_words.mark(at.astype(np.uint64), self.size), int(at.size))

    def make(self, monoid: Any = None) -> None:
        """Allocate the arrays of an empty vector, filled with the monoid's neutral value if one is given."""
        self.set(*array_pool.allocate(self.size, self.dtype, monoid), 0)
        self.neutral = monoid


class MaskBits(NamedTuple):
    """A mask of a vector: presence words, which XOR `flip` mark the allowed positions; `bits` 0: no mask."""

    bits: Any = 0
    flip: int = 0

    @property
    def allows_all(self) -> bool:
        return isinstance(self.bits, int)

    def arguments(self) -> groups.Mask:
        return groups.Mask(self.bits, self.flip)


_EVERYWHERE = MaskBits()
#: The write options by which a result replaces the output.
ALL: Write[MaskBits] = Write(_EVERYWHERE, None, False)


def in_bits(write: Write[Any]) -> Write[MaskBits]:
    """Return the write options of a vector, with the mask as presence words."""
    mask, accum, replace = write
    return Write(_EVERYWHERE if mask is None else bits_of(mask, mask.parent._store), accum, replace)


def bits_of(kind: Any, store: VectorStore) -> MaskBits:
    """Return a vector as a mask; `kind` has the flags of a structural and of a complemented mask."""
    if store.bits is None:
        store.make()
    bits = store.bits if kind.structure else presence_words.nonzero(*store.operands(), store.dtype, store.size)
    return MaskBits(bits, FLIP if kind.complement else 0)


class Out:
    """The output vector of a launch: its old arrays, and those that the kernel writes.

    Results are written in place, unless the kernel also reads the old content at other positions (`apart`): then they
    are written to new arrays, which :meth:`done` gives to the vector.
    """

    def __init__(self, store: VectorStore, *, apart: bool) -> None:
        self.store = store
        bits = store.bits
        self.was_empty = bits is None or store.count == 0
        self.old_values: Any = 0 if self.was_empty else store.values
        self.old_bits: Any = 0 if self.was_empty else bits
        if bits is None or apart:
            xp = cuda.current().xp
            self.values = xp.empty(store.size, store.dtype.np_type)
            self.bits = xp.empty(store.nwords, np.uint32)
        else:
            self.values, self.bits = store.values, bits
            store.neutral = None  # a kernel may leave any value at absent positions

    def arguments(self, write: Write[MaskBits]) -> groups.Output:
        """Return the kernel arguments of the write rule for this vector."""
        mask, _, replace = write
        return groups.Output(
            self.values, self.bits, self.old_values, self.old_bits, mask.bits, mask.flip, 1 if replace else 0
        )

    def done(self, count: int | None = None) -> None:
        self.store.set(self.values, self.bits, count)


def values_of(given: Any, dtype: DataType, copy: bool) -> Any:
    """Return contiguous values of a type, copied only if necessary or requested by `copy`."""
    xp = cuda.current().xp
    return own(xp.ascontiguousarray(given.astype(dtype.np_type, copy=False)), given, copy)


def own(made: Any, given: Any, copy: bool) -> Any:
    """Return `made`, or a copy of it if `copy` requests one and `made` has the memory of `given`."""
    gpu = cuda.current()
    return made.copy() if copy and gpu.pointer(made) == gpu.pointer(given) else made


@launch.locked
def from_dense(values: Any, dtype: DataType, *, copy: bool) -> VectorStore:
    """Return a full vector with these values."""
    store = VectorStore(dtype, values.size)
    if values.size:
        store.set(values_of(values, dtype, copy), all_present(values.size), store.size)
    return store


def all_present(size: int) -> Any:
    """Return the presence words of a full vector."""
    bits = cuda.current().xp.full(-(-size // 32), FLIP, np.uint32)
    if size % 32:
        bits[-1] = (1 << size % 32) - 1
    return bits


@launch.locked
def to_dense(store: VectorStore, fill: Any, dtype: DataType) -> Any:
    """Return the values of all positions, `fill` where there is no entry; a view if the vector is full."""
    xp = cuda.current().xp
    store.arrange(None)
    if store.bits is None:
        return xp.full(store.size, fill, dtype.np_type)
    if store.nvals() == store.size:
        return store.values.astype(dtype.np_type, copy=False)
    present = xp.unpackbits(store.bits.view(np.uint8), bitorder="little")[: store.size].astype(np.bool_)
    values = store.values
    if values.dtype != dtype.np_type:  # values at absent positions are undefined, and a cast of them may fail
        values = xp.where(present, values, values.dtype.type(0)).astype(dtype.np_type)
    return xp.where(present, values, dtype.np_type.type(fill))


@launch.locked
def to_arrays(store: VectorStore, form: str) -> tuple[Any, ...]:
    """Return the arrays of ``Capabilities.vector_to_arrays`` (expr/engines); they may be the vector's own."""
    store.arrange(None)
    if form == "ids":
        return store.entries()
    if store.bits is None:
        store.make()
    if form == "bits":
        return (store.bits,)
    return (store.values,) if form == "full" else (store.bits, store.values)


@launch.locked
def from_arrays(form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> VectorStore:
    """Return a vector of arrays as from :func:`to_arrays`, which it may keep; values None: each is 1."""
    xp = cuda.current().xp
    *at, values = arrays
    store = VectorStore(dtype, size)
    if form == "ids":
        store.put(at[0], xp.ones(at[0].size, dtype.np_type) if values is None else values)
        return store
    given = xp.ones(size, dtype.np_type) if values is None else values
    if form == "full":
        return from_dense(given, dtype, copy=False)
    store.set(given, at[0])
    return store
