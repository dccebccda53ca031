"""Rules and arguments that NetworkX 3.7 changed: answers are those of the installed version."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from sparsezc.networkx_backend import info, interface
from sparsezc.networkx_backend.graphs import networkx_versions
from tests.networkx_backend.cases import connected, random_graph
from tests.networkx_backend.judging import difference, outcome

BACKEND, THEIRS = {"backend": "sparsezc"}, {"backend": "networkx"}
since_3_7 = pytest.mark.skipif(not networkx_versions.SINCE_3_7, reason="arguments that NetworkX has since 3.7")
before_3_7 = pytest.mark.skipif(networkx_versions.SINCE_3_7, reason="arguments that NetworkX has since 3.7")


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False):
        yield


def both(call: Any, tolerance: float = 0.0) -> Any:
    """Check that a call gives the same answer or error with the backend and with NetworkX alone; return it."""
    ours, theirs = (outcome(lambda how=how: call(**how)) for how in (BACKEND, THEIRS))
    assert ours[0] == theirs[0], (ours, theirs)
    assert difference(ours[1], theirs[1], tolerance) is None
    return ours[1]


def test_the_version_is_read_from_networkx() -> None:
    major, minor = (int(part) for part in nx.__version__.split(".")[:2])
    assert ((major, minor) >= (3, 7)) == networkx_versions.SINCE_3_7


def test_the_table_names_what_programs_call() -> None:
    """`barycenter` is dispatched as `centroid` since NetworkX 3.7; before, `centroid` was a function for trees."""
    name = "centroid" if networkx_versions.SINCE_3_7 else "barycenter"
    assert name in info.functions()
    assert name in interface.CLAIMS
    assert both(lambda **how: nx.barycenter(nx.star_graph(4), **how)) == [0]
    with pytest.raises(NotImplementedError, match="sparsezc has no "):
        nx.tree.centroid(nx.star_graph(4), **BACKEND)


def test_graphs_without_edges_or_nodes() -> None:
    both(lambda **how: nx.community.modularity(nx.empty_graph(2), [{0}, {1}], **how))
    both(lambda **how: nx.community.modularity(nx.DiGraph([]), [], **how))
    for G in (nx.empty_graph(2), nx.Graph([(1, 1)]), nx.DiGraph([(1, 2)]), nx.path_graph(4)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(lambda G=G, **how: nx.degree_pearson_correlation_coefficient(G, **how), 1e-9)
    for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
        for kind in (nx.Graph, nx.DiGraph):
            for given in ({}, {"weight": "weight"}, {"usebounds": True}, {"v": []}):
                if given.keys() <= signature(getattr(nx, name)).parameters.keys():
                    both(lambda name=name, kind=kind, given=given, **how: getattr(nx, name)(kind(), **given, **how))


def test_small_ladders() -> None:
    def edges(n: int, **how: str) -> list[list[int]]:
        return sorted(sorted(edge) for edge in nx.circular_ladder_graph(n, **how).edges)

    for n in (1, 2, 3):
        both(lambda n=n, **how: edges(n, **how))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_rows_of_floyd_and_warshall(kind: Any) -> None:
    """Rows of distances have NetworkX's order of keys; a missing length is 1.0 in NetworkX 3.6, and 1 since 3.7."""
    whole = kind([("b", "a", {"weight": 2}), ("a", "c"), ("c", "c", {"weight": 0}), ("b", "c", {"weight": 4})])
    half = kind([("b", "a", {"weight": 0.5}), ("c", "c", {"weight": 0.0}), ("d", "d", {"weight": 2.5})])
    for G in (whole, half):
        G.add_edge("d", "b", weight=3 if G is whole else 1.5)
        G.add_node("e")
        for weight in ("weight", None, "absent"):
            ours, theirs = (nx.floyd_warshall(G.copy(), weight, **how) for how in (BACKEND, THEIRS))
            assert [(u, list(row.items())) for u, row in ours.items()] == [
                (u, list(row.items())) for u, row in theirs.items()
            ]
            if networkx_versions.SINCE_3_7:
                assert difference(ours, theirs, 0) is None
            both(lambda G=G, w=weight, **how: nx.floyd_warshall_numpy(G.copy(), weight=w, **how))


@pytest.mark.parametrize("n", [4, 5])
def test_degrees_are_compared_before_directions(n: int) -> None:
    cycle, star = nx.cycle_graph(n, nx.DiGraph), nx.DiGraph([(0, k) for k in range(1, n)])
    for one, other in ((cycle, star), (cycle, cycle), (star, nx.star_graph(n - 1))):
        both(lambda a=one, b=other, **how: nx.fast_could_be_isomorphic(a, b, **how))


def test_kinds_of_sets() -> None:
    G = random_graph(2)
    ours, theirs = (nx.maximal_independent_set(G, seed=1, **how) for how in (BACKEND, THEIRS))
    assert type(ours) is type(theirs)


def test_deprecated_functions_say_so() -> None:
    def warned(**how: str) -> list[Any]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            list(nx.bfs_predecessors(nx.path_graph(3), 0, **how))
        return [one.category for one in found]

    assert warned(**BACKEND) == warned(**THEIRS)


@before_3_7
def test_arguments_of_3_7_are_unknown_before() -> None:
    for call in (
        lambda **how: nx.hits(nx.path_graph(3), method="svd", **how),
        lambda **how: nx.adjacency_matrix(nx.path_graph(3), format="coo", **how),
        lambda **how: nx.from_numpy_array(np.eye(3), nonedge=1, **how),
    ):
        assert both(call) is TypeError


@since_3_7
@pytest.mark.parametrize("directed", [False, True])
def test_both_methods_of_hits(directed: bool) -> None:
    G = connected(4, directed)
    for method in ("power_iteration", "svd"):
        both(lambda method=method, **how: nx.hits(G, 1000, 1e-12, method=method, **how), 1e-6)
    with pytest.raises(NotImplementedError, match="sparsezc has no method 'by hand'"):
        nx.hits(G, method="by hand", **BACKEND)
    start = {node: 1 + k % 3 for k, node in enumerate(G)}
    both(lambda **how: nx.hits(G, 1000, 1e-12, nstart=start, **how), 1e-6)


@since_3_7
def test_formats_of_adjacency_matrices() -> None:
    G = random_graph(3, True)
    for kind in ("csr", "csc", "coo", "lil", "round"):
        both(lambda kind=kind, **how: nx.adjacency_matrix(G, format=kind, **how))


@since_3_7
def test_closeness_from_known_distances_is_networkxs() -> None:
    G = connected(3)
    known = dict(nx.all_pairs_shortest_path_length(G))
    with pytest.raises(NotImplementedError, match="closeness_centrality: sparsezc does not support sp"):
        nx.closeness_centrality(G, sp=known, **BACKEND)
    both(lambda **how: nx.closeness_centrality(G, sp=None, **how), 1e-9)
    with nx.config.backend_priority(algos=["sparsezc"]):
        assert nx.closeness_centrality(G, sp=known) == nx.closeness_centrality(G, sp=known, **THEIRS)


@since_3_7
@pytest.mark.parametrize(
    "values", [np.array([[0, 2, -1], [2, 0, 3], [-1, 3, 0]]), np.array([[0.0, 1.5], [1.5, np.nan]])]
)
def test_values_that_are_no_edges(values: Any) -> None:
    table = pd.DataFrame(values)
    for nonedge in (0, -1, 3, 2.0, 1.5, np.nan):
        for made, given in ((nx.from_numpy_array, values), (nx.from_pandas_adjacency, table)):
            ours, theirs = (
                outcome(lambda m=made, g=given, x=nonedge, how=how: m(g, nonedge=x, **how)) for how in (BACKEND, THEIRS)
            )
            if ours == ("raised", NotImplementedError):
                assert np.isnan(values).any()
                assert not np.isnan(nonedge)  # NaN is an edge's attribute
            else:
                assert difference(nx.Graph(ours[1]), theirs[1], 0) is None


@since_3_7
def test_rich_clubs_beside_several_random_graphs() -> None:
    G = nx.gnm_random_graph(60, 240, seed=3)
    ours, theirs = (nx.rich_club_coefficient(G, Q=5, seed=1, n_samples=8, **how) for how in (BACKEND, THEIRS))
    assert list(ours) == list(theirs)
    assert all(abs(ours[k] - theirs[k]) < 0.1 for k in range(8))
    both(lambda **how: nx.rich_club_coefficient(G, n_samples=0, **how))
    both(lambda **how: nx.rich_club_coefficient(G, False, n_samples=0, **how), 1e-9)
    sparse = nx.Graph([(0, 1), (0, 2), (3, 4), (3, 5), (0, 3), (6, 7)])
    found = [outcome(lambda s=s: nx.rich_club_coefficient(sparse, Q=1, seed=s, **BACKEND)) for s in range(9)]
    assert ("raised", nx.NetworkXError) in found
    assert {kind for kind, _ in found} == {"returned", "raised"}


@since_3_7
def test_communities_by_another_measure_are_networkxs() -> None:
    G = nx.karate_club_graph()
    with pytest.raises(NotImplementedError, match="leiden_communities: sparsezc has the metric 'modularity' only"):
        nx.community.leiden_communities(G, seed=1, **BACKEND)
    given = {"metric": "modularity", "seed": 1}
    ours, theirs = (nx.community.leiden_communities(G, **given, **how) for how in (BACKEND, THEIRS))
    assert nx.community.is_partition(G, ours)
    assert nx.community.modularity(G, ours) > nx.community.modularity(G, theirs) - 0.02


def test_weights_that_are_no_numbers_are_declined_after_a_conversion_of_all() -> None:
    G = nx.Graph([(0, 9, {"weight": "heavy"})])
    nx.ego_graph(G, 0, **BACKEND)
    with pytest.raises(NotImplementedError):
        nx.algorithms.structuralholes.mutual_weight(G, 0, 9, "weight", **BACKEND)
