"""A cluster in its graph, and the conductance of the sweep's prefixes."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def sweep(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the conductance of each prefix of the vertices with y > 0, in descending order of y."""
    order = np.argsort(-y, kind="stable")[: np.count_nonzero(y)]
    volume, total = np.cumsum(A.sum(axis=1)[order]), A.sum()
    within = np.cumsum([2 * A[v, order[:k]].sum() for k, v in enumerate(order)])
    return (volume - within) / np.minimum(volume, total - volume)


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(len(set(found.cluster.to_coo()[1].tolist()) ^ set(range(44, 78))) <= 1)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the cluster in its graph, and the conductance over the size of the prefix."""
    A = nx.to_numpy_array(found.G)
    y = found.p[0, :].new().to_dense(0) / A.sum(axis=1)
    member = found.cluster[0, :].new().to_dense(False)
    conductance = sweep(A, y)
    figure, (left, right) = style.panels(1.15, 1, height=4.2)
    layout = nx.spring_layout(found.G, k=0.12, iterations=120, seed=2)
    places = np.array([layout[v] for v in found.G])
    style.edges(left, found.A, places, width=0.35)
    style.vertices(left, places[~member], style.GREY, 18)
    style.vertices(left, places[member], style.OURS, 30)
    left.scatter(*places[found.seed], s=170, marker="*", c=style.MARKED, ec=style.INK, lw=0.8, zorder=5)
    style.bare(left, f"A cluster of {member.sum()} of {len(member)} vertices")
    size = np.arange(1, conductance.size + 1)
    best = int(conductance.argmin())
    right.plot(size, conductance, color=style.OURS)
    right.plot(size[best], conductance[best], "o", color=style.MARKED, mec=style.INK, ms=8)
    right.annotate(
        f"{size[best]} vertices, {conductance[best]:.3f}", (size[best], conductance[best]), (-12, -3),
        textcoords="offset points", ha="right",
    )  # fmt: skip
    right.set(xlabel="vertices in the prefix", ylabel="conductance", title="The sweep", ylim=(0, 1.03), xlim=(0, None))
    return figure
