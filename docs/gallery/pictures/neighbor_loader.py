"""A batch of one vertex on its grid, and accuracy by number of sampled neighbours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

import sparsezc as gb
from docs.gallery.pictures import style

_SEED, _SIDE = 1830, 60  # a vertex in the middle of the grid
_HOPS = (style.MARKED, style.VERMILION, style.PURPLE, style.BLUE)


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    shares = list(found.right.values())
    return shares == sorted(shares) and shares[-1] > shares[0] + 0.3


def draw(found: SimpleNamespace) -> Figure:
    """Draw the batch, and accuracy over the number of neighbours drawn."""
    figure, (left, right) = style.panels(1, 1.15, height=3.8)
    batch = gb.ops.sample_hops(found.A, [_SEED], [3, 3, 3], seed=4)
    places = np.column_stack((batch.node % _SIDE, batch.node // _SIDE)).astype(float)
    low, high = places.min(axis=0) - 1.5, places.max(axis=0) + 1.5
    y, x = np.divmod(np.arange(found.A.nrows), _SIDE)
    near = (x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])
    style.vertices(left, np.column_stack((x, y))[near], style.PALE, 12)
    for row, col in zip(batch.row, batch.col, strict=True):
        left.annotate("", places[col], places[row], arrowprops={"arrowstyle": "->", "color": style.GREY, "lw": 1})
    first = 0
    for hop, count in enumerate(batch.num_sampled_nodes):
        label = "seed" if hop == 0 else f"hop {hop}"
        style.vertices(left, places[first : first + count], _HOPS[hop], 60, label=label, zorder=4)
        first += count
    style.bare(left, f"A batch of one seed: {batch.node.size} vertices, {batch.edge.size} edges")
    left.set_aspect("equal")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=4)
    fanouts = list(found.right)
    right.bar(fanouts, [100 * share for share in found.right.values()], color=style.OURS, width=0.6)
    right.axhline(100 / 3, color=style.INK, lw=1, ls=":")
    for k in fanouts:
        size = found.batches[k].node.size
        right.text(k, 100 * found.right[k] + 2, f"{size:,}", ha="center", fontsize=8.5)
    right.set(xlabel="neighbours drawn of each vertex, three hops", ylabel="vertices placed rightly, %", ylim=(0, 108))
    right.set_title("What they are worth; above, the vertices of the batch")
    return figure
