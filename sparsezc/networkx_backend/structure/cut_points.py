"""Bridges, articulation points and biconnected components, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings import monoid, select


def _parts(G: Graph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the ends of the edges of each biconnected component, each edge once."""
    i, j, label = algorithms.biconnected_components(G.A).select(select.triu).new().to_coo()
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    if order.size:
        yield from zip(np.split(i[order], cuts), np.split(j[order], cuts), strict=True)


@claims(multigraph=True)
def biconnected_components(G: Graph) -> Iterator[set[Any]]:
    """Return the nodes of each biconnected component: see :func:`sparsezc.algorithms.biconnected_components`."""
    for i, j in _parts(G):
        yield set(G.names(np.union1d(i, j)))


@claims(loops="which NetworkX puts into a component of their node")
def biconnected_component_edges(G: Graph) -> Iterator[list[tuple[Any, Any]]]:
    """Return the edges of each biconnected component: see :func:`sparsezc.algorithms.biconnected_components`."""
    for i, j in _parts(G):
        yield list(zip(G.names(i), G.names(j), strict=True))


@claims(multigraph=True)
def is_biconnected(G: Graph) -> bool:
    """Return whether all nodes are in one biconnected component."""
    if G.A.nvals == 0 or algorithms.bfs(G.A, 0).nvals < len(G):
        return False
    L = algorithms.biconnected_components(G.A)
    return bool(L.nvals and L.reduce_scalar(monoid.min).new().get() == L.reduce_scalar(monoid.max).new().get())


@claims(multigraph=True)
def articulation_points(G: Graph) -> Iterator[Any]:
    """Return the nodes whose removal splits their component: see :func:`sparsezc.algorithms.articulation_points`."""
    yield from G.names(algorithms.articulation_points(G.A).to_coo()[0])


def _bridges(G: Graph, root: Any) -> list[tuple[Any, Any]]:
    """Return the bridges in the graph's order; with `root`, those of its component."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    B = algorithms.bridges(G.A)
    i, j, _ = G.edge_list()
    n = len(G)
    at, to, _ = B.to_coo()
    kept = np.isin(i * n + j, at.astype(np.int64) * n + to.astype(np.int64))
    if root is not None:
        reached = np.zeros(n, bool)
        reached[algorithms.bfs(G.A, G.index[root]).to_coo()[0]] = True
        kept &= reached[i]
    if G.multi:
        a, b, count = G.values(None).to_coo()
        single = np.isin(i * n + j, (a.astype(np.int64) * n + b.astype(np.int64))[count == 1])
        kept &= single
    return list(zip(G.names(i[kept]), G.names(j[kept]), strict=True))


@claims(multigraph=True)
def bridges(G: Graph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """Return the edges whose removal splits their component: see :func:`sparsezc.algorithms.bridges`."""
    yield from _bridges(G, root)


@claims(multigraph=True)
def has_bridges(G: Graph, root: Any = None) -> bool:
    """Return whether some edge is a bridge."""
    return bool(_bridges(G, root))


def _without_span(given: dict[str, Any]) -> str | None:
    return "sparsezc does not compute the spans of local bridges" if given["with_span"] is True else None


@claims(reason=_without_span)
def local_bridges(G: Graph, with_span: bool = True, weight: str | None = None) -> Iterator[tuple[Any, ...]]:
    """Return the edges whose ends have no common neighbour."""
    i, j, _ = G.edge_list()
    common = algorithms.common_neighbors(G.A, G.A)
    at, to, _ = common.to_coo()
    n = len(G)
    kept = ~np.isin(i * n + j, at.astype(np.int64) * n + to.astype(np.int64))
    yield from zip(G.names(i[kept]), G.names(j[kept]), strict=True)
