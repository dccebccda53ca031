"""Graph algorithms, one short file each: a Matrix goes in, a Vector comes out."""

from sparsezc.algorithms.approximate_diameter import approximate_diameter
from sparsezc.algorithms.betweenness_centrality import betweenness_centrality
from sparsezc.algorithms.bfs import bfs, bfs_parents
from sparsezc.algorithms.cdlp import cdlp
from sparsezc.algorithms.closeness_centrality import closeness_centrality
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.core_number import core_number, k_core
from sparsezc.algorithms.eccentricity import diameter, eccentricity, radius
from sparsezc.algorithms.eigenvector_centrality import eigenvector_centrality
from sparsezc.algorithms.greedy_color import greedy_color
from sparsezc.algorithms.harmonic_centrality import harmonic_centrality
from sparsezc.algorithms.hits import hits
from sparsezc.algorithms.k_hop import k_hop
from sparsezc.algorithms.katz_centrality import katz_centrality
from sparsezc.algorithms.maximal_independent_set import maximal_independent_set
from sparsezc.algorithms.maximal_matching import maximal_matching
from sparsezc.algorithms.pagerank import pagerank
from sparsezc.algorithms.random_walks import random_walks
from sparsezc.algorithms.reciprocity import overall_reciprocity, reciprocity
from sparsezc.algorithms.sssp import sssp
from sparsezc.algorithms.strongly_connected_components import strongly_connected_components
from sparsezc.algorithms.topological_sort import (
    is_directed_acyclic_graph,
    topological_generations,
    topological_sort,
)

__all__ = [
    "approximate_diameter",
    "betweenness_centrality",
    "bfs",
    "bfs_parents",
    "cdlp",
    "closeness_centrality",
    "connected_components",
    "core_number",
    "diameter",
    "eccentricity",
    "eigenvector_centrality",
    "greedy_color",
    "harmonic_centrality",
    "hits",
    "is_directed_acyclic_graph",
    "k_core",
    "k_hop",
    "katz_centrality",
    "maximal_independent_set",
    "maximal_matching",
    "overall_reciprocity",
    "pagerank",
    "radius",
    "random_walks",
    "reciprocity",
    "sssp",
    "strongly_connected_components",
    "topological_generations",
    "topological_sort",
]
