"""Moves of rows between labels, and colours, on GPUs, each of which reads its rows where they are stored.

The steps are those of labels.py, with arrays in device memory: after each label turn ranks exchange the rows that
moved; after each round of colouring, the rows that chose, and for each waiting row how many of its neighbours chose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.parts.local_objects import array_module
from sparsezc.engines.distributed.parts.row_exchange import on_host
from sparsezc.engines.distributed.statements import padded_rows
from sparsezc.expr import engines, label_turns
from sparsezc.expr.expression import Expression

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["colored", "joined", "moved", "moves_of"]

Ints = NDArray[np.int64]


def moves_of(
    engine: DistributedEngine, e: Any, start: Ints, shares: NDArray[Any] | None, scale: float, *, joins: bool
) -> Any:
    """Return the local engine's moves of this rank's rows; None: it cannot move rows in place."""
    store = e.operands[0]._store
    if not engine.on_device:
        return None
    local = engine.local.settled(padded_rows.widened(engine, store))
    here = Expression(e.operation, (local,), e.op, e.dtype, e.shape)
    made = engines.capability(engine.local.engine, "shared_moves")
    return made(here, store.partition.lo, store.partition.hi, start, shares, scale, joins=joins)


def moved(
    engine: DistributedEngine, moves: Any, partition: Any, seed: int, turn: Ints | None, least: float, size: int
) -> Any:
    """Move rows until few of `size` move, or, if `turn` gives their turns, none; return this rank's labels."""
    rounds, count, given = moves.rounds(seed, turn)
    for a, b in rounds:
        total = 0
        for number in range(count):
            counts = _take_turn(engine, moves, given, a, b, number)
            now = int(counts.sum())
            total += now
            if now > size // label_turns.MANY:
                moves.wake_all()
            elif now:
                _wake(engine, moves, partition)
        if total <= least * size if turn is None else not total:
            break
    return moves.label


def _take_turn(engine: DistributedEngine, moves: Any, given: Any, a: Any, b: Any, number: int) -> Ints:
    """Move the rows of all ranks whose turn it is; return how many rows of each rank moved."""
    rows, to = moves.choose(given, a, b, number)
    counts: Ints = engine.transport.numbers(rows.size)[:, 0].copy()
    if counts.any():
        moves.take(*engine.transport.gather_both(rows, to, counts, counts))
    return counts


def _wake(engine: DistributedEngine, moves: Any, partition: Any) -> None:
    """Wake the neighbours of rows that moved, on the ranks that have them."""
    at = moves.woken()
    sent, received = _sizes(engine, at, partition)
    moves.wake(engine.transport.scatter(at, sent, received))


def _sizes(engine: DistributedEngine, at: Any, partition: Any) -> tuple[Ints, Ints]:
    """Return, for each rank, how many of the ascending positions `at` it owns, and how many it sends to this one."""
    sent = np.diff(on_host(array_module(at).searchsorted(at, engine.as_local(partition.bounds))))
    return sent, engine.transport.numbers(*sent.tolist())[:, engine.rank].copy()


def _pieces(counts: Ints, *arrays: Any) -> list[tuple[Any, ...]]:
    """Return, for each rank, its part of each array."""
    ends = np.cumsum(counts).tolist()
    return [tuple(x[first:last] for x in arrays) for first, last in zip([0, *ends], ends, strict=False)]


def joined(engine: DistributedEngine, moves: Any, partition: Any, seed: int) -> Any:
    """Join rows to labels, each at most once; return this rank's labels."""
    moves.begin_joins(engine.transport.gather(moves.inside, partition.sizes))
    a, b = label_turns.multipliers(seed, 1)[0]
    for turn in range(label_turns.TURNS):
        if _take_turn(engine, moves, 0, a, b, turn).any():
            at, changes = moves.cuts()
            counts = engine.transport.numbers(at.size)[:, 0].copy()
            at, changes = engine.transport.gather_both(at, changes, counts, counts)
            for piece in _pieces(counts, at, changes):  # ranks may list the same label
                moves.add_cuts(*piece)
    return moves.label


def colored(engine: DistributedEngine, e: Any, order: Ints) -> Any:
    """Return the colours of this rank's rows; None where the local engine does not colour them in place."""
    store = e.operands[0]._store
    partition = store.partition
    if not engine.on_device:
        return None
    local = engine.local.settled(padded_rows.widened(engine, store))._store
    colors = engines.capability(engine.local.engine, "shared_colors")(local, order, partition.lo, partition.hi)
    while colors is not None:
        rows, found = colors.choose()
        counts = engine.transport.numbers(rows.size)[:, 0].copy()
        if not counts.any():
            break
        colors.take(*engine.transport.gather_both(rows, found, counts, counts))
        at, freed = colors.freed()
        sent, received = _sizes(engine, at, partition)
        colors.free(_pieces(received, *engine.transport.scatter_both(at, freed, (sent, sent), (received, received))))
    return None if colors is None else colors.color
