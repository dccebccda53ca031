"""Centralities by shortest paths, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from typing import Any

import networkx as nx

from sparsezc import algorithms
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.weighted_paths import distances
from sparsezc.semirings import binary, monoid, select


def _sample(G: Graph, k: int, seed: Any, ends: int) -> list[Any]:
    """Draw the nodes that NetworkX would draw; raise ZeroDivisionError for `k` = 0."""
    chosen: list[Any] = seed.sample(list(G.nodes), k)
    if k == 0 and ends >= 2:
        raise ZeroDivisionError("k is 0; at least one node is needed")
    return chosen


@claims(multigraph=True)
def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """Return each node's share of shortest paths: see :func:`sparsezc.algorithms.betweenness_centrality`.

    With `k` the nodes are those that NetworkX draws with the same seed.
    """
    n = len(G)
    ends = n if endpoints else n - 1
    # an undirected graph's pairs count once
    unscaled = 1.0 if G.directed else 0.5
    A, weighted = G.lengths(weight)
    if k is None or k == n:
        with else_declined():
            found = algorithms.betweenness_centrality(A, normalized=normalized, endpoints=endpoints, weighted=weighted)
        shares = G.named(found)
        return shares if normalized else {node: share * unscaled for node, share in shares.items()}
    chosen = _sample(G, k, seed, ends)
    sources = G.numbers(chosen).tolist()
    with else_declined():
        found = algorithms.betweenness_centrality(A, endpoints=endpoints, sources=sources, weighted=weighted)
    shares = G.named(found)
    if not normalized and ends >= 2:
        shares = {node: share * ends * (ends - 1) * unscaled for node, share in shares.items()}
    if k == 1 and not endpoints and ends >= 2:
        shares[chosen[0]] = float("nan")  # paths that start at other nodes were not counted
    return shares


@claims()
def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: str | None = None, seed: Any = None
) -> dict[tuple[Any, Any], float]:
    """Return each edge's share of shortest paths: see :func:`sparsezc.algorithms.edge_betweenness_centrality`.

    With `k` the nodes are those that NetworkX draws with the same seed.
    """
    n = len(G)
    sources = None if k is None else G.numbers(_sample(G, k, seed, n)).tolist()
    A, weighted = G.lengths(weight)
    with else_declined():
        E = algorithms.edge_betweenness_centrality(A, normalized=normalized, sources=sources, weighted=weighted)
    scale = n / k if k and not normalized else 1.0
    if not G.directed:
        # the entry above the diagonal represents both directions of an edge
        E << E.ewise_add(E.T, binary.plus).new(mask=E.select(select.triu).new().S)
        scale *= 1.0 if normalized else 0.5
    shares = E.to_coo()[2] * scale
    i, j, at = G.edge_list()
    return dict(zip(zip(G.names(i), G.names(j), strict=True), shares[at].tolist(), strict=True))


@claims("sp", multigraph=True)
def closeness_centrality(
    G: Graph, u: Any = None, distance: str | None = None, wf_improved: bool = True, *, sp: None = None
) -> dict[Any, float] | float:
    """Return each node's closeness, or that of `u`: see :func:`sparsezc.algorithms.closeness_centrality`."""
    if u is None:
        A, weighted = G.lengths(distance)
        with else_declined():
            return G.named(algorithms.closeness_centrality(A, wf_improved, weighted=weighted))
    if u not in G:
        raise nx.NodeNotFound(f"Source {u} is not in G")
    to_u = distances(G, G.index[u], distance, against=True)
    total, others = to_u.reduce(monoid.plus).new().get(0), len(G) - 1
    if total == 0:
        return 0.0
    reached = to_u.nvals - 1
    return float(reached / total * (reached / others if wf_improved else 1.0))


@claims(multigraph=True)
def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: str | None = None, sources: Any = None
) -> dict[Any, float]:
    """Return each node's sum of one over distances: see :func:`sparsezc.algorithms.harmonic_centrality`."""
    starts = None if sources is None else G.numbers(G.bunch(sources)).tolist()
    wanted = set(G) if nbunch is None else set(G.bunch(nbunch))  # NetworkX's result has the order of such a set
    A, weighted = G.lengths(distance)
    with else_declined():
        found = G.named(algorithms.harmonic_centrality(A, sources=starts, weighted=weighted), whole_zeros=True)
    return {node: found[node] for node in wanted}
