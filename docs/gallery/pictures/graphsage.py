"""Features before and after GraphSAGE, in two dimensions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import cKDTree

from docs.gallery.pictures import style


def pure(X: np.ndarray, group: np.ndarray) -> float:
    """Return the share of rows whose nearest other row is of the same group."""
    nearest = cKDTree(X).query(X, 2)[1][:, 1]
    return float((group[nearest] == group).mean())


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(found.H.shape == (240, 8))


def draw(found: SimpleNamespace) -> Figure:
    """Draw the principal components of features and embeddings."""
    figure, axes = style.panels(1, 1, height=3.9)
    for panel, X, title in zip(axes, (found.X, found.H.to_dense(0)), ("Features", "Embeddings"), strict=True):
        U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        style.vertices(panel, (U * S)[:, :2], np.array(style.GROUPS)[found.group], 34)
        panel.set(xlabel="first component", ylabel="second component")
        panel.set_title(f"{title}: nearest is of the group for {pure(X, found.group):.0%}")
    return figure
