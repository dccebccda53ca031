"""Graph algorithms, one short file each, in plain GraphBLAS on the adjacency matrix."""

from sparsezc.algorithms.all_pairs_shortest_paths import all_pairs_shortest_paths
from sparsezc.algorithms.approximate_diameter import approximate_diameter
from sparsezc.algorithms.average_shortest_path_length import average_shortest_path_length
from sparsezc.algorithms.bellman_ford import bellman_ford, find_negative_cycle
from sparsezc.algorithms.betweenness_centrality import betweenness_centrality, edge_betweenness_centrality
from sparsezc.algorithms.bfs import bfs, bfs_parents
from sparsezc.algorithms.cdlp import cdlp
from sparsezc.algorithms.closeness_centrality import closeness_centrality
from sparsezc.algorithms.clustering import clustering, local_clustering_coefficient, square_clustering
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.core_number import core_number, k_core
from sparsezc.algorithms.eccentricity import diameter, eccentricity, radius
from sparsezc.algorithms.eigenvector_centrality import eigenvector_centrality
from sparsezc.algorithms.graph_search import graph_search
from sparsezc.algorithms.greedy_color import greedy_color
from sparsezc.algorithms.harmonic_centrality import harmonic_centrality
from sparsezc.algorithms.hits import hits
from sparsezc.algorithms.k_hop import ego_graph, k_hop
from sparsezc.algorithms.k_truss import k_truss
from sparsezc.algorithms.katz_centrality import katz_centrality
from sparsezc.algorithms.label_propagation import label_propagation
from sparsezc.algorithms.leiden_communities import leiden_communities
from sparsezc.algorithms.louvain_communities import louvain_communities
from sparsezc.algorithms.maximal_independent_set import maximal_independent_set
from sparsezc.algorithms.maximal_matching import maximal_matching
from sparsezc.algorithms.minimum_spanning_forest import minimum_spanning_forest
from sparsezc.algorithms.modularity import modularity
from sparsezc.algorithms.multi_source_shortest_paths import multi_source_shortest_paths
from sparsezc.algorithms.pagerank import pagerank
from sparsezc.algorithms.random_walks import random_walks
from sparsezc.algorithms.reciprocity import overall_reciprocity, reciprocity
from sparsezc.algorithms.sample_neighbors import sample_neighbors
from sparsezc.algorithms.similarity import cosine_similarity, jaccard_coefficient
from sparsezc.algorithms.sssp import sssp
from sparsezc.algorithms.stoer_wagner import stoer_wagner
from sparsezc.algorithms.strongly_connected_components import strongly_connected_components
from sparsezc.algorithms.topological_sort import (
    is_directed_acyclic_graph,
    topological_generations,
    topological_sort,
)
from sparsezc.algorithms.transitive_closure import transitive_closure, transitive_reduction
from sparsezc.algorithms.triangles import transitivity, triangle_count, triangles

__all__ = [
    "all_pairs_shortest_paths",
    "approximate_diameter",
    "average_shortest_path_length",
    "bellman_ford",
    "betweenness_centrality",
    "bfs",
    "bfs_parents",
    "cdlp",
    "closeness_centrality",
    "clustering",
    "connected_components",
    "core_number",
    "cosine_similarity",
    "diameter",
    "eccentricity",
    "edge_betweenness_centrality",
    "ego_graph",
    "eigenvector_centrality",
    "find_negative_cycle",
    "graph_search",
    "greedy_color",
    "harmonic_centrality",
    "hits",
    "is_directed_acyclic_graph",
    "jaccard_coefficient",
    "k_core",
    "k_hop",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden_communities",
    "local_clustering_coefficient",
    "louvain_communities",
    "maximal_independent_set",
    "maximal_matching",
    "minimum_spanning_forest",
    "modularity",
    "multi_source_shortest_paths",
    "overall_reciprocity",
    "pagerank",
    "radius",
    "random_walks",
    "reciprocity",
    "sample_neighbors",
    "square_clustering",
    "sssp",
    "stoer_wagner",
    "strongly_connected_components",
    "topological_generations",
    "topological_sort",
    "transitive_closure",
    "transitive_reduction",
    "transitivity",
    "triangle_count",
    "triangles",
]


def __dir__() -> list[str]:
    return sorted(__all__)
