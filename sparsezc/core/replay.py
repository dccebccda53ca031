"""Rounds of a loop that the frontier's engine goes through by itself, where it can: a capability of some engines."""

from __future__ import annotations

from collections.abc import Callable, Generator

from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.expr import engines

__all__ = ["buckets", "rounds"]


def rounds(frontier: Vector, number: int) -> Generator[Scalar, None, int]:
    """Yield the numbers of the rounds that follow; return how many there were, 0 where the engine cannot.

    The body of the loop may run less often than there are rounds: see :func:`sparsezc.algorithms._rounds.rounds`.
    """
    engine, store = frontier._need()
    replay = engines.capability(engine, "replay")(store, number)
    for at in replay or ():
        yield Scalar._on_device(at)
    return 0 if replay is None else replay.rounds


def buckets(
    near: Vector, distance: Vector, limits: tuple[float, float, float], goes_on: Callable[[], bool]
) -> Generator[tuple[Scalar, int], None, tuple[float, int]]:
    """Yield the rounds of delta-stepping that follow: the limit of each, and 0, for the size of `near` is not known.

    Returns the limit after them, and how many there were.

    Parameters
    ----------
    near : Vector
        What lies in the bucket in work.
    distance : Vector, full
    limits : tuple
        Where this bucket ends, how far the next goes beyond the least distance, and where the last ends.
    goes_on : callable
        Asked now and then: no rounds follow once it says no.
    """
    engine, store = near._need()
    replay = engines.capability(engine, "replay_buckets")(store, distance._need()[1], limits, goes_on)
    for at in replay or ():
        yield Scalar._on_device(at), 0
    return (limits[0], 0) if replay is None else (replay.number(), replay.rounds)
