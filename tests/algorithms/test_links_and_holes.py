"""Common neighbours, structural holes, assortativity, efficiency, rich clubs and VoteRank, against NetworkX."""

import math
from itertools import islice, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import sparsezc as gb
from tests.algorithms.graphs import SMALL, graphs, network

a = gb.algorithms


def undirected(graph):
    """Return the undirected graph without loops, as NetworkX's and as a Matrix."""
    judge = nx.Graph(network(graph))
    judge.remove_edges_from(list(nx.selfloop_edges(judge)))
    n = len(judge)
    ends = [(u, v) for u, v in judge.edges] + [(v, u) for u, v in judge.edges]
    i, j = np.array(ends, int).reshape(-1, 2).T
    return judge, gb.Matrix.from_coo(i, j, 1.0, nrows=n, ncols=n)


def links(judge, A):
    pairs = list(islice(nx.non_edges(judge), 100))
    mask = gb.Matrix.from_edgelist(pairs or [(0, 0)], nrows=A.nrows, ncols=A.nrows) if A.nrows else A
    for ours, theirs in (
        (a.resource_allocation_index, nx.resource_allocation_index),
        (a.adamic_adar_index, nx.adamic_adar_index),
    ):
        C = ours(A, mask)
        for u, v, score in theirs(judge, pairs):
            assert C.get(u, v, 0) == pytest.approx(score)
    C = a.common_neighbors(A)
    for u, v in pairs:
        assert C.get(u, v, 0) == len(nx.common_neighbors(judge, u, v))


def ties(judge, A):
    for ours, theirs in ((a.constraint, nx.constraint), (a.effective_size, nx.effective_size)):
        expected = {v: x for v, x in theirs(judge).items() if not math.isnan(x)} if len(judge) else {}
        assert ours(A).to_dict() == pytest.approx(expected)


def whole_graph(judge, A):
    if 0 < len(judge) < 60:
        assert a.global_efficiency(A) == pytest.approx(nx.global_efficiency(judge))
        assert np.mean(a.local_efficiency(A).to_dense()) == pytest.approx(nx.local_efficiency(judge))
    expected = nx.rich_club_coefficient(judge, normalized=False) if judge.size() else {}
    assert not judge.size() or a.rich_club_coefficient(A).to_dict() == pytest.approx(expected)


def correlation(judge, A):
    for x in ("in", "out"):
        expected = nx.degree_assortativity_coefficient(judge, x, "out") if judge.size() else math.nan
        assert a.degree_assortativity(A, x, "out") == pytest.approx(expected, nan_ok=True)


CHECKS = [links, ties, whole_graph]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name, check):
    check(*undirected(SMALL[name]))


@given(graphs())
def test_any_graph(graph):
    judge, A = undirected(graph)
    links(judge, A)
    ties(judge, A)


@pytest.mark.parametrize("seed", range(4))
def test_assortativity(seed):
    judge = nx.gnp_random_graph(30, 0.1, seed=seed, directed=True)
    n, (i, j) = len(judge), np.array(list(judge.edges)).T
    correlation(judge, gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n))
    assert math.isnan(a.degree_assortativity(gb.Matrix("BOOL", 3, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_ties_with_weights(seed):
    judge = nx.gnp_random_graph(20, 0.2, seed=seed, directed=True)
    for k, (_, _, data) in enumerate(judge.edges(data=True)):
        data["weight"] = 1 + k * 7 % 5
    i, j, w = zip(*judge.edges(data="weight"), strict=True)
    A = gb.Matrix.from_coo(i, j, w, nrows=20, ncols=20)
    expected = {v: x for v, x in nx.constraint(judge, list(judge), "weight").items() if not math.isnan(x)}
    found = a.constraint(A, weighted=True).to_dict()
    assert {v: found[v] for v in expected} == pytest.approx(expected)
    sizes = {v: x for v, x in nx.effective_size(judge, list(judge), "weight").items() if not math.isnan(x)}
    found = a.effective_size(A, weighted=True).to_dict()
    assert {v: found[v] for v in sizes} == pytest.approx(sizes)
    # with a list of nodes NetworkX counts ties of weight 0 as neighbours
    for k, (_, _, data) in enumerate(judge.edges(data=True)):
        data["weight"] *= k % 4 > 0
    A = gb.Matrix.from_coo(i, j, [data["weight"] for *_, data in judge.edges(data=True)], nrows=20, ncols=20)
    for ours, theirs in ((a.constraint, nx.constraint), (a.effective_size, nx.effective_size)):
        expected = {v: x for v, x in theirs(judge, list(judge), "weight").items() if not math.isnan(x)}
        found = ours(A, weighted=True, zero_ties=True).to_dict()
        assert {v: found[v] for v in expected} == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(6))
def test_voterank_follows_its_rule(seed):
    """The order equals that of the definition, computed in integers on the dense matrix."""
    judge = nx.gnp_random_graph(25, 0.12, seed=seed, directed=seed % 2 == 1)
    D = nx.to_numpy_array(judge, dtype=int)
    n, m = len(D), int(D.sum())
    vote, expected = np.full(n, m), []
    while True:
        sums = D @ vote
        sums[expected] = 0
        if sums.max() == 0:
            break
        v = int(np.argmax(sums))
        expected.append(v)
        vote[D[v] > 0] = np.maximum(vote[D[v] > 0] - n, 0)
        vote[v] = 0
    A = gb.Matrix.from_dense(D, missing_value=0)
    assert a.voterank(A).to_coo()[1].tolist() == expected
    assert a.voterank(A, 2).to_coo()[1].tolist() == expected[:2]


def test_condensation_and_longest_paths():
    judge = nx.gnp_random_graph(40, 0.05, seed=3, directed=True)
    i, j = np.array(list(judge.edges)).T
    A = gb.Matrix.from_coo(i, j, True, nrows=40, ncols=40)
    C, component = a.condensation(A)
    place = component.to_dense()
    expected = {(place[u], place[v]) for u, v in judge.edges if place[u] != place[v]}
    at, to, count = C.to_coo()
    assert set(zip(at, to, strict=True)) == expected
    assert count.sum() == sum(place[u] != place[v] for u, v in judge.edges)
    D = nx.DiGraph(expected)
    assert a.dag_longest_path(C).nvals - 1 == nx.dag_longest_path_length(D)
    for u, v in D.edges:
        D[u][v]["weight"] = int(u * 5 + v) % 9 - 2
    W = gb.Matrix.from_coo(*zip(*D.edges(data="weight"), strict=True), nrows=C.nrows, ncols=C.nrows)
    path = a.dag_longest_path(W, weighted=True).to_coo()[1].tolist()
    length = sum(D[u][v]["weight"] for u, v in pairwise(path))
    assert length == nx.dag_longest_path_length(D)


def test_exchanges_of_ends_keep_degrees():
    judge = nx.barabasi_albert_graph(50, 3, seed=1)
    A = gb.Matrix.from_dense(nx.to_numpy_array(judge, dtype=bool), missing_value=False)
    B = a.double_edge_swap(A, 2_000, seed=4)
    D = B.to_dense(False)
    assert np.array_equal(D, D.T)
    assert not D.diagonal().any()
    assert np.array_equal(D.sum(axis=0), A.to_dense(False).sum(axis=0))
    assert B.isequal(a.double_edge_swap(A, 2_000, seed=4))
    assert (A.to_dense(False) != D).sum() > A.nvals
    assert a.double_edge_swap(A, 0).isequal(A)


def test_exchanges_of_ends_choose_evenly():
    """The three perfect matchings of four vertices are equally likely."""
    A = gb.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    partners = [a.double_edge_swap(A, 7, seed=s)[0, :].new().to_coo()[0][0] for s in range(150)]
    assert min(np.bincount(partners, minlength=4)[1:]) > 30


def test_rich_clubs_beside_a_random_graph():
    judge = nx.barabasi_albert_graph(40, 4, seed=1)
    A = gb.Matrix.from_dense(nx.to_numpy_array(judge, dtype=bool), missing_value=False)
    plain, found = a.rich_club_coefficient(A).to_dict(), a.rich_club_coefficient(A, True, 10, seed=5).to_dict()
    at_random = a.rich_club_coefficient(a.double_edge_swap(A, 10 * judge.size(), seed=5)).to_dict()
    assert found == pytest.approx({k: plain[k] / x for k, x in at_random.items() if x})
    with pytest.raises(gb.exceptions.ConvergenceFailure, match=r"0 exchanges of edges were found in max_tries = \d+"):
        a.rich_club_coefficient(gb.Matrix.from_dense(~np.eye(5, dtype=bool), missing_value=False), True, 1)
    with pytest.raises(gb.exceptions.InvalidValue, match="Q is -1; a finite number >= 0 is needed"):
        a.rich_club_coefficient(A, True, -1)
    with pytest.raises(gb.exceptions.InvalidValue, match="A has 1 edges between different vertices; at least 2"):
        a.double_edge_swap(gb.io.read("path:2"), 1)
    with pytest.raises(gb.exceptions.InvalidValue, match="max_tries is 1; at least 5 is needed"):
        a.double_edge_swap(A, 5, 1)


def test_bad_arguments():
    square, other = gb.Matrix("BOOL", 3, 3), gb.Matrix("BOOL", 2, 3)
    for algorithm in (
        a.common_neighbors, a.resource_allocation_index, a.adamic_adar_index, a.constraint, a.effective_size,
        a.global_efficiency, a.local_efficiency, a.rich_club_coefficient, a.degree_assortativity, a.voterank,
        a.condensation, a.dag_longest_path,
    ):  # fmt: skip
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 2 x 3"):
            algorithm(other)
    for pairs, error, said in (
        (3, gb.exceptions.DomainMismatch, "pairs is 3; a Matrix"),
        (other, gb.exceptions.DimensionMismatch, "pairs is 2 x 3"),
    ):
        with pytest.raises(error, match=said):
            a.common_neighbors(square, pairs)
    with pytest.raises(gb.exceptions.DomainMismatch, match="weight is a int"):
        a.common_neighbors(square, None, 3)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="weight has size 2"):
        a.common_neighbors(square, None, gb.Vector("FP64", 2))
    with pytest.raises(gb.exceptions.InvalidValue, match="x is 'both'"):
        a.degree_assortativity(square, "both")
    with pytest.raises(gb.exceptions.InvalidValue, match="k is -1"):
        a.voterank(square, -1)
    with pytest.raises(gb.exceptions.InvalidValue, match="A has negative values"):
        a.constraint(gb.Matrix.from_edgelist([(0, 1)], [-1], nrows=2, ncols=2), weighted=True)
    with pytest.raises(gb.exceptions.InvalidValue, match="A has a cycle"):
        a.dag_longest_path(gb.Matrix.from_edgelist([(0, 1), (1, 0)]))
    with pytest.raises(gb.exceptions.DomainMismatch, match="no lengths"):
        a.dag_longest_path(gb.Matrix("FC64", 2, 2), weighted=True)
