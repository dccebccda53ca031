"""What NetworkX learns of the backend when it is imported; imports nothing itself."""

from __future__ import annotations

from typing import Any

_UNWEIGHTED = "Only for hops: `{}` must be None."
_UNDIRECTED = "Only for undirected graphs."

#: Every function that is claimed, and what its arguments must be like beyond what NetworkX asks.
FUNCTIONS: dict[str, str] = {
    "all_pairs_bellman_ford_path_length": "",
    "all_pairs_dijkstra_path_length": "Only for weights >= 0.",
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "average_clustering": _UNWEIGHTED.format("weight"),
    "bellman_ford_path_length": "",
    "betweenness_centrality": _UNWEIGHTED.format("weight"),
    "bfs_layers": "Nodes of a layer come in the graph's order.",
    "center": _UNWEIGHTED.format("weight"),
    "closeness_centrality": _UNWEIGHTED.format("distance"),
    "clustering": _UNWEIGHTED.format("weight"),
    "connected_components": "",
    "core_number": _UNDIRECTED,
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": _UNWEIGHTED.format("weight"),
    "dijkstra_path_length": "Only for weights >= 0.",
    "eccentricity": _UNWEIGHTED.format("weight") + " `sp` must be None.",
    "ego_graph": _UNWEIGHTED.format("distance"),
    "eigenvector_centrality": "Only for weights and starts >= 0.",
    "find_negative_cycle": "The cycle may begin at another of its nodes.",
    "floyd_warshall": "Only without negative cycles.",
    "harmonic_centrality": _UNWEIGHTED.format("distance") + " `nbunch` and `sources` must be None.",
    "hits": "Only `normalized`, for weights and starts >= 0. The power method, with hubs to begin with.",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "jaccard_coefficient": "Only for graphs without loops.",
    "k_core": _UNDIRECTED,
    "k_crust": _UNDIRECTED,
    "k_shell": _UNDIRECTED,
    "k_truss": "",
    "katz_centrality": "A start must name every node.",
    "louvain_communities": _UNDIRECTED + " Only for weights >= 0, without loops. Other moves for the same seed.",
    "maximal_independent_set": "Other sets than NetworkX's for the same seed.",
    "maximal_matching": _UNDIRECTED,
    "minimum_spanning_edges": "`algorithm` has no influence. `ignore_nan` must be False.",
    "minimum_spanning_tree": "`algorithm` has no influence. `ignore_nan` must be False.",
    "modularity": "Only for weights >= 0.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "overall_reciprocity": "",
    "pagerank": "Only for weights, starts and personalisations >= 0; `dangling` must be None.",
    "periphery": _UNWEIGHTED.format("weight"),
    "radius": _UNWEIGHTED.format("weight"),
    "reciprocity": "",
    "single_source_bellman_ford_path_length": "",
    "single_source_dijkstra_path_length": "Only for weights >= 0.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "square_clustering": _UNDIRECTED,
    "stoer_wagner": "`heap` has no influence.",
    "strongly_connected_components": "",
    "topological_generations": "The graph as it was when the iteration began.",
    "topological_sort": "The graph as it was when the iteration began.",
    "transitive_closure": "Only for directed graphs.",
    "transitive_reduction": "",
    "transitivity": _UNDIRECTED,
    "triangles": "",
    "weakly_connected_components": "",
}


def get_info() -> dict[str, Any]:
    """The dictionary that NetworkX's entry point ``networkx.backend_info`` asks for."""
    return {
        "backend_name": "sparsezc",
        "project": "sparsezc",
        "package": "sparsezc",
        "short_summary": "GraphBLAS on CPUs, and on GPUs for graphs larger than their memory.",
        "default_config": {"placement": None},
        "functions": {name: {"additional_docs": limits} if limits else {} for name, limits in FUNCTIONS.items()},
    }
