"""Florentine families, and their betweenness and degree."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(max(found.between, key=found.between.get) == "Medici")


def draw(found: SimpleNamespace) -> Figure:
    """Draw the network, and betweenness beside degree."""
    figure, (left, right) = style.panels(1.35, 1, height=4.3)
    layout = nx.spring_layout(found.G, k=0.6, seed=11, iterations=200)
    places = np.array([layout[family] for family in found.G])
    share = np.array([found.between[family] for family in found.G])
    i, j, through = found.through.to_coo()
    lines = np.stack([places[i], places[j]], axis=1)
    left.add_collection(LineCollection(lines, colors=style.PALE, linewidths=0.5 + 25 * through, zorder=1))
    style.vertices(left, places, style.OURS, 30 + 1500 * share)
    for family, (x, y) in layout.items():
        style.name(left, x, y + 0.05 + 0.13 * found.between[family] ** 0.5, family)
    left.margins(0.12)
    style.bare(left, "Families and marriages")
    order = np.argsort(share)
    names = np.array(list(found.G))[order]
    married = np.array([found.G.degree[family] for family in names]) / (len(names) - 1)
    at = np.arange(len(names))
    right.barh(at + 0.2, share[order], 0.4, color=style.OURS, label="betweenness")
    right.barh(at - 0.2, married, 0.4, color=style.MARKED, label="share of families married to")
    right.set_yticks(at, names)
    right.tick_params(labelsize=8.5)
    right.legend(loc="lower right")
    right.set(title="Betweenness and degree", ylim=(-0.7, len(names) - 0.3))
    return figure
