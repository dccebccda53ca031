"""Breadth-first searches and distances in hops, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._pattern import transposed
from sparsezc.algorithms.loops.bfs_trees import tree
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings import semiring
from sparsezc.semirings.types import datatypes


def within(A: Matrix, source: int, cutoff: float | None, undirected: bool = False) -> Vector:
    """Count hops to the vertices within `cutoff` of `source`; `cutoff` is rounded up, as in NetworkX's loop."""
    if cutoff is None or cutoff == inf:
        cutoff = A.nrows
    return algorithms.k_hop(A, source, max(ceil(cutoff), 0), undirected=undirected)


#: The most entries of a matrix that Python reads in less time than a search takes by a product for each level.
FEW = 20_000
_MANY = 1000  # the most searches that count, at FEW entries each: the rows have at most 20 M entries, 160 MB


class Tree(NamedTuple):
    """The result of a search: vertices in the order found, their depths, and the parent of each vertex of the graph."""

    vertices: NDArray[np.int64]
    depths: NDArray[np.int64]
    parent: NDArray[np.int64]


def search(
    G: Graph,
    sources: list[int],
    cutoff: float | None = None,
    against: bool = False,
    target: int | None = None,
    searches: int = 1,
) -> Tree:
    """Search breadth-first in NetworkX's order, up to a number of hops or a target; `against`: along reversed edges.

    With q the queue positions of the last level's vertices, times the number m of edges, P the numbers of
    the edges in the graph's order, and M all vertices found::

        q<!M> = q'P          over (min, plus)

    is, for each new vertex, the first edge to it from the first vertex in the queue. A graph without a NetworkX
    original lists its edges by their ends, so that the first vertex suffices. Python reads graphs of few edges in less
    time, and so does a compiled loop, also graphs of more edges if `searches` is large enough to repay compiling.
    """
    against = against and G.directed
    if (entries := G.number_of_entries()) <= FEW * min(searches, _MANY):
        looped = _search_loop(G, sources, cutoff, against, target, entries * searches)
        if looped is not None:
            return looped
        if entries <= FEW:
            return _search_rows(G, sources, cutoff, against, target)
    if G.source is None:
        P, rule, m = transposed(G.A) if against else G.A, semiring.min_first[datatypes.INT64], 1
    else:
        P, rule, m = G.places(against), semiring.min_plus[datatypes.INT64], max(int(G.A.nvals), 1)
    n, farthest = len(G), inf if cutoff is None else cutoff
    parent = np.full(n, -1, np.int64)
    queue, before = [np.array(sources, np.int64)], 0
    met = Vector.from_coo(queue[0], True, datatypes.BOOL, size=n)
    while queue[-1].size and len(queue) - 1 < farthest and not (queue[-1] == target).any():
        last = queue[-1]
        q = Vector.from_coo(last, (before + np.arange(last.size)) * m, datatypes.INT64, size=n)
        i, key = q.vxm(P, rule).new(mask=~met.S).to_coo()
        order = np.lexsort((i, key))
        found = i[order].astype(np.int64)
        parent[found] = last[key[order] // m - before]
        before += last.size
        queue.append(found)
        met(Vector.from_coo(found, True, datatypes.BOOL, size=n).S) << True
    depths = np.repeat(np.arange(len(queue)), [layer.size for layer in queue])
    return Tree(np.concatenate(queue), depths, parent)


def _search_loop(
    G: Graph, sources: list[int], cutoff: float | None, against: bool, target: int | None, times: int
) -> Tree | None:
    n = len(G)
    farthest = n if cutoff is None or cutoff >= n else ceil(cutoff) if cutoff > 0 else 0
    found = engine_loops.run_arrays(
        tree, G.A, *G.rows(against), np.full(n, -1), np.array(sources, np.int64), -1 if target is None else target,
        farthest, times=times,
    )  # fmt: skip
    if found is None:
        return None
    queue, count, depth, parent = found
    return Tree(queue[:count], depth[queue[:count]], parent)


def _search_rows(G: Graph, sources: list[int], cutoff: float | None, against: bool, target: int | None) -> Tree:
    indptr, indices = G.row_lists(against)
    farthest = inf if cutoff is None else cutoff
    queue, parent, depths, last, depth = list(sources), dict.fromkeys(sources, -1), [0] * len(sources), sources, 0
    while last and depth < farthest and target not in last and len(queue) < len(G):
        depth, found = depth + 1, list[int]()
        for v in last:
            for u in indices[indptr[v] : indptr[v + 1]]:
                if u not in parent:
                    parent[u] = v
                    found.append(u)
        queue += found
        depths += [depth] * len(found)
        last = found
    before = np.full(len(G), -1, np.int64)
    before[queue] = [parent[v] for v in queue]
    return Tree(np.array(queue, np.int64), np.array(depths, np.int64), before)


def hops(G: Graph, source: int, cutoff: float | None, against: bool = False, searches: int = 1) -> dict[Any, int]:
    """Return ``{node: hops from a vertex}``, in the order of the search."""
    found = search(G, [source], cutoff, against, searches=searches)
    return dict(zip(G.names(found.vertices), found.depths.tolist(), strict=True))


def hop_rows(G: Graph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield arrays of starts, ends and hops for all vertices that a start reaches, for 64 starts at a time."""
    for first in range(0, len(G), 64):
        starts = list(range(first, min(first + 64, len(G))))
        row, at, hops = algorithms.bfs(G.A, starts).to_coo()
        yield row.astype(np.int64) + first, at.astype(np.int64), hops.astype(np.int64)


def known(G: Graph, node: Any) -> int:
    """Return the number of a node; raise a NetworkXError if it is unknown."""
    if node not in G:
        raise G.missing(node)
    return G.index[node]


@claims(multigraph=True)
def single_source_shortest_path_length(G: Graph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return ``{node: hops from the source}``, nearest first."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return hops(G, G.index[source], cutoff)


@claims(multigraph=True)
def single_target_shortest_path_length(G: Graph, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return ``{node: hops to the target}``, nearest first."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return hops(G, G.index[target], cutoff, against=True)


@claims(multigraph=True)
def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Yield each node with ``{node: hops from it}``."""
    for i, node in enumerate(G):
        yield node, hops(G, i, cutoff, searches=len(G))


def _layers(found: Tree) -> Iterator[NDArray[np.int64]]:
    """Return the vertices at each depth of a search."""
    yield from np.split(found.vertices, np.flatnonzero(np.diff(found.depths)) + 1) if found.vertices.size else ()


@claims(multigraph=True)
def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Any]]:
    """Return lists of the nodes at depth 0, 1, ..., each in the order in which a search finds them."""
    starts = [known(G, node) for node in set([sources] if sources in G else sources)]
    yield from map(G.names, _layers(search(G, starts)))


@claims(multigraph=True)
def descendants_at_distance(G: Graph, source: Any, distance: Any) -> set[Any]:
    """Return the nodes at `distance` hops from a node."""
    found = search(G, [known(G, source)], distance)
    return set(G.names(found.vertices[found.depths == distance]))


@claims(multigraph=True)
def descendants(G: Graph, source: Any) -> set[Any]:
    """Return the other nodes that a node reaches."""
    return set(G.names(search(G, [known(G, source)]).vertices[1:]))


@claims(multigraph=True)
def ancestors(G: Graph, source: Any) -> set[Any]:
    """Return the other nodes that reach a node."""
    return set(G.names(search(G, [known(G, source)], against=True).vertices[1:]))
