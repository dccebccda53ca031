"""Calls with given nodes read only their neighbourhoods; functions with a second method for few edges test both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import networkx as nx
import pytest

from sparsezc import Matrix, Vector, algorithms
from sparsezc.engines import cpu
from sparsezc.engines.cpu import compiled_loops as cpu_loops
from sparsezc.expr.expression import Expression
from sparsezc.networkx_backend.paths import breadth_first, weighted_paths
from sparsezc.networkx_backend.structure import link_prediction
from tests.networkx_backend.cases import random_graph
from tests.networkx_backend.judging import difference, weighs
from tests.networkx_backend.test_exactness import same, shuffled

BACKEND = {"backend": "sparsezc"}


@pytest.fixture(autouse=True)
def silent_cache() -> Iterator[None]:
    """Ignore NetworkX's warning of cached conversions."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield


PAIRS: dict[str, Callable[..., Any]] = {
    "dijkstra_path": nx.dijkstra_path,
    "dijkstra_path_length": nx.dijkstra_path_length,
    "single_source_dijkstra": nx.single_source_dijkstra,
    "shortest_path": lambda G, s, t, **how: nx.shortest_path(G, s, t, **{"weight": "weight"} | how),
    "shortest_path_length": lambda G, s, t, **how: nx.shortest_path_length(G, s, t, **{"weight": "weight"} | how),
}


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_search_ends_at_its_target(name: str, weight: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path no search finds a node beyond its target."""
    found = []
    for place, search in ((algorithms, "sssp"), (algorithms, "bfs")):
        made = getattr(place, search)
        monkeypatch.setattr(place, search, lambda *a, made=made, **o: (x := made(*a, **o), found.append(x.nvals))[0])
    searched = weighted_paths.search
    monkeypatch.setattr(
        weighted_paths, "search", lambda *a, **o: (x := searched(*a, **o), found.append(x.vertices.size))[0]
    )
    G = nx.path_graph(300, create_using=nx.DiGraph)
    nx.set_edge_attributes(G, 2, "weight")
    assert difference(PAIRS[name](G, 0, 20, weight=weight, **BACKEND), PAIRS[name](G, 0, 20, weight=weight), 0) is None
    assert found == [21]


@pytest.mark.parametrize("weight", [None, "weight", "absent"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_pairs(seed: int, directed: bool, weight: str | None) -> None:
    """Distances equal NetworkX's, paths are as long, and unreachable or missing targets raise its errors."""
    G = random_graph(seed, directed)
    source, *others = list(G)[:: 2 if len(G) < 20 else 5]
    reached = nx.single_source_dijkstra_path_length(G, source, weight=weight)
    for target in (source, *others, "no node"):
        if target not in reached:
            for name in PAIRS:
                with pytest.raises((nx.NetworkXNoPath, nx.NodeNotFound)) as theirs:
                    PAIRS[name](G, source, target, weight=weight)
                with pytest.raises(theirs.type):
                    PAIRS[name](G, source, target, weight=weight, **BACKEND)
            continue
        for name in ("dijkstra_path_length", "shortest_path_length"):
            assert PAIRS[name](G, source, target, weight=weight, **BACKEND) == reached[target]
        wanted = nx.single_source_dijkstra(G, source, target, weight=weight)
        assert nx.single_source_dijkstra(G, source, target, weight=weight, **BACKEND) == wanted
        for cutoff in (reached[target], reached[target] + 0.5):
            assert nx.single_source_dijkstra(G, source, target, cutoff, weight, **BACKEND) == wanted
        assert nx.dijkstra_path(G, source, target, weight, **BACKEND) == wanted[1]
        path = nx.shortest_path(G, source, target, weight, **BACKEND)
        assert (path[0], path[-1], weighs(G, path, weight)) == (source, target, reached[target])


def test_hops_by_dijkstra_s_name_come_in_its_order() -> None:
    """With weight=None Dijkstra's functions have NetworkX's order of nodes, for any cutoff."""
    G = random_graph(2)
    for source in islice(G, 3):
        for cutoff in (None, 0, 1.5, 2, -1, float("inf")):
            ours, theirs = (
                nx.single_source_dijkstra(G, source, cutoff=cutoff, weight=None, **how) for how in (BACKEND, {})
            )
            assert difference(ours, theirs, 0) is None


def weighted(seed: int, directed: bool) -> Any:
    """Return a graph in which most nodes are far from the heaviest edge, a loop, and from edges of weight 0."""
    G = random_graph(seed, directed)
    nx.add_cycle(G, ["far", "from", "all"], weight=0)
    G.add_edge("from", "from", weight=100)
    return G


NAMED: dict[str, Callable[..., Any]] = {
    "clustering": nx.clustering,
    "clustering over weights": lambda G, nodes, **how: nx.clustering(G, nodes, weight="weight", **how),
    "average_clustering": lambda G, nodes, **how: nx.average_clustering(
        G, nodes if isinstance(nodes, list) else [nodes], weight="weight", **how
    ),
    "square_clustering": nx.square_clustering,
    "triangles": nx.triangles,
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_of_some_nodes(seed: int, name: str, directed: bool) -> None:
    """Coefficients of one, several, repeated and no nodes equal NetworkX's, in type too."""
    if directed and name in ("square_clustering", "triangles"):
        pytest.skip("of undirected graphs only")
    G = weighted(seed, directed)
    every = list(G)
    for nodes in (every[0], "far", "from", every[::2], [every[1], every[1], "all"], every):
        ours, theirs = (NAMED[name](G, nodes, **how) for how in (BACKEND, {}))
        assert difference(ours, theirs, 1e-9) is None
    if name != "average_clustering":  # NetworkX divides by the number of nodes
        assert NAMED[name](G, [], **BACKEND) == {} == NAMED[name](G, [])


@pytest.mark.parametrize("name", NAMED)
def test_coefficients_of_some_nodes_need_no_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Matrix that is computed has entries of the given nodes and their neighbours only."""
    G = nx.circulant_graph(400, [1, 2, 3])
    nx.set_edge_attributes(G, 2, "weight")
    NAMED[name](G, [5, 9], **BACKEND)  # fills the graph's cache
    made, new = [], Expression.new
    monkeypatch.setattr(Expression, "new", lambda *a, **o: (x := new(*a, **o), made.append(x))[0])
    assert difference(NAMED[name](G, [5, 9], **BACKEND), NAMED[name](G, [5, 9]), 1e-9) is None
    assert 0 < max(x.nvals for x in made if isinstance(x, Matrix)) < 250


def test_a_cutoff_over_weights_bounds_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    G = nx.path_graph(1_000)
    nx.set_edge_attributes(G, 2, "weight")
    products: list[int] = []
    vxm = Vector.vxm
    monkeypatch.setattr(Vector, "vxm", lambda self, *a, **k: products.append(1) or vxm(self, *a, **k))
    for name, start in (("single_source_dijkstra_path_length", 0), ("multi_source_dijkstra_path_length", [0, 5])):
        products.clear()
        wanted = getattr(nx, name)(G, start, cutoff=9.5)
        assert getattr(nx, name)(G, start, cutoff=9.5, **BACKEND) == wanted
        assert 0 < len(products) < 20, name


@pytest.mark.parametrize("few", [0, 10_000])
def test_links_by_products_and_by_sorting(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products, and sorting for few pairs, give NetworkX's numbers."""
    monkeypatch.setattr(link_prediction, "FEW", few)
    G = nx.gnm_random_graph(20, 45, seed=3)
    G.add_node("alone")
    nx.set_node_attributes(G, {v: k % 3 for k, v in enumerate(G)}, "community")
    pairs = [(0, 1), (1, 0), (0, "alone"), (4, 7), (0, 1), ("alone", "alone")]
    for name in (
        "jaccard_coefficient", "resource_allocation_index", "adamic_adar_index", "preferential_attachment",
        "cn_soundarajan_hopcroft", "ra_index_soundarajan_hopcroft", "within_inter_cluster",
    ):  # fmt: skip
        same(name, G)
        same(name, G, pairs)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_searches_in_compiled_loops_keep_the_order_of_the_edges(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba compiles the loops")
    ran: list[str] = []
    run = cpu.engine().run_arrays
    monkeypatch.setattr(cpu_loops, "pays", lambda _: True)
    monkeypatch.setattr(
        cpu.engine(), "run_arrays", lambda f, *a: (ran.append(f.__name__), run(f, *a))[1], raising=False
    )
    G = shuffled(kind)
    for name in ("all_pairs_shortest_path", "all_pairs_shortest_path_length", "all_pairs_all_shortest_paths"):
        for cutoff in ({},) if "all_shortest" in name else ({}, {"cutoff": 0}, {"cutoff": 1}, {"cutoff": 2}):
            same(name, G, **cutoff)
    for target in G:
        same("has_path", G, "a", target)
    for cutoff in (1.5, -1, 0.5, float("inf"), float("nan")):
        same("single_source_shortest_path", G, "a", cutoff=cutoff)
    same("bfs_layers", G, ["a", "c"])
    same("single_target_shortest_path", G, "e")
    same("descendants_at_distance", G, "a", 2)
    for name in ("ancestors", "descendants"):
        same(name, G, "d")
    assert set(ran) == {"tree"}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("numba", [True, False])
def test_many_searches_read_rows_of_more_edges(kind: Any, numba: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many searches run in the compiled loop; without Numba, and for one search, statements give the same order."""
    if numba:
        pytest.importorskip("numba", reason="numba compiles the loops")
    searches: list[int] = []
    loop = breadth_first._search_loop
    monkeypatch.setattr(cpu_loops, "pays", lambda _: numba)
    monkeypatch.setattr(
        breadth_first, "_search_loop", lambda G, sources, *a: (searches.append(*sources), loop(G, sources, *a))[1]
    )
    monkeypatch.setattr(breadth_first, "_search_rows", lambda *_: pytest.fail("Python reads few edges only"))
    monkeypatch.setattr(breadth_first, "FEW", 10)
    G = nx.gnm_random_graph(40, 100, seed=3, directed=kind is nx.DiGraph)
    same("all_pairs_shortest_path_length", G)
    same("all_pairs_shortest_path_length", G, cutoff=2)
    assert searches == [*range(40)] * 2
    same("single_source_shortest_path_length", G, 0)
    assert len(searches) == 80
