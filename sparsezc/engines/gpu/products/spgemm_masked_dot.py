"""Matrix times matrix at a mask's entries only (spgemm_masked_dot.cu), each the dot product of rows of A and B'.

Products are summed up at the mask's entries, or counted at all three of their indices. If the sums are counts,
bit_dots.py computes the rows with few columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.elementwise.matrix_merge import MaskRows
from sparsezc.engines.gpu.products import bit_dots
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import Chunks, MatrixStore, Rows
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.semiring import plus_pair
from sparsezc.semirings.types.datatypes import UINT32, UINT64, DataType

TABLE_BYTES = 1 << 15  # bytes of shared memory of a block: six blocks fit a multiprocessor, also with an eighth more
WARP_MASK = 256  # most entries of a mask's row that one warp computes
CHUNK = 4096  # entries of a mask's row that a block takes at once
_ENTRY_BYTES = 32  # bytes of an entry of the mask: its id and its sum, and both again in the result
_MASK_BYTES = 8  # bytes of an entry of the mask if there are no sums


def dots(semiring: Any, a: MatrixStore, b_type: DataType, columns: Rows, mask: MaskRows) -> MatrixStore:
    """Return A (+).(x) B at the entries that the mask allows; `columns`: the rows of B's transpose."""
    xp = cuda.current().xp
    assert a.rows is not None
    m_rows, dtype = mask.rows, semiring.return_type
    placement = columns.indices.placement if RECORDS[a.placement].resident else a.placement
    a_rows = assembly.near(a.rows, values="x" in semiring.reads)
    b_rows = a_rows if columns is a.rows else assembly.near(columns, values="y" in semiring.reads)
    case = _Case(semiring, a.dtype, b_type, a_rows, b_rows, m_rows.wide)
    counted = bit_dots.plan(semiring, a_rows, b_rows, m_rows)

    def make(first: int, last: int, whole: bool, *part: int) -> tuple[Any, Any, Any]:
        indptr, ids, start = _part(m_rows, first, last, *part)
        count = ids.size
        sums, bits = xp.empty(count, dtype.np_type), xp.zeros(-(-count // 32), np.uint32)
        given = {"base": start, "allowed": _allowed(mask, start, start + count), "sums": sums, "bits": bits}
        longer = case.longer(indptr, first, last)
        if counted is not None:
            longer &= ~counted.launch((indptr, ids), m_rows.wide, first, longer, **given)
        case.launch(indptr, first, last, longer, m_ids=ids, counts=0, **given)
        kept = Kept.of(count, bits)
        offsets = kept.offsets(indptr[first : last + 1] - start)
        if not whole:
            return offsets, None, None
        if kept.count() == count:
            return offsets, ids, sums
        left = xp.empty(kept.count(), ids.dtype), xp.empty(kept.count(), sums.dtype)
        kept.move(ids, sums, *left, m_rows.wide, dtype)
        return offsets, *left

    ranges = row_blocks.blocks([m_rows.indptr], _ENTRY_BYTES, cut=row_blocks.evenly(m_rows.indptr))
    return assembly.assemble(ranges, make, (a.nrows, columns.nrows), dtype, placement)


def corners(a: MatrixStore, b_type: DataType, columns: Rows, mask: Rows) -> Any:
    """Count, for each vertex, the products A(i, k) B(k, j) at entries (i, j) of the mask in which it is i, j or k.

    `columns`: the rows of B's transpose. The result is an array of int64, one for each row of the square matrices.
    """
    assert a.rows is not None
    a_rows = assembly.near(a.rows, values=False)
    b_rows = a_rows if columns is a.rows else assembly.near(columns, values=False)
    counting = plus_pair[UINT64 if a_rows.wide else UINT32]
    case = _Case(counting, a.dtype, b_type, a_rows, b_rows, mask.wide, corners=True)
    counts = cuda.current().xp.zeros(a.nrows, np.uint64)
    for first, last, *part in row_blocks.blocks([mask.indptr], _MASK_BYTES, cut=row_blocks.evenly(mask.indptr)):
        indptr, ids, start = _part(mask, first, last, *part)
        longer = case.longer(indptr, first, last)
        given = {"base": start, "allowed": 0, "sums": 0, "bits": 0, "counts": counts}
        case.launch(indptr, first, last, longer, m_ids=ids, **given)
    return counts.view(np.int64)


def _part(mask: Rows, first: int, last: int, *part: int) -> tuple[Any, Any, int]:
    """Return offsets, ids and first entry of the mask's rows first .. last-1, or of a part of one row."""
    start, stop = part or mask.ends(first, last)
    indptr = row_blocks.between(mask.indptr, first, *part) if part else mask.indptr
    return indptr, mask.indices.load(start, stop), start


def _allowed(mask: MaskRows, start: int, stop: int) -> Any:
    """Return presence words of the mask's entries that allow writing; 0 if all do."""
    xp = cuda.current().xp
    if not mask.values:
        return 0
    values = mask.rows.values.load() if mask.rows.iso else mask.rows.values.load(start, stop)
    if mask.rows.iso:
        values = xp.broadcast_to(values, (stop - start,)).copy()
    return presence_words.nonzero(values, 0, mask.dtype, stop - start)


class _Case:
    """The properties by which the kernel is specialised, and the division of rows between warps and blocks."""

    def __init__(
        self, semiring: Any, a: DataType, b: DataType, a_rows: Rows, b_rows: Rows, mask_wide: bool, *,
        corners: bool = False,
    ) -> None:  # fmt: skip
        self._rows = a_rows, b_rows
        self._has_table = a_rows.wide or a_rows.ncols < 2**32  # otherwise an id may equal the marker of an empty slot
        self._lengths = a_rows.indptr[1:] - a_rows.indptr[:-1]
        places = 4 * ("x" in semiring.reads and not a_rows.iso)
        size, nbytes = (8 if a_rows.wide else 4) + places, TABLE_BYTES
        if corners:  # two more bytes a slot; each warp has an even number of slots
            size, nbytes = size + 2, nbytes + nbytes // 8
        self.slots = nbytes // size // 16 * 16
        wide, iso = (a_rows.wide, b_rows.wide, mask_wide), (a_rows.iso, b_rows.iso)
        self.prelude = _prelude(semiring, a, b, wide, iso, (self.slots, self.warp_row, WARP_MASK), corners)

    def longer(self, m_indptr: Any, first: int, last: int) -> Any:
        """Return which of a mask's rows first .. last-1 are too long for a single warp, as an array of bool."""
        m_lengths, a_lengths = m_indptr[first + 1 : last + 1] - m_indptr[first:last], self._lengths[first:last]
        return ((a_lengths > self.warp_row) | (m_lengths > WARP_MASK)) & (a_lengths > 0) & (m_lengths > 0)

    def launch(self, m_indptr: Any, first: int, last: int, longer: Any, **given: Any) -> None:
        """Launch the kernel for a mask's rows first .. last-1; of those too long for a warp, only for `longer` ones."""
        gpu, (a_rows, b_rows) = cuda.current(), self._rows
        rows = gpu.xp.flatnonzero(longer) + first
        chunks = Chunks.cut(gpu, rows, m_indptr[rows + 1] - m_indptr[rows], CHUNK)
        codegen.kernel(gpu, "spgemm_masked_dot.cu", self.prelude, "masked_dot").launch(
            launch.blocks(gpu, 32 * (last - first) + launch.THREADS * chunks.count),
            groups.Left(*a_rows.arguments[1:]), groups.Right(*b_rows.arguments[1:]), chunks.all,
            first=first, last=last, m_indptr=m_indptr, edge=0 if RECORDS[b_rows.indices.placement].resident else 31,
            most_slots=self.slots if self._has_table else 0, chunk=CHUNK,
            counters=gpu.xp.zeros(2, np.uint64), **given,
        )  # fmt: skip

    @property
    def warp_row(self) -> int:
        """Return the most entries of a row of A for a single warp: a quarter of the warp's slots of the table."""
        return self.slots // 32


@lru_cache(maxsize=256)
def _prelude(
    semiring: Any,
    a: DataType,
    b: DataType,
    wide: tuple[bool, bool, bool],
    iso: tuple[bool, bool],
    sizes: tuple[int, int, int],
    corners: bool,
) -> str:
    ids = {f"{name}Id": "u64" if long else "u32" for name, long in zip("ABM", wide, strict=True)}
    multiply = evaluate(semiring, x="a", y="b", i="row", k="shared", j="col")
    return "\n".join(
        (
            typedefs(**ids, Key=ids["AId"], A=a, B=b, Z=semiring.return_type),
            flags(READS_A="x" in semiring.reads, READS_B="y" in semiring.reads, ISO_A=iso[0], ISO_B=iso[1]),
            flags(PLACES="x" in semiring.reads and not iso[0], CORNERS=corners),
            "constexpr u32 SLOTS = {};\nconstexpr u64 WARP_ROW = {}, WARP_MASK = {};".format(*sizes),
            codegen.monoid(semiring.monoid),
            function("Z", "multiply", "A a, B b, u64 row, u64 shared, u64 col", multiply),
        )
    )
