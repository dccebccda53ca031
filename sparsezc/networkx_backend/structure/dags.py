"""Directed graphs: order, closure and reciprocity, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import FEW
from sparsezc.networkx_backend.structure.components import split
from sparsezc.semirings import semiring
from sparsezc.semirings.types import datatypes

_CYCLE = "Graph contains a cycle or graph changed during iteration"


@claims(multigraph=True)
def is_directed_acyclic_graph(G: Graph) -> bool:
    """Return whether the graph is directed and has no cycle."""
    return G.directed and algorithms.is_directed_acyclic_graph(G.A)


@claims()
def topological_generations(G: Graph) -> Iterator[list[Any]]:
    """Return each generation's nodes in NetworkX's order: see :func:`sparsezc.algorithms.topological_generations`."""
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    if G.number_of_entries() <= FEW:
        yield from _by_rows(G)
        return
    try:
        generations = algorithms.topological_generations(G.A)
    except InvalidValue as error:
        raise nx.NetworkXUnfeasible(_CYCLE) from error
    yield from map(G.names, _as_met(G, split(generations)))


def _by_rows(G: Graph) -> Iterator[list[Any]]:
    """Yield the generations of a graph of few edges, whose rows Python reads in less time than a product takes."""
    indptr, indices = G.row_lists()
    left = np.bincount(G.rows()[1], minlength=len(G)).tolist()
    last, rest = [v for v, edges in enumerate(left) if not edges], len(G)
    while last:
        yield G.names(np.array(last))
        rest -= len(last)
        found = []
        for v in last:
            for u in indices[indptr[v] : indptr[v + 1]]:
                left[u] -= 1
                if not left[u]:
                    found.append(u)
        last = found
    if rest:
        raise nx.NetworkXUnfeasible(_CYCLE)


def _as_met(G: Graph, generations: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Sort the vertices of each generation by the last edge to each, in NetworkX's order of edges.

    With q the positions of the vertices yielded before, times the number of edges, and P the positions of the edges,
    the last edges to the vertices of the next generation are the entries of::

        q'P          over (max, plus)
    """
    n, m = len(G), max(int(G.A.nvals), 1)
    q, done = Vector(datatypes.INT64, n), 0
    P = G.places()
    for generation in generations:
        found = generation
        if done:
            last = q.vxm(P, semiring.max_plus[datatypes.INT64]).new().to_dense(-1)
            found = generation[np.argsort(last[generation])]
        places = Vector.from_coo(found, (done + np.arange(found.size)) * m, datatypes.INT64, size=n)
        q(places.S) << places
        done += found.size
        yield found


@claims()
def topological_sort(G: Graph) -> Iterator[Any]:
    """Return the nodes so that every edge leads forward: see :func:`sparsezc.algorithms.topological_sort`."""
    for generation in topological_generations(G):
        yield from generation


@claims(directed=True)
def transitive_closure(G: Graph, reflexive: bool | None = False) -> Any:
    """Return the graph with an edge for each path: see :func:`sparsezc.algorithms.transitive_closure`."""
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    i, j, _ = algorithms.transitive_closure(G.A, reflexive).to_coo()
    H = original(G).copy()
    H.add_edges_from(zip(G.names(i), G.names(j), strict=True))
    return H


@claims("topo_order")
def transitive_closure_dag(G: Graph, topo_order: None = None) -> Any:
    """Return the transitive closure of a graph without cycles."""
    if not algorithms.is_directed_acyclic_graph(G.A):
        raise nx.NetworkXUnfeasible("Graph contains a cycle.")
    return transitive_closure(G)


@claims()
def transitive_reduction(G: Graph) -> Any:
    """Return a graph of the same nodes and of the edges that no other path replaces, without attributes."""
    try:
        i, j, _ = algorithms.transitive_reduction(G.A).to_coo()
    except InvalidValue as error:
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction") from error
    H = nx.DiGraph()
    H.add_nodes_from(G)
    H.add_edges_from(zip(G.names(i), G.names(j), strict=True))
    return H


@claims(directed=True)
def overall_reciprocity(G: Graph) -> float:
    """Return the share of the edges that have an opposite edge."""
    try:
        return algorithms.overall_reciprocity(G.A)
    except InvalidValue as error:
        raise nx.NetworkXError("Not defined for empty graphs") from error


@claims(directed=True)
def reciprocity(G: Graph, nodes: Any = None) -> Any:
    """Return the reciprocity of one node, or ``{node: reciprocity}``, None for nodes without edges."""
    if nodes is None:
        return overall_reciprocity(G)
    rows = G.rows(), G.rows(against=True)
    if nodes not in G:
        return {node: _reciprocity(rows, G.index[node]) for node in G.bunch(nodes)}
    share = _reciprocity(rows, G.index[nodes])
    if share is None:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return share


def _reciprocity(rows: Any, k: int) -> float | None:
    """Return the share of a vertex's edges that have an opposite edge; None without edges."""
    out, back = (set(indices[indptr[k] : indptr[k + 1]].tolist()) for indptr, indices in rows)
    edges = len(out) + len(back)
    return 2.0 * len(out & back) / edges if edges else None
