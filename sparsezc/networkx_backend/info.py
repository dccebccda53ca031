"""The facts that NetworkX reads from the backend at import; this module imports nothing."""

from __future__ import annotations

from typing import Any

_UNDIRECTED = "Only for undirected graphs."
_DIRECTED = "Only for directed graphs."
_ANOTHER = "Another of several shortest paths may be chosen."
_WHOLE = "Where integers and fractions mix, 2.0 may stand for 2."
_NEAREST = "The nearest node first. " + _WHOLE
_SINKS = "No edge leads to a later component; among others the order is another one."
_ADDED = " Neighbours are added in the graph's order."
_NOT_ALL_0 = "Only for weights >= 0 that are not all 0."
_BOUNDED = " With `usebounds`, where integers and fractions mix, 2.0 may stand for 2."
_FROM_0, _ABOVE_0 = "Only for weights >= 0.", "Only for weights > 0."

#: Every function that is claimed, and the conditions on its arguments beyond NetworkX's.
FUNCTIONS: dict[str, str] = {
    "all_pairs_bellman_ford_path_length": _NEAREST,
    "all_pairs_dijkstra_path_length": _FROM_0,
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "approximate_diameter": "Another of the farthest nodes may be the start of the second sweep.",
    "average_clustering": _NOT_ALL_0,
    "average_shortest_path_length": _FROM_0,
    "bellman_ford_path": _ANOTHER,
    "bellman_ford_path_length": _WHOLE,
    "betweenness_centrality": _ABOVE_0,
    "bfs_edges": "`sort_neighbors` must be None.",
    "bfs_layers": "",
    "bfs_predecessors": "`sort_neighbors` must be None.",
    "bfs_successors": "`sort_neighbors` must be None.",
    "bfs_tree": "`sort_neighbors` must be None.",
    "center": _FROM_0,
    "closeness_centrality": _FROM_0,
    "clustering": _NOT_ALL_0,
    "connected_components": "",
    "core_number": _UNDIRECTED,
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": _FROM_0 + _BOUNDED,
    "dijkstra_path": _FROM_0 + " " + _ANOTHER,
    "dijkstra_path_length": _FROM_0,
    "eccentricity": _FROM_0 + " `sp` must be None.",
    "edge_betweenness_centrality": _ABOVE_0,
    "ego_graph": "`distance` with `undirected` only for undirected graphs; only for distances >= 0."
    " With `undirected` in another order.",
    "eigenvector_centrality": "Only for weights and starts >= 0. A start must name every node.",
    "find_negative_cycle": "The cycle may begin at another of its nodes.",
    "floyd_warshall": "Only without negative cycles. " + _WHOLE,
    "floyd_warshall_numpy": "Only without negative cycles.",
    "greedy_color": _UNDIRECTED
    + " Only the strategies `largest_first` and `random_sequential`; no loops. Random orders are others.",
    "harmonic_centrality": _FROM_0,
    "has_path": "",
    "hits": "Only `normalized`, for weights and starts >= 0. A start must name every node; it is for the hubs.",
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
    "kosaraju_strongly_connected_components": "`source` must be None. " + _SINKS,
    "label_propagation_communities": _UNDIRECTED + " No loops.",
    "leiden_communities": _UNDIRECTED
    + " Only for weights >= 0 that are not all 0, without loops. NetworkX has none of its own.",
    "louvain_communities": _UNDIRECTED
    + " Only for weights >= 0 that are not all 0, without loops. Other moves for the same seed.",
    "maximal_independent_set": "Other sets than NetworkX's for the same seed.",
    "maximal_matching": _UNDIRECTED + " Another of several matchings may be chosen.",
    "maximum_spanning_edges": "`algorithm` has no influence. `ignore_nan` must be False.",
    "maximum_spanning_tree": "`algorithm` has no influence. `ignore_nan` must be False.",
    "minimum_spanning_edges": "`algorithm` has no influence. `ignore_nan` must be False.",
    "minimum_spanning_tree": "`algorithm` has no influence. `ignore_nan` must be False.",
    "modularity": _NOT_ALL_0,
    "multi_source_dijkstra_path_length": _FROM_0,
    "negative_edge_cycle": "`heuristic` has no influence.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "overall_reciprocity": _DIRECTED,
    "pagerank": "Only for weights, starts, personalisations and dangling shares >= 0.",
    "periphery": _FROM_0,
    "radius": _FROM_0 + _BOUNDED,
    "reciprocity": _DIRECTED,
    "shortest_path": "Only for weights >= 0, unless `method` is `bellman-ford`. " + _ANOTHER,
    "shortest_path_length": "Only for weights >= 0, unless `method` is `bellman-ford`.",
    "single_source_bellman_ford": _NEAREST + " " + _ANOTHER,
    "single_source_bellman_ford_path": _ANOTHER,
    "single_source_bellman_ford_path_length": _NEAREST,
    "single_source_dijkstra": _FROM_0,
    "single_source_dijkstra_path": _FROM_0,
    "single_source_dijkstra_path_length": _FROM_0,
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "square_clustering": _UNDIRECTED,
    "stoer_wagner": "`heap` has no influence. Another of several least cuts may be chosen. " + _WHOLE,
    "strongly_connected_components": _SINKS,
    "topological_generations": "The graph as it was when the iteration began.",
    "topological_sort": "The graph as it was when the iteration began.",
    "transitive_closure": _DIRECTED + _ADDED,
    "transitive_closure_dag": "`topo_order` must be None." + _ADDED,
    "transitive_reduction": _ADDED.strip(),
    "transitivity": _UNDIRECTED,
    "triangles": "",
    "weakly_connected_components": "",
}


def get_info() -> dict[str, Any]:
    """Return the dictionary that NetworkX reads from its entry point ``networkx.backend_info``."""
    return {
        "backend_name": "sparsezc",
        "project": "sparsezc",
        "package": "sparsezc",
        "short_summary": "GraphBLAS on CPUs, and on GPUs for graphs larger than their memory.",
        "default_config": {"placement": None},
        "functions": {name: {"additional_docs": limits} if limits else {} for name, limits in FUNCTIONS.items()},
    }
