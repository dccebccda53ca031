"""A maze: walls where the tree has no edge, and the path through it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import sparsezc as gb
from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.tree.nvals == 2 * (found.rows * found.columns - 1))


def draw(found: SimpleNamespace) -> Figure:
    """Draw the maze in the colours of the distance from the start, and the path."""
    rows, columns = found.rows, found.columns
    steps = gb.algorithms.bfs(found.tree, 0).to_dense().reshape(rows, columns)
    figure, (axes,) = style.panels(1, height=5.0)
    shown = axes.imshow(steps, cmap="Blues", vmin=-20, vmax=1.5 * steps.max())
    gone = found.A.dup()
    gone(~found.tree.S, replace=True) << found.A  # walls between cells that no edge joins
    i, j, _ = gone.select("triu").new().to_coo()
    y, x, down = i // columns, i % columns, j == i + columns
    corner = np.stack([x - 0.5 + ~down, y - 0.5 + down], axis=1)
    walls = np.stack([corner, corner + np.stack([down, ~down], axis=1)], axis=1)
    axes.add_collection(LineCollection(walls, colors=style.INK, linewidths=1.6, capstyle="projecting"))
    right, bottom = columns - 0.5, rows - 0.5
    axes.plot([-0.5, right, right, -0.5, -0.5], [-0.5, -0.5, bottom, bottom, -0.5], color=style.INK, lw=2.2)
    y, x = np.divmod(found.way, columns)
    axes.plot(x, y, color=style.PUBLISHED, lw=2.4, solid_joinstyle="round")
    axes.plot(x[[0, -1]], y[[0, -1]], "o", color=style.MARKED, mec=style.INK, ms=9)
    style.bare(axes, f"{rows} x {columns} cells, a way of {len(found.way)}")
    figure.colorbar(shown, ax=axes, label="cells from the start", shrink=0.8, aspect=25, boundaries=range(steps.max()))
    return figure
