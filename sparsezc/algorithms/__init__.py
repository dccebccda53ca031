"""Graph algorithms, one short file each, in plain GraphBLAS on the adjacency matrix."""

from typing import TYPE_CHECKING

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.algorithms.all_pairs_shortest_paths import all_pairs_shortest_paths as all_pairs_shortest_paths
    from sparsezc.algorithms.approximate_diameter import approximate_diameter as approximate_diameter
    from sparsezc.algorithms.average_shortest_path_length import (
        average_shortest_path_length as average_shortest_path_length,
    )
    from sparsezc.algorithms.bellman_ford import bellman_ford as bellman_ford
    from sparsezc.algorithms.bellman_ford import find_negative_cycle as find_negative_cycle
    from sparsezc.algorithms.betweenness_centrality import betweenness_centrality as betweenness_centrality
    from sparsezc.algorithms.betweenness_centrality import edge_betweenness_centrality as edge_betweenness_centrality
    from sparsezc.algorithms.bfs import bfs as bfs
    from sparsezc.algorithms.bfs import bfs_parents as bfs_parents
    from sparsezc.algorithms.biconnected_components import articulation_points as articulation_points
    from sparsezc.algorithms.biconnected_components import biconnected_components as biconnected_components
    from sparsezc.algorithms.biconnected_components import bridges as bridges
    from sparsezc.algorithms.cdlp import cdlp as cdlp
    from sparsezc.algorithms.closeness_centrality import closeness_centrality as closeness_centrality
    from sparsezc.algorithms.clustering import clustering as clustering
    from sparsezc.algorithms.clustering import local_clustering_coefficient as local_clustering_coefficient
    from sparsezc.algorithms.clustering import square_clustering as square_clustering
    from sparsezc.algorithms.condensation import condensation as condensation
    from sparsezc.algorithms.connected_components import connected_components as connected_components
    from sparsezc.algorithms.core_number import core_number as core_number
    from sparsezc.algorithms.core_number import k_core as k_core
    from sparsezc.algorithms.dag_longest_path import dag_longest_path as dag_longest_path
    from sparsezc.algorithms.degree_assortativity import degree_assortativity as degree_assortativity
    from sparsezc.algorithms.double_edge_swap import double_edge_swap as double_edge_swap
    from sparsezc.algorithms.eccentricity import diameter as diameter
    from sparsezc.algorithms.eccentricity import eccentricity as eccentricity
    from sparsezc.algorithms.eccentricity import radius as radius
    from sparsezc.algorithms.efficiency import global_efficiency as global_efficiency
    from sparsezc.algorithms.efficiency import local_efficiency as local_efficiency
    from sparsezc.algorithms.eigenvector_centrality import eigenvector_centrality as eigenvector_centrality
    from sparsezc.algorithms.graph_search import graph_search as graph_search
    from sparsezc.algorithms.greedy_color import greedy_color as greedy_color
    from sparsezc.algorithms.greedy_modularity_communities import (
        greedy_modularity_communities as greedy_modularity_communities,
    )
    from sparsezc.algorithms.harmonic_centrality import harmonic_centrality as harmonic_centrality
    from sparsezc.algorithms.hits import hits as hits
    from sparsezc.algorithms.k_hop import ego_graph as ego_graph
    from sparsezc.algorithms.k_hop import k_hop as k_hop
    from sparsezc.algorithms.k_truss import k_truss as k_truss
    from sparsezc.algorithms.katz_centrality import katz_centrality as katz_centrality
    from sparsezc.algorithms.label_propagation import label_propagation as label_propagation
    from sparsezc.algorithms.leiden_communities import leiden_communities as leiden_communities
    from sparsezc.algorithms.link_prediction import adamic_adar_index as adamic_adar_index
    from sparsezc.algorithms.link_prediction import common_neighbors as common_neighbors
    from sparsezc.algorithms.link_prediction import resource_allocation_index as resource_allocation_index
    from sparsezc.algorithms.louvain_communities import louvain_communities as louvain_communities
    from sparsezc.algorithms.maximal_independent_set import maximal_independent_set as maximal_independent_set
    from sparsezc.algorithms.maximal_matching import maximal_matching as maximal_matching
    from sparsezc.algorithms.maximum_flow import maximum_flow as maximum_flow
    from sparsezc.algorithms.maximum_flow import minimum_cut as minimum_cut
    from sparsezc.algorithms.minimum_spanning_forest import minimum_spanning_forest as minimum_spanning_forest
    from sparsezc.algorithms.modularity import modularity as modularity
    from sparsezc.algorithms.multi_source_shortest_paths import (
        multi_source_shortest_paths as multi_source_shortest_paths,
    )
    from sparsezc.algorithms.pagerank import pagerank as pagerank
    from sparsezc.algorithms.pagerank_within import pagerank_within as pagerank_within
    from sparsezc.algorithms.random_walks import random_walks as random_walks
    from sparsezc.algorithms.reciprocity import overall_reciprocity as overall_reciprocity
    from sparsezc.algorithms.reciprocity import reciprocity as reciprocity
    from sparsezc.algorithms.rich_club_coefficient import rich_club_coefficient as rich_club_coefficient
    from sparsezc.algorithms.sample_neighbors import sample_neighbors as sample_neighbors
    from sparsezc.algorithms.scan_statistics import scan_statistics as scan_statistics
    from sparsezc.algorithms.similarity import cosine_similarity as cosine_similarity
    from sparsezc.algorithms.similarity import jaccard_coefficient as jaccard_coefficient
    from sparsezc.algorithms.sssp import sssp as sssp
    from sparsezc.algorithms.stoer_wagner import stoer_wagner as stoer_wagner
    from sparsezc.algorithms.strongly_connected_components import (
        strongly_connected_components as strongly_connected_components,
    )
    from sparsezc.algorithms.structural_holes import constraint as constraint
    from sparsezc.algorithms.structural_holes import effective_size as effective_size
    from sparsezc.algorithms.topological_sort import is_directed_acyclic_graph as is_directed_acyclic_graph
    from sparsezc.algorithms.topological_sort import topological_generations as topological_generations
    from sparsezc.algorithms.topological_sort import topological_sort as topological_sort
    from sparsezc.algorithms.transitive_closure import transitive_closure as transitive_closure
    from sparsezc.algorithms.transitive_closure import transitive_reduction as transitive_reduction
    from sparsezc.algorithms.triangles import transitivity as transitivity
    from sparsezc.algorithms.triangles import triangle_count as triangle_count
    from sparsezc.algorithms.triangles import triangles as triangles
    from sparsezc.algorithms.voterank import voterank as voterank
else:
    __all__, __getattr__, __dir__ = first_use.names(
        __name__,
        {
            "all_pairs_shortest_paths": "all_pairs_shortest_paths",
            "approximate_diameter": "approximate_diameter",
            "average_shortest_path_length": "average_shortest_path_length",
            "bellman_ford": "bellman_ford find_negative_cycle",
            "betweenness_centrality": "betweenness_centrality edge_betweenness_centrality",
            "bfs": "bfs bfs_parents",
            "biconnected_components": "articulation_points biconnected_components bridges",
            "cdlp": "cdlp",
            "closeness_centrality": "closeness_centrality",
            "clustering": "clustering local_clustering_coefficient square_clustering",
            "condensation": "condensation",
            "connected_components": "connected_components",
            "core_number": "core_number k_core",
            "dag_longest_path": "dag_longest_path",
            "degree_assortativity": "degree_assortativity",
            "double_edge_swap": "double_edge_swap",
            "eccentricity": "diameter eccentricity radius",
            "efficiency": "global_efficiency local_efficiency",
            "eigenvector_centrality": "eigenvector_centrality",
            "graph_search": "graph_search",
            "greedy_color": "greedy_color",
            "greedy_modularity_communities": "greedy_modularity_communities",
            "harmonic_centrality": "harmonic_centrality",
            "hits": "hits",
            "k_hop": "ego_graph k_hop",
            "k_truss": "k_truss",
            "katz_centrality": "katz_centrality",
            "label_propagation": "label_propagation",
            "leiden_communities": "leiden_communities",
            "link_prediction": "adamic_adar_index common_neighbors resource_allocation_index",
            "louvain_communities": "louvain_communities",
            "maximal_independent_set": "maximal_independent_set",
            "maximal_matching": "maximal_matching",
            "maximum_flow": "maximum_flow minimum_cut",
            "minimum_spanning_forest": "minimum_spanning_forest",
            "modularity": "modularity",
            "multi_source_shortest_paths": "multi_source_shortest_paths",
            "pagerank": "pagerank",
            "pagerank_within": "pagerank_within",
            "random_walks": "random_walks",
            "reciprocity": "overall_reciprocity reciprocity",
            "rich_club_coefficient": "rich_club_coefficient",
            "sample_neighbors": "sample_neighbors",
            "scan_statistics": "scan_statistics",
            "similarity": "cosine_similarity jaccard_coefficient",
            "sssp": "sssp",
            "stoer_wagner": "stoer_wagner",
            "strongly_connected_components": "strongly_connected_components",
            "structural_holes": "constraint effective_size",
            "topological_sort": "is_directed_acyclic_graph topological_generations topological_sort",
            "transitive_closure": "transitive_closure transitive_reduction",
            "triangles": "transitivity triangle_count triangles",
            "voterank": "voterank",
        },
    )
