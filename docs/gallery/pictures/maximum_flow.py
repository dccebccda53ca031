"""An image, its noisy copy, the threshold of each pixel, and the minimum cut."""

from __future__ import annotations

from types import SimpleNamespace

from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(
        found.value == found.cut
        and (found.side.to_dense(False)[: found.shape.size] == found.shape.ravel()).mean() > 0.98
    )


def draw(found: SimpleNamespace) -> Figure:
    """Draw the four images."""
    alone = found.image > 0.5
    cut = found.side.to_dense(False)[: found.shape.size].reshape(found.shape.shape)
    figure, axes = style.panels(1, 1, 1, 1, height=2.5)
    images = {
        "Shape": found.shape,
        "With noise": found.image,
        f"Threshold, {(alone != found.shape).mean():.1%} wrong": alone,
        f"Least cut, {(cut != found.shape).mean():.1%} wrong": cut,
    }
    for panel, (title, shown) in zip(axes, images.items(), strict=True):
        panel.imshow(shown, cmap="gray", vmin=-0.6, vmax=1.6)
        style.bare(panel, title)
    for panel in axes[1:]:
        panel.contour(found.shape, levels=[0.5], colors=style.MARKED, linewidths=1)
    return figure
