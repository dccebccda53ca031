"""NetworkX's own tests pass with the backend, whose declined calls NetworkX computes itself.

The backend claims every function that two other backends of NetworkX claim.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from networkx.utils import backends

from sparsezc.networkx_backend.info import functions
from tests.networkx_backend.entry_points import ROOT, write

QUICK = (
    "tests.test_core", "tests.test_reciprocity", "tests.test_dag", "link_analysis", "components", "assortativity",
    "bipartite", "flow.tests.test_maxflow", "tests.test_boundary", "tests.test_bridges", "tests.test_cuts",
    "tests.test_dominating", "tests.test_euler", "tests.test_isolate", "tests.test_link_prediction",
    "tests.test_lowest_common_ancestors", "tests.test_regular", "tests.test_richclub", "tests.test_simple_paths",
    "tests.test_smetric", "tests.test_tournament", "traversal", "tree.tests.test_recognition", "operators",
    "tests.test_triads", "isomorphism.tests.test_isomorphism",
)  # fmt: skip
OTHERS = (
    "approximation.tests.test_kcomponents", "approximation.tests.test_distance_measures",
    "approximation.tests.test_dominating_set", "centrality", "coloring",
    "community", "connectivity.tests.test_stoer_wagner", "shortest_paths",
    "tests.test_cluster", "tests.test_distance_measures", "tests.test_efficiency",
    "tests.test_matching", "tests.test_mis", "tests.test_smallworld", "tests.test_structuralholes",
    "tests.test_wiener", "tree.tests.test_mst",
)  # fmt: skip
# Left out: 500 random graphs with and without bounds, for which the backend has one method; and functions that NetworkX
# computes, which call small ones thousands of times.
LEFT_OUT = "not test_use_bounds_on_off_consistency and not naive_greedy and not spring_layout and not smoke"


def passed(modules: list[str], folder: Path) -> int:
    """Return the number of NetworkX's tests that pass in a process of their own, after checking that none fails."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(write(folder)), str(ROOT)]),
        "NETWORKX_TEST_BACKEND": "sparsezc",
        "NETWORKX_FALLBACK_TO_NX": "True",
    }
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.only_statements", "-k", LEFT_OUT]
    done = subprocess.run(
        [*command, "--pyargs", *modules], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found, done.stdout
    return int(found[1])


def test_a_quick_part(tmp_path: Path) -> None:
    assert passed([f"networkx.algorithms.{name}" for name in QUICK], tmp_path) > 100


@pytest.mark.slow
def test_all_that_is_claimed(tmp_path: Path) -> None:
    modules = [f"networkx.algorithms.{name}" for name in OTHERS]
    others = (
        "generators.tests.test_ego", "generators.tests.test_classic", "generators.tests.test_small",
        "generators.tests.test_community", "linalg", "tests.test_convert", "tests.test_convert_numpy",
        "tests.test_convert_pandas", "tests.test_convert_scipy", "tests.test_relabel", "drawing.tests.test_layout",
        "classes.tests.test_function",
    )  # fmt: skip
    assert passed([*modules, *(f"networkx.{name}" for name in others)], tmp_path) > 500


#: graphblas-algorithms 2023.10.0, ``_nx_graphblas.get_info()``.
GRAPHBLAS_ALGORITHMS = """
    adjacency_matrix all_pairs_bellman_ford_path_length all_pairs_shortest_path_length ancestors average_clustering
    bellman_ford_path bellman_ford_path_length bethe_hessian_matrix bfs_layers boundary_expansion clustering
    complement compose conductance cut_size degree_centrality descendants descendants_at_distance difference
    directed_modularity_matrix disjoint_union edge_boundary edge_expansion efficiency ego_graph eigenvector_centrality
    fast_could_be_isomorphic faster_could_be_isomorphic floyd_warshall floyd_warshall_numpy
    floyd_warshall_predecessor_and_distance full_join generalized_degree google_matrix has_path hits
    in_degree_centrality inter_community_edges intersection intra_community_edges is_connected is_dominating_set
    is_isolate is_k_regular is_regular is_simple_path is_tournament is_triad is_weakly_connected isolates k_truss
    katz_centrality laplacian_matrix lowest_common_ancestor mixing_expansion modularity_matrix mutual_weight
    negative_edge_cycle node_boundary node_connected_component node_expansion normalized_cut_size
    normalized_laplacian_matrix number_of_isolates out_degree_centrality overall_reciprocity pagerank reciprocity
    reverse s_metric score_sequence single_source_bellman_ford_path_length single_source_shortest_path_length
    single_target_shortest_path_length square_clustering symmetric_difference tournament_matrix transitivity triangles
    union volume
"""
#: nx-cugraph 26.10.0, ``_nx_cugraph/__init__.py``, but for ``nx.Graph(backend=...)``: graphs here are read-only.
NX_CUGRAPH = """
    adjacency_matrix all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length all_pairs_dijkstra
    all_pairs_dijkstra_path all_pairs_dijkstra_path_length all_pairs_shortest_path all_pairs_shortest_path_length
    ancestors average_clustering barbell_graph bellman_ford_path bellman_ford_path_length betweenness_centrality
    bfs_edges bfs_layers bfs_predecessors bfs_successors bfs_tree biadjacency_matrix bidirectional_shortest_path
    bipartite_betweenness_centrality bull_graph caveman_graph chvatal_graph circular_ladder_graph clustering
    complement complete_bipartite_graph complete_graph complete_multipartite_graph connected_components
    convert_node_labels_to_integers core_number cubical_graph cycle_graph davis_southern_women_graph degree_centrality
    desargues_graph descendants descendants_at_distance diamond_graph dijkstra_path dijkstra_path_length
    dodecahedral_graph edge_betweenness_centrality ego_graph eigenvector_centrality empty_graph
    florentine_families_graph forceatlas2_layout from_biadjacency_matrix from_dict_of_lists from_pandas_edgelist
    from_scipy_sparse_array frucht_graph generic_bfs_edges has_path heawood_graph hits house_graph house_x_graph
    icosahedral_graph in_degree_centrality is_arborescence is_branching is_connected is_forest is_isolate
    is_negatively_weighted is_tree is_weakly_connected isolates jaccard_coefficient k_truss karate_club_graph
    katz_centrality krackhardt_kite_graph ladder_graph leiden_communities les_miserables_graph lollipop_graph
    louvain_communities lowest_common_ancestor moebius_kantor_graph node_connected_component null_graph
    number_connected_components number_of_isolates number_of_selfloops number_weakly_connected_components
    octahedral_graph out_degree_centrality overall_reciprocity pagerank pappus_graph path_graph petersen_graph
    reciprocity relabel_nodes reverse sedgewick_maze_graph shortest_path shortest_path_length
    single_source_bellman_ford single_source_bellman_ford_path single_source_bellman_ford_path_length
    single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length single_source_shortest_path
    single_source_shortest_path_length single_target_shortest_path single_target_shortest_path_length star_graph
    tadpole_graph tetrahedral_graph to_dict_of_lists to_numpy_array to_scipy_sparse_array tournament_matrix
    transitivity triangles trivial_graph truncated_cube_graph truncated_tetrahedron_graph turan_graph tutte_graph
    weakly_connected_components wheel_graph
"""


@pytest.mark.parametrize("theirs", [GRAPHBLAS_ALGORITHMS, NX_CUGRAPH])
def test_what_others_claim(theirs: str) -> None:
    dispatched = {name for name in theirs.split() if name in backends._registered_algorithms}
    assert dispatched <= set(functions())
    assert len(dispatched) > 80


def test_what_only_networkx_has_is_told_by_name() -> None:
    G = nx.path_graph(3)
    with pytest.raises(NotImplementedError, match=r"sparsezc has no chain_decomposition; NetworkX itself computes"):
        nx.chain_decomposition(G, backend="sparsezc")
    with pytest.raises(
        NotImplementedError, match=r"hits: sparsezc has normalised scores only; NetworkX itself computes hits"
    ):
        nx.hits(G, normalized=False, backend="sparsezc")
    with nx.config.backend_priority(algos=["sparsezc"], generators=["sparsezc"]):
        assert list(nx.chain_decomposition(nx.cycle_graph(3)))
        assert nx.barabasi_albert_graph(9, 2, seed=1).number_of_edges() == 14
