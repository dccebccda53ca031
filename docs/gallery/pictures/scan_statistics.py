"""The largest statistic by week, and the vertices of the week that stands out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(np.argmax(found.largest) == 30 and max(found.degree) < 20 < max(found.largest))


def draw(found: SimpleNamespace) -> Figure:
    """Draw the largest statistic and degree of each week, and both of all vertices in week 30."""
    figure, (left, right) = style.panels(1.2, 1, height=3.5)
    left.plot(found.largest, "o-", color=style.OURS, ms=4, label="scan statistic")
    left.plot(found.degree, "o-", color=style.GREY, ms=4, label="degree")
    left.annotate("week 30", (30, found.largest[30]), (-8, 0), textcoords="offset points", ha="right", va="center")
    left.set(xlabel="week", ylabel="largest of all vertices, edges", title="What each week shows", ylim=(0, None))
    left.legend(loc="center left", bbox_to_anchor=(0, 0.72))
    psi = found.answers[30][0].to_dense()
    degree = np.array([found.weeks[30].degree[v] for v in range(200)])
    talking = np.isin(np.arange(200), found.chatter)
    shift = np.random.default_rng(1).uniform(-0.25, 0.25, 200)  # jitter, so that equal points show
    for at, color, label in ((~talking, style.GREY, "others"), (talking, style.VERMILION, "the nine")):
        right.scatter((degree + shift)[at], psi[at], s=30, c=color, ec="white", lw=0.5, label=label)
    right.set(xlabel="degree", ylabel="scan statistic, edges", title="The vertices of week 30")
    right.set(xlim=(-0.5, None), ylim=(0, None))
    right.legend(loc="upper left")
    return figure
