"""The launch parts of a product whose matrix has resident segments.

One launch reads the resident entries and, over the host link, all others (:func:`in_one_launch`): a warp looks up each
segment in a table, and while some warps wait for the link others read device memory. Or host threads gather the others
(:func:`gathered`) while the GPU processes the rows that are fully resident.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsezc.engines.gpu.placements import (
    Entries,
    Part,
    SegmentTables,
    Wanted,
    double_buffer,
    gather_rows,
    part,
    segments,
)
from sparsezc.engines.gpu.placements.segment_cache import Region
from sparsezc.engines.gpu.storage.matrix_store import Rows


def in_one_launch(region: Region, rows: Rows, entries: Entries) -> Iterator[Part]:
    """Yield one launch part of all rows.

    The generator keeps the region alive until the launch: a part has only its addresses, and caches may be dropped
    during a product.
    """
    yield _mixed(region, rows, entries)


def gathered(region: Region | None, rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """Yield the resident rows while the others are gathered, then these. Errors are raised before any launch."""
    if region is None:
        return gather_rows.parts(rows, entries, wanted)
    others = ~region.bits(rows)
    words = others if wanted.words is None else (wanted.words ^ np.uint32(wanted.flip)) & others
    rest = gather_rows.plan(rows, entries, Wanted(words))  # planned before any launch, as a plan waits for the GPU
    return _apart(region, rest, others)


def _apart(region: Region, rest: gather_rows.Plan, others: Any) -> Iterator[Part]:
    yield _mixed(region, rest.rows, rest.entries, region.bits(rest.rows))
    yield from gather_rows.serve(rest, others)


def _mixed(region: Region, rows: Rows, entries: Entries, subset: Any = None) -> Part:
    """Return the launch part that reads segments in the region or, over the link, in host memory."""
    made = None if subset is not None else region.parts.get(entries.key)
    if made is None:
        tables = SegmentTables(*region.tables(entries), segments.BITS)
        made = part(rows, double_buffer.in_place(rows, entries), segments=tables, subset=subset)
        if subset is None:
            region.parts[entries.key] = made
    return made
