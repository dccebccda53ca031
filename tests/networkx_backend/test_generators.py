"""Graphs that are made by rules, by name and of other graphs, against NetworkX's."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from networkx.utils import backends

import sparsezc as gb
from sparsezc.networkx_backend import DiGraph, Graph
from sparsezc.networkx_backend.info import functions
from tests.networkx_backend.judging import outcome

BACKEND = {"backend": "sparsezc"}


def parts(G: Any) -> Any:
    """Return the kind, the attributes, and the neighbours of a graph, its nodes in their order."""
    adjacency = {u: {v: dict(data) for v, data in row.items()} for u, row in G.adj.items()}
    return G.is_directed(), dict(G.graph), {u: dict(data) for u, data in G.nodes.items()}, adjacency


def same(call: Callable[..., Any], *given: Any, **named: Any) -> None:
    """Check that the backend has NetworkX's graph, which is a Matrix, or its class of error."""
    ours, theirs = (outcome(lambda how=how: call(*given, **named, **how)) for how in (BACKEND, {"backend": "networkx"}))
    if theirs[0] == "raised":
        assert ours == theirs, (given, named)
        return
    assert isinstance(ours[1], Graph), (ours, given, named)
    assert parts(ours[1]) == parts(theirs[1]), (given, named)


SIZED: dict[str, list[tuple[Any, ...]]] = {
    **dict.fromkeys(  # noqa: RUF024
        ("empty_graph", "path_graph", "cycle_graph", "star_graph", "wheel_graph", "complete_graph"),
        [(0,), (1,), (2,), (3,), (6,), (-1,), ("abcd",), ([1, 2, 1],), ([(0, 1), None, "b"],), (np.int64(4),), (2.5,)],
    ),
    **dict.fromkeys(  # noqa: RUF024
        ("lollipop_graph", "tadpole_graph"),
        [(1, 2), (2, 0), (4, 1), (3, 4), ("abc", 2), ("abc", "de"), (3, "ab"), (4, -1), ("abc", "cd")],
    ),
    "barbell_graph": [(1, 0), (2, -1), (3, 0), (3, 1), (4, 3)],
    "ladder_graph": [(0,), (1,), (2,), (5,), (-2,)],
    "circular_ladder_graph": [(1,), (2,), (5,)],
    "caveman_graph": [(2, 3), (3, 1), (0, 4), (2, 0)],
    "turan_graph": [(7, 3), (4, 4), (3, 1), (3, 4), (3, 0)],
    "complete_multipartite_graph": [(), (3,), (1, 2, 3), (0, 2), (-1, 2), ("ab", "cd", [(1, 2)]), (1, "ab")],
    "null_graph": [()],
    "trivial_graph": [()],
}


@pytest.mark.parametrize("name", SIZED)
def test_graphs_of_a_size(name: str) -> None:
    call = getattr(nx, name)
    for given in SIZED[name]:
        same(call, *given)
        if name not in ("caveman_graph", "turan_graph", "complete_multipartite_graph"):
            same(call, *given, create_using=nx.DiGraph)
    made = call(*SIZED[name][-1 if name != "complete_multipartite_graph" else 2], **BACKEND) if name in EASY else None
    assert made is None or type(made) is Graph


EASY = {"caveman_graph", "complete_multipartite_graph", "null_graph", "trivial_graph", "circular_ladder_graph"}


def test_complete_bipartite_graphs() -> None:
    for given in ((0, 0), (2, 3), ("ab", "cde"), (2, "ab"), ("ab", "bc"), (1, [0, 5]), (-1, 2)):
        same(nx.complete_bipartite_graph, *given)
    same(nx.complete_bipartite_graph, 2, 2, create_using=nx.DiGraph)


def test_a_large_complete_graph_has_no_python_edges() -> None:
    G = nx.complete_graph(1_000, **BACKEND)
    assert (G.number_of_edges(), nx.density(G)) == (499_500, 1.0)
    assert nx.is_connected(nx.path_graph(100_000, **BACKEND))


def test_graphs_with_names() -> None:
    names = [name for name, limits in functions().items() if limits.startswith("NetworkX's edges")]
    assert len(names) == 25
    for name in names:
        theirs = backends._registered_algorithms[name]
        same(theirs)
        if "create_using" in signature(theirs).parameters:
            assert type(theirs(create_using=Graph, **BACKEND)) is Graph
    assert type(nx.cubical_graph(**BACKEND)) is Graph
    assert type(nx.sedgewick_maze_graph(create_using=DiGraph, **BACKEND)) is DiGraph
    with pytest.raises(nx.NetworkXError, match="Directed Graph not supported"):
        nx.bull_graph(create_using=nx.DiGraph, **BACKEND)


def test_lists_and_sides() -> None:
    same(nx.from_dict_of_lists, {"a": ["b", "c"], "b": ["a"], (1, 2): ["a", (1, 2)]})
    same(nx.from_dict_of_lists, {0: [1, 1], 1: []}, create_using=nx.DiGraph)
    B = sp.csr_array([[0, 2, 0], [3, 0, 4]])
    same(nx.bipartite.from_biadjacency_matrix, B)
    same(nx.bipartite.from_biadjacency_matrix, B / 2, edge_attribute="km", row_order=["x", "y"], column_order="abc")
    same(nx.bipartite.from_biadjacency_matrix, B, row_order=["x"])
    for G in (nx.MultiGraph([(0, 1), (0, 1), (1, 1), (2, 0)]), nx.DiGraph([("a", "b"), ("c", "a")])):
        nodes = list(G)
        for nodelist in (None, nodes, nodes[:2], [], [*nodes, "x"]):
            ours, theirs = (
                outcome(lambda G=G, some=nodelist, b=b: nx.to_dict_of_lists(G.copy(), some, backend=b))
                for b in ("sparsezc", "networkx")
            )
            assert ours == theirs


def graphs(directed: bool) -> list[tuple[Any, Any]]:
    """Pairs of a NetworkX graph and the same as a Matrix."""
    rng, found = np.random.default_rng(4), []
    for nodes in ("abcdef", "abcdef", "defghi"):
        D = np.triu(rng.integers(0, 3, (6, 6)))
        D = D if directed else D + np.triu(D, 1).T
        N = nx.relabel_nodes(
            nx.from_numpy_array(D, create_using=nx.DiGraph if directed else nx.Graph), dict(enumerate(nodes))
        )
        found.append((N, nx.from_numpy_array(D, create_using=type(N), nodelist=list(nodes), **BACKEND)))
    return found


def like(ours: Any, theirs: Any) -> None:
    assert isinstance(ours, Graph)
    assert parts(ours) == parts(theirs)


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_of_two_graphs(directed: bool) -> None:
    (A, a), (B, b), (C, c) = graphs(directed)
    for call in (nx.difference, nx.symmetric_difference, nx.intersection, nx.compose, nx.disjoint_union):
        like(call(a, b), call(A, B))
    for call in (nx.compose, nx.intersection):
        like(call(a, c), call(A, C))
    like(nx.union(a, c, rename=("x", None)), nx.union(A, C, rename=("x", None)))
    like(nx.reverse(a), nx.reverse(A)) if directed else None
    for wrong in (lambda G, H: nx.union(G, H), lambda G, H: nx.difference(G, H)):
        for pair in ((a, c), (A, C)):
            with pytest.raises(nx.NetworkXError):
                wrong(*pair)
    plain, other = (nx.path_graph(3, create_using=type(A), **BACKEND), nx.path_graph(3, create_using=type(A)))
    like(nx.full_join(plain, plain, ("a", "b")), nx.full_join(other, other, ("a", "b")))
    with pytest.raises(nx.NetworkXError, match="directed or undirected"):
        nx.compose(a, graphs(not directed)[0][1])
    with pytest.raises(NotImplementedError, match="NetworkX holds the graph itself"):
        nx.compose(A, B, **BACKEND)
    sides = nx.complete_bipartite_graph(2, 3, **BACKEND)
    assert dict(nx.compose(sides, sides).nodes) == dict(nx.complete_bipartite_graph(2, 3).nodes)


def test_graphs_with_names_refuse_changes() -> None:
    """Their attributes are NetworkX's, of which the Matrix has the numbers."""
    G, N = nx.karate_club_graph(**BACKEND), nx.karate_club_graph()
    for row in (G.nodes[0], G[0], G[0][1], G.edges[0, 1], G.adj[33][0] if 0 in G[33] else G.adj[33][31]):
        with pytest.raises(nx.NetworkXError, match="cannot be changed"):
            row["weight"] = 7
    changed = nx.Graph(G)
    changed[0][1]["weight"] = 7
    changed.nodes[0]["club"] = "none"
    like(G, N)


@pytest.mark.parametrize(("ours", "theirs"), [(Graph, nx.Graph), (DiGraph, nx.DiGraph)])
def test_matrices_are_networkx_graphs_of_which_they_inherit_no_method(ours: Any, theirs: Any) -> None:
    """An inherited method would read or write dictionaries that these graphs have not."""
    G = ours(gb.io.read("grid:3x4"))
    assert isinstance(G, theirs)
    defined = {name for each in ours.__mro__[: ours.__mro__.index(theirs)] for name in vars(each)}
    assert [name for name in vars(nx.Graph) | vars(theirs) if name not in defined and "factory" not in name] == []
    of_matrix, of_copy = (nx.spring_layout(each, seed=1) for each in (G, theirs(G)))
    assert all((of_matrix[v] == of_copy[v]).all() for v in G)  # edges count: layouts ask for the class


def test_new_names() -> None:
    (A, a), *_ = graphs(True)
    like(nx.relabel_nodes(a, {"a": 1, "x": 2}), nx.relabel_nodes(A, {"a": 1, "x": 2}))
    like(nx.relabel_nodes(a, str.upper), nx.relabel_nodes(A, str.upper))
    path = nx.relabel_nodes(nx.path_graph(5, **BACKEND), lambda k: k % 3)
    like(path, nx.relabel_nodes(nx.path_graph(5), lambda k: k % 3))
    with pytest.raises(nx.NetworkXError, match="cannot be changed"):
        nx.relabel_nodes(a, {"a": 1}, copy=False)
    for ordering in ("default", "sorted", "increasing degree", "decreasing degree", "none"):
        for how in ({}, {"label_attribute": "old", "first_label": 3}):
            ours, theirs = (
                outcome(lambda G=G, how=how, o=ordering: nx.convert_node_labels_to_integers(G, ordering=o, **how))
                for G in (a, A)
            )
            assert ours[0] == theirs[0]
            if ours[0] == "returned":
                like(ours[1], theirs[1])


def test_a_reverse_has_attributes_of_its_own() -> None:
    D = nx.path_graph(3, create_using=nx.DiGraph, **BACKEND)
    D.graph["name"] = "path"
    R = nx.reverse(D)
    assert R.graph == D.graph
    R.graph["name"] = "reverse"
    assert D.graph["name"] == "path"


def test_graph_attributes_with_any_keys_are_kept() -> None:
    G = nx.path_graph(3, **BACKEND)
    G.graph.update({1: "x", "backend": "networkx"})
    assert nx.ego_graph(G, 0, **BACKEND).graph == {1: "x", "backend": "networkx"}


def test_integers_and_fractions_do_not_become_one_attribute() -> None:
    whole, half = (nx.from_numpy_array(np.array([[0, 2], [2, 0]]) / k, **BACKEND) for k in (1, 2))
    like(nx.compose(whole, half), nx.from_numpy_array(np.array([[0, 1.0], [1.0, 0]])))
    whole = nx.from_numpy_array(np.array([[0, 2], [2, 0]]), **BACKEND)
    for call in (nx.compose, nx.disjoint_union):
        with pytest.raises(NotImplementedError):
            call(whole, half, **BACKEND)


def test_graphs_that_matrices_make() -> None:
    """Those of some nodes, of the other directions and copies, as NetworkX's methods make them."""
    for directed in (False, True):
        (A, a), *_ = graphs(directed)
        some = [*list(A)[::2], "no node"]
        like(a.subgraph(some), A.subgraph(some))
        edges = list(A.edges)[:2]
        assert parts(a.edge_subgraph(edges)) == parts(A.edge_subgraph(edges))
        assert parts(a.to_directed()) == parts(A.to_directed())
        assert parts(a.to_undirected()) == parts(A.to_undirected())
        assert (a.to_directed_class(), a.to_undirected_class()) == (nx.DiGraph, nx.Graph)
        if directed:
            like(a.reverse(), A.reverse())
            for one in (a.successors, a.predecessors):
                with pytest.raises(nx.NetworkXError, match="not in the digraph"):
                    one("no node")
        copied = a.copy()
        assert parts(copied) == parts(A)
        copied.add_edge("x", "new")
        like(a, A)
        assert a.copy(as_view=True) is a
        assert nx.is_frozen(a)
        assert repr(a.adj) == repr(A.adj)
        a.name = "its"
        assert str(a).startswith(f"{type(a).__name__} named 'its' with")


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_with_names_make_networkx_graphs(directed: bool) -> None:
    G, N = nx.karate_club_graph(**BACKEND), nx.karate_club_graph()
    assert parts(G.subgraph([0, 1, 2])) == parts(N.subgraph([0, 1, 2]))
    assert parts(G.copy()) == parts(N.copy())
    copied = G.copy()
    copied[0][1]["weight"] = 7
    assert G[0][1]["weight"] == 4
    made, theirs = ((H.to_directed() if directed else H.to_undirected()) for H in (G, N))
    assert parts(made) == parts(theirs)
