"""Bipartite graphs: sides, centralities and clustering, with NetworkX's names in ``networkx.bipartite``."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.algorithms._degree import out_degree
from sparsezc.algorithms._pattern import undirected as both_ways
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.breadth_first import hop_rows
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes


def _colors(G: Graph) -> NDArray[np.int64] | None:
    """Return 0 or 1 for each vertex, 1 for each component's first with an edge; None if the graph is not bipartite."""
    n = len(G)
    S = both_ways(G.A)
    label = algorithms.connected_components(S).to_dense(0) if n else np.zeros(0, np.int64)
    out = np.flatnonzero(G.degrees("out") > 0)
    _, first = np.unique(label[out], return_index=True)
    colors = np.zeros(n, np.int64)
    if first.size:
        at, hops = algorithms.multi_source_shortest_paths(S, out[first]).to_coo()
        colors[at] = 1 - hops % 2
    i, j, _ = S.to_coo()
    return None if (colors[i] == colors[j]).any() else colors


def _colored(G: Graph) -> NDArray[np.int64]:
    colors = _colors(G)
    if colors is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return colors


@claims(multigraph=True)
def is_bipartite(G: Graph) -> bool:
    """Return whether the graph is bipartite: its nodes have two sides, and edges only join different sides."""
    return _colors(G) is not None


@claims(multigraph=True)
def color(G: Graph) -> dict[Any, int]:
    """Return the side of each node, 0 or 1."""
    return G.by_node(_colored(G))


@claims(multigraph=True)
def sets(G: Graph, top_nodes: Any = None) -> tuple[set[Any], set[Any]]:
    """Return both sides of a connected graph, or the given side and the other nodes."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if algorithms.bfs(both_ways(G.A), 0).nvals < len(G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    colors = _colored(G)
    return set(G.names(np.flatnonzero(colors == 1))), set(G.names(np.flatnonzero(colors == 0)))


@claims(undirected=True, multigraph=True)
def is_bipartite_node_set(G: Graph, nodes: Any) -> bool:
    """Return whether `nodes` contain one whole side of each component, and nothing else."""
    side = set(nodes)
    if len(side) < len(nodes):
        raise nx.AmbiguousSolution("The input node set contains duplicates.")
    inside = np.zeros(len(G), np.int64)
    inside[G.numbers(node for node in side if node in G)] = 1
    i, j, _ = G.A.to_coo()
    amiss = i[inside[i] == inside[j]]
    if not amiss.size:
        return True
    # NetworkX checks the components in turn, and raises if the first that fails is not bipartite
    first = algorithms.connected_components(G.A).to_dense()[amiss].min()
    hops = algorithms.bfs(G.A, first).to_dense(-1)
    if ((hops[i] >= 0) & (hops[i] % 2 == hops[j] % 2)).any():
        raise nx.NetworkXError("Graph is not bipartite.")
    return False


@claims(multigraph=True)
def density(B: Graph, nodes: Any) -> float:
    """Return the number of edges over the number of pairs of nodes of different sides."""
    edges, one = B.number_of_edges(), len(nodes)
    if edges == 0:
        return 0.0
    return edges / ((2 if B.directed else 1) * one * (len(B) - one))


def _both(G: Graph, nodes: Any) -> tuple[set[Any], set[Any]]:
    top = set(nodes)
    if any(node not in G for node in top):
        raise NotImplementedError("sparsezc: a node is not in the graph")
    return top, set(G) - top


@claims(multigraph=True)
def bipartite_degree_centrality(G: Graph, nodes: Any) -> dict[Any, float]:
    """Return each node's degree over the number of nodes on the other side."""
    top, bottom = _both(G, nodes)
    degree = G.degrees()
    found: dict[Any, float] = {}
    for side, scale in ((top, 1.0 / len(bottom)), (bottom, 1.0 / len(top))):
        found.update(zip(side, (degree[G.numbers(side)] * scale).tolist(), strict=True))
    return found


@claims(multigraph=True)
def bipartite_closeness_centrality(G: Graph, nodes: Any, normalized: bool = True) -> dict[Any, float]:
    """Return each node's closeness over the largest that is possible on its side."""
    top, bottom = _both(G, nodes)
    n, m, total = len(top), len(bottom), len(G)
    sums, reached = np.zeros(total), np.zeros(total)
    for i, _, hops in hop_rows(G):
        sums += np.bincount(i, hops, minlength=total)
        reached += np.bincount(i, minlength=total)
    found = {}
    for side, least in ((top, m + 2 * (n - 1)), (bottom, n + 2 * (m - 1))):
        for node in side:
            k = G.index[node]
            near = least / sums[k] if sums[k] > 0 and total > 1 else 0.0
            found[node] = float(near * ((reached[k] - 1) / (total - 1)) if normalized and sums[k] > 0 else near)
    return found


@claims(multigraph=True)
def bipartite_betweenness_centrality(G: Graph, nodes: Any) -> dict[Any, float]:
    """Return each node's betweenness over the largest that is possible on its side."""
    top, bottom = _both(G, nodes)
    n, m = len(top), len(bottom)
    found = G.named(algorithms.betweenness_centrality(G.A, normalized=False))

    def most(a: int, b: int) -> float:
        """Return the largest betweenness of a node among `a` if there are `b` on the other side."""
        s, t = divmod(a - 1, b)
        return (b**2 * (s + 1) ** 2 + b * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2.0

    most_top, most_bottom = most(n, m), most(m, n)
    twice = 1 if G.directed else 2  # an undirected path counts in both directions
    return {node: value / (twice * (most_top if node in top else most_bottom)) for node, value in found.items()}


_MODES = {"dot": None, "min": binary.min, "max": binary.max}


def _latapy(G: Graph, mode: str) -> NDArray[np.float64]:
    """Return each vertex's mean share of common neighbours with the vertices at two hops.

    With C = A A' over (plus, pair) off the diagonal, and d the degrees, the shares are C over d_i + d_j - C, or over
    the smaller or the larger degree.
    """
    if _colors(G) is None:
        raise nx.NetworkXError("Graph is not bipartite")
    if mode not in _MODES:
        raise nx.NetworkXError("Mode for bipartite clustering must be: dot, min or max")
    C = algorithms.common_neighbors(G.A)
    D = out_degree(G.A).diag()
    one, other = D.mxm(C, semiring.any_first).new(), C.mxm(D, semiring.any_second).new()
    op = _MODES[mode]
    whole = one.ewise_mult(other, op or binary.plus).new()
    if op is None:
        whole << whole.ewise_mult(C, binary.minus)
    share = C.ewise_mult(whole, binary.truediv).new(datatypes.FP64)
    total = share.reduce_rowwise(monoid.plus).new().to_dense(0.0)
    count = out_degree(C).to_dense(0)
    mean: NDArray[np.float64] = np.divide(total, count, out=np.zeros(len(G)), where=count > 0)
    return mean


@claims(undirected=True)
def latapy_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> dict[Any, float]:
    """Return each node's mean share of common neighbours with the nodes at two hops."""
    found = G.by_node(_latapy(G, mode))
    return found if nodes is None else {node: found[node] for node in nodes}


@claims(undirected=True)
def bipartite_average_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> float:
    """Return the mean bipartite clustering coefficient of some nodes."""
    found: dict[Any, float] = latapy_clustering(G, nodes, mode)
    asked = list(G) if nodes is None else list(nodes)
    return sum(found[node] for node in asked) / len(asked)


_LOOPS = "which NetworkX counts as neighbours"


@claims(undirected=True, loops=_LOOPS)
def robins_alexander_clustering(G: Graph) -> float:
    """Return the share of the paths of three edges that a fourth edge closes."""
    if len(G) < 4 or G.number_of_edges() < 3:
        return 0
    d = G.degrees()
    i, j, _ = G.A.to_coo()
    paths = (int(((d[i] - 1) * (d[j] - 1)).sum()) - 6 * algorithms.triangle_count(G.A)) / 2
    if paths == 0:
        return 0
    common = algorithms.common_neighbors(G.A).to_coo()[2]
    return 4.0 * (int((common * (common - 1)).sum()) / 8) / paths


@claims(undirected=True, loops=_LOOPS)
def node_redundancy(G: Graph, nodes: Any = None) -> dict[Any, float]:
    """Return, for each node, the share of pairs of its neighbours that another node also joins."""
    asked = list(G) if nodes is None else list(nodes)
    degree = G.degrees()
    if any(degree[G.index[node]] < 2 for node in asked):
        raise nx.NetworkXError("Cannot compute redundancy coefficient for a node that has fewer than two neighbors.")
    at = G.numbers(asked)
    joined = algorithms.common_neighbors(G.A).select(select.valuege, 2).new()
    pairs = G.A.mxm(joined, semiring.plus_pair[datatypes.INT64]).new(mask=G.A.S)
    twice = pairs.reduce_rowwise(monoid.plus).new().to_dense(0)
    return dict(zip(asked, (twice[at] / (degree[at] * (degree[at] - 1))).tolist(), strict=True))
