"""Moves of rows between labels, by label turns: every rank has all labels, and chooses those of its own rows.

After a turn ranks exchange the rows that moved, in rank order, so that labels and sums stay equal on all ranks, and
equal to those of the same loops on one process. The loops are those of the CPU engine, over rows in host memory; on
GPUs kernels read the rows where they are stored (labels_in_place.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.labels.arrays import Choosing, Joins, Scratch, Spans
from sparsezc.engines.cpu.labels.moves import given_rounds, rounds, totals
from sparsezc.engines.cpu.labels.numba_loops import loops
from sparsezc.engines.cpu.labels.weights import checked_labels, choose, spans_of, sums_within
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, spread
from sparsezc.engines.distributed.parts.local_objects import put
from sparsezc.engines.distributed.parts.partition import ROWS
from sparsezc.engines.distributed.statements import labels_in_place, rowwise
from sparsezc.engines.distributed.statements.walks import lent
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr import label_turns

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["color_rows", "join_labels", "move_labels"]

Ints = NDArray[np.int64]
_ROUNDS = 32  # rounds of colouring: the few rows that are left wait for each other in chains
_FEW = 16  # if at most one row in so many is left, every rank colours all of these


def _whole(engine: DistributedEngine, e: Any, v: Any) -> NDArray[Any]:
    """Return the whole of a vector as an array, on every rank; raise an error if an entry is absent."""
    if v.nvals != e.shape[0]:
        raise InvalidValue(f"{e.operation}: {v.name} has {v.nvals} entries; {e.shape[0]} are needed, one everywhere")
    found: NDArray[Any] = rowwise.whole(engine, v).to_dense()
    return found


def _is_cut(engine: DistributedEngine, e: Any) -> bool:
    A = e.operands[0]
    if A.shape != e.shape * 2:
        raise DimensionMismatch(f"{e.operation}: {A.name} was resized since the expression was made")
    return engine.size > 1 and A._store.partition.along is ROWS


def _put(engine: DistributedEngine, e: Any, out: Any, write: Any, label: NDArray[Any]) -> None:
    """Write this rank's range of a full vector that all ranks have."""
    partition = out._store.partition
    _write(engine, e, out, write, engine.as_local(np.array(label[partition.lo : partition.hi], np.int64)))


def _write(engine: DistributedEngine, e: Any, out: Any, write: Any, mine: Any) -> None:
    """Write this rank's range, int64 in the local engine's memory."""
    put(out._store, engine.local.from_arrays("full", (mine,), e.dtype, int(mine.size)), write)
    out._store.changed()


def _told(engine: DistributedEngine, *mine: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the arrays of all ranks, concatenated in rank order; those of one rank have one length."""
    counts = engine.transport.numbers(mine[0].size)[:, 0].copy()
    if not counts.any():
        return list(mine)
    return [engine.transport.gather(np.ascontiguousarray(x), counts) for x in mine]


def _chosen(
    engine: DistributedEngine, e: Any, rows: RowArrays, how: Choosing, listed: Ints
) -> tuple[Spans, Ints, Ints, Ints]:
    """Move all ranks' listed rows to their best labels; return this rank's moved rows, and all with their labels."""
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
    turn = None if turn is None else checked_labels(e, turn)
    every = np.ones(label.size, np.bool_) if k is None else k > 0
    size, partition = int(every.sum()), A._store.partition
    moves = labels_in_place.moves_of(engine, e, label, k, scale, joins=False)
    if moves is not None:
        _write(engine, e, out, write, labels_in_place.moved(engine, moves, partition, seed, turn, least, size))
        return None
    how = Choosing(label, Scratch(label.size), penalty=None if k is None else (k, totals(label, k)), scale=scale)
    active = np.zeros(label.size, np.bool_)
    active[partition.lo : partition.hi] = every[partition.lo : partition.hi]
    with lent(engine, A._store) as rows:
        for round_of in rounds(active, seed) if turn is None else given_rounds(active, turn):
            count = 0
            for listed in round_of:
                spans, mine, moved, _ = _chosen(engine, e, rows, how, listed)
                count += moved.size
                if moved.size > size // label_turns.MANY:
                    active[partition.lo : partition.hi] = True
                elif moved.size:
                    _wake(engine, partition, spans, mine, active)
            if count <= least * size if turn is None else not count:
                break
    _put(engine, e, out, write, label)
    return None


def _wake(engine: DistributedEngine, partition: Any, spans: Spans, mine: Ints, active: NDArray[np.bool_]) -> None:
    """Make the neighbours of this rank's rows that moved active on the ranks that have them."""
    woken = np.zeros(active.size, np.bool_)
    loops().wake(spans, mine, woken)
    at = np.flatnonzero(woken)
    sent = np.diff(np.searchsorted(at, partition.bounds))
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
    n, partition = within.size, A._store.partition
    moves = labels_in_place.moves_of(engine, e, within, k, scale, joins=True)
    if moves is not None:
        _write(engine, e, out, write, labels_in_place.joined(engine, moves, partition, seed))
        return None
    own = np.arange(partition.lo, partition.hi)
    with lent(engine, A._store) as rows:
        inside = _told(engine, sums_within(spans_of(e, rows, own), own, within))[0]
        whole, cut, label = totals(within, k), inside.copy(), np.arange(n)
        alone = (inside > 0) & (inside - (whole[within] - k) * k * scale >= 0)
        a, b = label_turns.multipliers(seed, 1)[0]
        how = Choosing(label, Scratch(n), penalty=(k, k.copy()), scale=scale, within=within)
        mine_only = np.zeros(n, np.bool_)
        mine_only[partition.lo : partition.hi] = True
        for turn in range(label_turns.TURNS):
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
    """Colour rows: in each round those rows choose a colour whose preceding neighbours all have one.

    The last rows, in the densest part of the graph, are coloured one after the other, by every rank.
    """
    if not _is_cut(engine, e):
        return False
    A, vector = e.operands
    order = _whole(engine, e, vector)
    in_place = labels_in_place.colored(engine, e, order)
    if in_place is not None:
        _write(engine, e, out, write, in_place)
        return None
    partition = A._store.partition
    color = np.full(e.shape[0], -1)
    left = np.arange(partition.lo, partition.hi)
    with lent(engine, A._store) as rows:
        begin, end = rows.ends(left)
        i, at = spread(left, begin, end - begin)
        j = rows.indices[at]
    before = (order[j] > order[i]) | ((order[j] == order[i]) & (j < i))
    i, j = i[before], j[before]
    firsts = np.searchsorted(i, np.arange(partition.lo, partition.hi + 1))
    met = np.full(i.size, -1)  # the colour of each preceding neighbour, once it has one
    open_ = np.arange(i.size)
    for _ in range(_ROUNDS):
        found = color[j[open_]]
        met[open_] = found
        open_ = open_[found < 0]
        waits = np.zeros(partition.hi - partition.lo, np.bool_)
        waits[i[open_] - partition.lo] = True
        ready = left[~waits[left - partition.lo]]
        first, last = (firsts[ready - partition.lo + k] for k in (0, 1))
        place, at = spread(np.arange(ready.size), first, last - first)
        chosen, colors = _told(engine, ready, _smallest_free(place, met[at], ready.size))
        if not chosen.size:
            break
        color[chosen] = colors
        left = left[waits[left - partition.lo]]
    rest = int(engine.transport.numbers(left.size)[:, 0].sum())
    if rest * _FEW > color.size:
        return False
    if rest:
        waiting = color[i] < 0
        _one_by_one(color, order, *_told(engine, i[waiting], j[waiting]))
    _put(engine, e, out, write, color)
    return None


def _one_by_one(color: Ints, order: Ints, i: Ints, j: Ints) -> None:
    """Colour rows one after the other by `order`; `i`, ascending, and `j` list rows and their preceding neighbours."""
    rows = np.unique(i)
    first, last = np.searchsorted(i, rows), np.searchsorted(i, rows, side="right")
    for k in np.argsort(~order[rows], kind="stable").tolist():
        used = color[j[first[k] : last[k]]]
        has = np.zeros(used.size + 1, np.bool_)
        has[used[used < has.size]] = True
        color[rows[k]] = int(np.argmin(has))


def _smallest_free(place: Ints, used: Ints, count: int) -> Ints:
    """Return the smallest colour that each row may have, by pairs of a row, `place`, and a colour `used` next to it."""
    width = int(used.max(initial=0)) + 1
    pairs = np.unique(place * width + used)
    place, used = pairs // width, pairs % width
    first = np.searchsorted(place, np.arange(count))
    matches = used == np.arange(used.size) - first[place]  # until the first gap
    found: Ints = np.bincount(place[matches], minlength=count).astype(np.int64)
    return found
