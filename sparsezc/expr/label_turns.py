"""Turns of vertices that move between communities: the rules of ``move_labels`` and ``join_labels`` for all engines.

A vertex v has turn ``((h ^ h >> 32) b mod 2**64) >> 61`` of eight, ``h = v a mod 2**64``; the odd multipliers a and b
of each round are random. The vertices of a turn choose at once, from the labels and totals after the turn before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LAST", "MANY", "ROUNDS", "TURNS", "multipliers", "turn_of"]

TURNS = 8  # parts of a round; with 2, communities swap their vertices
ROUNDS = 64  # the most rounds of a statement; it takes 3 to 20
LAST = 1 << 16  # the most rounds with given turns, in case rows of one turn never settle
MANY = 32  # if more than 1 of 32 vertices moved in a turn, all become active: less work than marking neighbours


def multipliers(seed: int, rounds: int = ROUNDS) -> NDArray[np.uint64]:
    """Return the odd multipliers a and b of each round, of shape (rounds, 2)."""
    drawn = np.random.default_rng(seed).integers(2**62, size=(rounds, 2), dtype=np.uint64)
    return 2 * drawn + np.uint64(1)


def turn_of(vertices: NDArray[np.int64], a: np.uint64, b: np.uint64) -> NDArray[np.uint64]:
    """Return the turn of each vertex, from 0 to 7."""
    mixed = vertices.view(np.uint64) * a
    mixed ^= mixed >> np.uint64(32)
    mixed *= b
    mixed >>= np.uint64(61)
    return mixed
