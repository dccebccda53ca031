"""Errors, types, declined calls, conversions cached with the graph, and graphs made of a Matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from inspect import signature
from typing import Any

import networkx as nx
import numpy as np
import pytest

import sparsezc as gb
from sparsezc import networkx_backend
from sparsezc.device import cuda
from sparsezc.networkx_backend import DiGraph, Graph, interface
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.networkx_versions import require_networkx
from sparsezc.networkx_backend.info import functions, get_info
from tests.emulator.device import EmulatedDevice, why_unavailable
from tests.networkx_backend.page import PAGE, table

BACKEND = {"backend": "sparsezc"}
PATH = nx.path_graph(4)
LOOP = nx.Graph([(0, 0), (0, 1)])
APART = nx.Graph([(0, 1), (2, 3)])
CYCLE = nx.cycle_graph(3, create_using=nx.DiGraph)
community = nx.community


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False):
        yield


def test_what_is_announced_is_there() -> None:
    assert set(functions()) == set(interface.CLAIMS)
    assert nx.utils.backends._load_backend("sparsezc") is interface.BACKEND
    assert all(callable(getattr(interface.BACKEND, name)) for name in functions())
    assert set(get_info()["functions"]) == set(functions())
    assert set(nx.utils.backends.backend_info["sparsezc"]["functions"]) == set(functions())


def test_an_older_networkx_is_refused() -> None:
    require_networkx("3.6")
    require_networkx("4.0rc1.dev0")
    with pytest.raises(ImportError, match=r"follows NetworkX 3\.6; this is NetworkX 3\.5\.1"):
        require_networkx("3.5.1")


def test_every_claim_has_networkx_names() -> None:
    """Each claim has NetworkX's parameters, in its order and with its defaults."""
    for name, claim in interface.CLAIMS.items():
        theirs = signature(nx.utils.backends._registered_algorithms[name]).parameters.values()
        expected = [(p.name, p.default) for p in theirs if p.name not in ("backend", "backend_kwargs", "heap")]
        ours = [(p.name, p.default) for p in claim.signature.parameters.values() if p.name != "heap"]
        assert ours == expected, name


def test_the_page_lists_every_function() -> None:
    assert "\n".join(table()) in PAGE.read_text(), "python -m tests.networkx_backend.page writes it"


Call = Callable[[], Any]


def errors() -> list[tuple[Call, Any]]:
    """Return calls that NetworkX refuses, each with the class of its error."""
    null = nx.Graph()
    acyclic = nx.DiGraph([(0, 1)])
    failure = nx.PowerIterationFailedConvergence
    of_null = nx.NetworkXPointlessConcept if networkx_versions.SINCE_3_7 else ValueError
    wanted: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = [
        (nx.NetworkXPointlessConcept, nx.is_connected, (null,), {}),
        (nx.NetworkXPointlessConcept, nx.is_strongly_connected, (nx.DiGraph(),), {}),
        (nx.NetworkXPointlessConcept, nx.is_weakly_connected, (nx.DiGraph(),), {}),
        (nx.NetworkXPointlessConcept, nx.eigenvector_centrality, (null,), {}),
        (failure, nx.pagerank, (nx.star_graph(5),), {"max_iter": 0}),
        (failure, nx.pagerank, (nx.star_graph(5),), {"max_iter": 2, "tol": 1e-12}),
        (failure, nx.hits, (PATH,), {"max_iter": 0}),
        (failure, nx.katz_centrality, (nx.complete_graph(9),), {"alpha": 0.9, "max_iter": 20}),
        (failure, nx.eigenvector_centrality, (PATH,), {"max_iter": 1}),
        (ZeroDivisionError, nx.pagerank, (PATH,), {"personalization": {0: 0}}),
        (nx.NetworkXError, nx.katz_centrality, (PATH,), {"beta": {0: 1}}),
        (nx.NetworkXError, nx.eigenvector_centrality, (PATH,), {"nstart": dict.fromkeys(PATH, 0)}),
        (nx.NetworkXNotImplemented, nx.core_number, (LOOP,), {}),
        (nx.NetworkXNotImplemented, nx.k_truss, (LOOP, 3), {}),
        (nx.NetworkXNotImplemented, nx.connected_components, (CYCLE,), {}),
        (nx.NetworkXNotImplemented, nx.strongly_connected_components, (PATH,), {}),
        (nx.NodeNotFound, nx.single_source_shortest_path_length, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_target_shortest_path_length, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_source_dijkstra_path_length, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_source_bellman_ford_path_length, (PATH, 9), {}),
        (nx.NodeNotFound, nx.closeness_centrality, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_source_shortest_path, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_source_dijkstra, (PATH, 9), {}),
        (nx.NodeNotFound, nx.single_source_bellman_ford_path, (PATH, 9), {}),
        (nx.NetworkXNoPath, nx.dijkstra_path, (APART, 0, 3), {}),
        (nx.NetworkXNoPath, nx.bellman_ford_path, (APART, 0, 3), {}),
        (nx.NetworkXNotImplemented, community.label_propagation_communities, (CYCLE,), {}),
        (nx.NetworkXNotImplemented, nx.maximum_spanning_tree, (CYCLE,), {}),
        (nx.NodeNotFound, nx.ego_graph, (PATH, 9), {}),
        (nx.NodeNotFound, nx.jaccard_coefficient, (PATH, [(0, 9)]), {}),
        (nx.NetworkXNoPath, nx.dijkstra_path_length, (APART, 0, 3), {}),
        (nx.NetworkXNoPath, nx.bellman_ford_path_length, (APART, 0, 3), {}),
        (nx.NetworkXError, nx.descendants, (PATH, 9), {}),
        (nx.NetworkXError, nx.ancestors, (PATH, 9), {}),
        (nx.NetworkXError, nx.descendants_at_distance, (PATH, 9, 1), {}),
        (nx.NodeNotFound, nx.multi_source_dijkstra_path_length, (PATH, {0, 9}), {}),
        (ValueError, nx.multi_source_dijkstra_path_length, (PATH, set()), {}),
        (ValueError, nx.shortest_path_length, (PATH, 0, 3), {"method": "by hand"}),
        (nx.NodeNotFound, nx.shortest_path_length, (PATH, 9), {}),
        (nx.NodeNotFound, nx.shortest_path_length, (PATH, 0, 9), {}),
        (nx.NodeNotFound, nx.shortest_path_length, (PATH, None, 9), {}),
        (nx.NodeNotFound, nx.shortest_path_length, (PATH, None, 9, "weight"), {}),
        (nx.NetworkXNoPath, nx.shortest_path_length, (APART, 0, 3), {}),
        (nx.NetworkXNoPath, nx.shortest_path_length, (APART, 0, 3, "weight"), {}),
        (nx.NodeNotFound, nx.has_path, (PATH, 0, 9), {}),
        (nx.NetworkXPointlessConcept, nx.average_shortest_path_length, (null,), {}),
        (nx.NetworkXError, nx.average_shortest_path_length, (APART,), {}),
        (nx.NetworkXError, nx.average_shortest_path_length, (acyclic,), {"weight": "weight"}),
        (ValueError, nx.average_shortest_path_length, (PATH,), {"method": "by hand"}),
        (nx.NetworkXError, nx.approximation.diameter, (null,), {}),
        (nx.NetworkXError, nx.floyd_warshall_numpy, (PATH, [0, 1]), {}),
        (ZeroDivisionError, nx.betweenness_centrality, (PATH,), {"k": 0}),
        (ZeroDivisionError, nx.edge_betweenness_centrality, (PATH,), {"k": 0, "normalized": False}),
        (ValueError, nx.edge_betweenness_centrality, (PATH,), {"k": 9}),
        (nx.NetworkXError, nx.eccentricity, (APART,), {"weight": "weight"}),
        (nx.NetworkXError, nx.eccentricity, (APART,), {}),
        (nx.NetworkXError, nx.diameter, (APART,), {}),
        (nx.NetworkXError, nx.radius, (acyclic,), {}),
        (of_null, nx.diameter, (null,), {}),
        (ValueError, nx.diameter, (null,), {"usebounds": True}),
        (of_null, nx.periphery, (nx.DiGraph(),), {"usebounds": True}),
        (nx.NetworkXPointlessConcept, nx.center, (null,), {}),
        (of_null, nx.center, (null,), {"weight": "weight"}),
        (nx.NetworkXError, nx.find_negative_cycle, (PATH, 0), {}),
        (nx.NetworkXError, nx.reciprocity, (nx.empty_graph(2, nx.DiGraph),), {}),
        (nx.NetworkXError, nx.reciprocity, (nx.empty_graph(2, nx.DiGraph), 0), {}),
        (nx.NetworkXError, nx.transitive_reduction, (CYCLE,), {}),
        (nx.NetworkXUnfeasible, nx.transitive_closure_dag, (CYCLE,), {}),
        (nx.NetworkXError, nx.stoer_wagner, (APART,), {}),
        (nx.NetworkXError, nx.stoer_wagner, (nx.empty_graph(1),), {}),
        (nx.NetworkXUnfeasible, nx.maximal_independent_set, (PATH, [0, 1]), {}),
        (nx.NetworkXUnfeasible, nx.maximal_independent_set, (PATH, [9]), {}),
        (nx.NetworkXUnfeasible, nx.maximal_independent_set, (LOOP, [0]), {}),
        (ValueError, nx.minimum_spanning_tree, (PATH,), {"algorithm": "by hand"}),
        (ValueError, community.louvain_communities, (PATH,), {"max_level": 0}),
        (community.quality.NotAPartition, community.modularity, (PATH, [{0, 1}]), {}),
        (KeyError, nx.node_connected_component, (PATH, 9), {}),
        (nx.NetworkXUnfeasible, lambda G, **o: list(nx.topological_sort(G, **o)), (CYCLE,), {}),
        (nx.NetworkXError, lambda G, **o: list(nx.topological_generations(G, **o)), (PATH,), {}),
        (nx.NetworkXError, lambda G, **o: list(nx.bfs_layers(G, [9], **o)), (PATH,), {}),
        (nx.NetworkXError, nx.triangles, (PATH, 3.5), {}),
    ]
    return [(lambda b, f=f, a=a, o=o: f(*a, **o, **b), error) for error, f, a, o in wanted]  # type: ignore[misc]


@pytest.mark.parametrize("k", range(len(errors())))
def test_errors_are_networkxs(k: int) -> None:
    """The error has exactly the class of NetworkX's."""
    call, error = errors()[k]
    with pytest.raises(error) as theirs:
        call({})  # type: ignore[call-arg]
    with pytest.raises(error) as ours:
        call(BACKEND)  # type: ignore[call-arg]
    assert ours.type is theirs.type


DECLINED = [
    lambda: nx.triangles(nx.MultiGraph([(0, 1)]), **BACKEND),
    lambda: nx.pagerank(PATH, dangling={0: -1, 1: 2}, **BACKEND),
    lambda: nx.clustering(nx.Graph([(0, 1, {"weight": 0})]), weight="weight", **BACKEND),
    lambda: nx.clustering(
        nx.DiGraph([(*e, {"weight": 0}) for e in nx.cycle_graph(3).edges]), weight="weight", **BACKEND
    ),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": -1})]), **BACKEND),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": "heavy"})]), **BACKEND),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": Fraction(1, 3)})]), **BACKEND),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": float("inf")})]), **BACKEND),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": 2**70})]), **BACKEND),
    lambda: nx.pagerank(nx.Graph([(0, 1, {"weight": 2**60}), (1, 2, {"weight": 0.5})]), **BACKEND),
    lambda: nx.hits(PATH, normalized=False, **BACKEND),
    lambda: nx.katz_centrality(PATH, nstart={0: 1}, **BACKEND),
    *(
        lambda f=f: f(nx.Graph([(0, 1, {"weight": -1})]), **BACKEND)  # type: ignore[misc]
        for f in (
            lambda G, **b: nx.betweenness_centrality(G, weight="weight", **b),
            lambda G, **b: nx.edge_betweenness_centrality(G, weight="weight", **b),
            lambda G, **b: nx.closeness_centrality(G, distance="weight", **b),
            lambda G, **b: nx.closeness_centrality(G, 0, distance="weight", **b),
            lambda G, **b: nx.harmonic_centrality(G, distance="weight", **b),
            lambda G, **b: nx.eccentricity(G, weight="weight", **b),
            lambda G, **b: nx.eccentricity(G, 0, weight="weight", **b),
            lambda G, **b: nx.diameter(G, weight="weight", **b),
            lambda G, **b: nx.average_shortest_path_length(G, weight="weight", **b),
            lambda G, **b: nx.multi_source_dijkstra_path_length(G, {0}, **b),
            lambda G, **b: nx.shortest_path_length(G, 0, 1, weight="weight", **b),
        )
    ),
    lambda: nx.betweenness_centrality(nx.Graph([(0, 1, {"weight": 0})]), weight="weight", **BACKEND),
    lambda: nx.transitivity(CYCLE, **BACKEND),
    lambda: nx.core_number(CYCLE, **BACKEND),
    lambda: nx.eccentricity(PATH, weight=lambda u, v, d: 1, **BACKEND),
    lambda: nx.single_source_dijkstra_path_length(PATH, 0, weight=lambda u, v, d: 1, **BACKEND),
    lambda: nx.single_source_dijkstra_path_length(nx.DiGraph([(0, 1, {"weight": -1})]), 0, **BACKEND),
    lambda: nx.minimum_spanning_tree(PATH, ignore_nan=True, **BACKEND),
    lambda: nx.transitive_closure(PATH, **BACKEND),
    lambda: nx.reciprocity(PATH, **BACKEND),
    lambda: nx.overall_reciprocity(PATH, **BACKEND),
    lambda: nx.jaccard_coefficient(LOOP, **BACKEND),
    lambda: nx.greedy_color(LOOP, **BACKEND),
    lambda: nx.greedy_color(PATH, "DSATUR", **BACKEND),
    lambda: nx.greedy_color(PATH, interchange=True, **BACKEND),
    lambda: nx.ego_graph(CYCLE, 0, undirected=True, distance="weight", **BACKEND),
]


@pytest.mark.parametrize("call", DECLINED)
def test_what_has_no_right_answer_here_is_declined(call: Call) -> None:
    with pytest.raises(NotImplementedError):
        call()


def test_what_is_declined_networkx_answers() -> None:
    """NetworkX computes declined calls when the backend is in its list of priorities."""
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    with nx.config.backend_priority(algos=["sparsezc"]):
        found = nx.pagerank(G), nx.greedy_color(PATH, "DSATUR"), nx.triangles(PATH)
    assert found == (nx.pagerank(G), nx.greedy_color(PATH, "DSATUR"), dict.fromkeys(PATH, 0))


def test_conversions_are_kept_until_the_graph_changes() -> None:
    G = nx.path_graph(5)
    nx.core_number(G, **BACKEND)
    [kept] = G.__networkx_cache__["backends"]["sparsezc"].values()
    nx.triangles(G, **BACKEND)
    assert [*G.__networkx_cache__["backends"]["sparsezc"].values()] == [kept]
    G.add_edge(0, 4)
    assert nx.core_number(G, **BACKEND) == dict.fromkeys(range(5), 2)


def test_a_conversion_with_all_attributes_serves_every_weight() -> None:
    G = nx.DiGraph()
    G.add_edge("a", "b", weight=2, cost=0.5)
    G.add_edge("b", "c", weight=3)
    nx.ego_graph(G, "a", **BACKEND)
    for weight, expected in (("weight", {"a": 0, "b": 2, "c": 5}), ("cost", {"a": 0, "b": 0.5, "c": 1.5})):
        assert nx.single_source_dijkstra_path_length(G, "a", weight=weight, **BACKEND) == expected


def test_a_class_with_neighbours_of_its_own() -> None:
    """The neighbours of a subclass that overrides ``adj``, as NetworkX's complement graphs do, are respected."""

    class Reversed(nx.DiGraph):  # type: ignore[type-arg]
        adj = property(lambda self: {v: dict(self.pred[v]) for v in self})  # type: ignore[assignment]

    G = Reversed([("a", "b"), ("b", "c")])
    assert nx.descendants(G, "c", **BACKEND) == {"a", "b"}


def test_numbers_are_pythons_own() -> None:
    G = nx.Graph([(0, 1, {"weight": 2}), (1, 2, {"weight": 3})])
    assert [type(x) for x in nx.single_source_dijkstra_path_length(G, 0, **BACKEND).values()] == [int] * 3
    assert {type(x) for x in nx.pagerank(G, **BACKEND).values()} == {float}
    assert {type(x) for x in nx.core_number(G, **BACKEND)} == {int}
    assert type(nx.diameter(G, **BACKEND)) is int
    assert nx.is_connected(G, **BACKEND) is True


def test_distances_come_the_nearest_first() -> None:
    G = nx.Graph([("s", "far", {"weight": 9}), ("s", "near", {"weight": 1}), ("near", "mid", {"weight": 2})])
    assert list(nx.single_source_dijkstra_path_length(G, "s", **BACKEND)) == ["s", "near", "mid", "far"]


def test_graphs_that_networkx_never_held() -> None:
    """NetworkX sends functions of a graph made of a Matrix here without a ``backend`` argument."""
    A = gb.Matrix.from_edgelist([(0, 1), (1, 2)], [5, 7], nrows=3, ncols=3)
    G = DiGraph(A, nodes=["a", "b", "c"], weight="km")
    assert nx.single_source_dijkstra_path_length(G, "a", weight="km") == {"a": 0, "b": 5, "c": 12}
    assert nx.single_source_dijkstra_path_length(G, "a", weight=None) == {"a": 0, "b": 1, "c": 2}
    assert nx.single_source_dijkstra_path_length(G, "a", weight="other") == {"a": 0, "b": 1, "c": 2}
    assert list(nx.topological_sort(G)) == ["a", "b", "c"]
    made = interface.convert_to_nx(G)
    assert dict(made.edges) == {("a", "b"): {"km": 5}, ("b", "c"): {"km": 7}}
    assert nx.k_core(Graph(gb.io.read("star:4"))).number_of_edges() == 3


def test_graphs_of_matrices_that_do_not_fit() -> None:
    A = gb.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2)
    with pytest.raises(gb.exceptions.InvalidValue, match="not symmetric"):
        Graph(A)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="3 different names"):
        DiGraph(A, nodes="abc")
    with pytest.raises(gb.exceptions.InvalidValue, match="1 different names"):
        DiGraph(A, nodes="aa")
    with pytest.raises(TypeError, match="nodes: unhashable type: 'list'; a sequence of hashable names"):
        DiGraph(A, nodes=[["a"], ["b"], ["c"]])


def test_the_null_graph() -> None:
    assert nx.pagerank(nx.Graph(), **BACKEND) == {}
    assert list(nx.connected_components(nx.Graph(), **BACKEND)) == []
    assert list(nx.strongly_connected_components(nx.DiGraph(), **BACKEND)) == []
    assert nx.triangles(nx.Graph(), **BACKEND) == {}
    assert nx.barycenter(nx.DiGraph(), **BACKEND) == nx.barycenter(nx.Graph(), weight="weight", **BACKEND) == []


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """Put a GPU in use, emulated or real."""
    if request.param == "emulated":
        if reason := why_unavailable():
            pytest.skip(reason)
        before = cuda.use(EmulatedDevice("lockstep"))
        yield
        cuda.use(before)
    else:
        yield


@pytest.mark.usefixtures("gpu")
def test_converted_graphs_lie_where_the_configuration_says() -> None:
    G = nx.path_graph(40)
    with nx.config.backends.sparsezc(placement="device"):
        assert nx.single_source_shortest_path_length(G, 3, **BACKEND) == nx.single_source_shortest_path_length(G, 3)
        [kept] = G.__networkx_cache__["backends"]["sparsezc"].values()
        found = nx.pagerank(G, **BACKEND)
    assert kept.A._engine.name == "gpu"
    assert found == pytest.approx(nx.pagerank(G), abs=1e-6)


def test_a_matrix_is_no_graph_yet() -> None:
    A = gb.io.read("star:4")
    with pytest.raises(TypeError, match=r"pagerank: G is a Matrix; a graph is needed; .*networkx_backend\.Graph\(A\)"):
        nx.pagerank(A, backend="sparsezc")
    with pytest.raises(TypeError, match=r"pagerank: G is a ndarray; a graph is needed; nx\.from_numpy_array\(\.\.\., "):
        nx.pagerank(np.eye(2), backend="sparsezc")
    with pytest.raises(TypeError, match=r"pagerank: G is a list; a graph is needed$"):
        nx.pagerank([1], backend="sparsezc")


def test_what_networkx_alone_computes() -> None:
    """A function that the backend lacks is refused by name: with ``backend``, for a Matrix graph, as an attribute."""
    said = "sparsezc has no find_cliques; NetworkX itself computes find_cliques: leave out backend="
    with pytest.raises(NotImplementedError, match=said):
        nx.find_cliques(PATH, backend="sparsezc")
    with pytest.raises(NotImplementedError, match=r"'find_cliques' is not implemented by .* 'networkx'"):
        nx.find_cliques(Graph(gb.io.read("star:4")))  # NetworkX's message
    with nx.config(backend_priority=["sparsezc"]):
        assert len(list(nx.find_cliques(PATH))) == 3
        with nx.config(fallback_to_nx=True):
            assert len(list(nx.find_cliques(Graph(gb.io.read("star:4"))))) == 3


def test_functions_looked_for_in_the_package() -> None:
    with pytest.raises(AttributeError, match=r"NetworkX calls it, as nx\.pagerank\(G, backend='sparsezc'\)"):
        networkx_backend.pagerank  # noqa: B018
    with pytest.raises(AttributeError, match="sparsezc has no find_cliques; NetworkX itself computes it"):
        networkx_backend.find_cliques  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'pagernak'; did you mean 'pagerank'\?$"):
        networkx_backend.pagernak  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'unlike_others'$"):
        networkx_backend.unlike_others  # noqa: B018


@pytest.mark.parametrize("kind", [nx.Graph, nx.subgraph_view, Graph])
def test_loops_are_named_in_the_error_itself(kind: Any) -> None:
    """The error itself, not only its cause, names the loops; without a named backend NetworkX computes."""
    G = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (3, 3)])
    given = Graph(gb.io.from_networkx(G)) if kind is Graph else kind(G)
    for function, options in (
        (nx.community.louvain_communities, {"seed": 1}), (nx.community.label_propagation_communities, {}),
        (nx.greedy_color, {}), (nx.biconnected_component_edges, {}), (nx.bipartite.node_redundancy, {}),
        (nx.bipartite.robins_alexander_clustering, {}), (nx.local_efficiency, {}),
    ):  # fmt: skip
        with pytest.raises(
            NotImplementedError, match=f"^{function.__name__}: the graph has loops, wh.* itself computes"
        ):
            function(given, backend="sparsezc", **options)
        with nx.config(backend_priority=["sparsezc"], fallback_to_nx=True):
            assert unrolled(function(given, **options)) == unrolled(function(G, **options))


def unrolled(found: Any) -> Any:
    return found if isinstance(found, dict | float) else list(found)
