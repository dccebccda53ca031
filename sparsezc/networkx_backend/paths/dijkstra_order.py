"""The order in which Dijkstra's algorithm settles vertices, and their predecessors, from the distances alone."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._pattern import transposed
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.graph import Graph


class Settled(NamedTuple):
    """Vertices in the order of Dijkstra's algorithm, their distances as Python numbers, and all vertices' parents."""

    vertices: NDArray[np.int64]
    lengths: list[Any]
    parent: NDArray[np.int64]

    def named(self, G: Graph) -> dict[Any, Any]:
        """Return ``{node: distance}``."""
        return dict(zip(G.names(self.vertices), self.lengths, strict=True))

    def length(self, vertex: int | None) -> Any:
        """Return the distance of one vertex; None if it was not found."""
        at = np.flatnonzero(self.vertices == vertex)
        return self.lengths[at[0]] if at.size else None


class _Tight(NamedTuple):
    """The edges on shortest paths, by tail and then in the graph's order, and whether each length is a float."""

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    fraction: NDArray[np.bool_] | None


def settled(
    G: Graph,
    weight: str | None,
    distance: Vector,
    sources: list[int],
    cutoff: float | None = None,
    against: bool = False,
) -> Settled:
    """Sort the vertices found by a search into the order in which NetworkX's search settles them.

    Vertices of equal distance are ordered by the edge through which a shortest path first reached them: from the vertex
    settled first, along the edge that the graph lists first. Only edges between found vertices are read, and vertices
    are numbered among these.
    """
    i, values = distance.to_coo()
    near = (values <= (inf if cutoff is None else cutoff)) | np.isin(i, sources)
    found, d = i[near].astype(np.int64), values[near]
    starts = np.searchsorted(found, sources)
    tight = _tight(G, weight, found, d, starts, against)
    if np.unique(d).size == d.size:
        order, before, fraction = _by_distance(d, tight)
    else:
        order, before, fraction = _one_by_one(d, tight, starts.tolist())
    lengths = d[order].tolist()
    if tight.fraction is not None:
        lengths = [x if fraction[v] else int(x) for v, x in zip(order.tolist(), lengths, strict=True)]
    first = set(starts.tolist())
    lengths = [0 if v in first else x for v, x in zip(order.tolist(), lengths, strict=True)]
    parent = np.full(len(G), -1, np.int64)
    parent[found] = np.where(before < 0, -1, found[before])
    return Settled(found[order], lengths, parent)


def _tight(
    G: Graph, weight: str | None, found: NDArray[np.int64], d: NDArray[Any], starts: NDArray[np.int64], against: bool
) -> _Tight:
    def among(M: Matrix, turned: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        M = transposed(M) if turned else M
        i, j, values = (M if found.size == len(G) else M[found, found].new()).to_coo()
        return i, j, values

    against = against and G.directed
    fractions = G.fractions(weight)
    i, j, w = among(G.least(weight), against)
    i, j = i.astype(np.int64), j.astype(np.int64)
    listed = among(G.places(against), False)[2]
    with np.errstate(over="ignore"):
        kept = d[i] + w == d[j]
    kept &= ~np.isin(j, starts)
    order = np.flatnonzero(kept)[np.argsort(listed[kept])]
    fraction = None if fractions is None else among(fractions, against)[2][order]
    return _Tight(i[order], j[order], fraction)


_Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]


def _by_distance(d: NDArray[Any], tight: _Tight) -> _Found:
    """Order vertices by distance; distances must differ."""
    vertices = np.argsort(d)
    place = np.argsort(vertices)
    order = np.lexsort((place[tight.tails], tight.heads))
    heads, first = np.unique(tight.heads[order], return_index=True)
    parent, fraction = np.full(d.size, -1, np.int64), np.zeros(d.size, bool)
    parent[heads] = tight.tails[order[first]]
    if tight.fraction is not None:
        own = np.zeros(d.size, bool)
        own[heads] = tight.fraction[order[first]]
        for v in vertices.tolist():
            fraction[v] = own[v] or (parent[v] >= 0 and fraction[parent[v]])
    return vertices, parent, fraction


def _one_by_one(d: NDArray[Any], tight: _Tight, sources: list[int]) -> _Found:
    starts = np.searchsorted(tight.tails, np.arange(d.size + 1)).tolist()
    heads, lengths = tight.heads.tolist(), d.tolist()
    parent, fraction = np.full(d.size, -1, np.int64), np.zeros(d.size, bool)
    seen, order, counted = set(sources), [], len(sources)
    heap = [(lengths[v], k, v) for k, v in enumerate(dict.fromkeys(sources))]
    while heap:
        _, _, v = heappop(heap)
        order.append(v)
        for e in range(starts[v], starts[v + 1]):
            u = heads[e]
            if u not in seen:
                seen.add(u)
                parent[u] = v
                fraction[u] = fraction[v] or (tight.fraction is not None and tight.fraction[e])
                counted += 1
                heappush(heap, (lengths[u], counted, u))
    return np.array(order, np.int64), parent, fraction
