"""The launches of a product whose matrix has resident segments.

The same launch reads non-resident entries over the host link (:func:`in_one_launch`): a warp looks up its segment in a
table, and while some warps wait for the link others read device memory. Or the host's threads gather them
(:func:`gathered`) while the GPU works on the rows that are fully resident.
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
    """Yield all rows as one launch.

    The region is held until the launch is done: a part knows only its addresses, and caches may be dropped in the
    middle of a product.
    """
    yield _mixed(region, rows, entries)


def gathered(region: Region | None, rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """Yield the resident rows while the others are gathered. If it fails, it fails before any launch."""
    if region is None:
        return gather_rows.parts(rows, entries, wanted)
    others = ~region.bits(rows)
    words = others if wanted.words is None else (wanted.words ^ np.uint32(wanted.flip)) & others
    rest = gather_rows.plan(rows, entries, Wanted(words))  # before the GPU gets work, as this waits for the GPU
    return _apart(region, rest, others)


def _apart(region: Region, rest: gather_rows.Plan, others: Any) -> Iterator[Part]:
    yield _mixed(region, rest.rows, rest.entries, region.bits(rest.rows))
    yield from gather_rows.serve(rest, others)


def _mixed(region: Region, rows: Rows, entries: Entries, subset: Any = None) -> Part:
    """Return the part of rows whose segments are read where they are."""
    made = None if subset is not None else region.parts.get(entries.key)
    if made is None:
        tables = SegmentTables(*region.tables(entries), segments.BITS)
        made = part(rows, double_buffer.in_place(rows, entries), segments=tables, subset=subset)
        if subset is None:
            region.parts[entries.key] = made
    return made
