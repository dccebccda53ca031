"""An image before and after, and a profile through it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style

ROW = 24


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(
        np.abs(found.smooth.to_dense() - found.image.ravel()).mean() < np.abs(found.noisy - found.image).mean() / 5
    )


def draw(found: SimpleNamespace) -> Figure:
    """Draw three images, and the values along one row of each."""
    smooth = found.smooth.to_dense().reshape(found.image.shape)
    figure, axes = style.panels(1, 1, 1, 1.5, height=2.55)
    images = (("With noise", found.noisy), ("Fused lasso", smooth), ("Image", found.image))
    for panel, (title, shown) in zip(axes[[1, 2, 0]], images, strict=True):
        panel.imshow(shown, cmap="gray", vmin=-0.6, vmax=1.1)
        panel.axhline(ROW, color=style.MARKED, lw=1, ls=(0, (4, 3)))
        style.bare(panel, title)
    lines = ((style.PALE, 1.8, "-"), (style.OURS, 1.8, "-"), (style.INK, 1.1, "--"))
    for (title, shown), (color, width, dashes) in zip(images, lines, strict=True):
        axes[3].plot(shown[ROW], color=color, lw=width, ls=dashes, label=title)
    axes[3].set(xlabel="pixel of row 24", ylabel="value", title="Along the dashed line", ylim=(-0.6, 1.6))
    axes[3].legend(loc="upper right", ncols=1, handlelength=1.4)
    return figure
