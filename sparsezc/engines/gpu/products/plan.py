"""The plan of a product of a matrix and a vector: push or pull, its layouts, and the rows that a warp reads at once.

Planning launches only kernels that count or build a layout; spmv.py launches the product by its :class:`Plan`.
rows_per_warp.py divides the rows among warps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from sparsezc.config import config
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.layouts import column_blocks, packed_values
from sparsezc.engines.gpu.layouts.column_blocks import ColumnBlocks
from sparsezc.engines.gpu.layouts.head_cache import NO_HEADS, HeadCache, Heads
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.layouts.packed_values import NOT_PACKED, Packed, PackedValues
from sparsezc.engines.gpu.layouts.row_groups import Groups, RowGroups
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.products import push_pull, rows_per_warp
from sparsezc.engines.gpu.products.rows_per_warp import Grid, Sizes
from sparsezc.engines.gpu.runtime import presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

OFFSET_BYTES = 16  # bytes of a row's two offsets, if edges are in device memory, too
ATOMIC_BYTES = 6  # measured: with 4-byte ids in device memory a full push takes 2.5 times as long as a full pull
LINK_SHARE = 1 / 64  # the cost of a byte of device memory, in bytes over the host link
_SLICE = 32  # entries of a row that a warp reads at once
_ALL = 2**62  # entries: no row has more


class Reads(NamedTuple):
    """The parts of operands that a semiring's multiply reads, and the properties of its sums.

    Attributes
    ----------
    values, vector, ids : bool
        Whether a product with a full vector reads the matrix's values, the vector's values, and column ids.
    stops : bool
        Sums reach their terminal value early. Sums of Booleans do; the bound of a number type is practically never
        reached.
    any_order : bool
        Values may be folded in any order, to the last bit.
    counts : bool
        A sum is the number of its products, which offsets give without a read of entries.
    """

    values: bool
    vector: bool
    ids: bool
    stops: bool
    any_order: bool
    counts: bool


@lru_cache(maxsize=256)
def reads_of(semiring: Any, vector_left: bool) -> Reads:
    """Return the reads of a semiring; `vector_left`: the vector is the left operand of its multiply."""
    monoid, read = semiring.monoid, semiring.reads
    values, vector = ("y", "x") if vector_left else ("x", "y")
    return Reads(
        values=values in read,
        vector=vector in read,
        ids=vector in read or "k" in read,
        stops=bool(monoid.stops_anywhere or (monoid.terminal is not None and monoid.type.is_bool)),
        any_order=bool(monoid.is_idempotent or monoid.type.is_integer or monoid.type.is_bool),
        counts=monoid.name == "plus" and semiring.binaryop.name == "pair" and not semiring.return_type.is_bool,
    )


class Product(NamedTuple):
    """The product w = M v, with M a matrix of `dtype` or its transpose.

    Attributes
    ----------
    vector : VectorStore or None
        None: v is full and its values do not matter.
    full : bool
        The vector is known to have every entry.
    """

    semiring: Any
    vector_left: bool
    dtype: DataType
    vector: VectorStore | None
    full: bool
    reads: Reads

    def reads_apart(self, rows: Rows) -> bool:
        """Return whether the product reads a value for each entry, beside its id."""
        return self.reads.values and not rows.iso


class Plan(NamedTuple):
    """The plan of a product: its rows, layouts, wanted rows and division among warps.

    Attributes
    ----------
    rows : Rows
        The rows of M for a pull, those of its transpose for a push.
    heads, packed : layouts of these rows
    wanted : Wanted
        The rows that the product reads.
    hubs : int
        The number of first columns whose vector values are in shared memory.
    """

    rows: Rows
    heads: Heads
    packed: Packed
    wanted: Wanted
    grid: Grid
    hubs: int = 0

    def with_hubs(self, hubs: int) -> Plan:
        """Return the plan with values of `hubs` columns in shared memory, and one persistent block a multiprocessor."""
        return self._replace(hubs=hubs, grid=rows_per_warp.staying(self.grid, self.rows.device)) if hubs else self


# Push or pull


def pulls(product: Product, rows: Rows | None, columns: Rows | None, mask: MaskBits) -> tuple[bool, float | None]:
    """Return whether to pull, and the number of entries that a pull reads, or None if that was not estimated.

    `rows`, `columns`: the rows of M and of its transpose, at least one of which exists.
    """
    vector = product.vector
    if rows is None or columns is None or vector is None or product.full:
        return rows is not None, None
    if ENGINE_STATE.pool is not None:  # counting entries would wait for the device
        return False, None
    entries = vector.count_rows(columns)
    assert vector.count is not None
    if push_pull.is_small(vector.count, entries, rows.nvals):
        return False, None
    wanted = presence_words.count_wanted(rows.indptr, rows.nrows, mask.bits, mask.flip)
    work = push_pull.Work(vector.count, entries, *wanted, rows.nvals)
    stops = product.reads.stops and not placements.moves(rows)
    heads = rows.layouts[HeadCache].expected_slots(rows, product.dtype, values=product.reads.values) if stops else 0
    share = 1 if RECORDS[rows.indices.placement].resident else LINK_SHARE
    better = push_pull.prefers_pull(
        work,
        stops=stops,
        heads=heads,
        entry_bytes=rows.id_bytes + (rows.values.dtype.itemsize if product.reads_apart(rows) else 0),
        offset_bytes=OFFSET_BYTES * share,
        atomic_bytes=0 if product.semiring.monoid.stops_anywhere else ATOMIC_BYTES * share,
    )
    return better, push_pull.pull_entries(work, stops=stops)


def repeats(product: Product, rows: Rows, mask: MaskBits) -> bool:
    """Return whether a pull's plan is the same next time: no layout serves it or counts its reads."""
    reads, vector = product.reads, product.vector
    if vector is None or reads.stops or rows.chunks.count or placements.serves(rows):
        return False
    packs = reads.values and config.packing != "off" and packed_values.are_wanted(rows)
    if packs and rows.layouts[PackedValues].built is None:  # the next product may build it
        return False
    if (
        reads.any_order
        and not product.reads_apart(rows)
        and not (placements.moves(rows) or placements.in_device_memory(rows))
    ):
        return False  # row heads may serve it
    if not _may_rearrange(product, mask):
        return True
    return column_blocks.count(rows.ncols * vector.dtype.np_type.itemsize) == 1  # blocks, hub columns otherwise


# The plans


def _may_rearrange(product: Product, mask: MaskBits) -> bool:
    """Return whether a layout that reorders entries may serve a pull: column blocks, hub columns or row groups.

    They serve products that read all values of a full vector. With ``gb.config.rows_per_warp = 1`` none does, as a warp
    would read entries of several rows, or a part of a row.
    """
    reads = product.reads
    return product.full and reads.vector and not reads.stops and mask.allows_all and config.rows_per_warp != 1


def blocks(
    product: Product, rows: Rows, columns: Rows | None, out: VectorStore, write: Write[MaskBits]
) -> tuple[list[Rows], VectorStore]:
    """Return the rows, or column blocks, that a pull reads, and the vector that it writes.

    These are the rows and `out` or, if a full vector exceeds the cache, the column blocks and a new vector: `out` must
    stay unchanged if memory runs short at a later block.
    """
    vector = product.vector
    if vector is None or not _may_rearrange(product, write.mask) or vector is out or write.accum is not None:
        return [rows], out
    nbytes = rows.ncols * vector.dtype.np_type.itemsize
    apart = product.reads_apart(rows)
    if column_blocks.count(nbytes) == 1 or (apart and config.packing == "on"):  # blocks have no packed values
        return [rows], out
    layout, result = rows.layouts[ColumnBlocks], VectorStore(product.semiring.return_type, out.size)
    if layout.built is not None:
        result.make()  # allocated first, as blocks may be dropped for it; blocks that the product refers to stay
    made = layout.get_or_build(rows, Demand(rows.nvals, product.dtype, apart, columns, nbytes))
    return made, out if made == [rows] else result


class ByHubs(NamedTuple):
    """A pull's product and rows, with columns numbered by descending length if that pays off.

    Attributes
    ----------
    hubs : int
        The number of first columns whose values are read from shared memory.
    groups : Groups or None
        The same rows in groups, which the product reads instead.
    """

    product: Product
    rows: Rows
    hubs: int = 0
    groups: Groups | None = None


def by_hubs(product: Product, rows: Rows, columns: Rows | None, mask: MaskBits) -> ByHubs:
    """Return a pull's product and rows, with columns numbered by descending length if that pays off.

    It pays off if a full vector exceeds the cache and most entries read the values of scattered hubs.
    """
    vector = product.vector
    if vector is None or not _may_rearrange(product, mask):
        return ByHubs(product, rows)
    apart = product.reads_apart(rows)
    if "k" in product.semiring.reads or (apart and config.packing == "on"):  # k is an id; words would be packed twice
        return ByHubs(product, rows)
    demand = Demand(rows.nvals, product.dtype, apart, columns, rows.ncols * vector.dtype.np_type.itemsize)
    made = rows.layouts[HubColumns].get_or_build(rows, demand)
    if made is None:
        return ByHubs(product, rows)
    hubs, size = made.in_shared(vector.dtype, rows.nvals), product.semiring.return_type.np_type.itemsize
    measured = 4 <= size <= 8  # row groups were measured; shared memory is too small for wider sums
    groups = rows.layouts[RowGroups].get_or_build(rows, demand) if measured else None
    return ByHubs(product._replace(vector=made.gathered(vector)), made.rows or rows, hubs, groups)


def pull(product: Product, rows: Rows, columns: Rows | None, mask: MaskBits, estimated: float | None) -> Plan:
    """Return the plan of a pull; `estimated`: the number of entries that it reads, from :func:`pulls`."""
    heads = _heads_to_pull(product, rows, columns, estimated)
    packed = _packed(product, rows, rows.nvals if estimated is None else estimated)
    everything = mask.allows_all
    entries = 0 if heads.k else estimated  # after the heads few entries are read, of unknown rows
    wanted = Wanted(None if everything else mask.bits, mask.flip, entries, _SLICE if product.reads.stops else _ALL)
    return Plan(rows, heads, packed, wanted, _grid(rows, everything, True, heads.k > 0))


def push(product: Product, columns: Rows, rows: Rows | None) -> Plan:
    """Return the plan of a push; `columns`: the rows of M's transpose, which it reads."""
    vector, counted = product.vector, None
    if vector is not None and product.reads.values:
        vector.expect_rows(columns)  # then the count of the frontier also counts the entries of its rows
    if vector is not None and vector.next_rows is columns:
        counted = vector.row_entries
    if counted is None and vector is not None and vector.count is not None:  # estimated: a count waits for the device
        counted = vector.count * columns.nvals // columns.nrows
    packed = _packed(product, columns, columns.nvals if counted is None else counted)
    heads = _heads_to_push(product, columns, rows)
    words = None if vector is None or product.full else vector.bits
    return Plan(columns, heads, packed, Wanted(words, 0, counted), _grid(columns, words is None, False, False))


def _heads_to_pull(product: Product, rows: Rows, columns: Rows | None, estimated: float | None) -> Heads:
    """Return the row heads if a pull can use them, otherwise NO_HEADS.

    It can for early exit, if the monoid has a terminal value and the vector is not full; or if rows are whole in the
    heads and may be folded in any order.
    """
    reads = product.reads
    if product.vector is None:
        return NO_HEADS
    if reads.stops and not product.full:
        if placements.moves(rows):
            return NO_HEADS
        entries = min(rows.nvals, _SLICE * rows.nrows) if estimated is None else estimated
        return rows.layouts[HeadCache].get_or_build(rows, Demand(entries, product.dtype, reads.values, columns))
    if reads.stops or product.reads_apart(rows) or not reads.any_order:
        return NO_HEADS
    if placements.moves(rows) or placements.in_device_memory(rows):
        return NO_HEADS
    return rows.layouts[HeadCache].of_short_rows(rows, columns, rows.nvals if estimated is None else estimated)


def _heads_to_push(product: Product, columns: Rows, rows: Rows | None) -> Heads:
    """Return the row heads if they save a push reads over the link, otherwise NO_HEADS."""
    if product.reads_apart(columns):
        return NO_HEADS
    pool = ENGINE_STATE.pool
    count = None if product.vector is None or pool is not None else product.vector.count
    heads = columns.layouts[HeadCache].to_push(columns, rows, count)
    if pool is not None:
        pool.hold(heads)
    return heads


def _packed(product: Product, rows: Rows, entries: float) -> Packed:
    """Return the packed values if a product that reads so many entries can use them, otherwise NOT_PACKED."""
    if not product.reads.values or product.vector is None or config.packing == "off":
        return NOT_PACKED
    layout = rows.layouts[PackedValues]
    return layout.built or layout.get_or_build(rows, Demand(entries, product.dtype, values=True))


def _grid(rows: Rows, everything: bool, pulls: bool, looks: bool) -> Grid:
    gpu, sizes = rows.device, Sizes(rows.nrows, rows.nvals, rows.chunks.count)
    return rows_per_warp.grid(
        gpu,  # type: ignore[arg-type]  # hashable, like every object without an __eq__ of its own
        gpu.multiprocessors, config.rows_per_warp, sizes, everything, pulls, looks,
    )  # fmt: skip
