"""Triangles, squares, cores and trusses, with NetworkX's names, arguments and errors."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.clustering import squares
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.weighted_paths import not_all_zero
from sparsezc.semirings import binary, select, semiring
from sparsezc.semirings.types import datatypes


def _by_neighbours(
    G: Graph, A: Matrix, measure: Callable[[Matrix], Vector], nodes: Any, also: NDArray[Any] | None = None
) -> Any:
    """Measure nodes in the subgraph of these nodes and their neighbours; no other edges are read.

    Parameters
    ----------
    A : Matrix
        The edges.
    also : array, optional
        Further vertices that the subgraph must have.
    """
    if nodes is None:
        return G.named(measure(A), whole_zeros=True)
    asked = G.bunch(nodes)
    at = Vector.from_coo(np.unique(G.numbers(asked)), True, datatypes.BOOL, size=len(G))
    near = at.dup()
    near(binary.lor) << at.vxm(A, semiring.any_pair[datatypes.BOOL])
    if G.directed:
        near(binary.lor) << A.mxv(at, semiring.any_pair[datatypes.BOOL])
    vertices = near.to_coo()[0].astype(np.int64)
    if also is not None:
        vertices = np.union1d(vertices, also)
    some = A[vertices, vertices].new()._known_symmetric(not G.directed)
    values = measure(some).to_dense(0)[np.searchsorted(vertices, G.numbers(asked))].tolist()
    found = {node: value or 0 for node, value in zip(asked, values, strict=True)}
    return found[nodes] if nodes in G else found


def _heaviest(A: Matrix) -> NDArray[np.int64]:
    """Return the ends of an edge of the largest weight, or an empty array if there are no edges."""

    def look() -> NDArray[np.int64]:
        i, j, _ = A.select(select.valueeq, lengths_of(A).most).new().to_coo()
        return np.array([*i[:1], *j[:1]], np.int64)

    ends: NDArray[np.int64] = A._fact("heaviest", look)
    return ends


@claims()
def triangles(G: Graph, nodes: Any = None) -> Any:
    """Return the number of triangles at each node: see :func:`sparsezc.algorithms.triangles`."""
    return _by_neighbours(G, G.A, algorithms.triangles, nodes)


@claims()
def clustering(G: Graph, nodes: Any = None, weight: str | None = None) -> Any:
    """Return the clustering coefficient of each node: see :func:`sparsezc.algorithms.clustering`."""
    if weight is None:
        return _by_neighbours(G, G.A, algorithms.clustering, nodes)
    A = not_all_zero(G, weight)
    with else_declined():  # weights are relative to the largest of all
        return _by_neighbours(G, A, lambda some: algorithms.clustering(some, weighted=True), nodes, _heaviest(A))


@claims()
def average_clustering(G: Graph, nodes: Any = None, weight: str | None = None, count_zeros: bool = True) -> float:
    """Return the mean clustering coefficient of all nodes or of some, with or without zeros."""
    values = list(clustering(G, nodes, weight).values())
    if not count_zeros:
        values = [value for value in values if value > 0]
    return float(sum(values) / len(values))


@claims(undirected=True)
def transitivity(G: Graph) -> float:
    """Return the share of closed triples: see :func:`sparsezc.algorithms.transitivity`."""
    return algorithms.transitivity(G.A) or 0


@claims(undirected=True)
def square_clustering(G: Graph, nodes: Any = None) -> Any:
    """Return the squares coefficient of each node: see :func:`sparsezc.algorithms.square_clustering`."""
    asked = list(G) if nodes is None else G.bunch(nodes)
    at, possible = squares(simple(G.A), None if nodes is None else G.numbers(asked))
    pairs = zip(asked, at.to_dense(0).tolist(), possible.to_dense(0).tolist(), strict=True)
    found = {node: part / whole if whole > 0 else 0 for node, part, whole in pairs}
    return found[nodes] if nodes in G else found


def _refuse_loops(G: Graph, has: str = "has") -> None:
    if G.number_of_loops():
        raise nx.NetworkXNotImplemented(
            f"Input graph {has} self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def core_numbers(G: Graph) -> dict[Any, int]:
    """Return the core number of each node of a graph without loops: see :func:`sparsezc.algorithms.core_number`."""
    _refuse_loops(G)
    return G.named(algorithms.core_number(G.A))


@claims(undirected=True)
def core_number(G: Graph) -> dict[Any, int]:
    """Return the core number of each node: see :func:`sparsezc.algorithms.core_number`."""
    return core_numbers(G)


def _subgraph(G: Graph, core: dict[Any, int] | None, k: int | None, keep: Callable[[int, int], bool], less: int) -> Any:
    """Return the subgraph of nodes whose core number `keep` accepts; k is by default the largest less `less`."""
    if core is None:
        core = core_numbers(G)
    bound = max(core.values()) - less if k is None else k
    return original(G).subgraph(node for node, number in core.items() if keep(number, bound)).copy()


@claims(undirected=True)
def k_core(G: Graph, k: int | None = None, core_number: dict[Any, int] | None = None) -> Any:
    """Return the subgraph of nodes with core numbers of at least `k`."""
    return _subgraph(G, core_number, k, operator.ge, 0)


@claims(undirected=True)
def k_shell(G: Graph, k: int | None = None, core_number: dict[Any, int] | None = None) -> Any:
    """Return the subgraph of nodes with core number `k`."""
    return _subgraph(G, core_number, k, operator.eq, 0)


@claims(undirected=True)
def k_crust(G: Graph, k: int | None = None, core_number: dict[Any, int] | None = None) -> Any:
    """Return the subgraph of nodes with core numbers of at most `k`."""
    return _subgraph(G, core_number, k, operator.le, 1)


@claims(reason=lambda given: None if isinstance(given["k"], Integral) else "k is not an integer")
def k_truss(G: Graph, k: int) -> Any:
    """Return the subgraph of edges in `k` - 2 triangles or more: see :func:`sparsezc.algorithms.k_truss`."""
    _refuse_loops(G)
    i, j, _ = algorithms.k_truss(G.A, max(int(k), 0)).to_coo()
    kept = set(zip(G.names(i), G.names(j), strict=True))
    H = original(G).copy()
    H.remove_edges_from([edge for edge in H.edges if edge not in kept])
    H.remove_nodes_from(list(nx.isolates(H)))
    return H


@claims(undirected=True)
def generalized_degree(G: Graph, nodes: Any = None) -> Any:
    """Return, for each node, ``{t: the number of its edges in t triangles}``."""
    S = simple(G.A)
    T = S.mxm(S, semiring.plus_pair[datatypes.INT64]).new(mask=S.S)
    n = len(G)
    edges, closed = out_degree(S).to_dense(0), out_degree(T).to_dense(0)
    i, _, count = T.to_coo()
    cells, times = np.unique(i.astype(np.int64) * (n + 1) + count, return_counts=True)
    found: dict[int, dict[int, int]] = {k: {} for k in range(n)}
    for cell, number in zip(cells.tolist(), times.tolist(), strict=True):
        found[cell // (n + 1)][cell % (n + 1)] = number
    for k in np.flatnonzero(edges > closed).tolist():
        found[k][0] = int(edges[k] - closed[k])
    if nodes in G:
        return Counter(found[G.index[nodes]])
    return {node: Counter(found[G.index[node]]) for node in (G if nodes is None else G.bunch(nodes))}


@claims()
def onion_layers(G: Graph) -> dict[Any, int]:
    """Return the round in which each node is removed; a round removes the nodes of degrees up to the current core."""
    _refuse_loops(G, "contains")
    degree = out_degree(G.A).to_dense(0)
    order = [np.flatnonzero(degree == 0)]
    layers, core = [1], 1
    left = degree > 0
    first = 2 if order[0].size else 1
    while left.any():
        core = max(core, int(degree[left].min()))
        now = np.flatnonzero(left & (degree <= core))
        order.append(now[np.argsort(degree[now], kind="stable")])
        layers.append(first)
        first += 1
        left[now] = False
        gone = Vector.from_coo(now, 1, datatypes.INT64, size=len(G))
        at, lost = gone.vxm(G.A, semiring.plus_first[datatypes.INT64]).new().to_coo()
        degree[at] -= lost
    return {node: layer for part, layer in zip(order, layers, strict=True) for node in G.names(part)}


@claims(undirected=True)
def k_corona(G: Graph, k: int, core_number: Any = None) -> Any:
    """Return the subgraph of nodes with core number k that have k neighbours of core number k or more."""
    given = core_number
    core = algorithms.core_number(G.A).to_dense(0) if given is None else np.array([given[node] for node in G])
    if given is None:
        _refuse_loops(G)
    i, j, _ = G.A.to_coo()
    near = np.bincount(i[core[j] >= k].astype(np.int64), minlength=len(G))
    source = original(G)
    return source.subgraph(G.names(np.flatnonzero((core == k) & (near == k)))).copy()
