"""Loops of searches: a round for each level or bucket, until the frontier is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from sparsezc.algorithms._lengths import infinity
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import monoid, select
from sparsezc.terminal.progress import steps

#: Rounds after which an engine may run the loop without the host: more than a search of a social or web graph takes.
_PATIENCE = 16


def searched(A: Matrix, frontier: Vector | Matrix, *, parents: bool = False) -> Any:
    """Return the levels or parents of a search from `frontier`; None if the engine of `A` cannot run the whole loop.

    The values of `frontier` are the parents of its vertices.
    """
    return engine_loops.search(A, frontier, parents=parents) if isinstance(frontier, Vector) else None


def rounds(frontier: Vector | Matrix) -> Iterable[Any]:
    """Yield the round's number, 0, 1, 2 ..., as long as `frontier` has entries when a round begins.

    An engine may replay the loop's body without returning to the host after each round, and a few times more often than
    there are rounds. Therefore the body must change nothing while the frontier is empty, and the host must not read its
    results within the loop; the round's number may be a Scalar that can only be assigned.
    """
    return steps(_rounds(frontier), "rounds")


def _rounds(frontier: Vector | Matrix) -> Iterator[Any]:
    number = 0
    while frontier.nvals:
        yield number
        number += 1
        if isinstance(frontier, Vector) and number % _PATIENCE == 0:
            number += yield from engine_loops.rounds(frontier, number)


def buckets(
    near: Vector, distance: Vector, step: float, last: float, target: int | None = None, *, nonnegative: bool
) -> Iterable[tuple[Any, int]]:
    """Yield (limit, number of entries of `near`) for each round of delta-stepping, as long as `near` has entries.

    If a round leaves `near` empty, the limit rises to the least distance beyond it plus `step`, at most to `last`, and
    `near` becomes the vertices within the limit. The rounds end early if an integer distance has wrapped around, and
    once all vertices as near as `target` are settled.

    Parameters
    ----------
    near : Vector
        The vertices of the bucket whose distances fell in the round before; the body changes it.
    distance : Vector, full
        Infinite, or an integer's largest value, at vertices that are not reached.
    step, last : number
        The width of a bucket, which is also the first limit, and the largest possible distance.
    target : int, optional
        A vertex: larger distances than its own are not computed. It must be None if a length is negative.
    nonnegative : bool
        True if no length is negative. Then an engine may replay the body without the host, as in :func:`rounds`: the
        limit is a Scalar that can only be compared with, and the number of entries is given as 0, which stands for
        an unknown small number.
    """
    return steps(_buckets(near, distance, step, last, target, nonnegative=nonnegative), "rounds")


def _buckets(
    near: Vector, distance: Vector, step: float, last: float, target: int | None, *, nonnegative: bool
) -> Iterator[tuple[Any, int]]:
    dtype, limit, number = distance.dtype, step, 0

    def is_sound() -> bool:
        return not dtype.is_integer or near.reduce(monoid.min).new().get(0) >= 0

    def farthest() -> Any:
        return last if target is None else min(last, distance.get(target))

    def is_searching(most: float) -> bool:
        return is_sound() and bool(farthest() == most)

    while near.nvals:
        yield limit, near.nvals
        last = farthest()
        if limit > last:
            limit = last
            near << near.select(select.valuele[dtype], limit)
        if not near.nvals and limit < last:
            beyond = distance.select(select.valuegt[dtype], limit).new()
            least = beyond.reduce(monoid.min).new().get(infinity(dtype))
            if least < infinity(dtype):
                limit = min(least + step, last)
                near << beyond.select(select.valuele[dtype], limit)
        number += 1
        if number % _PATIENCE or not nonnegative:
            continue
        if not is_sound():
            return
        limit, rounds_more = yield from engine_loops.buckets(
            near, distance, (limit, step, last), partial(is_searching, last)
        )
        number += rounds_more
