"""Placement ``cached``: Ascetic, which keeps segments resident and gathers the rest meanwhile.

The rows that are resident as wholes are worked on while the host's threads gather the others (gather_rows.py), unless
reading these in place is faster, which the first products measure. Ascetic gathers always, with K = 0.1, and replaces
by the kind of algorithm; here one rule serves all (segment_cache.py).
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

#: Of the entries that are not kept, the share K that a product is expected to want. Ascetic has 0.1; as fetched
#: rows come in turns here, less than half of the memory does for them, and more can stay.
ACTIVE = 0.04
_FETCHING = 8 << 20  # bytes: with less, what little is fetched would take more turns than it is worth
WAYS = (transfer_cost.IN_PLACE, transfer_cost.GATHERED)  # in which the rest may be fetched; Ascetic gathers


def parts(rows: Rows, entries: Entries, wanted: Wanted) -> Iterator[Part]:
    """The rows in the region first, and meanwhile the others are gathered; or all in one launch, if that is faster."""
    gpu, region = cuda.current(), segment_cache.noted(rows, entries, wanted, RULE)
    if region is None:
        yield whole(rows, None if entries.ids is rows.indices else entries.ids)
        return
    count = rows.nvals if wanted.words is None else wanted.entries or 0
    is_large = count >= segment_cache.LOOK * rows.nvals
    costs = {way: region.costs.get(way, []) for way in WAYS}
    untried = [way for way in WAYS if len(costs[way]) < 2]  # the first time, kernels are compiled
    known = {way: seconds[-1] for way, seconds in costs.items() if seconds} or dict.fromkeys(WAYS[:1], 0.0)
    way = untried[0] if untried and is_large else min(known, key=known.__getitem__)
    start = segment_cache.clock(gpu) if is_large else 0.0  # always: a way that was lucky once is found out
    served = resident_parts.in_one_launch(region, rows, entries)
    if way == transfer_cost.GATHERED:
        try:
            served = resident_parts.gathered(region, rows, entries, wanted)
        except MemoryError:  # the card has no room for buffers: this says nothing of what gathering takes
            is_large = False
    yield from served
    if is_large:
        region.costs[way] = [*costs[way][-1:], (segment_cache.clock(gpu) - start) / count]


def resident_share(active: float, data: float, memory: float) -> float:
    """Ascetic's share of the memory for what stays: with it, the rest of the memory just holds the active part of
    what does not stay. (Section 4.2 of the paper: R = (1 - K D / M) / (1 - K).)

    >>> resident_share(0.1, 40e9, 10e9)
    0.6666666666666666
    >>> resident_share(0.1, 200e9, 10e9), resident_share(0.1, 5e9, 10e9)
    (0.0, 1.0)
    """
    return min(1.0, max(0.0, (1 - active * data / memory) / (1 - active)))


def _room(rows: Rows, entries: Entries) -> int:
    """Bytes for a region: what the budget leaves beside the vectors and the rows that are fetched.

    The paper corrects the share when the fetched rows overflow their memory while others idle. Here they come in turns,
    through buffers that need no more than they have.
    """
    room = double_buffer.bytes_for_entries(rows)
    if not room:
        return 0
    stays = int(room * resident_share(ACTIVE, rows.nvals * entries.nbytes, room))
    least = max(2 * double_buffer.least(rows, entries.nbytes), min(_FETCHING, room // 8))
    return max(0, min(room - least, stays))


def _rank(reads: Any, which: Any) -> Any:
    """Where all is gathered, only rows help that are on the card as wholes."""
    order = segment_cache.scattered if transfer_cost.IN_PLACE in WAYS else segment_cache.in_order
    return order(reads, which)


RULE = segment_cache.Rule(_room, _rank)
