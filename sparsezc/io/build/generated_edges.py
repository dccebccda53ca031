"""Generated graphs as edges in chunks, for conversions in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsezc.io.build import generate
from sparsezc.io.build.edge_list import Chunk, Chunks, EdgeChunks, EdgeFacts
from sparsezc.io.build.weights import Weights
from sparsezc.terminal.progress import bar

_STEP = 1 << 16  # edges of a chunk


def edge_chunks(name: str, weights: Weights, part: tuple[int, int] = (0, 1)) -> tuple[EdgeChunks, Weights]:
    """Return the edges of a generated graph, one direction each, and the kind of its weights.

    `part`: the number of the part of the edges that is returned, and the number of parts.

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

    def chunks() -> Chunks:
        yield from draw(recipe, part)
        return EdgeFacts(n, n)

    return EdgeChunks(chunks(), undirected=True), generate.weights_of(name, recipe, weights)


def _range(count: int, part: tuple[int, int], first: int = 0) -> tuple[int, int]:
    """Return the bounds of a part of the numbers ``first:count``."""
    number, parts = part
    return first + (count - first) * number // parts, first + (count - first) * (number + 1) // parts


def _random(recipe: generate.Recipe, part: tuple[int, int]) -> Iterator[Chunk]:
    first, last = _range(recipe.second << recipe.first, part)
    progress = bar(last - first, f"making {recipe.kind}", " edges")
    for start in range(first, last, _STEP):
        stop = min(start + _STEP, last)
        yield *generate.drawn(recipe, start, stop, np), None
        progress.update(stop - start)
    progress.close()


def _grid(recipe: generate.Recipe, part: tuple[int, int]) -> Iterator[Chunk]:
    """Yield each vertex with its right and its lower neighbour; a path is a grid of one row."""
    height, width = (recipe.first, recipe.second) if recipe.kind == "grid" else (1, recipe.first)
    first, last = _range(height * width, part)
    for start in range(first, last, _STEP):
        at = np.arange(start, min(start + _STEP, last), dtype=np.int64)
        right, below = at[at % width < width - 1], at[at < (height - 1) * width]
        rows, cols = np.concatenate([right, below]), np.concatenate([right + 1, below + width])
        yield rows.astype(np.uint32), cols.astype(np.uint32), None


def _star(recipe: generate.Recipe, part: tuple[int, int]) -> Iterator[Chunk]:
    first, last = _range(recipe.first, part, 1)
    for start in range(first, last, _STEP):
        cols = np.arange(start, min(start + _STEP, last), dtype=np.uint32)
        yield np.zeros_like(cols), cols, None
