"""A network twice: the widest and the most reliable paths from a vertex."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import sparsezc as gb
from docs.gallery.pictures import style


def links(axes: Any, found: SimpleNamespace, widths: Any, color: str, which: Any = slice(None)) -> None:
    """Draw links, each with its width."""
    lines = np.stack([found.places[found.i], found.places[found.j]], axis=1)
    axes.add_collection(LineCollection(lines[which], colors=color, linewidths=widths, zorder=1))


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(
        found.chance.isclose(
            gb.algorithms.sssp(found.R.apply("log").apply("ainv").new(), 0).apply("ainv").apply("exp").new()
        )
    )


def draw(found: SimpleNamespace) -> Figure:
    """Draw the widest paths and the most reliable paths."""
    figure, (left, right) = style.panels(1, 1.12, height=4.4)
    links(left, found, 0.35 * found.gbit + 0.4, style.PALE)
    width, chance = found.width.to_dense(), found.chance.to_dense()
    for gbit, color in zip((10, 4, 1), (style.OURS, style.GREEN, style.PUBLISHED), strict=True):
        some = width == gbit
        if some.any():
            style.vertices(left, found.places[some], color, 60, label=f"{gbit} Gbit/s")
    left.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, 0.0), handletextpad=0.2)
    style.bare(left, "Widest paths")
    before, after = chance[found.i], chance[found.j]
    used = np.isclose(np.minimum(before, after), np.maximum(before, after) * found.works)
    links(right, found, 0.6, style.PALE)
    links(right, found, 1.6, style.GREY, used)
    shown = style.vertices(right, found.places, chance, 60, cmap=style.MAP)
    style.bare(right, "Most reliable paths")
    figure.colorbar(shown, ax=right, label="probability", shrink=0.8, aspect=25)
    for panel in (left, right):
        panel.plot(*found.places[0], "*", color=style.MARKED, mec=style.INK, ms=17, zorder=5)
        panel.set(aspect="equal", anchor="C")
    return figure
