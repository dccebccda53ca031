"""The hidden edges among the best pairs, and how well each score finds them."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from docs.gallery.pictures import style

COLORS = (style.GREY, style.GREEN, style.MARKED, style.OURS)


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    hits = {score: sum(pair in found.hidden for pair in pairs[:40]) for score, pairs in found.ranked.items()}
    return bool(hits["resource_allocation_index"] > hits["common_neighbors"] > hits["jaccard_coefficient"])


def draw(found: SimpleNamespace) -> Figure:
    """Draw the best pairs in the network, and the number of hidden edges found over that of pairs."""
    figure, (left, right) = style.panels(1.2, 1, height=4.3)
    G = nx.les_miserables_graph()
    layout = nx.spring_layout(G, k=0.42, iterations=60, seed=4, weight=None)
    places = np.array([layout[name] for name in G])
    style.edges(left, found.B, places, width=0.6)
    best = found.ranked["resource_allocation_index"][:40]
    hit = np.array([(i, j) in found.hidden for i, j in best])
    for some, color, label in ((hit, style.OURS, "it was hidden"), (~hit, style.PUBLISHED, "it was not there")):
        lines = places[np.array(best)[some]]
        left.add_collection(LineCollection(lines, colors=color, linewidths=1.8, zorder=1.5, label=label))
    style.vertices(left, places, style.INK, 16)
    left.legend(loc="lower left")
    style.bare(left, "The 40 best pairs")
    for (name, pairs), color in zip(found.ranked.items(), COLORS, strict=True):
        hits = np.cumsum([pair in found.hidden for pair in pairs[:400]])
        right.plot(range(1, 401), hits, color=color, label=name.replace("_", " ").removesuffix(" index"))
    right.set(xlabel="pairs, best first", ylabel="hidden edges among them", title="Hidden edges found")
    right.set(xlim=(0, 400), ylim=(0, 41))
    right.legend(loc="lower right")
    return figure
