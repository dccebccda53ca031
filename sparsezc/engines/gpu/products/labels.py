"""Sums of rows by the labels of their columns (ops/labels.py, labels.cu): each row's best label, or one label's sum.

The wanted rows are listed in three classes: those whose labels fit a warp's hash table in shared memory, those whose
labels fit a block's, and the others, for which the table spills to device memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage.assembly import rows_of
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore, in_bits
from sparsezc.exceptions import IndexOutOfBound, InvalidValue
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import DataType

_TABLE_BYTES = 36 << 10  # bytes of shared memory of a block: six blocks fit a multiprocessor
_WARP_ENTRIES = 2048  # entries of a row that a warp sums within a label at most; a block sums a longer one


class Tables(NamedTuple):
    """A hash table in device memory for each block, for entries of long rows that do not fit in shared memory."""

    keys: Any
    sums: Any
    slots: int


NO_TABLES = Tables(groups.NULL, groups.NULL, 0)


class Case(NamedTuple):
    """The properties by which a kernel is specialised; label_rows.cuh explains the flags."""

    dtype: DataType
    wide: bool
    iso: bool
    reads: bool
    long_labels: bool
    counts: bool  # no sum of a row reaches 2^32
    within: bool = False
    penalty: bool = False
    joins: bool = False
    loops: bool = False


def best_label(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Write the best label of each row that the mask allows, if it is not the row's own label."""
    A, given, stays = e.operands
    label = checked_labels(e, given)
    rows, best = _run(e, A, label, write, stays=bool(stays.value))
    moves = best != label[rows]
    _put(e, rows[moves], best[moves], out, write)


def label_weight(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Write the sum of each allowed row's entries whose columns have the row's own label."""
    A, given = e.operands
    _put(e, *_run(e, A, checked_labels(e, given), write), out, write)


def sums_within(e: Any, A: Any, label: Any, rows: Rows) -> Any:
    """Return the sum of each row's entries with the row's label, on the device; `rows`: A's, or a copy of them."""
    return _run(e, A, label, Write(None, None, False), rows=rows)[1]


def _put(e: Any, rows: Any, values: Any, out: Any, write: Write[Mask | None]) -> None:
    found = VectorStore(e.dtype, e.shape[0])
    found.put(rows, values)
    vector_map.write_vector(found, out._store, in_bits(write))


def full_values(e: Any, v: Any) -> Any:
    """Return the values of a full vector; raise InvalidValue if it is not full."""
    store = v._store
    if store.nvals() != store.size:
        raise InvalidValue(
            f"{e.operation}: {v.name} has {store.nvals()} entries; {store.size} are needed, one everywhere"
        )
    return store.values if store.size else cuda.current().xp.empty(0, store.dtype.np_type)


def checked_labels(e: Any, v: Any) -> Any:
    """Return a vector's labels after a check of their range, as kernels use them as positions."""
    labels, n = full_values(e, v), v._store.size
    if n:
        least, most = int(labels.min()), int(labels.max())
        if least < 0 or most >= n:
            raise IndexOutOfBound(f"{e.operation}: label has {least} .. {most}; 0 .. {n - 1} are needed")
    return labels


def _run(
    e: Any, A: Any, label: Any, write: Write[Mask | None], stays: bool | None = None, rows: Rows | None = None
) -> tuple[Any, Any]:
    """Return the allowed rows, and the best label of each or, if `stays` is None, its sum within its own label."""
    xp, sums, reads = cuda.current().xp, stays is None, "x" in e.op.reads
    rows, n = rows_of(A._store) if rows is None else rows, A._store.nrows
    wanted = _wanted(write, n)
    lengths = rows.indptr[wanted + 1] - rows.indptr[wanted]
    answer = xp.zeros(wanted.size) if sums else label[wanted]
    case = Case(A.dtype, rows.wide, rows.iso, reads, n >= 2**32, not (reads or sums))
    for at, blocks, in_memory in _divided(lengths, case, sums):
        if at.size:
            listed = wanted[at]
            made = tables(int(lengths[at].max()), int(at.size), case) if in_memory else NO_TABLES
            answer[at] = _launch(case, rows, listed, label, stays, (blocks, made))
    return wanted, answer


def _wanted(write: Write[Mask | None], n: int) -> Any:
    """Return the rows that a mask allows (int64, ascending)."""
    xp, mask = cuda.current().xp, in_bits(write).mask
    if mask.allows_all:
        return xp.arange(n)
    bits = mask.bits ^ np.uint32(mask.flip) if mask.flip else mask.bits
    if mask.flip and n % 32:
        bits[-1] &= np.uint32((1 << n % 32) - 1)
    return presence_words.positions(bits, n)


def _divided(lengths: Any, case: Case, sums: bool) -> Iterator[tuple[Any, bool, bool]]:
    """Yield the positions of rows of each class, whether blocks take them, and whether tables are in device memory."""
    xp = cuda.current().xp
    if sums:
        yield xp.flatnonzero((lengths > 0) & (lengths <= _WARP_ENTRIES)), False, False
        yield xp.flatnonzero(lengths > _WARP_ENTRIES), True, False
        return
    warp, block = most_entries(case)
    yield xp.flatnonzero((lengths > 0) & (lengths <= warp)), False, False
    yield xp.flatnonzero((lengths > warp) & (lengths <= block)), True, False
    yield xp.flatnonzero(lengths > block), True, True


def most_entries(case: Case) -> tuple[int, int]:
    """Return the most entries of a row for a warp's table and for a block's, which they fill to three quarters."""
    slots = _slots(case)
    return slots // 8 * 3 // 4 - 1, slots * 3 // 4 - 1


def _slots(case: Case) -> int:
    return _TABLE_BYTES // ((4 if case.counts else 8) + (8 if case.long_labels else 4))


def tables(longest: int, count: int, case: Case) -> Tables:
    """Return tables for rows of at most `longest` entries, for as many blocks as `count` rows use and memory allows."""
    gpu = cuda.current()
    slots, key = 2 * longest, np.dtype(np.uint64 if case.long_labels else np.uint32)
    capacity = max(1, budget.available() // 4 // (slots * (8 + key.itemsize)))
    blocks = min(count, capacity, launch.blocks(gpu, launch.THREADS * count))
    sums = gpu.xp.empty(blocks * slots, np.uint32 if case.counts else np.float64)
    return Tables(gpu.xp.empty(blocks * slots, key), sums, slots)


def _launch(case: Case, rows: Rows, listed: Any, label: Any, stays: bool | None, division: tuple[bool, Tables]) -> Any:
    """Launch labels.cu for the listed rows, each taken by a block or a warp; return their labels or sums."""
    gpu, (blocks, made) = cuda.current(), division
    xp, sums, in_memory = gpu.xp, stays is None, made.slots > 0
    kernel = codegen.kernel(gpu, "labels.cu", prelude(case, blocks, in_memory, sums), "labels")
    found = xp.empty(listed.size, np.float64 if sums else np.int64)
    grid = launch.blocks(gpu, (launch.THREADS if blocks else 32) * listed.size)
    grid = made.keys.size // made.slots if in_memory else grid
    stats.counted(kernel, placements.in_device_memory(rows))(
        grid, made, count=listed.size, label=label, stays=int(stays or 0),
        rows=listed.astype(np.uint64), indptr=rows.indptr, indices=rows.arguments.indices, values=rows.arguments.values,
        counter=xp.zeros(1, np.uint64), best=0 if sums else found, weight=found if sums else 0,
    )  # fmt: skip
    return found


@lru_cache(maxsize=256)
def prelude(case: Case, blocks: bool, in_memory: bool, sums: bool) -> str:
    """Return the prelude of labels.cu."""
    return "\n".join((types(case, "i64"), flags(BLOCKS=blocks, GLOBAL=in_memory, SUM=sums)))


@lru_cache(maxsize=256)
def types(case: Case, labels: str = "Key") -> str:
    """Return the prelude of label_rows.cuh, with the slots of a block's table; `labels`: the type of stored labels."""
    ids, keys = ("u64" if wide else "u32" for wide in (case.wide, case.long_labels))
    return "\n".join(
        (
            typedefs(Id=ids, A=case.dtype, Key=keys, Sum="u32" if case.counts else "double"),
            typedefs(Label=labels if labels != "Key" else keys),
            flags(READS_A=case.reads, ISO_A=case.iso, WITHIN=case.within, PENALTY=case.penalty),
            flags(JOINS=case.joins, LOOPS=case.loops),
            f"constexpr u32 SLOTS = {_slots(case)};",
        )
    )
