"""Colours, sizes and shapes that all pictures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

# Okabe and Ito's colours, which remain distinct for readers who are colour-blind.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"
GREY, PALE, INK = "#808080", "#d0d0d0", "#222222"
OURS, PUBLISHED, MARKED = BLUE, VERMILION, ORANGE  # sparsezc's answers; other rules' answers; seeds and sources
GROUPS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, "#8c6d31", "#5e4fa2")
MAP = "cividis"

#: A white sheet, so that a picture is the same on a dark page.
SETTINGS = {
    "figure.facecolor": "white", "savefig.facecolor": "white", "axes.facecolor": "white",
    "figure.constrained_layout.use": True, "figure.dpi": 100, "savefig.dpi": 130,
    "font.size": 9.5, "axes.titlesize": 10.5, "axes.titlelocation": "left", "axes.labelsize": 9.5,
    "axes.edgecolor": GREY, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.8,
    "svg.hashsalt": "sparsezc",  # fixed, so that ids in the SVG are the same in each run
}  # fmt: skip


def panels(*widths: float, height: float = 3.6) -> tuple[Figure, Any]:
    """Return a figure of the page's width with panels side by side, of these relative widths."""
    figure = Figure(figsize=(9.2, height))
    return figure, figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]


def bare(axes: Axes, title: str = "") -> None:
    """Remove ticks and frame of a panel without axes of quantities."""
    axes.set(xticks=[], yticks=[], title=title, anchor="N")
    for side in axes.spines.values():
        side.set_visible(False)


def name(axes: Axes, x: float, y: float, text: str, **options: Any) -> None:
    """Write a name with a white outline, so that it is readable over lines."""
    settings = {"ha": "center", "fontsize": 8.5, "zorder": 6} | options
    axes.text(x, y, text, path_effects=[withStroke(linewidth=2.5, foreground="white")], **settings)


def edges(axes: Axes, A: Any, places: np.ndarray, color: str = PALE, width: float = 0.7, **options: Any) -> None:
    """Draw the edges of a graph, each once, between the places of its vertices, an array of shape (n, 2)."""
    i, j, _ = A.to_coo()
    once = i < j
    gap = np.full((once.sum(), 2), np.nan)  # one line with gaps makes a smaller file than many lines
    lines = np.stack([places[i[once]], places[j[once]], gap], axis=1).reshape(-1, 2)
    axes.plot(*lines.T, color=color, lw=width, zorder=1, **options)


def vertices(axes: Axes, places: np.ndarray, color: Any, size: Any = 28, **options: Any) -> Any:
    """Draw vertices with a white rim."""
    settings = {"edgecolors": "white", "linewidths": 0.6, "zorder": 2} | options
    return axes.scatter(places[:, 0], places[:, 1], s=size, c=color, **settings)
