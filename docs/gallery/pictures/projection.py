"""The table of women and events, and the women's ties."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.pairs == found.B.nvals // 2 == 139)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the bipartite graph as a table and its projection on a circle."""
    names = [name.split()[0][0] + ". " + name.split()[1] for name in list(found.G)[:18]]
    figure, (left, right) = style.panels(1, 1.15, height=4.6)
    i, j, _ = found.A.to_coo()
    left.scatter(j, i, s=70, marker="s", c=style.OURS, ec="white")
    left.set_yticks(range(18), names)
    left.set_xticks(range(14), range(1, 15))
    left.set(xlabel="event", title="Who was at which event", xlim=(-0.6, 13.6), ylim=(17.6, -0.6))
    left.tick_params(labelsize=8.5)
    angle = np.pi / 2 - 2 * np.pi * np.arange(18) / 18
    places = np.c_[np.cos(angle), np.sin(angle)]
    i, j, weight = found.B.to_coo()
    for a, b, w in sorted(zip(i, j, weight, strict=True), key=lambda edge: edge[2]):
        if a < b:
            share = w / weight.max()
            right.plot(*places[[a, b]].T, color=style.OURS, lw=3.2 * share, alpha=0.15 + 0.85 * share**2, zorder=1)
    style.vertices(right, places, style.MARKED, 70)
    for (x, y), name in zip(places, names, strict=True):
        side = "left" if x > 0.1 else "right" if x < -0.1 else "center"
        right.text(1.08 * x, 1.08 * y, name, ha=side, va="center", fontsize=8.5)
    style.bare(right, "Ties by Newman's weight")
    right.set(aspect="equal", anchor="C", xlim=(-1.6, 1.6), ylim=(-1.2, 1.2))
    return figure
