"""Scores in the graph, and context against content."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

import sparsezc as gb
from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(np.isin(found.nominated.to_dense(), found.group).mean() >= 0.9)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the scores in the graph, and each vertex by its context and content distances."""
    score, nominated = found.score.to_dense(np.nan), found.nominated.to_dense()
    figure, (left, right) = style.panels(1.15, 1, height=4.2)
    style.edges(left, found.A, found.place)
    shown = style.vertices(left, found.place, score, cmap=f"{style.MAP}_r")
    ring = {"s": 85, "fc": "none", "ec": style.VERMILION, "lw": 1.7, "zorder": 3}
    left.scatter(*found.place[nominated].T, label="nominated", **ring)
    star = {"s": 140, "marker": "*", "c": style.MARKED, "ec": style.INK, "lw": 0.7, "zorder": 4}
    left.scatter(*found.place[found.seeds].T, label="seeds", **star)
    style.bare(left, "Scores in the graph")
    left.set_aspect("equal")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2)
    figure.colorbar(shown, ax=left, label="score (small is good)", shrink=0.8, aspect=25, location="left")
    context = gb.applications.vertex_nomination(found.A, found.seeds)[1].to_dense(np.nan)
    content = np.linalg.norm(found.x[:, None] - found.x[found.seeds], axis=2).min(axis=1)
    member = np.isin(np.arange(len(content)), found.group)
    for at, color, label in ((~member, style.GREY, "others"), (member, style.BLUE, "of interest")):
        jitter = np.random.default_rng(2).uniform(-0.15, 0.15, at.sum())
        right.scatter(context[at] + jitter, content[at], s=22, c=color, ec="white", lw=0.4, label=label, zorder=2)
        chosen = np.isin(np.flatnonzero(at), nominated)
        right.scatter(context[at][chosen] + jitter[chosen], content[at][chosen], **ring)
    most = np.nanmax(context), content[~np.isnan(context)].max()
    for level in (0.1, 0.2, 0.3, 0.4):
        right.plot([0, 2 * level * most[0]], [2 * level * most[1], 0], color=style.PALE, lw=0.9, zorder=1)
    right.set(xlabel="context: hops from the nearest seed", ylabel="content: distance of features")
    right.set(xlim=(-0.3, None), ylim=(-0.1, most[1] * 1.05))
    right.set_title("Both distances, lines of equal score")
    right.legend(loc="upper right")
    return figure
