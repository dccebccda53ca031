"""Turns of vertices that move between communities: the rules of ``move_labels`` and ``join_labels`` for all engines.

A vertex v has turn ``((h ^ h >> 32) b mod 2**64) >> 61`` of eight, ``h = v a mod 2**64``; the odd multipliers a and b
of each round are random. The vertices of a turn choose at once, by the labels and totals of the turn before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LAST", "MANY", "ROUNDS", "TURNS", "multipliers", "turn_of"]

TURNS = 8  # parts of a round; with 2, communities swap their vertices
ROUNDS = 64  # at most, of one statement; it takes 3 to 20
LAST = 1 << 16  # the last round where turns are given and rows of a turn may wait for each other for ever
MANY = 32  # a turn in which more than one of so many vertices moved lets all look again, which is then the least work


def multipliers(seed: int, rounds: int = ROUNDS) -> NDArray[np.uint64]:
    """Return the multipliers a and b of each round."""
    drawn = np.random.default_rng(seed).integers(2**62, size=(rounds, 2), dtype=np.uint64)
    return 2 * drawn + np.uint64(1)


def turn_of(vertices: NDArray[np.int64], a: np.uint64, b: np.uint64) -> NDArray[np.uint64]:
    """Return the turns of some vertices."""
    mixed = vertices.view(np.uint64) * a
    mixed ^= mixed >> np.uint64(32)
    mixed *= b
    mixed >>= np.uint64(61)
    return mixed
