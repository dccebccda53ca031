"""Vertices on the rings of their cores, and their matrix from the deepest core outwards."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

import sparsezc as gb
from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.inside.nvals == 46 and found.hub in found.inside)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the rings, and the adjacency matrix in descending order of core numbers."""
    figure, (left, right) = style.panels(1.1, 1, height=4.3)
    core, degree = found.core.to_dense(), found.degree.to_dense()
    random = np.random.default_rng(1)
    radius = 1 - core / (core.max() + 2) + random.uniform(-0.015, 0.015, core.size)
    angle = random.permutation(core.size) * 2 * np.pi / core.size
    places = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    seen = core > 0
    some = gb.algorithms.sample_neighbors(found.A, range(core.size), 2, seed=1)  # all would fill the disc
    style.edges(left, some, places, width=0.3)
    shown = style.vertices(left, places[seen], core[seen], 8 + degree[seen] / 2, cmap=style.MAP, linewidths=0.3)
    style.bare(left, f"Rings of {len(set(core)) - 1} core numbers")
    left.set(aspect="equal")
    figure.colorbar(shown, ax=left, label="core number", shrink=0.8, aspect=25)
    at = np.argsort(np.lexsort((-degree, -core)))
    i, j, _ = found.A.to_coo()
    right.plot(at[j], at[i], "s", color=style.OURS, ms=0.7, mew=0, rasterized=True)
    deepest = found.inside.nvals
    right.plot([0, deepest, deepest, 0, 0], [0, 0, deepest, deepest, 0], color=style.PUBLISHED, lw=1.2)
    right.set(xlim=(-4, seen.sum()), ylim=(seen.sum(), -4), aspect="equal")
    style.bare(right, f"Adjacency matrix, the {found.deepest}-core first")
    return figure
