"""The launches of a product whose matrix has resident segments.

What is not resident is read over the host link in the same launch (:func:`in_one_launch`): a warp asks a table where
its segment is, and while some warps wait for the link others work on the card. Or the host's threads gather it
(:func:`gathered`) while the card works on the rows that are resident as wholes.
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
    """All rows in one launch. The region stays until that is done: a part knows its addresses alone, and caches may go
    in the middle of a product.
    """
    yield _mixed(region, rows, entries)


def gathered(region: Region | None, rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The rows in the region, and meanwhile the others are gathered. Fails before anything is launched, if at all."""
    if region is None:
        return gather_rows.parts(rows, entries, wanted)
    others = ~region.bits(rows)
    words = others if wanted.words is None else (wanted.words ^ np.uint32(wanted.flip)) & others
    rest = gather_rows.plan(rows, entries, Wanted(words))  # before the card has work, for this waits for it
    return _apart(region, rest, others)


def _apart(region: Region, rest: gather_rows.Plan, others: Any) -> Iterator[Part]:
    yield _mixed(region, rest.rows, rest.entries, region.bits(rest.rows))
    yield from gather_rows.serve(rest, others)


def _mixed(region: Region, rows: Rows, entries: Entries, subset: Any = None) -> Part:
    """Rows whose segments are read where they lie."""
    made = None if subset is not None else region.parts.get(entries.key)
    if made is None:
        tables = SegmentTables(*region.tables(entries), segments.BITS)
        made = part(rows, double_buffer.in_place(rows, entries), segments=tables, subset=subset)
        if subset is None:
            region.parts[entries.key] = made
    return made
