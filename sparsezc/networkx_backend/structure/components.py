"""Components and cuts, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.depth_first import in_tarjans_order
from sparsezc.semirings import monoid, select


def split(labels: Vector) -> Iterator[NDArray[np.int64]]:
    """Return the vertices of each label, in ascending order of labels."""
    found = labels.to_coo()[1]
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order])) + 1
    yield from np.split(order, starts) if order.size else ()


def groups(G: Graph, labels: Vector) -> Iterator[set[Any]]:
    """Return the nodes of each label, by ascending label: by first node, if each label is its smallest vertex."""
    return (set(G.names(members)) for members in split(labels))


def _count(labels: Vector) -> int:
    return int(np.unique(labels.to_coo()[1]).size)


def _one(G: Graph, labels: Vector) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(labels) == 1


@claims(multigraph=True)
def connected_components(G: Graph) -> Iterator[set[Any]]:
    """Return the nodes of each component: see :func:`sparsezc.algorithms.connected_components`."""
    yield from groups(G, algorithms.connected_components(G.A))


@claims(multigraph=True)
def weakly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """Return the nodes of each weak component: see :func:`sparsezc.algorithms.connected_components`."""
    yield from groups(G, algorithms.connected_components(G.A))


@claims(multigraph=True)
def strongly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """Return the nodes of each strong component: see :func:`sparsezc.algorithms.strongly_connected_components`."""
    labels = algorithms.strongly_connected_components(G.A).to_coo()[1]
    yield from groups(G, Vector.from_dense(in_tarjans_order(G, labels)))


@claims("source", multigraph=True)
def kosaraju_strongly_connected_components(G: Graph, source: Any = None) -> Iterator[set[Any]]:
    """Return strong components in sinks-first order: see :func:`sparsezc.algorithms.strongly_connected_components`."""
    yield from strongly_connected_components(G)


@claims(multigraph=True)
def number_connected_components(G: Graph) -> int:
    """Return the number of components."""
    return _count(algorithms.connected_components(G.A))


@claims(multigraph=True)
def number_weakly_connected_components(G: Graph) -> int:
    """Return the number of weak components."""
    return _count(algorithms.connected_components(G.A))


@claims(multigraph=True)
def number_strongly_connected_components(G: Graph) -> int:
    """Return the number of strong components."""
    return _count(algorithms.strongly_connected_components(G.A))


@claims(multigraph=True)
def is_connected(G: Graph) -> bool:
    """Return whether there is one component."""
    return _one(G, algorithms.connected_components(G.A))


@claims(multigraph=True)
def is_weakly_connected(G: Graph) -> bool:
    """Return whether there is one weak component."""
    return _one(G, algorithms.connected_components(G.A))


@claims(multigraph=True)
def is_strongly_connected(G: Graph) -> bool:
    """Return whether there is one strong component."""
    return _one(G, algorithms.strongly_connected_components(G.A))


@claims(multigraph=True)
def node_connected_component(G: Graph, n: Any) -> set[Any]:
    """Return the nodes of a node's component; raise KeyError for an unknown node."""
    return set(G.names(algorithms.bfs(G.A, G.index[n]).to_coo()[0]))


@claims()
def stoer_wagner(G: Graph, weight: str = "weight", heap: Any = None) -> tuple[Any, tuple[list[Any], list[Any]]]:
    """Return the weight of a minimum cut and its two parts: see :func:`sparsezc.algorithms.stoer_wagner`."""
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    if algorithms.bfs(G.A, 0).nvals < len(G):
        raise nx.NetworkXError("graph is not connected.")
    A = G.values(weight).select(select.offdiag).new()
    if A.reduce_scalar(monoid.min).new().get(0) < 0:
        raise nx.NetworkXError("graph has a negative-weighted edge.")
    with else_declined():
        cut_value, part = algorithms.stoer_wagner(A)
    one = G.names(part.to_coo()[0])
    inside = set(one)
    return cut_value, (one, [node for node in G if node not in inside])


def _ends(G: Graph, s: Any, t: Any, options: dict[str, Any]) -> tuple[int, int]:
    """Check the arguments; return the numbers of source and sink."""
    if options:
        raise nx.NetworkXError("You have to explicitly set a flow_func if you need to pass parameters via kwargs.")
    for node in (s, t):
        if node not in G:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")
    return G.index[s], G.index[t]


@claims("flow_func")
def maximum_flow_value(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """Return the value of a maximum flow between two nodes: see :func:`sparsezc.algorithms.minimum_cut`."""
    return minimum_cut_value(flowG, _s, _t, capacity, flow_func, **kwargs)


@claims("flow_func")
def minimum_cut_value(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """Return the capacity of a minimum cut: see :func:`sparsezc.algorithms.minimum_cut`."""
    return minimum_cut(flowG, _s, _t, capacity, flow_func, **kwargs)[0]


@claims("flow_func")
def minimum_cut(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Return the capacity of a minimum cut and its two sides: see :func:`sparsezc.algorithms.minimum_cut`."""
    s, t = _ends(flowG, _s, _t, kwargs)
    if flowG.lacks(capacity):
        raise NotImplementedError(f"sparsezc: an edge has no {capacity!r}, which NetworkX takes for infinite")
    with else_declined():
        value, side = algorithms.minimum_cut(flowG.values(capacity), s, t)
    near = set(flowG.names(side.to_coo()[0]))
    return value or 0, (near, set(flowG) - near)


@claims("flow_func")
def maximum_flow(
    flowG: Graph, _s: Any, _t: Any, capacity: str = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, dict[Any, dict[Any, Any]]]:
    """Return the value of a maximum flow, and the flow of each edge: see :func:`sparsezc.algorithms.maximum_flow`."""
    s, t = _ends(flowG, _s, _t, kwargs)
    if flowG.lacks(capacity):
        raise NotImplementedError(f"sparsezc: an edge has no {capacity!r}, which NetworkX takes for infinite")
    with else_declined():
        value, F = algorithms.maximum_flow(flowG.values(capacity), s, t)
    indptr, indices = flowG.rows()
    rows = np.repeat(np.arange(len(flowG)), np.diff(indptr))
    i, j, carried = F.to_coo()
    n, flow = len(flowG), np.zeros(indices.size, carried.dtype)
    if i.size:
        cells = i.astype(np.int64) * n + j.astype(np.int64)
        at = np.minimum(np.searchsorted(cells, rows * n + indices), i.size - 1)
        found = cells[at] == rows * n + indices
        flow[found] = carried[at[found]]
    ends, numbers = flowG.names(indices), [x or 0 for x in np.maximum(flow, 0).tolist()]
    cuts = zip(flowG, indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    return value or 0, {node: dict(zip(ends[a:b], numbers[a:b], strict=True)) for node, a, b in cuts}
