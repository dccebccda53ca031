"""Rows of the table: cuts, correlations of degrees, structural holes, and neighbours of pairs."""

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
    members,
    networkit,
    pairs_as_matrix,
    pairs_of,
    scores,
    up_to,
)

alg = gb.algorithms
TIES = 0.03  # of modularity: igraph's merges reach 0.341 to 0.371 on email-Eu-core in other orders of its vertices


def scores_of_pairs(g: Graph) -> Any:
    index = nk.linkprediction.AdamicAdarIndex(g.networkit("S"))
    return index.runOn(pairs_of(g).tolist())


def to_target(g: Graph) -> Any:
    return nk.distance.Dijkstra(g.networkit("W"), g.source, False, False, g.sources[1]).run()


def forget(g: Graph) -> None:
    """Have igraph forget that a graph is acyclic, which it remembers from the first call."""
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
        {"networkit": Peer(scores_of_pairs, lambda found: sum(score for _, score in found))}, judges.close(),
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
