"""The plan of a product of a matrix and a vector: push or pull, its layouts, and the number of rows a warp reads.

Planning launches only the kernels that build a layout; spmv.py launches the product by its :class:`Plan`. How warps
share rows: rows_per_warp.py.
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

OFFSET_BYTES = 16  # two offsets a row, where the edges are in the same memory
ATOMIC_BYTES = 6  # measured: with 4-byte ids in device memory a full push takes 2.5 times what a full pull takes
LINK_SHARE = 1 / 64  # bytes over the host link for a byte of device memory
_SLICE = 32  # entries of a row that a warp reads at once
_ALL = 2**62  # entries: no row has more


class Reads(NamedTuple):
    """The parts of its operands that a semiring's multiply reads, and how its sums may be made.

    Attributes
    ----------
    values, vector, ids : bool
        The matrix's values, the vector's values, and column ids where a pull would not need these to find the vector's.
    stops : bool
        Sums reach their terminal value soon. Those of Booleans do; the bound of a number type is practically never
        reached.
    any_order : bool
        Values may be folded in any order, to the last bit.
    counts : bool
        A sum of products is their number, which offsets give.
    """

    values: bool
    vector: bool
    ids: bool
    stops: bool
    any_order: bool
    counts: bool


@lru_cache(maxsize=256)
def reads_of(semiring: Any, vector_left: bool) -> Reads:
    """Return the operands' parts that a semiring reads; `vector_left`: the vector is its multiply's left operand."""
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
    """w = M v, with M a matrix of `dtype` or its transpose.

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
        """Return whether each entry's value is read beside its id."""
        return self.reads.values and not rows.iso


class Plan(NamedTuple):
    """The rows, layouts and wanted rows of a product.

    Attributes
    ----------
    rows : Rows
        The rows of M to pull, of its transpose to push.
    heads, packed : layouts of these rows
    wanted : Wanted
        The rows that are read: all, if it has no words.
    hubs : int
        Ids below it have the vector's values in shared memory.
    """

    rows: Rows
    heads: Heads
    packed: Packed
    wanted: Wanted
    grid: Grid
    hubs: int = 0

    def with_hubs(self, hubs: int) -> Plan:
        """Return the plan with as many hubs' values in shared memory, and with blocks that stay."""
        return self._replace(hubs=hubs, grid=rows_per_warp.staying(self.grid, self.rows.device)) if hubs else self


# Push or pull


def pulls(product: Product, rows: Rows | None, columns: Rows | None, mask: MaskBits) -> tuple[bool, float | None]:
    """Return whether to pull, and the number of entries that this reads if it was estimated.

    `rows`, `columns`: those of M and of its transpose, at least one of which exists.
    """
    vector = product.vector
    if rows is None or columns is None or vector is None or product.full:
        return rows is not None, None
    if ENGINE_STATE.pool is not None:  # counting would wait for the device
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
    """Return whether a pull that is not estimated always has this plan: no layout serves it or counts what it reads."""
    reads, vector = product.reads, product.vector
    if vector is None or reads.stops or rows.chunks.count or placements.serves(rows):
        return False
    packs = reads.values and config.packing != "off" and packed_values.are_wanted(rows)
    if packs and rows.layouts[PackedValues].built is None:  # the next product may build it
        return False
    if reads.any_order and not product.reads_apart(rows) and not (placements.moves(rows) or placements.lie_near(rows)):
        return False  # row heads
    if not _may_rearrange(product, mask):
        return True
    return column_blocks.count(rows.ncols * vector.dtype.np_type.itemsize) == 1  # blocks, or hubs' columns, otherwise


# The plans


def _may_rearrange(product: Product, mask: MaskBits) -> bool:
    """Return whether a layout with entries in another order may serve a pull: column blocks, hub columns, row groups.

    They serve full vectors of which each value is read. Where ``gb.config.rows_per_warp`` is 1, none does: a warp would
    read entries of several rows, or a part of a row.
    """
    reads = product.reads
    return product.full and reads.vector and not reads.stops and mask.allows_all and config.rows_per_warp != 1


def blocks(
    product: Product, rows: Rows, columns: Rows | None, out: VectorStore, write: Write[MaskBits]
) -> tuple[list[Rows], VectorStore]:
    """Return the matrices that a pull reads, and the vector that it writes.

    These are the rows and `out`; or, where a full vector exceeds the cache, the column blocks of the rows and a new
    vector: `out` must stay as it was if there is no memory for the product with a later block.
    """
    vector = product.vector
    if vector is None or not _may_rearrange(product, write.mask) or vector is out or write.accum is not None:
        return [rows], out
    nbytes = rows.ncols * vector.dtype.np_type.itemsize
    apart = product.reads_apart(rows)
    if column_blocks.count(nbytes) == 1 or (apart and config.packing == "on"):  # blocks have no packed words
        return [rows], out
    layout, result = rows.layouts[ColumnBlocks], VectorStore(product.semiring.return_type, out.size)
    if layout.built is not None:
        result.make()  # memory first, as blocks may be dropped for it; those that a product holds stay until its end
    made = layout.get_or_build(rows, Demand(rows.nvals, product.dtype, apart, columns, nbytes))
    return made, out if made == [rows] else result


class ByHubs(NamedTuple):
    """A pull by rows whose columns are numbered by descending length, or as it was.

    Attributes
    ----------
    hubs : int
        The first columns, whose values fit shared memory.
    groups : Groups or None
        The same rows in groups, which are read instead.
    """

    product: Product
    rows: Rows
    hubs: int = 0
    groups: Groups | None = None


def by_hubs(product: Product, rows: Rows, columns: Rows | None, mask: MaskBits) -> ByHubs:
    """Return a pull's product and rows with the columns numbered by descending length, where that pays, else as given.

    It pays for a full vector that exceeds the cache, of which most entries read the values of scattered hubs.
    """
    vector = product.vector
    if vector is None or not _may_rearrange(product, mask):
        return ByHubs(product, rows)
    apart = product.reads_apart(rows)
    if "k" in product.semiring.reads or (apart and config.packing == "on"):  # ids count; words would be packed twice
        return ByHubs(product, rows)
    demand = Demand(rows.nvals, product.dtype, apart, columns, rows.ncols * vector.dtype.np_type.itemsize)
    made = rows.layouts[HubColumns].get_or_build(rows, demand)
    if made is None:
        return ByHubs(product, rows)
    hubs, size = made.in_shared(vector.dtype, rows.nvals), product.semiring.return_type.np_type.itemsize
    measured = 4 <= size <= 8  # and a block has no shared memory for wider sums
    groups = rows.layouts[RowGroups].get_or_build(rows, demand) if measured else None
    return ByHubs(product._replace(vector=made.gathered(vector)), made.rows or rows, hubs, groups)


def pull(product: Product, rows: Rows, columns: Rows | None, mask: MaskBits, estimated: float | None) -> Plan:
    """Return the plan of a pull from these rows; `estimated`: the entries that it reads, as :func:`pulls` says."""
    heads = _heads_to_pull(product, rows, columns, estimated)
    packed = _packed(product, rows, rows.nvals if estimated is None else estimated)
    everything = mask.allows_all
    entries = 0 if heads.k else estimated  # few entries remain to be read after the heads, in unknown rows
    wanted = Wanted(None if everything else mask.bits, mask.flip, entries, _SLICE if product.reads.stops else _ALL)
    return Plan(rows, heads, packed, wanted, _grid(rows, everything, True, heads.k > 0))


def push(product: Product, columns: Rows, rows: Rows | None) -> Plan:
    """Return the plan of a push along the rows of M's transpose."""
    vector, counted = product.vector, None
    if vector is not None and product.reads.values:
        vector.expect_rows(columns)  # counting the frontier then also counts the entries that a push reads
    if vector is not None and vector.next_rows is columns:
        counted = vector.row_entries
    if counted is None and vector is not None and vector.count is not None:  # counting would wait for the device
        counted = vector.count * columns.nvals // columns.nrows
    packed = _packed(product, columns, columns.nvals if counted is None else counted)
    heads = _heads_to_push(product, columns, rows)
    words = None if vector is None or product.full else vector.bits
    return Plan(columns, heads, packed, Wanted(words, 0, counted), _grid(columns, words is None, False, False))


def _heads_to_pull(product: Product, rows: Rows, columns: Rows | None, estimated: float | None) -> Heads:
    """Return the row-head cache if a pull can use it.

    A pull can use it for early exit, where the monoid has a terminal value and the vector lacks entries; or where rows
    are whole in it and the order in which they are folded does not matter.
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
    if placements.moves(rows) or placements.lie_near(rows):
        return NO_HEADS
    return rows.layouts[HeadCache].of_short_rows(rows, columns, rows.nvals if estimated is None else estimated)


def _heads_to_push(product: Product, columns: Rows, rows: Rows | None) -> Heads:
    """Return the row-head cache if rows that are whole in it need not be read over the link."""
    if product.reads_apart(columns):
        return NO_HEADS
    pool = ENGINE_STATE.pool
    count = None if product.vector is None or pool is not None else product.vector.count
    heads = columns.layouts[HeadCache].to_push(columns, rows, count)
    if pool is not None:
        pool.hold(heads)
    return heads


def _packed(product: Product, rows: Rows, entries: float) -> Packed:
    """Return ids and values in one word, if a product that reads so many entries can use them."""
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
