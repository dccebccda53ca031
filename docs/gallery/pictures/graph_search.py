"""Walks over a field of scores, by mode."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(np.all(np.diff([found.scores[W.to_dense()].mean() for W in found.walks.values()]) > 0.1))


def draw(found: SimpleNamespace) -> Figure:
    """Draw the walks of each mode over the scores."""
    side = found.side
    figure, axes = style.panels(1, 1, 1, height=3.5)
    for panel, (mode, W) in zip(axes, found.walks.items(), strict=True):
        shown = panel.imshow(found.scores.reshape(side, side), cmap=style.MAP, origin="lower", vmin=0, vmax=1)
        y, x = np.divmod(W.to_dense(), side)
        for across, up in zip(x, y, strict=True):
            panel.plot(across, up, color="white", lw=1.1, alpha=0.9)
        panel.plot(x[:, 0], y[:, 0], "o", color=style.MARKED, mec=style.INK, ms=5, ls="")
        style.bare(panel, f"{mode}: mean score {found.scores[W.to_dense()].mean():.2f}")
    figure.colorbar(shown, ax=axes, label="score", shrink=0.85, aspect=25, ticks=[0, 0.5, 1])
    return figure
