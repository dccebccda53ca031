"""The loss by round, and predictions of hidden ratings."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style

LABELS = {"gd": ("gradient descent", style.GREY), "als": ("least squares", style.OURS)}


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.answers["als"][2][10] < found.answers["gd"][2][40])


def draw(found: SimpleNamespace) -> Figure:
    """Draw the loss by round, and predicted over true ratings."""
    figure, (left, right) = style.panels(1.2, 1, height=3.6)
    for solver, (label, color) in LABELS.items():
        left.plot(found.answers[solver][2], color=color, label=label)
    left.set(yscale="log", xlabel="round", ylabel="loss", title=f"{found.i.size:,} ratings, 3 factors")
    left.legend(loc="upper right")
    U, V, _ = found.answers["als"]
    predicted = U.to_dense(np.nan) @ V.to_dense(np.nan).T
    hidden = np.ones(found.truth.shape, bool)
    hidden[found.i, found.j] = False
    some = np.random.default_rng(1).choice(hidden.sum(), 1500, replace=False)
    x, y = found.truth[hidden][some], predicted[hidden][some]
    ends = [1, x.max()]
    right.plot(ends, ends, color=style.INK, lw=1, ls=":", zorder=1)
    right.scatter(x, y, s=7, c=style.OURS, alpha=0.45, linewidths=0, zorder=2, rasterized=True)
    error = np.sqrt(((predicted - found.truth)[hidden] ** 2).mean())
    right.set(xlabel="true rating", ylabel="predicted", title=f"Not rated: rms error {error:.2f}", aspect="equal")
    return figure
