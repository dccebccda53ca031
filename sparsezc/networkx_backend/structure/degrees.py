"""Degrees, isolates, cuts and boundaries, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph


def _centrality(G: Graph, kind: str) -> dict[Any, float]:
    if len(G) <= 1:
        return dict.fromkeys(G, 1)
    return G.by_node(G.degrees(kind) * (1.0 / (len(G) - 1)))


@claims(multigraph=True)
def degree_centrality(G: Graph) -> dict[Any, float]:
    """Return each node's degree over the number of other nodes."""
    return _centrality(G, "in+out")


@claims(multigraph=True)
def in_degree_centrality(G: Graph) -> dict[Any, float]:
    """Return each node's in-degree over the number of other nodes."""
    return _centrality(G, "in")


@claims(multigraph=True)
def out_degree_centrality(G: Graph) -> dict[Any, float]:
    """Return each node's out-degree over the number of other nodes."""
    return _centrality(G, "out")


@claims(multigraph=True)
def number_of_selfloops(G: Graph) -> int:
    """Return the number of edges from a node to itself."""
    return int(G.values(None).diag().to_coo()[1].sum()) if G.multi else G.number_of_loops()


@claims(multigraph=True)
def is_empty(G: Graph) -> bool:
    """Return whether the graph has no edges."""
    return bool(G.A.nvals == 0)


def _alone(G: Graph) -> NDArray[np.int64]:
    return np.flatnonzero(G.degrees() == 0)


@claims(multigraph=True)
def isolates(G: Graph) -> Iterator[Any]:
    """Return the nodes without edges."""
    return iter(G.names(_alone(G)))


@claims(multigraph=True)
def number_of_isolates(G: Graph) -> int:
    """Return the number of nodes without edges."""
    return int(_alone(G).size)


@claims(multigraph=True)
def is_isolate(G: Graph, n: Any) -> bool:
    """Return whether a node has no edges."""
    if n not in G:
        G.bunch(n)
        return False
    k = G.index[n]
    return not any(indptr[k + 1] > indptr[k] for indptr, _ in (G.rows(), G.rows(against=True)))


@claims(multigraph=True)
def is_regular(G: Graph) -> bool:
    """Return whether all nodes have the same degrees."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    return all(bool((found == found[0]).all()) for found in map(G.degrees, ("in", "out")))


@claims(multigraph=True)
def is_k_regular(G: Graph, k: Any) -> bool:
    """Return whether all nodes have degree k."""
    return bool((G.degrees() == k).all())


@claims(multigraph=True)
def s_metric(G: Graph) -> float:
    """Return the sum over the edges of the products of their ends' degrees."""
    degree = G.degrees().astype(float)
    i, j, value = G.values(None).to_coo()
    total = (degree[i] * degree[j] * value).sum()
    if not G.directed:
        total = (total + (degree[i] * degree[j] * value)[i == j].sum()) / 2
    return float(total)


def _neighbours(G: Graph, nodes: Iterable[Any], against: bool = False) -> set[Any]:
    """Return the nodes to which an edge from one of `nodes` leads; raise NetworkX's error for unknown nodes."""
    at = []
    for node in nodes:
        if node not in G:
            raise G.missing(node)
        at.append(G.index[node])
    indptr, indices = G.rows(against)
    return set(G.names(np.unique(np.concatenate([indices[indptr[k] : indptr[k + 1]] for k in at] or [indices[:0]]))))


def _group(G: Graph, S: Any, against: bool) -> float:
    return len(_neighbours(G, S, against) - set(S)) / (len(G) - len(S))


@claims(multigraph=True)
def group_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the other nodes that are neighbours of a group."""
    return _group(G, S, False)


@claims(multigraph=True)
def group_in_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the other nodes with an edge to a group."""
    return _group(G, S, True)


@claims(multigraph=True)
def group_out_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the other nodes to which an edge leads from a group."""
    return _group(G, S, False)


@claims(multigraph=True)
def is_dominating_set(G: Graph, nbunch: Any) -> bool:
    """Return whether every node is in a set, or has an edge from a node of the set."""
    some = {node for node in nbunch if node in G}
    return len(some | _neighbours(G, some)) == len(G)


def _inside(G: Graph, nodes: Iterable[Any]) -> NDArray[np.bool_]:
    inside = np.zeros(len(G), bool)
    inside[G.numbers(node for node in nodes if node in G)] = True
    return inside


def _cut(G: Graph, S: Any, T: Any, weight: str | None) -> Any:
    """Return the number or weight of the edges between two sets; `T` is by default all other nodes."""
    i, j, values = G.values(weight).to_coo()
    values = values.astype(np.int64) if values.dtype == bool else values
    F = G.fractions(weight)
    fraction = np.full(i.size, values.dtype.kind == "f") if F is None else F.to_coo()[2]
    s = _inside(G, S)
    if T is None and G.directed:
        raise TypeError("T is None; a directed graph needs both sets")
    t = ~s if T is None else _inside(G, T)
    between = (s[i] & t[j]) | (s[j] & t[i])
    if G.directed:  # as in NetworkX, an edge counts for each set that it leaves
        times = between * (s[i].astype(np.int64) + t[i])
    else:
        times = (between & (i <= j)).astype(np.int64)
    counted = times > 0  # outside the cut, 0 times infinity would be NaN
    values, times = values[counted], times[counted]
    if values.dtype.kind == "i" and values.size and max(values.max(), -values.min()) >= 2**62 // values.size:
        return sum(x * y for x, y in zip(values.tolist(), times.tolist(), strict=True))  # may exceed 64 bits
    total = (values * times.astype(values.dtype)).sum().item()
    return total if fraction[counted].any() else int(total)


def _or_infinite(G: Graph, ratio: Callable[[], float], theirs: Any, *given: Any) -> float:
    """Return a ratio; if it divides by 0, return NetworkX's, which is infinite or NaN for NumPy numbers."""
    try:
        return ratio()
    except ZeroDivisionError:
        if G.source is None:
            raise
        return float(theirs.orig_func(G.source, *given))


@claims(multigraph=True)
def volume(G: Graph, S: Any, weight: str | None = None) -> Any:
    """Return the sum of the degrees of some nodes; in directed graphs, of their out-degrees."""
    if S in G:
        raise TypeError(f"found the node {S!r}; a set of nodes is needed")
    return sum(G.sums(G.numbers(G.bunch(S)), "out", weight))


def _sides(G: Graph, S: Any, T: Any) -> tuple[Any, Any]:
    return S, set(G) - set(S) if T is None else T


@claims(multigraph=True)
def cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Return the number or the weight of the edges between two sets."""
    return _cut(G, S, T, weight)


@claims(multigraph=True)
def normalized_cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Return the cut size times the sum of one over each side's volume."""
    S, T = _sides(G, S, T)

    def ratio() -> float:
        cut, one, other = _cut(G, S, T, weight), volume(G, S, weight), volume(G, T, weight)
        return cut * (1 / one + 1 / other)  # type: ignore[no-any-return]

    return _or_infinite(G, ratio, nx.normalized_cut_size, S, T, weight)


@claims(multigraph=True)
def conductance(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Return the cut size over the smaller volume of the two sides."""
    S, T = _sides(G, S, T)

    def ratio() -> float:
        return _cut(G, S, T, weight) / min(volume(G, S, weight), volume(G, T, weight))  # type: ignore[no-any-return]

    return _or_infinite(G, ratio, nx.conductance, S, T, weight)


@claims(multigraph=True)
def edge_expansion(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Return the cut size over the number of nodes on the smaller side."""
    S, T = _sides(G, S, T)
    return _cut(G, S, T, weight) / min(len(S), len(T))


@claims(multigraph=True)
def mixing_expansion(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Return the cut size over twice the number of all edges."""
    return _cut(G, S, T, weight) / (2 * G.number_of_edges())


@claims(multigraph=True)
def node_expansion(G: Graph, S: Any) -> float:
    """Return the number of neighbours of some nodes over the number of these nodes."""
    return len(_neighbours(G, S)) / len(S)


@claims(multigraph=True)
def node_boundary(G: Graph, nbunch1: Any, nbunch2: Any = None) -> set[Any]:
    """Return the nodes outside a set to which an edge from the set leads; with `nbunch2`, only nodes in it."""
    inside = {node for node in nbunch1 if node in G}
    found = _neighbours(G, inside) - inside
    return found if nbunch2 is None else found & set(nbunch2)


@claims(multigraph=True)
def boundary_expansion(G: Graph, S: Any) -> float:
    """Return the number of nodes in the boundary of a set over the number of nodes in the set."""
    return len(node_boundary(G, S)) / len(S)


def _without_data(given: dict[str, Any]) -> str | None:
    return "sparsezc yields edges without data" if given["data"] is not False or given["keys"] else None


@claims(reason=_without_data)
def edge_boundary(
    G: Graph, nbunch1: Any, nbunch2: Any = None, data: Any = False, keys: bool = False, default: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges between a set and all other nodes, or the nodes of another set."""
    start = list({node for node in nbunch1 if node in G})
    at = G.numbers(start)
    inside, turn = _inside(G, start), np.full(len(G), len(G))
    turn[at] = np.arange(at.size)
    indptr, indices = G.rows()
    degree = np.diff(indptr)[at]
    i = np.repeat(at, degree)
    j = indices[np.repeat(indptr[at] - np.cumsum(degree) + degree, degree) + np.arange(i.size)]
    kept = ~inside[j]
    if nbunch2 is not None:
        other = _inside(G, nbunch2)
        kept = other[j] | (other[i] & inside[j])
    if not G.directed:
        kept &= ~inside[j] | (turn[i] <= turn[j])
    return zip(G.names(i[kept]), G.names(j[kept]), strict=True)
