"""Independent sets, matchings, spanning trees, ego graphs and colours, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.coloring.greedy_coloring import STRATEGIES

from sparsezc import algorithms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import search, within
from sparsezc.networkx_backend.paths.weighted_paths import nearest
from sparsezc.semirings import agg, select
from sparsezc.semirings.types import datatypes


@claims()
def maximal_independent_set(G: Graph, nodes: Any = None, seed: Any = None) -> list[Any] | set[Any]:
    """Return the set as a list, requested nodes first: see :func:`sparsezc.algorithms.maximal_independent_set`."""
    wanted = {seed.choice(list(G))} if not nodes else set(nodes)
    if not wanted <= set(G):
        raise nx.NetworkXUnfeasible(f"{wanted} is not a subset of the nodes of G")
    numbers = G.numbers(wanted)
    at = Vector.from_coo(numbers, True, datatypes.BOOL, size=len(G))
    loops = G.A.select(select.diag).new().diag()
    try:
        if loops.dup(mask=at.S).nvals:
            raise InvalidValue("a node with a loop is its own neighbour")
        chosen = algorithms.maximal_independent_set(G.A, numbers.tolist(), seed.randint(0, 2**31 - 1))
    except InvalidValue as error:
        raise nx.NetworkXUnfeasible(f"{wanted} is not an independent set of G") from error
    members = [*wanted, *(node for node in G.names(chosen.to_coo()[0]) if node not in wanted)]
    return set(members) if networkx_versions.SINCE_3_7 else members


@claims(undirected=True)
def maximal_matching(G: Graph) -> set[tuple[Any, Any]]:
    """Return edges as pairs: as in NetworkX, each free node, in order, is matched with its first free neighbour."""
    starts, ends = (part.data for part in G.rows())  # reading an item of a list costs less than of an array
    taken, pairs = bytearray(len(G)), []
    for u in range(len(G)):
        if taken[u]:
            continue
        taken[u] = True  # no later node can match a node without a free neighbour
        for v in ends[starts[u] : starts[u + 1]]:
            if not taken[v]:
                taken[v] = True
                pairs.append((u, v))
                break
    return {(G.labels[u], G.labels[v]) for u, v in pairs}


def _no_nan(given: dict[str, Any]) -> str | None:
    return "sparsezc does not support ignore_nan" if given["ignore_nan"] else None


def _forest(G: Graph, algorithm: str, weight: str, *, heaviest: bool = False) -> Iterator[tuple[Any, Any]]:
    """Return the edges that Kruskal's algorithm takes, in its order: by weight, then in the graph's order.

    Each edge's position in this order serves as its weight; these weights are distinct, so the forest is unique.
    """
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if algorithm not in nx.algorithms.tree.mst.ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    n = len(G)
    i, j, at = G.edge_list()
    weights = G.values(weight).select(select.triu).new().to_coo()[2][at]
    if heaviest:
        weights = ~weights if weights.dtype.kind in "iub" else -weights
    order = np.argsort(weights, kind="stable")
    i, j = i[order], j[order]
    apart = i != j
    i, j = i[apart], j[apart]
    place = np.arange(i.size)
    A = Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[place, place], nrows=n, ncols=n)._known_symmetric()
    taken = np.unique(algorithms.minimum_spanning_forest(A).to_coo()[2])
    return zip(G.names(i[taken]), G.names(j[taken]), strict=True)


def _with_data(G: Graph, edges: Iterator[tuple[Any, Any]], data: bool) -> Iterator[Any]:
    if not data:
        return edges
    source = original(G)
    return ((u, v, source[u][v]) for u, v in edges)


def _as_graph(G: Graph, edges: Iterator[tuple[Any, Any]]) -> Any:
    source = original(G)
    tree = source.__class__()
    tree.graph.update(source.graph)
    tree.add_nodes_from(source.nodes.items())
    tree.add_edges_from((u, v, source[u][v]) for u, v in edges)
    return tree


@claims(reason=_no_nan)
def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Return edges, with their attributes if `data`: see :func:`sparsezc.algorithms.minimum_spanning_forest`."""
    return _with_data(G, _forest(G, algorithm, weight), data)


@claims(reason=_no_nan)
def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Return edges of largest total weight: :func:`sparsezc.algorithms.minimum_spanning_forest` of negated weights."""
    return _with_data(G, _forest(G, algorithm, weight, heaviest=True), data)


@claims(reason=_no_nan)
def minimum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """Return the minimum spanning forest as a graph with all nodes and attributes."""
    return _as_graph(G, _forest(G, algorithm, weight))


@claims(reason=_no_nan)
def maximum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """Return the maximum spanning forest as a graph with all nodes and attributes."""
    return _as_graph(G, _forest(G, algorithm, weight, heaviest=True))


def _one_length(given: dict[str, Any]) -> str | None:
    both = given["distance"] is not None and given["undirected"] and given["G"].is_directed()
    return "an edge may have another length in the opposite direction" if both else None


@claims(reason=_one_length)
def ego_graph(
    G: Graph, n: Any, radius: float = 1, center: bool = True, undirected: bool = False, distance: str | None = None
) -> Any:
    """Return the subgraph within a distance of a node: see :func:`sparsezc.algorithms.k_hop` and ``sssp``."""
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    start = G.index[n]
    if distance is not None:
        near = nearest(G, start, distance, radius).vertices
    elif undirected and G.directed:
        near = within(G.A, start, radius, undirected).to_coo()[0]
    else:
        near = search(G, [start], radius).vertices
    H = original(G).subgraph(G.names(near)).copy()
    if not center:
        H.remove_node(n)
    return H


def _by_order(given: dict[str, Any]) -> str | None:
    strategy = given["strategy"]
    if not callable(strategy) and strategy not in STRATEGIES:
        return None  # NetworkX's error
    if given["interchange"] or strategy not in ("largest_first", "random_sequential"):
        return "sparsezc colours in the orders largest_first and random_sequential, without interchange"
    return None


@claims(undirected=True, loops="which NetworkX counts as two neighbours", reason=_by_order)
def greedy_color(G: Graph, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    """Return the colour of each node: see :func:`sparsezc.algorithms.greedy_color`."""
    if len(G) and not callable(strategy) and strategy not in STRATEGIES:
        raise nx.NetworkXError(f"strategy is {strategy!r}; one of {', '.join(STRATEGIES)}, or a function, is needed")
    colours = algorithms.greedy_color(G.A, strategy=strategy)
    if strategy == "random_sequential":
        return G.named(colours)
    degrees = G.A.reduce_rowwise(agg.count).new().to_dense(0)
    order = np.argsort(-degrees, kind="stable")  # NetworkX's colouring order
    return dict(zip(G.names(order), colours.to_dense()[order].tolist(), strict=True))
