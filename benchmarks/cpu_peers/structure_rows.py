"""Rows of the table: cuts, parts of graphs, correlations, structural holes, walks, and neighbours of pairs."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np

import sparsezc as gb
from benchmarks.cpu_peers import judges
from benchmarks.cpu_peers.graphs import Graph
from benchmarks.cpu_peers.row import (
    FEW,
    SOME,
    Peer,
    Row,
    igraph,
    is_directed,
    members,
    networkit,
    of_pairs,
    pairs_as_matrix,
    scores,
    up_to,
    walked,
)

alg = gb.algorithms
CORE, STEPS = 4, 50
TIES = 0.03  # of modularity: igraph's merges reach 0.341 to 0.371 on email-Eu-core in other orders of its vertices


def to_target(g: Graph) -> Any:
    return nk.distance.Dijkstra(g.networkit("W"), g.source, False, False, g.sources[1]).run()


def starts(g: Graph) -> list[int]:
    """Return vertices with edges, the starts of 500 walks."""
    return g.kept(
        "starts", lambda g: np.random.default_rng(1).choice(np.flatnonzero(g.scipy("S").sum(0)), 500).tolist()
    )


def around(g: Graph) -> Any:
    G = g.networkit("S")
    return nk.graphtools.subgraphFromNodes(G, [g.source, *G.iterNeighbors(g.source)])


def switched(g: Graph) -> Any:
    """Exchange edges of a copy in place, as igraph does; a share of half the edges is a quarter of the entries."""
    return nk.randomization.EdgeSwitchingInPlace(nk.Graph(g.networkit("S")), 2 * swaps(g) / g.scipy("S").nnz).run()


def swaps(g: Graph) -> int:
    return g.scipy("S").nnz // 8


def one(g: Graph) -> gb.Vector:
    return gb.Vector.from_coo([g.source], [1.0], size=g.n)


def forget(g: Graph) -> None:
    """Clear igraph's cache, in which the first call stores that a graph is acyclic."""
    g.igraph("D").delete_vertices([])


MORE = [
    Row(
        "cut vertices", lambda g: alg.articulation_points(g.ours("S")),
        igraph("S", lambda _, G: G.articulation_points()), judges.vertices,
    ),
    Row(
        "bridges", lambda g: alg.bridges(g.ours("S")).nvals,
        igraph("S", lambda _, G: G.bridges(), lambda found: 2 * len(found)), judges.equal,
    ),
    Row(
        "minimum cut", lambda g: alg.minimum_cut(g.ours("W"), g.source, g.sources[0])[0],
        igraph("W", lambda g, G: G.mincut(g.source, g.sources[0], "w"), lambda cut: cut.value), judges.close(),
    ),
    Row(
        "correlation of degrees", lambda g: alg.degree_assortativity(g.ours("S")),
        igraph("S", lambda _, G: G.assortativity_degree(directed=False)), judges.close(1e-6),
    ),
    Row(
        "biconnected components", lambda g: alg.biconnected_components(g.ours("S")),
        networkit("S", lambda _, G: nk.components.BiconnectedComponents(G), None)
        | igraph("S", lambda _, G: G.biconnected_components(), list), judges.blocks,
    ),
    Row(
        "core", lambda g: alg.k_core(g.ours("S"), CORE).nvals,
        igraph("S", lambda _, G: G.k_core(CORE), lambda found: found.vcount()), judges.equal,
    ),
    Row(
        "graph around a vertex", lambda g: alg.ego_graph(g.ours("S"), g.source, 1).nvals,
        igraph(
            "S", lambda g, G: G.induced_subgraph(G.neighborhood(g.source, 1)), lambda found: 2 * found.ecount()
        )
        | {"networkit": Peer(around, lambda found: 2 * found.numberOfEdges())}, judges.equal,
    ),
    Row(
        "condensation", lambda g: alg.condensation(g.ours("A"))[0].nvals,
        igraph(
            "A", lambda _, G: G.connected_components().cluster_graph(combine_edges="first"),
            lambda found: found.ecount(),
        ),
        judges.equal, is_directed,
    ),
    Row(
        "random walks", lambda g: alg.random_walks(g.ours("S"), starts(g), STEPS, seed=1),
        igraph("S", lambda g, G: [G.random_walk(v, STEPS) for v in starts(g)], None), judges.equal,
    ),
    Row(
        "exchanges of edges", lambda g: alg.double_edge_swap(g.ours("S"), swaps(g), seed=1).nvals,
        igraph("S", lambda g, G: G.copy().rewire(swaps(g)), None) | {"networkit": Peer(switched, None)},
        judges.equal, up_to(SOME),
    ),
    Row(
        "common neighbours", lambda g: alg.common_neighbors(g.ours("S"), pairs_as_matrix(g)),
        of_pairs(nk.linkprediction.CommonNeighborsIndex), judges.equal,
    ),
    Row(
        "resource allocation", lambda g: alg.resource_allocation_index(g.ours("S"), pairs_as_matrix(g)),
        of_pairs(nk.linkprediction.ResourceAllocationIndex), judges.close(),
    ),
    Row(
        "PageRank from a vertex",
        lambda g: alg.pagerank(g.ours(walked(g)), tol=1e-7 / g.n, max_iter=200, personalization=one(g)),
        {"igraph": Peer(lambda g: g.igraph(walked(g)).personalized_pagerank(reset_vertices=g.source))},
        judges.close(1e-4, 1e-6), up_to(SOME),
    ),
    Row(
        "constraint", lambda g: alg.constraint(g.ours("S")),
        igraph("S", lambda _, G: G.constraint(), np.nan_to_num), judges.close(), up_to(SOME),
    ),
    Row(
        "squares", lambda g: alg.square_clustering(g.ours("S")),
        networkit("S", lambda _, G: nk.centrality.LocalSquareClusteringCoefficient(G), scores),
        judges.close(), up_to(FEW),
    ),
    Row(
        "merged communities", lambda g: alg.greedy_modularity_communities(g.ours("S")),
        igraph("S", lambda _, G: G.community_fastgreedy().as_clustering(), members), judges.modular(TIES), up_to(SOME),
    ),
    Row(
        "Adamic and Adar", lambda g: alg.adamic_adar_index(g.ours("S"), pairs_as_matrix(g)),
        of_pairs(nk.linkprediction.AdamicAdarIndex), judges.close(),
    ),
    Row(
        "is acyclic", lambda g: alg.is_directed_acyclic_graph(g.ours("D")),
        {"igraph": Peer(lambda g: g.igraph("D").is_dag(), before=forget)}, judges.equal,
    ),
    Row(
        "distance of two", lambda g: alg.sssp(g.ours("W"), g.source, target=g.sources[1]).get(g.sources[1], -1),
        igraph("W", lambda g, G: G.distances(g.source, g.sources[1], weights="w")[0][0])
        | {"networkit": Peer(to_target, None)}, judges.equal,
    ),
]  # fmt: skip
