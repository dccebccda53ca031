"""Where two networks disagree before and after matching, and how many seeds it takes."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return whether the program found what its page says."""
    return bool(found.right[0] < 0.1 and found.right[18] == 1)


def draw(found: SimpleNamespace) -> Figure:
    """Draw the disagreements with the last number of seeds, and the share of right matches."""
    A = nx.to_numpy_array(found.G, nodelist=range(found.n))
    B = nx.to_numpy_array(found.H, nodelist=range(found.n))[np.ix_(found.order, found.order)]
    match = found.match.to_dense()
    figure, axes = style.panels(1, 1, 1.15, height=3.4)
    cases = (("Before", B), (f"With {max(found.right)} seeds", B[np.ix_(match, match)]))
    for panel, (title, other) in zip(axes[:2], cases, strict=True):
        i, j = np.nonzero(other != A)
        panel.scatter(j, i, s=1.2, c=style.PUBLISHED, linewidths=0, rasterized=True)
        panel.set(xlim=(-1, found.n), ylim=(found.n, -1), aspect="equal", xlabel="vertex", ylabel="vertex")
        style.bare(panel, f"{title}: {i.size:,} differ")
    seeds = list(found.right)
    axes[2].plot(seeds, [100 * share for share in found.right.values()], "o-", color=style.OURS, ms=5)
    axes[2].set(xlabel="seeds", ylabel="other vertices matched rightly, %", title="Seeds that it takes", ylim=(-3, 103))
    return figure
