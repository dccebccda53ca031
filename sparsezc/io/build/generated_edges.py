"""Generated graphs as edges in chunks, for conversions in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsezc.io.build import generate
from sparsezc.io.build.edge_list import EdgeChunks, Chunk
from sparsezc.io.build.weights import Weights
from sparsezc.terminal.progress import bar

_STEP = 1 << 16  # edges of a chunk


def edge_chunks(name: str, weights: Weights) -> tuple[EdgeChunks, Weights]:
    """Return the edges of a generated graph, one direction each, and its weights.

    >>> from sparsezc.io.build.weights import FROM_FILE
    >>> found, _ = edge_chunks("path:3", FROM_FILE)
    >>> [(rows.tolist(), cols.tolist()) for rows, cols, _ in found.chunks]
    [([0, 1], [1, 2])]
    """
    recipe = generate.parse(name)
    draw = {"grid": _grid, "path": _grid, "star": _star}.get(recipe.kind, _random)
    n = 1 << recipe.first if draw is _random else recipe.first
    if recipe.kind == "grid":
        n *= recipe.second
    found = EdgeChunks.by(lambda _: draw(recipe), nrows=n, ncols=n, undirected=True)
    return found, generate.weights_of(name, recipe, weights)


def _random(recipe: generate.Recipe) -> Iterator[Chunk]:
    edges = recipe.second << recipe.first
    progress = bar(edges, f"making {recipe.kind}", " edges")
    for start in range(0, edges, _STEP):
        stop = min(start + _STEP, edges)
        yield *generate.drawn(recipe, start, stop, np), None
        progress.update(stop - start)
    progress.close()


def _grid(recipe: generate.Recipe) -> Iterator[Chunk]:
    """Yield each vertex with its right and its lower neighbour; a path is a grid of one row."""
    height, width = (recipe.first, recipe.second) if recipe.kind == "grid" else (1, recipe.first)
    for start in range(0, height * width, _STEP):
        at = np.arange(start, min(start + _STEP, height * width), dtype=np.int64)
        right, below = at[at % width < width - 1], at[at < (height - 1) * width]
        rows, cols = np.concatenate([right, below]), np.concatenate([right + 1, below + width])
        yield rows.astype(np.uint32), cols.astype(np.uint32), None


def _star(recipe: generate.Recipe) -> Iterator[Chunk]:
    for start in range(1, recipe.first, _STEP):
        cols = np.arange(start, min(start + _STEP, recipe.first), dtype=np.uint32)
        yield np.zeros_like(cols), cols, None
