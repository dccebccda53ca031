"""Condensations, trees, and longest paths of directed graphs, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from sparsezc import algorithms
from sparsezc.algorithms._pattern import transposed, undirected
from sparsezc.algorithms.dag_longest_path import longest_distances
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import InvalidValue
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.structure.components import strongly_connected_components
from sparsezc.networkx_backend.structure.dags import topological_sort


@claims(multigraph=True)
def condensation(G: Graph, scc: Any = None) -> Any:
    """Return the graph of the strong components, each with its nodes as the attribute ``members``."""
    parts = list(strongly_connected_components(G) if scc is None else scc)
    mapping = {node: k for k, part in enumerate(parts) for node in part}
    C = nx.DiGraph()
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    C.add_nodes_from((k, {"members": part}) for k, part in enumerate(parts))
    place = np.array([mapping[node] for node in G], np.int64)
    indptr, indices = G.rows()
    i, j = place[np.repeat(np.arange(len(G)), np.diff(indptr))], place[indices]
    pairs, first = np.unique((i * len(parts) + j)[i != j], return_index=True)
    pairs = pairs[np.argsort(first)]
    C.add_edges_from(zip((pairs // len(parts)).tolist(), (pairs % len(parts)).tolist(), strict=True))
    return C


@claims(multigraph=True)
def attracting_components(G: Graph) -> Iterator[set[Any]]:
    """Return the strong components that no edge leaves."""
    label = algorithms.strongly_connected_components(G.A).to_dense(0)
    i, j, _ = G.A.to_coo()
    left = set(G.names(np.unique(label[i[label[i] != label[j]]])))  # each component's smallest vertex
    for part in strongly_connected_components(G):
        if left.isdisjoint(part):
            yield part


@claims(multigraph=True)
def number_attracting_components(G: Graph) -> int:
    """Return the number of strong components that no edge leaves."""
    C, _ = algorithms.condensation(G.A)
    return int((np.diff(C.to_csr()[0]) == 0).sum())


@claims(multigraph=True)
def is_attracting_component(G: Graph) -> bool:
    """Return whether the graph is one strong component."""
    parts = list(attracting_components(G))
    return len(parts) == 1 and len(parts[0]) == len(G)


@claims(multigraph=True)
def is_semiconnected(G: Graph) -> bool:
    """Return whether, of any two nodes, one reaches the other: a path then visits all strong components."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if algorithms.bfs(undirected(G.A), 0).nvals < len(G):
        return False
    C, _ = algorithms.condensation(G.A)
    return bool(algorithms.dag_longest_path(C).nvals == C.nrows)


@claims(multigraph=True)
def is_aperiodic(G: Graph) -> bool:
    """Return whether the lengths of the cycles have no common divisor above 1."""
    if not G.directed:
        raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    level, back = algorithms.bfs(G.A, 0), algorithms.bfs(transposed(G.A), 0)
    if level.nvals < len(G) or back.nvals < len(G):
        raise nx.NetworkXError("Graph is not strongly connected.")
    i, j, _ = G.A.to_coo()
    hops = level.to_dense()
    return bool(np.gcd.reduce((hops[i] - hops[j] + 1).astype(np.int64)) == 1) if i.size else False


@claims()
def dag_longest_path(
    G: Graph, weight: str | None = "weight", default_weight: Any = 1, topo_order: Any = None
) -> list[Any]:
    """Return a longest path; of several, NetworkX's choice."""
    if topo_order is not None:
        raise NotImplementedError("sparsezc: topo_order must be None")
    if len(G) == 0:
        return []
    W = G.values(weight) if weight is not None else _constant(G, default_weight)
    try:
        d = longest_distances(W, weighted=True).to_dense(0)
    except InvalidValue as error:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from error
    i, j, w = W.to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    listed = G.places(against=True).T.new().to_coo()[2]  # the place of each edge among those to its head
    tight = np.flatnonzero(d[i] + w == d[j])
    tight = tight[np.argsort(listed[tight], kind="stable")[::-1]]
    before = np.full(len(G), -1, np.int64)
    before[j[tight]] = i[tight]
    order = G.numbers(topological_sort(G))
    path = [int(order[np.argmax(d[order])])]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return G.names(np.array(path[::-1]))


def _constant(G: Graph, value: Any) -> Matrix:
    i, j, _ = G.A.to_coo()
    n = len(G)
    made: Matrix = Matrix.from_coo(i, j, np.full(i.size, value), nrows=n, ncols=n)
    return made


@claims()
def dag_longest_path_length(G: Graph, weight: str | None = "weight", default_weight: Any = 1) -> Any:
    """Return the length of a longest path."""
    path = dag_longest_path(G, weight, default_weight)
    F = G.fractions(weight) if weight is not None else None
    W = G.values(weight) if weight is not None else _constant(G, default_weight)
    total: Any = 0
    for u, v in pairwise(path):
        length = W.get(G.index[u], G.index[v])
        total += length if F is None or F.get(G.index[u], G.index[v]) else int(length)
    return total


def _pieces(G: Graph) -> int:
    """Count the weak components."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return int(np.unique(algorithms.connected_components(G.A).to_coo()[1]).size)


@claims(multigraph=True)
def is_forest(G: Graph) -> bool:
    """Return whether the graph has no cycle if directions are ignored."""
    return len(G) - _pieces(G) == G.number_of_edges()


@claims(multigraph=True)
def is_tree(G: Graph) -> bool:
    """Return whether the graph is a forest of one component."""
    return _pieces(G) == 1 and len(G) - 1 == G.number_of_edges()


@claims(multigraph=True)
def is_arborescence(G: Graph) -> bool:
    """Return whether the graph is a tree in which at most one edge leads to each node."""
    return is_tree(G) and bool(G.degrees("in").max() <= 1)


@claims(multigraph=True)
def is_branching(G: Graph) -> bool:
    """Return whether the graph is a forest in which at most one edge leads to each node."""
    return is_forest(G) and bool(G.degrees("in").max() <= 1)


@claims(multigraph=True)
def is_eulerian(G: Graph) -> bool:
    """Return whether a closed walk uses each edge exactly once."""
    even = (G.degrees("in") == G.degrees("out")) if G.directed else G.degrees() % 2 == 0
    if not even.all():
        return False
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool(algorithms.bfs(G.A, 0).nvals == len(G) == algorithms.bfs(transposed(G.A), 0).nvals)


@claims()
def is_tournament(G: Graph) -> bool:
    """Return whether any two nodes have exactly one edge between them, and there are no loops."""
    n, A = len(G), G.A
    return bool(A.nvals == n * (n - 1) // 2 and A.ewise_mult(A.T, "pair").new().nvals == 0)


@claims()
def score_sequence(G: Graph) -> list[int]:
    """Return the out-degrees of all nodes in ascending order."""
    return sorted(G.degrees("out").tolist())


@claims(multigraph=True)
def lowest_common_ancestor(G: Graph, node1: Any, node2: Any, default: Any = None) -> Any:
    """Return a common ancestor of two nodes that reaches no other."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("LCA meaningless on null graphs.")
    if not algorithms.is_directed_acyclic_graph(G.A):
        raise nx.NetworkXError("LCA only defined on directed acyclic graphs.")
    for node in (node1, node2):
        if node not in G:
            raise nx.NodeNotFound(f"The following nodes from pair are not in the digraph: {node}")
    back = transposed(G.A)
    common = np.ones(len(G), bool)
    for node in (node1, node2):
        reached = np.zeros(len(G), bool)
        reached[algorithms.bfs(back, G.index[node]).to_coo()[0]] = True
        common &= reached
    i, j, _ = G.A.to_coo()
    common[i[common[i] & common[j]]] = False  # that reach another common ancestor
    at = np.flatnonzero(common)
    return G.names(at[:1])[0] if at.size else default
