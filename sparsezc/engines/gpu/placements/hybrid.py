"""Placements ``hybrid`` and ``mapped``: resident segments, and the fastest transfer for the other entries.

Non-resident entries are read over the host link by the launch that reads the resident segments (segment_cache.py);
where it takes less time on this machine (transfer_cost.py), all entries are copied (copy_ranges.py), or the host's
threads gather the wanted rows (gather_rows.py). ``mapped`` does the same with a file's pages.
"""

from __future__ import annotations

from collections.abc import Iterable

from sparsezc.engines.gpu.placements import (
    Entries,
    Part,
    Wanted,
    copy_ranges,
    double_buffer,
    resident_parts,
    segment_cache,
    transfer_cost,
    whole,
)
from sparsezc.engines.gpu.storage.matrix_store import Rows


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterable[Part]:
    """Return the launches that serve a product."""
    wanted = transfer_cost.counted(rows, entries, wanted)
    region = segment_cache.for_product(rows, entries, wanted, RULE)
    expected, kept = segment_cache.expected_reads(rows, wanted), 0.0 if region is None else region.filled / region.count
    transfer = transfer_cost.cheapest(rows, entries, wanted, expected, kept)
    try:
        if transfer == transfer_cost.COPIED:
            return copy_ranges.parts(rows, entries, wanted)
        if transfer == transfer_cost.GATHERED:
            return resident_parts.gathered(region, rows, entries, wanted)
    except MemoryError:  # no memory for buffers: everything is read in place
        pass
    if region is None:  # no region: as in zerocopy
        return (whole(rows, None if entries.ids is rows.indices else entries.ids),)
    return resident_parts.in_one_launch(region, rows, entries)


def _space(rows: Rows, entries: Entries) -> int:
    """Return the bytes for a region: the budget less the vectors and, in case copies become cheapest, their buffers."""
    space = double_buffer.bytes_for_entries(rows)
    return space - transfer_cost.buffers(rows, entries, space)


RULE = segment_cache.Rule(_space, segment_cache.scattered)
