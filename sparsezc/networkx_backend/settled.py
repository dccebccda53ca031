"""The order in which Dijkstra's algorithm settles vertices, and the vertex before each, from the distances alone."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._pattern import transposed
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graph import Graph


class Settled(NamedTuple):
    """Vertices as Dijkstra's algorithm settles them, their distances as Python's numbers, and the one before each."""

    vertices: NDArray[np.int64]
    lengths: list[Any]
    parent: NDArray[np.int64]

    def named(self, G: Graph) -> dict[Any, Any]:
        """Distances by nodes."""
        return dict(zip(G.names(self.vertices), self.lengths, strict=True))


class _Tight(NamedTuple):
    """The edges on shortest paths, by tails and then as the graph lists them; whether each is a fraction."""

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
    """Put the vertices that a search found into the order in which NetworkX's search settles them.

    Among vertices of one distance that is the order in which each was first reached by a shortest path: from the vertex
    settled first, along the edge that the graph lists first. No other edges are looked at.
    """
    n = len(G)
    i, values = distance.to_coo()
    far = inf if cutoff is None else cutoff
    near = (values <= far) | np.isin(i, sources)
    d = np.zeros(n, values.dtype)
    reached = np.zeros(n, bool)
    d[i[near]], reached[i[near]] = values[near], True
    tight = _tight(G, weight, d, reached, sources, against)
    if np.unique(values[near]).size == np.count_nonzero(near):
        vertices, parent, fraction = _by_distance(d, reached, tight)
    else:
        vertices, parent, fraction = _one_by_one(d, tight, sources)
    lengths = d[vertices].tolist()
    if tight.fraction is not None:
        lengths = [x if fraction[v] else int(x) for v, x in zip(vertices.tolist(), lengths, strict=True)]
    starts = set(sources)
    lengths = [0 if v in starts else x for v, x in zip(vertices.tolist(), lengths, strict=True)]
    return Settled(vertices, lengths, parent)


def _tight(
    G: Graph, weight: str | None, d: NDArray[Any], reached: NDArray[np.bool_], sources: list[int], against: bool
) -> _Tight:
    against = against and G.directed
    A, fractions = G.values(weight), G.fractions(weight)
    i, j, w = (transposed(A) if against else A).to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    listed = G.places(against).to_coo()[2]
    reached = reached.copy()
    with np.errstate(over="ignore"):
        kept = reached[i] & reached[j] & (d[i] + w == d[j])
    kept &= ~np.isin(j, sources)
    order = np.flatnonzero(kept)[np.argsort(listed[kept])]
    if fractions is None:
        return _Tight(i[order], j[order], None)
    fraction = (transposed(fractions) if against else fractions).to_coo()[2]
    return _Tight(i[order], j[order], fraction[order])


_Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]


def _by_distance(d: NDArray[Any], reached: NDArray[np.bool_], tight: _Tight) -> _Found:
    """Where no two distances are the same."""
    vertices = np.flatnonzero(reached)
    vertices = vertices[np.argsort(d[vertices])]
    place = np.zeros(d.size, np.int64)
    place[vertices] = np.arange(vertices.size)
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
