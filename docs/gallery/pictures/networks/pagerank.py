"""Pages as large as their rank, and how fast the ranks settle, by damping."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import sparsezc as gb
from docs.gallery.pictures import style

PLACES = np.array([  # A to F, then G to K
    (0.0, 3.1), (1.7, 3.4), (4.6, 3.4), (0.3, 1.8), (3.3, 1.9), (5.1, 2.1),
    (0.8, 0.5), (1.7, 0.2), (2.6, 0.2), (3.7, 0.3), (4.7, 0.7),
])  # fmt: skip
DAMPINGS = {0.5: style.GREEN, 0.85: style.OURS, 0.95: style.PUBLISHED}
ITERATIONS = range(1, 41)


def errors(A: gb.Matrix, damping: float) -> list[float]:
    """Return the sum of absolute errors after each number of iterations."""
    settled = gb.algorithms.pagerank(A, damping, tol=1e-15, max_iter=1000).to_dense()
    each = (gb.algorithms.pagerank(A, damping, tol=None, max_iter=k).to_dense() for k in ITERATIONS)
    return [np.abs(rank - settled).sum() for rank in each]


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    # Wikipedia's figure, in percent
    return bool((100 * found.rank.to_dense()).round(1).tolist() == [3.3, 38.4, 34.3, 3.9, 8.1, 3.9, *5 * [1.6]])


def draw(found: SimpleNamespace) -> Figure:
    """Draw the pages, and the error over the number of iterations, by damping."""
    figure, (left, right) = style.panels(1.25, 1, height=3.9)
    rank = found.rank.to_dense()
    radius = 1.15 * np.sqrt(rank) + 0.05
    for i, j in found.edges:
        way = PLACES[j] - PLACES[i]
        way /= np.linalg.norm(way)
        ends = PLACES[i] + radius[i] * way, PLACES[j] - radius[j] * way
        arrow = {"arrowstyle": "-|>", "color": style.GREY, "lw": 0.9, "connectionstyle": "arc3,rad=0.12"}
        left.annotate("", ends[1], ends[0], arrowprops=arrow | {"shrinkA": 1, "shrinkB": 1})
    for page, place, size, share in zip(found.pages, PLACES, radius, rank, strict=True):
        left.add_patch(Circle(place, size, color=style.SKY, zorder=2))
        left.text(*place, page if share < 0.03 else f"{page}\n{share:.0%}", ha="center", va="center")
    left.set(xlim=(-0.6, 5.8), ylim=(-0.3, 4.3), aspect="equal")
    style.bare(left, "Eleven pages")
    for damping, color in DAMPINGS.items():
        off = errors(found.A, damping)
        right.semilogy(ITERATIONS, off, color=color)
        right.annotate(f"d = {damping}", (ITERATIONS[19], off[19]), (5, 5), textcoords="offset points")
    right.set(xlabel="iteration", ylabel="sum of absolute errors", title="How fast ranks settle", ylim=(1e-13, 2))
    return figure
