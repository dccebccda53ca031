"""The verifiers of triangles and betweenness accept NetworkX's answers and refuse planted wrong ones."""

from __future__ import annotations

import types

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.verify import betweenness
from benchmarks.verify import triangles as verify_triangles
from benchmarks.verify.answers import Edges, Undecided, Wrong
from tests.benchmarks.test_verify import edges_of, random_graph

SEEDS = range(4)


def dense_graph(seed: int) -> sp.csr_matrix:
    """Return an undirected graph with triangles and some loops."""
    return random_graph(seed, directed=False, n=40, m=250)


def triangles(matrix: sp.csr_matrix) -> int:
    graph = nx.from_scipy_sparse_array(matrix)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return sum(nx.triangles(graph).values()) // 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("products", [1, 100, verify_triangles.PRODUCTS])
def test_triangles_are_networkx_s(seed: int, products: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_triangles, "PRODUCTS", products)  # blocks of one row, of some rows, one block
    matrix = dense_graph(seed)
    assert matrix.diagonal().any()
    right = triangles(matrix)
    assert right > 0
    assert verify_triangles.count(edges_of(matrix)) == right
    part = np.arange(3, 40, 2)
    assert verify_triangles.count(edges_of(matrix), part) == triangles(matrix[part][:, part])


def test_no_triangles_and_no_edges() -> None:
    assert verify_triangles.count(edges_of(sp.csr_matrix((5, 5)))) == 0
    path = sp.diags([1.0, 1.0], [-1, 1], shape=(6, 6)).tocsr()
    assert verify_triangles.count(edges_of(path)) == 0


def test_another_number_of_triangles_is_refused() -> None:
    verify_triangles.equal(7, 7)
    with pytest.raises(Wrong, match="the answer is 8 triangles; there are 7"):
        verify_triangles.equal(8, 7)


def test_a_sample_has_whole_neighbourhoods_and_is_the_same_again() -> None:
    matrix = dense_graph(1)
    edges = edges_of(matrix)
    found = verify_triangles.sample(edges, 25)
    assert 0 < found.size <= 25
    assert (np.diff(found) > 0).all()
    assert (found == verify_triangles.sample(edges, 25)).all()
    inside = np.isin(np.arange(40), found)
    whole = [v for v in found if inside[matrix.indices[matrix.indptr[v] : matrix.indptr[v + 1]]].all()]
    assert whole
    assert (verify_triangles.sample(edges, 1000) == np.flatnonzero(np.diff(matrix.indptr) > 0)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_count_of_a_large_graph_is_judged_by_drawn_pairs(seed: int) -> None:
    matrix = dense_graph(seed)
    edges, right = edges_of(matrix), triangles(matrix)
    verify_triangles.likely(edges, right)
    for wrong in (0, right * 9 // 10, right * 11 // 10, -1, 10**9):
        with pytest.raises(Wrong):
            verify_triangles.likely(edges, wrong)


def test_without_pairs_of_edges_no_triangle_is_likely() -> None:
    for matrix in (sp.csr_matrix((5, 5)), sp.csr_matrix(np.eye(3)), sp.csr_matrix((0, 0))):
        verify_triangles.likely(edges_of(matrix), 0)
        with pytest.raises(Wrong, match="at most 0 are possible"):
            verify_triangles.likely(edges_of(matrix), 1)


def centrality(matrix: sp.csr_matrix, sources: list[int]) -> np.ndarray:
    """Return the betweenness of paths from the sources, by NetworkX on a DiGraph, whose values it does not halve."""
    graph = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    others = range(graph.number_of_nodes())
    found = nx.betweenness_centrality_subset(graph, sources, others, normalized=False)
    return np.array([found[v] for v in others])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("part", [3, 10**6])
def test_networkx_s_betweenness_is_accepted(seed: int, directed: bool, part: int) -> None:
    matrix = random_graph(seed, directed, n=50, m=120)
    sources = [0, 7, 7, 31]
    right = sum(centrality(matrix, [source]) for source in sources)
    betweenness.betweenness(edges_of(matrix, part), right, sources)
    betweenness.betweenness(streamed(matrix, part), right, sources)


def streamed(matrix: sp.csr_matrix, part: int) -> Edges:
    """Return edges whose array module is not NumPy itself, as on a GPU: a copy of NumPy under another name."""
    other = types.ModuleType("xp")
    other.__dict__.update(np.__dict__)
    edges = edges_of(matrix, part)
    return Edges(edges.csr, other, part)


@pytest.mark.parametrize("directed", [False, True])
def test_any_single_change_of_betweenness_is_refused(directed: bool) -> None:
    matrix = random_graph(2, directed, n=50, m=120)
    right = centrality(matrix, [5])
    assert right.any()
    for vertex in range(right.size):
        for planted in (right[vertex] + 1e-3, right[vertex] * 1.001 + 1e-3, np.nan, -1.0):
            wrong = right.copy()
            wrong[vertex] = planted
            with pytest.raises(Wrong, match=f"centrality of {vertex} is"):
                betweenness.betweenness(edges_of(matrix), wrong, [5])
    with pytest.raises(Wrong, match="shape"):
        betweenness.betweenness(edges_of(matrix), right[:-1], [5])


def test_a_source_without_edges_passes_nothing_on() -> None:
    matrix = sp.csr_matrix(([1], ([0], [1])), shape=(3, 3))
    betweenness.betweenness(edges_of(matrix), np.zeros(3), [2])


def test_a_deep_graph_is_undecided_where_each_level_is_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(betweenness, "PASSES", 3)
    path = sp.diags([1.0], [1], shape=(8, 8)).tocsr()
    right = centrality(path, [0])
    betweenness.betweenness(edges_of(path), right, [0])  # by rows, which needs no passes
    with pytest.raises(Undecided, match="deeper than 3"):
        betweenness.betweenness(streamed(path, 5), right, [0])
