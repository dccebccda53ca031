"""Waves of an epidemic in three networks, and one of them as a ring."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from docs.gallery.pictures import style

COLORS = (style.GREEN, style.OURS, style.PUBLISHED)


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(np.all(np.diff([day.reduce("max").new().get() for day in found.days.values()]) < 0))


def draw(found: SimpleNamespace) -> Figure:
    """Draw the waves, and one network as a ring in the colours of the day of infection."""
    figure, (left, right) = style.panels(1.25, 1, height=3.9)
    for (share, day), color in zip(found.days.items(), COLORS, strict=True):
        left.plot(np.bincount(day.to_coo()[1]), color=color, label=f"{share:.0%} of acquaintances live anywhere")
    left.set(xlabel="day", ylabel="who fall ill", title="The waves", xlim=(0, None), ylim=(0, None))
    left.legend(loc="upper right")
    day = found.days[0.02].to_dense(-1)
    angle = np.pi / 2 + 2 * np.pi * np.arange(day.size) / day.size
    places = np.c_[np.cos(angle), np.sin(angle)]
    edges = np.array(nx.watts_strogatz_graph(1000, 10, 0.02, seed=1).edges)
    far = edges[(edges[:, 1] - edges[:, 0]) % 995 > 5]
    right.add_collection(LineCollection(places[far], colors=style.PALE, linewidths=0.5, zorder=1))
    ill = day >= 0
    style.vertices(right, 1.04 * places[~ill], style.PALE, 14, linewidths=0)
    shown = style.vertices(right, places[ill], day[ill], 26, cmap=style.MAP, linewidths=0)
    style.bare(right, "When each fell ill, 2% anywhere")
    right.set(aspect="equal", anchor="C")
    figure.colorbar(shown, ax=right, label="day", shrink=0.8, aspect=25)
    return figure
