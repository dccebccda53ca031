"""Walks on a lattice, and their mean distance from the start, by p and q."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style

COLORS = (style.GREEN, style.BLUE, style.VERMILION)


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool([W.shape for W in found.walks.values()] == [(400, 101)] * 3)


def draw(found: SimpleNamespace) -> Figure:
    """Draw three walks of each kind and the mean distance of all."""
    place = np.array([found.G.nodes[name]["pos"] for name in found.G])
    start = place[found.middle]
    figure, axes = style.panels(1, 1, 1, 1.25, height=2.6)
    for panel, ((p, q), W), color in zip(axes[:3], found.walks.items(), COLORS, strict=True):
        steps = W.to_dense()
        for walk, shade in zip(steps[:3], (1.0, 0.65, 0.4), strict=True):
            panel.plot(*(place[walk] - start).T, color=color, alpha=shade, lw=1.3, solid_joinstyle="round")
        panel.plot(0, 0, "o", color=style.MARKED, mec=style.INK, ms=6, zorder=5)
        panel.set(xlim=(-16, 16), ylim=(-16, 16), aspect="equal")
        style.bare(panel, f"p = {p}, q = {q}")
        away = np.linalg.norm(place[steps] - start, axis=2).mean(axis=0)
        axes[3].plot(away, color=color)
        axes[3].text(len(away), away[-1], f"{p}, {q}", va="center")
    axes[3].set(xlabel="step", ylabel="mean distance, edges", title="400 walks (p, q)", xlim=(0, 124), ylim=(0, None))
    axes[3].set_xticks([0, 50, 100])
    return figure
