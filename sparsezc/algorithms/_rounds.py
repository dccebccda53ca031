"""The loop over a frontier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparsezc.matrix import Matrix
from sparsezc.scalar import Scalar
from sparsezc.vector import Vector

#: Rounds after which an engine may go on by itself: more than a search of a social or web graph has.
_PATIENCE = 16


def rounds(frontier: Vector | Matrix) -> Iterator[Any]:
    """0, 1, 2 ..., for as long as `frontier` has entries when a round begins.

    An engine may go through the body without coming back after each round, and a few times more often than there are
    rounds. So the body must change nothing while the frontier is empty and read nothing of what it writes; the round's
    number may be a Scalar, which can be assigned and no more.
    """
    number = 0
    while frontier.nvals:
        yield number
        number += 1
        if frontier.ndim == 1 and number % _PATIENCE == 0:
            engine, store = frontier._need()
            replay = engine.replay(store, number)
            if replay is not None:
                for at in replay:
                    yield Scalar._on_device(at)
                number = replay.depth
