"""The network of Les Misérables in the colours of its communities, and its matrix in their order."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from docs.gallery.pictures import style

NAMED = ("Valjean", "Myriel", "Fantine", "Gavroche", "Thenardier", "Mabeuf")


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(len(set(found.leiden.to_dense().tolist())) == 6)


def draw(found: SimpleNamespace) -> Figure:
    """Draw Leiden's communities as colours of the network, and as blocks of the adjacency matrix."""
    label = found.leiden.to_dense()
    _, group, size = np.unique(label, return_inverse=True, return_counts=True)
    group = np.argsort(np.argsort(-size, kind="stable"))[group]  # the largest community is 0
    layout = nx.spring_layout(found.G, k=0.42, iterations=250, seed=4, weight=None)
    places = np.array([layout[name] for name in found.G])
    weight = np.array([total for _, total in found.G.degree(weight="weight")])
    figure, (left, right) = style.panels(1.3, 1, height=4.6)
    style.edges(left, found.A, places)
    style.vertices(left, places, np.array(style.GROUPS)[group], 20 + 2 * weight)
    for name, (x, y) in zip(found.G, places, strict=True):
        if name in NAMED:
            style.name(left, x, y + 0.05, name)
    style.bare(left, f"{size.size} communities of 77 characters")
    order = np.lexsort((-weight, group))
    i, j, chapters = found.A.to_coo()
    at = np.argsort(order)
    inside = group[i] == group[j]
    colors = np.where(inside, np.array(style.GROUPS)[group[i]], style.GREY)
    right.scatter(at[j], at[i], s=3 + 1.1 * chapters, c=colors, marker="s", linewidths=0)
    ends = np.concatenate([[0], np.cumsum(np.bincount(group))])
    for first, last in pairwise(ends):
        size = last - first
        right.add_patch(Rectangle((first - 0.5, first - 0.5), size, size, fill=False, ec=style.INK, lw=0.8))
    right.set(xlim=(-1, 77), ylim=(77, -1), aspect="equal", xlabel="character", ylabel="character")
    style.bare(right, "Adjacency matrix, by community")
    return figure
