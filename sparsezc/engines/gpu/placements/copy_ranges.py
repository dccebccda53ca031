"""Transfer of all entries by ranges, copied one after another through two buffers; ranges not wanted are skipped.

All ranges have the same number of entries (edge-balanced), and a range is copied while kernels process the one before.
Source: D. Sengupta, S. L. Song, K. Agarwal, K. Schwan, GraphReduce: processing large-scale graphs on accelerator-based
systems, SC 2015, doi:10.1145/2807591.2807655.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Entries, Part, Wanted, double_buffer, part, segments
from sparsezc.engines.gpu.storage.matrix_store import Rows


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """Yield the launch parts of a product."""
    spare = double_buffer.spare(rows)  # most entries before a range of a row or chunk that ends in it

    def plan(size: int) -> tuple[double_buffer.Staging, list[_Range]]:
        return double_buffer.Staging(entries, size), _ranges(rows, size - spare, wanted)

    return _serve(rows, entries, spare, *double_buffer.planned(rows, entries, plan))


def _serve(
    rows: Rows, entries: Entries, spare: int, buffers: double_buffer.Staging, todo: list[_Range]
) -> Iterator[Part]:
    def begin(cut: _Range) -> tuple[Any, Any]:
        if cut.end == 0:  # the product reads none of its entries
            return double_buffer.in_place(rows, entries)
        first = max(0, cut.first - spare) // 32 * 32
        filled = buffers.fill([buffer.read(first, cut.end) for buffer in entries.buffers])
        return double_buffer.pointers(rows, entries, filled, first)

    ahead = begin(todo[0])
    try:
        for cut, following in zip(todo, [*todo[1:], None], strict=True):
            buffers.arrived()
            pointers = ahead
            if following is not None:
                ahead = begin(following)
            yield part(rows, pointers, which=cut.rows, chunks=cut.chunks, near=True)
    finally:
        buffers.arrived()  # if the caller stops early, the next kernel in this memory must wait for the pending copy


@dataclass(frozen=True)
class _Range:
    """Entries first .. end-1, and the rows and row chunks that end among them; end 0 if none is wanted."""

    first: int
    end: int
    rows: tuple[int, int]
    chunks: tuple[int, int]


def _ranges(rows: Rows, size: int, wanted: Wanted) -> list[_Range]:
    """Return all ranges to process; unwanted ones keep their rows, as kernels also write absent results."""
    cuts = np.append(np.arange(0, rows.nvals, size), rows.nvals)
    row_cuts = _ends(rows.indptr[1:], cuts, rows.nrows)
    chunk_cuts = _ends(_chunk_ends(rows), cuts, rows.chunks.count)
    busy = _busy(rows, wanted, cuts)
    made: list[_Range] = []
    for k in range(cuts.size - 1):
        at = (row_cuts[k], row_cuts[k + 1]), (chunk_cuts[k], chunk_cuts[k + 1])
        if busy[k]:
            made.append(_Range(int(cuts[k]), int(cuts[k + 1]), *at))
        elif made and made[-1].end == 0:  # unwanted ranges in succession are one launch
            last = made[-1]
            made[-1] = _Range(0, 0, (last.rows[0], at[0][1]), (last.chunks[0], at[1][1]))
        else:
            made.append(_Range(0, 0, *at))
    return made


def _ends(ends: Any, cuts: Any, total: int) -> list[int]:
    """Return how many of the ascending `ends` are at or before each cut; 0 for the first cut, all for the last."""
    gpu = cuda.current()
    if total == 0:
        return [0] * cuts.size
    found = gpu.asnumpy(gpu.xp.searchsorted(ends, gpu.xp.asarray(cuts[1:-1]), side="right")).tolist()
    return [0, *found, total]


def _chunk_ends(rows: Rows) -> Any:
    """Return the last entry plus one of each row chunk."""
    chunks, xp = rows.chunks, cuda.current().xp
    if chunks.count == 0:
        return 0
    slot = chunks.slot.astype(np.int64)
    row = chunks.rows.astype(np.int64)[slot]
    number = xp.arange(chunks.count, dtype=np.int64) - chunks.first.astype(np.int64)[slot]
    return xp.minimum(rows.indptr[row] + (number + 1) * chunks.length, rows.indptr[row + 1])


def _busy(rows: Rows, wanted: Wanted, cuts: Any) -> list[bool]:
    """Return, for each range, whether it may contain an entry that the product reads."""
    if wanted.words is None:
        return [True] * (cuts.size - 1)
    gpu = cuda.current()
    counts = gpu.xp.zeros(segments.count(rows.nvals), np.uint32)
    segments.touch(rows, Wanted(wanted.words, wanted.flip), counts)
    before = np.concatenate([[0], np.cumsum(gpu.asnumpy(counts), dtype=np.int64)])
    first, end = cuts[:-1] >> segments.BITS, -(-cuts[1:] >> segments.BITS)
    return (before[end] > before[first]).tolist()  # type: ignore[no-any-return]
