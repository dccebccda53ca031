"""Graphs made from other graphs that are matrices, with NetworkX's names, arguments and errors.

Graphs whose edges and attributes NetworkX holds are left to NetworkX: their edges would be copied twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._pattern import transposed
from sparsezc.networkx_backend.generators.tables import from_edges, no_none
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph

_Edges = tuple[NDArray[np.int64], NDArray[np.int64]]


def _matrices(given: dict[str, Any]) -> str | None:
    """Return the reason to decline graphs that NetworkX holds itself, or None."""
    graphs = [given[name] for name in ("G", "H") if name in given]
    return None if all(isinstance(G, Graph) and G.source is None for G in graphs) else "NetworkX holds the graph itself"


def _ends(G: Graph, at: NDArray[np.int64] | None = None) -> _Edges:
    """Return the ends of the edges, of undirected edges in both directions, as numbers of G, or as ``at[number]``."""
    i, j, _ = G.A.to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    return (i, j) if at is None else (at[i], at[j])


def _of_edges(G: Graph, labels: Sequence[Any], i: NDArray[np.int64], j: NDArray[np.int64], data: Any = None) -> Graph:
    return from_edges(nx.DiGraph if G.directed else nx.Graph, labels, i, j, data or {})


def _alike(G: Graph, H: Graph) -> None:
    if G.directed != H.directed:
        raise nx.NetworkXError("All graphs must be directed or undirected.")


@claims(reason=_matrices)
def reverse(G: Graph, copy: bool = True) -> Graph:
    """Return the graph with every edge in the opposite direction."""
    if not G.directed:
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    values = {name: transposed(A) for name, A in G._values.items()}
    info = dict(G.info) if copy else G.info  # without a copy, NetworkX's view shares the dictionary
    return type(G)._made(transposed(G.A), G.labels)._with_attributes(values, dict(G.node_values), info)


@claims(reason=_matrices)
def complement(G: Graph) -> Graph:
    """Return the graph whose edges are the pairs of nodes without an edge."""
    n = len(G)
    missing = ~np.eye(n, dtype=bool)
    i, j = _ends(G)
    missing[i, j] = False
    at, to = missing.nonzero()
    return type(G)._of_edges(G.labels, at, to)


def _together(G: Graph, H: Graph, labels: Sequence[Any], at: NDArray[np.int64]) -> Graph:
    """Return the graph of both graphs' edges; common edges have H's values, and H's nodes the numbers `at`."""
    if G._values.keys() != H._values.keys() or G.node_values.keys() != H.node_values.keys():
        raise NotImplementedError("sparsezc: the graphs have attributes of different names")
    (i, j), (k, m) = _ends(G), _ends(H, at)
    data = {}
    for name, A in G._values.items():
        ours, theirs = A.to_coo()[2], H._values[name].to_coo()[2]
        data[name] = np.r_[ours, theirs]
        if any((values.dtype.kind == "f") != (data[name].dtype.kind == "f") for values in (ours, theirs)):
            raise NotImplementedError(f"sparsezc: the graphs' types of edge attribute {name!r} have no common type")
    made = _of_edges(G, labels, np.r_[i, k], np.r_[j, m], data)
    made.info.update({**G.info, **H.info})
    for name, values in G.node_values.items():
        of_all = np.empty(len(labels), object)
        of_all[: len(G)], of_all[at] = values, H.node_values[name]
        made.node_values[name] = of_all
    return made


def _numbers_in(G: Graph, H: Graph) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the nodes of both graphs, and the numbers of H's among them."""
    index = dict(G.index)
    for node in H.labels:
        index.setdefault(node, len(index))
    return list(index), np.fromiter(map(index.__getitem__, H.labels), np.int64, len(H))


@claims(reason=_matrices)
def compose(G: Graph, H: Graph) -> Graph:
    """Return the graph of the nodes and edges of either graph; edges of both graphs have the values of H."""
    _alike(G, H)
    return _together(G, H, *_numbers_in(G, H))


def _prefixed(labels: Sequence[Any], prefix: str | None) -> Sequence[Any]:
    return labels if prefix is None else [f"{prefix}{node}" for node in labels]


def _apart(G: Graph, H: Graph, rename: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the new names of both graphs' nodes, all different."""
    one, other = (*rename, None, None)[:2]
    ours, theirs = _prefixed(G.labels, one), _prefixed(H.labels, other)
    if len(set(ours)) < len(G) or len(set(theirs)) < len(H):
        raise NotImplementedError("sparsezc: nodes of one graph have the same name with the prefix")
    _alike(G, H)
    if not set(ours).isdisjoint(theirs):
        raise nx.NetworkXError("The node sets of the graphs are not disjoint; rename= gives them prefixes.")
    return ours, theirs


@claims(reason=_matrices)
def union(G: Graph, H: Graph, rename: Any = ()) -> Graph:
    """Return the union of two graphs without a common node, optionally with prefixes for names."""
    ours, theirs = _apart(G, H, tuple(rename))
    return _together(G, H, [*ours, *theirs], np.arange(len(H)) + len(G))


@claims(reason=_matrices)
def disjoint_union(G: Graph, H: Graph) -> Graph:
    """Return the union of two graphs, with numbers as the names of nodes."""
    _alike(G, H)
    n = len(G) + len(H)
    return _together(G, H, range(n), np.arange(len(G), n))


@claims(reason=_matrices)
def full_join(G: Graph, H: Graph, rename: Any = (None, None)) -> Graph:
    """Return the union of two graphs, with every edge between a node of one and a node of the other."""
    if G._values or H._values:
        raise NotImplementedError("sparsezc: the edges between the graphs would have no values")
    made = union(G, H, rename)
    i, j = _ends(made)
    n, m = len(G), len(H)
    at, to = np.repeat(np.arange(n), m), np.tile(np.arange(n, n + m), n)
    joined = _of_edges(G, made.labels, np.r_[i, at, to], np.r_[j, to, at])
    return joined._with_attributes({}, made.node_values, made.info)


def _shared(G: Graph, H: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each graph's edges as numbers ``i * n + j``, with the n nodes of both numbered in G's order, then H's."""
    labels, at = _numbers_in(G, H)
    n = len(labels)
    (i, j), (k, m) = _ends(G), _ends(H, at)
    return i * n + j, k * n + m


@claims(reason=_matrices)
def intersection(G: Graph, H: Graph) -> Graph:
    """Return the graph of the nodes and edges that both graphs have, without values."""
    _alike(G, H)
    n = len(_numbers_in(G, H)[0])
    ours, theirs = _shared(G, H)
    both = np.intersect1d(ours, theirs)
    inside = np.fromiter((node in H.index for node in G.labels), bool, len(G))
    number = np.cumsum(inside) - 1
    labels = G.names(np.flatnonzero(inside))
    return _of_edges(G, labels, number[both // n], number[both % n])


def _of_the_same_nodes(G: Graph, H: Graph) -> int:
    if set(G) != set(H):
        raise nx.NetworkXError("Node sets of graphs not equal")
    return len(G)


@claims(reason=_matrices)
def difference(G: Graph, H: Graph) -> Graph:
    """Return the graph of the edges that G has and H has not, without values."""
    n = _of_the_same_nodes(G, H)
    kept = np.setdiff1d(*_shared(G, H))
    return _of_edges(G, G.labels, kept // n if n else kept, kept % n if n else kept)


@claims(reason=_matrices)
def symmetric_difference(G: Graph, H: Graph) -> Graph:
    """Return the graph of the edges that exactly one of the graphs has, without values."""
    n = _of_the_same_nodes(G, H)
    kept = np.setxor1d(*_shared(G, H))
    return _of_edges(G, G.labels, kept // n if n else kept, kept % n if n else kept)


def _renamed(G: Graph, labels: Sequence[Any]) -> Graph:
    """Return the graph with other names, which must all differ, and the same matrices."""
    return type(G)._made(G.A, labels)._with_attributes(dict(G._values), dict(G.node_values), dict(G.info))


@claims(reason=_matrices)
def relabel_nodes(G: Graph, mapping: Any, copy: bool = True) -> Graph:
    """Return the graph with other names for its nodes; nodes of the same new name become one."""
    if not copy:
        raise nx.NetworkXError("the graph is a Matrix and cannot be changed; copy=True makes another")
    labels = [mapping(node) if callable(mapping) else mapping.get(node, node) for node in G.labels]
    no_none(labels)
    index = {node: k for k, node in enumerate(dict.fromkeys(labels))}
    if len(index) == len(labels):
        return _renamed(G, labels)
    i, j = _ends(G, np.fromiter(map(index.__getitem__, labels), np.int64, len(labels)))
    if G._values or G.node_values:
        raise NotImplementedError("sparsezc: several nodes become one, and it is not defined which values are kept")
    return _of_edges(G, list(index), i, j)


@claims(reason=_matrices)
def convert_node_labels_to_integers(
    G: Graph, first_label: int = 0, ordering: str = "default", label_attribute: Any = None
) -> Graph:
    """Return the graph with numbers as names, in the order of the graph, of the names, or of the degrees."""
    n = len(G)
    if ordering == "default":
        order = list(range(n))
    elif ordering == "sorted":
        order = sorted(range(n), key=lambda k: G.labels[k])
    elif ordering in ("increasing degree", "decreasing degree"):
        degree = G.degrees().tolist()
        order = sorted(range(n), key=lambda k: (degree[k], G.labels[k]))
        order = order if ordering.startswith("increasing") else order[::-1]
    else:
        raise nx.NetworkXError(f"Unknown node ordering: {ordering}")
    place = np.empty(n, np.int64)
    place[order] = np.arange(first_label, first_label + n)
    made = _renamed(G, place.tolist())
    if label_attribute is not None:
        made.node_values[label_attribute] = np.fromiter(G.labels, object, n)
    return made
