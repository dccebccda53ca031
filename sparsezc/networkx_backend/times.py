"""Measured times of functions in NetworkX and here; a call is sent to the faster one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TIMES", "Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a function on graphs of 1,000 nodes, in microseconds for each node or entry of the adjacency matrix."""

    theirs: float
    #: Without the conversion.
    ours: float
    #: The arguments that name, or count, the nodes to compute for; of several, the least number counts.
    nodes: tuple[str, ...] = ()
    #: Each of these nodes needs a search over all nodes and entries.
    each: bool = False
    #: The two times with edge attributes; None: calls with these are left to NetworkX.
    weighted: tuple[float, float] | None = None
    #: Arguments with which NetworkX does other work than what was measured.
    unless: tuple[str, ...] = ()
    #: The difference from NetworkX's answer; empty: there is none.
    differs: str = ""


def _whole(
    theirs: float, ours: float, *nodes: str, weighted: bool = True, unless: tuple[str, ...] = (), differs: str = ""
) -> Times:
    """Return times of a function that reads the graph, or the rows of some nodes; `weighted`: with weights, too."""
    return Times(theirs, ours, nodes, False, (theirs, ours) if weighted else None, unless, differs)


def _searches(
    theirs: float, ours: float, *nodes: str, weighted: tuple[float, float] | None = None,
    unless: tuple[str, ...] = (), differs: str = "",
) -> Times:  # fmt: skip
    """Return times, for one search, of a function that searches from each of some nodes; `weighted`: with lengths."""
    return Times(theirs, ours, nodes, True, weighted, unless, differs)


_SEEDED = "its partition differs from NetworkX's for the same seed"
_FLOW = "another of several largest flows may be found"
_CUT = "another of several least cuts may be chosen"
_PATHS = "another of several shortest paths may be chosen"
_LARGEST = "NetworkX divides by other nodes' largest ties with SciPy 1.15 and newer"
_ORDER = "its answer has another order"
_NEIGHBOURS = "the graph that it returns has its edges in another order"
_ROUNDS = "its scores equal NetworkX's to `tol` only"

#: From ``benchmarks.networkx_overhead``, on random graphs of mean degree 10. For functions that are not listed,
#: NetworkX was measured to be about as fast as the conversion and the function here, or faster.
TIMES: dict[str, Times] = {
    "all_pairs_bellman_ford_path": _searches(0.4, 0.1, weighted=(0.4, 0.1), differs=_PATHS),
    "all_pairs_bellman_ford_path_length": _searches(0.25, 0.06, weighted=(0.25, 0.06), differs=_ORDER),
    "all_pairs_shortest_path_length": _searches(0.058, 0.02),
    "approximate_diameter": _whole(0.3, 0.06, differs="another lower bound may be found"),
    "articulation_points": _whole(0.32, 0.1, differs=_ORDER),
    "average_clustering": _whole(2.1, 0.1, "nodes", weighted=False),
    "average_shortest_path_length": _searches(0.042, 0.005),
    "barycenter": _searches(0.042, 0.011),
    "betweenness_centrality": _searches(0.3, 0.035, "k", weighted=(1.2, 0.3)),
    "biconnected_component_edges": _whole(0.52, 0.1, differs=_ORDER),
    "bipartite_average_clustering": _whole(28, 0.5, "nodes"),
    "bipartite_betweenness_centrality": _searches(0.28, 0.035),
    "bipartite_closeness_centrality": _searches(0.048, 0.012),
    "bridges": _whole(2.3, 0.06, unless=("root",)),
    "center": _searches(0.042, 0.005, unless=("e",)),
    "closeness_centrality": _searches(0.05, 0.012, "u", weighted=(0.38, 0.035)),
    "clustering": _whole(2.1, 0.1, "nodes", weighted=False),
    "collaboration_weighted_projected_graph": _whole(17, 3.8, differs=_NEIGHBOURS),
    "common_neighbor_centrality": _searches(0.044, 0.01),
    "constraint": _whole(1.0, 0.2, "nodes"),
    "core_number": _whole(0.3, 0.03),
    "degree_assortativity_coefficient": _whole(0.75, 0.01, "nodes"),
    "degree_mixing_dict": _whole(0.65, 0.1, "nodes"),
    "degree_mixing_matrix": _whole(0.65, 0.1, "nodes"),
    "degree_pearson_correlation_coefficient": _whole(0.85, 0.02, "nodes"),
    "diameter": _searches(0.05, 0.018, unless=("e", "usebounds")),
    "eccentricity": _searches(0.045, 0.005, "v"),
    "edge_betweenness_centrality": _searches(0.4, 0.1, "k"),
    "effective_size": _whole(0.8, 0.25, "nodes", differs=_LARGEST),
    "eigenvector_centrality": _whole(1.6, 0.05),
    "fast_could_be_isomorphic": _whole(1.3, 0.5),
    "floyd_warshall": _searches(0.3, 0.19, weighted=(0.3, 0.19)),
    "floyd_warshall_numpy": _searches(0.17, 0.011, weighted=(0.17, 0.011)),
    "generalized_degree": _whole(2.1, 0.25, "nodes", differs=_ORDER),
    "global_efficiency": _searches(0.045, 0.005),
    "global_reaching_centrality": _searches(0.15, 0.012),
    "greedy_modularity_communities": _whole(110, 5),
    "group_in_degree_centrality": _whole(1.4, 0.01),
    "gutman_index": _searches(0.048, 0.011),
    "harmonic_centrality": _searches(0.05, 0.012, "nbunch", "sources"),
    "harmonic_diameter": _searches(0.17, 0.012),
    "has_bridges": _whole(2.2, 0.06, unless=("root",)),
    "hits": _whole(0.5, 0.25, differs=_ROUNDS),
    "hyper_wiener_index": _searches(0.048, 0.011),
    "inter_community_edges": _whole(1.5, 0.03),
    "is_bipartite_node_set": _whole(2.1, 0.03),
    "jaccard_coefficient": _searches(0.092, 0.0125, unless=("ebunch",)),
    "johnson": _searches(0.4, 0.16, weighted=(0.4, 0.16), differs=_PATHS),
    "k_core": _whole(2.3, 2.2, unless=("core_number",)),
    "k_crust": _whole(0.34, 0.1, unless=("core_number",)),
    "k_shell": _whole(2.6, 2.4, unless=("core_number",)),
    "k_truss": _whole(3.0, 2.2),
    "katz_centrality": _whole(1.6, 0.06),
    "label_propagation_communities": _whole(2.3, 0.1),
    "latapy_clustering": _whole(27, 0.6, "nodes"),
    "leiden_communities": _whole(8, 2, differs=_SEEDED),
    "local_bridges": _whole(1.2, 0.25),
    "louvain_communities": _whole(9, 2, differs=_SEEDED),
    "maximal_independent_set": _whole(0.3, 0.05, differs="its set differs from NetworkX's for the same seed"),
    "maximum_flow": _whole(2.0, 0.4, differs=_FLOW),
    "maximum_flow_value": _whole(1.6, 0.35),
    "maximum_spanning_edges": _whole(0.8, 0.25),
    "maximum_spanning_tree": _whole(1.05, 0.95),
    "minimum_cut": _whole(2.8, 0.35, differs=_CUT),
    "minimum_cut_value": _whole(1.6, 0.35),
    "minimum_spanning_edges": _whole(0.8, 0.25),
    "minimum_spanning_tree": _whole(1.05, 0.95),
    "node_redundancy": _whole(10, 0.5, "nodes"),
    "overall_reciprocity": _whole(1.3, 0.01),
    "overlap_weighted_projected_graph": _whole(15, 3.8, differs=_NEIGHBOURS),
    "pagerank": _whole(0.65, 0.06),
    "periphery": _searches(0.042, 0.005, unless=("e",)),
    "projected_graph": _whole(3.9, 2.9, differs=_NEIGHBOURS),
    "radius": _searches(0.042, 0.018, unless=("e", "usebounds")),
    "reciprocity": _whole(1.4, 0.01, "nodes"),
    "robins_alexander_clustering": _whole(20, 0.4),
    "schultz_index": _searches(0.05, 0.011),
    "single_source_bellman_ford": _whole(0.7, 0.1, unless=("target",), differs=_ORDER),
    "single_source_bellman_ford_path": _whole(0.7, 0.14, differs=_PATHS),
    "square_clustering": _whole(5, 0.4, "nodes"),
    "stoer_wagner": _searches(0.33, 0.014, weighted=(0.33, 0.014), differs=_CUT),
    "strongly_connected_components": _whole(0.25, 0.1),
    "transitive_closure": _whole(36, 6, differs=_NEIGHBOURS),
    "transitive_reduction": _whole(5.9, 3.1, differs=_NEIGHBOURS),
    "transitivity": _whole(2.3, 0.03),
    "triangles": _whole(0.57, 0.06, "nodes"),
    "voterank": _searches(0.1, 0.05, "number_of_nodes", differs="of equal sums another node may be chosen"),
    "weighted_projected_graph": _whole(11, 3.6, differs=_NEIGHBOURS),
    "wiener_index": _searches(0.044, 0.011),
}
