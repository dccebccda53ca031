"""Labels are the graph's own, numbers have NetworkX's types, dictionaries its order; NetworkX keeps local calls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest

from sparsezc.config import config
from sparsezc.networkx_backend.interface import can_run, convert_from_nx
from tests.networkx_backend.judging import difference, outcome, pythons_own

BACKEND = {"backend": "sparsezc"}


@pytest.fixture(autouse=True, params=[True, False], ids=["autocompute", "new"])
def settings(request: pytest.FixtureRequest) -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False), config.set(autocompute=request.param):
        yield


def same(name: str, G: Any, *args: Any, **options: Any) -> None:
    function = getattr(nx, name)
    ours = outcome(lambda: function(G, *args, **options, **BACKEND))
    assert difference(ours, outcome(lambda: function(G, *args, **options)), 1e-9) is None


def shuffled(kind: Any = nx.Graph) -> Any:
    """Return a graph whose nodes and edges are unordered."""
    G = kind()
    G.add_nodes_from("dbaecf")
    G.add_weighted_edges_from(
        [(*"af", 2), (*"ab", 1.5), (*"fd", 1), (*"be", 0), (*"bd", 1.5), (*"fe", 0.5), (*"ec", 3)]
    )
    return G


@pytest.mark.parametrize("first", [0.0, False, np.int64(0), 0])
def test_labels_are_the_graphs_own(first: Any) -> None:
    G = nx.Graph([(first, 1), (1, 2)])
    for name in ("pagerank", "core_number", "triangles", "connected_components", "edge_betweenness_centrality"):
        same(name, G)
    assert next(iter(nx.core_number(G, **BACKEND))) is next(iter(G))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_searches_keep_the_order_of_the_edges(kind: Any) -> None:
    G = shuffled(kind)
    for name in ("bfs_edges", "bfs_layers", "bfs_successors", "bfs_predecessors", "single_source_shortest_path"):
        same(name, G, "a")
    for name in ("single_source_shortest_path_length", "single_target_shortest_path_length"):
        same(name, G, "e")
    same("bfs_edges", G, "e", reverse=True)
    same("bfs_successors", G, "c", depth_limit=0)
    same("edge_betweenness_centrality", G)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("cutoff", [None, 2, -1])
def test_lengths_keep_types_ties_and_order(kind: Any, cutoff: Any) -> None:
    """Distances have NetworkX's types and order where integers and floats mix, some are equal, and one is 0."""
    G = shuffled(kind)
    same("single_source_dijkstra", G, "a", cutoff=cutoff)
    same("all_pairs_dijkstra_path_length", G, cutoff=cutoff)
    same("multi_source_dijkstra_path_length", G, ["f", "b"], cutoff=cutoff)
    same("single_source_shortest_path_length", G, "a", cutoff=cutoff)
    same("shortest_path_length", G, target="e", weight="weight")
    same("diameter", G, weight="weight")


def test_topological_order_is_networkxs() -> None:
    G = nx.DiGraph([(3, 1), (3, 0), (2, 0), (2, 1), (0, 5), (1, 4), (1, 5)])
    same("topological_sort", G)
    same("topological_generations", G)


@pytest.mark.parametrize("name", ["minimum_spanning_edges", "maximum_spanning_edges"])
def test_spanning_edges_are_kruskals(name: str) -> None:
    rng = random.Random(5)
    G = nx.Graph()
    for u, v in rng.sample(list(nx.complete_graph(12).edges), 30):  # with many equal weights
        G.add_edge(*rng.sample((u, v), 2), weight=rng.choice([1, 2, 2.0, 0.5, -1]))
    for graph in (G, shuffled(), nx.complete_graph(5)):
        same(name, graph)
        same(name.replace("edges", "tree"), graph)


def test_zeros_are_whole_where_networkxs_are() -> None:
    G = shuffled()
    G.add_node("z")
    for name in ("clustering", "square_clustering", "transitivity", "harmonic_centrality", "closeness_centrality"):
        same(name, G)
    same("square_clustering", nx.path_graph(5))
    same("jaccard_coefficient", nx.empty_graph(3))
    same("jaccard_coefficient", nx.path_graph(3), [(0, 2), (0, 0)])
    same("floyd_warshall", nx.path_graph(3))
    same("greedy_color", G)


def test_paths_without_an_end() -> None:
    G = nx.path_graph(3)
    for ends in ((0, None), (None, 0), (None, None), (0, 2), (0, 9), (9, None)):
        same("has_path", G, *ends)
    same("shortest_path", G, 0, 9, weight="weight", method="bellman-ford")


def test_what_raised_without_autocompute() -> None:
    G = nx.cycle_graph(5)
    same("pagerank", G, personalization={0: 1})
    same("closeness_centrality", G, u=2)
    assert nx.stoer_wagner(G, **BACKEND)[0] == nx.stoer_wagner(G)[0]


def test_hits_converges_where_two_stars_are_nearly_alike() -> None:
    G = nx.DiGraph([(0, i) for i in range(1, 200)] + [(200, i) for i in range(201, 401)])
    hubs, _ = nx.hits(G, **BACKEND)
    assert hubs[200] == pytest.approx(1)


@pytest.mark.parametrize("back", [8, 2.0, None])
def test_views_whose_edges_have_two_values_are_declined(back: Any) -> None:
    D = nx.DiGraph([(0, 1, {"weight": 2}), (1, 0, {} if back is None else {"weight": back}), (1, 2, {"weight": 1})])
    for view in (D.to_undirected(as_view=True), D.to_undirected(as_view=True).subgraph([0, 1, 2])):
        with pytest.raises(NotImplementedError):
            nx.floyd_warshall(view, **BACKEND)
        same("connected_components", view)
        with pytest.raises(NotImplementedError):  # also after a conversion that keeps all attributes
            nx.local_constraint(convert_from_nx(view, preserve_edge_attrs=True), 0, 1, weight="weight")
    D[1][0]["weight"] = 2
    same("floyd_warshall", D.to_undirected(as_view=True))


def test_lengths_without_a_finite_sum_are_declined() -> None:
    G = nx.Graph([(0, 1, {"weight": 1e308}), (1, 2, {"weight": 1e308}), (2, 3, {"weight": 1})])
    for name in ("center", "shortest_path_length", "single_source_bellman_ford_path_length"):
        given = {} if name == "center" else {"source": 0}
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(G, **given, weight="weight", **BACKEND)


def test_weights_that_are_all_0_are_declined() -> None:
    G = nx.Graph([(0, 1, {"weight": 0}), (1, 2, {"weight": 0}), (2, 0, {"weight": 0})])
    for function in (nx.clustering, nx.average_clustering, nx.community.louvain_communities):
        with pytest.raises(NotImplementedError):
            function(G, weight="weight", **BACKEND)
    with pytest.raises(NotImplementedError):
        nx.community.modularity(G, [{0, 1, 2}], **BACKEND)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("nodes", [0, 7, [3, 3, 0, "no node"], [], "no node", range(40)])
def test_clustering_of_some_nodes_is_that_of_all(kind: Any, nodes: Any) -> None:
    G = nx.gnm_random_graph(40, 160, seed=2, directed=kind is nx.DiGraph)
    G.add_edges_from([(0, 0), (3, 3)])
    for name in ("triangles", "clustering", "average_clustering"):
        same(name, G, nodes)


def test_few_nodes_do_not_cost_the_whole_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsezc.networkx_backend.structure import clusters

    rows = []
    measure = clusters.algorithms.triangles
    monkeypatch.setattr(clusters.algorithms, "triangles", lambda A: (rows.append(A.nrows), measure(A))[1])
    same("triangles", nx.cycle_graph(100), [3, 4])
    assert rows == [4]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_a_loop_of_length_0_is_a_way_from_a_node_to_itself(kind: Any) -> None:
    """With a loop of length 0 the distance of a node from itself has the loop's type, 0.0 or 0."""
    same("floyd_warshall", kind([(0, 1, {"weight": 1.5}), (0, 0, {"weight": 0.0}), (1, 1, {"weight": 2.0})]))
    same("floyd_warshall", kind([(0, 1, {"weight": 1.5}), (0, 0, {"weight": 0.0}), (1, 1, {"weight": 0})]))
    same("floyd_warshall", kind([(0, 1, {"weight": 2}), (0, 0, {"weight": 0})]))


@pytest.mark.parametrize("name", ["pagerank", "hits"])
def test_weights_are_read_before_rounds_are_counted(name: str) -> None:
    """A weight that is no number is refused, even with max_iter=0."""
    G = nx.DiGraph([(0, 1, {"weight": "heavy"}), (1, 2), (2, 0)])
    nx.ego_graph(G, 0, **BACKEND)  # caches a conversion whose attributes are read on demand
    with pytest.raises(ValueError, match="heavy"):
        getattr(nx, name)(G, max_iter=0, backend="networkx")
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(G, max_iter=0, **BACKEND)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "said"),
    [
        ("dijkstra_path", (nx.path_graph(3), 0, 1), {}, True),
        ("dijkstra_path", (), {"G": nx.path_graph(3), "source": 0, "target": 1}, True),
        ("dijkstra_path", (nx.path_graph(3), 0), {"target": 1, "weight": "km"}, True),
        ("dijkstra_path", (nx.path_graph(3), 0), {}, "missing a required argument"),
        ("dijkstra_path", (), {"source": 0, "target": 1}, "missing a required argument"),
        ("dijkstra_path", (nx.path_graph(3), 0, 1, "km", 5), {}, "too many positional arguments"),
        ("dijkstra_path", (nx.path_graph(3), 0, 1), {"heap": 5}, "unexpected keyword argument"),
        ("dijkstra_path", (nx.path_graph(3), 0, 1, len), {}, "weight is a function"),
        ("dijkstra_path", (nx.path_graph(3), 0, 1), {"weight": len}, "weight is a function"),
        ("dijkstra_path", (nx.MultiGraph(), 0, 1), {}, True),
        ("triangles", (nx.MultiGraph(),), {}, "for graphs without parallel edges only"),
        ("closeness_centrality", (nx.path_graph(3), None, len), {}, "distance is a function"),
        ("bfs_tree", (nx.path_graph(3), 0, False, None, sorted), {}, "does not support sort_neighbors"),
        ("bfs_tree", (nx.path_graph(3), 0), {"sort_neighbors": sorted}, "does not support sort_neighbors"),
        ("core_number", (nx.DiGraph(),), {}, "undirected graphs only"),
        ("reciprocity", (nx.Graph(),), {}, "directed graphs only"),
        ("k_truss", (nx.path_graph(3), 2.5), {}, "k is not an integer"),
        ("k_truss", (nx.path_graph(3),), {"k": 2}, True),
        ("is_planar", (nx.path_graph(3),), {}, "has no is_planar"),
    ],
)
def test_what_can_run_says(name: str, args: Any, kwargs: Any, said: bool | str) -> None:
    """can_run returns True or the reason against it, for positional and keyword arguments."""
    answer = can_run(name, args, kwargs)
    assert answer is True if said is True else isinstance(answer, str) and str(said) in answer


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_a_walk_takes_each_of_parallel_edges(kind: Any) -> None:
    """Each parallel edge counts in PageRank, also without a weight."""
    G = kind([(0, 1), (0, 1), (0, 1), (0, 2), (1, 2), (2, 0)])
    ours, theirs = (nx.pagerank(G, weight=None, tol=1e-9, backend=name) for name in ("sparsezc", "networkx"))
    assert difference(ours, theirs, 1e-7) is None


@pytest.mark.parametrize("index", [nx.wiener_index, nx.hyper_wiener_index, nx.schultz_index, nx.gutman_index])
def test_sums_of_long_distances_do_not_wrap_around(index: Any) -> None:
    G = nx.cycle_graph(7)
    nx.set_edge_attributes(G, 2**60, "weight")
    assert index(G, weight="weight", **BACKEND) == pytest.approx(index(G, weight="weight"), rel=1e-12)


def test_a_side_of_graphs_without_sides() -> None:
    """A graph that is not bipartite raises, or not, as in NetworkX, which stops at the first failing component."""
    triangle, path = [(0, 1), (1, 2), (2, 0)], [(3, 4), (4, 5)]
    for edges, nodes in ((triangle + path, [3]), (path + triangle, [3]), (path + triangle, [3, 5]), (path, [4])):
        G, found = nx.Graph(edges), []
        for name in ("sparsezc", "networkx"):
            try:
                found.append(nx.bipartite.is_bipartite_node_set(G, nodes, backend=name))
            except nx.NetworkXError as error:
                found.append(type(error))
        assert found[0] == found[1]


def test_ratios_of_numpys_zeros_are_infinite() -> None:
    """Ratios with a NumPy zero as denominator are infinite, as in NetworkX; Python's zeros raise."""
    for zero in (np.float64(0), np.int64(0), 0, 0.0):
        for kind in (nx.Graph, nx.DiGraph):
            G = kind()
            G.add_weighted_edges_from([("a", "b", type(zero)(2)), ("c", "d", zero)])
            for name in ("conductance", "normalized_cut_size"):
                for ends in ((["a"], ["b"]), (["c"], ["a"]), (["d"], ["c"])):
                    with np.errstate(all="ignore"):
                        ours, theirs = (
                            outcome(
                                lambda name=name, G=G, ends=ends, how=how: getattr(nx, name)(G, *ends, "weight", **how)
                            )
                            for how in (BACKEND, {})
                        )
                    assert difference(pythons_own(ours), pythons_own(theirs), 1e-9) is None, (name, ends, zero)


def test_sums_of_weights_beyond_64_bits() -> None:
    """Beyond 64 bits the sum of a cut is exact, and functions of degrees, which are arrays, are declined."""
    G = nx.complete_bipartite_graph(1, 8)
    nx.set_edge_attributes(G, 2**61, "weight")
    same("cut_size", G, [0], weight="weight")
    assert nx.cut_size(G, [0], weight="weight", **BACKEND) == 2**64
    for name in ("volume", "conductance"):
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(G, [0], weight="weight", **BACKEND)


def test_a_node_is_no_set_of_nodes() -> None:
    G = nx.path_graph(["ab", "a", "b", ("a", "b")])
    for name in ("volume", "conductance", "normalized_cut_size"):
        for S in (["ab", "a"], "ab", ("a", "b")):  # the last two labels are nodes
            same(name, G, S)


def test_correlations_of_degrees_whose_squares_are_infinite() -> None:
    G = nx.path_graph(5)
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = 1e200 * (k + 1)
    H = nx.path_graph(5)
    for k, (_, _, data) in enumerate(H.edges(data=True)):
        data["weight"] = float(k + 1)
    found = nx.degree_pearson_correlation_coefficient(G, weight="weight", **BACKEND)
    assert found == pytest.approx(nx.degree_pearson_correlation_coefficient(H, weight="weight"))


def test_an_eccentricity_of_0_is_an_integer() -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=0.0)
    for name in ("diameter", "radius", "eccentricity", "center"):
        same(name, G, weight="weight")
        same(name, nx.Graph([(0, 1), (2, 3)]), **({} if name == "eccentricity" else {"usebounds": True}))


def test_scores_are_those_of_networkxs_rounds() -> None:
    """Scores are those after NetworkX's rounds, also where a faster method would be more exact or rounds run out."""
    G = nx.path_graph(9)
    for max_iter in (100, 1000):
        same("eigenvector_centrality", G, max_iter=max_iter)
