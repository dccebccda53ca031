"""Every algorithm on graphs distributed over ranks, against the same algorithm on the plain CPU engine.

Integers and orderings must be equal to the bit; sums may differ by the order of their terms. Where several results are
right (parents, random colourings), the checks compare a property that all of them share.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from sparsezc.engines.distributed import engine
from sparsezc.expr import engines

a = gb.algorithms
eigenvector = import_module("sparsezc.algorithms.eigenvector_centrality")  # its function has the same name
Call = Callable[[Any], Any]


def _some(A: Any) -> Any:
    return gb.Vector.from_coo(np.arange(A.nrows), np.arange(A.nrows) // 3 * 3, dtype=int, size=A.nrows)


CALLS: dict[str, Call] = {
    "adamic_adar_index": a.adamic_adar_index,
    "all_pairs_shortest_paths": a.all_pairs_shortest_paths,
    "approximate_diameter": lambda A: a.approximate_diameter(A, 1),
    "articulation_points": a.articulation_points,
    "average_shortest_path_length": a.average_shortest_path_length,
    "bellman_ford": lambda A: a.bellman_ford(A, 1)[0],
    "betweenness_centrality": lambda A: a.betweenness_centrality(A, sources=[1, 2]),
    "bfs": lambda A: a.bfs(A, 1),
    "bfs several": lambda A: a.bfs(A, [1, 0, 2]),
    "bfs_parents": lambda A: _levels_of(A, a.bfs_parents(A, 1)),
    "bfs_parents several": lambda A: a.bfs_parents(A, [1, 2]).apply("one").new(),
    "biconnected_components": a.biconnected_components,
    "bridges": a.bridges,
    "cdlp": lambda A: a.cdlp(A, 5),
    "closeness_centrality": a.closeness_centrality,
    "clustering": a.clustering,
    "common_neighbors": a.common_neighbors,
    "condensation": lambda A: a.condensation(A)[0],
    "connected_components": a.connected_components,
    "constraint": a.constraint,
    "core_number": a.core_number,
    "cosine_similarity": a.cosine_similarity,
    "dag_longest_path": a.dag_longest_path,
    "degree_assortativity": a.degree_assortativity,
    "diameter": a.diameter,
    "eccentricity": a.eccentricity,
    "edge_betweenness_centrality": lambda A: a.edge_betweenness_centrality(A, sources=[1, 2]),
    "effective_size": a.effective_size,
    "ego_graph": lambda A: a.ego_graph(A, 1),
    "eigenvector_centrality": a.eigenvector_centrality,
    "find_negative_cycle": lambda A: a.find_negative_cycle(A, 1),
    "global_efficiency": a.global_efficiency,
    "graph_search": lambda A: a.graph_search(A, [1, 2], gb.Vector.from_scalar(1.0, A.nrows), 3, seed=4),
    "greedy_color": lambda A: a.greedy_color(A, seed=2),
    "greedy_modularity_communities": a.greedy_modularity_communities,
    "harmonic_centrality": a.harmonic_centrality,
    "hits": lambda A: a.hits(A)[0],
    "is_directed_acyclic_graph": a.is_directed_acyclic_graph,
    "double_edge_swap": lambda A: a.double_edge_swap(A, 3, seed=1) if A.nvals > 19 else A,
    "jaccard_coefficient": a.jaccard_coefficient,
    "k_core": a.k_core,
    "k_hop": lambda A: a.k_hop(A, 1, 2),
    "k_truss": lambda A: a.k_truss(A, 3),
    "katz_centrality": lambda A: a.katz_centrality(A, alpha=0.001),
    "label_propagation": a.label_propagation,
    "leiden_communities": lambda A: a.leiden_communities(A, seed=1),
    "local_clustering_coefficient": a.local_clustering_coefficient,
    "local_efficiency": a.local_efficiency,
    "louvain_communities": lambda A: a.louvain_communities(A, seed=1),
    "maximal_independent_set": lambda A: a.maximal_independent_set(A, seed=3),
    "maximal_matching": lambda A: a.maximal_matching(A, seed=3),
    "maximum_flow": lambda A: a.maximum_flow(A, 0, 2)[0],
    "minimum_cut": lambda A: a.minimum_cut(A, 0, 2)[0],
    "minimum_spanning_forest": a.minimum_spanning_forest,
    "modularity": lambda A: a.modularity(A, _some(A)),
    "multi_source_shortest_paths": lambda A: a.multi_source_shortest_paths(A, [1, 2], weighted=True),
    "overall_reciprocity": a.overall_reciprocity,
    "pagerank": a.pagerank,
    "pagerank_within": a.pagerank_within,
    "radius": a.radius,
    "random_walks": lambda A: a.random_walks(A, [1, 2, 0], 4, seed=5),
    "reciprocity": a.reciprocity,
    "resource_allocation_index": a.resource_allocation_index,
    "rich_club_coefficient": a.rich_club_coefficient,
    "sample_neighbors": lambda A: a.sample_neighbors(A, [1, 2], 2, seed=5),
    "scan_statistics": lambda A: a.scan_statistics(A)[0],
    "square_clustering": a.square_clustering,
    "sssp": lambda A: a.sssp(A, 1),
    "stoer_wagner": lambda A: a.stoer_wagner(A)[0],
    "strongly_connected_components": a.strongly_connected_components,
    "topological_generations": a.topological_generations,
    "topological_sort": a.topological_sort,
    "transitive_closure": a.transitive_closure,
    "transitive_reduction": a.transitive_reduction,
    "transitivity": a.transitivity,
    "triangle_count": a.triangle_count,
    "triangles": a.triangles,
    "voterank": lambda A: a.voterank(A, 3),
}
#: Too much work for the largest graph; the others run the same statements.
SLOW = {
    "all_pairs_shortest_paths", "average_shortest_path_length", "closeness_centrality", "harmonic_centrality", "radius",
    "diameter", "eccentricity", "transitive_closure", "maximum_flow", "minimum_cut", "square_clustering",
    "graph_search", "leiden_communities", "louvain_communities", "cosine_similarity", "jaccard_coefficient",
    "global_efficiency", "local_efficiency", "adamic_adar_index", "common_neighbors", "resource_allocation_index",
    "constraint", "effective_size", "bridges", "articulation_points",
}  # fmt: skip

#: A statement or more for each vertex: these run on the smallest graphs only.
SEQUENTIAL = {
    "biconnected_components", "greedy_modularity_communities", "local_efficiency", "stoer_wagner", "voterank",
}  # fmt: skip


def graphs() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, 80, (2, 240))
    numbers = rng.integers(1, 9, 240)
    return {
        "kron": gb.io.read("kron:7"),
        "directed": gb.Matrix.from_coo(i, j, numbers, nrows=80, ncols=80, dup_op="min"),
        "path": gb.Matrix.from_coo(np.arange(19), np.arange(1, 20), nrows=20, ncols=20),  # a round for each vertex
        "three vertices": gb.Matrix.from_edgelist([(0, 1), (0, 2)], nrows=3, ncols=3),
        "fewer than three ranks": gb.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2),
        "fewer than two ranks": gb.Matrix.from_edgelist([(0, 0)], nrows=1, ncols=1),
    }


def _levels_of(A: Any, parent: Any) -> Any:
    """Return the number of hops from each vertex to its root along `parent`; check that each step is an edge."""
    at, up = parent.to_coo()
    edges = set(zip(*(part.tolist() for part in A.to_coo()[:2]), strict=True))
    above = dict(zip(at.tolist(), up.tolist(), strict=True))
    hops = {}
    for v in above:
        x, count = v, 0
        while above[x] != x:
            assert (above[x], x) in edges
            x, count = above[x], count + 1
        hops[v] = count
    return hops


def outcome(call: Call, A: Any) -> Any:
    try:
        return call(A)
    except (gb.exceptions.GraphblasException, TypeError, AssertionError) as error:
        return f"{type(error).__name__}: {error}" if isinstance(error, AssertionError) else type(error).__name__


def alike(got: Any, want: Any) -> bool:
    if isinstance(want, gb.Vector | gb.Matrix):
        if type(got) is not type(want) or got.shape != want.shape or got.dtype is not want.dtype:
            return False
        pairs = list(zip(got.to_coo(), want.to_coo(), strict=True))
        exact = want.dtype.name[:2] != "FP"
        if any(not np.array_equal(x, y) for x, y in pairs[:-1]):
            return False
        return bool(np.array_equal(*pairs[-1]) if exact else np.allclose(*pairs[-1], rtol=1e-9, atol=1e-12))
    if isinstance(want, float) and not isinstance(got, str):
        return bool(np.isclose(got, want, rtol=1e-9, atol=1e-12, equal_nan=True))
    return bool(type(got) is type(want) and got == want)


def asked_of(graph: str, A: Any, names: Any = CALLS) -> list[str]:
    """Return the names of the calls that take less than a second for this graph."""
    return [name for name in names if not ((graph == "kron" and name in SLOW) or (name in SEQUENTIAL and A.nrows > 3))]


def compare(names: Any, without: tuple[str, ...] = ()) -> None:
    wrong = []
    for graph, A in graphs().items():
        if graph in without:
            continue
        D = A.distribute()
        asked = asked_of(graph, A, names)
        wanted = expected({name: (CALLS[name], A) for name in asked})
        for name in asked:
            got = outcome(CALLS[name], D)
            if not alike(got, wanted[name]):
                wrong.append(f"{name} of {graph}: {got!r} instead of {wanted[name]!r}")
    assert not wrong, "\n".join(wrong)


def expected(calls: dict[str, tuple[Call, Any]]) -> dict[str, Any]:
    """Return the CPU engine's results, by statements: the ranks divide the calls among them and exchange results."""
    rank, size = engine().rank, engine().size
    with engines.stepping(engines.get("cpu")):  # compiling takes seconds, for which others wait
        mine = {name: outcome(*call) for k, (name, call) in enumerate(calls.items()) if k % size == rank}
    return {name: found for part in engine().transport.objects(mine) for name, found in part.items()}


def check_every_algorithm_has_a_call() -> None:
    assert {name.partition(" ")[0] for name in CALLS} == set(a.__all__)


def check_algorithms() -> None:
    compare(CALLS)


def check_ranks_whose_processors_round_otherwise_agree() -> None:
    """With ``config.check``, numbers that ranks compute redundantly and then distribute must be equal to the bit."""
    if engine().size == 1:
        return
    solve, rank = np.linalg.eigh, engine().rank

    def rounded(T: Any) -> tuple[Any, Any]:
        values, vectors = solve(T)
        return values * (1 + rank * 1e-14), vectors * (1 + rank * 1e-14)

    def nearer(A: Any) -> Any:
        by = eigenvector._Statements(A, False, 1e-6)
        return eigenvector._ahead(by, gb.Vector.from_scalar(0.1, 100))

    A = gb.io.read("path:100")
    for call in (nearer, lambda A: a.hits(A, tol=1e-3)[0]):
        with gb.config.set(check=True), patch.object(np.linalg, "eigh", rounded):
            got = call(A.distribute()).to_dense()
        with engines.stepping(engines.get("cpu")):
            np.testing.assert_allclose(got, call(A).to_dense(), rtol=1e-4)
