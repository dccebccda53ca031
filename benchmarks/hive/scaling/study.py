"""Costs of the HIVE applications by the formulas of Gunrock's scaling study.

Operations are per part, in elements that kernels access; bytes are those of the study's column "communication cost".
Contraction of a graph, samples and flows have the study's own constants.

Source: Gunrock, HIVE year 1 report, "Scaling analysis for HIVE applications", 2018, section "Scaling of the HIVE
applications", https://gunrock.github.io/docs/#/hive/hive_scaling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple


class Cost(NamedTuple):
    """The operations and the bytes of a part."""

    operations: float
    nbytes: float


class Sizes(NamedTuple):
    """The vertices of a graph, and the entries of its adjacency matrix."""

    V: float
    E: float

    @property
    def d(self) -> float:
        """The mean degree."""
        return self.E / max(self.V, 1)


def louvain(p: int, rounds: list[tuple[Sizes, float]], contracted: list[tuple[Sizes, float]]) -> Cost:
    """Return the cost of rounds of moves (graph, times) and of contractions (graph, entries after)."""
    moves = sum(10 * (g.E + g.V) / p * times for g, times in rounds)
    merges = sum(5 * g.E / p + after for g, after in contracted)
    return Cost(
        moves + merges, sum(20 * g.V * times for g, times in rounds) + sum(8 * after for _, after in contracted)
    )


def graphsage(p: int, g: Sizes, C: int, L: int, F: int, widths: tuple[int, int]) -> Cost:
    """Return the cost of embedding every vertex, V/p on a part; `widths` are Wf.y + Wa.y of both layers."""
    B, first, second = g.V / p, *widths
    return Cost(
        B * (C + 3 * C * F + 3 * L * C * F + first * (C * F + C + F + second)),
        8 * B * C + 4 * B * (F + first) * min(C, 2 * p),
    )


def walks(p: int, steps: float, read: float = 1.0, before: float = 0.0) -> Cost:
    """Return the cost of walks of `steps` steps, each reading `read` neighbours, after `before` entries read once."""
    return Cost((steps * read + before) / p, 24 * steps / p)


def geolocation(p: int, g: Sizes, rounds: int) -> Cost:
    """Return the cost of rounds that send every vertex's place, the study's explicit movement."""
    return Cost(rounds * 100 * g.E / p, rounds * 16 * g.V)


def nomination(p: int, g: Sizes, updates: float) -> Cost:
    """Return the cost if each vertex's distance is updated `updates` times on average."""
    return Cost(updates * g.E / p, updates * g.V / p * min(g.d, p) * 8)


def scan(p: int, g: Sizes, wedges: float) -> Cost:
    """Return the cost of checking `wedges` wedges an entry in sorted rows."""
    checks = wedges * g.E / p
    return Cost(g.d * g.E / p + checks * math.log2(max(g.d, 2)) + 2 * g.V + g.V / p, 12 * checks + 8 * g.V)


def projection(p: int, g: Sizes, pairs: float) -> Cost:
    """Return the cost of a projection to `pairs` entries."""
    return Cost(2 * g.d * g.E / p + 2 * pairs, 12 * pairs)


def clustering(p: int, g: Sizes, rounds: int) -> Cost:
    """Return the study's upper bound: ranks are propagated over all vertices in every round."""
    return Cost(rounds * (12 * g.V + 2 * g.E) / p, rounds * 8 * g.V)


def fused_lasso(p: int, g: Sizes) -> Cost:
    """Return the bound of push-relabel, which the study's program runs; ours descends in the dual instead."""
    V, E, d = g.V, g.E, g.d
    return Cost((V + 2) * V * E / p + 2 * E / p + V / p, V * V * ((V + 1) * d / p + 1) * 8 + 8 * V + 4 * V / p)


#: The study's summary: the ratio of computation to communication, and the expected scaling.
SUMMARY: Mapping[str, tuple[str, str]] = {
    "louvain": ("E/p : 2V", "okay"),
    "graphsage": ("CF : 4 min(C, 2p)", "good"),
    "walks": ("1 : 24", "very poor"),
    "search, uniform": ("1 : 24", "very poor"),
    "search, greedy": ("1 : 24 with a pre-visit", "very poor"),
    "search, stochastic": ("d : 24", "poor"),
    "geolocation": ("25E/p : 4V", "okay"),
    "nomination": ("E : 8V min(d, p)", "okay"),
    "scan statistics": ("d + a log d : 12", "okay"),
    "fused lasso": ("a : 8", "less than okay"),
    "projection": ("dE/p + E' : 6E'", "okay"),
    "local clustering": ("(6 + d)/p : 4", "good"),
    "matching": ("not covered", "-"),
    "classification": ("not covered", "-"),
    **dict.fromkeys(
        ("filtering", "leiden", "bfs", "sssp", "pagerank", "components", "betweenness", "triangles"),
        ("not in the study", "-"),
    ),
}
