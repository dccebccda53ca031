"""Sums over the distances of all pairs, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, nan
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._pattern import transposed
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import hop_rows
from sparsezc.networkx_backend.paths.weighted_paths import distances, shortest_path_length
from sparsezc.semirings import monoid

_Rows = Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]]


def _rows(G: Graph, weight: str | None) -> _Rows:
    """Yield arrays of starts, ends and distances, for all pairs of vertices with a path."""
    if weight is None:
        yield from hop_rows(G)
        return
    if G.fractions(weight) is not None:
        raise NotImplementedError("sparsezc: integers and floats mix")
    for k in range(len(G)):
        at, length = distances(G, k, weight).to_coo()
        yield np.full(at.size, k), at.astype(np.int64), length


def _total(G: Graph, weight: str | None, term: Callable[..., NDArray[Any]]) -> Any:
    """Sum a term over all distances d; no term may exceed d * (d + 1), or d times a product of two degrees."""
    total: Any = 0
    most = 2 * int(G.degrees().max(initial=1))
    for i, j, d in _rows(G, weight):
        far = int(d.max(initial=0)) if d.dtype.kind in "iu" else 0
        if far * max(far + 1, most**2) * d.size >= 2**63:
            d = d.astype(object)  # Python integers do not wrap around
        total += np.asarray(term(i, j, d).sum()).item()
    return total


def _in_one_piece(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool(algorithms.bfs(G.A, 0).nvals == len(G) == algorithms.bfs(transposed(G.A), 0).nvals)


@claims()
def efficiency(G: Graph, u: Any, v: Any) -> float:
    """Return one over the number of hops between two nodes, 0 without a path."""
    try:
        return 1 / shortest_path_length(G, u, v)  # type: ignore[no-any-return]
    except nx.NetworkXNoPath:
        return 0


@claims()
def global_efficiency(G: Graph) -> float:
    """Return the mean of 1/d over all pairs: see :func:`sparsezc.algorithms.global_efficiency`."""
    return algorithms.global_efficiency(G.A) if len(G) > 1 else 0


@claims(loops="whose nodes NetworkX counts as their own neighbours")
def local_efficiency(G: Graph) -> float:
    """Return the mean efficiency of the nodes' neighbourhoods: see :func:`sparsezc.algorithms.local_efficiency`."""
    return float(algorithms.local_efficiency(G.A).reduce(monoid.plus).new().get(0.0)) / len(G)


@claims(multigraph=True)
def wiener_index(G: Graph, weight: str | None = None) -> float:
    """Return the sum of the distances of all pairs."""
    if not _in_one_piece(G):
        return inf
    total = _total(G, weight, lambda i, j, d: d)
    return total if G.directed else total / 2  # type: ignore[no-any-return]


@claims()
def hyper_wiener_index(G: Graph, weight: str | None = None) -> float:
    """Return half of the sum of the distances and their squares."""
    return _total(G, weight, lambda i, j, d: d + d * d) / 2 if _in_one_piece(G) else inf


@claims()
def schultz_index(G: Graph, weight: str | None = None) -> float:
    """Return the sum of the distances of all pairs times the sums of their degrees."""
    k = G.degrees()
    return _total(G, weight, lambda i, j, d: d * (k[i] + k[j])) / 2 if _in_one_piece(G) else inf


@claims()
def gutman_index(G: Graph, weight: str | None = None) -> float:
    """Return the sum of the distances of all pairs times the products of their degrees."""
    k = G.degrees()
    return _total(G, weight, lambda i, j, d: d * k[i] * k[j]) / 2 if _in_one_piece(G) else inf


@claims("sp", multigraph=True)
def harmonic_diameter(G: Graph, sp: Any = None, *, weight: str | None = None) -> float:
    """Return the harmonic mean of the distances of all pairs."""
    n = len(G)

    def term(i: NDArray[np.int64], j: NDArray[np.int64], d: NDArray[Any]) -> NDArray[np.float64]:
        if (d[i != j] == 0).any():
            raise NotImplementedError("sparsezc: two nodes have distance 0")
        return 1 / d[i != j]  # type: ignore[no-any-return]

    total = _total(G, weight, term)
    if total != 0:
        return n * (n - 1) / total  # type: ignore[no-any-return]
    return inf if n > 1 else nan


@claims("attr", "sp", multigraph=True)
def barycenter(G: Graph, weight: str | None = None, attr: Any = None, sp: Any = None) -> list[Any]:
    """Return the nodes of the least sum of distances to all others."""
    if len(G) == 0 and not G.directed and weight is None:
        raise nx.NetworkXPointlessConcept("the barycenter of the null graph is undefined.")
    sums: list[Any] = []
    for i, _, d in _rows(G, weight):
        _, first, count = np.unique(i, return_index=True, return_counts=True)
        if (count < len(G)).any():
            raise nx.NetworkXNoPath(
                f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
            )
        sums += np.add.reduceat(d, first).tolist()
    least = min(sums, default=inf)
    found = [node for node, total in zip(G, sums, strict=True) if total == least]
    if len(found) == 2 and weight is None and not G.directed and G.number_of_edges() == len(G) - 1:
        hops = algorithms.bfs(G.A, 0)  # NetworkX walks from the tree's first node
        found.sort(key=lambda node: hops.get(G.index[node]))
    return found


def _positive_size(G: Graph) -> None:
    if G.A.nvals == 0:
        raise nx.NetworkXError("Size of G must be positive")


def _reach(G: Graph, i: NDArray[np.int64], d: NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how many others each vertex reaches; in undirected graphs, its sum of one over distances."""
    value = np.ones(d.size) if G.directed else 1 / np.where(d == 0, 1, d)
    return np.bincount(i[kept], value[kept], minlength=len(G)).astype(np.float64)


@claims("paths", "weight", multigraph=True)
def local_reaching_centrality(
    G: Graph, v: Any, paths: Any = None, weight: str | None = None, normalized: bool = True
) -> float:
    """Return the share of other nodes that a node reaches; undirected graphs weigh each by one over its distance."""
    if len(G) == 1 and G.A.nvals:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    _positive_size(G)
    if v not in G:
        raise nx.NodeNotFound(f"Source {v} not in G")
    d = algorithms.bfs(G.A, G.index[v]).to_coo()[1].astype(np.int64)
    i = np.zeros(d.size, np.int64)
    return float(_reach(G, i, d, d > 0)[0] / (len(G) - 1))


@claims("weight", multigraph=True)
def global_reaching_centrality(G: Graph, weight: str | None = None, normalized: bool = True) -> float:
    """Return the mean excess of the largest local reaching centrality over those of the other nodes."""
    _positive_size(G)
    if len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    reach = np.zeros(len(G))
    for i, _, d in hop_rows(G):
        reach += _reach(G, i, d, d > 0)
    reach /= len(G) - 1
    return float((reach.max() - reach).sum() / (len(G) - 1))
