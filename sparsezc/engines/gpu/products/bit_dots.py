"""Counts of the ids that two rows share, for matrices with most entries in few columns (bit_rows.cu, bit_dots.cu).

In a graph with hubs the rows of a masked product share ids in few columns. These columns are numbered, the most used
first, and each row's entries in them are stored a second time as bits by number. A row of A that has no other columns
is then compared, 32 columns at a time, with rows of B' that have more entries than its numbers span words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.engines.gpu.storage.matrix_store import Chunks, Rows
from sparsezc.memory import budget
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

# Most columns that are numbered: their bits take 32 KiB of shared memory, and six blocks fit a multiprocessor.
HUBS = 1 << 18
CHUNK = 1024  # entries of a mask's row that a block takes at once
FEWEST = 64  # entries of a mask's row from which a bit map of A's row is repaid
PAYS = 64  # look-ups for each entry of A and B from which numbering their columns is repaid
# Mask entries in a sample of look-ups: consecutive ones, and the number of such samples.
_SAMPLE, _SAMPLES = 1024, 64
_ENTRY_BYTES, _COLUMN_BYTES = 16, 24  # bytes of an entry of A or B (two forms), of a column (count, order)


class _Side(NamedTuple):
    """The rows of a matrix by numbered columns, as kernel arguments; bit_rows.cu explains them."""

    indptr: Any
    ranks: Any
    bits: Any
    hubs: Any
    reach: Any


class BitDots:
    """The rows of both operands by numbered columns, for a product that counts shared ids.

    Parameters
    ----------
    a, b : Rows
        The rows of A and of B's transpose, in device memory.
    dtype : DataType
        The type of the counts.
    """

    def __init__(self, a: Rows, b: Rows, dtype: DataType) -> None:
        self._dtype = dtype
        rank = _rank(b)
        self._b = _side(b, rank, bits=True)
        self._a = self._b if a is b else _side(a, rank, bits=False)

    def launch(
        self, mask: tuple[Any, Any], wide: bool, first: int, some: Any, *, base: int, allowed: Any, sums: Any, bits: Any
    ) -> Any:
        """Count at the mask's entries in the rows of `some` that have numbered columns only; return these rows.

        `mask`: its offsets, and its ids from entry `base` on, of 8 bytes if `wide`. `some`: bool for each row from
        `first` on; the result likewise.
        """
        gpu, a, b = cuda.current(), self._a, self._b
        xp, (indptr, ids) = gpu.xp, mask
        last = first + some.size
        lengths = indptr[first + 1 : last + 1] - indptr[first:last]
        done = some & (lengths >= FEWEST) & (a.reach[first:last] <= HUBS)
        rows = xp.flatnonzero(done)
        chunks = Chunks.cut(gpu, rows + first, lengths[rows], CHUNK)
        if chunks.count:
            codegen.kernel(gpu, "bit_dots.cu", prelude(wide, self._dtype), "bit_dots").launch(
                launch.blocks(gpu, launch.THREADS * chunks.count), chunks.all, m_indptr=indptr, m_ids=ids,
                base=base, allowed=allowed, a_indptr=a.indptr, a_ranks=a.ranks, a_hubs=a.hubs, a_reach=a.reach,
                b_indptr=b.indptr, b_ranks=b.ranks, b_bits=b.bits, b_hubs=b.hubs, chunk=CHUNK,
                counter=xp.zeros(1, np.uint64), sums=sums, bits_of_sums=bits,
            )  # fmt: skip
        return done


def prelude(wide: bool, dtype: DataType) -> str:
    """Return the prelude of bit_dots.cu; `wide`: the mask's ids have 8 bytes."""
    return f"{typedefs(MId='u64' if wide else 'u32', Z=dtype)}\nconstexpr u32 WORDS = {HUBS // 32};"


def plan(semiring: Any, a: Rows, b: Rows, mask: Rows) -> BitDots | None:
    """Return the numbered rows for a product that counts; None if numbering columns does not pay off."""
    counts = semiring.monoid.name == "plus" and semiring.binaryop.name == "pair" and semiring.return_type.is_integer
    if not counts or not mask.nvals or not all(RECORDS[rows.indices.placement].resident for rows in (a, b)):
        return None
    entries = a.nvals + (0 if a is b else b.nvals)
    if b.ncols >= 2**32 or budget.available() < 2 * (_ENTRY_BYTES * entries + _COLUMN_BYTES * b.ncols):
        return None
    try:
        return BitDots(a, b, semiring.return_type) if _look_ups(b, mask) > PAYS * entries else None
    except MemoryError:  # less memory is free than the driver reported, or it is fragmented
        return None


def _look_ups(b: Rows, mask: Rows) -> int:
    """Estimate, from a sample, the entries of B' in the rows that mask entries refer to. Waits for the device."""
    xp, step = cuda.current().xp, max(_SAMPLE, mask.nvals // _SAMPLES)
    some = [mask.indices.load(at, min(at + _SAMPLE, mask.nvals)) for at in range(0, mask.nvals, step)]
    named = xp.concatenate(some).astype(np.int64)
    found = int((b.indptr[named + 1] - b.indptr[named]).sum())
    return found * mask.nvals // int(named.size)


def _rank(b: Rows) -> Any:
    """Return the number of each column of B', the most used first; 2^32 - 1 for columns without a number."""
    xp = cuda.current().xp
    counts = xp.bincount(b.indices.load(), minlength=b.ncols)
    most = xp.argsort(counts)[::-1][:HUBS]
    rank = xp.full(b.ncols, 2**32 - 1, np.uint32)
    rank[most] = xp.arange(most.size, dtype=np.uint32)
    return rank


def _side(rows: Rows, rank: Any, *, bits: bool) -> _Side:
    gpu = cuda.current()
    xp = gpu.xp
    ranks = xp.empty(rows.nvals, np.uint32)
    words: Any = xp.empty(rows.nvals, np.uint32) if bits else 0
    hubs, reach = xp.empty(rows.nrows, np.uint32), xp.empty(rows.nrows, np.uint32)
    kernel = codegen.kernel(gpu, "bit_rows.cu", typedefs(Id="u64" if rows.wide else "u32"), "bit_rows")
    nrows, indptr, indices, _ = rows.arguments
    kernel.launch(
        launch.blocks(gpu, rows.nrows), nrows=nrows, indptr=indptr, indices=indices, rank=rank, ranks=ranks, bits=words,
        hubs=hubs, reach=reach,
    )  # fmt: skip
    return _Side(rows.indptr, ranks, words, hubs, reach)
