"""Disagreements of two networks before and after matching, and the share of right matches by number of seeds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(right(found, 0) < 0.1 and right(found, 18) == 1)


def right(found: SimpleNamespace, seeds: int) -> float:
    """Return the share of the other vertices that are matched correctly with this number of seeds."""
    return float((found.matched[seeds][seeds:] == found.who[seeds:]).mean())


def draw(found: SimpleNamespace) -> Figure:
    """Draw the disagreements with the last number of seeds, and the share of right matches."""
    A, B = (each.to_dense(0) for each in (found.A, found.B))
    n, seeds = len(A), list(found.matched)
    match = found.matched[seeds[-1]]
    figure, axes = style.panels(1, 1, 1.15, height=3.4)
    cases = (("Before", B), (f"With {seeds[-1]} seeds", B[np.ix_(match, match)]))
    for panel, (title, other) in zip(axes[:2], cases, strict=True):
        i, j = np.nonzero(other != A)
        panel.scatter(j, i, s=1.2, c=style.PUBLISHED, linewidths=0, rasterized=True)
        panel.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", xlabel="vertex", ylabel="vertex")
        style.bare(panel, f"{title}: {i.size:,} differ")
    axes[2].plot(seeds, [100 * right(found, k) for k in seeds], "o-", color=style.OURS, ms=5)
    axes[2].set(xlabel="seeds", ylabel="other vertices matched rightly, %", title="Seeds that it takes", ylim=(-3, 103))
    return figure
