"""A road network in the colours of hops and of kilometres."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.hops.nvals == found.distance.nvals > 470)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the network by hops, and by kilometres with the shortest-path tree and the path to the target."""
    figure, axes = style.panels(1, 1, height=3.5)
    reached = found.distance.to_coo()[0]
    parent = found.parent.to_dense(-1)
    for panel, (title, answer) in zip(
        axes, {"Roads from the start": found.hops, "Kilometres from the start": found.distance}.items(), strict=True
    ):
        style.edges(panel, found.A, found.places, width=0.5)
        shown = style.vertices(panel, found.places[reached], answer.to_coo()[1], 22, cmap=style.MAP, linewidths=0.3)
        panel.plot(*found.places[found.start], "*", color=style.MARKED, mec=style.INK, ms=14, zorder=5)
        style.bare(panel, title)
        panel.set(aspect="equal")
        figure.colorbar(shown, ax=panel, orientation="horizontal", shrink=0.8, aspect=30)
    tree = np.stack([found.places[reached], found.places[parent[reached]]], axis=1)
    axes[1].add_collection(LineCollection(tree, colors=style.GREY, linewidths=0.9, zorder=1.5))
    way = [found.end]
    while way[-1] != found.start:
        way.append(parent[way[-1]])
    axes[1].plot(*found.places[way].T, color=style.PUBLISHED, lw=2.4, zorder=4)
    axes[1].plot(*found.places[found.end], "o", color=style.MARKED, mec=style.INK, ms=9, zorder=5)
    return figure
