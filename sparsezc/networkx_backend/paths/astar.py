"""Searches towards a target, with NetworkX's names, arguments and errors.

The heuristic is a Python function of two nodes, so the search runs in Python, too; it reads single rows of the matrix,
without a copy of the graph.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Any

import networkx as nx
import numpy as np

from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph


class _Lengths:
    """The edges out of each vertex in the graph's order, with lengths as Python numbers."""

    def __init__(self, G: Graph, weight: str | None) -> None:
        self._indptr, self._indices = G.rows()
        self._values = None if weight is None else G.in_rows(G.least(weight))
        fractions = G.fractions(weight)
        self._fraction = None if fractions is None else G.in_rows(fractions)

    def out_edges(self, v: int) -> tuple[list[int], list[Any]]:
        row = slice(self._indptr[v], self._indptr[v + 1])
        near: list[int] = self._indices[row].tolist()
        if self._values is None:
            return near, [1] * len(near)
        lengths = self._values[row].tolist()
        if self._fraction is not None:
            lengths = [x if part else int(x) for x, part in zip(lengths, self._fraction[row].tolist(), strict=True)]
        return near, lengths


def _search(
    G: Graph, source: Any, target: Any, heuristic: Any, weight: str | None, cutoff: Any
) -> tuple[list[int], list[Any]]:
    """Return the vertices of a path, and the lengths of its edges.

    A vertex is expanded again if a shorter path to it is found, as an estimate may be too large or inconsistent.
    """
    start, end, edges = G.index[source], G.index[target], _Lengths(G, weight)
    number = count(1)  # of equal sums, the first pushed is popped first
    queue: list[tuple[Any, int, int, Any, int | None, Any]] = [(0, 0, start, 0, None, 0)]
    best: dict[int, tuple[Any, Any]] = {}  # each vertex's least length so far, and its estimate
    before: dict[int, tuple[int | None, Any]] = {}
    while queue:
        _, _, v, length, parent, step = heappop(queue)
        if v == end:
            path, steps = [v], [step]
            while parent is not None:
                path.append(parent)
                parent, step = before[parent]
                steps.append(step)
            return path[::-1], steps[-2::-1]
        if v in before and (before[v][0] is None or best[v][0] < length):
            continue
        before[v] = parent, step
        for u, edge in zip(*edges.out_edges(v), strict=True):
            reached = length + edge
            if u in best:
                shortest, estimate = best[u]
                if shortest <= reached:
                    continue
            else:
                estimate = 0 if heuristic is None else heuristic(G.labels[u], target)
            if cutoff and reached + estimate > cutoff:
                continue
            best[u] = reached, estimate
            heappush(queue, (reached + estimate, next(number), u, reached, v, edge))
    raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")


@claims(multigraph=True)
def astar_path(
    G: Graph, source: Any, target: Any, heuristic: Any = None, weight: str | None = "weight", *, cutoff: Any = None
) -> list[Any]:
    """Return a path between two nodes, the shortest if `heuristic` never exceeds the remaining distance."""
    for name, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{name} {node} is not in G")
    return G.names(np.array(_search(G, source, target, heuristic, weight, cutoff)[0]))


@claims(multigraph=True)
def astar_path_length(
    G: Graph, source: Any, target: Any, heuristic: Any = None, weight: str | None = "weight", *, cutoff: Any = None
) -> Any:
    """Return the length of the path that :func:`astar_path` finds."""
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return sum(_search(G, source, target, heuristic, weight, cutoff)[1])
