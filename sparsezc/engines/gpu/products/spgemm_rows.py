"""Matrix times matrix by rows: one pass counts entries (spgemm_count.cu), one computes them (spgemm_fill.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.products import spgemm_dense, spgemm_heavy_rows, spmv
from sparsezc.engines.gpu.products.spgemm_dense import DenseRows, Sums
from sparsezc.engines.gpu.products.spgemm_heavy_rows import HeavyRow
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks, vector_store
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import ALL, VectorStore
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import Buffer, allocate, budget
from sparsezc.memory.device import DeviceBuffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings import semiring as semirings
from sparsezc.semirings.types.datatypes import INT64, UINT8, DataType

TABLE_BYTES = 36 << 10  # bytes of shared memory of a block: six blocks fit a multiprocessor
PATIENCE = 1 << 16  # most products of a row that one warp computes, however few columns they have
_ENTRY_BYTES = 24  # bytes of an entry of the result or of A
_NAMED_BYTES = 64  # bytes of an id, while ids are sorted or searched
_MAP_COLUMNS = 1 << 15  # columns for each word of a map's summary


def product(semiring: Any, a: MatrixStore, b_type: DataType, b_rows: Rows, found: Any = None) -> MatrixStore:
    """Return A (+).(x) B; `found`: the result of :func:`products`, if it is known."""
    gpu = cuda.current()
    xp = gpu.xp
    a_rows, dtype = a.rows, semiring.return_type
    assert a_rows is not None
    placement = b_rows.indices.placement if RECORDS[a.placement].resident else a.placement
    same = the_one_value(semiring)
    iso = None if same is None else DeviceBuffer(xp.full(1, same, dtype.np_type))
    b_rows = assembly.near(b_rows, values="y" in semiring.reads)
    names, b_rows = _named(b_rows)
    if found is None:
        found = products(a, b_rows)
    a_rows = assembly.near(a_rows, values="x" in semiring.reads)
    sums = Sums.of(semiring, iso is None, a_rows)
    alone = spgemm_dense.chosen(a_rows, b_rows, found, _few(b_rows), sums)
    dense = DenseRows.counted(a_rows, b_rows, sums, alone, found, _count_prelude(a_rows.wide, b_rows.wide))
    least = spgemm_heavy_rows.least(found)
    counts = _count(a_rows, b_rows, found, least, dense)
    _require_space(counts, b_rows.indices.dtype.itemsize + (dtype.np_type.itemsize if iso is None else 0))
    offsets = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    fill = _Fill(semiring, a.dtype, b_type, a_rows, b_rows, names, iso is None, found, least, dense, counts, offsets)

    def make(first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        local = offsets[first : last + 1] - offsets[first]
        return (local, *fill.rows(first, last)) if whole else (local, None, None)

    ranges = row_blocks.blocks([offsets, a_rows.indptr], _ENTRY_BYTES)
    ncols = b_rows.ncols if names is None else names.ncols
    return assembly.assemble(ranges, make, (a.nrows, ncols), dtype, placement, iso)


def _require_space(counts: Any, entry_bytes: int) -> None:
    """Raise OutOfMemory if a row of the product does not fit in device memory, where each row is computed whole."""
    most = int(counts.max()) if counts.size else 0
    space = budget.make_available(most * entry_bytes)
    if most * entry_bytes > space:
        raise OutOfMemory(
            f"mxm: a row of the product has {most:,} entries, which take {most * entry_bytes:,} bytes of device memory,"
            f" and {space:,} may be used; {2 * most * entry_bytes:,} are enough (gb.config.budget), as is a mask, or a"
            " product with some of the columns at a time"
        )


def the_one_value(semiring: Any) -> Any:
    """Return the one value of all entries of a product whose multiply and sums can give no other; None if they can."""
    if semiring.reads & set("xyijk") or not (semiring.monoid.is_idempotent or semiring.monoid.stops_anywhere):
        return None
    ones = np.ones(1, semiring.type.np_type)
    return np.asarray(semiring.binaryop.numpy(ones, ones), semiring.return_type.np_type)[0]


@dataclass(frozen=True)
class _Names:
    """Renumbered columns: the old ids, ascending, and the old number of columns."""

    ids: Any
    ncols: int


def _named(rows: Rows) -> tuple[_Names | None, Rows]:
    """Return the rows with their empty columns removed, if a map of all columns would be too large."""
    if rows.ncols <= 2**32 and 4 * _map_bytes(rows.ncols) <= budget.available():
        return None, rows
    xp = cuda.current().xp
    pieces = row_blocks.pieces(rows.nvals, _NAMED_BYTES)
    used = xp.empty(0, rows.indices.dtype)
    for start, stop in pieces:
        used = xp.unique(xp.concatenate([used, rows.indices.load(start, stop)]))
    kind = np.dtype(np.uint32 if used.size < 2**32 else np.uint64)
    indices: Buffer = allocate(budget.fitting("device", rows.nvals * kind.itemsize), rows.nvals, kind)
    for start, stop in pieces:
        indices.write(start, xp.searchsorted(used, rows.indices.load(start, stop)).astype(kind))
    named = Rows(rows.nrows, int(used.size), rows.nvals, rows.indptr, indices, rows.values, rows.iso)
    return _Names(used.astype(np.uint64), rows.ncols), named


def products(a: MatrixStore, b: Rows) -> Any:
    """Return the number of products of each row of A B: A times the lengths of B's rows."""
    lengths, sums = (
        vector_store.from_dense(b.indptr[1:] - b.indptr[:-1], INT64, copy=False),
        VectorStore(INT64, a.nrows),
    )
    spmv.spmv(a, False, lengths, semirings.plus_second[INT64], sums, ALL, vector_left=False)
    return vector_store.to_dense(sums, 0, INT64)


def _map_bytes(ncols: int) -> int:
    return -(-ncols // _MAP_COLUMNS) * (8 * 1024 + 4)


class _Listed(NamedTuple):
    """Kernel arguments: the rows that warps do not compute, and the maps of blocks that use maps (spgemm.cuh)."""

    nmapped: int
    ntabled: int
    rows: Any  # u64: rows computed with a block's map, with a block's table, by other launches
    listed: Any  # presence words of these rows; null if there are none
    nmaps: int
    maps: Any
    summaries: Any
    summary: int


def _listed(tabled: Any, mapped: Any, others: Any, nrows: int, ncols: int) -> _Listed:
    """Return the rows that warps do not compute, as kernel arguments; `others`: those of other launches."""
    gpu = cuda.current()
    xp = gpu.xp
    rows = xp.concatenate([mapped, tabled, *others]).astype(np.uint64)
    bits = presence_words.mark(rows, nrows) if rows.size else 0
    maps: tuple[Any, ...] = 0, 0, 0, 0
    if mapped.size:
        summary = -(-ncols // _MAP_COLUMNS)
        at_once = max(1, budget.available() // 4 // _map_bytes(ncols))
        count = min(mapped.size, at_once, launch.blocks(gpu, launch.THREADS * mapped.size))
        words, summaries = xp.zeros(count * summary * 1024, np.uint64), xp.zeros(count * summary, np.uint32)
        maps = count, words, summaries, summary
    return _Listed(mapped.size, tabled.size, rows, bits, *maps)


def _divided(tabled: Any, mapped: Any, shared: Any, dense: Any) -> tuple[Any, Any, Any]:
    """Return the rows for blocks' tables, the rows for blocks' maps, and those that all blocks share."""
    xp = cuda.current().xp
    shared = shared & ~dense
    other = shared | dense
    return tuple(xp.flatnonzero(rows) for rows in (tabled & ~mapped & ~other, mapped & ~other, shared))


def _grid(nrows: int, listed: int) -> int:
    return launch.blocks(cuda.current(), 32 * nrows + launch.THREADS * listed)


def _has_tables(b: Rows) -> bool:
    """Return whether no id can equal the marker of an empty slot."""
    return b.wide or b.ncols < 2**32


def _few(b: Rows) -> int:
    """Return the most products of a row for a warp's table, which its columns then fill by half at most."""
    return TABLE_BYTES // b.indices.dtype.itemsize // 16 if _has_tables(b) else 0


def _count(a: Rows, b: Rows, products: Any, least: int, dense: DenseRows) -> Any:
    """Return the number of entries of each row of the product."""
    gpu = cuda.current()
    xp = gpu.xp
    slots = TABLE_BYTES // b.indices.dtype.itemsize
    warp = _few(b)
    tabled, mapped, shared = _divided(products > warp, products > 8 * warp, products > least, dense.among(a.nrows))
    counts = xp.zeros(a.nrows, np.int64)
    counts[dense.rows.astype(np.int64)] = dense.counts()
    kernel = codegen.kernel(gpu, "spgemm_count.cu", _count_prelude(a.wide, b.wide, slots), "mxm_count")
    kernel.launch(
        _grid(a.nrows, tabled.size + mapped.size),
        groups.LeftIds(*a.arguments[1:3]), groups.RightIds(*b.arguments[1:3]),
        _listed(tabled, mapped, (shared, dense.rows), a.nrows, b.ncols),
        nrows=a.nrows, products=products, counters=xp.zeros(3, np.uint64), counts=counts,
    )  # fmt: skip
    for row in gpu.asnumpy(shared).tolist():
        counts[row] = HeavyRow(a, b, row, _count_prelude(a.wide, b.wide)).columns().count()
    return counts


@dataclass(frozen=True)
class _Fill:
    """The second pass, which computes the entries, and its operands."""

    semiring: Any
    a_type: DataType
    b_type: DataType
    a: Rows
    b: Rows
    names: _Names | None
    values: bool
    products: Any
    least: int  # products of a row above which all blocks share it
    dense: DenseRows
    counts: Any
    offsets: Any

    def rows(self, first: int, last: int) -> tuple[Any, Any]:
        """Return ids and values of rows first .. last-1 of the product; None for values if all are equal."""
        gpu = cuda.current()
        xp = gpu.xp
        a, b, dtype = self.a, self.b, self.semiring.return_type
        slots = TABLE_BYTES // (b.indices.dtype.itemsize + 2 + (dtype.np_type.itemsize if self.values else 0))
        warp, block = (slots // 16, slots * 3 // 4) if _has_tables(b) else (0, 0)
        base, end = int(self.offsets[first]), int(self.offsets[last])
        counts, products = self.counts[first:last], self.products[first:last]
        more = (counts > warp) | (products > PATIENCE) & (counts > 0)
        alone = self.dense.among(a.nrows)
        divided = _divided(more, counts > block, products > self.least, alone[first:last])
        tabled, mapped, shared = (rows + first for rows in divided)
        ids = xp.empty(end - base, b.indices.dtype)
        values = xp.empty(end - base, dtype.np_type) if self.values else None
        case = self.semiring, self.a_type, self.b_type, (a.wide, b.wide), (a.iso, b.iso), self.values
        names = 0 if self.names is None else self.names.ids
        codegen.kernel(gpu, "spgemm_fill.cu", _fill_prelude(*case, slots), "mxm_fill").launch(
            _grid(last - first, tabled.size + mapped.size),
            groups.Left(*a.arguments[1:]), groups.Right(*b.arguments[1:]),
            _listed(tabled, mapped, (shared, self.dense.rows), a.nrows, b.ncols),
            first=first, last=last, offsets=self.offsets, base=base, names=names, counters=xp.zeros(3, np.uint64),
            ids=ids, values=0 if values is None else values,
        )  # fmt: skip
        self.dense.fill(first, last, self.offsets, names, _fill_prelude(*case, 0), ids, 0 if values is None else values)
        for row in gpu.asnumpy(shared).tolist():
            at = slice(*(int(end) - base for end in self.offsets[row : row + 2]))
            part = None if values is None else values[at]
            whole = HeavyRow(a, b, row, _count_prelude(a.wide, b.wide))
            whole.fill(self.semiring, _fill_prelude(*case, 0), _is_ordered(self.semiring.monoid), names, ids[at], part)
        return ids if self.names is None else self.names.ids[ids.astype(np.int64)], values


def _ids(wide: tuple[bool, bool]) -> dict[str, str]:
    a, b = ("u64" if long else "u32" for long in wide)
    return {"AId": a, "BId": b, "Key": b}


def _is_ordered(monoid: Any) -> bool:
    """Return whether a monoid's sums depend on the order of their operands, by rounding."""
    rounded = monoid.type.is_float or monoid.type.is_complex or monoid.op.user_function is not None
    return rounded and not monoid.stops_anywhere


@cache
def _count_prelude(a_wide: bool, b_wide: bool, slots: int = 0) -> str:
    types = typedefs(**_ids((a_wide, b_wide)), A=UINT8)
    return f"{types}\n{flags(READS_A=False, ISO_A=False)}\nconstexpr u32 SLOTS = {slots};"


@lru_cache(maxsize=256)
def _fill_prelude(
    semiring: Any, a: DataType, b: DataType, wide: tuple[bool, bool], iso: tuple[bool, bool], values: bool, slots: int
) -> str:
    multiply = evaluate(semiring, x="a", y="b", i="row", k="shared", j="col")
    return "\n".join(
        (
            typedefs(**_ids(wide), A=a, B=b, Z=semiring.return_type),
            flags(READS_A="x" in semiring.reads and values, READS_B="y" in semiring.reads, ISO_A=iso[0], ISO_B=iso[1]),
            flags(VALUES=values, ORDERED=_is_ordered(semiring.monoid)),
            f"constexpr u32 SLOTS = {slots};",
            codegen.monoid(semiring.monoid),
            function("Z", "multiply", "A a, B b, u64 row, u64 shared, u64 col", multiply),
        )
    )
