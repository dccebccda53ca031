"""Answers that depend on NetworkX's choice among equals: A* searches, unions of communities, structural holes."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tests.networkx_backend.cases import connected, random_graph
from tests.networkx_backend.judging import difference, outcome

BACKEND, THEIRS = {"backend": "sparsezc"}, {"backend": "networkx"}


def both(call: Any, tolerance: float = 0.0, order: bool = True) -> None:
    """Check that a call gives the same answer or error with the backend and with NetworkX alone."""
    ours, theirs = (outcome(lambda how=how: call(**how)) for how in (BACKEND, THEIRS))
    assert ours[0] == theirs[0], (ours, theirs)
    assert difference(ours[1], theirs[1], tolerance, order=order) is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_a_search_towards_a_target(kind: Any, seed: int) -> None:
    """A* paths are NetworkX's, step by step, also with estimates that are too large or inconsistent."""
    G = kind(random_graph(seed, directed=kind is nx.DiGraph))
    if seed % 2:
        for _, _, data in G.edges(data=True):
            data["weight"] = data.get("weight", 1) / 2
    rng = np.random.default_rng(seed)
    guess = dict(zip(G, rng.integers(0, 9, len(G)).tolist(), strict=True))
    nodes = list(G)
    for target in (nodes[1], nodes[-2], nodes[-1], "no node"):
        for given in ({}, {"heuristic": lambda u, v: guess[u]}, {"cutoff": 6}, {"weight": None, "cutoff": 2.5}):
            for call in (nx.astar_path, nx.astar_path_length):
                both(lambda call=call, given=given, end=target, **how: call(G.copy(), nodes[0], end, **given, **how))


def test_a_search_on_a_grid_looks_where_the_target_is() -> None:
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30))
    seen: list[Any] = []

    def apart(u: int, v: int) -> int:
        seen.append(u)
        return abs(u // 30 - v // 30) + abs(u % 30 - v % 30)

    assert nx.astar_path_length(G, 0, 29, apart, **BACKEND) == 29
    assert len(seen) < 100


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [False, True])
def test_unions_of_communities(directed: bool, seed: int) -> None:
    """Unions are NetworkX's also among equal gains, where it compares labels, here not in the graph's order."""
    rng = np.random.default_rng(seed)
    G = nx.gnp_random_graph(int(rng.integers(2, 25)), 0.15, seed=seed, directed=directed)
    G = nx.relabel_nodes(G, {v: f"v{x}" for v, x in enumerate(rng.permutation(len(G)))})
    G.add_edge("v0", "v0")
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = k % 3 + seed % 2 / 2
    n = len(G)
    for given in ({}, {"weight": "weight"}, {"resolution": 0.5}, {"cutoff": n // 2 + 1}, {"best_n": 2}, {"best_n": 1}):
        both(lambda given=given, **how: nx.community.greedy_modularity_communities(G.copy(), **given, **how))
    for wrong in ({"cutoff": 0}, {"cutoff": n + 1}, {"best_n": 0}, {"cutoff": 2, "best_n": 1}):
        both(lambda given=wrong, **how: nx.community.greedy_modularity_communities(G.copy(), **given, **how))


def test_communities_of_parallel_edges_and_of_labels_without_an_order() -> None:
    G = nx.MultiGraph(nx.karate_club_graph())
    G.add_edges_from([(0, 1), (0, 1), (33, 33)])
    both(lambda **how: nx.community.greedy_modularity_communities(G.copy(), "weight", **how))
    H = nx.relabel_nodes(nx.barbell_graph(4, 0), {0: "a", 1: (2, 3), 2: 1.5})
    found = nx.community.greedy_modularity_communities(H, **BACKEND)
    assert found == [frozenset(["a", (2, 3), 1.5, 3]), frozenset([4, 5, 6, 7])]
    both(lambda **how: nx.community.greedy_modularity_communities(nx.empty_graph(3), **how))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("directed", [False, True])
def test_holes_of_some_nodes(directed: bool, seed: int) -> None:
    G = random_graph(seed, directed)
    nodes = list(G)[::2]
    for weight in (None, "weight"):
        for call in (nx.constraint, nx.effective_size):
            both(lambda call=call, w=weight, **how: call(G.copy(), nodes, weight=w, **how), 1e-9)
    both(lambda **how: nx.constraint(G.copy(), ["no node"], **how))
    both(lambda **how: nx.effective_size(G.copy(), 100, **how))
    for empty in ([], ["no node"], 3):
        both(lambda nodes=empty, **how: nx.constraint(nx.DiGraph(), nodes, **how))
        both(lambda nodes=empty, **how: nx.effective_size(nx.Graph(), nodes, weight="weight", **how))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_ties_of_weight_0_are_neighbours_among_some_nodes(kind: Any) -> None:
    """With a list of nodes, ties of weight 0 are neighbours as in NetworkX, which ignores them without a list."""
    G = kind()
    G.add_weighted_edges_from(
        [(0, 1, 0), (1, 2, 3), (2, 0, 1), (0, 3, 0.0), (4, 5, 0), (5, 4, 0), (2, 6, 0), (6, 7, 0)]
    )
    G.add_edge(1, 1, weight=0)
    for nodes in (list(G), [5], None):
        both(lambda nodes=nodes, **how: nx.constraint(G.copy(), nodes, weight="weight", **how), 1e-9)
    both(lambda **how: nx.effective_size(G.copy(), list(G), weight="weight", **how), 1e-9)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_sink_has_an_effective_size(weight: str | None) -> None:
    """A sink's effective size follows the formula over ties in both directions; NetworkX gives NaN in a list."""
    G = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 3), (0, 3), (4, 0), (4, 3)])
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = k + 1
    U = nx.Graph()
    for u, v, data in G.edges(data=True):
        U.add_edge(u, v, tie=(U[u][v]["tie"] if U.has_edge(u, v) else 0) + (data["weight"] if weight else 1))
    wanted = nx.effective_size(U, list(U), weight="tie", **THEIRS)
    assert difference(nx.effective_size(G, weight=weight, **BACKEND), {v: wanted[v] for v in G}, 1e-9) is None


def test_the_constraint_of_a_node_whose_ties_are_loops() -> None:
    G = nx.MultiGraph([("one", "one"), ("two", "two"), ("two", "two"), ("a", "b"), ("a", "a")])
    G.add_node("none")
    both(lambda **how: nx.constraint(G.copy(), **how), 1e-12)
    for loop in (0.25, 0.5, 1, 3):
        H = nx.Graph([("a", "b", {"weight": 0.25}), ("a", "a", {"weight": loop}), ("c", "c", {"weight": loop})])
        both(lambda H=H, **how: nx.constraint(H.copy(), weight="weight", **how), 1e-12)
    assert nx.constraint(G, **BACKEND)["two"] == 4


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_each_of_the_shortest_paths_once(kind: Any) -> None:
    """Each path is listed once, also over cycles of length 0, where NetworkX repeats some, and with NumPy's labels."""
    G = kind()
    G.add_weighted_edges_from([(0, 1, 0), (1, 2, 0), (2, 0, 0), (2, 3, 1), (0, 3, 1), (3, 3, 0)])
    theirs = list(nx.all_shortest_paths(G.copy(), 0, 3, "weight", **THEIRS))
    ours = list(nx.all_shortest_paths(G, 0, 3, "weight", **BACKEND))
    assert len(ours) == len(set(map(tuple, ours))) < len(theirs)
    assert set(map(tuple, ours)) == set(map(tuple, theirs))
    H = kind([(np.int64(6), ("a", None)), (("a", None), "b"), (np.int64(6), 5), (5, "b")])
    both(lambda **how: list(nx.all_pairs_all_shortest_paths(H.copy(), **how)))


@pytest.mark.parametrize("far", [1e17, 1e294])
def test_steps_too_short_to_change_a_distance(far: float) -> None:
    """Paths are NetworkX's where rounding makes a step vanish, so that two nodes precede each other."""
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 2 * far), (0, 2, far), (1, 2, far), (1, 3, 2.0), (3, 4, 0.5), (1, 4, 1.0)])
    both(lambda **how: dict(nx.single_source_all_shortest_paths(G.copy(), 0, weight="weight", **how)), order=False)


def test_paths_of_one_node() -> None:
    G = nx.path_graph(3)
    for nodes in ([2], [5], [], frozenset({1}), [0, 1], (1,)):
        both(lambda nodes=nodes, **how: nx.is_simple_path(G.copy(), nodes, **how))


def test_equal_lengths_are_equal_to_the_last_bit() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 2**60), (1, 1, 1), (1, 2, 2**59), (0, 2, 2**60 + 2**59)])
    both(lambda **how: nx.dijkstra_predecessor_and_distance(G.copy(), 0, **how))
    both(lambda **how: nx.dijkstra_predecessor_and_distance(G.copy(), 0, weight=None, **how))
    G.add_edge(0, 0, weight=0)
    for cutoff in (-0.5, 0, 2**60):
        both(lambda cutoff=cutoff, **how: nx.dijkstra_predecessor_and_distance(G.copy(), 0, cutoff, **how))


@pytest.mark.parametrize("edges", [[(0, 1)], [(0, 1), (1, 2), (2, 3), (0, 4), (3, 5)], [(0, 1), (1, 2)]])
def test_the_two_barycentres_of_a_tree_begin_at_its_first_node(edges: Any) -> None:
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 1, 0, 2, 5, 4]):
        for kind in (nx.Graph, nx.MultiGraph):
            G = kind()
            G.add_nodes_from(v for v in order if any(v in edge for edge in edges))
            G.add_edges_from(edges)
            both(lambda G=G, **how: nx.barycenter(G.copy(), **how))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_sums_without_a_fraction_are_integers(kind: Any) -> None:
    G = kind([("a", "b", {"weight": 0.5}), ("b", "c", {"weight": 2}), ("c", "c", {"weight": 1}), ("d", "c")])
    G.add_node("e")
    fractions = kind([("a", "b", {"weight": 0.5}), ("c", "a", {"weight": 1.5})])
    fractions.add_node("e")
    for H in (G, fractions):
        for some in ([], ["e"], ["a"], ["c"], ["b", "c"], list(H)):
            both(lambda H=H, S=some, **how: nx.volume(H.copy(), S, weight="weight", **how))
            both(lambda H=H, S=some, **how: nx.cut_size(H.copy(), S, ["a", "e"], weight="weight", **how))
        for x, y in (("in", "out"), ("out", "in"), ("in", "in")):
            both(lambda H=H, x=x, y=y, **how: list(nx.node_degree_xy(H.copy(), x, y, "weight", **how)))
            both(lambda H=H, x=x, y=y, **how: nx.degree_mixing_dict(H.copy(), x, y, "weight", **how))


def test_rich_clubs_beside_those_of_random_graphs() -> None:
    """Mean ratios to random graphs agree with NetworkX's to four standard errors; its errors are the same."""
    G = nx.gnp_random_graph(40, 0.15, seed=2)
    G.add_edges_from((u, v) for u in range(2) for v in G if u != v)  # neighbours of all, by degree
    ours, theirs = (
        [nx.rich_club_coefficient(G.copy(), Q=4, seed=s, **how) for s in range(8)] for how in (BACKEND, THEIRS)
    )
    assert all(list(found) == list(theirs[0]) for found in ours)
    assert ours[3] == nx.rich_club_coefficient(G, Q=4, seed=3, **BACKEND) != ours[4]
    for k in theirs[0]:
        one, other = (np.array([found[k] for found in every]) for every in (ours, theirs))
        assert abs(one.mean() - other.mean()) < 4 * math.sqrt((one.var() + other.var()) / 8) + 1e-9
    for wrong in (
        nx.path_graph(3),
        nx.complete_graph(5),
        nx.Graph([(0, 1), (0, 0)]),
        nx.empty_graph(4),
        nx.cycle_graph(3),
    ):
        both(lambda H=wrong, **how: nx.rich_club_coefficient(H.copy(), Q=2, seed=1, **how))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [False, True])
def test_predecessors_of_all_pairs(directed: bool, seed: int) -> None:
    G = connected(seed, directed) if seed % 2 else random_graph(seed, directed)
    G.add_edge(next(iter(G)), next(iter(G)), weight=2)
    ours, theirs = (nx.floyd_warshall_predecessor_and_distance(G.copy(), **how) for how in (BACKEND, THEIRS))
    assert difference(ours[0], theirs[0], 0, order=False) is None
    assert ours[1] == theirs[1]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_places_in_a_drawing(kind: Any) -> None:
    G = kind(random_graph(3, directed=kind is nx.DiGraph))
    some = {v: np.array([float(k), k % 3]) for k, v in enumerate(G)}
    for given in (
        {}, {"weight": "weight", "gravity": 0.5}, {"linlog": True, "strong_gravity": True}, {"dim": 3},
        {"distributed_action": True, "pos": some}, {"pos": dict(list(some.items())[:4])},
        {"node_size": dict.fromkeys(G, 0.01), "node_mass": dict.fromkeys(list(G)[::2], 2)},
    ):  # fmt: skip
        ours, theirs = (
            nx.forceatlas2_layout(G.copy(), seed=4, max_iter=12, **given, **how) for how in (BACKEND, THEIRS)
        )
        assert list(ours) == list(theirs)
        assert all(np.allclose(ours[v], theirs[v], rtol=1e-3, atol=1e-3) for v in G), given
    assert nx.forceatlas2_layout(nx.Graph(), **BACKEND) == {}
    assert list(nx.forceatlas2_layout(nx.empty_graph(2), distributed_action=True, seed=1, **BACKEND)) == [0, 1]


def test_what_may_be_isomorphic() -> None:
    graphs = [nx.path_graph(4), nx.star_graph(3), nx.cycle_graph(6), nx.disjoint_union(*[nx.cycle_graph(3)] * 2)]
    graphs += [nx.path_graph(4, create_using=nx.DiGraph), nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3)])]
    for G in graphs:
        for H in graphs:
            both(lambda G=G, H=H, **how: nx.faster_could_be_isomorphic(G.copy(), H.copy(), **how))
            if not (G.is_multigraph() or H.is_multigraph()):
                both(lambda G=G, H=H, **how: nx.fast_could_be_isomorphic(G.copy(), H.copy(), **how))
        both(lambda G=G, **how: nx.is_triad(G.copy(), **how))


def test_negative_weights() -> None:
    G = nx.DiGraph([(0, 1, {"weight": -2}), (1, 2, {"weight": 3}), (2, 0)])
    for given in ({}, {"edge": (0, 1)}, {"edge": (2, 0)}, {"edge": (5, 0)}, {"weight": "cost"}, {"weight": None}):
        both(lambda given=given, **how: nx.is_negatively_weighted(G.copy(), **given, **how))
    both(lambda **how: nx.is_negatively_weighted(nx.MultiGraph(G), **how))


def said(name: str, G: Any, given: Any, how: dict[str, str]) -> Any:
    """Return the answer, or the class and the message of an error."""
    try:
        found = getattr(nx, name)(G.copy(), *given, **how)
        return list(found) if hasattr(found, "__next__") else found
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_errors_about_nodes_say_the_same(kind: Any) -> None:
    G = kind(nx.path_graph(4))
    G.add_node("alone")
    of_one = (
        "bfs_edges", "bfs_tree", "dfs_edges", "dfs_preorder_nodes", "single_source_shortest_path", "shortest_path",
        "single_source_shortest_path_length", "single_target_shortest_path", "predecessor", "descendants", "ancestors",
        "single_source_dijkstra", "single_source_bellman_ford", "shortest_path_length", "ego_graph", "eccentricity",
        "clustering", "closeness_centrality", "dijkstra_predecessor_and_distance", "node_boundary",
    )  # fmt: skip
    of_two = (
        "shortest_path", "shortest_path_length", "dijkstra_path", "dijkstra_path_length", "bidirectional_dijkstra",
        "bidirectional_shortest_path", "astar_path", "has_path", "all_shortest_paths", "local_constraint",
    )  # fmt: skip
    calls = [(name, ("unknown",)) for name in of_one]
    calls += [(name, ends) for name in of_two for ends in (("unknown", 0), (0, "unknown"), (0, "alone"))]
    for name, given in calls:
        assert said(name, G, given, BACKEND) == said(name, G, given, THEIRS), (name, given)


def test_arguments_that_networkx_refuses_too() -> None:
    G = nx.path_graph(4)
    with pytest.raises(TypeError, match=r"pagerank\(\) got an unexpected keyword argument 'damping'"):
        nx.pagerank(G, damping=0.5, **BACKEND)
    for strategy in ("by age", 5):
        both(lambda strategy=strategy, **how: nx.greedy_color(G.copy(), strategy, **how))
