"""The rows of the table: an algorithm of ours, the form of the graph that it takes, and the peers that have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import networkit as nk
import numpy as np
from scipy.sparse import csgraph

import sparsezc as gb
from benchmarks.cpu_peers import judges
from benchmarks.cpu_peers.graphs import Graph
from benchmarks.cpu_peers.judges import Judge

alg = gb.algorithms
ALL, SOME, FEW = 1 << 62, 1 << 19, 1 << 15  # entries of graphs up to which a row runs


class Peer(NamedTuple):
    """A peer's call.

    Attributes
    ----------
    read : callable or None
        Makes numbers of what the call returns; not timed. None: the answer is not compared.
    before : callable
        Called before each call; not timed.
    """

    run: Callable[[Graph], Any]
    read: Callable[[Any], Any] | None = np.asarray
    before: Callable[[Graph], None] = lambda _: None


class Row(NamedTuple):
    """One algorithm; `fits` says on which graphs it runs."""

    name: str
    ours: Callable[[Graph], Any]
    peers: dict[str, Peer]
    judge: Judge
    fits: Callable[[Graph], bool] = lambda _: True


def up_to(entries: int) -> Callable[[Graph], bool]:
    return lambda g: g.scipy("S").nnz <= entries


def is_directed(g: Graph) -> bool:
    return g.directed


def is_directed_without_loops(g: Graph) -> bool:
    """igraph's reciprocity has another rule for loops than NetworkX's, which is ours."""
    return g.directed and not g.scipy("A").diagonal().any()


def connected(entries: int) -> Callable[[Graph], bool]:
    return lambda g: g.is_connected and g.scipy("S").nnz <= entries


def networkit(form: str, make: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None) -> dict[str, Peer]:
    """The call of a networkit algorithm, which has its answer after `run`."""
    return {"networkit": Peer(lambda g: make(g, g.networkit(form)).run(), read)}


def igraph(
    form: str, call: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None = np.asarray
) -> dict[str, Peer]:
    return {"igraph": Peer(lambda g: call(g, g.igraph(form)), read)}


def scipy(
    form: str, call: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None = np.asarray
) -> dict[str, Peer]:
    return {"SciPy": Peer(lambda g: call(g, g.scipy(form)), read)}


def forget(g: Graph) -> None:
    """Have igraph forget that a graph is connected, which it remembers from the first call."""
    g.igraph("A").delete_vertices([])


def labels(found: Any) -> Any:
    return np.asarray(found.getPartition().getVector())


def scores(found: Any) -> Any:
    return np.asarray(found.scores())


def distances(found: Any) -> Any:
    return np.asarray(found.getDistances())


def weak(g: Graph, G: Any) -> Any:
    return nk.components.WeaklyConnectedComponents(G) if g.directed else nk.components.ConnectedComponents(G)


def members(found: Any) -> Any:
    return np.asarray(found.membership)


def walked(g: Graph) -> str:
    """The form for PageRank: without loops if undirected, as igraph counts those twice."""
    return "A" if g.directed else "S"


def scipy_flow(g: Graph, G: Any) -> Any:
    return csgraph.maximum_flow(G.astype(np.int32), g.source, g.sources[0])


def networkit_ranks(_: Graph, G: Any) -> Any:
    return nk.centrality.PageRank(G, 0.85, 1e-7, False, nk.centrality.SinkHandling.DistributeSinks)


def katz_alpha(g: Graph) -> float:
    return 0.5 / (float(np.diff(g.scipy("S").indptr).max()) + 1)


def pairs_of(g: Graph) -> Any:
    pairs = np.unique(np.random.default_rng(1).integers(0, g.n, (10_000, 2)), axis=0)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def pairs_as_matrix(g: Graph) -> gb.Matrix:
    i, j = pairs_of(g).T
    return gb.Matrix.from_coo(i, j, True, nrows=g.n, ncols=g.n)


def groups(g: Graph) -> Any:
    return np.arange(g.n) // 100


STRUCTURE = [
    Row(
        "connected components", lambda g: alg.connected_components(g.ours("A")),
        networkit("A", weak, labels)
        | {"igraph": Peer(lambda g: g.igraph("A").connected_components(mode="weak"), members, forget)}
        | scipy("A", lambda g, G: csgraph.connected_components(G, g.directed, "weak")[1]),
        judges.parts,
    ),
    Row(
        "strong components", lambda g: alg.strongly_connected_components(g.ours("A")),
        networkit("A", lambda _, G: nk.components.StronglyConnectedComponents(G), labels)
        | igraph("A", lambda _, G: G.connected_components(), members)
        | scipy("A", lambda _, G: csgraph.connected_components(G, True, "strong")[1]),
        judges.parts, is_directed,
    ),
    Row(
        "core numbers", lambda g: alg.core_number(g.ours("S")),
        networkit("S", lambda _, G: nk.centrality.CoreDecomposition(G), scores)
        | igraph("S", lambda _, G: G.coreness()), judges.equal,
    ),
    Row(
        "spanning forest", lambda g: alg.minimum_spanning_forest(g.ours("W")),
        scipy("W", lambda _, G: csgraph.minimum_spanning_tree(G), lambda F: 2 * F.sum())
        | igraph("W", lambda _, G: G.spanning_tree("w"), lambda F: 2 * sum(F.es["w"])), judges.equal,
    ),
    Row(
        "colouring", lambda g: alg.greedy_color(g.ours("S"), strategy="largest_first"),
        igraph("S", lambda _, G: G.vertex_coloring_greedy()), judges.coloring,
    ),
    Row(
        "independent set", lambda g: alg.maximal_independent_set(g.ours("S"), seed=1),
        {"networkit": Peer(lambda g: nk.independentset.Luby().run(g.networkit("S")))}, judges.independent,
    ),
    Row(
        "matching", lambda g: alg.maximal_matching(g.ours("S"), seed=1),
        networkit("S", lambda _, G: nk.matching.PathGrowingMatcher(G), lambda _: None), judges.matching,
    ),
    Row(
        "topological order", lambda g: alg.topological_sort(g.ours("D")),
        igraph("D", lambda _, G: G.topological_sorting())
        | {"networkit": Peer(lambda g: nk.graphtools.topologicalSort(g.networkit("D")))}, judges.sorted_vertices,
    ),
    Row(
        "reciprocity", lambda g: alg.overall_reciprocity(g.ours("A")),
        igraph("A", lambda _, G: G.reciprocity()), judges.close(), is_directed_without_loops,
    ),
    Row(
        "triangles", lambda g: alg.triangle_count(g.ours("S")),
        networkit("S", lambda _, G: nk.sparsification.TriangleEdgeScore(G), lambda found: sum(found.scores()) // 3),
        judges.equal,
    ),
    Row(
        "transitivity", lambda g: alg.transitivity(g.ours("S")),
        igraph("S", lambda _, G: G.transitivity_undirected(mode="zero")), judges.close(),
    ),
    Row(
        "clustering", lambda g: alg.clustering(g.ours("S")),
        networkit("S", lambda _, G: nk.centrality.LocalClusteringCoefficient(G, True), scores)
        | igraph("S", lambda _, G: G.transitivity_local_undirected(mode="zero")), judges.close(),
    ),
    Row(
        "similarity of pairs", lambda g: alg.jaccard_coefficient(g.ours("S"), pairs_as_matrix(g)),
        igraph("S", lambda g, G: G.similarity_jaccard(pairs=pairs_of(g).tolist(), loops=False), sum), judges.close(),
    ),
    Row(
        "label propagation", lambda g: alg.label_propagation(g.ours("S")),
        networkit("S", lambda _, G: nk.community.PLP(G), labels)
        | igraph("S", lambda _, G: G.community_label_propagation(), members), judges.propagated,
    ),
    Row(
        "modularity", lambda g: alg.modularity(g.ours("S"), gb.Vector.from_dense(groups(g))),
        igraph("S", lambda g, G: G.modularity(groups(g).tolist())), judges.close(),
    ),
    Row(
        "Louvain", lambda g: alg.louvain_communities(g.ours("S"), seed=1),
        networkit("S", lambda _, G: nk.community.PLM(G), labels)
        | igraph("S", lambda _, G: G.community_multilevel(), members), judges.modular,
    ),
    Row(
        "Leiden", lambda g: alg.leiden_communities(g.ours("S"), seed=1),
        networkit("S", lambda _, G: nk.community.ParallelLeiden(G), labels), judges.modular,
    ),
    Row(
        "maximum flow", lambda g: alg.maximum_flow(g.ours("W"), g.source, g.sources[0])[0],
        scipy("W", scipy_flow, lambda found: found.flow_value)
        | igraph("W", lambda g, G: G.maxflow_value(g.source, g.sources[0], "w")), judges.close(),
    ),
    Row(
        "global cut", lambda g: alg.stoer_wagner(g.ours("W"))[0],
        igraph("W", lambda _, G: G.mincut_value(capacity="w")), judges.close(), up_to(1 << 12),
    ),
]  # fmt: skip

PATHS = [
    Row(
        "search", lambda g: alg.bfs(g.ours("A"), g.source),
        networkit("A", lambda g, G: nk.distance.BFS(G, g.source, False), distances)
        | igraph("A", lambda g, G: G.distances(g.source)[0]), judges.equal,
    ),
    Row(
        "search tree", lambda g: alg.bfs_parents(g.ours("A"), g.source),
        scipy("A", lambda g, G: csgraph.breadth_first_order(G, g.source)[1]), judges.tree,
    ),
    Row(
        "shortest paths", lambda g: alg.sssp(g.ours("W"), g.source),
        scipy("W", lambda g, G: csgraph.dijkstra(G, indices=g.source))
        | networkit("W", lambda g, G: nk.distance.Dijkstra(G, g.source, False), distances)
        | igraph("W", lambda g, G: G.distances(g.source, weights="w")[0]), judges.equal,
    ),
    Row(
        "paths from the nearest of 16",
        lambda g: alg.multi_source_shortest_paths(g.ours("W"), g.sources, weighted=True),
        scipy("W", lambda g, G: csgraph.dijkstra(G, indices=g.sources, min_only=True)), judges.equal,
    ),
    Row(
        "Bellman and Ford", lambda g: alg.bellman_ford(g.ours("W"), g.source)[0],
        igraph("W", lambda g, G: G.distances(g.source, weights="w", algorithm="bellman_ford")[0]), judges.equal,
    ),
    Row(
        "all pairs", lambda g: alg.all_pairs_shortest_paths(g.ours("W")),
        scipy("W", lambda _, G: csgraph.shortest_path(G)) | igraph("W", lambda _, G: G.distances(weights="w")),
        judges.equal, up_to(FEW),
    ),
    Row(
        "neighbourhood", lambda g: alg.k_hop(g.ours("S"), g.source, 2),
        igraph("S", lambda g, G: G.neighborhood(g.source, 2), lambda found: len(found)), judges.equal,
    ),
    Row(
        "eccentricity", lambda g: alg.eccentricity(g.ours("S")),
        igraph("S", lambda _, G: G.eccentricity()), judges.equal, connected(SOME >> 2),
    ),
    Row(
        "diameter", lambda g: alg.diameter(g.ours("S")),
        networkit(
            "S", lambda _, G: nk.distance.Diameter(G, nk.distance.DiameterAlgo.Exact), lambda d: d.getDiameter()[0]
        ),
        judges.equal, connected(ALL),
    ),
    Row(
        "mean distance", lambda g: alg.average_shortest_path_length(g.ours("S")),
        igraph("S", lambda _, G: G.average_path_length()), judges.close(), connected(SOME >> 2),
    ),
]  # fmt: skip

CENTRALITY = [
    Row(
        "PageRank", lambda g: alg.pagerank(g.ours(walked(g)), tol=1e-7 / g.n, max_iter=200),
        {"networkit": Peer(lambda g: networkit_ranks(g, g.networkit(walked(g))).run(), None),
         "igraph": Peer(lambda g: g.igraph(walked(g)).pagerank())}, judges.close(1e-4, 1e-6),
    ),
    Row(
        "paths through, 16 sources",
        lambda g: alg.betweenness_centrality(g.ours("S"), sources=g.sources, normalized=False),
        igraph("S", lambda g, G: G.betweenness(sources=g.sources), lambda b: 2 * np.asarray(b))
        | networkit("S", lambda _, G: nk.centrality.EstimateBetweenness(G, 16), None), judges.close(),
    ),
    Row(
        "betweenness", lambda g: alg.betweenness_centrality(g.ours("S"), normalized=False),
        networkit("S", lambda _, G: nk.centrality.Betweenness(G), scores)
        | igraph("S", lambda _, G: G.betweenness(), lambda b: 2 * np.asarray(b)), judges.close(), up_to(SOME >> 1),
    ),
    Row(
        "betweenness of edges", lambda g: alg.edge_betweenness_centrality(g.ours("S"), normalized=False),
        igraph("S", lambda _, G: G.edge_betweenness(), None), judges.close(), up_to(FEW),
    ),
    Row(
        "closeness", lambda g: alg.closeness_centrality(g.ours("S"), wf_improved=False),
        igraph("S", lambda _, G: G.closeness()), judges.close(), up_to(SOME),
    ),
    Row(
        "harmonic closeness", lambda g: alg.harmonic_centrality(g.ours("S")),
        networkit("S", lambda _, G: nk.centrality.HarmonicCloseness(G, False), scores)
        | igraph("S", lambda g, G: G.harmonic_centrality(), lambda h: np.asarray(h) * (len(h) - 1)),
        judges.close(), up_to(SOME),
    ),
    Row(
        "Katz", lambda g: alg.katz_centrality(g.ours("S"), katz_alpha(g), tol=1e-8),
        networkit("S", lambda g, G: nk.centrality.KatzCentrality(G, katz_alpha(g), 1.0, 1e-8), scores),
        lambda g, ours, _: judges.katz(g, ours, katz_alpha(g)),
    ),
    Row(
        "eigenvector", lambda g: alg.eigenvector_centrality(g.ours("S"), max_iter=10_000, tol=1e-5 / g.n),
        networkit("S", lambda _, G: nk.centrality.EigenvectorCentrality(G, 1e-9), None)
        | igraph("S", lambda _, G: G.eigenvector_centrality()), judges.direction,
    ),
    Row(
        "hubs and authorities", lambda g: alg.hits(g.ours("A"))[0],
        igraph("A", lambda _, G: (G.hub_score(), G.authority_score())[0]), judges.direction,
    ),
]  # fmt: skip

ROWS = STRUCTURE + PATHS + CENTRALITY
