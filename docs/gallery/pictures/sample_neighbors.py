"""The share of draws with each edge, beside the exact expectation."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def inclusion(weights: np.ndarray, k: int) -> np.ndarray:
    """Return the probability that each edge is among k drawn successively without replacement, by all orders."""
    chance = np.zeros(len(weights))
    for order in permutations(range(len(weights)), k):
        p, left = 1.0, weights.sum()
        for j in order:
            p *= weights[j] / left
            left -= weights[j]
        chance[list(order)] += p
    return chance


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.once.nvals == 60_000 == found.often.reduce_scalar("plus").new().get())


def draw(found: SimpleNamespace) -> Figure:
    """Draw both ways of sampling."""
    weights, count = np.array(found.weights, float), len(found.draws)
    figure, axes = style.panels(1, 1, height=3.3)
    once = found.once.apply("one").new()
    cases = (
        ("Without replacement", "share of the draws with the edge", once, inclusion(weights, 3)),
        ("With replacement", "times an edge is drawn, mean", found.often, 3 * weights / weights.sum()),
    )
    for panel, (title, label, S, exact) in zip(axes, cases, strict=True):
        drawn = S.reduce_columnwise("plus").new().to_dense(0)[1:] / count
        panel.bar(range(8), drawn, color=style.OURS, width=0.7, label="drawn")
        panel.plot(range(8), exact, "o", color=style.MARKED, mec=style.INK, mew=0.7, ms=6, label="exact")
        panel.set_xticks(range(8), found.weights)
        panel.set(xlabel="weight of the edge", ylabel=label, title=title)
        panel.legend(loc="upper left")
    return figure
