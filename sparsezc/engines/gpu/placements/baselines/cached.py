"""Placement ``cached``: Ascetic, which keeps segments resident and gathers the rest meanwhile.

Kernels process the rows that are fully resident while the host's threads gather the others (gather_rows.py), unless
reading these in place is faster, which the first products measure. Ascetic always gathers, with K = 0.1, and replaces
segments by the kind of algorithm; here one rule serves all (segment_cache.py).
Source: R. Tang, Z. Zhao, K. Wang, X. Gong, J. Zhang, W. Wang, P.-C. Yew, Ascetic: enhancing cross-iterations data
efficiency in out-of-memory graph processing on GPUs, ICPP 2021, doi:10.1145/3472456.3472457.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import (
    Entries,
    Part,
    Wanted,
    double_buffer,
    resident_parts,
    segment_cache,
    transfer_cost,
    whole,
)
from sparsezc.engines.gpu.storage.matrix_store import Rows

#: Ascetic's K: the share of the non-resident entries that a product is expected to read. Ascetic has 0.1; as fetched
#: rows arrive in turns here, less than half of the memory is enough for them, and more can stay resident.
ACTIVE = 0.04
_FETCHING = 8 << 20  # bytes: fetching less than this takes longer in turns than it saves
WAYS = (transfer_cost.IN_PLACE, transfer_cost.GATHERED)  # the transfers that may fetch the rest; Ascetic gathers


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """Yield the resident rows first while the others are gathered; or all rows in one launch, if that is faster."""
    gpu, region = cuda.current(), segment_cache.noted(rows, entries, wanted, RULE)
    if region is None:
        yield whole(rows, None if entries.ids is rows.indices else entries.ids)
        return
    count = rows.nvals if wanted.words is None else wanted.entries or 0
    is_large = count >= segment_cache.LOOK * rows.nvals
    costs = {way: region.costs.get(way, []) for way in WAYS}
    untried = [way for way in WAYS if len(costs[way]) < 2]  # the first time includes compiling kernels
    known = {way: seconds[-1] for way, seconds in costs.items() if seconds} or dict.fromkeys(WAYS[:1], 0.0)
    way = untried[0] if untried and is_large else min(known, key=known.__getitem__)
    # Every time, so that a way that was fast once by chance is corrected.
    start = segment_cache.clock(gpu) if is_large else 0.0
    served = resident_parts.in_one_launch(region, rows, entries)
    if way == transfer_cost.GATHERED:
        try:
            served = resident_parts.gathered(region, rows, entries, wanted)
        except MemoryError:  # no memory for buffers: this is no measurement of gathering
            is_large = False
    yield from served
    if is_large:
        region.costs[way] = [*costs[way][-1:], (segment_cache.clock(gpu) - start) / count]


def resident_share(active: float, data: float, memory: float) -> float:
    """Return Ascetic's share of the memory for resident segments.

    With this share, the rest of the memory just holds the active part of the entries that are not resident (section 4.2
    of the paper: R = (1 - K D / M) / (1 - K)).

    >>> resident_share(0.1, 40e9, 10e9)
    0.6666666666666666
    >>> resident_share(0.1, 200e9, 10e9), resident_share(0.1, 5e9, 10e9)
    (0.0, 1.0)
    """
    return min(1.0, max(0.0, (1 - active * data / memory) / (1 - active)))


def _space(rows: Rows, entries: Entries) -> int:
    """Return the bytes for a region: the budget less vectors and buffers for fetched rows.

    The paper corrects the share when fetched rows overflow their memory while resident memory is idle. Here they come
    in turns, through buffers of a fixed size.
    """
    space = double_buffer.bytes_for_entries(rows)
    if not space:
        return 0
    stays = int(space * resident_share(ACTIVE, rows.nvals * entries.nbytes, space))
    least = max(2 * double_buffer.least(rows, entries.nbytes), min(_FETCHING, space // 8))
    return max(0, min(space - least, stays))


def _rank(reads: Any, which: Any) -> Any:
    """Rank segments; where the rest is gathered, only fully resident rows save time."""
    order = segment_cache.scattered if transfer_cost.IN_PLACE in WAYS else segment_cache.in_order
    return order(reads, which)


RULE = segment_cache.Rule(_space, _rank)
