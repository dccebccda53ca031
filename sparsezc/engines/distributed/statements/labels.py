"""Moves of rows between labels, by turns: every rank has all labels, and chooses for the rows that it has.

After a turn ranks tell each other which rows moved, in rank order, so that labels and sums stay equal on all: those of
the same loops on one process. The loops are those of the CPU engine, over rows in host memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.labels.arrays import Choosing, Joins, Scratch, Spans
from sparsezc.engines.cpu.labels.loops import loops
from sparsezc.engines.cpu.labels.moves import given_rounds, rounds, totals
from sparsezc.engines.cpu.labels.weights import checked_labels, choose, spans_of, sums_within
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, spread
from sparsezc.engines.distributed.layout import ROWS
from sparsezc.engines.distributed.local_objects import put
from sparsezc.engines.distributed.statements import rowwise
from sparsezc.engines.distributed.statements.walks import lent
from sparsezc.errors import DimensionMismatch, InvalidValue
from sparsezc.expr import turns

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["color_rows", "join_labels", "move_labels"]

Ints = NDArray[np.int64]
_ROUNDS = 64  # of colours; where rows wait for each other longer, one process is as fast


def _whole(engine: DistributedEngine, e: Any, v: Any) -> NDArray[Any]:
    """Return a vector, which must have every entry, on every rank."""
    if v.nvals != e.shape[0]:
        raise InvalidValue(f"{e.operation}: {v.name} has {v.nvals} entries; {e.shape[0]} are needed, one everywhere")
    found: NDArray[Any] = rowwise.whole(engine, v).to_dense()
    return found


def _is_cut(engine: DistributedEngine, e: Any) -> bool:
    A = e.operands[0]
    if A.shape != e.shape * 2:
        raise DimensionMismatch(f"{e.operation}: {A.name} was resized since the expression was made")
    return engine.size > 1 and A._store.layout.along is ROWS


def _put(engine: DistributedEngine, e: Any, out: Any, write: Any, label: NDArray[Any]) -> None:
    """Write this rank's range of a full vector that all have."""
    result = out._store
    mine = np.array(label[result.layout.lo : result.layout.hi], np.int64)
    put(result, engine.local.from_arrays("full", (engine.as_local(mine),), e.dtype, mine.size), write)
    result.changed()


def _told(engine: DistributedEngine, *mine: NDArray[Any]) -> list[NDArray[Any]]:
    """Return arrays of one length on each rank, those of all ranks one after the other."""
    counts = engine.transport.numbers(mine[0].size)[:, 0].copy()
    if not counts.any():
        return list(mine)
    return [engine.transport.gather(np.ascontiguousarray(x), counts) for x in mine]


def _chosen(
    engine: DistributedEngine, e: Any, rows: RowArrays, how: Choosing, listed: Ints
) -> tuple[Spans, Ints, Ints, Ints]:
    """Give rows of all ranks their best labels; return this rank's that moved, and those of all with their labels."""
    spans = spans_of(e, rows, listed)
    best = choose(spans, listed, how)
    places = np.flatnonzero(best != how.label[listed])
    mine = listed[places]
    moved, to = _told(engine, mine, best[places])
    if how.penalty is not None and moved.size:
        loops().retotal(moved, to, how.label, *how.penalty)
    how.label[moved] = to
    return spans.some(places), mine, moved, to


def move_labels(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Move rows until few move; see ops/labels.py."""
    if not _is_cut(engine, e):
        return False
    A, *vectors = e.operands
    given, k, turn = (_whole(engine, e, v) if v.ndim else None for v in vectors[:3])
    assert given is not None
    scale, seed, least = (s.value for s in vectors[3:])
    label = checked_labels(e, given).copy()
    how = Choosing(label, Scratch(label.size), penalty=None if k is None else (k, totals(label, k)), scale=scale)
    every = np.ones(label.size, np.bool_) if k is None else k > 0
    size = int(every.sum())
    layout = A._store.layout
    active = np.zeros(label.size, np.bool_)
    active[layout.lo : layout.hi] = every[layout.lo : layout.hi]
    with lent(engine, A._store) as rows:
        for round_of in rounds(active, seed) if turn is None else given_rounds(active, checked_labels(e, turn)):
            count = 0
            for listed in round_of:
                spans, mine, moved, _ = _chosen(engine, e, rows, how, listed)
                count += moved.size
                if moved.size > size // turns.MANY:
                    active[layout.lo : layout.hi] = True
                elif moved.size:
                    _wake(engine, layout, spans, mine, active)
            if count <= least * size if turn is None else not count:
                break
    _put(engine, e, out, write, label)
    return None


def _wake(engine: DistributedEngine, layout: Any, spans: Spans, mine: Ints, active: NDArray[np.bool_]) -> None:
    """Make the neighbours of this rank's rows that moved active on the ranks that have them."""
    woken = np.zeros(active.size, np.bool_)
    loops().wake(spans, mine, woken)
    at = np.flatnonzero(woken)
    sent = np.diff(np.searchsorted(at, layout.bounds))
    received = engine.transport.numbers(*sent.tolist())[:, engine.rank].copy()
    active[engine.transport.scatter(at, sent, received)] = True


def join_labels(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Join rows to labels within their groups, each at most once; see ops/labels.py."""
    if not _is_cut(engine, e):
        return False
    A, *vectors = e.operands
    group, k = (_whole(engine, e, v) for v in vectors[:2])
    scale, seed = (s.value for s in vectors[2:])
    within = checked_labels(e, group)
    n, layout = within.size, A._store.layout
    own = np.arange(layout.lo, layout.hi)
    with lent(engine, A._store) as rows:
        inside = _told(engine, sums_within(spans_of(e, rows, own), own, within))[0]
        whole, cut, label = totals(within, k), inside.copy(), np.arange(n)
        alone = (inside > 0) & (inside - (whole[within] - k) * k * scale >= 0)
        a, b = turns.multipliers(seed, 1)[0]
        how = Choosing(label, Scratch(n), penalty=(k, k.copy()), scale=scale, within=within)
        mine_only = np.zeros(n, np.bool_)
        mine_only[layout.lo : layout.hi] = True
        for turn in range(turns.TURNS):
            listed = loops().list_turn(alone & mine_only, a, b, turn, clears=False)
            joins = Joins(cut, whole, alone, a, b, turn)
            spans, mine, moved, to = _chosen(engine, e, rows, how._replace(joins=joins), listed)
            alone[moved] = alone[to] = False
            if moved.size:
                more = np.zeros(n)
                if mine.size:
                    loops().join_cuts(spans, mine, label, within, inside, joins._replace(cut=more))
                at = np.unique(label[mine])
                targets, added = _told(engine, at, more[at])
                np.add.at(cut, targets, added)
    _put(engine, e, out, write, label)
    return None


def color_rows(engine: DistributedEngine, e: Any, out: Any, write: Any) -> bool | None:
    """Colour rows: in each round those choose whose neighbours that come before them have chosen."""
    if not _is_cut(engine, e):
        return False
    A, vector = e.operands
    order = _whole(engine, e, vector)
    layout = A._store.layout
    color = np.full(e.shape[0], -1)
    left = np.arange(layout.lo, layout.hi)
    with lent(engine, A._store) as rows:
        begin, end = rows.ends(left)
        i, at = spread(left, begin, end - begin)
        j = rows.indices[at]
    before = (order[j] > order[i]) | ((order[j] == order[i]) & (j < i))
    i, j = i[before], j[before]
    for _ in range(_ROUNDS):
        waits = np.zeros(layout.hi - layout.lo, np.bool_)
        waits[i[color[j] < 0] - layout.lo] = True
        ready = left[~waits[left - layout.lo]]
        chosen, colors = _told(engine, ready, _smallest_free(i, color[j], ready, layout.lo, waits))
        if not chosen.size:
            break
        color[chosen] = colors
        left = left[waits[left - layout.lo]]
        kept = waits[i - layout.lo]
        i, j = i[kept], j[kept]
    if (color < 0).any():
        return False
    _put(engine, e, out, write, color)
    return None


def _smallest_free(i: Ints, colors: Ints, ready: Ints, lo: int, waits: NDArray[np.bool_]) -> Ints:
    """Return the smallest number of each row that none of its neighbours has, by entries (row, neighbour's colour)."""
    of_ready = ~waits[i - lo]
    place, used = np.searchsorted(ready, i[of_ready]), colors[of_ready]
    width = int(used.max(initial=0)) + 1
    pairs = np.unique(place * width + used)
    place, used = pairs // width, pairs % width
    first = np.searchsorted(place, np.arange(ready.size))
    matches = used == np.arange(used.size) - first[place]  # until the first gap
    found: Ints = np.bincount(place[matches], minlength=ready.size).astype(np.int64)
    return found
